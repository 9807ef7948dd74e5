/** Services that hide vendors, answer for others, or count wrongly. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/sandbox/core/random.ts';
import { account } from '../../support/names.ts';
import { changingResults } from '../../support/network/service-answers.ts';
import { testbed, type Testbed, type TestbedOptions } from '../../support/testbed.ts';
import { activeIds, pulledAccount, shortPages } from '../../support/testbed/pulled-account.ts';

function absent(at: Testbed<'account'>): number {
  const [row] = at.query<{ n: number }>("SELECT count(*) AS n FROM vendors WHERE presence IN ('missing', 'gone')");
  return row?.n ?? 0;
}

/** The page that answers in front of a service that is down. */
const formless = (): Response =>
  new Response('<html><body>404 Not Found</body></html>', { status: 404, headers: { 'content-type': 'text/html' } });

describe('a service whose lists hide deleted vendors', () => {
  const world = ['listDeleted=hidden', 'visStateFilter=ignored'];

  it('K1 one deletion during a sweep makes no suspects of the many vendors that were deleted before', async () => {
    const at = await pulledAccount({ world, vendors: 150 });
    for (const vendorid of activeIds(at, 118)) at.sandbox.vendors(account).delete(vendorid);
    expect(await at.pull({ approved: 118 })).toMatchObject({ outcome: 'complete', suspects: 118 });
    await at.clock.advance(60_000);
    const [shown] = activeIds(at, 1);
    const syncAccount = at.installation.account(account);
    let reading: Promise<unknown> | undefined;
    const run = await at.pull({
      onProgress: ({ page }) => {
        if (page !== 1 || reading) return;
        // It has been shown; then it is deleted, and the worker answers its delivery while the sweep goes on.
        at.sandbox.vendors(account).delete(shown!);
        reading = syncAccount.reader.read(shown!, {
          context: { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 0 },
          signal: new AbortController().signal,
        });
      },
    });
    await reading;
    expect(run).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect(absent(at)).toBe(0);
  });

  it('K11 the mirror claims no more than the oldest reading of hidden vendors', async () => {
    const at = await pulledAccount({ world, vendors: 460, settings: { service: { paging: { perPage: 100 } } } });
    for (const vendorid of activeIds(at, 450)) at.sandbox.vendors(account).delete(vendorid);
    await at.pull({ approved: 450 });
    await at.clock.advance(3_600_000);
    const began = at.clock.now();
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    const [fresh] = at.query<{ safe_as_of: string; listed_as_of: string }>('SELECT * FROM freshness');
    expect(Date.parse(`${fresh!.listed_as_of}Z`)).toBeGreaterThanOrEqual(began - 5_000);
    // 200 of the 450 were read in this run; the others an hour ago.
    expect(Date.parse(`${fresh!.safe_as_of}Z`)).toBeLessThan(began - 3_500_000);
    await at.pull();
    await at.pull();
    const [later] = at.query<{ safe_as_of: string }>('SELECT * FROM freshness');
    expect(Date.parse(`${later!.safe_as_of}Z`)).toBeGreaterThanOrEqual(began - 5_000);
  });
});

describe('a service behind a proxy that answers 404 in its place', () => {
  it("K4 404s that are not in the service's form prove nothing, and all vendors return", async () => {
    let isDown = false;
    const at = await pulledAccount({
      vendors: 200,
      world: ['listDeleted=hidden', 'visStateFilter=ignored'],
      answer: (url) => (isDown && /\/\d+$/.test(url.pathname) ? formless() : undefined),
    });
    for (const vendorid of activeIds(at, 150)) at.sandbox.vendors(account).delete(vendorid);
    expect(await at.pull({ approved: 150 })).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(60_000);
    isDown = true;
    const run = await at.pull({ kind: 'reconcile' });
    expect(absent(at)).toBe(0);
    expect(run.notes.join()).toContain('404');
    isDown = false;
    await at.clock.advance(60_000);
    expect(await at.pull({ kind: 'reconcile' })).toMatchObject({ outcome: 'complete' });
    expect(absent(at)).toBe(0);
  });

  it('K4 P1 a vendor whose 404 proves nothing, while no other vendor can be read, is missing once a second sweep of the run agrees', async () => {
    let isUnreadable = false;
    const at = await pulledAccount({
      vendors: 3,
      answer: (url) => (isUnreadable && /\/\d+$/.test(url.pathname) ? formless() : undefined),
    });
    const [known, vanished] = activeIds(at, 2);
    at.sandbox.vendors(account).vanish(known!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    await at.clock.advance(60_000);
    at.sandbox.vendors(account).vanish(vanished!);
    isUnreadable = true;
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(at.query("SELECT vendorid, presence FROM vendors WHERE presence <> 'present' ORDER BY 1")).toEqual([
      { vendorid: known, presence: 'gone' },
      { vendorid: vanished, presence: 'missing' },
    ]);
  });

  it('P4 a vendor that was restored and read while a run was waiting for reads by id is not called missing by that run', async () => {
    let isUnreadable = false;
    let readsLeft = Infinity;
    const at = await pulledAccount({
      vendors: 3,
      world: ['listDeleted=hidden', 'visStateFilter=ignored', 'readDeleted=404'],
      async answer({ pathname }) {
        if (!isUnreadable || !/\/\d+$/.test(pathname)) return undefined;
        readsLeft -= 1;
        if (readsLeft === 0) {
          // The last request before the run decides: meanwhile the vendor is restored, and a delivery leads to a reading.
          isUnreadable = false;
          at.sandbox.vendors(account).restore(restored!);
          await at.installation.account(account).reader.read(restored!, {
            context: { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 0 },
            signal: new AbortController().signal,
          });
          isUnreadable = true;
          await at.clock.advance(60_000);
        }
        return formless();
      },
    });
    const [known, restored] = activeIds(at, 2);
    const { installation, sandbox } = at;
    const missedBefore = async (vendorid: number): Promise<void> => {
      const { begun, readSeq } = await installation.mirror.takeStamp();
      const evidence = { kind: 'unlisted', begun, ended: begun - 5_000 } as const;
      await installation.mirror.vendors.markSuspects(account, [vendorid], { evidence, readSeq, lag: 5_000 });
    };
    // From the vendor that vanished, the program learns that the service reads vendors by id.
    sandbox.vendors(account).vanish(known!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    await at.clock.advance(60_000);
    sandbox.vendors(account).delete(restored!);
    // An earlier complete sweep did not list it either.
    await missedBefore(restored!);
    isUnreadable = true;
    readsLeft = 1_000;
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    const readsOfARun = 1_000 - readsLeft;
    expect(absent(at)).toBe(2);

    isUnreadable = false;
    sandbox.vendors(account).restore(restored!);
    await at.clock.advance(60_000);
    await at.pull();
    await at.clock.advance(60_000);
    sandbox.vendors(account).delete(restored!);
    await missedBefore(restored!);
    isUnreadable = true;
    readsLeft = readsOfARun;
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(readsLeft).toBeLessThanOrEqual(0);
    expect(absent(at)).toBe(1);
  });

  it('K4 absences of vendors that lists hide count for the breaker', async () => {
    const at = await pulledAccount({ vendors: 200, world: ['listDeleted=hidden', 'visStateFilter=ignored'] });
    const deleted = activeIds(at, 50);
    for (const vendorid of deleted) at.sandbox.vendors(account).delete(vendorid);
    expect(await at.pull({ approved: 50 })).toMatchObject({ outcome: 'complete' });
    for (const vendorid of deleted) at.sandbox.vendors(account).vanish(vendorid);
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'breaker_tripped' } });
    expect(absent(at)).toBe(0);
    expect(await at.pull({ approved: 50 })).toMatchObject({ outcome: 'complete' });
    expect(absent(at)).toBe(50);
  });

  it('K4 a vendor that was gone and can be read again is present again', async () => {
    // The service itself denies it for a while, in its own form.
    let isDenied = false;
    const denied = (): Response =>
      Response.json({ response: { errors: [{ errno: 1012, message: 'Not found.' }] } }, { status: 404 });
    const at = await pulledAccount({
      world: ['listDeleted=hidden', 'visStateFilter=ignored'],
      answer: ({ pathname }) => (isDenied && pathname.endsWith(`/${one}`) ? denied() : undefined),
    });
    const [one] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(one!);
    await at.pull();
    await at.clock.advance(60_000);
    isDenied = true;
    await at.pull();
    expect(absent(at)).toBe(1);
    isDenied = false;
    await at.clock.advance(60_000);
    await at.pull({ kind: 'reconcile' });
    expect(at.query('SELECT presence, vis_state FROM vendors WHERE vendorid = ?', one)).toEqual([
      { presence: 'present', vis_state: 1 },
    ]);
  });
});

describe('a service whose counts differ from its rows', () => {
  const recounted = (
    change: (list: { total?: number; pages?: number; page?: number }) => void,
  ): TestbedOptions<'account'> => ({
    world: ['listDeleted=shown', 'visStateFilter=ignored'],
    rewrite: changingResults((result) => {
      if (result.bill_vendors) change(result);
    }),
  });

  it('K14 a list whose pages are all numbered 1 over the right rows is complete, because the rows decide', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 60,
      settings: { service: { paging: shortPages } },
      ...recounted((list) => (list.page = 1)),
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', proof: 'plain', seen: 60 });
  });

  it('K16 a list that shows more rows than it counts is complete after two walks, with a finding', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 58,
      settings: { service: { paging: shortPages } },
      ...recounted((list) => (list.total = 51)),
    });
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete', seen: 58 });
    expect(run.requests).toBeLessThanOrEqual(14);
    expect(at.query("SELECT fields FROM findings WHERE kind = 'count_mismatch'")).toEqual([
      { fields: '{"shown":58,"counted":51}' },
    ]);
  });

  it('K15 a first list that is empty by a fault is requested again before anything is claimed', async () => {
    // Where page 0 is page 1 again, it shows at once that there are vendors.
    const at = await testbed({
      level: 'account',
      vendors: 40,
      world: ['pageZero=422'],
      settings: { service: { paging: shortPages } },
    });
    at.sandbox.faults.next({ kind: 'empty_list' });
    const begun = at.clock.monotonic();
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 40 });
    expect(at.query('SELECT count(*) AS n FROM active_vendors')).toEqual([{ n: 40 }]);
    // A list that lags may be empty again at once.
    expect(at.clock.monotonic() - begun).toBeGreaterThanOrEqual(at.settings.sync.lag);
  });

  it('K15 so it is where a deleted vendor is known already, which the list would not show', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 40,
      world: ['listDeleted=hidden', 'visStateFilter=ignored'],
      settings: { service: { paging: shortPages } },
    });
    const { reader, sync, mirror } = at.installation.account(account);
    const deleted = at.sandbox.vendors(account).someId(seededRandom(1))!;
    at.sandbox.vendors(account).delete(deleted);
    const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag } as const;
    await reader.read(deleted, { context, signal: new AbortController().signal });
    expect(await mirror.vendors.countVendors(account)).toBe(1);
    at.sandbox.faults.next({ kind: 'empty_list' });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 39 });
  });

  it('K15 a first list that is empty twice is believed, and later vendors are simply new', async () => {
    const at = await testbed({ level: 'account', vendors: 0, settings: { service: { paging: shortPages } } });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 0 });
    expect(at.query('SELECT safe_as_of IS NULL AS claims FROM freshness')).toEqual([{ claims: 0 }]);
    at.sandbox.vendors(account).create({ vendor_name: 'First', language: 'en' });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', created: 1 });
  });
});

describe('a list that changes all the time', () => {
  /** Twenty changes a second. */
  const lively = (): NonNullable<TestbedOptions<'account'>['onRequest']> => {
    const random = seededRandom(31);
    let next = -Infinity;
    return ({ sandbox, clock }) => {
      const vendorService = sandbox.vendors(account);
      for (next = Math.max(next, clock.now() - 1_000); next < clock.now(); next += 50) {
        const [kind, id] = [random.below(5), vendorService.someId(random)!];
        if (kind === 0) vendorService.create({ vendor_name: 'New', language: 'en' });
        else if (kind === 1) vendorService.delete(id);
        else vendorService.edit(id, { city: `City ${random.below(1_000)}` });
      }
    };
  };
  const lists = {
    world: ['visStateFilter=ignored'],
    settings: { service: { paging: { perPage: 100 } } },
    latency: 100,
  };

  it.each(['id', 'newest', 'updated_newest'])(
    'K31 is complete for 6,000 vendors by %s with twenty changes a second, with at most three times the requests of a plain walk',
    async (order) => {
      const at = await testbed({
        level: 'account',
        ...lists,
        vendors: 6_000,
        world: [...lists.world, `order=${order}`],
        onRequest: lively(),
      });
      const before = new Set(
        at.sandbox
          .vendors(account)
          .all()
          .filter((row) => Number(row['vis_state']) === 0)
          .map((row) => Number(row['vendorid'])),
      );
      const touched = new Set<number>();
      at.sandbox.onChange(({ vendorid }) => touched.add(vendorid));
      const run = await at.pull({
        onProgress: ({ seen, total }) => expect(seen, 'progress').toBeLessThanOrEqual(total),
      });
      expect(run).toMatchObject({ outcome: 'complete', proof: 'windows' });
      expect(run.requests).toBeLessThanOrEqual(3 * 60);
      const stored = new Set(
        at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map(({ vendorid }) => vendorid),
      );
      expect([...before].filter((vendorid) => !touched.has(vendorid) && !stored.has(vendorid))).toEqual([]);
      expect(at.query('SELECT proof FROM runs')).toEqual([{ proof: 'windows' }]);
    },
  );

  it('K31 is read by windows at once if it changed in the last sweeps, with at most a third more requests than a plain walk', async () => {
    const at = await testbed({ level: 'account', ...lists, vendors: 3_000, onRequest: lively() });
    await at.pull();
    await at.clock.advance(60_000);
    const listed = at.query<{ n: number }>('SELECT count(*) AS n FROM active_vendors')[0]!.n;
    const asked: string[] = [];
    at.sandbox.onRequest(({ query }) => {
      if (query.has('page')) asked.push(String(query.get('page')));
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', proof: 'windows' });
    expect(asked.length).toBeLessThanOrEqual(Math.ceil(1.4 * Math.ceil(listed / 100)));
  });
});
