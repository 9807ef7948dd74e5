/**
 * The outbox of webhooks: how far each target is in the change feed, and which vendors have changes that it has not received. Like the queue of
 * readings it holds keys, not changes, so that a vendor is one row however much became of it.
 */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { resolveCursor, cursorOf, lastSeq, latestCursor, type HistoryGone } from '../feed/feed-cursor.ts';
import { cursorParts } from '../feed/cursor-text.ts';
import { readChanges } from '../reports/change-feed.ts';
import { withValues, type FeedChange } from '../reports/change-page.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import { queueStatements, targetStatements } from './outbox-statements.ts';
import type { DueVendor, NotifiedVendor, PendingWork, PendingNotice } from '../records/outbox-record.ts';

/** Vendors of a target that may wait; beyond that, its place stays where it is. */
const mostWaiting = 1_000;

/** Changes that are taken in at once. */
const takenAtOnce = 500;

export interface OutboxParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly counter: Pick<Counter, 'moment'>;
}

export class Outbox {
  readonly #database: Database;
  readonly #parts: OutboxParts;
  readonly #run: ReturnType<typeof targetStatements> & ReturnType<typeof queueStatements>;

  constructor(database: Database, parts: OutboxParts) {
    this.#database = database;
    this.#parts = parts;
    this.#run = { ...targetStatements(database.sqlite), ...queueStatements(database.sqlite) };
  }

  /**
   * A target goes on where it was, or begins at the present end of the feed. `told` is the last place up to which changes may have left, as
   * noted outside of this file: where it leads nowhere, this file is another one, or was put back from a copy, and the target begins
   * at its end with the notice that `noticeOf` makes.
   * @returns its place.
   */
  open(
    target: string,
    notedPlace: string | undefined,
    noticeOf: (gone: HistoryGone) => PendingNotice,
  ): Promise<string> {
    const { sqlite } = this.#database;
    return this.#database.write(() => {
      const now = timestamp(this.#parts.clock.now());
      const noted = notedPlace === undefined ? 0 : resolveCursor(sqlite, notedPlace);
      const known = this.#run.find.get({ target });
      if (typeof noted !== 'number' && noted.reason === 'other_history') {
        this.#run.begin.run({ target, place: noted.latest, now });
        this.#run.moveTo.run({ target, place: noted.latest, notice: JSON.stringify(noticeOf(noted)) });
        this.#run.emptyQueue.run({ target });
        return noted.latest;
      }
      if (known) return known.place;
      const place = latestCursor(sqlite);
      this.#run.begin.run({ target, place, now });
      return place;
    });
  }

  /** The place that a target has after the next changes are taken in; undefined where there are none, or no room for them. */
  nextPlace(target: string): Promise<string | HistoryGone | undefined> {
    const { sqlite } = this.#database;
    return this.#database.read(() => {
      const found = this.#run.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const before = resolveCursor(sqlite, found.place);
      if (typeof before !== 'number') return before;
      if (lastSeq(sqlite) <= before) return undefined;
      const ahead = this.#run.ahead.get({ before, most: takenAtOnce })?.last ?? null;
      const waiting = this.#run.countWaiting.get({ target })?.vendors ?? 0;
      return ahead === null || waiting >= mostWaiting ? undefined : cursorOf(sqlite, ahead);
    });
  }

  /** The vendors that changed up to a place wait from now on; those that were given up are tried once more. */
  enqueueChanges(target: string, place: string): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      const found = this.#run.find.get({ target });
      if (!found) return;
      const before = seqOf(found.place);
      this.#run.enqueue.run({ target, before, upTo: seqOf(place), ...this.#due(0) });
      this.#run.moveTo.run({ target, place, notice: null });
    });
  }

  /** A target that fell behind what was removed goes on with what is kept, after a notice. */
  skipRemoved(target: string, gone: HistoryGone, notice: PendingNotice): Promise<void> {
    return this.#database.write(() => {
      this.#run.moveTo.run({ target, place: gone.oldest, notice: JSON.stringify(notice) });
    });
  }

  /** What a target has to do: its first due vendors, and how long until the next; undefined where it is not known, or disabled. */
  pendingWork(target: string, limit: number): Promise<PendingWork | undefined> {
    return this.#database.read(() => {
      const found = this.#run.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const moment = this.#parts.counter.moment();
      const next = this.#run.nextDue.get({ target })?.next ?? null;
      return {
        notice: found.notice === null ? undefined : (JSON.parse(found.notice) as PendingNotice),
        due: this.#run.due.all({ target, moment, limit }),
        untilNext: next === null ? undefined : Math.max(0, next - moment),
      };
    });
  }

  /** The first change of a vendor that a target has not received; undefined where nothing is left of it. */
  nextChange({ target, account_id, vendorid, after_seq }: DueVendor): Promise<FeedChange | undefined> {
    const { sqlite } = this.#database;
    return this.#database.read(() => {
      const until = seqOf(this.#run.find.get({ target })?.place);
      const [change] = readChanges(sqlite, { account: account_id, vendorid, since: after_seq, until, limit: 1 });
      return change && withValues(sqlite, [change])[0];
    });
  }

  /** A vendor's changes up to `seq` were accepted; what is left of it is due at once. Losing this costs no more than a repetition. */
  delivered({ target, account_id, vendorid }: NotifiedVendor, seq: number): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      const key = { target, account_id, vendorid };
      const upTo = seqOf(this.#run.find.get({ target })?.place);
      if (this.#run.settle.run({ ...key, seq, upTo }) === 0) this.#run.advance.run({ ...key, seq, ...this.#due(0) });
      this.#run.accepted.run({ target, now: this.#now() });
    });
  }

  /** The notice was accepted. */
  noticeDelivered(target: string): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      this.#run.endNotice.run({ target });
      this.#run.accepted.run({ target, now: this.#now() });
    });
  }

  /** A delivery failed: its vendor is tried again after `delay` milliseconds. */
  defer(vendor: NotifiedVendor, failure: { attempts: number; delay: number; error: string }): Promise<void> {
    const { attempts, delay, error } = failure;
    return this.#database.writeWithoutSync(() => this.#failed(vendor, attempts, error, this.#due(delay)));
  }

  /** A delivery failed too often: its vendor is given up until a person says so, or it changes again. */
  park(vendor: NotifiedVendor, { attempts, error }: { attempts: number; error: string }): Promise<void> {
    return this.#database.write(() => this.#failed(vendor, attempts, error, { due_at: null, due_ms: null }));
  }

  /** Nothing comes through to the receiver. */
  recordFailure(target: string, error: string): Promise<void> {
    return this.#database.writeWithoutSync(() => void this.#run.failing.run({ target, error, now: this.#now() }));
  }

  /** The receiver wants nothing more. */
  disable(target: string, error: string): Promise<void> {
    return this.#database.write(() => {
      this.#run.failing.run({ target, error, now: this.#now() });
      this.#run.disable.run({ target, now: this.#now() });
    });
  }

  /** What was given up is due at once, and a disabled target works again. @returns how many vendors, or undefined where it is unknown. */
  retry(target: string): Promise<number | undefined> {
    return this.#database.write(() => {
      if (!this.#run.find.get({ target })) return undefined;
      this.#run.enable.run({ target });
      return this.#run.wake.run({ target, ...this.#due(0) });
    });
  }

  /** A target is forgotten: if it is named again, it begins at the end of the feed. @returns whether it was known. */
  forget(target: string): Promise<boolean> {
    return this.#database.write(() => {
      this.#run.emptyQueue.run({ target });
      return this.#run.forget.run({ target }) > 0;
    });
  }

  #failed(
    { target, account_id, vendorid }: NotifiedVendor,
    attempts: number,
    error: string,
    due: { due_at: string | null; due_ms: number | null },
  ): void {
    this.#run.putOff.run({ target, account_id, vendorid, attempts, error, ...due });
    this.#run.failing.run({ target, error, now: this.#now() });
  }

  #due(delay: number): { due_at: string; due_ms: number } {
    const { clock, counter } = this.#parts;
    return { due_at: timestamp(clock.now() + delay), due_ms: Math.ceil(counter.moment() + delay) };
  }

  #now(): string {
    return timestamp(this.#parts.clock.now());
  }
}

function seqOf(place: string | undefined): number {
  return cursorParts(place ?? '')?.seq ?? 0;
}
