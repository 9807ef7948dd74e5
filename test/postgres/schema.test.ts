/** The mirror's schema on PostgreSQL: the tables, columns and views that the migrations make in SQLite, and the same rows in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { foldedText } from '../../src/store/sql/folding.ts';
import { isMissing } from '../support/needed.ts';
import { ask, migrations, newPath, otherConnection, placeMirror } from '../support/mirror-file.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';
import { sorted } from './same-rows.ts';
import { history, oneChange, balanceToCome, type History, type Write } from './schema-rows.ts';

const server = postgresServer();
const schema = 'vendor_mirror';
const folder = join(migrations, 'postgres');
const script = readdirSync(folder)
  .sort()
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');

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

/** Makes the mirror in its schema, which is there, and leaves the session there. */
async function make(client: pg.Client): Promise<void> {
  await client.query(`BEGIN; SET search_path = ${schema}`);
  await client.query(script);
  await client.query('COMMIT');
}

/** Two mirrors that were just made. */
async function both(): Promise<Both> {
  const path = newPath();
  await placeMirror(path);
  const client = new pg.Client({ connectionString: await server.database(), types });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`SET TIME ZONE 'UTC'; CREATE SCHEMA ${schema}`);
  await make(client);
  // Which processes there are, and which start of the server it is, only a server needs to keep.
  await client.query(
    `DROP TABLE _processes, _server; DELETE FROM data_dictionary WHERE name IN ('_processes', '_server')`,
  );
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

/** Tables that only SQLite needs: they give columns of views their types, and say where a file was moved to. */
const onlyHere = `name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_%\\_types' ESCAPE '\\' AND name <> '_moved'`;

/** Of statements that are written once for both. */
const expressions = [
  ...[`instr('Häuser', 'u')`, `instr('', 'u')`, `max(2, 10)`, `min(2, 10)`, `max(2, NULL)`, `max('B', 'a')`],
  ...[`round(CAST(2 AS DOUBLE PRECISION) / 3, 4)`, `hex('aé')`, `length(hex(randomblob(8)))`],
  ...[
    `(SELECT typeof(name) FROM numbers WHERE n = 1)`,
    `typeof(1)`,
    `typeof(1.5)`,
    `typeof(randomblob(1))`,
    `typeof(CAST(NULL AS TEXT))`,
  ],
  ...[
    `(SELECT total(n > 1) FROM numbers)`,
    `(SELECT total(n) FROM numbers)`,
    `(SELECT total(n) FROM numbers WHERE n > 9)`,
  ],
  ...[`(SELECT sum(n > 1) FROM numbers)`, `(SELECT sum(n > 1) FROM numbers WHERE n > 9)`],
  ...[`(SELECT json_group_array(n) FROM numbers)`, `(SELECT json_group_array(n) FROM numbers WHERE n > 9)`],
  ...[`(SELECT json_group_array(name) FROM numbers)`, String.raw`json_quote('a"\')`, `json_quote(NULL)`],
  `(SELECT json_group_array(f.value) FROM json_each('["b", "a\\u00e9", ""]') f)`,
  `(SELECT json_group_array(f.key || f.type) FROM json_each('{"b": [1, 2], "a": 1, "c": 1.5, "d": null, "e": true}') f)`,
  ...['$', '$[0]', '$[1].a', '$[1]."b c"[1]', '$[1].b', '$[2]', '$[9]', '$.a', '$[3]', '$[4]', '$[1].d'].map(
    (path) =>
      String.raw`CAST(json_extract('["x\"y",{"a":[ 1,"" ],"b c":[true,7],"d":"first","d":"last"},null,1,false]', '${path}') AS TEXT)`,
  ),
  ...['julianday(received_at)', 'substr(received_at, 1, 13)', 'substr(received_at, 1, 10)'],
  ...[`strftime('%Y-%m-%d %H:%M:%f', received_at, '-90061.5 seconds')`],
  ...[`strftime('%Y-%m-%d %H:%M:%f', received_at, (1500 / 1000.0) || ' seconds')`],
  ...[`strftime('%d.%m.%Y %H:%M:%S', received_at)`, `strftime('%s %f', received_at)`],
  ...[
    `substr(datetime(received_at, '-7 days'), 1, 19)`,
    `substr(datetime(received_at, 'start of day', '+90 minutes'), 1, 19)`,
  ],
  ...[`date(received_at, 'start of month', '-1 day')`, `date(received_at, 'start of year', '-1.5 days', '+3 months')`],
  ...[`(SELECT group_concat(n) FROM numbers)`, `(SELECT group_concat(n, '; ') FROM numbers WHERE n > 9)`],
  ...[`(SELECT group_concat(name) FROM numbers)`, `(SELECT group_concat(name, ' ') FROM numbers)`],
];

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
         WHERE s.type IN ('table', 'view') AND s.${onlyHere.replaceAll(' AND name', ' AND s.name')} ORDER BY 1, 4`,
      ),
    );
  });

  it('has the same keys, indexes and triggers, and requires the same columns', async () => {
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
           WHERE s.type = 'table' AND s.name <> '_moved' AND c.pk > 0 ORDER BY s.name, c.pk) GROUP BY name
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
         WHERE s.type = 'table' AND s.name NOT IN ('sqlite_sequence', '_moved') AND (c."notnull" = 1 OR c.pk > 0) ORDER BY 1, 2`,
      ),
    );
    const triggers = `SELECT tgname AS name, tgrelid::regclass::text AS "table" FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`;
    expect(await there(triggers)).toEqual(
      here(`SELECT name, tbl_name AS "table" FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1`),
    );
  });

  it('allows the same words and numbers, and no text for JSON that is none', async () => {
    const { here, there } = await both();
    const allowed = (list: string): string[] => [...list.matchAll(/'(\w+)'|\b\d+/g)].map(([all, word]) => word ?? all);
    const checks = await there(
      `SELECT conrelid::regclass::text || '.' || attname AS "column", pg_get_constraintdef(c.oid) AS text
       FROM pg_constraint c JOIN pg_attribute a ON attrelid = conrelid AND attnum = conkey[1]
       WHERE contype = 'c' AND connamespace = $1::regnamespace`,
      [schema],
    );
    const lists = checks
      .map(({ column, text }) => [column, /ARRAY\[(.*)\]/.exec(String(text))?.[1]] as const)
      .flatMap(([column, list]) => (list === undefined ? [] : [[column, allowed(list)]]));
    const truths = `SELECT table_name || '.' || column_name AS "column" FROM information_schema.columns
      WHERE table_schema = $1 AND data_type = 'boolean'`;
    const isTruth = new Set((await there(truths, [schema])).map(({ column }) => column));
    const listsHere = here(`SELECT name, sql FROM sqlite_schema WHERE type = 'table'`)
      .flatMap(({ name, sql }) =>
        [...String(sql).matchAll(/CHECK \("?(\w+)"? IN \(([^)]*)\)\)/g)].map(([, column, list]) => [
          `${String(name)}.${column}`,
          allowed(list!),
        ]),
      )
      .filter(([column]) => !isTruth.has(column));
    expect(Object.fromEntries(lists)).toEqual(Object.fromEntries(listsHere));
    expect(lists.length).toBeGreaterThan(10);
    const json = checks.flatMap(({ column, text }) => (String(text).includes('::json') ? [column] : []));
    const jsonHere = here(`SELECT name, sql FROM sqlite_schema WHERE type = 'table'`).flatMap(({ name, sql }) =>
      [...String(sql).matchAll(/json_valid\((\w+)\)/g)].map(([, column]) => `${String(name)}.${column}`),
    );
    // In SQLite a version has the record of its vendor, which was checked.
    expect(json.sort()).toEqual([...jsonHere, '_vendor_versions.raw'].sort());
    const refused = there(
      `INSERT INTO _creations (account_id, vendor_name, sent_at, known) VALUES ('one', 'a', now(), '{')`,
    );
    await expect(refused).rejects.toMatchObject({ code: '22P02' });
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
      const areEqual = async (name: string, when: string): Promise<void> => {
        const text = `SELECT * FROM ${name}`;
        if (here(text).length > 0) met.add(name);
        expect(sorted(await there(text)), `${name} ${when}`).toEqual(sorted(here(text)));
      };
      for (const zone of ['UTC', 'America/New_York']) {
        await there(`SET TIME ZONE '${zone}'`);
        for (const name of names) await areEqual(name, `in ${zone}`);
      }
      await there(`SET TIME ZONE 'UTC'`);
      await write(balanceToCome());
      await areEqual('owed_by_day', 'after the clock was set back');
    });
    // The first alone fills every view.
    const [full] = fc.sample(history, { numRuns: 1, seed: 5 }) as [History];
    await fc.assert(property, {
      examples: [[full]],
      numRuns: asked('HISTORIES', 3),
      endOnFailure: true,
      seed: asked('SEED', 1 + Math.floor(Math.random() * 1e9)),
    });
    // Empty ones would prove nothing.
    expect(met.size).toBe(names.length);
  });

  it('computes what SQLite computes, by functions of the same names', async () => {
    const { here, there, write } = await both();
    for (const received of ['2026-11-20 23:59:59.999', '2026-12-31 02:00:00.001'])
      await write({
        sql: `INSERT INTO deliveries (account_id, received_at, name, outcome) VALUES ('one', ?, '', 'pending')`,
        values: [received],
      });
    await there(`SET TIME ZONE 'America/New_York'`);
    for (const expression of expressions) {
      const text = `WITH numbers AS (SELECT 1 AS n, 'a"' AS name UNION ALL SELECT 2, NULL UNION ALL SELECT 3, 'é')
        SELECT ${expression} AS value FROM deliveries`;
      expect(sorted(await there(text)), expression).toEqual(sorted(here(text)));
    }
  });

  it('is made of definitions that a dump writes as PostgreSQL reads them', async () => {
    const { there } = await both();
    // Where a reader has another path, names in them have the schema's.
    await there('SET search_path = public');
    const definitions = await there(
      `SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS text FROM pg_proc p
         WHERE pronamespace = $1::regnamespace AND prokind = 'f'
       UNION ALL
       SELECT oid::regclass::text, format('CREATE OR REPLACE VIEW %s AS %s', oid::regclass, pg_get_viewdef(oid)) FROM pg_class
         WHERE relnamespace = $1::regnamespace AND relkind = 'v'`,
      [schema],
    );
    expect(definitions.length).toBeGreaterThan(50);
    for (const { name, text } of definitions)
      expect(await there(String(text)).catch((error: unknown) => [error, name])).toEqual([]);
  });

  it('folds texts as the program does', async () => {
    const { there } = await both();
    const texts = Array.from({ length: 0x1c00 }, (_, code) => `a${String.fromCodePoint(code + 1)}B`);
    texts.push(
      'ΟΔΟΣ',
      'Straße',
      'STRAẞE',
      'İstanbul',
      'Işık',
      'Łódź',
      'Ærø',
      'ﬁn',
      'Nguyễn Văn',
      'が',
      '한글',
      'ＡＢＣ',
      '',
    );
    const rows = await there('SELECT t AS text, folded(t) AS folded FROM unnest($1::text[]) AS t', [texts]);
    expect(rows).toEqual(texts.map((text) => ({ text, folded: foldedText(text) })));
  });
});

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('the mirror of an owner without special rights', () => {
  it('shows the reporting role what is public, whatever its search_path, and nothing else', async () => {
    const address = await server.database();
    await askPostgres(
      address,
      `CREATE ROLE mirror_owner LOGIN; CREATE ROLE vendor_mirror_reader LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION mirror_owner;
       ALTER DEFAULT PRIVILEGES FOR ROLE mirror_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC`,
    );
    const as = (user: string): string => Object.assign(new URL(address), { username: user }).href;
    const owner = new pg.Client(as('mirror_owner'));
    await owner.connect();
    await make(owner);
    for (const { sql, values } of oneChange) await owner.query(sql, [...values]);
    await owner.end();
    const read = async (name: string): Promise<unknown> =>
      askPostgres(as('vendor_mirror_reader'), `SELECT * FROM ${schema}.${name}`).catch(
        (error: unknown) => (error as pg.DatabaseError).message,
      );
    const names = `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'v')`;
    for (const { name } of await askPostgres<{ name: string }>(address, names))
      expect(await read(name), name).toEqual(
        name.startsWith('_') ? expect.stringMatching(/^permission denied/) : expect.any(Array),
      );
    expect(await read('vendor_changes')).toMatchObject([{ field: 'outstanding_balance', old: null, new: '7.50 EUR' }]);
    await askPostgres(
      address,
      'DROP OWNED BY vendor_mirror_reader, mirror_owner CASCADE; DROP ROLE vendor_mirror_reader, mirror_owner',
    );
  });
});
