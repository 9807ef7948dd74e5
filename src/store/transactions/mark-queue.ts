/**
 * The queue's other end. A mark is due; it is settled, deferred or parked by whoever read its vendor, but only if the vendor
 * was not marked again meanwhile: then the newer mark stands, and the vendor is read once more, after a rest if the reading came to nothing.
 */
import type { RawBuilder } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Deliveries } from '../rows/deliveries.ts';
import type { Database } from '../sqlite/database.ts';
import type { Findings } from '../rows/findings.ts';
import { ofVendor, type Key } from '../rows/stored-vendor.ts';
import type { Marks } from '../rows/marks.ts';
import { boundLimit, mirrorSql, statement, type At } from '../sqlite/statement.ts';
import type { DirtyVendorTable, MarkReason } from '../tables/mirror-tables.ts';
import type { Mark, Deferral } from '../records/mark-record.ts';
import type { OpenDelivery, ParkedDeliveries, SettledOutcome } from '../records/delivery-record.ts';

export interface QueueTransactions {
  /** Marks vendors to be read again after `delay` milliseconds. */
  markVendors(accountId: string, vendorids: readonly number[], reason: MarkReason, delay: number): Promise<void>;
  /** Open marks of an account that are due, the oldest first; all unless told. */
  dueMarks(accountId: string, limit?: number): Promise<Mark[]>;
  /** Milliseconds until the next mark of an account is due, none below zero; undefined where nothing waits. */
  untilNextMark(accountId: string): Promise<number | undefined>;
  /** Open marks, due or not, parked ones left out. */
  countMarks(accountId: string): Promise<number>;
  /** Ends a mark, and with it the deliveries that it stands for. @returns false if the vendor was marked again. */
  settle(mark: Mark, outcome: SettledOutcome): Promise<boolean>;
  /** Puts a mark off, and settles its deliveries if an `outcome` is known already. @returns false if it was marked again. */
  defer(mark: Mark, deferral: Deferral, outcome?: SettledOutcome): Promise<boolean>;
  /** Settles deliveries that a reading answered with news, where their vendor was marked again meanwhile. */
  answer(mark: Mark, deliveries: readonly OpenDelivery[]): Promise<void>;
  /** The deliveries that a mark stands for, oldest first. */
  openDeliveries(mark: Mark): Promise<OpenDelivery[]>;
  /** Gives up until the next reconciliation. */
  park(mark: Mark, error: string): Promise<void>;
  /** Parked marks of an account. */
  parkedMarks(accountId: string): Promise<Mark[]>;
  /** Parked deliveries of an account; where more came since, their vendor's mark is not parked any more. */
  parkedDeliveries(accountId: string): Promise<ParkedDeliveries[]>;
  /** Settles parked deliveries about a vendor that does not exist. The mark stands for what came after them. */
  dismiss(accountId: string, parked: ParkedDeliveries): Promise<void>;
}

export interface QueueParts {
  readonly clock: Clock;
  readonly counter: Counter;
  readonly marks: Marks;
  readonly deliveries: Deliveries;
  readonly findings: Findings;
}

export function queueTransactions(
  database: Database,
  { clock, counter, marks, deliveries, findings }: QueueParts,
): QueueTransactions {
  const { sqlite } = database;
  const columns = ['account_id', 'vendorid', 'generation', 'attempts', 'reason', 'marked_at'] as const;
  const due = statement<{ account_id: string; moment: number; limit: number }, Mark>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select(columns)
      .where('account_id', '=', at('account_id'))
      .where('due_ms', '<=', at('moment'))
      .orderBy('due_ms')
      .limit(boundLimit(at('limit'))),
  );
  const parked = statement<{ account_id: string }, Mark>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select(columns)
      .where('account_id', '=', at('account_id'))
      .where('due_ms', 'is', null),
  );
  const open = statement<{ account_id: string }, { marks: number; next: number | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select((row) => [row.fn.countAll<number>().as('marks'), row.fn.min('due_ms').as('next')])
      .where('account_id', '=', at('account_id'))
      .where('due_ms', 'is not', null),
  );
  const remove = statement<Key & { generation: number }>(sqlite, (at) =>
    asMarked(mirrorSql.deleteFrom('dirty_vendors'), at),
  );
  const change = statement<
    Pick<
      DirtyVendorTable,
      'account_id' | 'vendorid' | 'generation' | 'due_at' | 'due_ms' | 'attempts' | 'reason' | 'last_error'
    >
  >(sqlite, (at) =>
    asMarked(
      mirrorSql.updateTable('dirty_vendors').set({
        due_at: at('due_at'),
        due_ms: at('due_ms'),
        attempts: at('attempts'),
        reason: at('reason'),
        last_error: at('last_error'),
      }),
      at,
    ),
  );
  const conclude = (mark: Mark, outcome: SettledOutcome, open = deliveries.open(mark)): void => {
    // A delivery that brought nothing new tells late what a sweep had found; of several that brought something, one did not need to.
    if (outcome === 'unchanged') findings.explain(mark, open);
    if (outcome === 'applied') findings.explain(mark, open.slice(0, -1));
    deliveries.settle(mark, open.at(-1)?.id ?? 0, outcome, clock.now());
  };
  const status = (accountId: string): { marks: number; next: number | null } | undefined =>
    open.get({ account_id: accountId });

  // What ends or puts off a mark need not be on disk: a mark that came back would only be read once more.
  return {
    markVendors: (accountId, vendorids, reason, delay) =>
      database.write(() => {
        const keys = vendorids.map((vendorid) => ({ account_id: accountId, vendorid }));
        marks.add(keys, reason, delay);
      }),
    dueMarks: (accountId, limit = Number.MAX_SAFE_INTEGER) =>
      database.read(() => due.all({ account_id: accountId, moment: counter.moment(), limit })),
    untilNextMark: (accountId) =>
      database.read(() => {
        const next = status(accountId)?.next ?? undefined;
        return next === undefined ? undefined : Math.max(0, next - counter.moment());
      }),
    countMarks: (accountId) => database.read(() => status(accountId)?.marks ?? 0),
    settle: (mark, outcome) =>
      database.writeInOrder(() => {
        const settled = remove.run(mark) > 0;
        if (settled) conclude(mark, outcome);
        return settled;
      }),
    defer: (mark, { delay, reason, attempts, error }, outcome) =>
      database.writeInOrder(() => {
        const due_at = timestamp(clock.now() + delay);
        const due_ms = Math.ceil(counter.moment() + delay);
        const deferred = change.run({ ...mark, due_at, due_ms, reason, attempts, last_error: error }) > 0;
        if (!deferred) marks.rest(mark, attempts, error);
        else if (outcome) conclude(mark, outcome);
        return deferred;
      }),
    answer: (mark, answered) => database.writeInOrder(() => conclude(mark, 'applied', [...answered])),
    openDeliveries: (mark) => database.read(() => deliveries.open(mark)),
    park: (mark, error) =>
      database.write(() => {
        if (change.run({ ...mark, due_at: null, due_ms: null, last_error: error }) > 0) conclude(mark, 'parked');
        else marks.rest(mark, mark.attempts, error);
      }),
    parkedMarks: (accountId) => database.read(() => parked.all({ account_id: accountId })),
    parkedDeliveries: (accountId) => database.read(() => deliveries.parked({ account_id: accountId })),
    dismiss: (accountId, { vendorid, upTo }) =>
      database.writeInOrder(() =>
        deliveries.settle({ account_id: accountId, vendorid }, upTo, 'not_found', clock.now()),
      ),
  };
}

interface OneMark {
  where(column: 'generation', operator: '=', value: RawBuilder<number>): this;
}

/** Narrows a query to one mark, unless its vendor was marked again meanwhile. */
export function asMarked<Q extends object>(query: Q, at: At<Key & Pick<Mark, 'generation'>>): Q {
  return (ofVendor(query, at) as Q & OneMark).where('generation', '=', at('generation'));
}
