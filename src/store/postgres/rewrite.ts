/**
 * Rewrites the tables of a mirror in PostgreSQL, so that rows that were deleted or changed are no longer in its files: `VACUUM FULL`, table by
 * table. What the server keeps besides, its journal (WAL), standbys and backups, is not reached from here.
 *
 * A transaction of others that began before may still see old rows, which then stay; how many there are, the server tells.
 */
import { sql } from 'kysely';
import { MirrorError } from '../../domain/errors.ts';
import { shortLockWait } from '../sql/database.ts';
import { statement, type None } from '../sql/statement.ts';
import type { PostgresDatabase } from './database.ts';
import { PostgresSession } from './session.ts';

/**
 * @param interrupted ends it; tables that were rewritten by then stay so.
 * @throws MirrorError `database_locked` where others hold tables, or old rows; `postgres_refused` where the tables are of another user.
 */
export async function rewriteTables(database: PostgresDatabase, interrupted: AbortSignal): Promise<void> {
  const { connection, server, path } = database;
  const tables = (
    await database.readOne(() =>
      statement<None, { name: string }>(
        connection,
        () => sql`
          SELECT c.relname AS name FROM pg_class c
          WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r' ORDER BY c.relname`,
      ).all({}),
    )
  ).map(({ name }) => name);
  // Who reads for long is found here, within a limit; rewriting would wait for as long as they like.
  await free(database, tables);
  const session = await PostgresSession.open(server, interrupted, { limit: 0 });
  try {
    for (const table of tables) {
      await session.run(`VACUUM (FULL, ANALYZE, VERBOSE) "${server.schema}"."${table}"`);
      if (session.details.some((detail) => /^[1-9]/.test(detail))) throw stillThere(path);
    }
  } finally {
    session.close();
  }
}

/** @throws MirrorError `database_locked` where others hold a lock on one of the tables. */
async function free(database: PostgresDatabase, tables: readonly string[]): Promise<void> {
  const lock = statement<None>(
    database.connection,
    () => sql`LOCK TABLE ${sql.join(tables.map((table) => sql.table(table)))} IN ACCESS EXCLUSIVE MODE`,
  );
  try {
    await database.write(() => lock.send({}), 5 * shortLockWait);
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'database_locked') throw stillThere(database.path, error);
    throw error;
  }
}

function stillThere(path: string, cause?: unknown): MirrorError {
  return new MirrorError(
    'database_locked',
    `What was to be forgotten was removed from ${path}, but its files still contain it while another program reads it.`,
    { cause, remedy: 'End the transactions that have been open for long (pg_stat_activity), and run this again.' },
  );
}
