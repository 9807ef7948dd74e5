import { expect, it } from 'vitest';
import { createClockJumpDetector } from '../../../src/app/clock-jumps.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const hour = 3_600_000;

async function watched() {
  const virtual = virtualClock();
  const moved = { wall: 0 };
  const gaps: number[] = [];
  const watch = createClockJumpDetector({
    clock: { ...virtual, now: () => virtual.now() + moved.wall },
    onGap: (ms) => gaps.push(ms),
  });
  await watch.start();
  return { virtual, moved, gaps, watch };
}

it('B6 a suspended machine is noticed within half a minute of waking, once', async () => {
  const { virtual, moved, gaps, watch } = await watched();
  await virtual.advance(40_000);
  moved.wall += 6 * hour;
  await virtual.advance(300_000);
  expect(gaps).toEqual([6 * hour]);
  await watch.stop();
});

it('B4 a clock that was set back is noticed, an adjustment of seconds is not', async () => {
  const { virtual, moved, gaps, watch } = await watched();
  moved.wall -= 24 * hour;
  await virtual.advance(30_000);
  moved.wall += 5_000;
  await virtual.advance(30_000);
  expect(gaps).toEqual([-24 * hour]);
  await watch.stop();
});

it('J10 a process that was stopped for five minutes notices it', async () => {
  const { virtual, moved, gaps, watch } = await watched();
  moved.wall += 300_000;
  await virtual.advance(30_000);
  expect(gaps).toEqual([300_000]);
  await watch.stop();
  expect(virtual.pending()).toEqual([]);
});
