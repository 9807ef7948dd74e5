/** Pages of vendors. Reads a few rows in each turn of the event loop, so that no delivery waits for a search. */
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Query } from '../sqlite/query.ts';
import { runQuery, mirrorSql } from '../sqlite/statement.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { vendorsWith, type ListedVendor, type VendorFilter } from './vendor-list.ts';

export interface VendorPageFilter extends VendorFilter {
  /** Where the previous page ended. */
  readonly after?: VendorKey | undefined;
  readonly limit: number;
}

export interface VendorPage {
  readonly vendors: readonly ListedVendor[];
  /** Where the next page begins; null where there is none. */
  readonly next: VendorKey | null;
  /** The number on all pages; null where that would need a scan. */
  readonly total: number | null;
}

/** Rows that are read in one turn of the event loop. */
const readAtOnce = 250;

/** Rows that are read for one page; a page that is not full by then says where to continue. */
const mostRead = 50_000;

/**
 * The first vendors after a position that match the filter, by account and id. Each turn is consistent in itself.
 * @throws the signal's reason as soon as it is aborted.
 */
export async function vendorPage(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  filter: VendorPageFilter,
  signal?: AbortSignal,
): Promise<VendorPage> {
  const vendors: ListedVendor[] = [];
  let after: VendorKey | undefined = filter.after ?? { account_id: filter.account ?? '', vendorid: 0 };
  for (let read = 0; after && vendors.length < filter.limit && read < mostRead; read += readAtOnce) {
    signal?.throwIfAborted();
    const from: VendorKey = after;
    const limit = filter.limit - vendors.length;
    const found = await query((sqlite) => slice(sqlite, { ...filter, limit }, from));
    vendors.push(...found.vendors);
    after = found.next;
    await clock.yield();
  }
  const total = await query((sqlite) => counted(sqlite, filter));
  return { vendors, next: after ?? null, total };
}

/** The matches among the next rows, and the last row that was read where more follow. */
function slice(
  sqlite: Sqlite,
  filter: VendorPageFilter,
  from: VendorKey,
): { vendors: ListedVendor[]; next: VendorKey | undefined } {
  const [end] = runQuery<VendorKey>(
    sqlite,
    mirrorSql
      .selectFrom('vendors as v')
      .select(['v.account_id', 'v.vendorid'])
      .where(following(filter, from))
      .orderBy('v.account_id')
      .orderBy('v.vendorid')
      .limit(1)
      .offset(readAtOnce - 1),
  );
  const range = end ? sql<SqlBool>`${following(filter, from)} AND ${upTo(filter, end)}` : following(filter, from);
  const vendors = vendorsWith(sqlite, filter, range);
  const last = vendors.at(-1);
  if (last && vendors.length === filter.limit) return { vendors, next: vendorKey(last) };
  return { vendors, next: end };
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

/** Counted in an index; a search would need a scan. */
function counted(sqlite: Sqlite, { account, visState, presence, search }: VendorFilter): number | null {
  if (search !== undefined) return null;
  const [found] = runQuery(
    sqlite,
    mirrorSql
      .selectFrom('vendors')
      .select((eb) => eb.fn.countAll<number>().as('vendors'))
      .$if(account !== undefined, (q) => q.where('account_id', '=', account ?? ''))
      .$if(visState !== undefined, (q) => q.where('vis_state', '=', visState ?? 0))
      .$if(presence !== undefined, (q) => q.where('presence', '=', presence ?? 'present')),
  );
  return found?.vendors ?? 0;
}
