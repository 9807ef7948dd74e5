/** The queue of a daemon while reads of some vendors hang. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed, type TestbedOptions } from '../../support/testbed.ts';

/** An answer that begins and does not end. */
const unending = (): Response =>
  new Response(new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{"response":')) }), {
    headers: { 'content-type': 'application/json' },
  });
const never = (): Promise<Response> => new Promise(() => undefined);

/** A daemon at rest; reads by id of the vendors that are put into `hanging` hang from then on. */
async function restingDaemon(
  hang: () => Response | Promise<Response>,
  options: TestbedOptions<'daemon'> = {},
): Promise<{ at: Testbed<'daemon'>; hanging: Set<number>; ids: readonly number[] }> {
  const hanging = new Set<number>();
  const at = await testbed({
    level: 'daemon',
    ...options,
    answer: ({ pathname }, { method = 'GET' }) =>
      method === 'GET' && hanging.has(Number(/\/(\d+)$/.exec(pathname)?.[1])) ? hang() : undefined,
  });
  const ids = at.sandbox
    .vendors(account)
    .all()
    .map(({ vendorid }) => Number(vendorid));
  return { at, hanging, ids };
}

function cityOf(at: Testbed<'daemon'>, vendorid: number): unknown {
  return at.query<{ city: string }>('SELECT city FROM vendors WHERE vendorid = ?', vendorid)[0]?.city;
}

/** Virtual milliseconds from an edit until it is in the mirror. */
async function visibleAfter(at: Testbed<'daemon'>, vendorid: number, city: string): Promise<number> {
  at.sandbox.vendors(account).edit(vendorid, { city });
  const begun = at.clock.now();
  await at.clock.until(`${city} is visible`, () => cityOf(at, vendorid) === city, 600_000);
  return at.clock.now() - begun;
}

describe('a vendor whose reads hang', () => {
  const first = (ids: readonly number[], vendors: number): number[] => ids.slice(10, 10 + vendors);

  it.each([
    ['one that never answers', 1, never, 4],
    ['one whose answer never ends', 1, unending, 4],
    ['three of them', 3, never, 4],
    ['one, where one request at once is allowed', 1, never, 1],
  ])('L7 holds no other delivery up, not for a second: %s', async (_, vendors, hang, concurrency) => {
    const { at, hanging, ids } = await restingDaemon(hang, { settings: { service: { paging: { concurrency } } } });
    const usual = await visibleAfter(at, ids[5]!, 'Usual');
    for (const vendorid of first(ids, vendors)) {
      hanging.add(vendorid);
      at.sandbox.vendors(account).edit(vendorid, { city: 'Nowhere' });
    }
    await at.clock.until('they are read', () => at.requests.length > 0, 60_000);
    // While the first attempts hang, and while repeated ones do.
    for (const [index, wait] of [0, 5_000, 31_000, 60_000, 240_000].entries()) {
      await at.clock.pass(wait);
      expect(await visibleAfter(at, ids[20 + index]!, `Oslo ${index}`)).toBeLessThan(usual + 1_000);
    }
    hanging.clear();
    const [hung] = first(ids, vendors);
    await at.clock.until('it is read', () => cityOf(at, hung!) === 'Nowhere', 4_000_000);
  });

  it('L7 more of them than places: once each was tried, they take half of the places', async () => {
    const { at, hanging, ids } = await restingDaemon(never);
    const usual = await visibleAfter(at, ids[5]!, 'Usual');
    for (const vendorid of first(ids, 9)) {
      hanging.add(vendorid);
      at.sandbox.vendors(account).edit(vendorid, { city: 'Nowhere' });
    }
    await at.clock.pass(180_000);
    for (const index of [0, 1, 2, 3]) {
      await at.clock.pass(20_000);
      expect(await visibleAfter(at, ids[20 + index]!, `Oslo ${index}`)).toBeLessThan(usual + 1_000);
    }
  });

  it.each([
    ['the first', [0]],
    ['the first and the second', [0, 1]],
    ['the first and the third', [0, 2]],
  ])('L7 with which the daemon finds out whether there are reads by id: %s', async (_, which) => {
    const { at, hanging, ids } = await restingDaemon(never);
    // It starts anew, and knows nothing.
    await at.reopen();
    const newest = await at.beside((installation) =>
      installation.account(account).mirror.vendors.newestActive(account),
    );
    for (const index of which) hanging.add([...newest][index]!);
    await at.start();
    await at.untilRuns();
    await at.clock.pass(10_000);
    expect(await visibleAfter(at, ids[5]!, 'Oslo')).toBeLessThan(4_000);
    expect(at.query("SELECT 1 FROM runs WHERE outcome <> 'complete'")).toEqual([]);
  });
});

describe('a vendor that was announced and deleted, in an account of which lists show none', () => {
  const notFound = (): Response =>
    Response.json({ response: { errors: [{ errno: 1012, message: 'Vendor not found.' }] } }, { status: 404 });

  it.each([
    ['at once', false],
    ['by a reconciliation, where it was given up', true],
  ])('is read by its id, %s', async (_, isGivenUp) => {
    const { at, hanging } = await restingDaemon(notFound, { vendors: 0, world: ['visStateFilter=ignored'] });
    const vendors = at.sandbox.vendors(account);
    const vendorid = Number(vendors.create({ vendor_name: 'Brief', language: 'en' })['vendorid']);
    if (isGivenUp) hanging.add(vendorid);
    vendors.delete(vendorid);
    const isParked = (): boolean => at.query('SELECT 1 FROM dirty_vendors WHERE due_at IS NULL').length > 0;
    if (isGivenUp) await at.clock.until('it is given up', isParked, 600_000);
    hanging.clear();
    const isThere = (): boolean => at.query('SELECT 1 FROM vendors WHERE vis_state = 1').length > 0;
    await at.clock.until('it is in the mirror', isThere, isGivenUp ? 24 * 3_600_000 : 60_000);
  });
});
