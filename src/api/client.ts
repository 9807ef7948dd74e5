/** The client of the accounting service, for one account. */
import { caller, type ApiDependencies, type ApiSettings } from './caller.ts';
import { CallbacksApi } from './callbacks.ts';
import { GatewaysApi } from './gateways.ts';
import { noMemory, OptionalRequests } from './optional-requests.ts';
import { VendorsApi } from './vendors.ts';

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
