/** How much of a server callers may use. */
import type { ConnectionLimits } from './connection-limits.ts';

export interface HttpLimits extends ConnectionLimits {
  readonly connectionsCheckingInterval: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  /** A request with more is refused with 431; proxies add many of their own. */
  readonly maxHeadersCount: number;
  readonly maxRequestsPerSocket: number;
  /** How long a stop waits for answers under way, in milliseconds, before their connections are cut. */
  readonly stopGrace: number;
}

/** Held in a test of slow senders. Times are milliseconds; without the short checking interval no timeout closes anything for 15 s. */
export const defaultLimits: HttpLimits = {
  connectionsCheckingInterval: 1_000,
  headersTimeout: 5_000,
  requestTimeout: 8_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 8_192,
  maxHeadersCount: 256,
  maxRequestsPerSocket: 100,
  maxConnections: 256,
  maxConnectionsPerAddress: 32,
  stopGrace: 2_000,
};
