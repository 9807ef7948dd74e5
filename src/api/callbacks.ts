/** The service's API of webhook callbacks. */
import { isMatchedBy } from '../domain/events.ts';
import { Secret } from '../domain/secret.ts';
import type { Callback } from '../domain/vendor.ts';
import type { ApiSettings, Call, Caller } from './caller.ts';
import type { OptionalRequests } from './optional-requests.ts';
import { readCallback, readCallbacks, readRemoval } from './wire/resources.ts';
import { wholeList, type ListingOptions } from './short-lists.ts';
import type { CallOptions } from './vendors.ts';
import { callbacksPath } from './requests.ts';

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
    return this.#call(
      { family, method: 'POST', path: this.#path, body, secret: new Secret(uri), signal },
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
