/** The daemon among others: another daemon, one-shot commands, programs that hold its ports, a service that hangs, and readers. */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { ask } from '../../support/mirror-file.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { flood } from '../../support/deliveries/flood.ts';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { freePort } from '../../support/network/free-port.ts';
import { isTaken, missing, taken, until, watched } from '../../support/testbed/daemon-process.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** The service has no copies that lag, so that nothing must be waited for. */
const settings = 'sync: { lag: 0s, secondLook: 1s }';

/** For a machine that does much else. */
vi.setConfig({ testTimeout: 120_000 });

/** The numbers of the service's vendors. */
function idsAt({ sandbox, account }: EmbeddedSandbox): number[] {
  return sandbox
    .vendors(account)
    .listed()
    .map(({ vendorid }) => Number(vendorid));
}

/** A daemon that runs, has swept once, and receives webhooks. */
async function living(world: EmbeddedSandbox, more = settings) {
  const at = await testbed({ level: 'program', service: world, listens: true, settings: more });
  const daemon = await at.serveUntilSwept();
  await until(() => world.sandbox.callbacks(world.account).all()[0]?.verified === true);
  return { at, daemon };
}

it('F8 a second daemon on the same database is refused with 75; one-shot commands work beside the first', async () => {
  const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
  const { at, daemon } = await living(world);
  const second = await at.run('serve');
  expect([second.status, second.stdout]).toEqual([75, '']);
  expect(second.stderr).toContain(`Another daemon works on ${at.database}.`);
  const [first = 0] = idsAt(world);
  world.sandbox.vendors(world.account).setBalance(first, 'overdue', [{ amount: '7.50', code: 'USD' }]);
  const results = await Promise.all([at.run('sync'), at.run('reconcile')]);
  expect(results.map(({ status }) => status)).toEqual([0, 0]);
  expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
  expect(await daemon.end()).toBe(0);
  expect(existsSync(`${at.database}-wal`)).toBe(false);
});

it('F8 a daemon whose lock was removed exits with 75 as soon as a second daemon works on its files; the second continues', async () => {
  const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
  const { at, daemon } = await living(world);
  rmSync(`${at.database}.lock`);
  const elsewhere = join(at.folder, 'elsewhere.yaml');
  const ports = [await freePort(), await freePort()];
  writeFileSync(
    elsewhere,
    readFileSync(join(at.folder, 'mirror.yaml'), 'utf8')
      .replaceAll(String(at.listenerPort), String(ports[0]))
      .replaceAll(String(at.adminPort), String(ports[1])),
  );
  const second = watched(at.start('serve', '-c', elsewhere));
  // The callback is left to the first, which is there.
  await second.logged('secrets_shared');
  const [first = 0] = idsAt(world);
  world.sandbox.vendors(world.account).setBalance(first, 'overdue', [{ amount: '7.50', code: 'USD' }]);
  // It looks at its files each minute, and before it looks after its callbacks.
  daemon.child.kill('SIGHUP');
  expect(await daemon.ended).toBe(75);
  expect(daemon.stderr()).toContain(`Another daemon has taken over ${at.database}`);
  second.child.kill('SIGHUP');
  await second.swept();
  expect((await at.run('sync')).status).toBe(0);
  expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
  expect(await second.end()).toBe(0);
});

it.each<[string, (at: Testbed<'program'>) => number]>([
  ['the listener', (at) => at.listenerPort],
  ['the admin page', (at) => at.adminPort],
])('J9 a start while another program holds the port of %s ends with 69 and names the reason', async (name, portOf) => {
  const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
  const other = createServer().listen(portOf(at), '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { status, stdout, stderr } = await at.run('serve');
  expect([status, stdout]).toEqual([69, '']);
  expect(stderr).toContain(
    `${name} cannot listen on 127.0.0.1:${portOf(at)}: another program listens there. To choose another port: `,
  );
  expect((await at.run('sync')).status).toBe(0);
});

describe('C11 C13 deliveries are answered whatever the daemon is doing', () => {
  it('while it pulls ten thousand vendors: none waits for the pull to end', async () => {
    const world = await testbed({
      level: 'sandbox',
      world: { noteInList: 'yes' },
      vendors: 10_000,
      deliveries: { delay: [0, 0] },
    });
    const at = await testbed({ level: 'program', service: world, listens: true, settings });
    const ids = idsAt(world);
    let pages = 0;
    /** At which page each vendor's delivery was sent, and how many pages later it had been answered. */
    const sentAt = new Map<number, number>();
    const waited: number[] = [];
    const statuses = new Set<number | undefined>();
    world.sandbox.onDelivery(({ kind, objectId, status }) => {
      if (kind !== 'event') return;
      statuses.add(status);
      waited.push(pages - (sentAt.get(objectId) ?? 0));
    });
    const daemon = at.launch();
    world.sandbox.onRequest(({ path }) => {
      if (!path.endsWith('/bill_vendors')) return;
      pages += 1;
      if (pages % 10 !== 0 || pages > 600) return;
      const id = ids[pages] ?? 0;
      sentAt.set(id, pages);
      world.sandbox.vendors(world.account).edit(id, { city: 'Oslo' });
    });
    await daemon.swept();
    expect([waited.length, [...statuses]]).toEqual([60, [200]]);
    expect(Math.max(...waited)).toBeLessThan(100);
    expect(missing(at, world)).toEqual([]);
    expect(await daemon.end()).toBe(0);
  });

  it('while the service answers no request of its own: the answer waits for no request', async () => {
    const world = await testbed({
      level: 'sandbox',
      world: { noteInList: 'yes' },
      vendors: 100,
      deliveries: { delay: [0, 0] },
    });
    const { at, daemon } = await living(world);
    for (let nth = 0; nth < 20; nth++) world.sandbox.faults.next({ kind: 'hang' });
    const told = taken(daemon, world, 20);
    for (const id of idsAt(world).slice(0, 20)) world.sandbox.vendors(world.account).edit(id, { city: 'Oslo' });
    await told;
    expect(missing(at, world)).toEqual([]);
    expect(at.query(`SELECT id FROM deliveries WHERE outcome <> 'pending'`)).toEqual([]);
    expect(await daemon.end()).toBe(0);
  });

  it('C15 a burst of ten thousand for five vendors: each is acknowledged and journalled, and costs no read of its own', async () => {
    const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
    const { at, daemon } = await living(world);
    const callback = world.sandbox.callbacks(world.account).all()[0];
    if (!callback) throw new Error('There is no callback.');
    const deliveries = idsAt(world)
      .slice(0, 5)
      .map((id) => signed({ ...delivery, object_id: String(id) }, callback.verifier));
    let reads = 0;
    world.sandbox.onRequest(({ path }) => (reads += Number(/\/\d+$/.test(path))));
    const many = Array.from({ length: 10_000 }, (_, nth) => deliveries[nth % 5]!);
    expect(await flood({ address: callback.uri }, many)).toEqual({ 200: 10_000 });
    const counted = (outcome: string): unknown =>
      at.query('SELECT count(*) AS n FROM deliveries WHERE outcome = ?', outcome)[0];
    await until(() => at.query('SELECT 1 FROM dirty_vendors').length === 0);
    expect(counted('unchanged')).toEqual({ n: 10_000 });
    expect(reads).toBeLessThanOrEqual(50);
    expect(await daemon.end()).toBe(0);
  });

  it('J10 after it was stopped for a while: what arrived meanwhile is answered as soon as it continues', async () => {
    let posts = 0;
    const world = await testbed({
      level: 'sandbox',
      world: { noteInList: 'yes' },
      vendors: 100,
      deliveries: { delay: [0, 0] },
      fetch: (...post) => {
        posts += 1;
        return fetch(...post);
      },
    });
    const { at, daemon } = await living(world);
    daemon.child.kill('SIGSTOP');
    const before = posts;
    const told = taken(daemon, world, 20);
    for (const id of idsAt(world).slice(0, 20)) world.sandbox.vendors(world.account).edit(id, { city: 'Oslo' });
    await until(() => posts === before + 20);
    daemon.child.kill('SIGCONT');
    await told;
    expect(world.sandbox.deliveries().filter(isTaken)).toHaveLength(20);
    expect(missing(at, world)).toEqual([]);
    await until(() => at.query(`SELECT 1 FROM vendors WHERE city = 'Oslo'`).length === 20);
    expect(await daemon.end()).toBe(0);
  });
});

it('F15 F20 a copy for readers is swapped in after a run that changed something, and opens without a journal beside it', async () => {
  const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
  const { at, daemon } = await living(
    world,
    `publish: [{ path: copy.db }]\nschedule: { reconcile: "* * * * * *" }\n${settings}`,
  );
  const copy = join(at.folder, 'copy.db');
  const read: Testbed<'program'>['query'] = (sql, ...values) => ask(copy, sql, ...values);
  await until(() => existsSync(copy));
  expect(activeDifferences({ query: read, sandbox: world.sandbox })).toEqual([]);
  const { ino } = statSync(copy);
  const [first = 0] = idsAt(world);
  world.sandbox.vendors(world.account).setBalance(first, 'overdue', [{ amount: '7.50', code: 'USD' }]);
  await until(() => statSync(copy).ino !== ino);
  expect(activeDifferences({ query: read, sandbox: world.sandbox })).toEqual([]);
  // Bytes 18 and 19 of an SQLite file are 2 where it needs a WAL, and 1 where it needs none.
  expect([...readFileSync(copy).subarray(18, 20)]).toEqual([1, 1]);
  expect(['-wal', '-shm', '-journal'].filter((suffix) => existsSync(copy + suffix))).toEqual([]);
  expect(await daemon.end()).toBe(0);
});
