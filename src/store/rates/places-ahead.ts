/**
 * Places that a run takes with its begin, for requests that follow: the same pages of the file are then written once, not for each request.
 * Those for vendors and gateways are for the run itself. The one for callbacks is for their check before the next run. Only where few requests
 * are expected: as many as between the last two begins.
 */
import type { RateDemand } from '../../domain/rate-reservation.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import { families, scopeKey, scopeOf, type RequestKey, type RequestScope } from './request-rows.ts';

/** More requests than these are sent over a longer time, and each takes its place in its own time. */
const mostAhead = 10;

/** How long a place may be used for reading vendors, in milliseconds. */
export const longestAhead = 5_000;

/** The part of a rate that a process may hold for an account without sending requests. */
export const heldShare = 0.1;

export interface ExpectedRequests {
  readonly demand: RateDemand;
  readonly requests: number;
}

export interface TakenAhead {
  readonly demand: RateDemand;
  readonly stamps: readonly ReadStamp[];
  /** The clock when they were taken, monotonic milliseconds. */
  readonly takenAt: number;
  /** As SQLite's `data_version`: changes when another process has written. */
  readonly dataVersion: number;
}

interface Ahead extends TakenAhead {
  readonly left: ReadStamp[];
}

export class PlacesAhead {
  /** Background requests since the last run of their account began. */
  readonly #sent = new Map<string, ExpectedRequests>();
  readonly #ahead = new Map<string, Ahead>();
  /** The last number that was taken otherwise: for the account and family, and for any account. Places with earlier ones may only be given back. */
  readonly #later = new Map<string, number>();
  #laterOfAll = 0;

  /** A request is to be sent. */
  note(demand: RateDemand): void {
    if (!demand.isBackground) return;
    const key = scopeKey(scopeOf(demand));
    this.#sent.set(key, { demand, requests: (this.#sent.get(key)?.requests ?? 0) + 1 });
  }

  /** A run of the account begins. @returns the requests that are expected to follow, where they are few. */
  expected(accountId: string): ExpectedRequests[] {
    return scopesOf(accountId).flatMap((scope) => {
      const key = scopeKey(scope);
      const sent = this.#sent.get(key);
      this.#sent.delete(key);
      return sent && sent.requests <= Math.min(mostAhead, sent.demand.requests * heldShare) ? [sent] : [];
    });
  }

  /** The places that a run of the account took; those of an earlier one were given back. */
  replace(accountId: string, taken: readonly TakenAhead[]): void {
    for (const scope of scopesOf(accountId)) this.#ahead.delete(scopeKey(scope));
    for (const ahead of taken) this.#ahead.set(scopeKey(scopeOf(ahead.demand)), { ...ahead, left: [...ahead.stamps] });
  }

  /** The places that this request may use; to read vendors, only if no other process has written since. */
  usable(demand: RateDemand, now: number): TakenAhead | undefined {
    const key = scopeKey(scopeOf(demand));
    const ahead = this.#ahead.get(key);
    const [next] = ahead?.left ?? [];
    if (!demand.isBackground || !ahead || !next || next.readSeq < (this.#later.get(key) ?? 0)) return undefined;
    if (!isOrdered(demand)) return ahead;
    return next.readSeq > this.#laterOfAll && now - ahead.takenAt < longestAhead ? ahead : undefined;
  }

  /** Uses the oldest place that is left. */
  use(demand: RateDemand): ReadStamp | undefined {
    return this.#ahead.get(scopeKey(scopeOf(demand)))?.left.shift();
  }

  /**
   * A number was taken for another request: what is read later with an earlier number would seem to be older than it is. Runs inside the
   * transaction that takes it.
   */
  tookOther(demand: RateDemand, { readSeq }: ReadStamp): void {
    if (isOrdered(demand)) this.#later.set(scopeKey(scopeOf(demand)), readSeq);
  }

  /** A number was taken for what may be any account. Runs inside the transaction that takes it. */
  tookStamp({ readSeq }: ReadStamp): void {
    this.#laterOfAll = readSeq;
  }

  /** A run began: places of earlier runs may no longer be used. Runs inside its transaction. */
  began(accountId: string, { readSeq }: ReadStamp): void {
    for (const scope of scopesOf(accountId)) this.#later.set(scopeKey(scope), readSeq);
  }

  /** Places of the account that nothing has used. */
  unused(accountId: string): RequestKey[] {
    return scopesOf(accountId).flatMap((scope) => placesLeft(this.#ahead.get(scopeKey(scope))));
  }

  allUnused(): RequestKey[] {
    return [...this.#ahead.values()].flatMap(placesLeft);
  }
}

/** Whether what the request shows is ordered by its number. */
export function isOrdered({ family }: RateDemand): boolean {
  return family === 'accounting';
}

function scopesOf(account_id: string): RequestScope[] {
  return families.map((family) => ({ account_id, family }));
}

function placesLeft(ahead: Ahead | undefined): RequestKey[] {
  if (!ahead) return [];
  return ahead.left.map(({ readSeq }) => ({ ...scopeOf(ahead.demand), read_seq: readSeq }));
}
