/** The mirror's schema on PostgreSQL: the tables, columns and views that the migrations make in SQLite, and the same rows in them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { ask, migrations, newPath, otherConnection, placeMirror } from '../support/mirror-file.ts';
import { missingPostgres, postgresServer } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';
import { history, type Write } from './schema-rows.ts';

const server = postgresServer();
const schema = 'vendor_mirror';
const script = readFileSync(join(migrations, 'postgres/0001_mirror.sql'), 'utf8');

type Row = Record<string, unknown>;

/** Whole numbers are such. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

interface Both {
  /** Rows of the SQLite mirror. */
  readonly here: (sql: string) => Row[];
  /** Rows of the one on PostgreSQL, in a session whose search_path is its schema. */
  readonly there: (sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Runs a statement on both. */
  readonly write: (write: Write) => Promise<void>;
}

/** Two mirrors that were just made. */
async function both(): Promise<Both> {
  const path = newPath();
  await placeMirror(path);
  const client = new pg.Client({ connectionString: await server.database(), types });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`CREATE SCHEMA ${schema}`);
  await client.query(`SET search_path = ${schema}`);
  await client.query('BEGIN');
  await client.query(script);
  await client.query('COMMIT');
  const there: Both['there'] = async (sql, values) => (await client.query<Row>(sql, values && [...values])).rows;
  const connection = otherConnection(path);
  return {
    here: (sql) => ask(path, sql),
    there,
    write: async ({ sql, values }) => {
      connection.prepare(sql).run(values);
      let place = 0;
      await there(
        sql.replaceAll('?', () => `$${++place}`),
        values,
      );
    },
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

  it('shows the same rows in every view, and counts the same, in any time zone', async () => {
    const { here: asIs } = await both();
    const views = asIs(`SELECT name FROM sqlite_schema WHERE type = 'view'`).map(({ name }) => String(name));
    const names = [...views, '_webhook_days', '_announced_since', '_feed_removed'];
    const met = new Set<string>();
    const property = fc.asyncProperty(history, async ({ writes }) => {
      const { here, there, write } = await both();
      for (const each of writes) await write(each);
      for (const zone of ['UTC', 'America/New_York']) {
        await there(`SET TIME ZONE '${zone}'`);
        for (const name of names) {
          const text = `SELECT * FROM ${name}`;
          if (here(text).length > 0) met.add(name);
          expect(sorted(await there(text)), `${name} in ${zone}`).toEqual(sorted(here(text)));
        }
      }
    });
    await fc.assert(property, {
      numRuns: asked('HISTORIES', 3),
      endOnFailure: true,
      ...(process.env['SEED'] !== undefined && { seed: asked('SEED', 1) }),
    });
    // Empty ones would prove nothing.
    expect(met.size).toBe(names.length);
  });
});

/** Rows with the same values for the same things, in one order. */
function sorted(rows: readonly Row[]): Row[] {
  const texts = rows.map((row) => JSON.stringify(mapped(row, plain)));
  return texts.sort().map((text) => JSON.parse(text) as Row);
}

function mapped(row: Row, by: (value: unknown, column: string) => unknown): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, by(value, name)]));
}

function plain(value: unknown, column: string): unknown {
  if (value instanceof Date) return value.toISOString().replace('T', ' ').slice(0, -1);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number')
    return Math.abs(value) < 1e9 ? Math.round(value * 1e6) / 1e6 + 0 : Number(value.toPrecision(12));
  if (typeof value !== 'string' || (column !== 'old' && column !== 'new')) return value;
  // SQLite gives the character NUL and half of a pair, in three bytes; and numbers with a fraction or an exponent, or beyond 64 bits, in its own words.
  return value
    .replaceAll(/[\0\ufffd]+/g, '\ufffd')
    .replaceAll(/-?\d+(\.\d+)?(e[+-]?\d+)?/gi, (number) => String(Number(Number(number).toPrecision(12))));
}
