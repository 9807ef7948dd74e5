/** Marks that a reading answered, whichever way it came. */
import { describe, expect, it } from 'vitest';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

const vendorPath = /\/\d+$/;
const failing = (): Response =>
  new Response('<html>500</html>', { status: 500, headers: { 'content-type': 'text/html' } });

/** An account whose vendors were pulled; no read by id is answered from then on. */
async function listsOnly(): Promise<{ at: Testbed<'account'>; vendorid: number; deliver: () => Promise<void> }> {
  let isPulled = false;
  const at = await pulledAccount({
    settings: { service: { readOne: 'get' } },
    // Of lists that leave a field out, none answers for it.
    world: ['noteInList=yes'],
    answer: ({ pathname }) => (isPulled && vendorPath.test(pathname) ? failing() : undefined),
  });
  isPulled = true;
  const [vendorid] = activeIds(at, 1) as [number];
  const { mirror, clock } = at.installation.account(account);
  const deliver = (): Promise<void> =>
    mirror.deliveries.acceptDeliveries([newDelivery(vendorid, { receivedAt: clock.now() })]);
  return { at, vendorid, deliver };
}

const marks = (at: Testbed<'account'>): unknown[] => at.query('SELECT vendorid FROM dirty_vendors');
const outcomes = (at: Testbed<'account'>): unknown[] =>
  at.query<{ outcome: string }>('SELECT outcome FROM deliveries ORDER BY id').map(({ outcome }) => outcome);
const safe = (at: Testbed<'account'>): number =>
  Date.parse(`${at.query<{ safe_as_of: string }>('SELECT safe_as_of FROM freshness')[0]!.safe_as_of}Z`);

describe('a mark whose vendor no read by id shows', () => {
  it.each([
    ['unchanged', 'waits for its next attempt', false],
    ['applied', 'waits for its next attempt', false],
    ['unchanged', 'is parked', true],
    ['applied', 'is parked', true],
  ])('L6 is answered by a list that was read later than its rest (%s), when it %s', async (outcome, _, isParked) => {
    const { at, vendorid, deliver } = await listsOnly();
    await deliver();
    const { mirror } = at.installation.account(account);
    const [mark] = await mirror.queue.dueMarks(account, 1);
    if (isParked) await mirror.queue.park(mark!, 'It failed.');
    if (outcome === 'applied') at.sandbox.vendors(account).edit(vendorid, { city: 'Oslo' });
    await at.clock.advance(20_000);
    // The list was asked too early: the change may not have been visible yet.
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(marks(at)).toEqual([{ vendorid }]);
    await at.clock.advance(120_000);
    if (outcome === 'applied') at.sandbox.vendors(account).edit(vendorid, { city: 'Bergen' });
    await at.clock.advance(1_000);
    const begun = at.clock.now();
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(marks(at)).toEqual([]);
    expect(outcomes(at)).toEqual([outcome]);
    expect(safe(at)).toBeGreaterThanOrEqual(begun - 5_000);
  });

  it('L6 stays open for what was delivered since, and limits what is claimed by that alone', async () => {
    const { at, vendorid, deliver } = await listsOnly();
    await deliver();
    await at.clock.advance(600_000);
    const second = at.clock.now();
    await deliver();
    await at.clock.advance(10_000);
    const begun = at.clock.now();
    await at.pull();
    expect(marks(at)).toEqual([{ vendorid }]);
    expect(outcomes(at)).toEqual(['unchanged', 'pending']);
    expect(safe(at)).toBeGreaterThanOrEqual(begun - 30_000);
    expect(safe(at)).toBeLessThanOrEqual(second);
    await at.clock.advance(60_000);
    await at.pull();
    expect(marks(at)).toEqual([]);
    expect(outcomes(at)).toEqual(['unchanged', 'unchanged']);
  });
});

it.each([3, 20, 29, 45, 90])('L55 a delivery that is replayed every %i s holds up no freshness', async (seconds) => {
  const at = await testbed({ level: 'daemon' });
  const [row] = at.sandbox.vendors(account).all();
  at.posted.length = 0;
  at.sandbox.vendors(account).edit(Number(row!['vendorid']), { city: 'Oslo' });
  await at.clock.until('it was told', () => at.posted.length > 0);
  const replayed = at.posted.at(-1)!;
  let reads = 0;
  at.sandbox.onRequest(({ path }) => void (reads += Number(vendorPath.test(path))));
  const began = at.clock.now();
  let oldest = 0;
  while (at.clock.now() < began + 20 * 60_000) {
    expect(await at.deliver(replayed)).toBe(200);
    await at.clock.pass(seconds * 1_000);
    const [open] = at.query<{ marked_at: string | null }>('SELECT min(marked_at) AS marked_at FROM dirty_vendors');
    if (open?.marked_at) oldest = Math.max(oldest, at.clock.now() - Date.parse(`${open.marked_at}Z`));
  }
  // A second look, the longest rest between repeated deliveries, and a reading.
  expect(oldest).toBeLessThan(100_000);
  expect(reads).toBeLessThan(200);
  const [fresh] = at.query<{ safe_as_of: string }>('SELECT safe_as_of FROM freshness');
  expect(at.clock.now() - Date.parse(`${fresh!.safe_as_of}Z`)).toBeLessThan(17 * 60_000);
});
