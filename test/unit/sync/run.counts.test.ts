import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Ids of the vendors that the service itself holds, by its records, and that a list shows. */
function listedIds(at: Testbed<'account'>): number[] {
  const { sandbox } = at;
  return sandbox
    .vendors(account)
    .all()
    .filter(({ vis_state }) => Number(vis_state) !== 1)
    .map(({ vendorid }) => Number(vendorid))
    .sort((a, b) => a - b);
}

function mirroredIds(at: Testbed<'account'>): unknown[] {
  return at
    .query("SELECT vendorid FROM vendors WHERE vis_state <> 1 AND presence = 'present' ORDER BY 1")
    .map(({ vendorid }) => vendorid);
}

const pastEnds = ['empty', '404', 'last', 'first', '422', 'html'];

describe('a pull over a long link, whose round trips take all of its time', () => {
  it.each([
    // Pages 1, 0 and 2; pages 2 to 8 and the one past the end; deleted and archived vendors.
    [4, [4, 4]],
    [1, [13, 11]],
  ])('has as few of them one after the other as %i pages at once allow', async (concurrency, expected) => {
    const latency = 1_000;
    const at = await testbed({
      level: 'account',
      vendors: 80,
      latency,
      world: [
        'perPage=honoured',
        'visStateFilter=ignored',
        'pageZero=first',
        'listDeleted=shown',
        'listArchived=shown',
      ],
      settings: { service: { paging: { perPage: 10, concurrency } } },
    });
    const inSequence = async (): Promise<number> => {
      const { outcome, seconds } = await at.pull();
      expect(outcome).toBe('complete');
      await at.clock.advance(3_600_000);
      return (seconds * 1_000) / latency;
    };
    expect([await inSequence(), await inSequence()]).toEqual(expected);
  });
});

describe('a list whose counts are wrong', () => {
  // All pairs: `simulation/sweeps`.
  it.each(
    ['total=fewer', 'total=capped', 'total=page', 'total=zero', 'pages=one', 'pages=endless', 'paging=zero'].flatMap(
      (world, nth) => [0, 3].map((step) => [world, pastEnds[(nth + step) % pastEnds.length]!, 30 + nth * 2] as const),
    ),
  )('L1 L20 is mirrored whole: %s, a page past the end %s', async (world, pastEnd, vendors) => {
    const at = await testbed({
      level: 'account',
      vendors,
      world: [world, `pastEnd=${pastEnd}`, 'perPage=honoured'],
      settings: { service: { paging: { perPage: 10 } } },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(mirroredIds(at)).toEqual(listedIds(at));
    await at.clock.advance(3_600_000);
    const again = await at.pull();
    expect(again).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect(again.requests).toBeLessThan(30);
  });

  it.each([
    ['12 MB', 1_500, 8_000, 'last'],
    ['1,001 vendors', 1_001, 0, 'empty'],
  ])('L20 is mirrored whole from a single page, of %s', async (_, vendors, padding, pastEnd) => {
    const at = await testbed({
      level: 'account',
      vendors,
      world: ['perPage=all', `pastEnd=${pastEnd}`, 'visStateFilter=honoured'],
      rewrite: (text) => text.replaceAll('"vendorid":', () => `"padding":"${'x'.repeat(padding)}","vendorid":`),
    });
    for (const outcome of ['complete', 'complete']) {
      expect(await at.pull()).toMatchObject({ outcome });
      expect(mirroredIds(at)).toEqual(listedIds(at));
      await at.clock.advance(3_600_000);
    }
  });

  it('L1 costs one request more where the last page is full, and where pages are counted from is asked once a day, with two requests', async () => {
    const of = async (vendors: number): Promise<number> => {
      const at = await testbed({
        level: 'account',
        vendors,
        world: ['perPage=honoured', 'listDeleted=shown'],
        settings: { service: { paging: { perPage: 10 }, extraWalks: 'never' } },
      });
      const first = await at.pull();
      await at.clock.advance(3_600_000);
      const second = await at.pull();
      expect(first.requests - second.requests).toBe(2);
      return second.requests;
    };
    expect(await of(29)).toBe(3);
    expect(await of(30)).toBe(4);
  });

  it.each([15, 25])('L1 is mirrored whole from page 0 once it grows from one page to %s vendors', async (vendors) => {
    const at = await testbed({
      level: 'account',
      vendors: 8,
      world: ['paging=zero', 'pastEnd=last', 'perPage=honoured'],
      settings: { service: { paging: { perPage: 10 } } },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    for (let more = 8; more < vendors; more += 1) at.sandbox.vendors(account).create({ vendor_name: `More ${more}` });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(mirroredIds(at)).toEqual(listedIds(at));
  });

  it.each(['404', '422', 'html'])(
    'L1 L4 is mirrored whole from page 0 where page 1 does not exist, and page sizes are refused by %s',
    async (pastEnd) => {
      const at = await testbed({
        level: 'account',
        vendors: 8,
        world: ['paging=zero', `pastEnd=${pastEnd}`, 'refuses=per_page', 'refusal=404'],
      });
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(mirroredIds(at)).toEqual(listedIds(at));
    },
  );

  it.each(
    ['total=page', 'total=capped', 'total=zero', 'total=right'].flatMap((total, nth) =>
      [0, 2, 4].map((step) => [total, pastEnds[(nth + step) % pastEnds.length]!] as const),
    ),
  )(
    'L1 is mirrored whole where a page 1 that came empty by a fault let page 0, which is page 1, pass for another: %s, a page past the end %s',
    async (total, pastEnd) => {
      const at = await testbed({
        level: 'account',
        vendors: 35,
        world: ['pageZero=first', total, 'pages=endless', `pastEnd=${pastEnd}`, 'perPage=honoured', 'readOne=405'],
        settings: { service: { paging: { perPage: 10 } } },
      });
      at.sandbox.faults.next({ kind: 'empty_list' });
      for (let pull = 1; pull <= 3; pull += 1) {
        const run = await at.pull();
        if (pull > 1) expect(run).toMatchObject({ outcome: 'complete', suspects: 0 });
        if (run.outcome === 'complete') expect(mirroredIds(at)).toEqual(listedIds(at));
        await at.clock.advance(3_600_000);
      }
    },
  );

  it.each([4, 6, 8])(
    'L1 A3 is proven complete for each state where pages count their own rows, in a new order each time, and some are never shown: %s deleted vendors',
    async (deleted) => {
      const at = await testbed({
        level: 'account',
        vendors: 30,
        world: ['order=shuffled', 'total=page', 'unlistedIds=2', 'readOne=405', 'perPage=honoured'],
        settings: { service: { paging: { perPage: 5 } } },
      });
      const listed = listedIds(at);
      const vendors = at.sandbox.vendors(account);
      for (const vendorid of listed.slice(0, deleted)) vendors.delete(vendorid);
      await at.clock.advance(3_600_000);
      // So many new vendors may use up the walks of a first pull.
      await at.pull();
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      vendors.vanish(listed.at(-1)!);
      await at.clock.advance(3_600_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(at.query("SELECT vendorid FROM vendors WHERE presence = 'missing'")).toEqual([
        { vendorid: listed.at(-1) },
      ]);
    },
  );

  it('L2 is incomplete if it counts many more than it shows, until that is accepted, and again when it grows', async () => {
    const at = await testbed({ level: 'account', vendors: 60, world: ['unlistedIds=25'] });
    const refused = { outcome: 'incomplete', error: { code: 'too_many_unreadable', exit: 1 } };
    expect(await at.pull()).toMatchObject(refused);
    expect(at.query('SELECT safe_as_of FROM freshness')).toEqual([{ safe_as_of: null }]);
    const { accountRegister } = at.installation.mirror;
    await accountRegister.acceptUnreadable(account, 25);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await accountRegister.acceptUnreadable(account, 21);
    expect(await at.pull()).toMatchObject(refused);
    const compared = await at.installation.verify(account, {
      trigger: 'command',
      signal: new AbortController().signal,
    });
    expect(compared).toMatchObject({ outcome: 'incomplete', error: { code: 'too_many_unreadable' } });
  });
});
