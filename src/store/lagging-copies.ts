/**
 * Copies that are older than `sync.lag` allows. A list that shows a vendor with an earlier `updated_at` than the mirror holds, or
 * exactly as an earlier version of it with the same one (a balance moves without it), was answered from a copy that lags, or shows something
 * otherwise than reads by id do (`sync/details.ts`): the mirror would go back to what was, and forward again with the next delivery.
 *
 * Such a reading is not applied: the vendor is marked, and a read by id says which is true. Where no read by id can, the list is believed once
 * a later sweep shows the same, after ten minutes or as long as the copy was old: no copy would show it then. A read by id may come from the
 * same copy (one replica lags, or our own write has not reached it): where it shows a version that ended, it is believed once another shows the
 * same ten minutes later, and none showed the later version between. The age of the oldest copy takes the place of a shorter `sync.lag` in
 * sweeps, until none was seen for a day.
 */
import { sql } from 'kysely';
import { parseInstant, type Clock } from '../domain/clock.ts';
import { limits } from '../domain/limits.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ReadingCounter } from './reading-counter.ts';
import { mirrorSql, statement, columns, numbersIn, Operations, type Connection } from './sql/statement.ts';
import type { VendorKey, VendorTable } from './sql/schema.ts';

/** Sweeps reckon with copies of at most this age, in milliseconds. */
const oldestCopy = 10 * 60_000;

const ofCopy = ['updated_at', 'begun_ms', 'wait_ms', 'age_ms'] as const;

interface JudgedBy {
  /** How long the service may answer from an old copy, as far as is known, in milliseconds. */
  readonly lag: number;
  /** Whether a read by id can tell what a list shows, and is asked next; true by default. */
  readonly readsById?: boolean | undefined;
  /** Whether a list shows it, or a read by id. */
  readonly isListed: boolean;
}

export class LaggingCopies extends Operations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #counter: Pick<ReadingCounter, 'moment'>;
  readonly #ended = statement(this.db)<VendorKey & { earlier: string | null; raw: string }, { valid_to: string }>`
    SELECT valid_to FROM _vendor_versions
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND valid_to IS NOT NULL
      AND (raw = ${'raw'} OR json_extract(raw, '$.updated_at') = ${'earlier'})
    ORDER BY seq DESC LIMIT 1`;
  readonly #first = statement(this.db)<VendorKey & { updated_at: string }, { begun_ms: number; wait_ms: number }>`
    SELECT begun_ms, wait_ms FROM _lagging_copies
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND updated_at = ${'updated_at'}`;
  readonly #note = statement<VendorKey & { updated_at: string; begun_ms: number; wait_ms: number; age_ms: number }>(
    this.db,
    (at) =>
      mirrorSql
        .insertInto('_lagging_copies')
        .values(columns(at, ['account_id', 'vendorid', ...ofCopy]))
        .onConflict((conflict) => conflict.columns(['account_id', 'vendorid']).doUpdateSet(columns(at, ofCopy))),
  );
  readonly #age = statement(this.db)<VendorKey, { age_ms: number }>`
    SELECT age_ms FROM _lagging_copies WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #settle = statement(this.db)<VendorKey>`
    DELETE FROM _lagging_copies WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #open = statement(this.db)<{ account_id: string }>`
    SELECT vendorid FROM _lagging_copies WHERE account_id = ${'account_id'} LIMIT 1`;
  readonly #settleOthers = statement<{ account_id: string; lagging: string }>(this.db, (at) =>
    mirrorSql
      .deleteFrom('_lagging_copies')
      .where('account_id', '=', at('account_id'))
      .where(sql<boolean>`vendorid NOT IN ${numbersIn(at('lagging'))}`),
  );
  readonly #raise = statement(this.db)<{ account_id: string; behind_ms: number; seen_ms: number; since: number }>`
    INSERT INTO _lagging_lists (account_id, behind_ms, seen_ms) VALUES (${'account_id'}, ${'behind_ms'}, ${'seen_ms'})
    ON CONFLICT (account_id) DO UPDATE SET
      behind_ms = CASE WHEN _lagging_lists.seen_ms < ${'since'} OR _lagging_lists.behind_ms < excluded.behind_ms
        THEN excluded.behind_ms ELSE _lagging_lists.behind_ms END,
      seen_ms = excluded.seen_ms`;
  readonly #behind = statement(this.db)<{ account_id: string; since: number }, { behind_ms: number }>`
    SELECT behind_ms FROM _lagging_lists WHERE account_id = ${'account_id'} AND seen_ms >= ${'since'}`;

  constructor(db: Connection, clock: Pick<Clock, 'now'>, counter: Pick<ReadingCounter, 'moment'>) {
    super(db);
    this.#clock = clock;
    this.#counter = counter;
  }

  /**
   * Judges a reading that differs from the stored vendor, by the record that would be stored. Runs inside a transaction.
   * @returns undefined for what is not earlier, and where it is to be believed; otherwise the age of the copy and how long it is not
   * believed, both in milliseconds
   */
  async judge(
    stored: VendorTable,
    { updated_at, raw }: { readonly updated_at: string | null; readonly raw: string },
    { begun }: ReadStamp,
    { lag, readsById = true, isListed }: JudgedBy,
  ): Promise<{ readonly age: number | undefined; readonly left: number } | undefined> {
    const [shown, held] = [instant(updated_at), instant(stored.updated_at)];
    const isEarlier = shown !== undefined && held !== undefined && shown < held;
    // A vendor may go back within the resolution of `updated_at`: only a read by id can tell.
    if (!isEarlier && (updated_at !== stored.updated_at || !readsById || !isListed)) return undefined;
    const key = { account_id: stored.account_id, vendorid: stored.vendorid };
    const ended = instant(
      (await this.#ended.get({ ...key, earlier: isEarlier ? updated_at : null, raw }))?.valid_to ?? null,
    );
    // The service's clock may go back: an earlier time alone does not make a read by id an old copy.
    if (ended === undefined && !(isEarlier && isListed)) return undefined;
    // A balance may go back to what it was: then no copy lags.
    if (!isEarlier) return { age: undefined, left: 0 };
    const age = ended === undefined ? begun - stored.held_since_ms : Math.max(0, this.#clock.now() - ended);
    const updatedAt = updated_at ?? '';
    const first = await this.#first.get({ ...key, updated_at: updatedAt });
    const shortest = Math.max(lag, limits.copyBelievedAfter);
    const { begun_ms = begun, wait_ms = isListed ? Math.max(age, shortest) : shortest } = first ?? {};
    // A read by id is not believed later because a list showed the same before.
    const left = begun_ms + (isListed ? wait_ms : Math.min(wait_ms, shortest)) - begun;
    if (left <= 0) return undefined;
    this.#note.send({ ...key, updated_at: updatedAt, begun_ms, wait_ms, age_ms: age });
    if (!readsById) this.#raiseAge(key.account_id, age, begun);
    return { age, left };
  }

  /**
   * A read by id said how the vendor is: as it is held, where `isConfirmed`; so a list that showed it otherwise came from a copy. Runs inside
   * a transaction.
   */
  async settle({ account_id, vendorid }: VendorKey, isConfirmed: boolean, { begun }: ReadStamp): Promise<void> {
    const key = { account_id, vendorid };
    const copy = await this.#age.get(key);
    if (!copy) return;
    this.#settle.send(key);
    if (isConfirmed) this.#raiseAge(account_id, copy.age_ms, begun);
  }

  #raiseAge(account_id: string, age: number, begun: number): void {
    this.#raise.send({
      account_id,
      behind_ms: Math.min(age, oldestCopy),
      seen_ms: begun,
      since: begun - limits.copyRemembered,
    });
  }

  /** A sweep showed all vendors of the account but these as they are, or as no version before. */
  settleOthers(accountId: string, lagging: Iterable<number>): void {
    this.#settleOthers.send({ account_id: accountId, lagging: JSON.stringify([...lagging]) });
  }

  /** Whether any vendor of the account was shown as it was before, and nothing has settled it. */
  async areOpen(accountId: string): Promise<boolean> {
    return (await this.#open.get({ account_id: accountId })) !== undefined;
  }

  /** How old copies of the account's list are, in milliseconds; 0 where none was seen for a day. */
  async behind(accountId: string): Promise<number> {
    return (
      (await this.#behind.get({ account_id: accountId, since: (await this.#counter.moment()) - limits.copyRemembered }))
        ?.behind_ms ?? 0
    );
  }
}

function instant(text: string | null): number | undefined {
  return text === null ? undefined : parseInstant(text);
}
