/** Reads the `bill_vendor` object of a create or an edit. */
import { systemTax, type SystemTax } from './system-taxes.ts';
import { invalid, type Refusal } from '../core/refusal.ts';
import { writableTexts, type State, type VendorRecord, type WritableText } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';

/** Only what the body named; keys that the service does not know are not here. */
export interface VendorInput {
  readonly texts: VendorRecord['texts'];
  readonly is1099?: boolean;
  readonly state?: State;
  readonly taxes?: readonly { readonly tax: SystemTax; readonly enabled: boolean; readonly authority: string | null }[];
}

const longestText = 1_000;

/** Refuses values of the wrong kind (errno 1004), and texts that are too long (1017). */
export function readVendorInput(body: Readonly<Record<string, unknown>>): VendorInput {
  const texts: Partial<Record<WritableText, string | null>> = {};
  for (const key of writableTexts) if (Object.hasOwn(body, key)) texts[key] = readText(key, body[key]);
  return {
    texts,
    ...(Object.hasOwn(body, 'is_1099') ? { is1099: readFlag('is_1099', body['is_1099']) } : {}),
    ...(Object.hasOwn(body, 'vis_state') ? { state: readState(body['vis_state']) } : {}),
    ...(Object.hasOwn(body, 'tax_defaults') ? { taxes: readTaxes(body['tax_defaults']) } : {}),
  };
}

/** Refuses a new vendor that lacks what this world requires (errno 1001). */
export function requireOnCreate({ texts }: VendorInput, world: World): void {
  const required = {
    name: ['vendor_name'],
    name_language: ['vendor_name', 'language'],
    name_language_currency: ['vendor_name', 'language', 'currency_code'],
  } as const;
  for (const key of required[world.required])
    if (!texts[key]) throw invalid(1001, 'bill_vendor', key, `Required field: ${key}.`);
}

function readText(key: WritableText, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw wrong(key, value);
  if (value.length > longestText) throw invalid(1017, 'bill_vendor', key, `${key} is too long.`);
  return value;
}

function readFlag(key: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(key, value);
  return value;
}

function readState(value: unknown): State {
  const state = typeof value === 'string' && /^\d$/.test(value) ? Number(value) : value;
  if (state === 0 || state === 1 || state === 2) return state;
  throw wrong('vis_state', value);
}

function readTaxes(value: unknown): NonNullable<VendorInput['taxes']> {
  if (!Array.isArray(value)) throw wrong('tax_defaults', value);
  return value.map((item: unknown) => {
    const wish = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
    const tax = systemTax(wish['system_taxid']);
    if (!tax) throw wrong('system_taxid', wish['system_taxid']);
    const authority = wish['tax_authorityid'];
    return {
      tax,
      enabled: readFlag('enabled', wish['enabled'] ?? true),
      authority: typeof authority === 'string' ? authority : null,
    };
  });
}

function wrong(key: string, value: unknown): Refusal {
  return invalid(1004, 'bill_vendor', key, `Invalid value for ${key}.`, JSON.stringify(value));
}
