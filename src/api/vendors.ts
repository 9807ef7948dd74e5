/** Bill vendors at the service. */
import { MirrorError } from '../domain/errors.ts';
import type { VendorPage, VendorReading } from '../domain/reading.ts';
import type { TextField, VisState } from '../domain/vendor.ts';
import type { Call, Caller, Service } from './call/call.ts';
import type { Priority } from './http/rate-limiter.ts';
import { readVendor, readVendorPage } from './wire/vendor-pages.ts';

export interface Stoppable {
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends Stoppable {
  readonly priority?: Priority | undefined;
}

export interface ListOptions extends Stoppable {
  /** Ask for vendors of this state only. The service may ignore it: check the rows. */
  readonly visState?: 1 | 2 | undefined;
  /** Rows on a page; as many as the settings say unless told. The service may ignore it, or give fewer. */
  readonly size?: number | undefined;
}

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

export interface VendorsApi {
  /** One page of the list, from 1. Never ask past the `pages` of an answer. */
  page(page: number, options?: ListOptions): Promise<VendorPage>;
  /** All pages one after the other, for as many as the latest answer says there are. */
  pages(options?: ListOptions): AsyncGenerator<VendorPage>;
  /** @throws MirrorError `not_found` for an unknown number, `not_supported` where the service reads none by number. */
  read(vendorid: number, options?: ReadOptions): Promise<VendorReading>;
  create(fields: NewVendor, options?: Stoppable): Promise<VendorReading>;
  /** @throws MirrorError `usage` for an edit of nothing, or of a state together with fields; with `mayBeDone` where it may have happened. */
  edit(vendorid: number, fields: VendorEdit, options?: Stoppable): Promise<VendorReading>;
}

export function vendorsApi(call: Caller, account: string, paging: Service['paging']): VendorsApi {
  const base = `/accounting/account/${account}/bill_vendors/bill_vendors`;

  const page = (number: number, { visState, size = paging.perPage, signal }: ListOptions = {}): Promise<VendorPage> => {
    const query = {
      [paging.pageParam]: String(number),
      [paging.perPageParam]: String(size),
      ...(visState !== undefined && { 'search[vis_state]': String(visState) }),
    };
    return call({ family: 'vendors', method: 'GET', path: base, query, priority: 'patient', signal }, (answered) =>
      readVendorPage(answered, number),
    );
  };

  const one = (
    vendorid: number,
    request: Pick<Call, 'method' | 'body' | 'once' | 'priority' | 'signal'>,
  ): Promise<VendorReading> =>
    call({ family: 'vendors', path: `${base}/${vendorid}`, ...request }, (answered) =>
      about(vendorid, readVendor(answered)),
    );

  const edit: VendorsApi['edit'] = async (vendorid, fields, { signal } = {}) => {
    const names = Object.keys(fields);
    if (names.length === 0) throw new MirrorError('usage', `No field of vendor ${vendorid} was named to be changed.`);
    if (names.length > 1 && fields.vis_state !== undefined)
      throw new MirrorError(
        'usage',
        'vis_state is changed alone: the service drops all other fields of such a request. Make two of it.',
      );
    return one(vendorid, { method: 'PUT', body: { bill_vendor: fields }, once: true, signal });
  };

  return {
    page,
    async *pages(options) {
      for (let number = 1, last = 1; number <= last; number += 1) {
        const answered = await page(number, options);
        yield answered;
        last = answered.pages;
      }
    },
    read: (vendorid, { priority, signal } = {}) =>
      one(vendorid, { method: 'GET', ...(priority && { priority }), signal }),
    create: (fields, { signal } = {}) =>
      call({ family: 'vendors', method: 'POST', path: base, body: { bill_vendor: fields }, signal }, readVendor),
    edit,
  };
}

/** An answer about another vendor would put one vendor's data under another's number. */
function about(vendorid: number, reading: VendorReading): VendorReading {
  if (reading.row.vendorid === vendorid) return reading;
  throw new MirrorError(
    'answer_unreadable',
    `Asked for vendor ${vendorid}, the service answered with vendor ${reading.row.vendorid}.`,
  );
}
