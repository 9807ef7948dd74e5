/** The rows of a mirror in a file, put into one in PostgreSQL as they are. */
import pg from 'pg';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { openPostgresMirror, type Store } from '../../src/store/mirror.ts';
import { postgresAddress } from '../../src/settings/addresses.ts';
import { ask, migrations } from '../support/mirror-file.ts';

/** What each engine has of its own. */
const own = new Set(['migrations', 'data_dictionary', '_processes', '_server']);

/** Opens a mirror in a schema to write, which it makes where there is none. */
export function openCopy(address: string, schema: string): Promise<Store> {
  const to = postgresAddress(address);
  if (typeof to === 'string') throw new Error(to);
  const unused = { password: undefined, passwordFile: undefined, secretsKeyFile: undefined };
  const store = { to, schema, secretsSchema: `${schema}_secrets`, ...unused };
  return openPostgresMirror({ store, migrations, clock: systemClock, random: systemRandom });
}

/** Makes a mirror in a schema, with the rows of a file. */
export async function copyRows(path: string, address: string, schema: string): Promise<void> {
  await (await openCopy(address, schema)).close();
  const client = new pg.Client(address);
  await client.connect();
  try {
    // Triggers have run in the file.
    await client.query(
      `SET search_path TO "${schema}"; SET TimeZone TO 'UTC'; SET session_replication_role TO replica`,
    );
    const tables = await client.query<{ name: string; columns: string[] }>(
      `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' GROUP BY c.relname`,
      [schema],
    );
    for (const { name, columns } of tables.rows) {
      if (own.has(name)) continue;
      await client.query(`DELETE FROM "${name}"`);
      const quoted = columns.map((column) => `"${column}"`).join();
      for (const row of ask(path, `SELECT ${quoted} FROM "${name}"`))
        await client.query(
          `INSERT INTO "${name}" (${quoted}) OVERRIDING SYSTEM VALUE VALUES (${columns.map((_, at) => `$${at + 1}`).join()})`,
          columns.map((column) => row[column]),
        );
    }
  } finally {
    await client.end();
  }
}
