/**
 * The tables of a sink: made or brought to this version by the one who first needs them, and compared before anything is written: a table
 * that somebody dropped or changed is named, and so is a schema that a newer version made, or another program.
 */
import { join } from 'node:path';
import { MirrorError } from '../../domain/errors.ts';
import { readMigrations, type Migration } from '../sqlite/migrate.ts';
import type { VendorKey } from '../sql/schema.ts';
import { asUtf8, textFor, type PostgresServer, type PostgresSession } from '../postgres/session.ts';

type ColumnType = 'text' | 'bigint' | 'smallint' | 'boolean' | 'numeric' | 'timestamp(3) with time zone';

export interface SinkTable {
  readonly name: string;
  /** How many columns from the first are the key, after the mirror's id. */
  readonly keys: number;
  readonly columns: Readonly<Record<string, ColumnType>>;
}

const moment = 'timestamp(3) with time zone';

const vendors: SinkTable = {
  name: 'vendors',
  keys: 2,
  columns: {
    ...{ account_id: 'text', vendorid: 'bigint', vendor_name: 'text', account_number: 'text' },
    ...{ primary_contact_first_name: 'text', primary_contact_last_name: 'text', primary_contact_email: 'text' },
    ...{ primary_contact: 'text', phone: 'text', street: 'text', street2: 'text', city: 'text', province: 'text' },
    ...{ postal_code: 'text', country: 'text', website: 'text', currency_code: 'text', language: 'text', note: 'text' },
    ...{ created_at: 'text', updated_at: 'text', is_1099: 'boolean', vis_state: 'smallint', vis_state_source: 'text' },
    ...{ presence: 'text', first_seen_at: moment, changed_at: moment, source: 'text', unknown_fields: 'text' },
    ...{ unreadable_fields: 'text', raw: 'text' },
  },
};

const balances: SinkTable = {
  name: 'vendor_balances',
  keys: 4,
  columns: {
    ...{ account_id: 'text', vendorid: 'bigint', kind: 'text', code: 'text', amount: 'numeric', amount_text: 'text' },
  },
};

const taxDefaults: SinkTable = {
  name: 'vendor_tax_defaults',
  keys: 3,
  columns: {
    ...{ account_id: 'text', vendorid: 'bigint', taxid: 'bigint', system_taxid: 'bigint', enabled: 'boolean' },
    ...{ name: 'text', amount: 'numeric', amount_text: 'text', tax_authorityid: 'text' },
    ...{ created_at: 'text', updated_at: 'text' },
  },
};

const changes: SinkTable = {
  name: 'changes',
  keys: 1,
  columns: {
    ...{ seq: 'bigint', account_id: 'text', vendorid: 'bigint', at: moment, kind: 'text', changed_fields: 'text' },
    ...{ changed_values: 'text', vis_state: 'smallint', presence: 'text', source: 'text' },
  },
};

const freshness: SinkTable = {
  name: 'freshness',
  keys: 1,
  columns: {
    ...{ account_id: 'text', last_complete_sweep: moment, oldest_unsettled_delivery: moment, open_suspects: 'bigint' },
    ...{ parked_vendors: 'bigint', callback_verified: 'boolean', safe_as_of: moment, listed_as_of: moment },
    ...{ details_as_of: moment, not_served_since: moment, paused_since: moment, undecided: 'bigint' },
  },
};

export const sinkTables = { vendors, balances, taxDefaults, changes, freshness };

const mirrors: SinkTable = {
  name: 'mirrors',
  keys: 0,
  columns: {
    ...{ kept_by: 'text', writer: 'text', kept_until: moment, written_at: moment, cursor: 'text' },
    ...{ definition: 'text', snapshot: 'text', removed_through: 'bigint' },
  },
};

/** Holds the number of the last migration. */
const versionTable = 'sink_version';

/** What a row of the mirror holds; a truth value is 1 or 0 there. */
export type SinkRow = Readonly<Record<string, unknown>>;

/** Writes rows, those that are there already only where they differ. */
export async function putRows(
  session: PostgresSession,
  table: SinkTable,
  mirrorId: string,
  rows: readonly SinkRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const values = Object.entries(table.columns).map(([name, type]) => rows.map((row) => valueOf(row[name], type)));
  await session.run(putStatement(table), [mirrorId, ...values]);
}

function putStatement({ name, keys, columns }: SinkTable): string {
  const all = Object.entries(columns);
  const key = ['mirror_id', ...all.slice(0, keys).map(([column]) => column)].join(', ');
  const rest = all.slice(keys).map(([column]) => column);
  const listed = (of: string): string => rest.map((column) => `${of}.${column}`).join(', ');
  return `
    INSERT INTO ${name} AS stored (mirror_id, ${all.map(([column]) => column).join(', ')})
    SELECT $1::text, * FROM unnest(${all.map(([, type], index) => `$${index + 2}::${type}[]`).join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${rest.map((column) => `${column} = excluded.${column}`).join(', ')}
    WHERE (${listed('stored')}) IS DISTINCT FROM (${listed('excluded')})`;
}

/** Rows in the order of their keys: after one and up to another, or to the end; but for those of some vendors. */
export interface Stretch {
  readonly after: readonly unknown[];
  readonly until: readonly unknown[] | undefined;
  readonly except?: readonly VendorKey[];
}

export interface Differing extends VendorKey {
  /** Of a change. */
  readonly seq: number | null;
  /** `missing` and `altered` there, or `added`. */
  readonly kind: 'missing' | 'altered' | 'added';
}

/** The rows of a stretch that are not these. @param ignored columns that are not compared */
export async function differingRows(
  session: PostgresSession,
  table: SinkTable,
  mirrorId: string,
  rows: readonly SinkRow[],
  { after, until, except = [] }: Stretch,
  ignored: readonly string[] = [],
): Promise<Differing[]> {
  const { name, keys } = table;
  const all = Object.entries(table.columns);
  const values = all.map(([column, type]) => rows.map((row) => valueOf(row[column], type)));
  const bounds = all.slice(0, after.length);
  const place = all.length + 2;
  const placesFrom = (first: number): string =>
    bounds.map(([, type], index) => `$${first + index}::${type}`).join(', ');
  const bounded = `(${bounds.map(([column]) => column).join(', ')})`;
  const compared = all.slice(keys).filter(([column]) => !ignored.includes(column));
  const listed = (of: string): string => compared.map(([column]) => `${of}.${column}`).join(', ');
  const seq = 'seq' in table.columns ? 'coalesce(stored.seq, wanted.seq)::float8' : 'NULL';
  return session.run<Differing>(
    `SELECT coalesce(stored.account_id, wanted.account_id) AS account_id,
       coalesce(stored.vendorid, wanted.vendorid)::float8 AS vendorid, ${seq} AS seq,
       CASE WHEN stored.mirror_id IS NULL THEN 'missing' WHEN wanted.is_wanted IS NULL THEN 'added' ELSE 'altered' END AS kind
     FROM (
       SELECT * FROM ${name} WHERE mirror_id = $1 AND ${bounded} > (${placesFrom(place + 2)})
         ${until === undefined ? '' : `AND ${bounded} <= (${placesFrom(place + 2 + after.length)})`}
         AND (account_id, vendorid) NOT IN (SELECT * FROM unnest($${place}::text[], $${place + 1}::bigint[]))
     ) stored FULL JOIN (
       SELECT ${all.map(([column, type]) => (type === 'text' ? `${column} COLLATE "C" AS ${column}` : column)).join(', ')}, true AS is_wanted
       FROM unnest(${all.map(([, type], index) => `$${index + 2}::${type}[]`).join(', ')}) AS row (${all.map(([column]) => column).join(', ')})
     ) wanted ON ${all
       .slice(0, keys)
       .map(([column]) => `stored.${column} = wanted.${column}`)
       .join(' AND ')}
     WHERE stored.mirror_id IS NULL OR wanted.is_wanted IS NULL${compared.length === 0 ? '' : ` OR (${listed('stored')}) IS DISTINCT FROM (${listed('wanted')})`}`,
    [
      mirrorId,
      ...values,
      except.map(({ account_id }) => account_id),
      except.map(({ vendorid }) => vendorid),
      ...after,
      ...(until ?? []),
    ],
  );
}

function valueOf(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'boolean') return value !== 0 && value !== false;
  if (typeof value !== 'string') return value;
  if (type === 'numeric') return decimalOf(value);
  return textFor(value);
}

/** The longest number that every version of PostgreSQL holds is far longer. */
function decimalOf(text: string): string | null {
  const trimmed = text.trim();
  return /^[+-]?\d{1,1000}(\.\d{1,1000})?$/.test(trimmed) ? trimmed : null;
}

/**
 * Makes the tables, or brings them to this version.
 * @throws MirrorError `postgres_tables` where a newer version or another program made them, or somebody changed them; as `PostgresSession.run`.
 */
export async function prepareTables(
  session: PostgresSession,
  server: PostgresServer,
  migrations: readonly Migration[],
): Promise<void> {
  const last = migrations.at(-1)?.number ?? 0;
  const found = await lookAt(session, server, last);
  if (found.version < last) await session.atomically(() => migrate(session, server, migrations));
  const problems = differences(found.version < last ? await lookAt(session, server, last) : found);
  if (problems.length > 0) throw changed(server, `${problems.join('; ')}.`);
}

/** As `prepareTables`, without writing anything. @returns whether the tables are there. */
export async function checkTables(
  session: PostgresSession,
  server: PostgresServer,
  migrations: readonly Migration[],
): Promise<boolean> {
  const last = migrations.at(-1)?.number ?? 0;
  const found = await lookAt(session, server, last);
  const problems = found.version === last ? differences(found) : [];
  if (problems.length > 0) throw changed(server, `${problems.join('; ')}.`);
  return found.version > 0;
}

interface Found {
  /** 0 where there is none of our tables. */
  readonly version: number;
  /** The types of columns by table and name. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Tables with a primary key. */
  readonly keyed: ReadonlySet<string>;
}

async function lookAt(session: PostgresSession, server: PostgresServer, last: number): Promise<Found> {
  const { schema } = server;
  const [settings] = await session.run<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  if (settings?.encoding !== 'UTF8')
    throw changed(
      server,
      `the encoding of the database is ${settings?.encoding ?? 'unknown'}, and must be UTF8.`,
      asUtf8,
    );
  const rows = await session.run<{ table: string; column: string; type: string }>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema],
  );
  const keys = await session.run<{ table: string }>(
    `SELECT c.relname AS table FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND k.contype = 'p'`,
    [schema],
  );
  const keyed = new Set(keys.map(({ table }) => table));
  const columns = new Map<string, Map<string, string>>();
  for (const { table, column, type } of rows) {
    const known = columns.get(table) ?? new Map<string, string>();
    columns.set(table, known.set(column, type));
  }
  if (!columns.has(versionTable)) {
    const taken = [mirrors, ...Object.values(sinkTables)].filter(({ name }) => columns.has(name));
    if (taken.length === 0) return { version: 0, columns, keyed };
    const names = taken.map(({ name }) => name).join(', ');
    throw changed(
      server,
      `it holds ${names} and no ${versionTable}: another program made them, or somebody dropped it.`,
    );
  }
  const [row] = await session.run<{ version: number }>(`SELECT version FROM "${schema}".${versionTable}`);
  if (!row) throw changed(server, `${versionTable} is empty.`);
  if (row.version > last)
    throw changed(server, `a newer vendor-mirror made it (version ${row.version}, here ${last}).`);
  return { version: row.version, columns, keyed };
}

/** Runs inside a transaction. */
async function migrate(
  session: PostgresSession,
  { schema }: PostgresServer,
  migrations: readonly Migration[],
): Promise<void> {
  // Others may find the same at the same time.
  await session.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`vendor-mirror ${schema}`]);
  const [there] = await session.run<{ has: boolean; made: boolean }>(
    'SELECT to_regnamespace($1) IS NOT NULL AS has, to_regclass($2) IS NOT NULL AS made',
    [schema, `${schema}.${versionTable}`],
  );
  if (there?.has === false) await session.run(`CREATE SCHEMA "${schema}"`);
  if (there?.made === false)
    await session.run(
      `CREATE TABLE ${versionTable} (version integer NOT NULL); INSERT INTO ${versionTable} VALUES (0)`,
    );
  const [row] = await session.run<{ version: number }>(`SELECT version FROM ${versionTable}`);
  for (const { number, sql } of migrations) {
    if (number <= (row?.version ?? 0)) continue;
    await session.run(sql);
    await session.run(`UPDATE ${versionTable} SET version = $1`, [number]);
  }
}

/** What is not as it was made. More columns do no harm. */
function differences(found: Found): string[] {
  return [mirrors, ...Object.values(sinkTables)].flatMap(({ name, columns }) => {
    const there = found.columns.get(name);
    if (!there) return [`the table ${name} is gone`];
    if (!found.keyed.has(name)) return [`${name} has no primary key`];
    return Object.entries({ mirror_id: 'text', ...columns }).flatMap(([column, type]) => {
      const is = there.get(column);
      if (is === type) return [];
      return [is === undefined ? `${name} has no column ${column}` : `${name}.${column} is ${is} instead of ${type}`];
    });
  });
}

function changed({ to: { name }, schema }: PostgresServer, why: string, remedy?: string): MirrorError {
  return new MirrorError('postgres_tables', `${name}, schema ${schema}: ${why}`, { remedy });
}

/** The migrations of sinks, in the folder with all migrations. */
export function sinkMigrations(folder: string): Migration[] {
  return readMigrations(join(folder, 'postgres-sink'));
}
