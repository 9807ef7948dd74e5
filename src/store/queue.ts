/**
 * The queue of marks. After its vendor was read, a mark is settled, deferred or parked, but only if the vendor was not marked again
 * meanwhile: then the newer mark stays and the vendor is read once more, after a delay if the reading was unsuccessful.
 */
import { sql, type RawBuilder } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import type { Deferral, MarkReason } from '../domain/retry.ts';
import type { OpenDelivery, ParkedDeliveries, SettledOutcome, Deliveries } from './deliveries.ts';
import type { Findings } from './findings.ts';
import type { Marks } from './marks.ts';
import { noticeable, type ReadingCounter } from './reading-counter.ts';
import { Transacted, type Database } from './sql/database.ts';
import type { DirtyVendorTable, VendorKey } from './sql/schema.ts';
import { columns, mirrorSql, ofVendor, statement, together, type At } from './sql/statement.ts';

/** A mark: a vendor that must be read again. */
export type Mark = Pick<
  DirtyVendorTable,
  'account_id' | 'vendorid' | 'generation' | 'attempts' | 'reason' | 'marked_at'
>;

/** The queue of an account at a moment of mirror time. */
export interface Outlook {
  readonly moment: number;
  /** Whether it has no mark that is or will be due. */
  readonly isEmpty: boolean;
}

export interface QueueParts {
  readonly clock: Clock;
  readonly counter: ReadingCounter;
  readonly marks: Marks;
  readonly deliveries: Deliveries;
  readonly findings: Findings;
}

/** When a vendor was marked first, of the marks that are open, and last; in mirror time. */
interface Age {
  readonly marked_ms: number;
  readonly last_ms: number;
}

const shown = sql`account_id, vendorid, generation, attempts, reason, marked_at`;
const changed = ['due_at', 'due_ms', 'attempts', 'reason', 'last_error'] as const;

/** A vendor with a mark that was there at some moment. */
export interface OldMark {
  readonly vendorid: number;
  /** Whether a read by id failed since. */
  readonly hasFailed: boolean;
  /** Whether it was made because a reading contradicted what is stored. */
  readonly isGuarded: boolean;
}

/** Settling and deferring need not be on disk: a mark that came back would only cause one more read. */
export class Queue extends Transacted {
  readonly #counter: ReadingCounter;
  readonly #marks: Marks;
  readonly #deliveries: Deliveries;
  readonly #findings: Findings;
  readonly #outlook: (accountId: string) => Promise<Outlook>;
  // A vendor that was tried in vain lets all others go first.
  readonly #due = statement(this.db)<{ account_id: string; moment: number; limit: number }, Mark>`
    SELECT ${shown} FROM dirty_vendors WHERE account_id = ${'account_id'} AND due_ms <= ${'moment'}
    ORDER BY attempts > 0, due_ms LIMIT +${'limit'}`;
  readonly #marked = statement(this.db)<{ accounts: string }, { account_id: string }>`
    SELECT DISTINCT account_id FROM dirty_vendors
    WHERE account_id IN (SELECT value FROM json_each(${'accounts'})) AND due_ms IS NOT NULL`;
  readonly #parked = statement(this.db)<{ account_id: string }, Mark>`
    SELECT ${shown} FROM dirty_vendors WHERE account_id = ${'account_id'} AND due_ms IS NULL`;
  readonly #open = statement(this.db)<{ account_id: string }, { marks: number }>`
    SELECT count(*) AS marks FROM dirty_vendors WHERE account_id = ${'account_id'} AND due_ms IS NOT NULL`;
  readonly #next = statement(this.db)<{ account_id: string; after: number }, { next: number | null }>`
    SELECT min(due_ms) AS next FROM dirty_vendors
    WHERE account_id = ${'account_id'} AND due_ms > ${'after'}`;
  readonly #older = statement(this.db)<
    { account_id: string; upTo: number },
    { vendorid: number; failed: number; guarded: number }
  >`
    SELECT vendorid, last_error IS NOT NULL AS failed, reason = 'guarded' AS guarded FROM dirty_vendors
    WHERE account_id = ${'account_id'} AND marked_ms <= ${'upTo'}`;
  readonly #aged = statement(this.db)<VendorKey, Mark & Age>`
    SELECT ${shown}, marked_ms, last_ms FROM dirty_vendors
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #rejuvenate = statement(this.db)<VendorKey & { marked_at: string; marked_ms: number }>`
    UPDATE dirty_vendors SET marked_at = ${'marked_at'}, marked_ms = ${'marked_ms'}
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  readonly #untried = statement(this.db)<{ account_id: string }, { vendorid: number }>`
    SELECT vendorid FROM dirty_vendors WHERE account_id = ${'account_id'} AND attempts = 0`;
  readonly #remove = statement<VendorKey & { generation: number }>(this.db, (at) =>
    asMarked(mirrorSql.deleteFrom('dirty_vendors'), at),
  );
  readonly #change = statement<VendorKey & Pick<DirtyVendorTable, 'generation' | (typeof changed)[number]>>(
    this.db,
    (at) => asMarked(mirrorSql.updateTable('dirty_vendors').set(columns(at, changed)), at),
  );

  constructor(database: Database, { clock, counter, marks, deliveries, findings }: QueueParts) {
    super(database, clock);
    this.#counter = counter;
    this.#marks = marks;
    this.#deliveries = deliveries;
    this.#findings = findings;
    this.#outlook = together(this.db, clock, (accounts) => this.#outlooks(accounts));
  }

  /** Marks vendors to be read again after `delay` milliseconds. */
  markVendors(accountId: string, vendorids: readonly number[], reason: MarkReason, delay: number): Promise<void> {
    return this.database.write(async () => {
      const keys = vendorids.map((vendorid) => ({ account_id: accountId, vendorid }));
      await this.#marks.add(keys, reason, delay);
    });
  }

  /** What an account's queue looks like now; of a server, all accounts that ask at the same time ask together. */
  outlook(accountId: string): Promise<Outlook> {
    return this.#outlook(accountId);
  }

  #outlooks(accounts: readonly string[]): Promise<Outlook[]> {
    return this.database.read(async () => {
      const [moment, marked] = await Promise.all([
        this.#counter.moment(),
        this.#marked.all({ accounts: JSON.stringify(accounts) }),
      ]);
      const open = new Set(marked.map(({ account_id }) => account_id));
      return accounts.map((accountId) => ({ moment, isEmpty: !open.has(accountId) }));
    });
  }

  /** Due marks of an account, those that were not tried before and the oldest first; at most `limit`. */
  dueMarks(accountId: string, limit = Number.MAX_SAFE_INTEGER): Promise<Mark[]> {
    return this.database.read(async () =>
      this.#due.all({ account_id: accountId, moment: await this.#counter.moment(), limit }),
    );
  }

  /** Vendors that will be read, and of which no reading has failed. */
  async untried(accountId: string): Promise<number[]> {
    const marks = await this.database.read(() => this.#untried.all({ account_id: accountId }));
    return marks.map(({ vendorid }) => vendorid);
  }

  /**
   * Milliseconds until the next mark of an account is due, at least 0; undefined where none is open.
   * @param after only marks that are due later than this moment of mirror time
   */
  untilNextMark(accountId: string, after = -1): Promise<number | undefined> {
    return this.database.read(async () => {
      const next = (await this.#next.get({ account_id: accountId, after }))?.next ?? undefined;
      return next === undefined ? undefined : Math.max(0, next - (await this.#counter.moment()));
    });
  }

  /** The number of open marks, due or not, without parked ones. */
  countMarks(accountId: string): Promise<number> {
    return this.database.read(async () => (await this.#open.get({ account_id: accountId }))?.marks ?? 0);
  }

  /** Removes a mark, and settles its deliveries. @returns false if the vendor was marked again meanwhile. */
  settle(mark: Mark, outcome: SettledOutcome): Promise<boolean> {
    return this.database.writeWithoutSync(async () => {
      const settled = (await this.#remove.run(mark)) > 0;
      if (settled) await this.#conclude(mark, outcome);
      return settled;
    });
  }

  /** Defers a mark, and settles its deliveries where an `outcome` is given. @returns false if the vendor was marked again meanwhile. */
  defer(mark: Mark, { delay, reason, attempts, error }: Deferral, outcome?: SettledOutcome): Promise<boolean> {
    return this.database.writeWithoutSync(async () => {
      const due_at = timestamp(this.clock.now() + delay);
      const due_ms = Math.ceil((await this.#counter.moment()) + delay);
      const deferred = (await this.#change.run({ ...mark, due_at, due_ms, reason, attempts, last_error: error })) > 0;
      if (!deferred) await this.#marks.postpone(mark, attempts, error);
      else if (outcome) await this.#conclude(mark, outcome);
      return deferred;
    });
  }

  /** Settles deliveries that a reading answered, where the mark itself could not be settled. */
  settleDeliveries(mark: Mark, answered: readonly OpenDelivery[]): Promise<void> {
    return this.database.writeWithoutSync(async () => {
      const open = new Set((await this.#deliveries.open(mark)).map(({ id }) => id));
      await this.#conclude(
        mark,
        'applied',
        answered.filter(({ id }) => open.has(id)),
      );
    });
  }

  /** Vendors with a mark that was made until that moment of mirror time, parked ones included. Runs inside a transaction. */
  async markedUntil(account_id: string, upTo: number): Promise<OldMark[]> {
    return (await this.#older.all({ account_id, upTo })).map(({ vendorid, failed, guarded }) => ({
      vendorid,
      hasFailed: failed === 1,
      isGuarded: guarded === 1,
    }));
  }

  /**
   * Settles what a reading of a vendor answered, however it came to be made: the marks that were made until `upTo`, in mirror time, with their
   * deliveries. Where the vendor was marked again since, only the newer marks stay open, with deliveries that may have come since. Runs inside a
   * transaction.
   */
  async answer(key: VendorKey, upTo: number, outcome: SettledOutcome): Promise<void> {
    const mark = await this.#aged.get(key);
    if (!mark || mark.marked_ms > upTo) return;
    if (mark.last_ms <= upTo) {
      this.#remove.send(mark);
      await this.#conclude(mark, outcome);
      return;
    }
    const [now, moment] = [this.clock.now(), await this.#counter.moment()];
    const marked_at = timestamp(now + upTo - moment);
    this.#rejuvenate.send({ ...mark, marked_at, marked_ms: upTo });
    // The moments of deliveries are those of the clock, which may have been set since.
    const set = now - (parseInstant(mark.marked_at) ?? 0) - (moment - mark.marked_ms);
    const before = timestamp(now + upTo - moment - noticeable);
    const answered =
      Math.abs(set) > noticeable
        ? []
        : (await this.#deliveries.open(mark)).filter(({ received_at }) => received_at <= before);
    await this.#conclude(mark, outcome, answered);
  }

  /** The deliveries of a mark, oldest first. */
  openDeliveries(mark: Mark): Promise<OpenDelivery[]> {
    return this.database.read(() => this.#deliveries.open(mark));
  }

  /** Gives up until the next reconciliation. */
  park(mark: Mark, error: string): Promise<void> {
    return this.database.write(async () => {
      if ((await this.#change.run({ ...mark, due_at: null, due_ms: null, last_error: error })) > 0)
        await this.#conclude(mark, 'parked');
      else await this.#marks.postpone(mark, mark.attempts, error);
    });
  }

  parkedMarks(accountId: string): Promise<Mark[]> {
    return this.database.read(() => this.#parked.all({ account_id: accountId }));
  }

  /** Parked deliveries of an account. Where more deliveries came since, the vendor's mark is open again. */
  parkedDeliveries(accountId: string): Promise<ParkedDeliveries[]> {
    return this.database.read(() => this.#deliveries.parked({ account_id: accountId }));
  }

  /** Settles parked deliveries of a vendor that does not exist. */
  settleParkedDeliveries(accountId: string, { vendorid, upTo }: ParkedDeliveries): Promise<void> {
    return this.database.writeWithoutSync(() =>
      this.#deliveries.settle({ account_id: accountId, vendorid }, upTo, 'not_found', this.clock.now()),
    );
  }

  async #conclude(mark: VendorKey, outcome: SettledOutcome, answered?: readonly OpenDelivery[]): Promise<void> {
    const open = answered ?? (await this.#deliveries.open(mark));
    // A delivery without a change announces late what a sweep had found; of several with a change, all but the last do.
    if (outcome === 'unchanged') await this.#findings.explainBy(mark, open);
    if (outcome === 'applied') await this.#findings.explainBy(mark, open.slice(0, -1));
    this.#deliveries.settle(mark, open.at(-1)?.id ?? 0, outcome, this.clock.now());
  }
}

interface OneMark {
  where(column: 'generation', operator: '=', value: RawBuilder<number>): this;
}

/** Restricts a query to one mark, unless its vendor was marked again meanwhile. */
export function asMarked<Q extends object>(query: Q, at: At<VendorKey & Pick<Mark, 'generation'>>): Q {
  return (ofVendor(query, at) as Q & OneMark).where('generation', '=', at('generation'));
}
