import { expect, it } from 'vitest';
import { FiguresCache } from '../../../../src/admin/page/figures-cache.ts';
import type { Figures } from '../../../../src/store/reports/figures.ts';
import { sampleFigures } from '../../../support/admin/sample-figures.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

it('figures that are slow to arrive: the earlier ones are shown for half a minute, then none', async () => {
  const clock = virtualClock();
  const answers: ((figures: Figures) => void)[] = [];
  const faults: unknown[] = [];
  const read = (): Promise<Figures> => new Promise((resolve) => answers.push(resolve));
  const cache = new FiguresCache(clock, read, (error) => faults.push(error));
  const waited = async (): Promise<Figures | null> => {
    const shown = cache.of('6BApk');
    await clock.advance(250);
    return shown;
  };

  expect(await waited()).toBeNull();
  answers[0]!(sampleFigures);
  expect(await cache.of('6BApk')).toBe(sampleFigures);
  await clock.advance(30_000);
  expect(await waited()).toBe(sampleFigures);
  await clock.advance(26_000);
  expect(await waited()).toBeNull();
  const fresh = { ...sampleFigures, found: [] };
  answers[1]!(fresh);
  expect(await cache.of('6BApk')).toBe(fresh);
  expect([answers.length, faults]).toEqual([2, []]);
});

it.each([4_000, 40_000])('figures that take %d ms are shown until they may be read again', async (ms) => {
  const clock = virtualClock();
  const read = async (): Promise<Figures> => {
    await new Promise<void>((resolve) => clock.timer(ms, resolve));
    return sampleFigures;
  };
  const cache = new FiguresCache(clock, read, () => undefined);
  void cache.of('6BApk');
  await clock.advance(ms);
  for (let passed = ms; passed < 10 * ms; passed += ms / 2) {
    expect(await cache.of('6BApk')).toBe(sampleFigures);
    await clock.advance(ms / 2);
  }
});
