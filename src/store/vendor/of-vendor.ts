/** How a statement names one vendor. */
import type { RawBuilder } from 'kysely';
import type { At } from '../sqlite/statement.ts';
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
