/** What a server is like that keeps a mirror and its secrets, as far as their user may see it. Nothing is written. */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { PostgresSession, type PostgresServer } from './session.ts';

export interface ServerFacts {
  /** As people name it: 15.4. */
  readonly version: string;
  readonly major: number;
  readonly encoding: string;
  /** Whether it is a standby, which takes no writes. */
  readonly isStandby: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** As PostgreSQL calls its levels. */
  readonly synchronousCommit: string;
  /** Standbys that a commit waits for, as they are named; empty where there is none. */
  readonly synchronousStandbys: string;
  /** Whether the connection goes through a pooler. */
  readonly isPooled: boolean;
  /** Whether transactions of this user cannot write unless they ask for it. */
  readonly isReadOnly: boolean;
  /** After how many milliseconds the server ends a transaction; 0 for never. */
  readonly transactionTimeout: number;
  /** By how many milliseconds its clock is ahead of ours. */
  readonly clockAheadBy: number;
  /** Transactions of others that have been open for long, and the age of the oldest in milliseconds. */
  readonly longTransactions: { readonly count: number; readonly oldest: number };
  /** How many more connections this user may open. */
  readonly freeConnections: number;
  readonly rights: readonly SchemaRights[];
}

export interface SchemaRights {
  readonly schema: string;
  readonly isThere: boolean;
  /** Use it, and make tables in it; or make it where it is not there. */
  readonly mayMake: boolean;
  /** Tables whose rows it may not all read and write, or which it cannot migrate. */
  readonly refused: readonly string[];
  /** Tables whose rows row-level security may hide from it. */
  readonly hiding: readonly string[];
  /** Tables and views that its dictionary tells of, and that are not there. */
  readonly missing: readonly string[];
}

/** How long a transaction of others may be open before it is reported, in minutes. */
const longMinutes = 10;
/** How long the server is waited for, in milliseconds. */
const lookLimit = 20_000;

/** @throws MirrorError `postgres_failed`, `postgres_refused`. */
export async function lookAtServer(
  server: PostgresServer,
  schemas: readonly string[],
  clock: Pick<Clock, 'now' | 'timer'>,
  interrupted: AbortSignal,
): Promise<ServerFacts> {
  return await withServer(server, clock, interrupted, async (session) => {
    const settings = new Map(
      (
        await session.run<{ name: string; setting: string }>(
          `SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'server_version_num', 'server_encoding', 'fsync',
             'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'default_transaction_read_only',
             'transaction_timeout', 'max_connections', 'superuser_reserved_connections', 'reserved_connections')`,
        )
      ).map(({ name, setting }) => [name, setting]),
    );
    const text = (name: string): string => settings.get(name) ?? '';
    const before = clock.now();
    const [now] = await session.run<{ pid: number; ms: number; is_standby: boolean }>(
      `SELECT pg_backend_pid() AS pid, extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms, pg_is_in_recovery() AS is_standby`,
    );
    const after = clock.now();
    if (!now) throw new Error('The server answered nothing.');
    const [others] = await session.run<{ count: number; oldest: number }>(
      `SELECT count(*)::int AS count, coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 * 1000 AS oldest
       FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND xact_start < clock_timestamp() - interval '${longMinutes} minutes'`,
    );
    const [used] = await session.run<{
      all: number;
      of_role: number;
      of_database: number;
      role_limit: number;
      database_limit: number;
    }>(
      `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' OR backend_type IS NULL)::int AS all,
         (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user)::int AS of_role,
         (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())::int AS of_database,
         (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit,
         (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_limit`,
    );
    const kept = Number(text('superuser_reserved_connections')) + Number(text('reserved_connections') || 0);
    const left = (limit: number | undefined, of: number | undefined): number =>
      limit === undefined || limit < 0 ? Infinity : limit - (of ?? 0);
    return {
      version: text('server_version').replace(/ .*/, ''),
      major: Math.floor(Number(text('server_version_num')) / 10_000),
      encoding: text('server_encoding'),
      isStandby: now.is_standby,
      fsync: text('fsync') === 'on',
      fullPageWrites: text('full_page_writes') === 'on',
      synchronousCommit: text('synchronous_commit'),
      synchronousStandbys: text('synchronous_standby_names'),
      // A pooler names its own sessions to its clients.
      isPooled: session.processId !== null && session.processId !== now.pid,
      isReadOnly: text('default_transaction_read_only') === 'on',
      transactionTimeout: Number(text('transaction_timeout') || 0),
      clockAheadBy: now.ms - (before + after) / 2,
      longTransactions: others ?? { count: 0, oldest: 0 },
      freeConnections: Math.min(
        Number(text('max_connections')) - kept - (used?.all ?? 0),
        left(used?.role_limit, used?.of_role),
        left(used?.database_limit, used?.of_database),
      ),
      rights: await rightsIn(session, schemas),
    };
  });
}

async function rightsIn(session: PostgresSession, schemas: readonly string[]): Promise<SchemaRights[]> {
  const rights: SchemaRights[] = [];
  for (const schema of schemas) {
    const [row] = await session.run<{ is_there: boolean; may_make: boolean }>(
      `SELECT n.oid IS NOT NULL AS is_there,
         CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
           ELSE has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE') END AS may_make
       FROM (SELECT $1::text AS name) wanted LEFT JOIN pg_namespace n ON n.nspname = wanted.name`,
      [schema],
    );
    const refused = await session.run<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind = 'r' AND NOT (pg_has_role(c.relowner, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
         AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
       ORDER BY c.relname`,
      [schema],
    );
    const hiding = await session.run<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relrowsecurity AND row_security_active(c.oid) ORDER BY c.relname`,
      [schema],
    );
    rights.push({
      schema,
      isThere: row?.is_there ?? false,
      mayMake: row?.may_make ?? false,
      refused: refused.map(({ name }) => name),
      hiding: hiding.map(({ name }) => name),
      missing: await missingIn(session, schema),
    });
  }
  return rights;
}

async function missingIn(session: PostgresSession, schema: string): Promise<string[]> {
  const [dictionary] = await session.run<{ is_readable: boolean }>(
    `SELECT coalesce(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), false) AS is_readable
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'data_dictionary'`,
    [schema],
  );
  if (dictionary?.is_readable !== true) return [];
  const missing = await session.run<{ name: string }>(
    `SELECT DISTINCT name FROM "${schema}".data_dictionary
     WHERE name NOT IN (SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)
     ORDER BY name`,
    [schema],
  );
  return missing.map(({ name }) => name);
}

/** Does the work in a session of a server that answers soon. @throws MirrorError `postgres_failed`, `postgres_refused`. */
export async function withServer<T>(
  server: PostgresServer,
  clock: Pick<Clock, 'timer'>,
  interrupted: AbortSignal,
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const tooSlow = new MirrorError('postgres_failed', `${server.to.name} did not answer within ${lookLimit / 1_000} s.`);
  const cancel = clock.timer(lookLimit, () => limit.abort(tooSlow));
  try {
    const session = await PostgresSession.open(server, AbortSignal.any([limit.signal, interrupted]));
    try {
      return await work(session);
    } finally {
      session.close();
    }
  } finally {
    cancel();
  }
}
