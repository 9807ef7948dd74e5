/**
 * When something that failed is tried again: the states of a marked vendor and the delay of each, until it is parked; vendors and webhooks
 * that fail; one request to the service.
 */

/**
 * The retry policy of marked vendors: what one reading of a vendor means for its mark, and every number that says when it is read again. The
 * SQL that marks vendors takes its numbers from here. Pure: clock, random source and queue belong to the caller.
 *
 * A mark is open (due at a time), parked (waits for the next reconciliation, which marks it again as `reconcile`), or removed once it is
 * settled. Its `attempts` are the consecutive readings that did not settle it.
 *
 *   mark made by    result of the reading           next     which is
 *   --------------  ------------------------------  -------  ----------------------------------------------------------------------
 *   anything        news, for one delivery or none  settle   applied
 *   anything        news, for several deliveries    defer    second look, attempts 0, deliveries applied: it may be the first change only
 *   delivery        nothing new                     defer    second look, attempts + 1: an old copy may have answered
 *   anything else   nothing new                     settle   unchanged
 *   anything        guarded                         keep     the guard has marked the vendor again, and that mark stays
 *   reconcile       absent                          settle   not_found: it was parked before, and a reconciliation found none either
 *   anything else   absent, attempts 0 to 3         defer    after 3, 9, 27, 81 s, attempts + 1: it may not be visible yet
 *   anything else   absent, attempts 4 or more      park
 *   anything        refused, attempts 0 to 10       defer    after 5 s at least, and less than 5 s * 2^(attempts + 1) or 1 h, attempts + 1
 *   anything        refused, attempts 11 or more    park
 *
 * Besides, every reading that shows its vendor, of a list too, settles what was marked before it by the delay of a second look or more
 * (`Queue.answer`): however often the vendor is marked again, only what came since stays open.
 *
 * Where the vendor was marked again during the reading, the newer mark stays, and is due after the delay for repeated deliveries.
 */

/** Why a vendor is marked. */
export type MarkReason = 'delivery' | 'second_look' | 'guarded' | 'retry' | 'reconcile' | 'asked';

/** The parts of a mark that the policy depends on. */
export interface MarkState {
  readonly reason: MarkReason;
  readonly attempts: number;
}

/** The result of reading a marked vendor. */
export type Result =
  /** It showed a change that an event announces; `deliveries` is the number of open deliveries of the vendor. */
  | { readonly kind: 'news'; readonly deliveries: number }
  | { readonly kind: 'nothing_new' }
  /** It contradicts a version that is too young. */
  | { readonly kind: 'guarded' }
  /** The service does not know the vendor. */
  | { readonly kind: 'absent' }
  /** No usable answer. `fraction`, random from 0 up to 1, spreads the next readings. */
  | { readonly kind: 'refused'; readonly error: string; readonly fraction: number };

/** When and why a vendor is read again; `delay` in milliseconds. */
export interface Deferral extends MarkState {
  readonly delay: number;
  readonly error: string | null;
}

export type NextStep =
  | { readonly kind: 'settle'; readonly outcome: 'applied' | 'unchanged' | 'not_found' }
  /** Defers the mark; its deliveries are settled where an `outcome` is given. */
  | { readonly kind: 'defer'; readonly deferral: Deferral; readonly outcome?: 'applied' }
  | { readonly kind: 'park'; readonly error: string }
  | { readonly kind: 'keep' };

/** Milliseconds before each further reading of an absent vendor; after the last of them its mark is parked. */
const absentDelays = [3_000, 9_000, 27_000, 81_000];

/**
 * Milliseconds before a further delivery causes a reading, by the number of readings that showed nothing new; the last holds for all beyond.
 * However often a delivery is replayed, it costs only a few readings.
 */
export const repeatDelays = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;

/** What happens to a mark after one reading. @param secondLook milliseconds before a second look */
export function nextStep({ reason, attempts }: MarkState, result: Result, secondLook: number): NextStep {
  const again = { delay: secondLook, reason: 'second_look', error: null } as const;
  switch (result.kind) {
    case 'news':
      if (result.deliveries <= 1) return { kind: 'settle', outcome: 'applied' };
      return { kind: 'defer', deferral: { ...again, attempts: 0 }, outcome: 'applied' };
    case 'nothing_new':
      if (reason !== 'delivery') return { kind: 'settle', outcome: 'unchanged' };
      return { kind: 'defer', deferral: { ...again, attempts: attempts + 1 } };
    case 'guarded':
      return { kind: 'keep' };
    case 'absent': {
      if (reason === 'reconcile') return { kind: 'settle', outcome: 'not_found' };
      const delay = absentDelays[attempts];
      if (delay === undefined) return { kind: 'park', error: 'The service does not know this vendor.' };
      const error = 'The service does not know this vendor yet.';
      return { kind: 'defer', deferral: { delay, reason, attempts: attempts + 1, error } };
    }
    case 'refused': {
      const { error, fraction } = result;
      const refusals = attempts + 1;
      const delay = retryDelay(refusals, fraction);
      if (delay === undefined) return { kind: 'park', error };
      return { kind: 'defer', deferral: { delay, reason, attempts: refusals, error } };
    }
  }
}

/** Milliseconds before a second look, from the settings: until `lag` has passed, an old copy may answer again. */
export function secondLookDelay({ secondLook, lag }: { readonly secondLook: number; readonly lag: number }): number {
  return Math.max(secondLook, lag);
}

/** Delays after failures, and when to give up: for vendors that cannot be read and for webhooks that cannot be delivered. */

/** Consecutive failures before something is parked, and the shortest and longest delay between attempts, in milliseconds. */
const maxFailures = 12;
const minDelay = 5_000;
const maxDelay = 3_600_000;

/** How long a whole queue pauses after a failure, at first and at most, in milliseconds. */
const firstQueuePause = 5_000;
const maxQueuePause = 60_000;

/**
 * Milliseconds before the next attempt, after this many consecutive failures; undefined where it is time to give up. A random `fraction`, from
 * 0 up to 1, spreads the attempts.
 */
export function retryDelay(failures: number, fraction: number): number | undefined {
  if (failures >= maxFailures) return undefined;
  const ceiling = Math.min(maxDelay, minDelay * 2 ** failures);
  return minDelay + fraction * (ceiling - minDelay);
}

/** Milliseconds that a whole queue pauses after this many consecutive failures: doubled each time. */
export function queuePause(failures: number): number {
  return Math.min(maxQueuePause, firstQueuePause * 2 ** (failures - 1));
}

/** The retry policy of requests to the service: how often one call is sent, and the waits in between. Which errors are retried: ../errors.ts. */

/** Limits of one call: attempts, and milliseconds of waiting between them, not counting its requests and its wait for the rate limit. */
export interface RetryLimits {
  readonly attempts: number;
  readonly firstWait: number;
  readonly maxWait: number;
  readonly totalWait: number;
  /** A request that was not answered in time is not sent again. */
  readonly oneTimeout?: boolean;
  /** Attempts after which an answer that declines the request (./optional-requests.ts) is believed; default: all. */
  readonly untilDeclined?: number;
}

export const defaultRetryLimits: RetryLimits = {
  attempts: 6,
  firstWait: 1_000,
  maxWait: 60_000,
  totalWait: 120_000,
};

/** Of a read by id that its mark or the next run repeats: it bridges a short failure, and a vendor whose reads hang takes one timeout. */
export const readRetryLimits: RetryLimits = { ...defaultRetryLimits, attempts: 4, oneTimeout: true };

/** Milliseconds before the next attempt, after this many: exponential, with full jitter by a random `fraction` from 0 up to 1. */
export function requestDelay(attempts: number, fraction: number, { firstWait, maxWait }: RetryLimits): number {
  return fraction * Math.min(maxWait, firstWait * 2 ** (attempts - 1));
}
