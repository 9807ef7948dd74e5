import { expect, it } from 'vitest';
import { shared } from '../../../../src/admin/page/figures-cache.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

it('K24 all readers share one examination, for ten times as long as it took', async () => {
  const clock = virtualClock();
  const ends: (() => void)[] = [];
  const look = shared(clock, () => new Promise<number>((resolve) => ends.push(() => resolve(ends.length))));
  const first = [look(), look()];
  await clock.advance(3_000);
  first.push(look());
  expect(ends).toHaveLength(1);
  ends[0]!();
  expect(await Promise.all(first)).toEqual([1, 1, 1]);
  await clock.advance(26_999);
  expect(await look()).toBe(1);
  await clock.advance(1);
  const second = look();
  expect(ends).toHaveLength(2);
  ends[1]!();
  expect(await second).toBe(2);
});
