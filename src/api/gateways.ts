/** The service's API of payment gateways. */
import type { Gateway } from '../domain/vendor.ts';
import type { ApiSettings, Caller } from './caller.ts';
import { readGateways, readRemoval } from './wire/resources.ts';
import type { OptionalRequests } from './optional-requests.ts';
import { gatewayRemoval, gatewaysPath } from './requests.ts';
import { wholeList, type ListingOptions } from './short-lists.ts';
import type { CallOptions } from './vendors.ts';

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
