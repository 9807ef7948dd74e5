/** The client of the accounting service, for one account. */
import type { Rate } from '../settings/parse.ts';
import { caller, type ApiDependencies, type ApiSettings } from './caller.ts';
import { CallbacksApi } from './callbacks.ts';
import { GatewaysApi } from './gateways.ts';
import { RateLimiter } from './http/rate-limiter.ts';
import { noMemory, OptionalRequests } from './optional-requests.ts';
import { VendorsApi } from './vendors.ts';

export interface ServiceClient {
  readonly vendors: VendorsApi;
  readonly gateways: GatewaysApi;
  readonly callbacks: CallbacksApi;
  readonly optional: OptionalRequests;
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
  const optional = new OptionalRequests(accountId, dependencies.optionalMemory ?? noMemory, dependencies.log);
  return {
    vendors: new VendorsApi(call, accountId, { ...service, optional }),
    gateways: new GatewaysApi(call, accountId, service.paging, optional),
    callbacks: new CallbacksApi(call, accountId, service.paging, optional),
    optional,
  };
}
