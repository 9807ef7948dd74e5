/** A schema of PostgreSQL for one test, asked without waiting as a file is. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresAddress } from '../../src/settings/addresses.ts';
import type { PostgresStore } from '../../src/settings/parse.ts';
import type { PostgresServer } from '../../src/store/postgres/session.ts';
import { temporaryFolder } from './mirror-file.ts';
import { askAsFile, askNow } from './postgres-questions.ts';

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

/** Drops a mirror with its secrets. */
export function dropStore(store: PostgresStore): void {
  for (const schema of [store.schema, store.secretsSchema])
    runInSchema(store, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
}

export function runInSchema(server: PostgresServer, sql: string): void {
  askNow(addressOf(server), server.schema, sql);
}

/** The rows of a SELECT, with values as SQLite gives them. */
export function askSchema<Row>(server: PostgresServer, sql: string, ...values: unknown[]): Row[] {
  return askAsFile(addressOf(server), server.schema, sql, values);
}

/** Of the first host that it names. */
function addressOf({ to: { hosts, user, database } }: PostgresServer): string {
  const [first] = hosts;
  return `postgres://${user}@${first?.host}:${first?.port}/${database}`;
}
