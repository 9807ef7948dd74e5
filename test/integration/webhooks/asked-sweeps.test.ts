/** Deliveries that cannot mark the vendor that changed ask for a sweep. */
import { describe, expect, it } from 'vitest';
import { seedOf } from '../../../src/sandbox/core/random.ts';
import { idOf } from '../../../src/sandbox/vendors/vendor-book.ts';
import { connectWriter } from '../../../src/store/sqlite/driver.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** A name that a vendor is given now, and whether the mirror shows it. */
let marker = 0;
function rename(at: Testbed<'daemon'>, vendorid: number): () => boolean {
  marker += 1;
  const name = `Renamed ${marker}`;
  at.sandbox.vendors(account).edit(vendorid, { vendor_name: name });
  return () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0;
}

/** The number of the vendor that stands there in the service's list. */
const idAt = (at: Testbed<'daemon'>, index: number): number =>
  Number(at.sandbox.vendors(account).all()[index]?.['vendorid']);

/** A service one of whose vendors has the number that its first callback gets. */
const sameNumbers = {
  vendors: 150,
  seed: Array.from({ length: 100 }, (_, seed) => `seed ${seed}`).find(
    (seed) => idOf(seedOf(seedOf(seed), account), 143) === 2_001,
  )!,
};

const sweeps = (at: Testbed<'daemon'>): number => at.query(`SELECT 1 FROM runs WHERE "trigger" = 'queue'`).length;
const unsettled = (at: Testbed<'daemon'>): number =>
  at.query("SELECT 1 FROM deliveries WHERE outcome = 'pending'").length;
const open = (at: Testbed<'daemon'>): unknown[] => at.query('SELECT * FROM _sweep_requests WHERE asked_at IS NOT NULL');

describe('K33 object_id is the id of one of our callbacks', () => {
  it('and the change is found by a sweep within two minutes, of which there is at most one a minute', async () => {
    const at = await testbed({ level: 'daemon', world: ['objectId=callback'] });
    const shows = rename(at, idAt(at, 7));
    await at.clock.until('the change is there', shows, 120_000);
    const first = sweeps(at);
    expect(first).toBe(1);
    const begun = at.clock.monotonic();
    for (let count = 0; count < 20; count += 1) {
      rename(at, idAt(at, count));
      await at.clock.pass(10_000);
    }
    const minutes = (at.clock.monotonic() - begun) / 60_000;
    expect(sweeps(at) - first).toBeLessThanOrEqual(Math.ceil(minutes));
    expect(sweeps(at) - first).toBeGreaterThanOrEqual(2);
    await at.clock.until('all are there', () => open(at).length === 0, 180_000);
    const truth = at.sandbox.vendors(account).all();
    const names = at.query<{ name: string }>('SELECT vendor_name AS name FROM vendors ORDER BY vendorid');
    expect(names.map(({ name }) => name)).toEqual(truth.map((vendor) => vendor['vendor_name']));
  });

  it('and status says how many such deliveries came', async () => {
    const at = await testbed({ level: 'daemon', world: ['objectId=callback'] });
    const [first, second] = [rename(at, idAt(at, 7)), rename(at, idAt(at, 8))];
    await at.clock.until('the changes are there', () => first() && second(), 120_000);
    const { accounts } = JSON.parse((await at.look('/api/status')).body) as {
      accounts: { sweep_request: Record<string, unknown> }[];
    };
    expect(accounts[0]?.sweep_request).toMatchObject({ callback_ids: 2 });
    expect(accounts[0]?.sweep_request['callback_id_at']).toMatch(/^\d{4}-/);
  });

  it('C8 and a vendor has the same number: that one is read, and the one that changed is found too', async () => {
    const at = await testbed({ level: 'daemon', ...sameNumbers, world: ['objectId=callback'] });
    const callbackid = at.sandbox.callbacks(account).all()[0]?.id ?? 0;
    expect(at.query('SELECT 1 FROM vendors WHERE vendorid = ?', callbackid)).toHaveLength(1);
    const shows = rename(at, idAt(at, 7));
    await at.clock.until('the vendor of that number was read', () =>
      at.requests.some((request) => request.endsWith(`bill_vendors/${callbackid}`)),
    );
    expect(shows()).toBe(false);
    await at.clock.until('the change is there', shows, 120_000);
  });

  it('C8 where object_id is the vendor, and one has the number of our callback: it is read at once', async () => {
    const at = await testbed({ level: 'daemon', ...sameNumbers });
    const callbackid = at.sandbox.callbacks(account).all()[0]?.id ?? 0;
    await at.clock.until('the change is there', rename(at, callbackid), 10_000);
    expect([open(at).length, sweeps(at)]).toEqual([1, 0]);
    await at.clock.until('the sweep was', () => open(at).length === 0, 180_000);
  });
});

describe('L26 object_id is no id', () => {
  it('and the change is found by a sweep within two minutes', async () => {
    const at = await testbed({ level: 'daemon', world: ['objectId=text'] });
    const first = sweeps(at);
    const shows = rename(at, idAt(at, 7));
    await at.clock.until('the change is there', shows, 120_000);
    expect(sweeps(at) - first).toBe(1);
    expect(at.sandbox.deliveries().filter(({ kind, status }) => kind === 'event' && status !== 200)).toEqual([]);
  });
});

describe('K29 a burst marks more vendors than the queue may hold', () => {
  it('and is answered 200, journalled, and answered by a sweep that begins after it', async () => {
    const at = await testbed({ level: 'daemon' });
    // As many marks as may wait, far in the future, as those of a long pause do.
    await at.stop();
    const file = connectWriter(at.settings.database);
    file.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO dirty_vendors (account_id, vendorid, generation, marked_at, due_at, due_ms, attempts, reason)
      SELECT '${account}', 100000 + i, i, '2026-11-20 09:00:00.000', '2099-01-01 00:00:00.000', 9000000000000, 0, 'delivery' FROM n`);
    file.close();
    await at.reopen();
    await at.start();
    await at.untilRuns();
    await at.clock.pass(30_000);
    const runs = at.runs.length;
    const [first, second] = [rename(at, idAt(at, 3)), rename(at, idAt(at, 4))];
    await at.clock.until('they were told', () => unsettled(at) === 2, 20_000);
    expect(at.sandbox.deliveries().filter(({ kind, status }) => kind === 'event' && status !== 200)).toEqual([]);
    expect([open(at).length, at.runs.length]).toEqual([1, runs]);
    await at.clock.until('they are there', () => first() && second(), 120_000);
    await at.clock.until('the request is answered', () => open(at).length === 0, 10_000);
    expect([at.runs.length, at.runs.at(-1)?.trigger]).toEqual([runs + 1, 'queue']);
    expect(at.query('SELECT outcome FROM deliveries ORDER BY id DESC LIMIT 2')).toEqual([
      { outcome: 'applied' },
      { outcome: 'applied' },
    ]);
  });
});
