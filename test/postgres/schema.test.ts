/** The mirror's schema on PostgreSQL: the tables, columns and views that the migrations make in SQLite, and the same rows in them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { ask, migrations, newPath, placeMirror } from '../support/mirror-file.ts';
import { missingPostgres, postgresServer } from '../support/postgres.ts';

const server = postgresServer();
const schema = 'vendor_mirror';
const script = readFileSync(join(migrations, 'postgres/0001_mirror.sql'), 'utf8');

type Row = Record<string, unknown>;

interface Both {
  /** Rows of the SQLite mirror. */
  readonly here: (sql: string) => Row[];
  /** Rows of the one on PostgreSQL, in a session whose search_path is its schema. */
  readonly there: (sql: string, values?: unknown[]) => Promise<Row[]>;
}

/** Two mirrors that were just made. */
async function both(): Promise<Both> {
  const path = newPath();
  await placeMirror(path);
  const client = new pg.Client(await server.database());
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`CREATE SCHEMA ${schema}`);
  await client.query(`SET search_path = ${schema}`);
  await client.query('BEGIN');
  await client.query(script);
  await client.query('COMMIT');
  return {
    here: (sql) => ask(path, sql),
    there: async (sql, values) => (await client.query<Row>(sql, values)).rows,
  };
}

/** Tables that only SQLite needs: they give columns of views their types. */
const onlyHere = `name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_%\\_types' ESCAPE '\\'`;

describe.skipIf(isMissing(missingPostgres))('the mirror on PostgreSQL', () => {
  it('has the tables and views of the mirror in SQLite, with the same columns in the same order', async () => {
    const { here, there } = await both();
    const columns = await there(
      `SELECT c.relname AS name, CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind, a.attname AS column,
         row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)::integer AS place
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 ORDER BY 1, 4`,
      [schema],
    );
    expect(columns).toEqual(
      here(
        `SELECT s.name, s.type AS kind, c.name AS column, c.cid + 1 AS place FROM sqlite_schema s JOIN pragma_table_info(s.name) c
         WHERE s.type IN ('table', 'view') AND s.${onlyHere.replace(' AND name', ' AND s.name')} ORDER BY 1, 4`,
      ),
    );
  });

  it('has the same keys and indexes, and requires the same columns', async () => {
    const { here, there } = await both();
    const of = `SELECT t.relname AS name, CASE WHEN i.indisprimary THEN 'key' ELSE x.relname END AS index,
        (SELECT string_agg(pg_get_indexdef(i.indexrelid, place, false), ',' ORDER BY place) FROM generate_series(1, i.indnkeyatts) place)
          AS columns, i.indpred IS NOT NULL AS partial
      FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
      WHERE t.relnamespace = $1::regnamespace AND (i.indisprimary OR NOT i.indisunique) ORDER BY 1, 2`;
    const names = (columns: unknown): string => String(columns).replaceAll('"', '');
    const indexes = (await there(of, [schema])).map((row) => ({ ...row, columns: names(row['columns']) }));
    const made = here(
      `SELECT name, 'key' AS "index", group_concat(column) AS columns, 0 AS partial
         FROM (SELECT s.name, c.name AS column FROM sqlite_schema s JOIN pragma_table_info(s.name) c
           WHERE s.type = 'table' AND c.pk > 0 ORDER BY s.name, c.pk) GROUP BY name
       UNION ALL
       SELECT s.tbl_name, s.name, (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(s.name) ORDER BY seqno)),
           s.sql LIKE '% WHERE %'
         FROM sqlite_schema s WHERE s.type = 'index' AND s.sql IS NOT NULL
       ORDER BY 1, 2`,
    );
    expect(indexes).toEqual(made.map((row) => ({ ...row, partial: row['partial'] === 1 })));
    const required = `SELECT table_name AS name, column_name AS column FROM information_schema.columns
      WHERE table_schema = $1 AND is_nullable = 'NO' ORDER BY 1, 2`;
    expect(await there(required, [schema])).toEqual(
      here(
        `SELECT s.name, c.name AS column FROM sqlite_schema s JOIN pragma_table_info(s.name) c
         WHERE s.type = 'table' AND s.name <> 'sqlite_sequence' AND (c."notnull" = 1 OR c.pk > 0) ORDER BY 1, 2`,
      ),
    );
  });

  it('explains the same in its data dictionary, with the types of its own', async () => {
    const { here, there } = await both();
    const explained = 'SELECT name, column_name, kind, meaning, example FROM data_dictionary';
    expect(await there(`${explained} ORDER BY 1, 2`)).toEqual(here(`${explained} WHERE ${onlyHere} ORDER BY 1, 2`));
    const words: Readonly<Record<string, string>> = { 'timestamp with time zone': 'timestamptz' };
    const typed = await there(
      `SELECT c.relname AS name, a.attname AS column_name, format_type(a.atttypid, NULL) AS type
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 ORDER BY 1, 2`,
      [schema],
    );
    expect(
      await there(`SELECT name, column_name, type FROM data_dictionary WHERE column_name <> '' ORDER BY 1, 2`),
    ).toEqual(
      typed.map(({ type, ...column }) => ({
        ...column,
        type: (words[String(type)] ?? String(type)).toUpperCase(),
      })),
    );
  });
});
