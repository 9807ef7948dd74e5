/** How much a mirror in PostgreSQL takes on the disk of its server. */
import { sql } from 'kysely';
import { statement, type None } from '../sql/statement.ts';
import type { PostgresDatabase } from './database.ts';

/** In bytes, with indexes and what is kept of long values. */
export async function schemaBytes(database: PostgresDatabase): Promise<number> {
  const size = statement<None, { bytes: number }>(
    database.connection,
    () => sql`
      SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) AS bytes FROM pg_class c
      WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'`,
  );
  return (await database.readOne(() => size.get({})))?.bytes ?? 0;
}
