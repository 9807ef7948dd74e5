/**
 * Whether the rows of a sink are those of the mirror: what others altered, deleted or added there. The feed does not show that, because it
 * tells of changes of the mirror alone.
 *
 * A page of the mirror is compared with all that the sink holds between its first and its last key, where the feed was followed up to a
 * place. Vendors that changed after it are left out: their rows come with the feed. Where a field differs in each answer (`unsteady-fields.ts`),
 * the mirror stores it without a change, so that a row of such an account may differ although nobody altered it.
 */
import type { Clock } from '../../domain/clock.ts';
import { changePage, type FeedChange } from '../reports/change-feed.ts';
import { cursorParts, removedThrough } from '../reports/feed-cursor.ts';
import type { VendorKey } from '../sql/schema.ts';
import { keyOf, keyText, type Query } from '../sql/statement.ts';
import { accountsWithUnsteadyFields } from '../unsteady-fields.ts';
import { changedAfter, changeRow, vendorKeysAfter, vendorRows, type VendorRows } from './mirror-rows.ts';
import type { PostgresSession } from '../postgres/session.ts';
import { differingRows, sinkTables, type Differing, type SinkRow, type SinkTable } from './tables.ts';

/** Vendors or changes of one transaction. */
export const pageSize = 500;

/** How many rows differ, by table, and of which vendors; of many, the first. */
export interface Differences {
  readonly rows: Readonly<Record<string, number>>;
  readonly vendors: readonly VendorKey[];
}

interface VendorsCompared {
  readonly differing: readonly VendorKey[];
  /** Of those that the mirror holds. */
  readonly rows: VendorRows;
  readonly next: VendorKey | undefined;
}

interface ChangesCompared {
  readonly differing: readonly FeedChange[];
  /** Numbers of changes that are there only. */
  readonly surplus: readonly number[];
  readonly next: string | undefined;
}

/** Vendors that `Differences` names, at most. */
const named = 5;

export class Comparison {
  readonly #session: PostgresSession;
  readonly #query: Query;
  readonly #clock: Pick<Clock, 'yield'>;
  readonly #mirrorId: string;
  readonly #rows: Record<string, number> = {};
  readonly #vendors = new Map<string, VendorKey>();

  constructor(session: PostgresSession, query: Query, clock: Pick<Clock, 'yield'>, mirrorId: string) {
    this.#session = session;
    this.#query = query;
    this.#clock = clock;
    this.#mirrorId = mirrorId;
  }

  /** What others changed in the pages that were compared so far; undefined where that is nothing. */
  get found(): Differences | undefined {
    return this.#vendors.size === 0 ? undefined : { rows: this.#rows, vendors: [...this.#vendors.values()] };
  }

  /**
   * The next vendors, with balances and tax defaults. Runs inside a transaction there.
   * @param seq the change up to which the feed was followed
   * @returns those that differ, as the mirror has them, and where the next page begins; undefined for the last.
   */
  async vendors(after: VendorKey, seq: number): Promise<VendorsCompared> {
    const { keys, later, rows, unsteady } = await this.#query(async (db) => {
      const keys = await vendorKeysAfter(db, after, pageSize);
      const later = await changedAfter(db, keys, seq);
      const left = new Set(later.map(keyText));
      const rows = await vendorRows(
        db,
        keys.filter((key) => !left.has(keyText(key))),
      );
      return { keys, later, rows, unsteady: await accountsWithUnsteadyFields(db) };
    });
    const next = keys.length < pageSize ? undefined : keys.at(-1);
    const stretch = {
      after: [after.account_id, after.vendorid],
      until: next && [next.account_id, next.vendorid],
      except: later,
    };
    const differing = new Map<string, VendorKey>();
    for (const [table, wanted] of [
      [sinkTables.vendors, rows.vendors],
      [sinkTables.balances, rows.balances],
      [sinkTables.taxDefaults, rows.taxDefaults],
    ] as const)
      for (const one of await differingRows(this.#session, table, this.#mirrorId, wanted, stretch)) {
        differing.set(keyText(one), one);
        this.#note(table, one, unsteady);
      }
    const isAmong = (row: SinkRow): boolean => differing.has(keyText(row as unknown as VendorKey));
    return {
      differing: [...differing.values()],
      rows: {
        vendors: rows.vendors.filter(isAmong),
        balances: rows.balances.filter(isAmong),
        taxDefaults: rows.taxDefaults.filter(isAmong),
      },
      next,
    };
  }

  /**
   * The next changes of the feed, those after it left out. Runs inside a transaction there.
   * @param since undefined for the first
   * @returns those that differ, as the mirror has them, which others have to go, and where the next page begins; undefined for the last.
   */
  async changes(since: string | undefined, seq: number, signal: AbortSignal): Promise<ChangesCompared> {
    const page = await changePage(this.#query, this.#clock, { since, limit: pageSize }, signal);
    // Changes are being removed: the next comparison sees what is left.
    if ('reason' in page) return { differing: [], surplus: [], next: undefined };
    const { removed, unsteady } = await this.#query(async (db) => ({
      removed: await removedThrough(db),
      unsteady: await accountsWithUnsteadyFields(db),
    }));
    const end = cursorParts(page.cursor)?.seq ?? seq;
    const isLast = !page.more || end >= seq;
    const changes = page.changes.filter((change) => change.seq <= seq);
    const from = cursorParts(since ?? '')?.seq ?? 0;
    const found = await differingRows(
      this.#session,
      sinkTables.changes,
      this.#mirrorId,
      changes.map(changeRow),
      { after: [from], until: isLast ? undefined : [end] },
      // What a change said of values that are no longer kept stays there.
      removed > 0 ? ['kind', 'changed_values'] : [],
    );
    const differ = new Set(found.map((one) => one.seq));
    for (const one of found)
      // Those that the mirror has removed are deleted at the end of each round.
      if (one.kind !== 'added' || (one.seq ?? 0) > removed) this.#note(sinkTables.changes, one, unsteady);
    return {
      differing: changes.filter((change) => differ.has(change.seq)),
      surplus: found.flatMap(({ kind, seq }) => (kind === 'added' && seq !== null ? [seq] : [])),
      next: isLast ? undefined : page.cursor,
    };
  }

  #note(table: SinkTable, differing: Differing, unsteady: ReadonlySet<string>): void {
    if (differing.kind === 'altered' && unsteady.has(differing.account_id)) return;
    this.#rows[table.name] = (this.#rows[table.name] ?? 0) + 1;
    if (this.#vendors.size < named) this.#vendors.set(keyText(differing), keyOf(differing));
  }
}
