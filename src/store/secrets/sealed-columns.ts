/**
 * Which columns of the secrets hold values that are sealed where sealing is used, all others may be read by whoever reads the tables; sealing all
 * of them anew, and whether a key opens them.
 */
import { sql } from 'kysely';
import type { SecretTables } from '../sql/schema.ts';
import { statement, type Connection } from '../sql/statement.ts';
import { type SecretKind, type Sealing, KeySealing } from './sealing.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import { withServer } from '../postgres/server-facts.ts';
import type { PostgresServer } from '../postgres/session.ts';

/** A column, and the one beside it that says whose its values are. */
type SealedColumn = {
  [Table in keyof SecretTables]: {
    readonly table: Table;
    readonly column: keyof SecretTables[Table] & string;
    readonly owner: keyof SecretTables[Table] & string;
    readonly kind: SecretKind;
  };
}[keyof SecretTables];

export const sealedColumns: readonly SealedColumn[] = [
  { table: 'path_tokens', column: 'path_token', owner: 'account_id', kind: 'path token' },
  { table: 'path_tokens', column: 'previous_token', owner: 'account_id', kind: 'path token' },
  { table: 'registrations', column: 'uri', owner: 'account_id', kind: 'callback address' },
  { table: 'verifiers', column: 'verifier', owner: 'account_id', kind: 'verifier' },
  { table: 'oauth_tokens', column: 'access_token', owner: 'client', kind: 'access token' },
  { table: 'oauth_tokens', column: 'refresh_token', owner: 'client', kind: 'refresh token' },
];

/**
 * Seals anew what was sealed with a key that is being replaced. Runs inside a transaction.
 * @throws MirrorError `secrets_key_unknown`, `secrets_altered`.
 */
export async function sealAnew(db: Connection, sealing: Sealing): Promise<void> {
  for (const { table, column, owner, kind } of sealedColumns) {
    const [ofTable, ofColumn, ofOwner] = [sql.table(table), sql.ref(column), sql.ref(owner)];
    const all = statement(db)<object, { owner: string; stored: string }>`
      SELECT ${ofOwner} AS owner, ${ofColumn} AS stored FROM ${ofTable} WHERE ${ofColumn} IS NOT NULL`;
    const replace = statement(db)<{ owner: string; stored: string; anew: string }>`
      UPDATE ${ofTable} SET ${ofColumn} = ${'anew'}
      WHERE ${ofOwner} = ${'owner'} AND ${ofColumn} = ${'stored'}`;
    for (const row of await all.all({})) {
      if (sealing.isCurrent(row.stored)) continue;
      replace.send({ ...row, anew: sealing.seal(kind, row.owner, sealing.open(kind, row.owner, row.stored)) });
    }
  }
}

/**
 * Opens every value of the secrets.
 * @param server with the schema of the secrets
 * @returns how many there are; undefined where there is no schema yet.
 * @throws MirrorError `secrets_key_unusable`, `secrets_key_unknown`, `secrets_altered`, and of the server.
 */
export async function openEverySecret(
  server: PostgresServer,
  keyFile: string | undefined,
  {
    clock,
    random,
    interrupted,
  }: { readonly clock: Pick<Clock, 'timer'>; readonly random: Random; readonly interrupted: AbortSignal },
): Promise<number | undefined> {
  const sealing = new KeySealing(keyFile, random);
  return await withServer(server, clock, interrupted, async (session) => {
    const there = await session.run(
      `SELECT 1 AS one FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'owner'`,
      [server.schema],
    );
    if (there.length === 0) return undefined;
    let count = 0;
    for (const { table, column, owner, kind } of sealedColumns) {
      const rows = await session.run<{ owner: string; stored: string }>(
        `SELECT "${owner}" AS owner, "${column}" AS stored FROM "${server.schema}"."${table}" WHERE "${column}" IS NOT NULL`,
      );
      for (const row of rows) sealing.open(kind, row.owner, row.stored);
      count += rows.length;
    }
    return count;
  });
}
