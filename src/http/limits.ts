/** Limits of an HTTP server. */
import type { ConnectionLimits } from './connection-limits.ts';

export interface HttpLimits extends ConnectionLimits {
  readonly connectionsCheckingInterval: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  /** Requests with more headers are refused with 431; proxies add many. */
  readonly maxHeadersCount: number;
  readonly maxRequestsPerSocket: number;
  /** How long a stop waits for answers that are being sent, in milliseconds, before it closes their connections. */
  readonly stopGrace: number;
}

/** Times are in milliseconds. Without the short checking interval, Node would enforce no timeout for 15 s. */
export const defaultLimits: HttpLimits = {
  connectionsCheckingInterval: 1_000,
  headersTimeout: 5_000,
  requestTimeout: 8_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 8_192,
  maxHeadersCount: 256,
  maxRequestsPerSocket: 10_000,
  maxConnections: 256,
  maxConnectionsPerAddress: 32,
  maxRequestsWhenBusy: 100,
  stopGrace: 2_000,
};
