/** The schema of a mirror, or of its secrets: made or brought to this version by whoever first needs it. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Migration } from '../sqlite/migrate.ts';
import { asUtf8, PostgresSession, type PostgresServer } from './session.ts';

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly applied_by: string | null;
}

/** PostgreSQL before this one lacks what the schema is made of. */
export const oldestServer = 15;

/**
 * Makes the schema, or brings it to this version, in one transaction.
 * @throws MirrorError `postgres_tables` where another program made it, `database_newer`, `migration_failed`, and as `PostgresSession.run`.
 */
export async function migrate(
  server: PostgresServer,
  migrations: readonly Migration[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await withSession(server, async (session) => {
    const known = await lookAt(session, server);
    if (due(server, known, migrations).length === 0) return;
    await session.atomically(() => migrateWithin(session, server, migrations, clock));
  });
}

/** The same inside a transaction, whose path of search leads to the schema. @throws MirrorError as `migrate`. */
export async function migrateWithin(
  session: PostgresSession,
  server: PostgresServer,
  migrations: readonly Migration[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  // Others may find the same at the same time; and an older version that runs beside writes before or after, but not in between.
  for (const lock of [`vendor-mirror ${server.schema}`, `vendor-mirror writes ${server.schema}`])
    await session.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
  const applied = await lookAt(session, server);
  // Where somebody made it for this user, that user need not have the right to make one.
  const there = await session.run('SELECT 1 FROM pg_namespace WHERE nspname = $1', [server.schema]);
  if (there.length === 0) await session.run(`CREATE SCHEMA "${server.schema}"`);
  for (const { number, name, sql, checksum, program } of due(server, applied, migrations)) {
    await session.run(sql);
    await session.run(
      'INSERT INTO migrations (number, name, checksum, applied_at, applied_by) VALUES ($1, $2, $3, $4, $5)',
      [number, name, checksum, timestamp(clock.now()), program],
    );
  }
}

/** Whether the schema is there, and of this version. @throws MirrorError as `migrate`, and `database_older`. */
export function isThere(server: PostgresServer, migrations: readonly Migration[]): Promise<boolean> {
  return withSession(server, async (session) => {
    const applied = await lookAt(session, server);
    if (applied === undefined) return false;
    if (due(server, applied, migrations).length > 0)
      throw new MirrorError('database_older', `${nameOf(server)} was written by an older version of vendor-mirror.`);
    return true;
  });
}

/** Whether the schema is not there, or holds nothing. @throws MirrorError `postgres_tables` where it is of another program. */
export async function isEmptySchema(session: PostgresSession, server: PostgresServer): Promise<boolean> {
  return (await lookAt(session, server)) === undefined;
}

async function withSession<T>(server: PostgresServer, work: (session: PostgresSession) => Promise<T>): Promise<T> {
  const session = await PostgresSession.open(server, new AbortController().signal);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** The migrations that the schema has taken; undefined where it is not there, or empty. */
async function lookAt(session: PostgresSession, server: PostgresServer): Promise<readonly Applied[] | undefined> {
  const [database] = await session.run<{ encoding: string; version: number }>(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::int / 10000 AS version`,
  );
  if (database?.encoding !== 'UTF8')
    throw unusable(
      server,
      `the encoding of the database is ${database?.encoding ?? 'unknown'}, and must be UTF8.`,
      asUtf8,
    );
  if (database.version < oldestServer)
    throw unusable(
      server,
      `the server is PostgreSQL ${database.version}; ${oldestServer} or newer is needed.`,
      `Upgrade it to PostgreSQL ${oldestServer} or newer.`,
    );
  const tables = await session.run<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname`,
    [server.schema],
  );
  if (tables.length === 0) return undefined;
  if (tables.every(({ name }) => name !== 'migrations'))
    throw unusable(server, `it is of another program (it holds ${tables[0]?.name ?? ''}).`);
  return session.run<Applied>(
    `SELECT number::int AS number, name, checksum, applied_by FROM "${server.schema}".migrations ORDER BY number`,
  );
}

/** Those that the schema has not taken yet. */
function due(
  server: PostgresServer,
  applied: readonly Applied[] | undefined,
  migrations: readonly Migration[],
): readonly Migration[] {
  for (const { number, name, checksum, applied_by } of applied ?? []) {
    const known = migrations.find((migration) => migration.number === number);
    if (!known) {
      const by = applied_by === null ? '' : ` It was written by vendor-mirror ${applied_by}.`;
      throw new MirrorError(
        'database_newer',
        `${nameOf(server)} holds migration ${name}, which this version does not know.${by}`,
      );
    }
    if (known.name !== name || known.checksum !== checksum)
      throw new MirrorError(
        'migration_failed',
        `${nameOf(server)}: migration ${name} is not the one that was applied.`,
      );
  }
  return migrations.filter(({ number }) => applied?.every((done) => done.number !== number) ?? true);
}

function nameOf({ to: { name }, schema }: PostgresServer): string {
  return `${name}, schema ${schema}`;
}

function unusable(server: PostgresServer, why: string, remedy?: string): MirrorError {
  return new MirrorError('postgres_tables', `${nameOf(server)}: ${why}`, { remedy });
}
