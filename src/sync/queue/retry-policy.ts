/**
 * The retry policy of marked vendors: what one reading of a vendor means for its mark, and every number that says when it is read again.
 * Pure: the clock, the random source and the queue are the caller's.
 *
 * A mark is open (due at a time), parked (waits for the next reconciliation, which marks it anew as `reconcile`), or gone once it is settled.
 * Its `attempts` are the readings in a row that did not settle it.
 *
 *   mark made by    result of the reading           next     which is
 *   --------------  ------------------------------  -------  ----------------------------------------------------------------------
 *   anything        news, for one delivery or none  settle   applied
 *   anything        news, for several deliveries    defer    second look, attempts 0, deliveries applied: it may be the first change only
 *   delivery        nothing new                     defer    second look, attempts + 1: an old copy may have answered
 *   anything else   nothing new                     settle   unchanged
 *   anything        guarded                         keep     the guard has marked the vendor anew, and that mark stands
 *   reconcile       absent                          settle   not_found: it was given up once, and a reconciliation found none either
 *   anything else   absent, attempts 0 to 3         defer    after 3, 9, 27, 81 s, attempts + 1: it may not be visible yet
 *   anything else   absent, attempts 4 or more      park
 *   anything        refused, attempts 0 to 10       defer    after 5 s at least, and less than 5 s * 2^(attempts + 1) or 1 h, attempts + 1
 *   anything        refused, attempts 11 or more    park
 *
 * The delays after refusals, and when to give up, are in domain/async/backoff.ts: outgoing webhooks follow them too.
 * Where the vendor was marked again meanwhile, the newer mark stands; how long that rests is in store/decide/mark-rest.ts.
 */
import { retryDelay } from '../../domain/async/backoff.ts';
import type { SyncSettings } from '../../settings/parse.ts';
import type { Mark, Deferral } from '../../store/records/mark-record.ts';

/** What a reading of a marked vendor came to. */
export type Result =
  /** It showed something that an event tells of, and `deliveries` about the vendor are open. */
  | { readonly kind: 'news'; readonly deliveries: number }
  | { readonly kind: 'nothing_new' }
  /** It contradicts something too young. */
  | { readonly kind: 'guarded' }
  /** The service knows no such vendor. */
  | { readonly kind: 'absent' }
  /** No answer that says anything about the vendor; a random `fraction`, from 0 up to 1, spreads the next readings. */
  | { readonly kind: 'refused'; readonly error: string; readonly fraction: number };

export type NextStep =
  | { readonly kind: 'settle'; readonly outcome: 'applied' | 'unchanged' | 'not_found' }
  /** Puts the mark off; its deliveries are settled where an `outcome` is known already. */
  | { readonly kind: 'defer'; readonly deferral: Deferral; readonly outcome?: 'applied' }
  | { readonly kind: 'park'; readonly error: string }
  | { readonly kind: 'keep' };

/** Milliseconds before each further reading of a vendor that is absent; after the last of them its mark is parked. */
const absentDelays = [3_000, 9_000, 27_000, 81_000];

/** What becomes of a mark after one reading. `secondLook` is the delay before a second look, in milliseconds. */
export function next(
  { reason, attempts }: Pick<Mark, 'reason' | 'attempts'>,
  result: Result,
  secondLook: number,
): NextStep {
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
      if (delay === undefined) return { kind: 'park', error: 'The service knows no such vendor.' };
      const error = 'The service knows no such vendor yet.';
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

/** Milliseconds before a second look: until the lag is over, an old copy may answer once more. */
export function secondLookDelay({ secondLook, lag }: Pick<SyncSettings, 'secondLook' | 'lag'>): number {
  return Math.max(secondLook, lag);
}
