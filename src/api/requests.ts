/** The requests that change something at the service, as they are sent, and as `--dry-run` shows them. */
import { MirrorError } from '../domain/errors.ts';
import type { Call } from './call/call.ts';
import type { TextField, VisState } from '../domain/vendor.ts';

/** What of a call says what is asked of the service. */
export type Request = Pick<Call, 'family' | 'method' | 'path' | 'body' | 'once'>;

/** A tax default as a create or an edit may set it, without what is read-only. */
export interface TaxDefaultFields {
  /** The tax of the business that it stands for. */
  readonly system_taxid: number;
  readonly taxid?: number;
  readonly vendorid?: number;
  readonly enabled?: boolean;
  readonly tax_authorityid?: string | null;
}

/** What a create or an edit may set: text fields, without what is read-only. */
export type VendorFields = Readonly<Partial<Record<Exclude<TextField, 'created_at' | 'updated_at'>, string | null>>> & {
  readonly is_1099?: boolean | null;
  readonly tax_defaults?: readonly TaxDefaultFields[];
};

/** The service wants these three of a new vendor. */
export type NewVendor = VendorFields & Readonly<Record<'vendor_name' | 'language' | 'currency_code', string>>;

/** Fields, or a state and nothing else: a body with `vis_state` has all its other keys dropped by the service. */
export type VendorEdit = VendorFields & { readonly vis_state?: VisState };

/** The path of an account's vendors, below the base URL. */
export function vendorsPath(accountId: string): string {
  return `/accounting/account/${encodeURIComponent(accountId)}/bill_vendors/bill_vendors`;
}

/** The path of an account's gateways, below the base URL. */
export function gatewaysPath(accountId: string): string {
  return `/accounting/account/${encodeURIComponent(accountId)}/systems/gateways`;
}

export function creation(accountId: string, fields: NewVendor): Request {
  return { family: 'vendors', method: 'POST', path: vendorsPath(accountId), body: { bill_vendor: fields } };
}

/** @throws MirrorError `usage` for an edit of nothing, or of a state together with fields. */
export function edit(accountId: string, vendorid: number, fields: VendorEdit): Request {
  const names = Object.keys(fields);
  if (names.length === 0) throw new MirrorError('usage', `No field of vendor ${vendorid} was named to be changed.`);
  if (names.length > 1 && fields.vis_state !== undefined)
    throw new MirrorError(
      'usage',
      'vis_state is changed alone: the service drops all other fields of such a request. Make two of it.',
    );
  const path = `${vendorsPath(accountId)}/${vendorid}`;
  return { family: 'vendors', method: 'PUT', path, body: { bill_vendor: fields }, once: true };
}

export function gatewayRemoval(accountId: string, sgid: number): Request {
  return { family: 'gateways', method: 'DELETE', path: `${gatewaysPath(accountId)}/${sgid}` };
}
