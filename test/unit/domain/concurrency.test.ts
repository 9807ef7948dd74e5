import { describe, expect, it } from 'vitest';
import { sleptThrough } from '../../../src/domain/clock.ts';
import { background, repeatedly } from '../../../src/domain/concurrency.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('work in the background', () => {
  it('is begun once, however often it is started, and has ended when its stop resolves', async () => {
    const clock = virtualClock();
    const told: string[] = [];
    const service = background('the work', async (signal) => {
      told.push('begun');
      await sleptThrough(clock, 1_000, signal);
      told.push('ended');
    });
    await service.start();
    await service.start();
    await service.stop();
    await service.stop();
    expect(told).toEqual(['begun', 'ended']);
    expect(clock.pending()).toEqual([]);
  });

  it('may be stopped before it is started', async () => {
    await expect(background('the work', () => Promise.resolve()).stop()).resolves.toBeUndefined();
  });

  it('that repeats itself waits after each time, and ends while it waits', async () => {
    const clock = virtualClock();
    let times = 0;
    const service = background('the work', (signal) => repeatedly(clock, 1_000, signal, () => void (times += 1)));
    await service.start();
    await clock.advance(2_500);
    await service.stop();
    expect(times).toBe(3);
  });
});
