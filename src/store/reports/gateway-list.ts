/** The stored gateways, including those removed at the service. */
import type { Sqlite } from '../sqlite/driver.ts';
import { runQuery, mirrorSql } from '../sqlite/statement.ts';
import type { GatewayTable } from '../tables/mirror-tables.ts';

export type ListedGateway = Omit<GatewayTable, 'id'>;

/** The gateways by account and id; all accounts where none is given. */
export function listGateways(sqlite: Sqlite, account: string | undefined): ListedGateway[] {
  const gateways = mirrorSql
    .selectFrom('gateways')
    .select(['account_id', 'sgid', 'connectionid', 'gateway_name', 'first_seen_at', 'removed_at'])
    .$if(account !== undefined, (query) => query.where('account_id', '=', account ?? ''))
    .orderBy('account_id')
    .orderBy('sgid');
  return runQuery<ListedGateway>(sqlite, gateways);
}
