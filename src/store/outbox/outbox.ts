/**
 * The outbox of webhooks: the position of each target in the change feed, and the vendors with changes that it has not received. Like the
 * queue of marks it stores keys, not changes, so a vendor is one row however often it changes.
 */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { resolveCursor, cursorOf, lastSeq, latestCursor, type HistoryGone } from '../feed/feed-cursor.ts';
import { cursorParts } from '../feed/cursor-text.ts';
import { readChanges } from '../reports/change-feed.ts';
import { withValues, type FeedChange } from '../reports/change-page.ts';
import type { ReadingCounter } from '../rows/reading-counter.ts';
import type { Database } from '../sqlite/database.ts';
import { queueStatements, targetStatements } from './outbox-statements.ts';
import type { DueVendor, NotifiedVendor, PendingWork, PendingNotice } from '../records/outbox-record.ts';

/** The most waiting vendors of a target; beyond that, its position stays where it is. */
const mostWaiting = 1_000;

/** The most changes that are added at once. */
const mostEnqueued = 500;

export interface OutboxParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly counter: Pick<ReadingCounter, 'moment'>;
}

export class Outbox {
  readonly #database: Database;
  readonly #parts: OutboxParts;
  readonly #statements: ReturnType<typeof targetStatements> & ReturnType<typeof queueStatements>;

  constructor(database: Database, parts: OutboxParts) {
    this.#database = database;
    this.#parts = parts;
    this.#statements = { ...targetStatements(database.sqlite), ...queueStatements(database.sqlite) };
  }

  /**
   * Opens a target at its stored position, or at the current end of the feed. `savedPosition` is the last position up to which changes may
   * have been sent, as saved outside this file. Where it is invalid, this is another file or was restored from a copy, and the target
   * starts at the end with the notice that `noticeOf` makes.
   * @returns its position.
   */
  open(
    target: string,
    savedPosition: string | undefined,
    noticeOf: (gone: HistoryGone) => PendingNotice,
  ): Promise<string> {
    const { sqlite } = this.#database;
    return this.#database.write(() => {
      const now = timestamp(this.#parts.clock.now());
      const saved = savedPosition === undefined ? 0 : resolveCursor(sqlite, savedPosition);
      const known = this.#statements.find.get({ target });
      if (typeof saved !== 'number' && saved.reason === 'other_history') {
        this.#statements.begin.run({ target, place: saved.latest, now });
        this.#statements.moveTo.run({ target, place: saved.latest, notice: JSON.stringify(noticeOf(saved)) });
        this.#statements.emptyQueue.run({ target });
        return saved.latest;
      }
      if (known) return known.place;
      const place = latestCursor(sqlite);
      this.#statements.begin.run({ target, place, now });
      return place;
    });
  }

  /**
   * The position of a target after the next changes; undefined where there are none, or the outbox is full; why, where its position is
   * invalid.
   */
  nextPosition(target: string): Promise<string | HistoryGone | undefined> {
    const { sqlite } = this.#database;
    return this.#database.read(() => {
      const found = this.#statements.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const before = resolveCursor(sqlite, found.place);
      if (typeof before !== 'number') return before;
      if (lastSeq(sqlite) <= before) return undefined;
      const ahead = this.#statements.ahead.get({ before, most: mostEnqueued })?.last ?? null;
      const waiting = this.#statements.countWaiting.get({ target })?.vendors ?? 0;
      return ahead === null || waiting >= mostWaiting ? undefined : cursorOf(sqlite, ahead);
    });
  }

  /** Adds the vendors that changed up to a position; parked ones become due again. */
  enqueueChanges(target: string, position: string): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      const found = this.#statements.find.get({ target });
      if (!found) return;
      const before = seqOf(found.place);
      this.#statements.enqueue.run({ target, before, upTo: seqOf(position), ...this.#due(0) });
      this.#statements.moveTo.run({ target, place: position, notice: null });
    });
  }

  /** Moves a target past removed changes, with a notice. */
  skipRemoved(target: string, gone: HistoryGone, notice: PendingNotice): Promise<void> {
    return this.#database.write(() => {
      this.#statements.moveTo.run({ target, place: gone.oldest, notice: JSON.stringify(notice) });
    });
  }

  /** The pending work of a target: notice, due vendors, and the time until the next; undefined where the target is unknown or disabled. */
  pendingWork(target: string, limit: number): Promise<PendingWork | undefined> {
    return this.#database.read(() => {
      const found = this.#statements.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const moment = this.#parts.counter.moment();
      const next = this.#statements.nextDue.get({ target })?.next ?? null;
      return {
        notice: found.notice === null ? undefined : (JSON.parse(found.notice) as PendingNotice),
        due: this.#statements.due.all({ target, moment, limit }),
        untilNext: next === null ? undefined : Math.max(0, next - moment),
      };
    });
  }

  /** The first change of a vendor that a target has not received; undefined where there is none. */
  nextChange({ target, account_id, vendorid, after_seq }: DueVendor): Promise<FeedChange | undefined> {
    const { sqlite } = this.#database;
    return this.#database.read(() => {
      const until = seqOf(this.#statements.find.get({ target })?.place);
      const [change] = readChanges(sqlite, { account: account_id, vendorid, since: after_seq, until, limit: 1 });
      return change && withValues(sqlite, [change])[0];
    });
  }

  /**
   * Records that a vendor's changes up to `seq` were accepted; further changes are due at once. Losing this write only repeats a message.
   */
  delivered({ target, account_id, vendorid }: NotifiedVendor, seq: number): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      const key = { target, account_id, vendorid };
      const upTo = seqOf(this.#statements.find.get({ target })?.place);
      if (this.#statements.settle.run({ ...key, seq, upTo }) === 0)
        this.#statements.advance.run({ ...key, seq, ...this.#due(0) });
      this.#statements.accepted.run({ target, now: this.#now() });
    });
  }

  /** Records that the notice was accepted. */
  noticeDelivered(target: string): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      this.#statements.endNotice.run({ target });
      this.#statements.accepted.run({ target, now: this.#now() });
    });
  }

  /** Records a failed delivery; the vendor is due again after `delay` milliseconds. */
  defer(vendor: NotifiedVendor, failure: { attempts: number; delay: number; error: string }): Promise<void> {
    const { attempts, delay, error } = failure;
    return this.#database.writeWithoutSync(() => this.#failed(vendor, attempts, error, this.#due(delay)));
  }

  /** Parks a vendor after too many failures, until a person retries it or it changes again. */
  park(vendor: NotifiedVendor, { attempts, error }: { attempts: number; error: string }): Promise<void> {
    return this.#database.write(() => this.#failed(vendor, attempts, error, { due_at: null, due_ms: null }));
  }

  /** Records that the receiver fails. */
  recordFailure(target: string, error: string): Promise<void> {
    return this.#database.writeWithoutSync(
      () => void this.#statements.failing.run({ target, error, now: this.#now() }),
    );
  }

  /** Disables a target, because its receiver answered 410. */
  disable(target: string, error: string): Promise<void> {
    return this.#database.write(() => {
      this.#statements.failing.run({ target, error, now: this.#now() });
      this.#statements.disable.run({ target, now: this.#now() });
    });
  }

  /** Makes parked vendors due and enables a disabled target. @returns the number of vendors, or undefined where the target is unknown. */
  retry(target: string): Promise<number | undefined> {
    return this.#database.write(() => {
      if (!this.#statements.find.get({ target })) return undefined;
      this.#statements.enable.run({ target });
      return this.#statements.wake.run({ target, ...this.#due(0) });
    });
  }

  /** Removes a target; if it is added again, it starts at the end of the feed. @returns whether it existed. */
  forget(target: string): Promise<boolean> {
    return this.#database.write(() => {
      this.#statements.emptyQueue.run({ target });
      return this.#statements.forget.run({ target }) > 0;
    });
  }

  #failed(
    { target, account_id, vendorid }: NotifiedVendor,
    attempts: number,
    error: string,
    due: { due_at: string | null; due_ms: number | null },
  ): void {
    this.#statements.putOff.run({ target, account_id, vendorid, attempts, error, ...due });
    this.#statements.failing.run({ target, error, now: this.#now() });
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
