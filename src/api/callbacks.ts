/** The service's API of webhook callbacks. */
import { isMatchedBy } from '../domain/events.ts';
import { Secret } from '../domain/secret.ts';
import type { Callback } from '../domain/vendor.ts';
import type { ApiSettings, Call, Caller } from './caller.ts';
import { wholeList, readCallback, readCallbacks, readRemoval } from './wire/resources.ts';
import type { CallOptions } from './vendors.ts';
import { callbacksPath } from './requests.ts';

export interface CallbackFilter {
  /** An event (`bill_vendor.create`), or a noun or its plural for all its events. */
  readonly event?: string | undefined;
  readonly uri?: string | undefined;
  readonly verified?: boolean | undefined;
}

export interface CallbacksApi {
  /** Registers an unverified callback for an event. The service may refuse a duplicate with `rejected`, or create a second one. */
  register(event: string, uri: string, options?: CallOptions): Promise<Callback>;
  /** Sends a verification code. It was right only if the answer has `verified` true. */
  verify(callbackid: number, verifier: Secret, options?: CallOptions): Promise<Callback>;
  /** Requests a new code; until it is verified, the service delivers nothing. */
  resend(callbackid: number, options?: CallOptions): Promise<Callback>;
  /** All callbacks that match the filter, even where the service ignores it. */
  list(filter?: CallbackFilter, options?: CallOptions): Promise<Callback[]>;
  remove(callbackid: number, options?: CallOptions): Promise<void>;
}

export function callbacksApi(call: Caller, accountId: string, paging: ApiSettings['paging']): CallbacksApi {
  const base = callbacksPath(accountId);
  const family = 'callbacks';

  const put = (callbackid: number, callback: object, more: Pick<Call, 'secret' | 'signal'>): Promise<Callback> =>
    call({ family, method: 'PUT', path: `${base}/${callbackid}`, body: { callback }, ...more }, readCallback);

  return {
    register: (event, uri, { signal } = {}) =>
      call(
        { family, method: 'POST', path: base, body: { callback: { event, uri } }, secret: new Secret(uri), signal },
        readCallback,
      ),
    verify: (callbackid, verifier, { signal } = {}) =>
      put(callbackid, { verifier: verifier.reveal() }, { secret: verifier, signal }),
    resend: (callbackid, { signal } = {}) => put(callbackid, { resend: true }, { signal }),
    async list(filter = {}, { signal } = {}) {
      const { event, uri, verified } = filter;
      const all = await wholeList(
        (page) =>
          call(
            {
              family,
              method: 'GET',
              path: base,
              priority: 'background',
              query: {
                [paging.pageParam]: String(page),
                [paging.perPageParam]: String(paging.perPage),
                ...(event !== undefined && { 'search[event]': event }),
                ...(uri !== undefined && { 'search[uri]': uri }),
                ...(verified !== undefined && { 'search[verified]': String(verified) }),
              },
              signal,
            },
            (answered) => readCallbacks(answered, page),
          ),
        ({ callbackid }) => callbackid,
      );
      return all.filter((callback) => matches(callback, filter));
    },
    remove: (callbackid, { signal } = {}) =>
      call({ family, method: 'DELETE', path: `${base}/${callbackid}`, signal }, readRemoval),
  };
}

function matches(callback: Callback, { event, uri, verified }: CallbackFilter): boolean {
  return (
    (event === undefined || isMatchedBy(event, callback.event)) &&
    (uri === undefined || callback.uri === uri) &&
    (verified === undefined || callback.verified === verified)
  );
}
