/** Lists of deliveries. */
import { sql } from 'kysely';
import { timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { runQuery, mirrorSql } from '../sqlite/statement.ts';
import type { DeliveryOutcome, DeliveryTable } from '../tables/mirror-tables.ts';

/** Which deliveries to list; omitted conditions do not filter. */
export interface DeliveryFilter {
  readonly account?: string | undefined;
  readonly outcome?: DeliveryOutcome | undefined;
  readonly vendorid?: number | undefined;
  /** Received at this moment or later, milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly limit?: number | undefined;
}

export type ListedDelivery = Omit<DeliveryTable, 'id'> & { readonly id: number };

export interface DeliveryList {
  /** The number of matches, regardless of the limit. */
  readonly total: number;
  /** The newest first. */
  readonly deliveries: readonly ListedDelivery[];
}

/** The deliveries that match the filter. */
export function listDeliveries(sqlite: Sqlite, filter: DeliveryFilter): DeliveryList {
  const [total] = runQuery(
    sqlite,
    wanted(filter).select((row) => row.fn.countAll<number>().as('count')),
  );
  return { total: total?.count ?? 0, deliveries: latestDeliveries(sqlite, filter) };
}

/** The same without the count. */
export function latestDeliveries(sqlite: Sqlite, filter: DeliveryFilter): ListedDelivery[] {
  return runQuery<ListedDelivery>(
    sqlite,
    wanted(filter)
      .select(['id', 'account_id', 'received_at', 'name', 'object_id', 'business_id', 'identity_id', 'user_id'])
      .select(['outcome', 'settled_at'])
      .orderBy('id', 'desc')
      .limit(filter.limit ?? -1),
  );
}

function wanted({ account, outcome, vendorid, since }: DeliveryFilter) {
  return mirrorSql
    .selectFrom('deliveries')
    .$if(account !== undefined, (rows) => rows.where('account_id', '=', account ?? ''))
    .$if(outcome !== undefined, (rows) => rows.where('outcome', '=', outcome ?? 'pending'))
    .$if(vendorid !== undefined, (rows) => rows.where('object_id', '=', vendorid ?? 0))
    .$if(vendorid !== undefined, (rows) => rows.where(sql<boolean>`name LIKE 'bill_vendor.%'`))
    .$if(since !== undefined, (rows) => rows.where('received_at', '>=', timestamp(since ?? 0)));
}
