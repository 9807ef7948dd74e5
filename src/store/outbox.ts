/**
 * The outbox of webhooks: the position of each target in the change feed, and the vendors with changes that it has not received. Like the
 * queue of marks it stores keys, not changes, so a vendor is one row however often it changes.
 *
 * The position advances when vendors are put in the outbox, and a row is removed when all changes up to the position were accepted. So a
 * vendor that fails does not block others, and two small tables are enough to continue after any stop. The outbox is not synced to disk by
 * itself: losing its last commits only causes repetitions. At most a thousand vendors wait for a target at a time; beyond that its position
 * waits instead, which costs nothing.
 */
import { sql, type RawBuilder } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { ReadingCounter } from './reading-counter.ts';
import { readChanges, withValues, type FeedChange } from './reports/change-feed.ts';
import {
  cursorOf,
  cursorParts,
  lastSeq,
  latestCursor,
  resolveCursor,
  type HistoryGone,
} from './reports/feed-cursor.ts';
import type { Database } from './sql/database.ts';
import { statement, type Connection, type At } from './sql/statement.ts';

/** The most waiting vendors of a target; beyond that, its position stays where it is. */
const maxWaiting = 1_000;

/** The most changes that are added at once. */
const maxEnqueued = 500;

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
    this.#statements = { ...targetStatements(database.connection), ...queueStatements(database.connection) };
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
    const { connection: db } = this.#database;
    return this.#database.write(async () => {
      const now = timestamp(this.#parts.clock.now());
      const saved = savedPosition === undefined ? 0 : await resolveCursor(db, savedPosition);
      const known = await this.#statements.find.get({ target });
      if (typeof saved !== 'number' && saved.reason === 'other_history') {
        this.#statements.begin.send({ target, place: saved.latest, now });
        this.#statements.moveTo.send({ target, place: saved.latest, notice: JSON.stringify(noticeOf(saved)) });
        this.#statements.emptyQueue.send({ target });
        return saved.latest;
      }
      if (known) return known.place;
      const place = await latestCursor(db);
      this.#statements.begin.send({ target, place, now });
      return place;
    });
  }

  /**
   * The position of a target after the next changes; undefined where there are none, or the outbox is full; why, where its position is
   * invalid.
   */
  nextPosition(target: string): Promise<string | HistoryGone | undefined> {
    const { connection: db } = this.#database;
    return this.#database.read(async () => {
      const found = await this.#statements.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const before = await resolveCursor(db, found.place);
      if (typeof before !== 'number') return before;
      if ((await lastSeq(db)) <= before) return undefined;
      const ahead = (await this.#statements.ahead.get({ before, most: maxEnqueued }))?.last ?? null;
      const waiting = (await this.#statements.countWaiting.get({ target }))?.vendors ?? 0;
      return ahead === null || waiting >= maxWaiting ? undefined : await cursorOf(db, ahead);
    });
  }

  /** Adds the vendors that changed up to a position; parked ones become due again. */
  enqueueChanges(target: string, position: string): Promise<void> {
    return this.#database.writeWithoutSync(async () => {
      const found = await this.#statements.find.get({ target });
      if (!found) return;
      const before = seqOf(found.place);
      this.#statements.enqueue.send({ target, before, upTo: seqOf(position), ...(await this.#due(0)) });
      this.#statements.moveTo.send({ target, place: position, notice: null });
    });
  }

  /** Moves a target past removed changes, with a notice. */
  skipRemoved(target: string, gone: HistoryGone, notice: PendingNotice): Promise<void> {
    return this.#database.write(() => {
      this.#statements.moveTo.send({ target, place: gone.oldest, notice: JSON.stringify(notice) });
    });
  }

  /** The pending work of a target: notice, due vendors, and the time until the next; undefined where the target is unknown or disabled. */
  pendingWork(target: string, limit: number): Promise<PendingWork | undefined> {
    return this.#database.read(async () => {
      const found = await this.#statements.find.get({ target });
      if (found?.disabled_at !== null) return undefined;
      const moment = await this.#parts.counter.moment();
      const next = (await this.#statements.nextDue.get({ target }))?.next ?? null;
      return {
        notice: found.notice === null ? undefined : (JSON.parse(found.notice) as PendingNotice),
        due: await this.#statements.due.all({ target, moment, limit }),
        untilNext: next === null ? undefined : Math.max(0, next - moment),
      };
    });
  }

  /** The first change of a vendor that a target has not received; undefined where there is none. */
  nextChange({ target, account_id, vendorid, after_seq }: DueVendor): Promise<FeedChange | undefined> {
    const { connection: db } = this.#database;
    return this.#database.read(async () => {
      const until = seqOf((await this.#statements.find.get({ target }))?.place);
      const [change] = await readChanges(db, { account: account_id, vendorid, since: after_seq, until, limit: 1 });
      return change && (await withValues(db, [change]))[0];
    });
  }

  /**
   * Records that a vendor's changes up to `seq` were accepted; further changes are due at once. Losing this write only repeats a message.
   */
  delivered({ target, account_id, vendorid }: NotifiedVendor, seq: number): Promise<void> {
    return this.#database.writeWithoutSync(async () => {
      const key = { target, account_id, vendorid };
      const upTo = seqOf((await this.#statements.find.get({ target }))?.place);
      if ((await this.#statements.settle.run({ ...key, seq, upTo })) === 0)
        this.#statements.advance.send({ ...key, seq, ...(await this.#due(0)) });
      this.#statements.accepted.send({ target, now: this.#now() });
    });
  }

  noticeDelivered(target: string): Promise<void> {
    return this.#database.writeWithoutSync(() => {
      this.#statements.endNotice.send({ target });
      this.#statements.accepted.send({ target, now: this.#now() });
    });
  }

  /** Records a failed delivery; the vendor is due again after `delay` milliseconds. */
  defer(vendor: NotifiedVendor, failure: { attempts: number; delay: number; error: string }): Promise<void> {
    const { attempts, delay, error } = failure;
    return this.#database.writeWithoutSync(async () => this.#failed(vendor, attempts, error, await this.#due(delay)));
  }

  /** Parks a vendor after too many failures, until a person retries it or it changes again. */
  park(vendor: NotifiedVendor, { attempts, error }: { attempts: number; error: string }): Promise<void> {
    return this.#database.write(() => this.#failed(vendor, attempts, error, { due_at: null, due_ms: null }));
  }

  recordFailure(target: string, error: string): Promise<void> {
    return this.#database.writeWithoutSync(() => this.#statements.failing.send({ target, error, now: this.#now() }));
  }

  /** Disables a target, because its receiver answered 410. */
  disable(target: string, error: string): Promise<void> {
    return this.#database.write(() => {
      this.#statements.failing.send({ target, error, now: this.#now() });
      this.#statements.disable.send({ target, now: this.#now() });
    });
  }

  /** Makes parked vendors due and enables a disabled target. @returns the number of vendors, or undefined where the target is unknown. */
  retry(target: string): Promise<number | undefined> {
    return this.#database.write(async () => {
      if (!(await this.#statements.find.get({ target }))) return undefined;
      this.#statements.enable.send({ target });
      return this.#statements.wake.run({ target, ...(await this.#due(0)) });
    });
  }

  /** Removes a target; if it is added again, it starts at the end of the feed. @returns whether it existed. */
  forget(target: string): Promise<boolean> {
    return this.#database.write(async () => {
      this.#statements.emptyQueue.send({ target });
      return (await this.#statements.forget.run({ target })) > 0;
    });
  }

  #failed(
    { target, account_id, vendorid }: NotifiedVendor,
    attempts: number,
    error: string,
    due: { due_at: string | null; due_ms: number | null },
  ): void {
    this.#statements.putOff.send({ target, account_id, vendorid, attempts, error, ...due });
    this.#statements.failing.send({ target, error, now: this.#now() });
  }

  async #due(delay: number): Promise<{ due_at: string; due_ms: number }> {
    const { clock, counter } = this.#parts;
    return { due_at: timestamp(clock.now() + delay), due_ms: Math.ceil((await counter.moment()) + delay) };
  }

  #now(): string {
    return timestamp(this.#parts.clock.now());
  }
}

function seqOf(place: string | undefined): number {
  return cursorParts(place ?? '')?.seq ?? 0;
}

interface NotifiedVendor {
  readonly target: string;
  readonly account_id: string;
  readonly vendorid: number;
}

export interface DueVendor extends NotifiedVendor {
  /** The `seq` of the last change that the target has received, or does not need. */
  readonly after_seq: number;
  /** Consecutive failed attempts. */
  readonly attempts: number;
}

/** A message that is not about a change, as it will be sent. */
export interface PendingNotice {
  readonly id: string;
  readonly body: string;
}

interface PendingWork {
  /** Sent before everything else. */
  readonly notice: PendingNotice | undefined;
  readonly due: readonly DueVendor[];
  /** Milliseconds until the next vendor is due; undefined where none waits. */
  readonly untilNext: number | undefined;
}

interface OfTarget {
  readonly target: string;
}

interface Due {
  readonly due_at: string | null;
  readonly due_ms: number | null;
}

interface TargetRow {
  readonly place: string;
  readonly notice: string | null;
  readonly disabled_at: string | null;
}

function targetStatements(db: Connection) {
  return {
    find: statement(db)<OfTarget, TargetRow>`
      SELECT place, notice, disabled_at FROM _notify_targets WHERE target = ${'target'}`,
    begin: statement(db)<OfTarget & { place: string; now: string }>`
      INSERT INTO _notify_targets (target, place, began_at)
      VALUES (${'target'}, ${'place'}, ${'now'}) ON CONFLICT DO NOTHING`,
    /** Moves the target's position, and stores a notice if one is given. */
    moveTo: statement(db)<OfTarget & { place: string; notice: string | null }>`
      UPDATE _notify_targets SET place = ${'place'}, notice = coalesce(${'notice'}, notice)
      WHERE target = ${'target'}`,
    endNotice: statement(db)<OfTarget>`UPDATE _notify_targets SET notice = NULL WHERE target = ${'target'}`,
    accepted: statement(db)<OfTarget & { now: string }>`
      UPDATE _notify_targets SET delivered_at = ${'now'}, failing_since = NULL, last_error = NULL
      WHERE target = ${'target'}`,
    failing: statement(db)<OfTarget & { error: string; now: string }>`
      UPDATE _notify_targets SET failing_since = coalesce(failing_since, ${'now'}), last_error = ${'error'}
      WHERE target = ${'target'}`,
    disable: statement(db)<OfTarget & { now: string }>`
      UPDATE _notify_targets SET disabled_at = ${'now'} WHERE target = ${'target'}`,
    enable: statement(db)<OfTarget>`UPDATE _notify_targets SET disabled_at = NULL WHERE target = ${'target'}`,
    forget: statement(db)<OfTarget>`DELETE FROM _notify_targets WHERE target = ${'target'}`,
  };
}

const ofVendor = (at: At<NotifiedVendor>): RawBuilder<unknown> =>
  sql`target = ${at('target')} AND account_id = ${at('account_id')} AND vendorid = ${at('vendorid')}`;
const versionsOfVendor = (at: At<NotifiedVendor>): RawBuilder<unknown> =>
  sql`_vendor_versions v WHERE v.account_id = ${at('account_id')} AND v.vendorid = ${at('vendorid')}`;

function queueStatements(db: Connection) {
  return {
    /** The last of the next changes. */
    ahead: statement(db)<{ before: number; most: number }, { last: number | null }>`
      SELECT max(seq) AS last FROM (SELECT seq FROM _vendor_versions
      WHERE seq > ${'before'} ORDER BY seq LIMIT +${'most'}) AS next`,
    countWaiting: statement(db)<OfTarget, { vendors: number }>`
      SELECT count(*) AS vendors FROM _notify_queue WHERE target = ${'target'} AND due_ms IS NOT NULL`,
    /** Adds changed vendors, and makes parked ones among them due again. */
    enqueue: statement(db)<OfTarget & Due & { before: number; upTo: number }>`
      INSERT INTO _notify_queue (target, account_id, vendorid, after_seq, since, due_at, due_ms, attempts)
      SELECT ${'target'}, account_id, vendorid, min(seq) - 1, min(valid_from), ${'due_at'}, ${'due_ms'}, 0
      FROM _vendor_versions WHERE seq > ${'before'} AND seq <= ${'upTo'} GROUP BY account_id, vendorid
      ON CONFLICT (target, account_id, vendorid) DO UPDATE SET
        due_at = coalesce(_notify_queue.due_at, excluded.due_at), due_ms = coalesce(_notify_queue.due_ms, excluded.due_ms)`,
    /** Due vendors, those without failures first. */
    due: statement(db)<OfTarget & { moment: number; limit: number }, DueVendor>`
      SELECT target, account_id, vendorid, after_seq, attempts FROM _notify_queue
      WHERE target = ${'target'} AND due_ms <= ${'moment'}
      ORDER BY last_error IS NOT NULL, due_ms, account_id, vendorid LIMIT +${'limit'}`,
    nextDue: statement(db)<OfTarget, { next: number | null }>`
      SELECT min(due_ms) AS next FROM _notify_queue WHERE target = ${'target'} AND due_ms IS NOT NULL`,
    /** Removes a vendor that has no change after `seq`. */
    settle: statement<NotifiedVendor & { seq: number; upTo: number }>(
      db,
      (at) => sql`
      DELETE FROM _notify_queue WHERE ${ofVendor(at)}
        AND NOT EXISTS (SELECT 1 FROM ${versionsOfVendor(at)} AND v.seq > ${at('seq')} AND v.seq <= ${at('upTo')})`,
    ),
    advance: statement<NotifiedVendor & Due & { seq: number }>(
      db,
      (at) => sql`
      UPDATE _notify_queue
      SET after_seq = ${at('seq')}, due_at = ${at('due_at')}, due_ms = ${at('due_ms')}, attempts = 0, last_error = NULL,
        since = coalesce((SELECT v.valid_from
      FROM ${versionsOfVendor(at)} AND v.seq > ${at('seq')} ORDER BY v.seq LIMIT 1), since)
      WHERE ${ofVendor(at)}`,
    ),
    putOff: statement<NotifiedVendor & Due & { attempts: number; error: string }>(
      db,
      (at) => sql`
      UPDATE _notify_queue
      SET attempts = ${at('attempts')}, last_error = ${at('error')}, due_at = ${at('due_at')}, due_ms = ${at('due_ms')}
      WHERE ${ofVendor(at)}`,
    ),
    wake: statement(db)<OfTarget & Due>`
      UPDATE _notify_queue SET due_at = ${'due_at'}, due_ms = ${'due_ms'}, attempts = 0
      WHERE target = ${'target'} AND due_ms IS NULL`,
    emptyQueue: statement(db)<OfTarget>`DELETE FROM _notify_queue WHERE target = ${'target'}`,
  };
}
