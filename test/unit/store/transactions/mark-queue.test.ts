/** Marks whose vendors are marked again while they are read. */
import { expect, it } from 'vitest';
import type { Mark } from '../../../../src/store/rows/marks.ts';
import { account, openTestbed, type Testbed } from '../../../support/testbed/store-testbed.ts';

/** The mark of vendor 1, once it is due, and how long that took, in milliseconds. */
async function due({ mirror, clocks }: Testbed): Promise<[mark: Mark, waited: number]> {
  const waited = (await mirror.untilNextMark(account)) ?? Infinity;
  clocks.running += waited;
  clocks.wall += waited;
  const [mark] = await mirror.dueMarks(account, 1);
  return [mark!, waited];
}

const secondLook = { delay: 60_000, reason: 'second_look', error: null } as const;

it('C15 E7 a vendor that is told of faster than it can be read rests ever longer between readings that show nothing new', async () => {
  const testbed = await openTestbed();
  await testbed.told();
  const pauses: number[] = [];
  for (let reading = 0; reading < 8; reading++) {
    const [mark, waited] = await due(testbed);
    pauses.push(waited);
    await testbed.told();
    const deferred = await testbed.mirror.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
    expect(deferred).toBe(false);
    await testbed.told();
  }
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  const [mark, waited] = await due(testbed);
  expect([waited, await testbed.mirror.settle(mark, 'unchanged')]).toEqual([30_000, true]);
  expect(testbed.query(`SELECT DISTINCT outcome FROM deliveries`)).toEqual([{ outcome: 'unchanged' }]);
});

it('C20 a vendor that is told of while it is given up is not given up, and rests', async () => {
  const testbed = await openTestbed();
  await testbed.told();
  const [first] = await due(testbed);
  await testbed.mirror.defer(first, { delay: 5_000, reason: 'delivery', attempts: 12, error: 'It fails.' });
  const [mark] = await due(testbed);
  await testbed.told();
  await testbed.mirror.park(mark, 'It fails.');
  expect(await due(testbed)).toMatchObject([{ attempts: 12, reason: 'delivery' }, 30_000]);
});

it('C4 a vendor whose reading brought something is read again at once, if it was told of meanwhile', async () => {
  const testbed = await openTestbed();
  await testbed.told();
  const [mark] = await due(testbed);
  await testbed.told();
  expect(await testbed.mirror.settle(mark, 'applied')).toBe(false);
  expect((await due(testbed))[1]).toBe(0);
});
