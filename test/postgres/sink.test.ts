/** Rows in a real PostgreSQL: equal to the mirror whatever happens, each change once. */
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { readMigrations } from '../../src/store/sqlite/migrate.ts';
import { Forgetter } from '../../src/store/forget.ts';
import { lookAtSink, mirrorToCompare, Sink } from '../../src/store/sink/sink.ts';
import { sinkMigrations } from '../../src/store/sink/tables.ts';
import type { Query } from '../../src/store/sql/statement.ts';
import { postgresAddress } from '../../src/settings/addresses.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { MirrorError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { failureOf } from '../support/failure.ts';
import { ask, migrations, packageRoot, readMirror } from '../support/mirror-file.ts';
import { account } from '../support/names.ts';
import { isMissing } from '../support/needed.ts';
import { askedForPassword, missingPostgres, isOwnServer } from '../support/postgres-server.ts';
import { askPostgres, postgresProxy, postgresServer } from '../support/postgres.ts';
import { constantRandom } from '../support/random.ts';
import { testbed, type Testbed } from '../support/testbed.ts';
import { row } from '../support/testbed/store.ts';
import { mirrorIdOf, rowsHere, rowsThere } from './rows.ts';

const schema = 'vendors';
const server = postgresServer();
let writers = 0;

interface SinkOver {
  readonly keptBy?: string;
  readonly schema?: string;
  readonly password?: string;
  readonly definition?: string;
  readonly files?: ReturnType<typeof readMigrations>;
}

interface Mirror {
  readonly mirror: Pick<Testbed<'store'>['mirror'], 'query'>;
  readonly query: (sql: string) => Record<string, unknown>[];
}

/** A sink as a newly started process has it. @returns what brings it up to date. */
function sinkOf(at: Mirror, address: string, over: SinkOver = {}) {
  const to = postgresAddress(address);
  if (typeof to === 'string') throw new Error(to);
  const password = over.password === undefined ? {} : { password: new Secret(over.password) };
  const sink = new Sink({
    server: { to, schema: over.schema ?? schema, ...password },
    query: at.mirror.query,
    clock: { yield: () => Promise.resolve() },
    mirrorId: mirrorIdOf(at),
    keptBy: over.keptBy ?? 'here:vendors.db',
    writer: `writer ${++writers}`,
    migrations: over.files ?? sinkMigrations(migrations),
  });
  const { signal } = new AbortController();
  return {
    sink,
    update: (until: AbortSignal = signal) =>
      sink.update({ definition: over.definition ?? 'one', keptFor: 600_000, compares: true, signal: until }),
    release: () => sink.release(signal),
  };
}

async function isEqual(at: Mirror, address: string, where = schema): Promise<void> {
  expect(await rowsThere(address, where, mirrorIdOf(at))).toEqual(rowsHere(at));
}

/** A mirror with vendors of two accounts. */
async function filled(vendors = 5): Promise<Testbed<'store'>> {
  const at = await testbed({ level: 'store' });
  const rows = Array.from({ length: vendors }, (_, index) => row(index + 1, `vendor ${index + 1}`));
  await at.page(await at.ask(), ...rows);
  const other = await at.open('two');
  await other.page(await at.ask(), row(3, 'of the other account'));
  return at;
}

/** Lets so much time pass that a newer reading is believed. */
async function edit(at: Testbed<'store'>, vendorid: number, name: string): Promise<void> {
  at.clocks.running += 60_000;
  at.clocks.wall += 60_000;
  await at.page(await at.ask(), row(vendorid, name, `2026-11-20 12:${String(10 + (at.clocks.running % 49))}:00`));
}

describe.skipIf(isMissing(missingPostgres))('rows in PostgreSQL', () => {
  it('are those of the mirror, first by a snapshot, then by the change feed', async () => {
    const at = await filled(1_203);
    const address = await server.database();
    const { update } = sinkOf(at, address);
    await update();
    await isEqual(at, address);
    await edit(at, 2, 'renamed');
    await at.page(await at.ask(), row(5_000, 'new'));
    const { cursor } = await update();
    await isEqual(at, address);
    expect(await askPostgres(address, 'SELECT cursor, written_at IS NULL AS never FROM vendors.mirrors')).toEqual([
      { cursor, never: false },
    ]);
    const changes = 'SELECT kind, changed_values FROM vendors.changes WHERE vendorid = 2 ORDER BY seq';
    expect(await askPostgres(address, changes)).toEqual([
      { kind: 'created', changed_values: '{}' },
      { kind: 'updated', changed_values: '{"vendor_name":{"old":"vendor 2","new":"renamed"}}' },
    ]);
  });

  it('hold money as numbers, times as times and truth values as such, of records as the service sends them', async () => {
    const at = await testbed({ level: 'account', vendors: 60, world: ['noteInList=yes'] });
    await at.pull();
    const address = await server.database();
    const whole = { mirror: at.installation.mirror, query: (sql: string) => at.query(sql) };
    await sinkOf(whole, address).update();
    await isEqual(whole, address);
    const sums = `SELECT sum(amount)::text AS sum, bool_or(amount IS NULL) AS lacks FROM vendors.vendor_balances WHERE kind = 'outstanding'`;
    const [sum] = await askPostgres<{ sum: string }>(address, sums);
    const [here] = at.query<{ sum: number }>(
      `SELECT sum(amount) AS sum FROM vendor_balances WHERE kind = 'outstanding' AND amount NOT GLOB '*[^-0-9.]*'`,
    );
    expect(Number(sum?.sum)).toBeCloseTo(here!.sum, 2);
    const types = `SELECT pg_typeof(changed_at)::text AS time, pg_typeof(is_1099)::text AS flag FROM vendors.vendors LIMIT 1`;
    expect(await askPostgres(address, types)).toEqual([{ time: 'timestamp with time zone', flag: 'boolean' }]);
  });

  it('take names with the character NUL and half of a pair, and keep the record as it was sent', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), { ...row(1, 'a\0b'), raw: '{"vendorid":1,"vendor_name":"a\\u0000b"}' });
    const address = await server.database();
    await sinkOf(at, address).update();
    expect(await askPostgres(address, 'SELECT vendor_name, raw FROM vendors.vendors')).toEqual([
      { vendor_name: 'a\u{FFFD}b', raw: '{"vendorid":1,"vendor_name":"a\\u0000b"}' },
    ]);
  });

  it('of two mirrors fill one schema, and one of them is removed with all that is its own', async () => {
    const [one, two] = [await filled(), await filled(3)];
    two.damage(`UPDATE mirror_identity SET mirror_id = 'another'`);
    const address = await server.database();
    await Promise.all([sinkOf(one, address).update(), sinkOf(two, address).update()]);
    await isEqual(one, address);
    await isEqual(two, address);
    await askPostgres(address, `DELETE FROM vendors.mirrors WHERE mirror_id = 'another'`);
    await isEqual(one, address);
    expect(await askPostgres(address, `SELECT DISTINCT mirror_id FROM vendors.changes`)).toHaveLength(1);
  });

  it('say that an account is fresh only where its vendors are there, whatever comes between two reads of the mirror', async () => {
    for (let read = 1; read <= 12; read += 1) {
      const at = await filled();
      let reads = 0;
      const query: typeof at.mirror.query = async (body) => {
        reads += 1;
        if (reads === read) {
          await (await at.open('three')).page(await at.ask(), row(9, 'of the third account'));
          at.damage(`INSERT INTO _accounts (account_id, added_at) VALUES ('three', '2026-11-20 12:00:00.000')`);
        }
        return at.mirror.query(body);
      };
      const address = await server.database();
      await sinkOf({ mirror: { query }, query: (text) => at.query(text) }, address).update();
      const fresh = await askPostgres(
        address,
        `SELECT account_id FROM vendors.freshness WHERE account_id NOT IN (SELECT account_id FROM vendors.vendors)`,
      );
      expect([read, fresh]).toEqual([read, []]);
    }
  });

  it('are written by one installation: a copy of the mirror is refused and named, until the first lets go', async () => {
    const at = await filled();
    const address = await server.database();
    const first = sinkOf(at, address);
    await first.update();
    const second = sinkOf(at, address, { keptBy: 'elsewhere:copy.db' });
    await expect(second.update()).rejects.toMatchObject({
      code: 'postgres_taken',
      message: expect.stringMatching(/kept by here:vendors\.db until \d{4}-/) as string,
    });
    await first.release();
    await second.update();
    await expect(first.update()).rejects.toMatchObject({ code: 'postgres_taken' });
    await isEqual(at, address);
  });

  it('are taken over by the next process of the same installation, and the one before writes nothing more', async () => {
    const at = await filled();
    const address = await server.database();
    const [killed, next] = [sinkOf(at, address), sinkOf(at, address)];
    await killed.update();
    await next.update();
    await expect(killed.update()).rejects.toMatchObject({ code: 'postgres_taken' });
  });

  it.each(['before', 'after'] as const)(
    'are equal afterwards, with each change once, when the connection is cut %s each statement',
    async (when) => {
      const at = await filled(700);
      const address = await server.database();
      const proxy = await postgresProxy(address);
      const failures: unknown[] = [];
      for (let round = 0; round < 100; round += 1) {
        await edit(at, 1 + (round % 600), `edit ${round}`);
        if (round % 5 === 0) await at.page(await at.ask(), row(10_000 + round, 'new'));
        // First in the snapshot, then with another one half way, then in pages of the feed.
        const definition = round < 30 ? 'one' : 'two';
        proxy.cut(round % 33, when);
        const failure = await sinkOf(at, proxy.address, { definition })
          .update()
          .then(
            () => undefined,
            (error: unknown) => error,
          );
        if (failure !== undefined) failures.push(failure);
      }
      expect(failures.length).toBeGreaterThan(50);
      expect(failures.filter((failure) => (failure as MirrorError).code !== 'postgres_failed')).toEqual([]);
      proxy.cut(Infinity, when);
      await sinkOf(at, proxy.address, { definition: 'two' }).update();
      await isEqual(at, address);
    },
  );

  it('are written anew where the history is another one, and what is no longer there is deleted', async () => {
    const at = await filled();
    const address = await server.database();
    await sinkOf(at, address).update();
    await edit(at, 1, 'lost');
    await at.page(await at.ask(), row(99, 'lost with the history'));
    await sinkOf(at, address).update();
    // As if a copy from before had been restored, which then went on by itself.
    at.damage(`DELETE FROM vendors WHERE vendorid = 99; DELETE FROM _vendor_versions WHERE vendorid = 99;
      UPDATE _feed_removed SET seq = 0; UPDATE _feed_epochs SET epoch = printf('%016x', position + 4096)`);
    await at.reopen();
    await edit(at, 1, 'found');
    await sinkOf(at, address).update();
    await isEqual(at, address);
    expect(await askPostgres(address, 'SELECT * FROM vendors.vendors WHERE vendorid = 99')).toEqual([]);
  });

  it('are given up for this time where a server takes connections and answers nothing, or a lock is held there', async () => {
    const at = await filled();
    const address = await server.database();
    await sinkOf(at, address).update();
    const proxy = await postgresProxy(address);
    proxy.mode = 'hanging';
    const other = new pg.Client(address);
    await other.connect();
    await other.query('BEGIN; LOCK vendors.mirrors');
    const [hanging, locked] = await Promise.all(
      [proxy.address, address].map((to) => failureOf(sinkOf(at, to).update())),
    );
    expect(hanging).toMatchObject({ code: 'postgres_failed', message: expect.stringContaining('in time') as string });
    expect(locked).toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('lock timeout') as string,
    });
    await other.end();
    await sinkOf(at, address).update();
  });

  it('lose what is pruned', async () => {
    const at = await filled();
    const address = await server.database();
    const { update } = sinkOf(at, address);
    await edit(at, 1, 'second');
    await edit(at, 1, 'third');
    await update();
    const keeping = { deliveriesSince: undefined, runsSince: undefined, versionsSince: at.clocks.wall + 1 };
    const pruning = at.mirror.prune(keeping);
    while ((await pruning.next()).done !== true);
    expect((await update()).repaired).toBeUndefined();
    await isEqual(at, address);
    const left = await askPostgres(
      address,
      `SELECT changed_values FROM vendors.changes WHERE account_id = 'one' AND vendorid = 1`,
    );
    expect(left).toHaveLength(1);
  });

  it.each([
    ['altered', `UPDATE vendors.vendors SET vendor_name = 'mine' WHERE vendorid = 700`, { vendors: 1 }],
    ['altered in no field', `UPDATE vendors.vendors SET raw = '{}' WHERE vendorid = 700`, { vendors: 1 }],
    ['deleted', `DELETE FROM vendors.vendors WHERE vendorid = 700`, { vendors: 1, vendor_balances: 1 }],
    [
      'added',
      `INSERT INTO vendors.vendors SELECT mirror_id, account_id, 9999 AS vendorid, v.vendor_name, v.account_number, primary_contact_first_name,
         primary_contact_last_name, primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website,
         currency_code, language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source,
         unknown_fields, unreadable_fields, raw FROM vendors.vendors v WHERE vendorid = 700`,
      { vendors: 1 },
    ],
    [
      'given another balance',
      `UPDATE vendors.vendor_balances SET amount = 5 WHERE vendorid = 700`,
      { vendor_balances: 1 },
    ],
    ['robbed of its changes', `DELETE FROM vendors.changes WHERE vendorid = 700`, { changes: 1 }],
    ['told of otherwise', `UPDATE vendors.changes SET changed_values = '[]' WHERE vendorid = 700`, { changes: 1 }],
    ['truncated', `TRUNCATE vendors.vendors CASCADE`, { vendors: 1_203, vendor_balances: 1 }],
  ])('are those of the mirror again after a vendor was %s by others, who are told of', async (_, change, rows) => {
    const at = await filled(1_203);
    at.damage(
      `INSERT INTO vendor_balances (account_id, vendorid, kind, code, amount) VALUES ('one', 700, 'outstanding', 'EUR', '1.50')`,
    );
    const address = await server.database();
    const { update } = sinkOf(at, address);
    expect((await update()).repaired).toBeUndefined();
    await askPostgres(address, change);
    // What comes with the feed is no difference.
    await edit(at, 2, 'renamed');
    const { repaired } = await update();
    expect(repaired).toMatchObject({ rows });
    expect(repaired?.vendors.length).toBeLessThanOrEqual(5);
    await isEqual(at, address);
    expect((await update()).repaired).toBeUndefined();
  });

  it('of another mirror in the same schema are left alone by a comparison', async () => {
    const [at, two] = [await filled(), await filled(2)];
    two.damage(`UPDATE mirror_identity SET mirror_id = 'another'`);
    const address = await server.database();
    for (const mirror of [at, two]) await sinkOf(mirror, address).update();
    await askPostgres(address, `DELETE FROM vendors.vendors WHERE mirror_id = 'another'`);
    expect((await sinkOf(at, address).update()).repaired).toBeUndefined();
    expect((await sinkOf(two, address).update()).repaired).toMatchObject({ rows: { vendors: 3 } });
    for (const mirror of [at, two]) await isEqual(mirror, address);
  });

  it('that a field changes in each answer are written again, and nobody is blamed', async () => {
    const at = await filled();
    const address = await server.database();
    const { update } = sinkOf(at, address);
    await update();
    at.damage(`INSERT INTO _unsteady_fields (account_id, field, vendorid, changes, run_id) VALUES ('one', 'website', 1, 4, 1);
      UPDATE vendors SET website = 'https://example.com/signed', raw = '{}' WHERE account_id = 'one' AND vendorid = 1`);
    expect((await update()).repaired).toBeUndefined();
    await isEqual(at, address);
  });

  it('are copied whole from a mirror that has pruned', async () => {
    const at = await filled(1_100);
    await edit(at, 1, 'second');
    await edit(at, 1, 'third');
    const keeping = { deliveriesSince: undefined, runsSince: undefined, versionsSince: at.clocks.wall + 1 };
    const pruning = at.mirror.prune(keeping);
    while ((await pruning.next()).done !== true);
    const address = await server.database();
    const { update } = sinkOf(at, address);
    await update();
    await isEqual(at, address);
    expect((await update()).repaired).toBeUndefined();
  });

  it('lose what is forgotten, with the next round', async () => {
    const at = await testbed({ level: 'account', vendors: 60, world: ['noteInList=yes'] });
    const vendorid = at.sandbox.vendors(account).listed()[7]!['vendorid'] as number;
    at.sandbox.vendors(account).edit(vendorid, { phone: '+49 30 5550199' });
    await at.pull();
    const address = await server.database();
    const here = () => ({ mirror: at.installation.mirror, query: (sql: string) => at.query(sql) });
    const generation = async () => {
      const { file_ms } = await at.installation.mirror.publications.register('the sink');
      return sinkOf(here(), address, { definition: String(file_ms) }).update();
    };
    await generation();
    const { database: path, clock } = at;
    const forgetter = await Forgetter.open({ path, migrations, clock, random: constantRandom() });
    await forgetter.vendor(account, vendorid);
    await forgetter.fields(['phone']);
    await forgetter.close();
    await generation();
    await isEqual(here(), address);
    expect(await askPostgres(address, `SELECT * FROM vendors.changes WHERE vendorid = ${vendorid}`)).toEqual([]);
    expect(
      await askPostgres(address, `SELECT * FROM vendors.vendors WHERE phone IS NOT NULL OR raw LIKE '%"phone"%'`),
    ).toEqual([]);
  });
});

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('a connection to PostgreSQL', () => {
  const authority = join(packageRoot, 'test/fixtures/tls/authority.pem');
  const using = async (host: string, query: string, over: SinkOver = {}, user?: string): Promise<unknown> => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'Huber'));
    const address = new URL(await server.database());
    address.hostname = host;
    address.search = query;
    if (user !== undefined) address.username = user;
    return sinkOf(at, String(address), over)
      .update()
      .then(
        () => 'written',
        (error: unknown) => {
          const { code, message, remedy } = error as MirrorError;
          return `${code}: ${message} ${remedy}`;
        },
      );
  };

  it('is encrypted where that is asked for, and checks whom it talks to', async () => {
    const trusted = `sslmode=verify-full&sslrootcert=${authority}`;
    expect(await using('127.0.0.1', trusted)).toBe('written');
    expect(await using('127.0.0.1', 'sslmode=require')).toBe('written');
    expect(await using('127.0.0.1', 'sslmode=verify-full')).toMatch(
      /^postgres_refused: .* its certificate is not trusted .*sslrootcert=.* sslmode=require/,
    );
    expect(await using('127.0.0.2', trusted)).toMatch(/not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
    expect(await using('127.0.0.1', `sslmode=verify-full&sslrootcert=/no/where.pem`)).toMatch(
      /^postgres_refused: .*sslrootcert/,
    );
  });

  it('names a missing or wrong password, and shows none', async () => {
    const password = 'right-and-secret';
    const address = await server.database();
    await askPostgres(address, `CREATE ROLE ${askedForPassword} LOGIN SUPERUSER PASSWORD '${password}'`);
    expect(await using('127.0.0.1', '', { password }, askedForPassword)).toBe('written');
    expect(await using('127.0.0.1', '', {}, askedForPassword)).toMatch(/^postgres_refused: .* asks for a password/);
    const wrong = await using('127.0.0.1', '', { password: 'wrong-and-secret' }, askedForPassword);
    expect(wrong).toMatch(/^postgres_refused: .*password authentication failed.*28P01/);
    expect(wrong).not.toContain('secret');
  });
});

describe.skipIf(isMissing(missingPostgres))('tables in PostgreSQL', () => {
  it.each([
    ['DROP TABLE vendors.changes', /the table changes is gone/],
    ['ALTER TABLE vendors.vendors DROP COLUMN phone', /vendors has no column phone/],
    [
      'ALTER TABLE vendors.vendors ALTER COLUMN note TYPE varchar(10)',
      /vendors\.note is character varying\(10\) instead of text/,
    ],
    ['ALTER TABLE vendors.changes DROP CONSTRAINT changes_pkey', /changes has no primary key/],
    ['ALTER TABLE vendors.vendors ADD CONSTRAINT few CHECK (vendorid < 3)', /a value was refused \(vendors, few\)/],
    ['UPDATE vendors.sink_version SET version = 99', /a newer vendor-mirror made it \(version 99, here 1\)/],
    ['DROP TABLE vendors.sink_version', /it holds mirrors, vendors,.* and no sink_version/],
  ])('that somebody changed (%s) are named, and nothing is written', async (change, named) => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'Huber'));
    const address = await server.database();
    await sinkOf(at, address).update();
    await askPostgres(address, change);
    await at.page(await at.ask(), row(7, 'Meier'));
    const error = await failureOf(sinkOf(at, address, { definition: 'two' }).update());
    expect(error).toMatchObject({ code: 'postgres_tables', message: expect.stringMatching(named) as string });
    expect(String(error)).not.toContain('Meier');
  });

  it('of an older version are migrated, while another mirror does the same, and filled by a new snapshot', async () => {
    const at = await filled();
    const address = await server.database();
    await sinkOf(at, address).update();
    const [first] = sinkMigrations(migrations);
    const files = [first!, { ...first!, number: 2, sql: 'ALTER TABLE vendors ADD COLUMN of_version_2 text' }];
    const two = await filled(2);
    two.damage(`UPDATE mirror_identity SET mirror_id = 'another'`);
    await Promise.all([at, two].map((mirror) => sinkOf(mirror, address, { files, definition: 'two' }).update()));
    expect(await askPostgres(address, 'SELECT version FROM vendors.sink_version')).toEqual([{ version: 2 }]);
    await isEqual(at, address);
    expect(await failureOf(sinkOf(at, address).update())).toMatchObject({ code: 'postgres_tables' });
  });

  it('are looked at by doctor, which writes nothing', async () => {
    const at = await testbed({ level: 'store' });
    const address = await server.database();
    const to = postgresAddress(address);
    if (typeof to === 'string') throw new Error(to);
    const files = sinkMigrations(migrations);
    const mirror = await mirrorToCompare(at.mirror.query, 'the sink', files);
    const look = () => lookAtSink({ to, schema }, files, systemClock, mirror, new AbortController().signal);
    expect(await look()).toEqual({ isMade: false, isCompared: false, found: undefined });
    await at.page(await at.ask(), row(1, 'Huber'), row(2, 'Meier'));
    await sinkOf(at, address, { definition: 'of before' }).update();
    expect(await look()).toEqual({ isMade: true, isCompared: false, found: undefined });
    await sinkOf(at, address, mirror).update();
    expect(await look()).toEqual({ isMade: true, isCompared: true, found: undefined });
    // What is not there yet is nobody's doing.
    await edit(at, 1, 'edited');
    await at.page(await at.ask(), row(3, 'new'));
    expect(await look()).toEqual({ isMade: true, isCompared: true, found: undefined });
    await askPostgres(address, `UPDATE vendors.vendors SET vendor_name = 'altered'`);
    const before = await rowsThere(address, schema, mirrorIdOf(at));
    expect(await look()).toEqual({
      ...{ isMade: true, isCompared: true },
      found: { rows: { vendors: 1 }, vendors: [{ account_id: 'one', vendorid: 2 }] },
    });
    expect(await rowsThere(address, schema, mirrorIdOf(at))).toEqual(before);
    await askPostgres(address, 'DROP TABLE vendors.freshness');
    expect(await failureOf(look())).toMatchObject({
      message: expect.stringContaining('freshness is gone') as string,
    });
  });

  it('that others altered are named by doctor, with what to do', async () => {
    const to = await server.database();
    const line = await testbed({
      level: 'command',
      settings: `sandbox: { vendors: 3, seed: 1, churn: 0 }\npublish: [{ to: "${to}", schema: vendors }]`,
    });
    await line.run('sync');
    const said = async (): Promise<unknown> => {
      const { stdout } = await line.run('doctor', '--json');
      const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string; message: string }[] };
      return checks.find(({ check }) => check === 'rows in PostgreSQL');
    };
    const database = readMirror(line.database, line.clock);
    const query: Query = (report) => database.read(() => report(database.connection));
    const mirror = await mirrorToCompare(query, `${to}#vendors`, sinkMigrations(migrations));
    const { update } = sinkOf({ mirror: { query }, query: (text) => ask(line.database, text) }, to, mirror);
    await update();
    expect(await said()).toMatchObject({
      result: 'ok',
      message: expect.stringContaining('those of the mirror') as string,
    });
    await askPostgres(to, 'DELETE FROM vendors.vendors');
    expect(await said()).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(
        /#vendors differs from the mirror in 6 rows of vendors, .* \(vendors \S+ \d+, .*\): others altered, deleted or added them\.$/,
      ) as string,
      remedy: expect.stringContaining('writes them again') as string,
    });
  });

  it('are not made in a database of another encoding', async () => {
    const at = await filled();
    const address = await server.database('SQL_ASCII');
    expect(await failureOf(sinkOf(at, address).update())).toMatchObject({
      code: 'postgres_tables',
      message: expect.stringContaining('must be UTF8') as string,
    });
  });

  it('of a server whose disk is full are left as they are, and what is missing comes once there is room', async () => {
    const at = await filled();
    const address = await server.database();
    await sinkOf(at, address).update();
    await askPostgres(
      address,
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON vendors.changes EXECUTE FUNCTION full_disk()`,
    );
    const before = await rowsThere(address, schema, mirrorIdOf(at));
    await edit(at, 1, 'no room');
    expect(await failureOf(sinkOf(at, address).update())).toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('could not extend file (SQLSTATE 53100)') as string,
    });
    expect(await rowsThere(address, schema, mirrorIdOf(at))).toEqual(before);
    await askPostgres(address, 'DROP FUNCTION full_disk CASCADE');
    await sinkOf(at, address).update();
    await isEqual(at, address);
  });

  it('may be made by a user with the right to make schemas; one without rights is told so, and nothing is lost', async () => {
    const at = await filled();
    const address = await server.database();
    const role = `weak_${process.pid}`;
    await askPostgres(address, `CREATE ROLE ${role} LOGIN PASSWORD 'a secret of theirs'`);
    const weak = new URL(address);
    weak.username = role;
    const said = await failureOf(sinkOf(at, String(weak)).update());
    expect(said).toMatchObject({
      code: 'postgres_refused',
      message: expect.stringContaining('permission denied') as string,
    });
    await askPostgres(address, `CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
    await sinkOf(at, String(weak)).update();
    await isEqual(at, address);
    await askPostgres(
      address,
      `REVOKE ALL ON ${schema}.vendors FROM ${role}; ALTER TABLE ${schema}.vendors OWNER TO CURRENT_USER`,
    );
    await edit(at, 1, 'not written');
    expect(await failureOf(sinkOf(at, String(weak)).update())).toMatchObject({ code: 'postgres_refused' });
    await askPostgres(address, `GRANT ALL ON ${schema}.vendors TO ${role}`);
    await sinkOf(at, String(weak)).update();
    await isEqual(at, address);
    await askPostgres(address, `DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  });
});
