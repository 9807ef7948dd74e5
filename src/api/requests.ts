/** The requests that write to the service, as they are sent and as `--dry-run` shows them. */
import { MirrorError } from '../domain/errors.ts';
import type { Call } from './caller.ts';
import type { TextField, VisState } from '../domain/vendor.ts';

/** The parts of a call that define what it does. */
export type Request = Pick<Call, 'family' | 'method' | 'path' | 'body' | 'once'>;

/** A tax default as a create or an edit may set it: without read-only fields. */
export interface TaxDefaultFields {
  /** The id of the business's tax. */
  readonly system_taxid: number;
  readonly taxid?: number;
  readonly vendorid?: number;
  readonly enabled?: boolean;
  readonly tax_authorityid?: string | null;
}

/** The fields that a create or an edit may set: without read-only ones. */
export type VendorFields = Readonly<Partial<Record<Exclude<TextField, 'created_at' | 'updated_at'>, string | null>>> & {
  readonly is_1099?: boolean | null;
  readonly tax_defaults?: readonly TaxDefaultFields[];
};

/** A new vendor; the service requires these three fields. */
export type NewVendor = VendorFields & Readonly<Record<'vendor_name' | 'language' | 'currency_code', string>>;

/** Fields, or `vis_state` alone: the service drops all other keys of a body with `vis_state`. */
export type VendorEdit = VendorFields & { readonly vis_state?: VisState };

export function vendorsPath(accountId: string): string {
  return `/accounting/account/${encodeURIComponent(accountId)}/bill_vendors/bill_vendors`;
}

export function gatewaysPath(accountId: string): string {
  return `/accounting/account/${encodeURIComponent(accountId)}/systems/gateways`;
}

export function callbacksPath(accountId: string): string {
  return `/events/account/${encodeURIComponent(accountId)}/events/callbacks`;
}

export function creation(accountId: string, fields: NewVendor): Request {
  return { family: 'vendors', method: 'POST', path: vendorsPath(accountId), body: { bill_vendor: fields } };
}

/** @throws MirrorError `usage` for an edit of nothing, or of a state together with fields. */
export function edit(accountId: string, vendorid: number, fields: VendorEdit): Request {
  const names = Object.keys(fields);
  if (names.length === 0)
    throw new MirrorError('usage', `No field of vendor ${vendorid} is to be changed; name at least one.`);
  if (names.length > 1 && fields.vis_state !== undefined)
    throw new MirrorError(
      'usage',
      'vis_state must be changed alone, because the service drops all other fields of such a request. Make two edits.',
    );
  const path = `${vendorsPath(accountId)}/${vendorid}`;
  return { family: 'vendors', method: 'PUT', path, body: { bill_vendor: fields }, once: true };
}

export function gatewayRemoval(accountId: string, sgid: number): Request {
  return { family: 'gateways', method: 'DELETE', path: `${gatewaysPath(accountId)}/${sgid}` };
}
