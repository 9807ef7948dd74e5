/** The client of the accounting service, for one account. */
import type { Rate } from '../settings/parse.ts';
import { caller, type ApiDependencies, type ApiSettings } from './caller.ts';
import { callbacksApi, type CallbacksApi } from './callbacks.ts';
import { gatewaysApi, type GatewaysApi } from './gateways.ts';
import { RateLimiter } from './http/rate-limiter.ts';
import { vendorsApi, type VendorsApi } from './vendors.ts';

export interface ServiceClient {
  readonly vendors: VendorsApi;
  readonly gateways: GatewaysApi;
  readonly callbacks: CallbacksApi;
}

/** How many requests of the rate are reserved for prompt calls, so that deliveries and people do not wait for sweeps. */
function reservedForPrompt({ requests }: Rate): number {
  return Math.floor(requests / 10);
}

/**
 * The API of one account. Its rate limiters belong to the client, one for vendors and gateways and one for callbacks, so create one client for
 * each account.
 */
export function connect(service: ApiSettings, accountId: string, dependencies: ApiDependencies): ServiceClient {
  const accounting = new RateLimiter(
    service.rateLimit.vendors,
    dependencies.clock,
    reservedForPrompt(service.rateLimit.vendors),
  );
  const events = new RateLimiter(service.rateLimit.callbacks, dependencies.clock);
  const call = caller(
    accountId,
    service,
    { vendors: accounting, gateways: accounting, callbacks: events },
    dependencies,
  );
  return {
    vendors: vendorsApi(call, accountId, service),
    gateways: gatewaysApi(call, accountId, service.paging),
    callbacks: callbacksApi(call, accountId, service.paging),
  };
}
