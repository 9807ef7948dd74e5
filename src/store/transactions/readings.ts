/**
 * The one way in which a vendor row changes because of a reading. A reading is applied if it is newer than what we hold
 * and, where it differs, if what we hold is not too young to be contradicted (rule 4).
 */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { ReadStamp, VendorRow } from '../../domain/reading.ts';
import { mergeReading, type Vendor } from '../../domain/vendor.ts';
import { pageConfirmations } from '../rows/confirmations.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { carriedOver, children, columnsOf, heldRaw, type Key } from '../rows/stored-vendor.ts';
import { vendorHistory, type Cause } from '../rows/history.ts';
import { lagGuard } from './lag-guard.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';
import { isOfRecord } from '../sqlite/sqlite-errors.ts';
import { vendorRows, type StoredState } from '../rows/vendor-rows.ts';
import { odditiesOf } from '../decide/oddities.ts';
import type { Absence, Difference, Verdict } from '../decide/verdict.ts';
import type { ReadingContext } from '../records/reading-record.ts';

export interface Readings {
  /**
   * Writes down that a page showed every vendor as we hold it. Runs inside a transaction.
   * @returns undefined, and nothing is written, where it shows anything else.
   */
  confirm(
    rows: readonly VendorRow[],
    stamp: ReadStamp,
    context: ReadingContext,
  ): ReadonlyMap<number, Verdict> | undefined;
  /**
   * Applies the rows of one page. Runs inside a transaction. `apart`, each row by itself: one that cannot be used is rejected, where
   * otherwise the error is thrown.
   */
  page(
    rows: readonly VendorRow[],
    stamp: ReadStamp,
    context: ReadingContext,
    apart: boolean,
  ): ReadonlyMap<number, Verdict>;
  /** What applying the rows would change, were every one believed. Writes nothing. */
  compare(rows: readonly VendorRow[], accountId: string): ReadonlyMap<number, Verdict>;
  /** Applies one record. Runs inside a transaction. */
  record(row: VendorRow, stamp: ReadStamp, context: ReadingContext): Verdict;
  /** Applies the proof that a vendor is absent. Runs inside a transaction. */
  absence(vendorid: number, absence: Absence, stamp: ReadStamp, context: ReadingContext): Verdict;
}

/** Who changes vendors, and at which mirror time. */
interface ChangeContext extends Cause {
  readonly moment: number;
}

export function readings(sqlite: Sqlite, clock: Clock, counter: Counter, marks: Marks): Readings {
  const rows = vendorRows(sqlite);
  const childRows = children(sqlite);
  const history = vendorHistory(sqlite);
  const confirmations = pageConfirmations(sqlite);
  const guard = lagGuard(counter, marks, confirmations);

  /** What is the same for everything that a reading changes: when it happens, and why. */
  const changeContextOf = (context: ReadingContext): ChangeContext => ({
    at: timestamp(clock.now()),
    moment: counter.moment(),
    source: context.source,
    runId: context.runId,
    deliveryId: context.deliveryId,
  });

  const create = (key: Key, row: VendorRow, stamp: ReadStamp, changeContext: ChangeContext): Verdict => {
    const vendor = row.vendor();
    const columns = columnsOf(vendor, row.raw);
    const state = {
      vis_state: columns.vis_state,
      vis_state_source: 'reported',
      presence: 'present',
      raw: row.raw,
    } as const;
    rows.insert(
      Object.assign(columns, key, { ...state, first_seen_at: changeContext.at, ...traceOf(changeContext, stamp) }),
    );
    childRows.replace(key, vendor, true);
    history.begin(key, state, vendor, changeContext);
    return { kind: 'created', vendor };
  };

  /** How a record differs from what we hold; undefined where it does not. */
  const differ = (held: VendorTable, row: VendorRow): (Difference & { vendor: Vendor }) | undefined => {
    const absent = held.presence === 'missing' || held.presence === 'gone';
    if (held.raw === row.raw && !absent) return undefined;
    const { vendor, changed } = mergeReading(childRows.vendorOf(held), row.vendor());
    if (changed.length === 0 && !absent) return undefined;
    const after = {
      vis_state: vendor.vis_state ?? null,
      presence: 'present',
      updated_at: vendor.updated_at ?? null,
    } as const;
    const oddities = odditiesOf(vendor, changed);
    return { vendor, before: held, after, changed: absent ? [...changed, 'presence'] : changed, oddities };
  };

  const update = (held: VendorTable, row: VendorRow, stamp: ReadStamp, context: ReadingContext): Verdict => {
    const difference = differ(held, row);
    if (!difference) return unchanged(held);
    const { vendor, changed } = difference;
    const ruling = guard(held, difference, stamp, context);
    if (ruling !== 'believed') return outcomeOf(ruling, difference);

    const changeContext = changeContextOf(context);
    const raw = carriedOver(held.raw, row.raw);
    const columns = columnsOf(vendor, raw);
    const reported = row.vendor().vis_state !== undefined;
    const state = {
      vis_state: columns.vis_state,
      vis_state_source: reported ? 'reported' : held.vis_state_source,
      presence: 'present',
      raw,
    } as const;
    rows.update({
      ...held,
      ...columns,
      ...state,
      ...traceOf(changeContext, stamp),
    });
    childRows.replace(held, vendor, false);
    history.continue(keyOf(held), held.raw, { state, changed, vendor }, changeContext);
    return { kind: 'updated', ...difference };
  };

  const byItself = (row: VendorRow, apply: (row: VendorRow) => Verdict): Verdict => {
    try {
      // Inside a transaction, this is a savepoint.
      return sqlite.transaction(() => apply(row))();
    } catch (error) {
      if (!isOfRecord(error)) throw error;
      return { kind: 'rejected', reason: `Vendor ${row.vendorid}: ${error.message}` };
    }
  };

  return {
    confirm(pageRows, stamp, context) {
      const verdicts = new Map<number, Verdict>();
      for (const row of pageRows) {
        const same = rows.same(context.accountId, row);
        if (!same) return undefined;
        verdicts.set(row.vendorid, unchanged(same));
      }
      if (verdicts.size > 0) confirmations.add(context.accountId, stamp.readSeq, [...verdicts.keys()]);
      return verdicts;
    },

    page(pageRows, stamp, context, apart) {
      const verdicts = new Map<number, Verdict>();
      const confirmed: number[] = [];
      const changeContext = changeContextOf(context);
      const apply = (row: VendorRow): Verdict => {
        const same = rows.same(context.accountId, row);
        if (same) return unchanged(same);
        const key: Key = { account_id: context.accountId, vendorid: row.vendorid };
        const held = rows.find(key);
        if (!held) return create(key, row, stamp, changeContext);
        const verdict = update(held, row, stamp, context);
        if (verdict.kind === 'unchanged' && held.presence === 'suspect') rows.confirm(held, stamp.readSeq);
        return verdict;
      };
      for (const row of pageRows) {
        if (verdicts.has(row.vendorid)) continue;
        const verdict = apart ? byItself(row, apply) : apply(row);
        verdicts.set(row.vendorid, verdict);
        if (verdict.kind === 'unchanged') confirmed.push(row.vendorid);
      }
      if (confirmed.length > 0) confirmations.add(context.accountId, stamp.readSeq, confirmed);
      return verdicts;
    },

    compare(pageRows, accountId) {
      const verdict = (row: VendorRow): Verdict => {
        const held = rows.find({ account_id: accountId, vendorid: row.vendorid });
        if (!held) return { kind: 'created', vendor: row.vendor() };
        const difference = differ(held, row);
        return difference ? { kind: 'updated', ...difference } : unchanged(held);
      };
      return new Map(pageRows.map((row) => [row.vendorid, verdict(row)]));
    },

    record(row, stamp, context) {
      const key: Key = { account_id: context.accountId, vendorid: row.vendorid };
      const held = rows.find(key);
      if (!held) return create(key, row, stamp, changeContextOf(context));
      const verdict = update(held, row, stamp, context);
      if (verdict.kind === 'unchanged') rows.confirm(held, stamp.readSeq);
      return verdict;
    },

    absence(vendorid, absence, stamp, context) {
      const held = rows.find({ account_id: context.accountId, vendorid });
      if (!held) return { kind: 'unchanged', heldSince: 0, visState: null };
      if (held.presence === absence) {
        rows.confirm(held, stamp.readSeq);
        return unchanged(held);
      }
      const inferred = absence === 'missing' && held.vis_state !== 1;
      const state = {
        vis_state: inferred ? 1 : held.vis_state,
        vis_state_source: inferred ? 'inferred' : held.vis_state_source,
        presence: absence,
        raw: heldRaw(held.raw),
      } as const;
      const changed = inferred ? ['vis_state', 'presence'] : ['presence'];
      const difference: Difference = { before: held, after: { ...state, updated_at: held.updated_at }, changed };
      const ruling = guard(held, difference, stamp, context);
      if (ruling !== 'believed') return outcomeOf(ruling, difference);
      const changeContext = changeContextOf(context);
      rows.update({
        ...held,
        ...state,
        ...traceOf(changeContext, stamp),
      });
      history.continue(keyOf(held), held.raw, { state, changed, vendor: childRows.vendorOf(held) }, changeContext);
      return { kind: 'updated', ...difference };
    },
  };
}

function unchanged({ held_since_ms, vis_state }: StoredState): Verdict {
  return { kind: 'unchanged', heldSince: held_since_ms, visState: vis_state };
}

function outcomeOf(ruling: 'stale' | 'guarded', difference: Difference): Verdict {
  return ruling === 'stale' ? { kind: 'stale' } : { kind: 'guarded', ...difference };
}

/** What a change leaves in a row beside its content. */
function traceOf(
  { at, moment, source }: ChangeContext,
  { readSeq }: ReadStamp,
): Pick<VendorTable, 'changed_at' | 'source' | 'read_seq' | 'held_since_ms'> {
  return { changed_at: at, source, read_seq: readSeq, held_since_ms: moment };
}

const keyOf = ({ account_id, vendorid }: Key): Key => ({ account_id, vendorid });
