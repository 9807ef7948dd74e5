/** Whether the key opens what is stored of secrets in PostgreSQL. */
import type { Clock, Random } from '../../domain/clock.ts';
import { withServer } from '../postgres/server-facts.ts';
import type { PostgresServer } from '../postgres/session.ts';
import { sealedColumns } from './sealed-columns.ts';
import { KeySealing } from './sealing.ts';

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
