/** The schema of the secrets on PostgreSQL: the tables and columns that the migrations make in SQLite. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { sealedColumns } from '../../src/store/secrets/sealed-columns.ts';
import { openSecrets } from '../../src/store/secrets/secrets.ts';
import { isMissing } from '../support/needed.ts';
import { ask, migrations, temporaryFolder } from '../support/mirror-file.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';

const server = postgresServer();
const script = readFileSync(join(migrations, 'postgres-secrets/0001_secrets.sql'), 'utf8');

/** What a type of SQLite's columns is on PostgreSQL. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  TEXT: ['text'],
  INTEGER: ['bigint', 'smallint'],
  BOOLEAN: ['smallint'],
  TIMESTAMP: ['timestamp(3) with time zone'],
};

it.skipIf(isMissing(missingPostgres))(
  'the secrets on PostgreSQL have the tables and columns of the file, and nothing is found by a sealed one',
  async () => {
    const address = await server.database();
    await askPostgres(address, script);
    const path = join(temporaryFolder(), 'secrets.db');
    await (await openSecrets({ path, migrations, clock: systemClock, random: systemRandom })).close();

    const made = await askPostgres<{ name: string; type: string; required: boolean }>(
      address,
      `SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0`,
    );
    const inFile = ask<{ name: string; type: string; required: number }>(
      path,
      `SELECT s.name || '.' || c.name AS name, c.type, c."notnull" = 1 OR c.pk > 0 AS required
       FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table'`,
    );
    const rowNumbers = ['registrations.rowid', 'verifiers.rowid'];
    expect(made.map(({ name }) => name).sort()).toEqual([...inFile.map(({ name }) => name), ...rowNumbers].sort());
    for (const { name, type, required } of inFile) {
      const there = made.find((column) => column.name === name);
      expect(typesOf[type], name).toContain(there?.type);
      expect(there?.required, name).toBe(required === 1);
    }

    const indexed = await askPostgres<{ name: string }>(
      address,
      `SELECT c.relname || '.' || a.attname AS name
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
       WHERE c.relnamespace = 'public'::regnamespace`,
    );
    const sealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
    expect(indexed.map(({ name }) => name).filter((name) => sealed.includes(name))).toEqual([]);
  },
);
