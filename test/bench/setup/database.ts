/** Databases of a PostgreSQL that go away when their work is done. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** @param address of a server, as somebody who may make databases */
export async function withDatabase<T>(address: string, work: (database: string) => Promise<T>): Promise<T> {
  const name = `vendor_mirror_bench_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client(address);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
    const database = new URL(address);
    database.pathname = `/${name}`;
    return await work(String(database));
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}
