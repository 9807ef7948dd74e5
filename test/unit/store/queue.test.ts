/** Vendors that are marked again while they are read. */
import { expect, it } from 'vitest';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account } from '../../support/testbed/store.ts';
import type { Mark } from '../../../src/store/queue.ts';

/** The mark of vendor 1, once it is due, and how long that took, in milliseconds. */
async function due({ mirror, clocks }: Testbed<'store'>): Promise<[mark: Mark, waited: number]> {
  const waited = (await mirror.queue.untilNextMark(account)) ?? Infinity;
  clocks.running += waited;
  clocks.wall += waited;
  const [mark] = await mirror.queue.dueMarks(account, 1);
  return [mark!, waited];
}

const secondLook = { delay: 60_000, reason: 'second_look', error: null } as const;

it('C15 E7 a vendor that is announced faster than it can be read is delayed longer each time a reading shows nothing new', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const pauses: number[] = [];
  for (let reading = 0; reading < 8; reading++) {
    const [mark, waited] = await due(at);
    pauses.push(waited);
    await at.told();
    const deferred = await at.mirror.queue.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
    expect(deferred).toBe(false);
    await at.told();
  }
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  const [mark, waited] = await due(at);
  expect([waited, await at.mirror.queue.settle(mark, 'unchanged')]).toEqual([30_000, true]);
  expect(at.query(`SELECT DISTINCT outcome FROM deliveries`)).toEqual([{ outcome: 'unchanged' }]);
});

it('C20 a vendor that is announced while it is being parked is not parked, and is delayed', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [first] = await due(at);
  await at.mirror.queue.defer(first, { delay: 5_000, reason: 'delivery', attempts: 12, error: 'It fails.' });
  const [mark] = await due(at);
  await at.told();
  await at.mirror.queue.park(mark, 'It fails.');
  expect(await due(at)).toMatchObject([{ attempts: 12, reason: 'delivery' }, 30_000]);
});

it('C4 a vendor whose reading brought something new is read again at once if it was announced meanwhile', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [mark] = await due(at);
  await at.told();
  expect(await at.mirror.queue.settle(mark, 'applied')).toBe(false);
  expect((await due(at))[1]).toBe(0);
});

it.each(['asked', 'retry'] as const)('a delayed vendor is read at once if a mark says %s', async (reason) => {
  const at = await testbed({ level: 'store' });
  await at.told();
  for (let reading = 0; reading < 7; reading++) {
    const [mark] = await due(at);
    await at.told();
    await at.mirror.queue.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
  }
  expect(await at.mirror.queue.untilNextMark(account)).toBe(30_000);
  await at.mirror.queue.markVendors(account, [1], reason, 0);
  expect(await at.mirror.queue.untilNextMark(account)).toBe(0);
  expect(await due(at)).toMatchObject([{ attempts: 0 }, 0]);
});

it.each([
  ['settled', (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.settle(mark, 'applied')],
  [
    'put off',
    (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.defer(mark, { ...secondLook, attempts: 0 }, 'applied'),
  ],
  ['parked', (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.park(mark, 'It fails.')],
])('C4 C20 a mark that is %s and the journal change together: if one cannot be written, neither is', async (_, end) => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [mark] = await due(at);
  at.damage(`CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  await expect(end(at, mark)).rejects.toThrow('refused');
  expect(await due(at)).toEqual([mark, 0]);
  expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'pending' }]);
  at.damage('DROP TRIGGER refuse');
  await end(at, mark);
  expect(await at.mirror.queue.dueMarks(account)).toEqual([]);
  expect(at.query('SELECT outcome FROM deliveries')).not.toEqual([{ outcome: 'pending' }]);
});
