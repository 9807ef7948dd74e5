/** The statements of the outbox. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';
import type { DueVendor, NotifiedVendor } from '../records/outbox-record.ts';

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

interface TargetStatements {
  readonly find: Statement<OfTarget, TargetRow>;
  readonly begin: Statement<OfTarget & { place: string; now: string }>;
  /** Moves the target's position, and stores a notice if one is given. */
  readonly moveTo: Statement<OfTarget & { place: string; notice: string | null }>;
  readonly endNotice: Statement<OfTarget>;
  readonly accepted: Statement<OfTarget & { now: string }>;
  readonly failing: Statement<OfTarget & { error: string; now: string }>;
  readonly disable: Statement<OfTarget & { now: string }>;
  readonly enable: Statement<OfTarget>;
  readonly forget: Statement<OfTarget>;
}

interface QueueStatements {
  /** The last of the next changes. */
  readonly ahead: Statement<{ before: number; most: number }, { last: number | null }>;
  readonly countWaiting: Statement<OfTarget, { vendors: number }>;
  /** Adds changed vendors, and makes parked ones among them due again. */
  readonly enqueue: Statement<OfTarget & Due & { before: number; upTo: number }>;
  /** Due vendors, those without failures first. */
  readonly due: Statement<OfTarget & { moment: number; limit: number }, DueVendor>;
  readonly nextDue: Statement<OfTarget, { next: number | null }>;
  /** Removes a vendor that has no change after `seq`. */
  readonly settle: Statement<NotifiedVendor & { seq: number; upTo: number }>;
  readonly advance: Statement<NotifiedVendor & Due & { seq: number }>;
  readonly putOff: Statement<NotifiedVendor & Due & { attempts: number; error: string }>;
  readonly wake: Statement<OfTarget & Due>;
  readonly emptyQueue: Statement<OfTarget>;
}

export function targetStatements(sqlite: Sqlite): TargetStatements {
  const one = <Args extends object, Row>(text: string): Statement<Args, Row> => plainStatement<Args, Row>(sqlite, text);
  return {
    find: one('SELECT place, notice, disabled_at FROM _notify_targets WHERE target = :target'),
    begin: one(`
      INSERT INTO _notify_targets (target, place, began_at) VALUES (:target, :place, :now) ON CONFLICT DO NOTHING`),
    moveTo: one('UPDATE _notify_targets SET place = :place, notice = coalesce(:notice, notice) WHERE target = :target'),
    endNotice: one('UPDATE _notify_targets SET notice = NULL WHERE target = :target'),
    accepted: one(`
      UPDATE _notify_targets SET delivered_at = :now, failing_since = NULL, last_error = NULL WHERE target = :target`),
    failing: one(`
      UPDATE _notify_targets SET failing_since = coalesce(failing_since, :now), last_error = :error WHERE target = :target`),
    disable: one('UPDATE _notify_targets SET disabled_at = :now WHERE target = :target'),
    enable: one('UPDATE _notify_targets SET disabled_at = NULL WHERE target = :target'),
    forget: one('DELETE FROM _notify_targets WHERE target = :target'),
  };
}

const ofVendor = 'target = :target AND account_id = :account_id AND vendorid = :vendorid';
const versionsOfVendor = '_vendor_versions v WHERE v.account_id = :account_id AND v.vendorid = :vendorid';

export function queueStatements(sqlite: Sqlite): QueueStatements {
  const one = <Args extends object, Row>(text: string): Statement<Args, Row> => plainStatement<Args, Row>(sqlite, text);
  return {
    ahead: one(`
      SELECT max(seq) AS last FROM (SELECT seq FROM _vendor_versions WHERE seq > :before ORDER BY seq LIMIT :most)`),
    countWaiting: one('SELECT count(*) AS vendors FROM _notify_queue WHERE target = :target AND due_ms IS NOT NULL'),
    enqueue: one(`
      INSERT INTO _notify_queue (target, account_id, vendorid, after_seq, since, due_at, due_ms, attempts)
      SELECT :target, account_id, vendorid, min(seq) - 1, min(valid_from), :due_at, :due_ms, 0
      FROM _vendor_versions WHERE seq > :before AND seq <= :upTo GROUP BY account_id, vendorid
      ON CONFLICT (target, account_id, vendorid) DO UPDATE SET
        due_at = coalesce(due_at, excluded.due_at), due_ms = coalesce(due_ms, excluded.due_ms)`),
    due: one(`
      SELECT target, account_id, vendorid, after_seq, attempts FROM _notify_queue
      WHERE target = :target AND due_ms <= :moment
      ORDER BY last_error IS NOT NULL, due_ms, account_id, vendorid LIMIT :limit`),
    nextDue: one('SELECT min(due_ms) AS next FROM _notify_queue WHERE target = :target AND due_ms IS NOT NULL'),
    settle: one(`
      DELETE FROM _notify_queue WHERE ${ofVendor}
        AND NOT EXISTS (SELECT 1 FROM ${versionsOfVendor} AND v.seq > :seq AND v.seq <= :upTo)`),
    advance: one(`
      UPDATE _notify_queue SET after_seq = :seq, due_at = :due_at, due_ms = :due_ms, attempts = 0, last_error = NULL,
        since = coalesce((SELECT v.valid_from FROM ${versionsOfVendor} AND v.seq > :seq ORDER BY v.seq LIMIT 1), since)
      WHERE ${ofVendor}`),
    putOff: one(`
      UPDATE _notify_queue SET attempts = :attempts, last_error = :error, due_at = :due_at, due_ms = :due_ms
      WHERE ${ofVendor}`),
    wake: one(`
      UPDATE _notify_queue SET due_at = :due_at, due_ms = :due_ms, attempts = 0 WHERE target = :target AND due_ms IS NULL`),
    emptyQueue: one('DELETE FROM _notify_queue WHERE target = :target'),
  };
}
