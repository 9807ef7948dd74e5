/** What `--set` and `--file` say about a vendor's fields. */
import { readFileSync } from 'node:fs';
import type { NewVendor, VendorFields } from '../../api/requests.ts';
import { MirrorError } from '../../domain/errors.ts';
import { vendorFields, type VendorField } from '../../domain/vendor.ts';
import { readInput } from '../terminal/prompt.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { visible } from '../terminal/plain-text.ts';
import { taxDefaultProblem } from './tax-default-fields.ts';
import { isDamaged, textOf } from '../terminal/utf8.ts';

export interface FieldOptions {
  /** `name=value`, each. */
  readonly set?: readonly string[];
  readonly file?: string;
}

/** Fields that the service sets by itself, and the state, which has commands of its own. */
const notSettable: readonly VendorField[] = [
  'created_at',
  'updated_at',
  'vis_state',
  'outstanding_balance',
  'overdue_balance',
];

const settable: readonly string[] = vendorFields.filter((field) => !notSettable.includes(field));
const list = new Intl.ListFormat('en');

/**
 * The fields that are named, `--set` over `--file`. `excluded` fields cannot be set, because the answer could not be checked.
 * @throws MirrorError `usage` that tells every problem.
 */
export async function givenFields(
  context: ProcessContext,
  { set = [], file }: FieldOptions,
  excluded: readonly string[],
): Promise<VendorFields> {
  const fields = {
    ...(file !== undefined && (await fileFields(context, file))),
    ...Object.fromEntries(set.map(setField)),
  };
  const problems = Object.entries(fields).flatMap(
    ([name, value]) => exclusion(name, excluded) ?? problemOf(name, value) ?? [],
  );
  if (problems.length > 0) throw new MirrorError('usage', problems.join('\n'));
  if (Object.keys(fields).length === 0) throw new MirrorError('usage', 'No fields are given: use --set or --file.');
  return fields;
}

/** The fields as those of a new vendor. @throws MirrorError `usage` that names all that are missing. */
export function newVendor(fields: VendorFields): NewVendor {
  const { vendor_name, language, currency_code } = fields;
  if (vendor_name && language && currency_code) return { ...fields, vendor_name, language, currency_code };
  const missing = Object.entries({ vendor_name, language, currency_code })
    .filter(([, value]) => !value)
    .map(([name]) => name);
  const flags = missing.map((name) => `--set ${name}=…`).join(' ');
  throw new MirrorError('usage', `A new vendor needs ${list.format(missing)}: add ${flags}`);
}

function setField(pair: string): [name: string, value: unknown] {
  const at = pair.indexOf('=');
  if (at < 1) throw new MirrorError('usage', `--set takes name=value, not "${visible(pair)}".`);
  const [name, text] = [pair.slice(0, at), pair.slice(at + 1)];
  if (isDamaged(pair))
    throw new MirrorError('usage', `--set ${visible(name)} is not UTF-8 text; is the terminal set to UTF-8?`);
  if (name === 'tax_defaults') return [name, parsed(text, `--set ${name}`)];
  const isWord = text === 'null' || (name === 'is_1099' && /^(true|false)$/.test(text));
  return [name, isWord ? (JSON.parse(text) as unknown) : text];
}

/** The object in a file, or that in its `bill_vendor`. */
async function fileFields(context: ProcessContext, file: string): Promise<object> {
  const document = parsed(
    file === '-' ? await readInput(context) : textOf(bytesOf(file), visible(file)),
    visible(file),
  );
  const fields = isObject(document) && isObject(document['bill_vendor']) ? document['bill_vendor'] : document;
  if (isObject(fields)) return fields;
  throw new MirrorError('usage', `${file} does not contain a JSON object of fields.`);
}

function bytesOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(visible(file), error);
  }
}

function parsed(json: string, name: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): MirrorError {
  const reason = error instanceof Error ? error.message : String(error);
  return new MirrorError('usage', `The fields cannot be read from ${name}: ${reason}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function exclusion(name: string, excluded: readonly string[]): string | undefined {
  return excluded.includes(name)
    ? `${name} is kept out of the mirror (vendors.exclude), so what becomes of it could not be checked: set it at the service itself.`
    : undefined;
}

function problemOf(name: string, value: unknown): string | undefined {
  if (name === 'vis_state') return 'vis_state is changed by `vendors delete`, `archive` and `restore`.';
  if (!settable.includes(name))
    return `"${visible(name)}" cannot be set. Fields that can be set: ${settable.join(', ')}.`;
  if (name === 'tax_defaults') return taxDefaultProblem(value);
  const [type, word] = name === 'is_1099' ? ['boolean', 'true, false'] : ['string', 'text'];
  if (value !== null && typeof value !== type) return `${name} is ${word} or null.`;
  return typeof value === 'string' && !value.isWellFormed()
    ? `${name} holds half a character (a lone surrogate).`
    : undefined;
}
