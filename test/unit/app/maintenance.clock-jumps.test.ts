import { expect, it } from 'vitest';
import { createClockJumpDetector } from '../../../src/app/maintenance.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const hour = 3_600_000;

async function watched() {
  const clock = virtualClock();
  const gaps: number[] = [];
  let ticks = 0;
  const onTick = (): Promise<void> => Promise.resolve(void (ticks += 1));
  const watch = createClockJumpDetector(clock, onTick, (ms) => gaps.push(ms));
  await watch.start();
  return { clock, gaps, watch, ticks: () => ticks };
}

it('B6 a suspended machine is noticed within half a minute of waking, once', async () => {
  const { clock, gaps, watch } = await watched();
  await clock.advance(40_000);
  clock.shiftWall(6 * hour);
  await clock.advance(300_000);
  expect(gaps).toEqual([6 * hour]);
  await watch.stop();
});

it('B4 a clock that was set back is noticed, an adjustment of seconds is not', async () => {
  const { clock, gaps, watch, ticks } = await watched();
  clock.shiftWall(-24 * hour);
  await clock.advance(30_000);
  clock.shiftWall(5_000);
  await clock.advance(30_000);
  expect(gaps).toEqual([-24 * hour]);
  expect(ticks()).toBe(2);
  await watch.stop();
});

it('J10 a process that was stopped for five minutes notices it', async () => {
  const { clock, gaps, watch } = await watched();
  clock.shiftWall(300_000);
  await clock.advance(30_000);
  expect(gaps).toEqual([300_000]);
  await watch.stop();
  expect(clock.pending()).toEqual([]);
});
