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
  await clock.advance(20_000);
  expect(await waited()).toBe(sampleFigures);
  await clock.advance(10_000);
  expect(await waited()).toBeNull();
  const fresh = { ...sampleFigures, found: [] };
  answers[1]!(fresh);
  expect(await cache.of('6BApk')).toBe(fresh);
  expect([answers.length, faults]).toEqual([2, []]);
});
