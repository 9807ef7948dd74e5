/** A client of a service, without a mirror beside it that counts its requests. */
import type { ApiDependencies, ApiSettings } from '../../../src/api/caller.ts';
import { connect, type ServiceClient } from '../../../src/api/client.ts';
import { ConnectionRate } from '../../../src/api/http/rate-limiter.ts';
import { fixedToken } from '../../../src/api/auth/token-sources.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { ReadStamp, ReserveRequest } from '../../../src/domain/reading.ts';
import type { Rate } from '../../../src/settings/parse.ts';
import { constantRandom } from '../random.ts';
import { network } from './intercept.ts';
import { defaultSettings } from '../settings.ts';

export interface Connection {
  readonly baseUrl: string;
  readonly account: string;
  readonly token: string;
}

/** What a client is given, and its rates. */
export type Changes = Partial<ApiDependencies & ApiSettings> & {
  readonly rateLimit?: { readonly all: Rate; readonly post: Rate; readonly callbacks: Rate };
  readonly isCommand?: boolean;
};

/** By default waits neither for its rate nor between attempts. */
export function connectTo({ baseUrl, account, token }: Connection, changes: Changes = {}): ServiceClient {
  const free = { requests: 100_000, per: 1_000 };
  const { clock = systemClock, rateLimit = { all: free, post: free, callbacks: free }, isCommand } = changes;
  const rate = new ConnectionRate('default', rateLimit, clock, { isCommand });
  let readSeq = 0;
  return connect(
    {
      ...defaultSettings.service,
      baseUrl,
      lag: defaultSettings.sync.lag,
      timeout: 10_000,
      ...changes,
    },
    account,
    {
      clock,
      random: constantRandom(0),
      fetch: network,
      log: silentLog,
      reserveRequest: freeReservations(() => ({ readSeq: (readSeq += 1), begun: clock.monotonic() })),
      tokens: fixedToken(new Secret(token)),
      rate: () => rate,
      ...changes,
    },
  );
}

/** A rate limit that is not shared. */
export function freeReservations(stamp: () => ReadStamp): ReserveRequest {
  return () => Promise.resolve({ stamp: stamp(), end: () => undefined });
}
