/** Marks whose vendors are marked again while they are read. */
import { expect, it } from 'vitest';
import type { Mark } from '../../../src/store/rows/marks.ts';
import { account, openDesk, type Desk } from './store-testbed.ts';

/** The mark of vendor 1, once it is due, and how long that took, in milliseconds. */
async function due({ mirror, hands }: Desk): Promise<[mark: Mark, waited: number]> {
  const waited = (await mirror.untilNextMark(account)) ?? Infinity;
  hands.running += waited;
  hands.wall += waited;
  const [mark] = await mirror.dueMarks(account, 1);
  return [mark!, waited];
}

const secondLook = { delay: 60_000, reason: 'second_look', error: null } as const;

it('C15 E7 a vendor that is told of faster than it can be read rests ever longer between readings that show nothing new', async () => {
  const desk = await openDesk();
  await desk.told();
  const pauses: number[] = [];
  for (let reading = 0; reading < 8; reading++) {
    const [mark, waited] = await due(desk);
    pauses.push(waited);
    await desk.told();
    const deferred = await desk.mirror.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
    expect(deferred).toBe(false);
    await desk.told();
  }
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  const [mark, waited] = await due(desk);
  expect([waited, await desk.mirror.settle(mark, 'unchanged')]).toEqual([30_000, true]);
  expect(desk.query(`SELECT DISTINCT outcome FROM deliveries`)).toEqual([{ outcome: 'unchanged' }]);
});

it('C20 a vendor that is told of while it is given up is not given up, and rests', async () => {
  const desk = await openDesk();
  await desk.told();
  const [first] = await due(desk);
  await desk.mirror.defer(first, { delay: 5_000, reason: 'delivery', attempts: 12, error: 'It fails.' });
  const [mark] = await due(desk);
  await desk.told();
  await desk.mirror.park(mark, 'It fails.');
  expect(await due(desk)).toMatchObject([{ attempts: 12, reason: 'delivery' }, 30_000]);
});

it('C4 a vendor whose reading brought something is read again at once, if it was told of meanwhile', async () => {
  const desk = await openDesk();
  await desk.told();
  const [mark] = await due(desk);
  await desk.told();
  expect(await desk.mirror.settle(mark, 'applied')).toBe(false);
  expect((await due(desk))[1]).toBe(0);
});
