/** How a statement names one vendor, or several. */
import { sql, type RawBuilder } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement, type At } from '../sqlite/statement.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';

/** The key of a row that holds more. */
export const keyOf = ({ account_id, vendorid }: VendorKey): VendorKey => ({ account_id, vendorid });

interface OneVendor {
  where(column: 'account_id', operator: '=', value: RawBuilder<string>): this;
  where(column: 'vendorid', operator: '=', value: RawBuilder<number>): this;
}

/** Narrows a query to one vendor. */
export function ofVendor<Q extends object>(query: Q, at: At<VendorKey>): Q {
  return (query as Q & OneVendor).where('account_id', '=', at('account_id')).where('vendorid', '=', at('vendorid'));
}

/** Those of the vendors of an account for which something holds. */
export type IdsAmong = (account_id: string, vendorids: readonly number[]) => ReadonlySet<number>;

/** A query for those of some vendors of an account that have a row in a table. One query costs much less than one for each. */
export function idsAmong(sqlite: Sqlite, table: 'vendors' | '_forgotten_vendors'): IdsAmong {
  const find = statement<{ account_id: string; vendorids: string }, { found: string }>(sqlite, (at) =>
    mirrorSql
      .selectFrom(table)
      .select(sql<string>`json_group_array(vendorid)`.as('found'))
      .where('account_id', '=', at('account_id'))
      .where(sql<boolean>`vendorid IN (SELECT value FROM json_each(${at('vendorids')}))`),
  );
  return (account_id, vendorids) => {
    const found = find.get({ account_id, vendorids: JSON.stringify(vendorids) })?.found ?? '[]';
    return new Set(JSON.parse(found) as number[]);
  };
}
