/** A schema of PostgreSQL for one test, asked without waiting as a file is: by `psql`. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresAddress } from '../../src/settings/addresses.ts';
import type { PostgresStore } from '../../src/settings/parse.ts';
import type { PostgresServer } from '../../src/store/postgres/session.ts';
import { temporaryFolder } from './mirror-file.ts';

let schemas = 0;

/** A mirror of its own on that server. */
export function newSchema(address: string): PostgresStore {
  return storeAt(address, `test_${process.pid}_${++schemas}`);
}

/** The mirror in a schema of the database at that address. */
export function storeAt(address: string, schema = 'vendor_mirror'): PostgresStore {
  const to = postgresAddress(address);
  if (typeof to === 'string') throw new Error(`${address} is not ${to}`);
  const unused = { password: undefined, passwordFile: undefined, secretsKeyFile: undefined };
  return { to, schema, secretsSchema: `${schema}_secrets`, ...unused };
}

/** A file with a new key of the secrets. */
export function newKeyFile(): string {
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  return file;
}

/** The settings of a program whose mirror is in the database at that address. */
export function storeSettings(address: string, key = newKeyFile()): string {
  return `database: ${address}\nsecretsKeyFile: ${key}`;
}

export function dropSchema(server: PostgresServer): void {
  psql(server, `DROP SCHEMA IF EXISTS "${server.schema}" CASCADE`);
}

export function runInSchema(server: PostgresServer, sql: string): void {
  psql(server, sql);
}

/** The rows of a SELECT, with values as SQLite gives them. */
export function askSchema<Row>(server: PostgresServer, sql: string, ...values: unknown[]): Row[] {
  let at = 0;
  const text = sql.replace(/\?/g, () => literal(values[at++]));
  const rows = psql(server, `SELECT coalesce(json_agg(q), '[]') FROM (${text}) q`);
  return JSON.parse(rows, (_, value: unknown) => asInFile(value)) as Row[];
}

function psql({ to, schema }: PostgresServer, sql: string): string {
  const { hosts, target, user, database } = to;
  const list = (key: 'host' | 'port'): string => hosts.map((host) => host[key]).join(',');
  const place = ['-h', list('host'), '-p', list('port'), '-U', user, '-d', database];
  const env = {
    ...process.env,
    PGTARGETSESSIONATTRS: target,
    PGOPTIONS: `-c TimeZone=UTC -c search_path=${schema} -c client_min_messages=warning`,
  };
  return execFileSync('psql', ['-XAtqv', 'ON_ERROR_STOP=1', ...place, '-c', sql], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function asInFile(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  const moment = typeof value === 'string' ? /^(\d{4}-\d\d-\d\d)T([\d:]{8})(\.\d+)?\+00:00$/.exec(value) : null;
  return moment ? `${moment[1]} ${moment[2]}.${(moment[3] ?? '.').slice(1).padEnd(3, '0')}` : value;
}
