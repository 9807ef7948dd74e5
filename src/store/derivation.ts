/**
 * What is derived from the stored records: columns, balances and tax defaults. The rules have a version, which the file remembers: rows that
 * were written by other rules are derived again from `raw` before the next run, a few in each transaction.
 *
 * Where a value that stood there turns out to be another one, or none, that is a version of the vendor, as if a reading had shown it. A field
 * that is filled in for the first time is none: the service did not change anything, and the record was in the history all along.
 */
import { sql } from 'kysely';
import type { Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import { balanceFields, columnFields, kept, mergeReading, type Vendor, type VendorField } from '../domain/vendor.ts';
import { changedAt, History } from './history.ts';
import { Transacted, type Database } from './sql/database.ts';
import type { VendorKey, VendorTable } from './sql/schema.ts';
import { keyOf, mirrorSql, statement, type None, type OfAccount, type Snapshot } from './sql/statement.ts';
import { ChildRows, columnsOf, VendorRows } from './vendors.ts';

/** Raised whenever a record is read otherwise than before: a new field, or another rule. */
export const derivation = 2;

/** Older than any: all rows are to be derived again. */
const none = 0;

/** The version of the rules by which all rows of the file are derived. */
export async function heldDerivation(db: Snapshot): Promise<number> {
  const held = statement<None, { derivation: number }>(db, () =>
    mirrorSql.selectFrom('mirror_identity').select('derivation'),
  );
  return (await held.get({}))?.derivation ?? 0;
}

/** Reads a vendor from its stored record. @throws MirrorError where the record cannot be read. */
export type DeriveVendor = (vendorid: number, raw: string) => Vendor;

/** Rows of one transaction: deliveries wait for its end. */
const chunk = 50;

export class Derivation extends Transacted {
  readonly #rows: VendorRows;
  readonly #childRows: ChildRows;
  readonly #history: History;
  readonly #held = statement<None, { derivation: number }>(this.db, () =>
    mirrorSql.selectFrom('mirror_identity').select('derivation'),
  );
  readonly #hold = statement<{ derivation: number }>(this.db, (at) =>
    mirrorSql.updateTable('mirror_identity').set({ derivation: at('derivation') }),
  );
  readonly #after = statement<VendorKey, VendorKey>(this.db, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select(['account_id', 'vendorid'])
      .where(sql<boolean>`(account_id, vendorid) > (${at('account_id')}, ${at('vendorid')})`)
      .orderBy('account_id')
      .orderBy('vendorid')
      .limit(chunk),
  );
  readonly #doubtful = statement<OfAccount, Pick<VendorKey, 'vendorid'>>(
    this.db,
    (at) => sql`
      WITH balances AS (
        SELECT vendorid, code, max(CASE kind WHEN 'outstanding' THEN amount END) AS outstanding, max(CASE kind WHEN 'overdue' THEN amount END) AS overdue,
          max(CASE kind WHEN 'outstanding' THEN amount_minor END) AS outstanding_minor, max(CASE kind WHEN 'overdue' THEN amount_minor END) AS overdue_minor
        FROM vendor_balances WHERE account_id = ${at('accountId')} GROUP BY vendorid, code
      ), spans AS (
        SELECT vendorid, code, state, outstanding, overdue, outstanding_amount, overdue_amount, outstanding_units, overdue_units,
          CASE minor_digits WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS scale
        FROM _balance_spans WHERE account_id = ${at('accountId')} AND valid_to IS NULL
      )
      SELECT b.vendorid FROM balances AS b LEFT JOIN spans AS s ON s.vendorid = b.vendorid AND s.code = b.code
      WHERE s.vendorid IS NULL OR s.outstanding IS DISTINCT FROM b.outstanding OR s.overdue IS DISTINCT FROM b.overdue
        OR coalesce(s.outstanding_units, 0) <> coalesce(b.outstanding_minor, 0) OR coalesce(s.overdue_units, 0) <> coalesce(b.overdue_minor, 0)
        OR abs(s.outstanding_amount * s.scale - s.outstanding_units) >= 1 OR abs(s.overdue_amount * s.scale - s.overdue_units) >= 1
      UNION
      SELECT s.vendorid FROM spans AS s LEFT JOIN balances AS b ON b.vendorid = s.vendorid AND b.code = s.code
      WHERE b.vendorid IS NULL
      UNION
      SELECT s.vendorid FROM spans AS s JOIN vendors AS v ON v.account_id = ${at('accountId')} AND v.vendorid = s.vendorid
      WHERE s.state IS DISTINCT FROM CASE WHEN v.presence IN ('missing', 'gone') THEN NULL
        WHEN v.vis_state = 0 THEN 'active' WHEN v.vis_state = 1 THEN 'deleted' WHEN v.vis_state = 2 THEN 'archived' ELSE 'unknown' END`,
  );

  constructor(database: Database, clock: Clock) {
    super(database, clock);
    const { connection: db } = database;
    this.#rows = new VendorRows(db);
    this.#childRows = new ChildRows(db);
    this.#history = new History(db);
  }

  /**
   * Derives the rows again that other rules may have written. An older version of the program that finds a newer number takes it back: what
   * it writes from now on is of its own rules.
   */
  async renew(deriveVendor: DeriveVendor): Promise<void> {
    const held = await this.database.read(async () => (await this.#held.get({}))?.derivation ?? 0);
    if (held === derivation) return;
    if (held < derivation) await this.#renewAll(deriveVendor);
    await this.database.write(() => this.#hold.send({ derivation }));
    await this.database.checkpoint();
  }

  async #renewAll(deriveVendor: DeriveVendor): Promise<void> {
    for (let at: VendorKey = { account_id: '', vendorid: 0 }; ;) {
      const from = at;
      const keys = await this.database.writeWithoutSync(async () => {
        const some = await this.#after.all(from);
        for (const key of some) await this.#renewRow(key, deriveVendor);
        return some;
      });
      const last = keys.at(-1);
      if (!last) return;
      at = last;
      await this.clock.yield();
    }
  }

  /**
   * Which of these vendors, and of those whose sums are not those of their balances, stand in the mirror otherwise than their records say, and
   * in which fields: another program wrote into it. If there are any, all rows are derived again before the next run.
   */
  async findAltered(
    accountId: string,
    vendorids: readonly number[],
    deriveVendor: DeriveVendor,
  ): Promise<ReadonlyMap<number, readonly string[]>> {
    const altered = new Map<number, readonly string[]>();
    await this.database.read(async () => {
      const doubtful = (await this.#doubtful.all({ accountId })).map(({ vendorid }) => vendorid);
      for (const vendorid of new Set([...vendorids, ...doubtful])) {
        const derived = await this.#derive({ account_id: accountId, vendorid }, deriveVendor);
        if (derived) altered.set(vendorid, derived.changed);
      }
    });
    if (altered.size > 0) await this.database.write(() => this.#hold.send({ derivation: none }));
    return altered;
  }

  async #renewRow(key: VendorKey, deriveVendor: DeriveVendor): Promise<void> {
    const derived = await this.#derive(key, deriveVendor);
    if (!derived) return;
    const { row, columns, vendor, news } = derived;
    const at = changedAt(this.clock.now(), row.changed_at);
    this.#rows.update({ ...row, ...columns, ...(news.length > 0 && { changed_at: at }) });
    this.#childRows.replace(row, vendor, false);
    const state = { ...columns, vis_state_source: row.vis_state_source, presence: row.presence };
    const cause = { at, source: row.source, runId: null, deliveryId: null };
    if (news.length > 0) await this.#history.continue(keyOf(row), row.raw, { state, changed: news, vendor }, cause);
    await this.#history.continueSpans(keyOf(row), state, vendor, cause);
  }

  /** What the record of a vendor says; undefined where it stands in the mirror like that, and where there is no record that can be read. */
  async #derive(key: VendorKey, deriveVendor: DeriveVendor): Promise<Derived | undefined> {
    const row = await this.#rows.find(key);
    if (!row) return undefined;
    let read: Vendor;
    try {
      read = deriveVendor(row.vendorid, row.raw);
    } catch (error) {
      // Damaged records are left as they are: the next reading replaces them.
      if (error instanceof MirrorError) return undefined;
      throw error;
    }
    const before = await this.#childRows.vendorOf(row);
    // A state that was inferred is not in the record.
    const { vis_state, ...others } = read;
    const shown = row.vis_state_source === 'inferred' || vis_state === undefined ? others : read;
    const { vendor, changed } = mergeReading(before, shown);
    const columns = columnsOf(vendor, row.raw);
    const news = changed.filter((field) => isNews(before, vendor, field));
    if (changed.length > 0 || !isSame(row, columns)) return { row, vendor, columns, changed, news };
    return (await this.#hasSums(row, vendor)) ? undefined : { row, vendor, columns, changed: balanceFields, news };
  }

  /** Whether what readers add up is what the balances of a vendor say. */
  async #hasSums(row: VendorTable, vendor: Vendor): Promise<boolean> {
    return (await this.#childRows.hasMinorUnits(row)) && (await this.#history.hasSpansOf(row, row, vendor));
  }
}

interface Derived {
  readonly row: VendorTable;
  readonly vendor: Vendor;
  readonly columns: ReturnType<typeof columnsOf>;
  readonly changed: readonly string[];
  /** Fields of which readers of the mirror saw another value. */
  readonly news: readonly string[];
}

function isSame(row: VendorTable, columns: ReturnType<typeof columnsOf>): boolean {
  return ([...columnFields, 'unknown_fields', 'unreadable_fields'] as const).every(
    (name) => row[name] === columns[name],
  );
}

const always: ReadonlySet<string> = new Set(['vis_state', ...balanceFields]);

/** Whether readers of the mirror saw another value than they see now. */
function isNews(before: Vendor, after: Vendor, field: string): boolean {
  const [old, now] = [kept(before[field as VendorField]), kept(after[field as VendorField])];
  if (JSON.stringify(old ?? null) === JSON.stringify(now ?? null)) return false;
  return always.has(field) || (old !== null && old !== undefined && JSON.stringify(old) !== '[]');
}
