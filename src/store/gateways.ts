/** Gateways. A removed one stays, with the time at which it was no longer listed. */
import { sql } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { Gateway } from '../domain/vendor.ts';
import { Transacted } from './sql/database.ts';
import { columns, mirrorSql, runQuery, statement, type Connection } from './sql/statement.ts';
import type { GatewayTable } from './sql/schema.ts';

export class Gateways extends Transacted {
  readonly #enabled = statement(this.db)<{ account_id: string }, { sgid: number }>`
    SELECT sgid FROM gateways WHERE account_id = ${'account_id'} AND removed_at IS NULL`;
  readonly #upsert = statement<Omit<GatewayTable, 'removed_at'>>(this.db, (at) =>
    mirrorSql
      .insertInto('gateways')
      .values({
        ...columns(at, ['account_id', 'sgid', 'id', 'connectionid', 'gateway_name', 'first_seen_at']),
        removed_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'sgid'])
          .doUpdateSet({
            connectionid: sql`excluded.connectionid`,
            gateway_name: sql`excluded.gateway_name`,
            removed_at: null,
          })
          // A page that shows nothing new is not written.
          .where(
            sql<boolean>`gateways.connectionid IS DISTINCT FROM excluded.connectionid OR gateways.gateway_name IS DISTINCT FROM excluded.gateway_name
                OR gateways.removed_at IS NOT NULL`,
          ),
      ),
  );
  readonly #remove = statement(this.db)<{ account_id: string; sgid: number; removed_at: string }>`
    UPDATE gateways SET removed_at = ${'removed_at'}
    WHERE account_id = ${'account_id'} AND sgid = ${'sgid'}`;

  enabledGateways(accountId: string): Promise<number[]> {
    return this.database.read(() => this.#enabledIds(accountId));
  }

  /** Stores what a list shows. @param whole the list shows all that there are: the others are removed. @returns how many were removed. */
  putGateways(accountId: string, listed: readonly Gateway[], { whole }: { whole: boolean }): Promise<number> {
    return this.database.write(async () => {
      const at = timestamp(this.clock.now());
      const here = new Set(listed.map(({ sgid }) => sgid));
      const gone = whole ? (await this.#enabledIds(accountId)).filter((sgid) => !here.has(sgid)) : [];
      for (const sgid of gone) this.#remove.send({ account_id: accountId, sgid, removed_at: at });
      for (const gateway of listed)
        this.#upsert.send({ account_id: accountId, ...gateway, id: gateway.sgid, first_seen_at: at });
      return gone.length;
    });
  }

  async #enabledIds(accountId: string): Promise<number[]> {
    return (await this.#enabled.all({ account_id: accountId })).map(({ sgid }) => sgid);
  }
}

export type ListedGateway = Omit<GatewayTable, 'id'>;

/** The gateways by account and id; all accounts where none is given. */
export function listGateways(db: Connection, account: string | undefined): Promise<ListedGateway[]> {
  const gateways = mirrorSql
    .selectFrom('gateways')
    .select(['account_id', 'sgid', 'connectionid', 'gateway_name', 'first_seen_at', 'removed_at'])
    .$if(account !== undefined, (query) => query.where('account_id', '=', account ?? ''))
    .orderBy('account_id')
    .orderBy('sgid');
  return runQuery<ListedGateway>(db, gateways);
}
