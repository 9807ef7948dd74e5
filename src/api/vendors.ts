/** The service's API of bill vendors. */
import { MirrorError } from '../domain/errors.ts';
import type { ReadStamp, VendorPage, VendorReading } from '../domain/reading.ts';
import type { RetryLimits } from '../domain/retry.ts';
import type { ApiSettings, Caller } from './caller.ts';
import type { Priority } from './http/rate-limiter.ts';
import { maxListBody } from './http/request.ts';
import type { OptionalRequests } from './optional-requests.ts';
import { creation, edit, vendorsPath, type NewVendor, type VendorEdit } from './requests.ts';
import { readVendor, readVendorPage } from './wire/vendor-pages.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends CallOptions {
  readonly priority?: Priority | undefined;
  /** Called with the number of each request. */
  readonly onStamp?: ((stamp: ReadStamp) => void) | undefined;
  readonly retryLimits?: RetryLimits | undefined;
}

export interface ListOptions extends Omit<ReadOptions, 'priority'> {
  /** Only vendors of this state. The service may ignore it: check the rows. */
  readonly visState?: 1 | 2 | undefined;
  /** Rows of a page; the setting by default. The service may ignore it, or return fewer. */
  readonly size?: number | undefined;
  /** Whether it is the first page, whose number may also be 0. Page 1 by default. */
  readonly isFirst?: boolean | undefined;
}

interface VendorsApiOptions extends Pick<ApiSettings, 'baseUrl' | 'paging' | 'exclude'> {
  readonly optional: OptionalRequests;
}

export class VendorsApi {
  readonly #call: Caller;
  readonly #accountId: string;
  readonly #options: VendorsApiOptions;
  /** Fields to remove from every answer. */
  readonly #excluded: ReadonlySet<string>;
  readonly #maxAnswer = maxListBody();
  /** Whether pages are asked for with a size. */
  #sized = true;

  constructor(call: Caller, accountId: string, options: VendorsApiOptions) {
    this.#call = call;
    this.#accountId = accountId;
    this.#options = options;
    this.#excluded = new Set(options.exclude);
  }

  /** The same, with each answer awaited by `during`. */
  through(during: <T>(answer: Promise<T>) => Promise<T>): VendorsApi {
    return new VendorsApi((call, read) => during(this.#call(call, read)), this.#accountId, this.#options);
  }

  /**
   * One page of the list. Never request a page beyond the `pages` of an answer. The first page of the default list finds out whether
   * the service honours page sizes.
   */
  async page(number: number, options: ListOptions = {}): Promise<VendorPage> {
    const { isFirst = number === 1, visState, size, ...sending } = options;
    const { paging, optional } = this.#options;
    const { perPage } = paging;
    if (!isFirst || size !== undefined || visState !== undefined)
      return this.#page(number, {
        ...{ isFirst, visState, ...sending },
        size: size ?? (this.#sized ? perPage : undefined),
      });
    const { page, sized } = await optional.firstPage((asked, limits) =>
      this.#page(number, {
        ...{ isFirst, ...sending },
        size: asked ? perPage : undefined,
        retryLimits: limits ?? sending.retryLimits,
      }),
    );
    this.#sized = sized;
    return page;
  }

  #page(page: number, { isFirst, visState, size, ...sending }: ListOptions): Promise<VendorPage> {
    const { baseUrl, paging } = this.#options;
    const query = {
      [paging.pageParam]: String(page),
      ...(size !== undefined && { [paging.perPageParam]: String(size) }),
      ...(visState !== undefined && { 'search[vis_state]': String(visState) }),
    };
    const path = vendorsPath(this.#accountId);
    return this.#call(
      {
        family: 'vendors',
        method: 'GET',
        path,
        query,
        priority: 'background',
        maxAnswer: this.#maxAnswer,
        // The first page came from there.
        ...(isFirst && {
          remedyElsewhere: `Check the path in service.baseUrl (${baseUrl}), which ends before /accounting, and the id of the account, ${this.#accountId}; if both were right before, something between here and the service answers in its place.`,
        }),
        ...sending,
      },
      (answered) => readVendorPage(answered, page, this.#excluded),
    );
  }

  /** All pages in order, up to the `pages` of the latest answer. */
  async *pages(options?: ListOptions): AsyncGenerator<VendorPage> {
    for (let number = 1, last = 1; number <= last; number += 1) {
      const answered = await this.page(number, options);
      yield answered;
      last = answered.pages;
    }
  }

  /** Reads one vendor. @throws MirrorError `not_found` for an unknown id, `not_supported` where the service has no read by id. */
  read(vendorid: number, { priority, signal, onStamp, retryLimits }: ReadOptions = {}): Promise<VendorReading> {
    const path = `${vendorsPath(this.#accountId)}/${vendorid}`;
    return this.#call(
      { family: 'vendors', method: 'GET', path, ...(priority && { priority }), signal, onStamp, retryLimits },
      (answered) =>
        assertAbout(vendorid, readVendor(answered, this.#excluded, notReadById), ifMerged(vendorid, this.#accountId)),
    );
  }

  create(fields: NewVendor, { signal }: CallOptions = {}): Promise<VendorReading> {
    return this.#call({ ...creation(this.#accountId, fields), signal }, (answered) =>
      readVendor(answered, this.#excluded),
    );
  }

  /**
   * Changes a vendor.
   * @throws MirrorError `usage` for no fields, or for a state together with fields; with `mayBeDone` where it may have been carried out.
   */
  async edit(vendorid: number, fields: VendorEdit, { signal }: CallOptions = {}): Promise<VendorReading> {
    return this.#call({ ...edit(this.#accountId, vendorid, fields), signal }, (answered) =>
      assertAbout(vendorid, readVendor(answered, this.#excluded)),
    );
  }
}

/** Of a service that answers reads by id with its list. */
const notReadById =
  'If each read by id is answered so, set service.readOne to sweep: then vendors are read with the whole list.';

/** The reading. @throws MirrorError where it is of another vendor, which would be stored under this vendor's id. */
function assertAbout(vendorid: number, reading: VendorReading, more = ''): VendorReading {
  if (reading.row.vendorid === vendorid) return reading;
  throw new MirrorError(
    'answer_unreadable',
    `Asked for vendor ${vendorid}, the service answered with vendor ${reading.row.vendorid}.${more}`,
  );
}

/** Services may answer with the vendor into which another one was merged. */
function ifMerged(vendorid: number, accountId: string): string {
  return ` If the one was merged into the other, \`vendor-mirror forget --vendor ${vendorid} --account ${accountId}\` takes it out of the mirror.`;
}
