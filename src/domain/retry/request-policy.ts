/** The retry policy of requests to the service: how often one call is sent, and the waits in between. Which errors are retried: ../errors.ts. */

/** Limits of one call: attempts, and milliseconds of waiting between them, not counting its requests and its wait for the rate limit. */
export interface RetryLimits {
  readonly attempts: number;
  readonly firstWait: number;
  readonly longestWait: number;
  readonly totalWait: number;
}

export const defaultRetryLimits: RetryLimits = {
  attempts: 6,
  firstWait: 1_000,
  longestWait: 60_000,
  totalWait: 120_000,
};

/** Milliseconds before the next attempt, after this many: exponential, with full jitter by a random `fraction` from 0 up to 1. */
export function requestDelay(attempts: number, fraction: number, { firstWait, longestWait }: RetryLimits): number {
  return fraction * Math.min(longestWait, firstWait * 2 ** (attempts - 1));
}
