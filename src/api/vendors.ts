/** The service's API of bill vendors. */
import { MirrorError } from '../domain/errors.ts';
import type { ReadStamp, VendorPage, VendorReading } from '../domain/reading.ts';
import type { ApiSettings, Caller } from './caller.ts';
import type { Priority } from './http/rate-limiter.ts';
import { creation, edit, vendorsPath, type NewVendor, type VendorEdit } from './requests.ts';
import type { Answered } from './wire/document.ts';
import { readVendor, readVendorPage } from './wire/vendor-pages.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends CallOptions {
  readonly priority?: Priority | undefined;
  /** Called with the number of each request. */
  readonly onStamp?: (stamp: ReadStamp) => void;
}

export interface ListOptions extends CallOptions {
  /** Only vendors of this state. The service may ignore it: check the rows. */
  readonly visState?: 1 | 2 | undefined;
  /** Rows of a page; the setting by default. The service may ignore it, or return fewer. */
  readonly size?: number | undefined;
}

export interface VendorsApi {
  /** One page of the list, from 1. Never request a page beyond the `pages` of an answer. */
  page(page: number, options?: ListOptions): Promise<VendorPage>;
  /** All pages in order, up to the `pages` of the latest answer. */
  pages(options?: ListOptions): AsyncGenerator<VendorPage>;
  /** Reads one vendor. @throws MirrorError `not_found` for an unknown id, `not_supported` where the service has no read by id. */
  read(vendorid: number, options?: ReadOptions): Promise<VendorReading>;
  create(fields: NewVendor, options?: CallOptions): Promise<VendorReading>;
  /**
   * Changes a vendor.
   * @throws MirrorError `usage` for no fields, or for a state together with fields; with `mayBeDone` where it may have been carried out.
   */
  edit(vendorid: number, fields: VendorEdit, options?: CallOptions): Promise<VendorReading>;
}

/** `exclude`: fields to remove from every answer. */
export function vendorsApi(
  call: Caller,
  accountId: string,
  { paging, exclude }: Pick<ApiSettings, 'paging' | 'exclude'>,
): VendorsApi {
  const base = vendorsPath(accountId);
  const excluded = new Set(exclude);
  const readOne = (answered: Answered): VendorReading => readVendor(answered, excluded);

  const page = (number: number, { visState, size = paging.perPage, signal }: ListOptions = {}): Promise<VendorPage> => {
    const query = {
      [paging.pageParam]: String(number),
      [paging.perPageParam]: String(size),
      ...(visState !== undefined && { 'search[vis_state]': String(visState) }),
    };
    return call({ family: 'vendors', method: 'GET', path: base, query, priority: 'background', signal }, (answered) =>
      readVendorPage(answered, number, excluded),
    );
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
    read: (vendorid, { priority, signal, onStamp } = {}) =>
      call(
        {
          family: 'vendors',
          method: 'GET',
          path: `${base}/${vendorid}`,
          ...(priority && { priority }),
          signal,
          onStamp,
        },
        (answered) => assertAbout(vendorid, readOne(answered)),
      ),
    create: (fields, { signal } = {}) => call({ ...creation(accountId, fields), signal }, readOne),
    edit: async (vendorid, fields, { signal } = {}) =>
      call({ ...edit(accountId, vendorid, fields), signal }, (answered) => assertAbout(vendorid, readOne(answered))),
  };
}

/** The reading. @throws MirrorError where it is of another vendor, which would be stored under this vendor's id. */
function assertAbout(vendorid: number, reading: VendorReading): VendorReading {
  if (reading.row.vendorid === vendorid) return reading;
  throw new MirrorError(
    'answer_unreadable',
    `Asked for vendor ${vendorid}, the service answered with vendor ${reading.row.vendorid}.`,
  );
}
