/** Bill vendors at the service. */
import { MirrorError } from '../domain/errors.ts';
import type { KnownPage, VendorPage, VendorReading } from '../domain/reading.ts';
import type { Caller, Service } from './call/call.ts';
import type { Priority } from './http/rate-limiter.ts';
import { creation, edit, vendorsPath, type NewVendor, type VendorEdit } from './requests.ts';
import type { Answered } from './wire/document.ts';
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
  /** What the page showed before: what of it stands there again is known by its digests. Without it, the page has none. */
  readonly known?: KnownPage | undefined;
}

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

/** `exclude`: fields that are cut out of every answer. */
export function vendorsApi(
  call: Caller,
  accountId: string,
  { paging, exclude }: Pick<Service, 'paging' | 'exclude'>,
): VendorsApi {
  const base = vendorsPath(accountId);
  const excluded = new Set(exclude);
  const readOne = (answered: Answered): VendorReading => readVendor(answered, excluded);

  const page = (
    number: number,
    { visState, size = paging.perPage, known, signal }: ListOptions = {},
  ): Promise<VendorPage> => {
    const query = {
      [paging.pageParam]: String(number),
      [paging.perPageParam]: String(size),
      ...(visState !== undefined && { 'search[vis_state]': String(visState) }),
    };
    return call({ family: 'vendors', method: 'GET', path: base, query, priority: 'patient', signal }, (answered) =>
      readVendorPage(answered, number, { excluded, known }),
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
    read: (vendorid, { priority, signal } = {}) =>
      call(
        { family: 'vendors', method: 'GET', path: `${base}/${vendorid}`, ...(priority && { priority }), signal },
        (answered) => about(vendorid, readOne(answered)),
      ),
    create: (fields, { signal } = {}) => call({ ...creation(accountId, fields), signal }, readOne),
    edit: async (vendorid, fields, { signal } = {}) =>
      call({ ...edit(accountId, vendorid, fields), signal }, (answered) => about(vendorid, readOne(answered))),
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
