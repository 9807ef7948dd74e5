/**
 * `vendors create|edit|delete|archive|restore`: what `--set` and `--file` give is written to the service, and its answer applied to the
 * mirror at once.
 *
 * Input is checked first, and refused with 64: fields, tax defaults among them, by name and type; text that is not UTF-8 (a byte order mark
 * is dropped) or contains half a surrogate pair. Excluded fields cannot be set, because the answer could not be checked against the request.
 * Answering `no` to a confirmation exits with 1; no terminal and no `--yes` exits with 64.
 */
import { readFileSync } from 'node:fs';
import {
  creation,
  edit as editRequest,
  type NewVendor,
  type Request,
  type TaxDefaultFields,
  type VendorEdit,
  type VendorFields,
} from '../api/requests.ts';
import { exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { isMap } from '../domain/json-cursor.ts';
import { vendorFields, type VendorField } from '../domain/vendor.ts';
import type { Settings } from '../settings/parse.ts';
import { vendorDetails } from '../store/reports/vendor-detail.ts';
import type { SyncAccount } from '../sync/sync-account.ts';
import type { WriteOptions, WriteReport } from '../sync/write/answer.ts';
import { createVendor } from '../sync/write/create.ts';
import { editVendor } from '../sync/write/edit.ts';
import { showRequest, type DryRunOption, withInstallation } from './with-installation.ts';
import { loadSettings, oneAccount } from './load-settings.ts';
import { queryMirror } from './open-mirror.ts';
import type { Call, CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printError, printNotice } from './terminal/print.ts';
import { isConfirmed, isDamaged, readInput, textOf } from './terminal/prompt.ts';
import { visible } from './terminal/text.ts';
import { printDetails } from './vendors-show.ts';

const list = new Intl.ListFormat('en');

interface WriteFlags extends DryRunOption {
  readonly again?: boolean;
}

type SetOptions = FieldOptions & WriteFlags;

export const vendorsCreate: CommandHandler<SetOptions> = async (call) => {
  const settings = await loadSettings(call);
  const fields = newVendor(await givenFields(call.context, call.options, settings.vendors.exclude));
  return write(
    call,
    settings,
    (account) => creation(account, fields),
    (syncAccount, tell) => createVendor(syncAccount, fields, writeOptions(call, tell)),
  );
};

export const vendorsEdit: CommandHandler<SetOptions> = async (call) => {
  const settings = await loadSettings(call);
  return edit(call, settings, await givenFields(call.context, call.options, settings.vendors.exclude));
};

export const vendorsDelete: CommandHandler<WriteFlags & { readonly yes?: boolean }> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const isAgreed = options.dryRun ?? (await isConfirmed(context, () => deleteQuestion(call, settings), options.yes));
  if (isAgreed) return edit(call, settings, { vis_state: 1 });
  printNotice(context, 'Nothing was done.');
  return exitStatus.incomplete;
};

export const vendorsArchive: CommandHandler<WriteFlags> = async (call) =>
  edit(call, await loadSettings(call), { vis_state: 2 });

export const vendorsRestore: CommandHandler<WriteFlags> = async (call) =>
  edit(call, await loadSettings(call), { vis_state: 0 });

function edit(call: Call<WriteFlags>, settings: Settings, fields: VendorEdit): Promise<ExitStatus> {
  const vendorid = idOf(call);
  return write(
    call,
    settings,
    (account) => editRequest(account, vendorid, fields),
    (syncAccount, tell) => editVendor(syncAccount, vendorid, fields, writeOptions(call, tell)),
  );
}

function writeOptions({ context, options }: Call<WriteFlags>, tell: WriteOptions['tell']): WriteOptions {
  const { SUDO_USER, USER, LOGNAME, USERNAME } = context.env;
  const by = SUDO_USER ?? USER ?? LOGNAME ?? USERNAME ?? null;
  return { signal: context.interrupted, again: options.again ?? false, by, tell };
}

function idOf({ args }: Pick<Call, 'args'>): number {
  return Number(args[0]);
}

/** Names the vendor as the mirror knows it: a number is soon mistyped. */
async function deleteQuestion(call: Call, settings: Settings): Promise<string> {
  const account = oneAccount(settings);
  const found = await queryMirror(call.context, settings, (snapshot) => vendorDetails(snapshot, idOf(call), account));
  const name = found?.[0]?.vendor.vendor_name ?? 'not in the mirror';
  return `Delete vendor ${idOf(call)} (${name}) of ${account}?`;
}

/** Sends the write and shows the vendor afterwards; with `--dry-run`, only the request. */
async function write(
  call: Call<WriteFlags>,
  settings: Settings,
  requestOf: (account: string) => Request,
  work: (syncAccount: SyncAccount, tell: WriteOptions['tell']) => Promise<void>,
): Promise<ExitStatus> {
  const account = oneAccount(settings);
  if (call.options.dryRun) return showRequest(call, settings, requestOf(account));
  let exit: ExitStatus = exitStatus.done;
  const tell = async (report: WriteReport): Promise<void> => {
    exit = await showReport(call, settings, account, report);
  };
  await withInstallation(call, settings, (installation) => work(installation.account(account), tell));
  return exit;
}

async function showReport(
  call: Call<WriteFlags>,
  settings: Settings,
  account: string,
  { vendorid, notTaken, notes }: WriteReport,
): Promise<ExitStatus> {
  const { context } = call;
  for (const note of notes) printNotice(context, note);
  const found = await queryMirror(context, settings, (snapshot) => vendorDetails(snapshot, vendorid, account));
  const error = notTaken.length > 0 ? refusedFields(vendorid, notTaken) : undefined;
  await printDetails(call, found ?? [], error);
  if (!error) return exitStatus.done;
  printError(context, error);
  return error.exit;
}

function refusedFields(vendorid: number, fields: readonly string[]): MirrorError {
  return new MirrorError(
    'not_taken',
    `The service did not accept ${list.format(fields)}: it shows vendor ${vendorid} with other values.`,
  );
}

interface FieldOptions {
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

/**
 * The fields that are named, `--set` over `--file`. `excluded` fields cannot be set, because the answer could not be checked.
 * @throws MirrorError `usage` that tells every problem.
 */
async function givenFields(
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
function newVendor(fields: VendorFields): NewVendor {
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
  const fields = isMap(document) && isMap(document['bill_vendor']) ? document['bill_vendor'] : document;
  if (isMap(fields)) return fields;
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

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const aNumber = 'a whole number from 1';

/** Each key that can be set, and what it must be. */
const keys: Readonly<Record<keyof TaxDefaultFields, readonly [words: string, fits: (value: unknown) => boolean]>> = {
  system_taxid: [aNumber, isNumber],
  taxid: [aNumber, isNumber],
  vendorid: [aNumber, isNumber],
  enabled: ['true or false', (value) => typeof value === 'boolean'],
  tax_authorityid: ['text or null', (value) => value === null || (typeof value === 'string' && value.isWellFormed())],
};

/** What is wrong with a value for `tax_defaults`; undefined where nothing is. */
function taxDefaultProblem(value: unknown): string | undefined {
  if (!Array.isArray(value))
    return 'tax_defaults is a list of objects, such as [{"system_taxid": 36859, "enabled": true}].';
  for (const item of value as readonly unknown[]) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'A tax default is an object.';
    if (!Object.hasOwn(item, 'system_taxid'))
      return 'A tax default needs system_taxid, the number of a tax of the business.';
    for (const [name, given] of Object.entries(item)) {
      const rule = Object.hasOwn(keys, name) ? keys[name as keyof TaxDefaultFields] : undefined;
      if (!rule)
        return `"${visible(name)}" of a tax default cannot be set. Keys that can be set: ${Object.keys(keys).join(', ')}.`;
      if (!rule[1](given)) return `${name} of a tax default is ${rule[0]}.`;
    }
  }
  return undefined;
}
