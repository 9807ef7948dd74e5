/**
 * The client of the accounting service, for one account: its payment gateways and webhook callbacks, of which lists are always read completely.
 * Its vendors are in vendors.ts.
 */
import { caller, type ApiDependencies, type ApiSettings, type Caller, type Call } from './caller.ts';
import { noMemory, OptionalRequests } from './optional-requests.ts';
import { VendorsApi, type CallOptions } from './vendors.ts';
import { MirrorError } from '../domain/errors.ts';
import type { RetryLimits } from '../domain/retry.ts';
import { type Listing, readGateways, readRemoval, readCallback, readCallbacks } from './wire/resources.ts';
import type { Gateway, Callback } from '../domain/vendor.ts';
import { gatewayRemoval, gatewaysPath, callbacksPath } from './requests.ts';
import { isMatchedBy } from '../domain/events.ts';
import { Secret } from '../domain/secret.ts';

export interface ServiceClient {
  readonly vendors: VendorsApi;
  readonly gateways: GatewaysApi;
  readonly callbacks: CallbacksApi;
  readonly optional: OptionalRequests;
}

export function connect(service: ApiSettings, accountId: string, dependencies: ApiDependencies): ServiceClient {
  const call = caller(accountId, service, dependencies);
  const optional = new OptionalRequests(accountId, dependencies.optionalMemory ?? noMemory, dependencies.log);
  return {
    vendors: new VendorsApi(call, accountId, { ...service, optional }),
    gateways: new GatewaysApi(call, accountId, service.paging, optional),
    callbacks: new CallbacksApi(call, accountId, service.paging, optional),
    optional,
  };
}

export interface ListingOptions extends CallOptions {
  /** Called with why each row that cannot be used is set aside. */
  readonly onRejected?: ((reason: string) => void) | undefined;
}

/** More pages than any account has of gateways or callbacks. */
const mostPages = 100;

/**
 * All usable items of a list, page by page, without duplicate ids, and without `per_page` where the service does not honour it. `onRejected`
 * is called with why each other item is not usable.
 * @throws MirrorError `paging_ignored` where another page is returned or a further page has nothing new; `answer_too_large` beyond a
 * hundred pages.
 */
async function wholeList<T>(
  optional: OptionalRequests,
  readPage: (page: number, sized: boolean, limits?: RetryLimits) => Promise<Listing<T>>,
  idOf: (item: T) => number,
  onRejected: ((reason: string) => void) | undefined,
): Promise<T[]> {
  const items = new Map<number, T>();
  const { page: first, sized } = await optional.firstPage((asked, limits) => readPage(1, asked, limits));
  for (let page = 1, last = 1; page <= last; page += 1) {
    if (page > mostPages) throw new MirrorError('answer_too_large', `The list has more than ${mostPages} pages.`);
    const { paging, items: found, rejected } = page === 1 ? first : await readPage(page, sized);
    if (onRejected) for (const reason of rejected) onRejected(reason);
    const before = items.size;
    for (const item of found) items.set(idOf(item), item);
    last = paging.pages;
    const stuck = paging.page !== page || (page > 1 && found.length > 0 && items.size === before);
    if (stuck)
      throw new MirrorError('paging_ignored', `Asked for page ${page} of a list, the service answered with another.`);
  }
  return [...items.values()];
}

export class GatewaysApi {
  readonly #call: Caller;
  readonly #accountId: string;
  readonly #paging: ApiSettings['paging'];
  readonly #optional: OptionalRequests;

  constructor(call: Caller, accountId: string, paging: ApiSettings['paging'], optional: OptionalRequests) {
    this.#optional = optional;
    this.#call = call;
    this.#accountId = accountId;
    this.#paging = paging;
  }

  /** All enabled gateways that can be used. @throws MirrorError `paging_ignored` and what any call throws. */
  list({ signal, onRejected }: ListingOptions = {}): Promise<Gateway[]> {
    const { pageParam, perPageParam, perPage } = this.#paging;
    return wholeList(
      this.#optional,
      (page, sized, retryLimits) =>
        this.#call(
          {
            family: 'gateways',
            method: 'GET',
            path: gatewaysPath(this.#accountId),
            priority: 'background',
            query: { [pageParam]: String(page), ...(sized && { [perPageParam]: String(perPage) }) },
            retryLimits,
            signal,
          },
          (answered) => readGateways(answered, page),
        ),
      ({ sgid }) => sgid,
      onRejected,
    );
  }

  /** Removes a gateway. It can be enabled again only in the service's own user interface. */
  remove(sgid: number, { signal }: CallOptions = {}): Promise<void> {
    return this.#call({ ...gatewayRemoval(this.#accountId, sgid), signal }, readRemoval);
  }
}

export interface CallbackFilter {
  /** An event (`bill_vendor.create`), or a noun or its plural for all its events. */
  readonly event?: string | undefined;
  readonly uri?: string | undefined;
  readonly verified?: boolean | undefined;
}

const family = 'callbacks';

export class CallbacksApi {
  readonly #call: Caller;
  readonly #path: string;
  readonly #paging: ApiSettings['paging'];
  readonly #optional: OptionalRequests;

  constructor(call: Caller, accountId: string, paging: ApiSettings['paging'], optional: OptionalRequests) {
    this.#optional = optional;
    this.#call = call;
    this.#path = callbacksPath(accountId);
    this.#paging = paging;
  }

  /** Registers an unverified callback for an event. The service may refuse a duplicate with `rejected`, or create a second one. */
  register(event: string, uri: string, { signal }: CallOptions = {}): Promise<Callback> {
    const body = { callback: { event, uri } };
    // The end of an address of ours is a secret by itself.
    const [token = uri] = /[^/]{16,}$/.exec(uri) ?? [];
    return this.#call(
      { family, method: 'POST', path: this.#path, body, secret: new Secret(token), signal },
      readCallback,
    );
  }

  /** Sends a verification code. It was right only if the answer has `verified` true. */
  verify(callbackid: number, verifier: Secret, { signal }: CallOptions = {}): Promise<Callback> {
    return this.#put(callbackid, { verifier: verifier.reveal() }, { secret: verifier, signal });
  }

  /** Requests a new code; until it is verified, the service delivers nothing. */
  resend(callbackid: number, { signal }: CallOptions = {}): Promise<Callback> {
    return this.#put(callbackid, { resend: true }, { signal });
  }

  /** All usable callbacks that match the filter, even where the service ignores it. */
  async list(filter: CallbackFilter = {}, { signal, onRejected }: ListingOptions = {}): Promise<Callback[]> {
    const { event, uri, verified } = filter;
    const { pageParam, perPageParam, perPage } = this.#paging;
    const all = await wholeList(
      this.#optional,
      (page, sized, retryLimits) =>
        this.#call(
          {
            family,
            method: 'GET',
            path: this.#path,
            priority: 'background',
            query: {
              [pageParam]: String(page),
              ...(sized && { [perPageParam]: String(perPage) }),
              ...(event !== undefined && { 'search[event]': event }),
              ...(uri !== undefined && { 'search[uri]': uri }),
              ...(verified !== undefined && { 'search[verified]': String(verified) }),
            },
            signal,
            retryLimits,
          },
          (answered) => readCallbacks(answered, page),
        ),
      ({ callbackid }) => callbackid,
      onRejected,
    );
    return all.filter((callback) => matches(callback, filter));
  }

  remove(callbackid: number, { signal }: CallOptions = {}): Promise<void> {
    return this.#call({ family, method: 'DELETE', path: `${this.#path}/${callbackid}`, signal }, readRemoval);
  }

  #put(callbackid: number, callback: object, more: Pick<Call, 'secret' | 'signal'>): Promise<Callback> {
    const path = `${this.#path}/${callbackid}`;
    return this.#call({ family, method: 'PUT', path, body: { callback }, ...more }, readCallback);
  }
}

function matches(callback: Callback, { event, uri, verified }: CallbackFilter): boolean {
  return (
    (event === undefined || isMatchedBy(event, callback.event)) &&
    (uri === undefined || callback.uri === uri) &&
    (verified === undefined || callback.verified === verified)
  );
}
