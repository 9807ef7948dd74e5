/** A mirror in a file, copied into a PostgreSQL, where it goes on: the same vendors, callbacks and deliveries, and a feed of its own. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import { copyToPostgres } from '../../src/store/copy/copy-mirror.ts';
import { copyTable, planCopy, type CopiedTable } from '../../src/store/copy/tables.ts';
import { lockProcess } from '../../src/store/files/locks.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { PostgresSession } from '../../src/store/postgres/session.ts';
import { openSecrets } from '../../src/store/secrets/secrets.ts';
import { readMigrations } from '../../src/store/sqlite/migrate.ts';
import { delivery, signed } from '../support/deliveries/signed-delivery.ts';
import { failureOf } from '../support/failure.ts';
import { ask, migrations, newPath, otherConnection, placeMirror, temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { freePort } from '../support/network/free-port.ts';
import { askSchema, newKeyFile, storeAt } from '../support/postgres-schema.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresProxy, postgresServer } from '../support/postgres.ts';
import { taken, until } from '../support/testbed/daemon-process.ts';
import { ended, type ProgramTestbed } from '../support/testbed/program.ts';
import { testbed } from '../support/testbed.ts';
import { asked } from '../support/test-size.ts';
import { sorted } from './same-rows.ts';
import { history } from './schema-rows.ts';

const server = postgresServer();

type Row = Record<string, unknown>;

/** Names of the schemas of a mirror that a server has. */
async function schemasAt(to: string): Promise<unknown[]> {
  const rows = await askPostgres(to, `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'vendor_mirror%' ORDER BY 1`);
  return rows.map(({ nspname }) => nspname);
}

/** The rows of a SELECT there, in a session whose path leads to the schema; numbers and times as PostgreSQL's driver gives them. */
async function rowsThere(to: string, sql: string): Promise<Row[]> {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const client = new pg.Client({ connectionString: to, types });
  await client.connect();
  try {
    await client.query(`SET search_path TO vendor_mirror; SET TimeZone TO 'UTC'`);
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Every table and view that programs may read. */
function publicNames(path: string): string[] {
  const own = `name NOT IN ('migrations', 'data_dictionary') AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'`;
  return ask<{ name: string }>(path, `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND ${own}`).map(
    ({ name }) => name,
  );
}

async function expectSameRows(path: string, to: string, names = publicNames(path)): Promise<void> {
  for (const name of names)
    expect(sorted(await rowsThere(to, `SELECT * FROM "${name}"`)), name).toEqual(
      sorted(ask(path, `SELECT * FROM "${name}"`)),
    );
}

/** Copies in this process. */
function copied(path: string, to: string, more: { secrets?: string; key?: string } = {}) {
  return copyToPostgres({
    ...{ path, migrations, secrets: more.secrets ?? `${path}.none`, clock: systemClock, random: systemRandom },
    to: { ...storeAt(to), secretsKeyFile: more.key ?? newKeyFile() },
    interrupted: new AbortController().signal,
    onProgress: () => undefined,
  });
}

const world = () =>
  testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40, account: ['6BApk', 'other'] });

/** The settings of the file, with those lines that `copy` prints. */
function moveSettings({ folder }: ProgramTestbed, lines: Readonly<Record<string, string>>): void {
  const file = join(folder, 'mirror.yaml');
  const text = Object.entries(lines).map(([key, value]) => `${key}: ${value}`);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^database:.*\nsecrets:.*$/m, text.join('\n')));
}

describe.skipIf(isMissing(missingPostgres))('a mirror that was copied into PostgreSQL', () => {
  it('has the same rows, and goes on: the same callbacks and keys, nothing changed, higher numbers, a feed of its own', async () => {
    const service = await world();
    const to = await server.database();
    const settings = `sync: { lag: 0s, secondLook: 1s }
publish: [{ path: v.csv }]
notify: [{ name: target, url: "http://127.0.0.1:9/", secret: "whsec_${Buffer.alloc(32, 7).toString('base64')}" }]`;
    const at = await testbed({ level: 'program', service, listens: true, accounts: ['6BApk', 'other'], settings });
    const daemon = await at.serveUntilSwept();
    const callbacks = () => ['6BApk', 'other'].map((id) => service.sandbox.callbacks(id).all()[0]);
    await until(() => callbacks().every((callback) => callback?.verified === true));
    const vendors = service.sandbox.vendors('6BApk');
    const [first = 0, second = 0, unannounced = 0] = at
      .query<{ id: number }>(`SELECT vendorid AS id FROM vendors WHERE vis_state = 0 AND account_id = '6BApk'`)
      .map(({ id }) => id);
    const delivered = taken(daemon, service, 2);
    vendors.edit(first, { vendor_name: 'Before' });
    vendors.edit(second, { vis_state: 1 });
    await delivered;
    await until(() => at.query(`SELECT 1 FROM deliveries WHERE outcome = 'pending'`).length === 0);
    await until(() => at.query('SELECT 1 FROM _publications').length === 1);
    expect(await daemon.end()).toBe(0);
    vendors.edit(unannounced, { phone: '+49 30 5550199' });
    expect((await at.run('reconcile')).status).toBe(0);
    const [registered] = callbacks();

    const key = newKeyFile();
    const argv = ['copy', '--to', to, '--secrets-key-file', key, '--json'];
    const result = await at.run(...argv);
    expect([result.status, result.stderr]).toEqual([0, expect.stringContaining('no longer written')]);
    const report = JSON.parse(result.stdout) as { settings: Record<string, string>; rows: Record<string, number> };
    expect(report).toMatchObject({ ok: true, copied: true, left: [], settings: { database: to, secretsKeyFile: key } });
    expect(report.rows).toMatchObject({ 'secrets.path_tokens': 3, callbacks: 2, _notify_targets: 1, _publications: 1 });
    await expectSameRows(at.database, to);
    const [row] = await rowsThere(to, 'SELECT count(*)::int AS findings FROM findings');
    expect(row).toEqual({ findings: expect.toSatisfy((count: number) => count > 0) as number });

    const refused = await at.run('sync');
    expect([refused.status, refused.stderr]).toEqual([74, expect.stringContaining(`was moved to ${to}, schema`)]);
    expect(await at.launch().ended).toBe(74);
    // Several of its parts read the file.
    expect((await at.run('doctor')).stderr.match(/this is what it held then/g)).toHaveLength(1);
    const again = await at.run(...argv);
    expect([again.status, JSON.parse(again.stdout)]).toEqual([0, expect.objectContaining({ copied: false })]);

    const old = ask<{ place: string; seq: number; reading: number }>(
      at.database,
      `SELECT epoch || ':1' AS place, (SELECT max(seq) FROM _vendor_versions) AS seq, (SELECT read_seq FROM _reading_counter) AS reading
       FROM _feed_epochs LIMIT 1`,
    )[0]!;
    moveSettings(at, report.settings);
    const gone = await at.run('changes', '--since', old.place);
    expect([gone.status, gone.stderr]).toEqual([1, expect.stringMatching(/moved to PostgreSQL[\s\S]*[0-9a-f]{16}:0/)]);
    const synced = await at.run('sync', '--json');
    expect([synced.status, synced.stderr]).toEqual([0, '']);
    expect(JSON.parse(synced.stdout)).toMatchObject({
      runs: ['6BApk', 'other'].map((account) => ({ account, created: 0, updated: 0, suspects: 0 })),
    });

    const there = <R>(sql: string, ...values: unknown[]) => askSchema<R>(storeAt(to), sql, ...values);
    const next = await at.serve();
    vendors.edit(first, { vendor_name: 'After' });
    await next.logged(`vendor ${first} changed: vendor_name`);
    const names = () => there(`SELECT vendor_name FROM vendors WHERE account_id = '6BApk' AND vendorid = ?`, first);
    expect(names()).toEqual([{ vendor_name: 'After' }]);
    const [verifier = ''] = ask<{ verifier: string }>(
      join(at.folder, 'secrets.db'),
      `SELECT verifier FROM verifiers WHERE account_id = '6BApk' AND state = 'proven'`,
    ).map((row) => row.verifier);
    const repeated = signed({ ...delivery, account_id: '6BApk', object_id: String(second) }, verifier);
    expect((await fetch(registered?.uri ?? '', repeated)).status).toBe(200);
    const outcomes = () =>
      there<{ outcome: string }>('SELECT outcome FROM deliveries WHERE object_id = ? ORDER BY id', second);
    await expect.poll(outcomes, { timeout: 20_000 }).toEqual([{ outcome: 'applied' }, { outcome: 'unchanged' }]);
    expect(callbacks()).toMatchObject([{ id: registered?.id, uri: registered?.uri }, {}]);
    const [numbers] = there<{ seq: number; reading: number; run: number; delivery: number }>(
      `SELECT (SELECT max(seq) FROM _vendor_versions) AS seq, (SELECT read_seq FROM _reading_counter) AS reading,
         (SELECT max(id) FROM runs) AS run, (SELECT max(id) FROM deliveries) AS delivery`,
    );
    expect(numbers?.seq).toBeGreaterThan(old.seq + 1_000_000);
    expect(numbers?.reading).toBeGreaterThan(old.reading + 1_000_000);
    expect(numbers?.run).toBeGreaterThan(1_000_000);
    expect(numbers?.delivery).toBeGreaterThan(1_000_000);
    const targets = there<{ place: string }>('SELECT place FROM _notify_targets');
    expect(targets).toEqual([{ place: expect.not.stringContaining(old.place.slice(0, 16)) as string }]);
    expect(next.stderr()).not.toMatch(/restored from a copy|other history/);
    expect(await next.end()).toBe(0);

    const token = /([\w-]{22})(?:$|[/?])/.exec(registered?.uri ?? '')?.[1] ?? '';
    const dump = execFileSync('pg_dump', [to], { encoding: 'utf8', maxBuffer: 1e9 });
    expect(dump).toContain('After');
    for (const secret of [token, verifier]) {
      expect(secret.length).toBeGreaterThan(8);
      expect(dump).not.toContain(secret);
    }
  });

  it('has every row of every table, whatever it holds; what somebody made in the file is named', async () => {
    const property = fc.asyncProperty(history, async ({ writes }) => {
      const [path, to] = [newPath(), await server.database()];
      await placeMirror(path);
      const file = otherConnection(path);
      for (const { sql, values } of writes) file.prepare(sql).run(values);
      file.exec('CREATE TABLE mine (a TEXT); ALTER TABLE gateways ADD COLUMN colour TEXT');
      file.close();
      expect([...(await copied(path, to)).left].sort()).toEqual(['gateways.colour', 'mine']);
      const mine = ['mine', 'gateways'];
      const names = [...publicNames(path).filter((name) => !mine.includes(name)), '_vendor_versions', '_balance_spans'];
      await expectSameRows(path, to, [...names, '_webhook_days', '_announced_since', '_feed_removed', '_accounts']);
    });
    await fc.assert(property, { numRuns: asked('HISTORIES', 2), endOnFailure: true });
  });

  it('knows every table of both files', async () => {
    const to = await server.database();
    const folder = temporaryFolder();
    const [mirror, secrets] = [join(folder, 'vendors.db'), join(folder, 'secrets.db')];
    await placeMirror(mirror);
    await (await openSecrets({ path: secrets, migrations, clock: systemClock, random: systemRandom })).close();
    for (const [path, schema, of] of [
      [mirror, 'vendor_mirror', 'postgres'],
      [secrets, 'vendor_mirror_secrets', 'postgres-secrets'],
    ] as const) {
      const at = { ...storeAt(to), schema };
      await migrate(at, readMigrations(join(migrations, of)), systemClock);
      const session = await PostgresSession.open(at, new AbortController().signal);
      const plan = await planCopy(otherConnection(path), session, schema);
      session.close();
      expect(plan.left).toEqual([]);
      expect(plan.tables.length).toBeGreaterThan(6);
    }
  });

  it('is not kept where the server holds other rows than were sent', async () => {
    const to = await server.database();
    await askPostgres(
      to,
      `CREATE TABLE odd (account_id text, amount bigint);
       CREATE FUNCTION altered() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.amount := NEW.amount / 10; RETURN NEW; END $$;
       CREATE TRIGGER altered BEFORE INSERT ON odd FOR EACH ROW EXECUTE FUNCTION altered()`,
    );
    const column = { isIdentity: false };
    const table: CopiedTable = {
      name: 'odd',
      columns: [
        { ...column, name: 'account_id', type: 'text' },
        { ...column, name: 'amount', type: 'bigint' },
      ],
    };
    const at = { ...storeAt(to), schema: 'public' };
    const session = await PostgresSession.open(at, new AbortController().signal);
    onTestFinished(() => session.close());
    const copy = (amount: string) =>
      session.atomically(() => copyTable([['one', amount]], table, { session, onRows: () => undefined }));
    expect(await copy('0')).toBe(1);
    const failure = await failureOf(
      session.atomically(() => copyTable([['one', '120']], table, { session, onRows: () => undefined })),
    );
    expect(failure).toMatchObject({
      code: 'postgres_tables',
      message: expect.stringContaining('account one') as string,
    });
  });
});

/** A mirror and its secrets beside a service, stopped. */
async function stopped(vendors = 40) {
  const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors });
  const ports = `listener: { port: ${await freePort()} }\nadmin: { port: ${await freePort()} }`;
  const at = await testbed({ level: 'program', service, settings: `sync: { lag: 0s }\n${ports}` });
  expect((await at.run('sync')).status).toBe(0);
  const key = newKeyFile();
  const argv = (to: string, ...more: string[]) => ['copy', '--to', to, '--secrets-key-file', key, ...more];
  return { service, at, key, argv };
}

describe.skipIf(isMissing(missingPostgres))('a copy into PostgreSQL', () => {
  const kills = asked('KILLS', 12, 5);
  it(
    `that is killed at ${kills} moments leaves nothing there and the file as it was, or can go on; then it works`,
    async () => {
      const { at, argv } = await stopped(100);
      const to = await server.database();
      const proxy = await postgresProxy(to);
      const copy = argv(proxy.address);
      proxy.cut(Infinity, 'before');
      expect((await at.run(...copy)).status).toBe(0);
      const { messages } = proxy;
      await askPostgres(to, 'DROP SCHEMA vendor_mirror, vendor_mirror_secrets CASCADE');
      expect((await at.run('copy', '--undo', '--yes')).status).toBe(0);
      const random = seededRandom(seedOf(asked('SEED', 1), 'copy'));
      for (let nth = 0; nth < kills; nth += 1) {
        // The last messages are those around the commit.
        const message = nth % 3 === 0 ? messages - 1 - random.below(4) : 1 + random.below(messages - 4);
        proxy.cut(Infinity, 'before');
        const child = at.start(...copy);
        const exited = once(child, 'exit');
        await Promise.race([proxy.sent(message), exited]);
        child.kill('SIGKILL');
        await exited;
        const others = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
        await expect.poll(() => askPostgres(to, others), { timeout: 30_000 }).toEqual([]);
        const schemas = await schemasAt(to);
        const isMoved = at.query('SELECT 1 FROM _moved').length > 0;
        // Where the server has it, the file never goes on beside it.
        if (schemas.length > 0) expect([schemas.length, isMoved], `kill ${nth} at ${message}`).toEqual([2, true]);
        if (!isMoved && nth % 4 === 0) expect((await at.run('sync')).status).toBe(0);
        if (schemas.length > 0) break;
      }
      const last = await at.run(...copy);
      expect([last.status, last.stderr]).toEqual([0, expect.stringContaining('no longer written')]);
      await expectSameRows(at.database, to);
    },
    60_000 + kills * 15_000,
  );

  it('is refused, with the reason, while a daemon or a command uses the file, and for what is there already', async () => {
    const { at, argv, key } = await stopped();
    const to = await server.database();
    const refusal = async (...options: string[]) => {
      const { status, stderr } = await at.run(...options);
      return [status, stderr];
    };
    const daemon = await at.serve();
    expect(await refusal(...argv(to))).toEqual([75, expect.stringContaining('daemon works on')]);
    expect(await daemon.end()).toBe(0);
    const other = lockProcess(at.database, systemRandom);
    expect(await refusal(...argv(to))).toEqual([75, expect.stringMatching(/Another command uses .*vendors\.db/)]);
    other.release();
    expect(await schemasAt(to)).toEqual([]);

    const said = (text: string) => expect.stringContaining(text) as string;
    expect(await refusal('copy')).toEqual([64, said('--to postgres://')]);
    expect(await refusal('copy', '--to', to)).toEqual([64, said('--secrets-key-file')]);
    expect(await refusal(...argv('vendors'))).toEqual([64, said('--to should be an address')]);
    const withPassword = await refusal(...argv('postgres://me:secret@127.0.0.1/m'));
    expect(withPassword).toEqual([64, said('--password-file')]);
    expect(withPassword[1]).not.toContain('secret@');
    expect(await refusal(...argv(to, '--schema', 'No'))).toEqual([64, said('--schema should be')]);
    expect(await refusal(...argv(to, '--password-file', 'nowhere'))).toEqual([64, said('cannot be read')]);
    expect(await refusal('copy', '--to', to, '--secrets-key-file', 'none')).toEqual([78, said('none')]);
    expect(await refusal(...argv(to, '--account', '6BApk'))).toEqual([64, said('leave --account out')]);
    expect(await refusal('copy', '--undo', '--to', to)).toEqual([64, said('--undo')]);

    await askPostgres(to, 'CREATE SCHEMA vendor_mirror; CREATE TABLE vendor_mirror.mine (a text)');
    expect(await refusal(...argv(to))).toEqual([74, said('another program (it holds mine)')]);
    await askPostgres(to, 'DROP TABLE vendor_mirror.mine');
    expect(await refusal(...argv(to))).toEqual([0, said('no longer written')]);
    expect(await refusal('copy', '--undo', '--yes')).toEqual([0, '']);
    expect(await refusal(...argv(to))).toEqual([74, said('holds a mirror already')]);
    expect(await refusal(...argv(to, '--schema', 'other'))).toEqual([0, said('no longer written')]);
    expect(await refusal(...argv(to, '--schema', 'third'))).toEqual([74, said('schema other at')]);
    moveSettings(at, { database: to, secretsKeyFile: key });
    expect(await refusal(...argv(to))).toEqual([64, said('in PostgreSQL already')]);
  });

  it.skipIf(isMissing(missingPostgres) || !isOwnServer)(
    'of a role that may make no schema is refused; made for it before, they are filled, and reporting sees no secret',
    async () => {
      const { at, argv } = await stopped();
      const to = await server.database();
      const as = (user: string): string => Object.assign(new URL(to), { username: user }).href;
      await askPostgres(to, 'CREATE ROLE copy_owner LOGIN; CREATE ROLE vendor_mirror_reader LOGIN');
      onTestFinished(async () => {
        await askPostgres(
          to,
          'DROP OWNED BY copy_owner, vendor_mirror_reader CASCADE; DROP ROLE copy_owner, vendor_mirror_reader',
        );
      });
      const refused = await at.run(...argv(as('copy_owner')));
      expect([refused.status, refused.stderr]).toEqual([77, expect.stringContaining('permission denied')]);
      expect((await at.run('sync')).status).toBe(0);
      await askPostgres(
        to,
        'CREATE SCHEMA vendor_mirror AUTHORIZATION copy_owner; CREATE SCHEMA vendor_mirror_secrets AUTHORIZATION copy_owner',
      );
      expect((await at.run(...argv(as('copy_owner')))).status).toBe(0);
      const read = (table: string) => askPostgres(as('vendor_mirror_reader'), `SELECT * FROM ${table} LIMIT 1`);
      expect(await read('vendor_mirror.vendors')).toHaveLength(1);
      await expect(read('vendor_mirror_secrets.path_tokens')).rejects.toThrow('permission denied');
    },
  );

  it('ends with the first interruption, and nothing is there', async () => {
    const { at, argv } = await stopped(100);
    const to = await server.database();
    const proxy = await postgresProxy(to);
    const child = at.start(...argv(proxy.address));
    const end = ended(child);
    await proxy.sent(60);
    child.kill('SIGINT');
    expect(await end).toMatchObject({ status: 1, stderr: expect.stringContaining('Interrupted by SIGINT') as string });
    expect(await schemasAt(to)).toEqual([]);
    expect((await at.run('sync')).status).toBe(0);
  });

  it('that does not know whether the server has stored it says so, and finds out when it is run again', async () => {
    const { at, argv } = await stopped();
    const to = await server.database();
    const proxy = await postgresProxy(to);
    proxy.cut(Infinity, 'before');
    expect((await at.run(...argv(proxy.address))).status).toBe(0);
    const commit = proxy.messages - 2;
    for (const when of ['before', 'after'] as const) {
      await askPostgres(to, 'DROP SCHEMA IF EXISTS vendor_mirror, vendor_mirror_secrets CASCADE');
      await at.run('copy', '--undo', '--yes');
      proxy.cut(commit, when);
      const cut = await at.run(...argv(proxy.address));
      expect([when, cut.status, cut.stderr]).toEqual([when, 69, expect.stringContaining('not certain')]);
      expect((await at.run('sync')).status).toBe(74);
      proxy.cut(Infinity, 'before');
      const again = await at.run(...argv(proxy.address, '--json'));
      expect(JSON.parse(again.stdout)).toMatchObject({ copied: when === 'before' });
      await expectSameRows(at.database, to);
    }
  });
});
