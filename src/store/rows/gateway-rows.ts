/** Gateways: a removed one stays, with the moment at which it was no longer listed. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Gateway } from '../../domain/vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { GatewayTable } from '../tables/mirror-tables.ts';

export interface Gateways {
  /** Numbers of the gateways that are held as enabled. */
  enabled(accountId: string): number[];
  /** Stores what is listed, and calls removed what is not. Runs inside a transaction. @returns how many were removed. */
  replace(accountId: string, listed: readonly Gateway[]): number;
}

export function gatewayRows(sqlite: Sqlite, clock: Clock): Gateways {
  const enabled = statement<{ account_id: string }, { sgid: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('gateways')
      .select('sgid')
      .where('account_id', '=', at('account_id'))
      .where('removed_at', 'is', null),
  );
  const upsert = statement<Omit<GatewayTable, 'removed_at'>>(sqlite, (at) =>
    mirrorSql
      .insertInto('gateways')
      .values({
        account_id: at('account_id'),
        sgid: at('sgid'),
        id: at('id'),
        connectionid: at('connectionid'),
        gateway_name: at('gateway_name'),
        first_seen_at: at('first_seen_at'),
        removed_at: null,
      })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'sgid']).doUpdateSet({
          connectionid: sql`excluded.connectionid`,
          gateway_name: sql`excluded.gateway_name`,
          removed_at: null,
        }),
      ),
  );
  const remove = statement<{ account_id: string; sgid: number; removed_at: string }>(sqlite, (at) =>
    mirrorSql
      .updateTable('gateways')
      .set({ removed_at: at('removed_at') })
      .where('account_id', '=', at('account_id'))
      .where('sgid', '=', at('sgid')),
  );
  const enabledIds = (accountId: string): number[] => enabled.all({ account_id: accountId }).map(({ sgid }) => sgid);
  return {
    enabled: enabledIds,
    replace(accountId, listed) {
      const at = timestamp(clock.now());
      const here = new Set(listed.map(({ sgid }) => sgid));
      const gone = enabledIds(accountId).filter((sgid) => !here.has(sgid));
      for (const sgid of gone) remove.run({ account_id: accountId, sgid, removed_at: at });
      for (const gateway of listed)
        upsert.run({ account_id: accountId, ...gateway, id: gateway.sgid, first_seen_at: at });
      return gone.length;
    },
  };
}
