/** Lists of vendors: identifying fields and amounts owed. */
import { isAbsent, presences, type Presence } from '../../domain/presence.ts';
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import { limits } from '../../domain/limits.ts';
import type { Balance, VisState } from '../../domain/vendor.ts';
import { mirrorSql, runQuery, type Connection, type Query } from '../sql/statement.ts';
import type { VendorKey, VendorTable } from '../sql/schema.ts';
import { foldedText } from '../sql/folding.ts';

/** Which vendors to list; omitted conditions do not filter. */
export interface VendorFilter {
  readonly account?: string | undefined;
  readonly visState?: VisState | undefined;
  /** Any of these. */
  readonly presence?: readonly Presence[] | undefined;
  /** Part of a name, contact, e-mail address, account number or city, ignoring case and accents; or the whole id. */
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  /** How many are left out before the first. */
  readonly offset?: number | undefined;
  /** By account and id by default. */
  readonly sort?: VendorOrder | undefined;
}

/** Names from A to Z, ignoring case and accents; times newest first; amounts largest first, ignoring currency. */
export type VendorOrder = 'number' | 'name' | 'country' | 'changed' | 'outstanding' | 'overdue';

/** States by which vendors can be filtered. */
export type WantedState = 'active' | 'deleted' | 'archived' | 'all';

const visStates = { active: 0, deleted: 1, archived: 2, all: undefined } as const;

/** Nothing is concluded about a suspect. */
const notAbsent: readonly Presence[] = presences.filter((presence) => !isAbsent(presence));

/** The filter for a state. `active` means those that are not absent, as in the view `active_vendors`; everything else is used as it is. */
export function inState(
  state: WantedState | undefined,
  presence: Presence | undefined,
): Pick<VendorFilter, 'visState' | 'presence'> {
  const wanted = state ?? (presence ? 'all' : 'active');
  return {
    visState: visStates[wanted],
    presence: presence ? [presence] : wanted === 'active' ? notAbsent : undefined,
  };
}

const shown = [
  'account_id',
  'vendorid',
  'vendor_name',
  'vis_state',
  'presence',
  'is_1099',
  'primary_contact_email',
  'country',
  'currency_code',
  'updated_at',
  'changed_at',
  'unreadable_fields',
] as const satisfies (keyof VendorTable)[];

export type ListedVendor = Omit<Pick<VendorTable, (typeof shown)[number]>, 'is_1099' | 'unreadable_fields'> & {
  readonly is_1099: boolean | null;
  /** Fields that the service sent, and that could not be read: their values are null, or amounts are missing. */
  readonly unreadable_fields: readonly string[];
  readonly outstanding: readonly Balance[];
  readonly overdue: readonly Balance[];
};

/** Whether what is owed of this kind was sent and could not be read. */
export function isAmountUnread(
  { unreadable_fields }: Pick<ListedVendor, 'unreadable_fields'>,
  kind: 'outstanding' | 'overdue',
): boolean {
  return unreadable_fields.includes(`${kind}_balance`);
}

export interface VendorList {
  /** The number of matches, regardless of the limit. */
  readonly total: number;
  readonly vendors: readonly ListedVendor[];
}

export async function listVendors(db: Connection, filter: VendorFilter): Promise<VendorList> {
  return { total: (await vendorTotals(db, filter)).total, vendors: await vendorsWith(db, filter) };
}

export interface VendorTotals {
  /** The number of matches, regardless of the limit. */
  readonly total: number;
  /** Whether all are of one account, active, present. */
  readonly oneAccount: boolean;
  readonly allActive: boolean;
  readonly allPresent: boolean;
}

/** The number of vendors that match the filter and a further condition on `v`, and what they have in common. */
export async function vendorTotals(
  db: Connection,
  filter: VendorFilter,
  condition = sql<SqlBool>`true`,
): Promise<VendorTotals> {
  const [found] = await runQuery(
    db,
    mirrorSql
      .selectFrom('vendors as v')
      .where(() => all([condition, ...conditions(filter)]))
      .select([
        sql<number>`count(*)`.as('total'),
        sql<number>`min(v.account_id) IS NOT DISTINCT FROM max(v.account_id)`.as('one_account'),
        sql<number>`coalesce(min(CASE WHEN v.vis_state = 0 THEN 1 ELSE 0 END), 1)`.as('all_active'),
        sql<number>`coalesce(min(CASE WHEN v.presence = 'present' THEN 1 ELSE 0 END), 1)`.as('all_present'),
      ]),
  );
  return {
    total: found?.total ?? 0,
    oneAccount: found?.one_account === 1,
    allActive: found?.all_active === 1,
    allPresent: found?.all_present === 1,
  };
}

/** The vendors that match the filter and a further condition on `v`. */
export async function vendorsWith(
  db: Connection,
  filter: VendorFilter,
  condition = sql<SqlBool>`true`,
): Promise<ListedVendor[]> {
  const order = filter.sort === undefined || filter.sort === 'number' ? undefined : orders[filter.sort];
  return (
    await runQuery<ListedRow>(
      db,
      mirrorSql
        .selectFrom('vendors as v')
        .where(() => all([condition, ...conditions(filter)]))
        .select(shown.map((name) => `v.${name}` as const))
        .select([amounts('outstanding').as('outstanding'), amounts('overdue').as('overdue')])
        .$if(order !== undefined, (query) => query.orderBy(order ?? sql`true`))
        .orderBy('v.account_id')
        .orderBy('v.vendorid')
        .limit(filter.limit ?? Number.MAX_SAFE_INTEGER)
        .offset(filter.offset ?? 0),
    )
  ).map(listed);
}

const orders: Readonly<Record<Exclude<VendorOrder, 'number'>, ReturnType<typeof sql>>> = {
  name: sql`folded(v.vendor_name) NULLS LAST`,
  country: sql`folded(v.country) NULLS LAST`,
  changed: sql`v.changed_at DESC`,
  outstanding: sql`${largest('outstanding')} DESC NULLS LAST`,
  overdue: sql`${largest('overdue')} DESC NULLS LAST`,
};

function largest(kind: 'outstanding' | 'overdue'): ReturnType<typeof sql> {
  return sql`(SELECT max(s.${sql.ref(`${kind}_amount`)}) FROM _balance_spans s
    WHERE s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL)`;
}

type ListedRow = Pick<VendorTable, (typeof shown)[number]> & { outstanding: string; overdue: string };

function listed(row: ListedRow): ListedVendor {
  return {
    ...row,
    is_1099: row.is_1099 === null ? null : row.is_1099 === 1,
    unreadable_fields: JSON.parse(row.unreadable_fields ?? '[]') as string[],
    outstanding: balancesIn(row.outstanding),
    overdue: balancesIn(row.overdue),
  };
}

function balancesIn(text: string): Balance[] {
  return (JSON.parse(text) as string[]).map((pair) => {
    const [amount, code] = JSON.parse(pair) as [string, string];
    return { amount, code };
  });
}

/** A vendor's amounts of one kind, as a JSON array of pairs, each as text: the amount and its currency. */
function amounts(kind: 'outstanding' | 'overdue'): ReturnType<typeof sql<string>> {
  return sql<string>`(SELECT json_group_array('[' || json_quote(${asText(sql`amount`)}) || ',' || json_quote(${asText(sql`code`)}) || ']') FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = ${kind})`;
}

/** A column as text that is valid in JSON. */
function asText(value: ReturnType<typeof sql>): ReturnType<typeof sql<string>> {
  return sql<string>`CASE typeof(${value}) WHEN 'blob' THEN concat('x''', lower(hex(${value})), '''') ELSE ${value} END`;
}

const searched = sql`concat_ws(${'\n'}, v.vendor_name, v.primary_contact_first_name, v.primary_contact_last_name,
  v.primary_contact_email, v.account_number, v.city)`;

function conditions({ account, visState, presence, search }: VendorFilter): Expression<SqlBool>[] {
  return [
    ...(account === undefined ? [] : [sql<SqlBool>`v.account_id = ${account}`]),
    ...(visState === undefined ? [] : [sql<SqlBool>`v.vis_state = ${visState}`]),
    ...(presence === undefined ? [] : [sql<SqlBool>`v.presence IN (${sql.join(presence)})`]),
    ...(search === undefined ? [] : [matches(search)]),
  ];
}

function matches(search: string): RawBuilder<SqlBool> {
  const hasText = sql<SqlBool>`instr(folded(${searched}), ${foldedText(search)}) > 0`;
  return isVendorId(search) ? sql`(v.vendorid = ${Number(search)} OR ${hasText})` : hasText;
}

/** Whether a text may be the id of a vendor. */
export const isVendorId = (text: string): boolean => /^\d{1,15}$/.test(text);

function all(parts: Expression<SqlBool>[]): Expression<SqlBool> {
  return parts.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(parts, sql` AND `)}`;
}

/** Pages of vendors. Reads a few rows in each turn of the event loop, so that no delivery waits for a search. */

export interface VendorPageFilter extends VendorFilter {
  /** Where the previous page ended. */
  readonly after?: VendorKey | undefined;
  readonly limit: number;
}

export interface VendorPage {
  readonly vendors: readonly ListedVendor[];
  /** Where the next page begins; null where there is none. */
  readonly next: VendorKey | null;
  /** The number on all pages; null where more vendors would have to be looked at than a search may. */
  readonly total: number | null;
}

/** Rows that are read in one turn of the event loop: a search through them takes 1 to 2 ms. */
const readAtOnce = 1_000;

/**
 * The first vendors after a position that match the filter, by account and id. Each turn is consistent in itself.
 * @throws the signal's reason as soon as it is aborted.
 */
export async function vendorsFrom(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  filter: VendorPageFilter,
  signal?: AbortSignal,
): Promise<Pick<VendorPage, 'vendors' | 'next'>> {
  const vendors: ListedVendor[] = [];
  let after: VendorKey | undefined = filter.after ?? { account_id: filter.account ?? '', vendorid: 0 };
  for (let read = 0; after && vendors.length < filter.limit && read < limits.rowsSearched; read += readAtOnce) {
    signal?.throwIfAborted();
    const from: VendorKey = after;
    const limit = filter.limit - vendors.length;
    const found = await query((db) => slice(db, { ...filter, limit }, from));
    vendors.push(...found.vendors);
    after = found.next;
    await clock.yield();
  }
  return { vendors, next: after ?? null };
}

/** As `vendorsFrom`, and how many there are. */
export async function vendorPage(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  filter: VendorPageFilter,
  signal?: AbortSignal,
): Promise<VendorPage> {
  const found = await vendorsFrom(query, clock, filter, signal);
  const isWhole = filter.after === undefined && found.next === null;
  const total = isWhole
    ? found.vendors.length
    : filter.search === undefined
      ? await query((db) => counted(db, filter))
      : await matchesOf(query, clock, filter, signal);
  return { ...found, total };
}

/** How many vendors a search matches; null where that is not known after so many as it may look at. */
async function matchesOf(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  filter: VendorPageFilter,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  let matches = 0;
  let after: VendorKey | undefined = { account_id: filter.account ?? '', vendorid: 0 };
  for (let read = 0; after && read < limits.rowsSearched; read += readAtOnce) {
    signal?.throwIfAborted();
    const from: VendorKey = after;
    const found = await query(async (db) => {
      const end = await endOfTurn(db, filter, from);
      return { next: end, total: (await vendorTotals(db, filter, between(filter, from, end))).total };
    });
    matches += found.total;
    after = found.next;
    await clock.yield();
  }
  return after ? null : matches;
}

/** The matches among the next rows, and the last row that was read where more follow. */
async function slice(
  db: Connection,
  filter: VendorPageFilter,
  from: VendorKey,
): Promise<{ vendors: ListedVendor[]; next: VendorKey | undefined }> {
  const end = await endOfTurn(db, filter, from);
  const vendors = await vendorsWith(db, filter, between(filter, from, end));
  const last = vendors.at(-1);
  if (last && vendors.length === filter.limit) return { vendors, next: vendorKey(last) };
  return { vendors, next: end };
}

/** The last row of those that are read in one turn; undefined where none follows them. */
async function endOfTurn(db: Connection, filter: VendorFilter, from: VendorKey): Promise<VendorKey | undefined> {
  return (
    await runQuery<VendorKey>(
      db,
      mirrorSql
        .selectFrom('vendors as v')
        .select(['v.account_id', 'v.vendorid'])
        .where(following(filter, from))
        .orderBy('v.account_id')
        .orderBy('v.vendorid')
        .limit(1)
        .offset(readAtOnce - 1),
    )
  )[0];
}

function between(filter: VendorFilter, from: VendorKey, end: VendorKey | undefined): RawBuilder<SqlBool> {
  return end ? sql<SqlBool>`${following(filter, from)} AND ${upTo(filter, end)}` : following(filter, from);
}

/** A condition for the rows after a position. For one account by id alone: with a pair, SQLite would scan the account from its start. */
export function following({ account }: VendorFilter, { account_id, vendorid }: VendorKey): RawBuilder<SqlBool> {
  if (account !== undefined) return sql`v.account_id = ${account} AND v.vendorid > ${vendorid}`;
  return sql`(v.account_id, v.vendorid) > (${account_id}, ${vendorid})`;
}

function upTo({ account }: VendorFilter, { account_id, vendorid }: VendorKey): RawBuilder<SqlBool> {
  if (account !== undefined) return sql`v.vendorid <= ${vendorid}`;
  return sql`(v.account_id, v.vendorid) <= (${account_id}, ${vendorid})`;
}

export function vendorKey({ account_id, vendorid }: ListedVendor): VendorKey {
  return { account_id, vendorid };
}

/** Counted in an index, without a search. */
async function counted(db: Connection, { account, visState, presence }: VendorFilter): Promise<number> {
  const [found] = await runQuery(
    db,
    mirrorSql
      .selectFrom('vendors')
      .select((eb) => eb.fn.countAll<number>().as('vendors'))
      .$if(account !== undefined, (q) => q.where('account_id', '=', account ?? ''))
      .$if(visState !== undefined, (q) => q.where('vis_state', '=', visState ?? 0))
      .$if(presence !== undefined, (q) => q.where('presence', 'in', presence ?? [])),
  );
  return found?.vendors ?? 0;
}
