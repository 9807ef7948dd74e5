/** The service's API of payment gateways. */
import type { Gateway } from '../domain/vendor.ts';
import type { ApiSettings, Caller } from './caller.ts';
import { wholeList, readGateways, readRemoval } from './wire/resources.ts';
import { gatewayRemoval, gatewaysPath } from './requests.ts';
import type { CallOptions } from './vendors.ts';

export interface GatewaysApi {
  /** All enabled gateways. @throws MirrorError `paging_ignored` and what any call throws. */
  list(options?: CallOptions): Promise<Gateway[]>;
  /** Removes a gateway. It can be enabled again only in the service's own user interface. */
  remove(sgid: number, options?: CallOptions): Promise<void>;
}

export function gatewaysApi(call: Caller, accountId: string, paging: ApiSettings['paging']): GatewaysApi {
  const base = gatewaysPath(accountId);
  const family = 'gateways';

  return {
    list: ({ signal } = {}) =>
      wholeList(
        (page) =>
          call(
            {
              family,
              method: 'GET',
              path: base,
              priority: 'background',
              query: { [paging.pageParam]: String(page), [paging.perPageParam]: String(paging.perPage) },
              signal,
            },
            (answered) => readGateways(answered, page),
          ),
        ({ sgid }) => sgid,
      ),
    remove: (sgid, { signal } = {}) => call({ ...gatewayRemoval(accountId, sgid), signal }, readRemoval),
  };
}
