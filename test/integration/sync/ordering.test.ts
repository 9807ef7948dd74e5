/** Who wins, when, and who is waited for: the exact interleavings, through the running daemon. */
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import { account } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { isPage, slowNetwork } from '../../support/network/slow-network.ts';

function nameOf(at: Testbed<'daemon'>, vendorid: number): string | undefined {
  return at.query<{ vendor_name: string }>('SELECT vendor_name FROM vendors WHERE vendorid = ?', vendorid)[0]
    ?.vendor_name;
}

function supervisor(at: Testbed<'daemon'>): ReturnType<Testbed<'daemon'>['sandbox']['vendors']> {
  return at.sandbox.vendors(account);
}

function untilNamed(at: Testbed<'daemon'>, vendorid: number, name: string, atMost?: number): Promise<void> {
  return at.clock.until(`vendor ${vendorid} is ${name}`, () => nameOf(at, vendorid) === name, atMost);
}

describe('a change that was delivered', () => {
  it('is in the mirror within a second of its delivery', async () => {
    const at = await testbed({ level: 'daemon' });
    const told = new Promise<number>((resolve) => {
      at.sandbox.onDelivery(({ kind }) => {
        if (kind === 'event') resolve(at.clock.monotonic());
      });
    });
    supervisor(at).edit(someVendor(at), { vendor_name: 'New' });
    await untilNamed(at, someVendor(at), 'New');
    expect(at.clock.monotonic() - (await told)).toBeLessThan(1_000);
  });

  it('A13 C2 a page that was read before its re-read, and is applied after it, never wins', async () => {
    const { network, hold, letGo } = slowNetwork();
    const at = await testbed({ level: 'daemon', network });
    const id = someVendor(at);
    hold(isPage);
    await at.clock.until('a page is under way', () => at.requests.some((line) => line.endsWith('/bill_vendors')));
    supervisor(at).edit(id, { vendor_name: 'Newer' });
    await untilNamed(at, id, 'Newer', 5_000);
    letGo();
    await at.untilRuns();
    expect(nameOf(at, id)).toBe('Newer');
    expect(at.query('SELECT 1 FROM vendor_versions WHERE vendorid = ?', id)).toHaveLength(2);
  });

  it('C4 is read again where it comes while its vendor is being read', async () => {
    const { network, hold, letGo } = slowNetwork();
    const at = await testbed({ level: 'daemon', network });
    const id = someVendor(at);
    hold((url) => url.pathname.endsWith(`/${id}`));
    supervisor(at).edit(id, { vendor_name: 'First' });
    await at.clock.until('it is being read', () => at.requests.some((line) => line.endsWith(String(id))));
    supervisor(at).edit(id, { vendor_name: 'Second' });
    await at.clock.until('both were told', () => at.query('SELECT 1 FROM deliveries').length === 2);
    letGo();
    await untilNamed(at, id, 'Second', 10_000);
    await at.untilQuiet();
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'applied' }, { outcome: 'applied' }]);
  });

  it.each([[[]], [['readLag=2', 'listLag=2']], [['readOne=404', 'listLag=2']]])(
    'B1 B2 B3 two changes within one second both land, in the world %j',
    async (world) => {
      const at = await testbed({ level: 'daemon', world, deliveries: { delay: [50, 60] } });
      const id = someVendor(at);
      supervisor(at).edit(id, { vendor_name: 'First' });
      await at.clock.pass(300);
      supervisor(at).edit(id, { city: 'Second' });
      await at.clock.until(
        'both are there',
        () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ? AND city = ?', 'First', 'Second').length > 0,
        60_000,
      );
      expect(at.runs.every(({ outcome }) => outcome === 'complete')).toBe(true);
    },
  );

  it.each(['readLag=2', 'readLag=20'])('C6 about a vendor that is not visible yet ends visible (%s)', async (lag) => {
    const at = await testbed({ level: 'daemon', world: [lag] });
    const { vendorid } = supervisor(at).create({ vendor_name: 'Brand new', language: 'en', currency_code: 'USD' });
    await untilNamed(at, Number(vendorid), 'Brand new', 60_000);
    await at.untilQuiet();
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'applied' }]);
    expect(at.runs).toHaveLength(1);
  });
});

describe('where the service reads no vendor by number', () => {
  it.each(['readOne=404', 'readOne=405'])('C9 one sweep reads all marked vendors (%s)', async (readOne) => {
    const { network, hold, letGo } = slowNetwork();
    const at = await testbed({ level: 'daemon', world: [readOne], network });
    const ids = supervisor(at)
      .all()
      .slice(0, 20)
      .map(({ vendorid }) => Number(vendorid));
    for (const id of ids) supervisor(at).edit(id, { vendor_name: `New ${id}` });
    hold(isPage);
    await at.clock.until('all were told', () => at.query('SELECT 1 FROM deliveries').length === 20);
    letGo();
    await at.clock.until('all are there', () => ids.every((id) => nameOf(at, id) === `New ${id}`), 30_000);
    await at.untilQuiet();
    expect(at.query(`SELECT 1 FROM deliveries WHERE settled_at IS NOT NULL`)).toHaveLength(20);
    expect(at.query('SELECT 1 FROM findings WHERE explained_at IS NULL')).toEqual([]);
    // One for those that came, one for those that came meanwhile, and a second look.
    expect(at.runs.length).toBeLessThanOrEqual(1 + 3);
    expect(at.runs.slice(1).every(({ trigger }) => trigger === 'queue')).toBe(true);
  });

  it.each([
    ['nothing new, not by what the first has shown', 'unchanged'],
    ['a change, by what it shows', 'applied'],
  ])('the second sweep of a run settles deliveries that arrived before it: %s', async (_, outcome) => {
    const at = await testbed({ level: 'daemon', world: ['readOne=405'] });
    const [edited = 0, vanished = 0, other = 0] = supervisor(at)
      .all()
      .map(({ vendorid }) => Number(vendorid));
    const outcomes = (): unknown[] => at.query('SELECT outcome FROM deliveries').map(({ outcome }) => outcome);
    supervisor(at).vanish(vanished);
    supervisor(at).edit(edited, { vendor_name: 'New' });
    await at.clock.until('the first sweep has shown it', () => outcomes().includes('applied'), 60_000);
    if (outcome === 'applied') supervisor(at).edit(other, { vendor_name: 'Newer' });
    else at.sandbox.emit(account, 'bill_vendor.update', edited);
    await at.clock.until('both are settled', () => outcomes().length === 2 && !outcomes().includes('pending'), 120_000);
    expect(outcomes()).toEqual(['applied', outcome]);
  });

  it('a sweep that found a changed balance, which no event announces, is followed by a second look', async () => {
    const at = await testbed({ level: 'daemon', world: ['readOne=405'] });
    const id = Number(supervisor(at).all()[0]!['vendorid']);
    supervisor(at).setBalance(id, 'outstanding', [{ amount: '77.00', code: 'USD' }]);
    at.sandbox.emit(account, 'bill_vendor.update', id);
    const settled = (): unknown[] => at.query('SELECT outcome FROM deliveries WHERE settled_at IS NOT NULL');
    await at.clock.until('it is settled', () => settled().length > 0, 120_000);
    expect(settled()).toEqual([{ outcome: 'unchanged' }]);
    expect(at.runs.filter(({ trigger }) => trigger === 'queue')).toHaveLength(2);
  });
});

describe('a delivery about a vendor that is not found', () => {
  it('C7 C8 C20 is parked after some attempts, tried again by a reconciliation, and then settled as not found', async () => {
    const at = await testbed({ level: 'daemon' });
    at.sandbox.emit(account, 'bill_vendor.update', 999_999);
    await at.clock.until(
      'it is parked',
      () => at.query('SELECT 1 FROM dirty_vendors WHERE due_at IS NULL').length > 0,
      600_000,
    );
    expect(at.requests.filter((line) => line.endsWith('/999999'))).toHaveLength(5);
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'parked' }]);
    await at.untilRuns();
    await at.clock.pass(1_000);
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'not_found' }]);
    expect(at.query('SELECT * FROM dirty_vendors')).toEqual([]);
    expect(at.runs.at(-1)?.outcome).toBe('complete');
  });

  it.each([[[]], [['readOne=404']]])(
    'C7 C8 C20 that was parked is settled as not found by the next reconciliation although another followed, in the world %j',
    async (world) => {
      const at = await testbed({ level: 'daemon', world });
      const outcomes = (): string[] =>
        at.query<{ outcome: string }>('SELECT outcome FROM deliveries ORDER BY id').map(({ outcome }) => outcome);
      const emit = (): void => at.sandbox.emit(account, 'bill_vendor.update', 999_999);
      emit();
      await at.clock.until('it is parked', () => outcomes()[0] === 'parked', 600_000);
      emit();
      await at.clock.until('another came', () => outcomes().length === 2);
      const { signal } = new AbortController();
      await at.beside((installation) => installation.pull(account, { kind: 'reconcile', trigger: 'command', signal }));
      expect(outcomes()).toEqual(['not_found', 'pending']);
    },
  );

  it('C20 is not settled by a list alone if it was parked again while the list was read', async () => {
    let slow = false;
    let refused = false;
    const at: Testbed<'daemon'> = await testbed({
      level: 'daemon',
      settings: {
        service: {
          baseUrl: 'https://service.example',
          auth: { accessToken: 'a-token' },
          paging: { perPage: 5, concurrency: 1 },
        },
      },
      async answer(url) {
        if (refused && url.pathname.endsWith('/999999')) return new Response('', { status: 403 });
        if (slow && isPage(url)) await sleep(at.clock, 25_000);
        return undefined;
      },
    });
    const outcomes = (): unknown[] => at.query('SELECT outcome FROM deliveries ORDER BY id');
    const isParked = (): boolean => at.query('SELECT 1 FROM dirty_vendors WHERE due_at IS NULL').length > 0;
    const emit = (): void => at.sandbox.emit(account, 'bill_vendor.update', 999_999);
    emit();
    await at.clock.until('it is parked', isParked, 600_000);
    slow = true;
    emit();
    const { signal } = new AbortController();
    const run = at.beside((installation) =>
      installation.pull(account, { kind: 'reconcile', trigger: 'command', signal }),
    );
    await at.clock.until('it waits again', () => !isParked(), 60_000);
    await at.clock.until('it is parked again', isParked, 600_000);
    refused = true;
    expect((await run).outcome).toBe('complete');
    expect(outcomes()).toEqual([{ outcome: 'parked' }, { outcome: 'parked' }]);
  });

  it('C7 C8 whose id is that of a callback changes no vendor, and the change is found by a sweep', async () => {
    const at = await testbed({ level: 'daemon', world: ['objectId=callback'] });
    const id = someVendor(at);
    supervisor(at).edit(id, { vendor_name: 'New' });
    await untilNamed(at, id, 'New', 16 * 60_000);
    await at.untilRuns(2);
    expect(at.query('SELECT count(*) AS n FROM vendors')).toEqual([{ n: 40 }]);
  });
});

const warn = 40;

it('C20 J6 J7 A23 an outage of hours loses nothing, causes few requests, and fills no log', async () => {
  const at = await testbed({ level: 'daemon' });
  const ids = supervisor(at)
    .all()
    .slice(0, 10)
    .map(({ vendorid }) => Number(vendorid));
  // `updated_at` has whole seconds: a delivery of the same second may be about an edit before.
  await at.clock.pass(990 - (at.clock.now() % 1_000));
  const outage = at.clock.now() + 4 * 3_600_000;
  const stop = at.sandbox.onRequest(() => {
    if (at.clock.now() < outage) at.sandbox.faults.next({ kind: '500' });
  });
  for (const id of ids) supervisor(at).edit(id, { vendor_name: `New ${id}` });
  await at.clock.pass(4 * 3_600_000);
  stop();
  expect(at.query<{ n: number }>('SELECT count(*) AS n FROM deliveries')[0]?.n).toBe(10);
  expect(at.requests.length).toBeLessThan(4 * 60 * 30);
  // A line for each request at most, and one above info in a minute.
  expect(at.log.length).toBeLessThan(at.requests.length + 10);
  expect(at.log.filter(({ level }) => level >= warn).length).toBeLessThan(4 * 60);
  await at.clock.until('all are there', () => ids.every((id) => nameOf(at, id) === `New ${id}`), 3_600_000);
  await at.untilQuiet();
  expect(at.query(`SELECT 1 FROM deliveries WHERE outcome IN ('pending', 'parked')`)).toEqual([]);
  expect(at.query(`SELECT 1 FROM findings WHERE kind LIKE 'missed_%'`)).toEqual([]);
});

describe('K32 a second look that is configured before the end of the lag', () => {
  it('happens when the lag is over: every announced change is in the mirror', async () => {
    const at = await testbed({
      level: 'daemon',
      world: ['readLag=4'],
      settings: { sync: { secondLook: '1s', lag: '5s' } },
      deliveries: { delay: [50, 60] },
    });
    const ids = at
      .query<{ vendorid: number }>('SELECT vendorid FROM active_vendors ORDER BY vendorid LIMIT 24')
      .map(({ vendorid }) => vendorid);
    for (const id of ids) {
      supervisor(at).edit(id, { vendor_name: `New ${id}` });
      await at.clock.pass(200);
    }
    await at.untilQuiet();
    expect(ids.filter((id) => nameOf(at, id) !== `New ${id}`)).toEqual([]);
    expect(at.query("SELECT 1 FROM deliveries WHERE outcome <> 'applied'")).toEqual([]);
  });
});
