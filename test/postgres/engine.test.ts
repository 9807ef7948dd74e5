/** A mirror in PostgreSQL on bad days: sessions that are cut, servers that are away, locked, restarted or without their standby. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemRandom, type Clock } from '../../src/domain/clock.ts';
import { MirrorError } from '../../src/domain/errors.ts';
import { openPostgresMirror, type Store } from '../../src/store/mirror.ts';
import { mirrorServer } from '../../src/store/postgres/server.ts';
import { confirmedOnDisk, PostgresSession } from '../../src/store/postgres/session.ts';
import { storeAt } from '../support/postgres-schema.ts';
import { PostgresDatabase } from '../../src/store/postgres/database.ts';
import { FiguresSession } from '../../src/store/postgres/figures-session.ts';
import { statement, type None } from '../../src/store/sql/statement.ts';
import { readMigrations } from '../../src/store/sqlite/migrate.ts';
import { newDelivery } from '../support/deliveries/new-delivery.ts';
import { migrations, temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, asOwner, postgresProxy, postgresServer } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';
import { row } from '../support/testbed/store.ts';
import { sql } from 'kysely';

const server = missingPostgres === undefined ? postgresServer() : undefined;

async function newDatabase(): Promise<string> {
  return (await server?.database()) ?? '';
}

async function open(address: string, lockWait?: number): Promise<PostgresDatabase> {
  const database = await PostgresDatabase.open({
    server: mirrorServer(storeAt(address)),
    migrations: readMigrations(join(migrations, 'postgres')),
    clock: systemClock,
    lockWait,
  });
  onTestFinished(() => database.close());
  return database;
}

async function openStore(address: string, clock: Clock = systemClock): Promise<Store> {
  const mirror = await openPostgresMirror({ store: storeAt(address), migrations, clock, random: systemRandom });
  onTestFinished(() => mirror.close());
  return mirror;
}

/** Notes a field of an account, and looks for those that are there. */
function fieldsOf(database: PostgresDatabase) {
  const add = statement<{ field: string }>(
    database.connection,
    (at) =>
      sql`INSERT INTO _known_fields (account_id, field, first_seen_at) VALUES ('one', ${at('field')}, '2026-12-01 10:00:00.000')`,
  );
  const all = statement<object, { field: string }>(database.connection, () => sql`SELECT field FROM _known_fields`);
  return {
    write: (field: string, lockWait?: number) => database.write(() => add.send({ field }), lockWait),
    read: async () => (await database.read(() => all.all({}))).map(({ field }) => field),
  };
}

describe.skipIf(isMissing(missingPostgres))('a mirror in PostgreSQL', () => {
  it('keeps what it confirmed, and goes on, wherever a session is cut', async () => {
    const proxy = await postgresProxy(await newDatabase());
    const database = await open(proxy.address);
    const { write, read } = fieldsOf(database);
    await write('first');
    const confirmed = ['first'];
    for (const when of ['before', 'after'] as const)
      for (let at = 0; at < 4; at++) {
        const name = `${when} ${at}`;
        proxy.cut(at, when);
        await write(name).then(
          () => confirmed.push(name),
          (error: unknown) => expect(error).toMatchObject({ code: 'postgres_failed' }),
        );
        proxy.cut(Infinity, when);
        await write(`then ${name}`);
        confirmed.push(`then ${name}`);
      }
    expect(await read()).toEqual(expect.arrayContaining(confirmed));
    expect(confirmed).toHaveLength(new Set(confirmed).size);
  });

  it('waits for a server that is away, no longer than the caller can', async () => {
    const proxy = await postgresProxy(await newDatabase());
    const { write, read } = fieldsOf(await open(proxy.address));
    await write('before');
    proxy.mode = 'down';
    proxy.cutAll();
    await expect(write('never', 300)).rejects.toMatchObject({ code: 'postgres_failed' });
    const waiting = write('later');
    proxy.mode = 'open';
    await waiting;
    expect((await read()).sort()).toEqual(['before', 'later']);
  });

  it('cannot store while the server only lets it read, whatever is read meanwhile, and says so until it can', async () => {
    const address = await newDatabase();
    const database = await open(address);
    const { write, read } = fieldsOf(database);
    const name = new URL(address).pathname.slice(1);
    const turn = async (readOnly: 'on' | 'off'): Promise<void> => {
      await askPostgres(
        address,
        `BEGIN READ WRITE; ALTER DATABASE ${name} SET default_transaction_read_only TO ${readOnly}; COMMIT`,
      );
      await askPostgres(
        address,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      );
    };
    await turn('on');
    await expect(write('never')).rejects.toThrow('read-only transaction');
    expect(await read()).toEqual([]);
    expect(database.trouble()).toMatchObject({ code: 'postgres_failed' });
    await turn('off');
    await write('again');
    expect(database.trouble()).toBeUndefined();
  });

  it('takes no row for gone that row-level security hides from its user', async () => {
    const address = await asOwner(await newDatabase(), 'hidden');
    const { write, read } = fieldsOf(await open(address));
    await write('seen');
    await askPostgres(
      address,
      `ALTER TABLE vendor_mirror._known_fields ENABLE ROW LEVEL SECURITY; ALTER TABLE vendor_mirror._known_fields FORCE ROW LEVEL SECURITY;
       CREATE POLICY others ON vendor_mirror._known_fields USING (false) WITH CHECK (true)`,
    );
    await expect(read()).rejects.toMatchObject({ code: 'postgres_refused' });
    await expect(write('more')).rejects.toMatchObject({ code: 'postgres_refused' });
    await askPostgres(address, 'ALTER TABLE vendor_mirror._known_fields NO FORCE ROW LEVEL SECURITY');
    expect(await read()).toEqual(['seen']);
  });

  it('says of a database with another encoding how to make one that can be used', async () => {
    const address = (await server?.database('LATIN1')) ?? '';
    await expect(open(address)).rejects.toMatchObject({
      code: 'postgres_tables',
      hint: expect.stringContaining(`ENCODING 'UTF8'`) as string,
    });
  });

  it('says that another program writes and does not end', async () => {
    const address = await newDatabase();
    const [holder, other] = [await open(address), fieldsOf(await open(address))];
    const held = holder.write(async () => {
      await expect(other.write('in vain', 200)).rejects.toMatchObject({ code: 'database_locked' });
    });
    await held;
    await other.write('at last');
    expect(await other.read()).toEqual(['at last']);
  });

  it('tells whoever waits behind a transaction that waits itself, as soon as their own time is over', async () => {
    const address = await newDatabase();
    const [holder, other] = [await open(address), fieldsOf(await open(address))];
    const told: string[] = [];
    await holder.write(async () => {
      const first = other.write('in vain', 1_500).catch(() => void told.push('first'));
      await expect(other.write('behind it', 100)).rejects.toThrow('did not answer in time.');
      told.push('second');
      await first;
    });
    expect(told).toEqual(['second', 'first']);
    expect(await other.read()).toEqual([]);
  });

  it('remembers what the service declined', async () => {
    const { notHonoured } = await openStore(await newDatabase());
    expect(await notHonoured.isHonoured('one', 'gateways')).toBe(true);
    await notHonoured.noteDeclined('one', 'gateways', new MirrorError('usage', 'The service knows no gateways.'));
    expect(await notHonoured.isHonoured('one', 'gateways')).toBe(false);
  });

  it.skipIf(isMissing(missingPostgres) || !isOwnServer)(
    'does not count as stored what no standby has, and answers in time',
    async () => {
      const address = await newDatabase();
      const { write, read } = fieldsOf(await open(address));
      await write('with nobody to wait for');
      const standby = async (name: string): Promise<void> => {
        await askPostgres(address, `ALTER SYSTEM SET synchronous_standby_names TO '${name}'`);
        await askPostgres(address, 'SELECT pg_reload_conf()');
      };
      await standby('nobody');
      onTestFinished(() => standby(''));
      const refusal = (nth: number): Promise<string> =>
        write(`without a standby, ${nth}`, 0).then(
          () => '',
          (error: unknown) => (error as Error).message,
        );
      let refused = '';
      // The server takes the setting up a little later, and has stored what was written until then.
      for (let nth = 1; refused === ''; nth++) refused = await refusal(nth);
      expect(refused).toContain('did not confirm in time; it may still store what was sent.');
      // The transaction still waits; an operator who cancels the wait gets a warning, and no error.
      const next = write('after it', 60_000);
      const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()`;
      /** Again until it is told: the wait that is cancelled may be that of the transaction before it. */
      const cancelled = async (told: Promise<unknown>): Promise<void> => {
        const over = new AbortController();
        void told.finally(() => over.abort()).catch(() => undefined);
        while (!over.signal.aborted) await askPostgres(address, cancel);
        await told;
      };
      await cancelled(expect(next).rejects.toThrow('stored it without its standby'));
      // So does a copy of a mirror, and rows that are published.
      const session = await PostgresSession.open(mirrorServer(storeAt(address)), new AbortController().signal);
      onTestFinished(() => session.close());
      const copied = expect(
        session.atomically(async () => {
          await session.run(confirmedOnDisk);
          await session.run(`INSERT INTO _known_fields VALUES ('one', 'copied', now())`);
        }),
      ).rejects.toThrow('stored it without its standby');
      await cancelled(copied);
      await standby('');
      await write('with nobody again');
      expect(await read()).toEqual(expect.arrayContaining(['with nobody to wait for', 'with nobody again']));
    },
  );

  it('gives out no number twice, from several processes, and after the server was started again', async () => {
    const address = await newDatabase();
    const stores = await Promise.all([openStore(address), openStore(address), openStore(address)]);
    const taken = await Promise.all(
      stores.map(async (mirror) => {
        const numbers: number[] = [];
        for (let index = 0; index < 30; index++) numbers.push((await mirror.takeStamp()).readSeq);
        return numbers;
      }),
    );
    for (const numbers of taken) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(taken.flat()).size).toBe(90);
    // The numbers of the last moments may be lost with the server's memory.
    await askPostgres(
      address,
      `UPDATE vendor_mirror._server SET history = 'before'; UPDATE vendor_mirror._reading_counter SET read_seq = 5`,
    );
    const after = await openStore(address);
    expect((await after.takeStamp()).readSeq).toBe(1_000_006);
    // So may what was sent then, and still counts for the rate.
    const bounds = [{ window: 'all', requests: 10, per: 60_000 }] as const;
    for (const mirror of [after, stores[0]]) {
      const { wait } = (await mirror.reserveRequest({ connection: 'default', bounds, longest: 1_000 })) as {
        wait: number;
      };
      expect(wait).toBeGreaterThan(50_000);
      expect(wait).toBeLessThanOrEqual(60_000);
    }
  });

  it('goes not backwards, and its feed tells each change once and in order, while three processes read one account', async () => {
    const seed = asked(
      'SEED',
      systemRandom.bytes(2).reduce((all, byte) => 256 * all + byte, 0),
    );
    const address = await newDatabase();
    const stores = await Promise.all([openStore(address), openStore(address), openStore(address)]);
    const run = await stores[0].runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' });
    /** The service's vendor: a reading shows its name at any moment between the begin and the end of the request. */
    let truth = 0;
    let reads = 0;
    const steps = fc.sample(fc.array(fc.nat(2), { minLength: 60, maxLength: 60 }), { numRuns: 3, seed });
    await Promise.all(
      stores.map(async (mirror, index) => {
        for (const wait of steps[index] ?? []) {
          const stamp = await mirror.takeStamp();
          const shown = (truth += 1);
          for (let turns = 0; turns < wait; turns++) await systemClock.yield();
          reads += 1;
          await mirror.readings.applyReading(
            { stamp, row: row(1, String(shown), `2026-11-20 12:00:${String(shown % 60).padStart(2, '0')}`) },
            {
              ...{ accountId: 'one', runId: run.id, deliveryId: null, lag: 0, run, changeClassifier: undefined },
              ...{ readsById: false, source: 'pull' as const },
            },
          );
        }
      }),
    );
    expect(reads).toBe(180);
    const versions = await askPostgres<{ seq: string; raw: string; read: string }>(
      address,
      'SELECT seq, raw FROM vendor_mirror.vendor_versions ORDER BY seq',
    );
    const names = versions.map(({ raw }) => Number((JSON.parse(raw) as { vendor_name: string }).vendor_name));
    expect(names.length).toBeGreaterThan(10);
    // A number is taken before the name is read, so a later one never shows an earlier name.
    expect(names, `seed ${seed}`).toEqual([...names].sort((a, b) => a - b));
  });

  it('knows at once in a process that begins which others are gone, as far as they have been silent', async () => {
    const address = await newDatabase();
    const begin = async () => {
      const { runs } = await openStore(address);
      return (await runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' })).id;
    };
    const outcomes = () => askPostgres(address, 'SELECT id::int, outcome FROM vendor_mirror.runs ORDER BY id');
    const [first, second] = [await begin(), await begin()];
    const running = { outcome: 'running' };
    expect(await outcomes()).toMatchObject([running, running]);
    await askPostgres(
      address,
      `UPDATE vendor_mirror._processes SET renewed_at = renewed_at - interval '30 s'
       WHERE name = (SELECT process FROM vendor_mirror.runs WHERE id = ${first})`,
    );
    await begin();
    expect(await outcomes()).toMatchObject([{ id: first, outcome: 'abandoned' }, { id: second, ...running }, running]);
  });

  it('has one time for machines that run since other days, however often they take turns', async () => {
    const address = await newDatabase();
    const upFor = (days: number): Clock => ({
      ...systemClock,
      now: () => systemClock.now() + 0.25,
      monotonic: () => systemClock.monotonic() + days * 86_400_000,
    });
    const machines = [await openStore(address, upFor(0)), await openStore(address, upFor(40))];
    const begun = Date.now();
    const first = await machines[0]!.takeStamp();
    for (let turn = 0; turn < 6; turn++) for (const machine of machines) await machine.takeStamp();
    const moments = [await machines[0]!.moment(), await machines[1]!.moment(), (await machines[0]!.takeStamp()).begun];
    for (const moment of moments) expect(moment - first.begun).toBeLessThan(Date.now() - begun + 10);
    // What one marks, the other one sees at once.
    await machines[1]!.deliveries.acceptDeliveries([newDelivery(7, { accountId: 'one' })]);
    expect(await machines[0]!.queue.dueMarks('one')).toHaveLength(1);
  });

  it("sees that its clock was set back, and takes nobody else's for that who is a little behind", async () => {
    const address = await newDatabase();
    const behind = { first: 0, second: 3_000 };
    const machine = (name: keyof typeof behind): Promise<Store> =>
      openStore(address, { ...systemClock, now: () => systemClock.now() - behind[name] });
    const [first, second] = [await machine('first'), await machine('second')];
    const noticed = async (): Promise<number> =>
      (await askPostgres(address, 'SELECT read_seq FROM vendor_mirror._clock_set_back')).length;
    for (const store of [first, second, first, second]) await store.takeStamp();
    expect(await noticed()).toBe(0);
    behind.first = 2_000;
    for (const store of [second, first, second, first]) await store.takeStamp();
    expect(await noticed()).toBe(1);
    behind.second = 3_600_000;
    await (await machine('second')).takeStamp();
    expect(await noticed()).toBe(2);
  });

  it('begins another epoch of its feed with each session: a server that took over may have lost the last changes', async () => {
    const proxy = await postgresProxy(await newDatabase());
    const mirror = await openStore(proxy.address);
    const run = await mirror.runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' });
    const change = async (name: string): Promise<void> => {
      const context = { accountId: 'one', runId: run.id, deliveryId: null, lag: 0, run, changeClassifier: undefined };
      await mirror.readings.applyReading(
        { stamp: await mirror.takeStamp(), row: row(1, name) },
        { ...context, readsById: false, source: 'pull' },
      );
    };
    const epochs = async (): Promise<number> =>
      (await askPostgres(proxy.address, 'SELECT 1 FROM vendor_mirror._feed_epochs')).length;
    await change('one');
    await change('two');
    const before = await epochs();
    proxy.cutAll();
    await change('three');
    expect(await epochs()).toBe(before + 1);
  });

  it('stores nothing of a transaction in which something could not be sent', async () => {
    const database = await open(await newDatabase());
    const { read } = fieldsOf(database);
    const add = statement<{ field: unknown }>(
      database.connection,
      (at) =>
        sql`INSERT INTO _known_fields (account_id, field, first_seen_at) VALUES ('one', ${at('field')}, '2026-12-01 10:00:00.000')`,
    );
    const stored = database.write(() => {
      add.send({ field: 'one' });
      add.send({ field: undefined });
    });
    await expect(stored).rejects.toThrow('a value of the type undefined');
    expect(await read()).toEqual([]);
  });

  it('asks the server a few times about a whole page, many deliveries, and many reads by id', async () => {
    const proxy = await postgresProxy(await newDatabase());
    const mirror = await openStore(proxy.address);
    const run = await mirror.runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' });
    const context = {
      ...{ accountId: 'one', runId: run.id, deliveryId: null, lag: 0, run, rest: 0 },
      ...{ changeClassifier: () => undefined, readsById: true, source: 'pull' as const },
    };
    const counts = () => ({ pages: 1, requests: 1, seen: 100, created: 0, updated: 0, unchanged: 0, suspects: 0 });
    const of = { page: 1, pages: 1, perPage: 100, total: 100, servedAt: undefined };
    /** The fewest of some tries: the server may begin to answer before all of a question has been sent. */
    const fewest = async (work: (tried: number) => Promise<() => Promise<unknown>>): Promise<number> => {
      const counted: number[] = [];
      for (let tried = 1; tried <= 5; tried++) {
        const counting = await work(tried);
        const before = proxy.journeys;
        await counting();
        counted.push(proxy.journeys - before);
      }
      return Math.min(...counted);
    };
    const showing = async (from: number, day: number) => {
      const stamp = await mirror.takeStamp();
      const rows = Array.from({ length: 100 }, (_, index) =>
        row(from + index, `Day ${day}`, `2026-11-2${day} 12:00:00`),
      );
      return () => mirror.readings.applyPages([{ ...of, stamp, rows }], context, counts);
    };
    const accepting = (from: number) => {
      const now = systemClock.now();
      const delivery = { accountId: 'one', receivedAt: now, name: 'bill_vendor.update', isAbout: true, businessId: 1 };
      const deliveries = Array.from({ length: 50 }, (_, index) => ({
        ...{ ...delivery, objectId: from + index, vendorid: from + index },
        ...{ identityId: 1, userId: 1 },
      }));
      return Promise.resolve(() => mirror.deliveries.acceptDeliveries(deliveries));
    };
    const readingById = async () => {
      const stamp = await mirror.takeStamp();
      const rows = Array.from({ length: 50 }, (_, index) => row(1_000 + index, 'Day 5', '2026-11-25 12:00:00'));
      return () => Promise.all(rows.map((one) => mirror.readings.applyReading({ stamp, row: one }, context)));
    };
    const bounds = [{ window: 'all' as const, requests: 10_000, per: 60_000 }];
    const reserving = () =>
      Promise.resolve(() =>
        Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            mirror.reserveRequest({ connection: `of ${index % 5}`, bounds, longest: 1_000 }),
          ),
        ),
      );
    expect(await fewest((tried) => showing(1_000 * tried, 0))).toBeLessThanOrEqual(6);
    // One by one, these would be more than seven hundred; how many travel together is chance.
    expect(await fewest((tried) => showing(1_000, tried))).toBeLessThanOrEqual(60);
    expect(await fewest(() => showing(1_000, 5))).toBeLessThanOrEqual(3);
    expect(await fewest((tried) => accepting(1_000 * tried))).toBeLessThanOrEqual(5);
    // As many transactions, one after the other, would be more than a hundred; and again chance has its part where the machine is busy.
    expect(await fewest(readingById)).toBeLessThanOrEqual(60);
    expect(await fewest(reserving)).toBeLessThanOrEqual(60);
    // So does a daemon of a hundred accounts, which looks for marks and requested sweeps of each.
    const accounts = Array.from({ length: 100 }, (_, index) => `of ${index}`);
    const looking = () =>
      Promise.resolve(() =>
        Promise.all(accounts.flatMap((id) => [mirror.queue.outlook(id), mirror.sweepRequests.sweepRequest(id)])),
      );
    expect(await fewest(looking)).toBeLessThanOrEqual(60);
  });

  it('reads what it wrote, whatever forms of values the role or the database has', async () => {
    const address = await newDatabase();
    const name = new URL(address).pathname.slice(1);
    for (const setting of [`datestyle TO 'SQL, DMY'`, 'extra_float_digits TO 0', 'standard_conforming_strings TO off'])
      await askPostgres(address, `ALTER DATABASE ${name} SET ${setting}`);
    const database = await open(address);
    const values = statement<None, { at: string; number: number; text: string }>(
      database.connection,
      () =>
        sql`SELECT CAST('2026-12-01 10:00:00.5' AS timestamptz) AS at, 0.1::float8 + 0.2::float8 AS number, '\\n' AS text`,
    );
    for (const kind of ['read', 'write'] as const)
      expect(await database[kind](() => values.get({}))).toEqual({
        at: '2026-12-01 10:00:00.500',
        number: 0.1 + 0.2,
        text: String.raw`\n`,
      });
  });

  it('stores text that PostgreSQL has no room for', async () => {
    const address = await newDatabase();
    const mirror = await openStore(address);
    const run = await mirror.runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' });
    const context = { accountId: 'one', runId: run.id, deliveryId: null, lag: 0, run, changeClassifier: undefined };
    const odd = row(1, 'N\0UL \ud800');
    const verdict = await mirror.readings.applyReading(
      { stamp: await mirror.takeStamp(), row: odd },
      { ...context, readsById: false, source: 'pull' },
    );
    expect(verdict.kind).toBe('created');
    const [stored] = await askPostgres(address, 'SELECT vendor_name, raw FROM vendor_mirror.vendors');
    expect(stored).toEqual({ vendor_name: 'N\ufffdUL \ufffd', raw: odd.raw });
  });

  it('refuses a schema of another program, and one of a newer version', async () => {
    const address = await newDatabase();
    await askPostgres(address, 'CREATE SCHEMA vendor_mirror; CREATE TABLE vendor_mirror.theirs (id int)');
    await expect(open(address)).rejects.toMatchObject({ code: 'postgres_tables' });
    await askPostgres(address, 'DROP SCHEMA vendor_mirror CASCADE');
    await open(address);
    await askPostgres(
      address,
      `INSERT INTO vendor_mirror.migrations VALUES (9999, '9999_later.sql', 'x', now(), '9.0.0')`,
    );
    await expect(open(address)).rejects.toThrow('It was written by vendor-mirror 9.0.0.');
  });

  it('is migrated beside an older version that runs on, and whose next start is refused', async () => {
    const address = await newDatabase();
    const older = await openStore(address);
    const figures = new FiguresSession({ store: storeAt(address), clock: systemClock });
    onTestFinished(() => figures.stop());
    const folder = temporaryFolder();
    cpSync(join(migrations, 'postgres'), folder, { recursive: true });
    writeFileSync(join(folder, '9999_later.sql'), 'ALTER TABLE deliveries ADD COLUMN later text;');
    const accepted: number[] = [];
    const over = new AbortController();
    const accepting = (async () => {
      for (let id = 1; !over.signal.aborted; id += 1) {
        await older.deliveries.acceptDeliveries([newDelivery(id, { receivedAt: systemClock.now() })]);
        accepted.push(id);
      }
    })();
    const newer = await PostgresDatabase.open({
      ...{ server: mirrorServer(storeAt(address)), clock: systemClock },
      migrations: readMigrations(folder),
    });
    onTestFinished(() => newer.close());
    const sofar = accepted.length;
    while (accepted.length < sofar + 10) await new Promise((resolve) => setImmediate(resolve));
    over.abort();
    await accepting;
    const rows = await askPostgres(
      address,
      'SELECT count(*)::int AS n, max(later) AS later FROM vendor_mirror.deliveries',
    );
    expect(rows).toEqual([{ n: accepted.length, later: null }]);
    expect(await figures.owed()).toEqual([]);
    await expect(openStore(address)).rejects.toMatchObject({ code: 'database_newer' });
  });
});
