/** The client of the accounting service, for one account. */
import type { Rate } from '../settings/parse.ts';
import type { ApiDependencies, Service } from './call/call.ts';
import { caller } from './call/caller.ts';
import { callbacksApi, type CallbacksApi } from './callbacks.ts';
import { gatewaysApi, type GatewaysApi } from './gateways.ts';
import { RateGate } from './http/rate-limiter.ts';
import { vendorsApi, type VendorsApi } from './vendors.ts';

export interface ServiceClient {
  readonly vendors: VendorsApi;
  readonly gateways: GatewaysApi;
  readonly callbacks: CallbacksApi;
}

/** A tenth of the rate is reserved for prompt calls, so that deliveries and people do not wait for sweeps. */
function keptForPrompt({ requests }: Rate): number {
  return Math.floor(requests / 10);
}

/**
 * The API of one account. Its rate gates belong to the client, one for vendors and gateways and one for callbacks, so create one client for
 * each account.
 */
export function connect(service: Service, accountId: string, dependencies: ApiDependencies): ServiceClient {
  const account = encodeURIComponent(accountId);
  const accounting = new RateGate(
    service.rateLimit.vendors,
    dependencies.clock,
    keptForPrompt(service.rateLimit.vendors),
  );
  const events = new RateGate(service.rateLimit.callbacks, dependencies.clock);
  const call = caller(
    accountId,
    service,
    { vendors: accounting, gateways: accounting, callbacks: events },
    dependencies,
  );
  return {
    vendors: vendorsApi(call, accountId, service),
    gateways: gatewaysApi(call, accountId, service.paging),
    callbacks: callbacksApi(call, account, service.paging),
  };
}
