import { describe, expect, it } from 'vitest';
import { ServiceTime } from '../../../src/domain/service-time.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const [second, hour] = [1_000, 3_600_000];

/** What is known after these answers: each one's `Date` by how much it is ahead of the moment at which it came; null for none. */
function after(dates: readonly (number | null)[], { lag = 5 * second, took = 0 } = {}) {
  const clock = virtualClock();
  const told: (number | null)[] = [];
  const time = new ServiceTime(clock, lag, (aheadBy) => told.push(aheadBy));
  for (const ahead of dates) {
    const answeredAt = clock.now();
    const servedAt = ahead === null ? undefined : answeredAt + ahead;
    time.observe({ sentAt: answeredAt - took, answeredAt, servedAt });
  }
  return { aheadBy: time.aheadBy, isProven: time.isProven, told };
}

describe('L16 the clock of this machine beside that of the service', () => {
  const [right, wrong] = [{ aheadBy: null, isProven: true }, { isProven: false }];
  it.each([
    ['no answer yet', [], {}, { aheadBy: null, isProven: false, told: [] }],
    ['an answer of now', [0], {}, right],
    ['an answer within its grain and the tolerance, before', [-6 * second], {}, right],
    ['an answer within the tolerance, after', [5 * second], {}, right],
    ['a service that tells no time', [null, null, null, null], {}, right],
    ['an answer that took as long as it seems old', [-40 * second], { took: 36 * second }, right],
    ['a longer lag', [-60 * second], { lag: 60 * second }, right],
    ['the first and only answer, an hour behind', [-hour], {}, { ...wrong, aheadBy: hour, told: [hour] }],
    ['the first and only answer, 5.001 s ahead', [5_001], {}, { ...wrong, aheadBy: -5_001 }],
    ['the first and only answer, 6.001 s behind', [-6_001], {}, { ...wrong, aheadBy: 6_001 }],
    ['one that differs after one that agrees', [0, -hour], {}, { ...wrong, aheadBy: null }],
    ['two that differ', [0, -hour, -hour], {}, { ...wrong, aheadBy: null }],
    ['three that differ', [0, -hour, -hour, -hour], {}, { ...wrong, aheadBy: hour, told: [hour] }],
    ['three that differ, not in a row', [0, -hour, -hour, 0, -hour], {}, { ...wrong, aheadBy: null, told: [] }],
    ['three that differ, then one that agrees', [0, hour, hour, hour, 0], {}, { ...right, told: [-hour, null] }],
    ['four that differ, told once', [hour, hour, hour, 2 * hour], {}, { ...wrong, aheadBy: -2 * hour, told: [-hour] }],
  ])('%s', (_, dates, options, expected) => {
    expect(after(dates, options)).toMatchObject(expected);
  });

  it('no longer proves a clock that was set since', async () => {
    const clock = virtualClock();
    let set = 0;
    const time = new ServiceTime(
      { now: () => clock.now() + set, monotonic: () => clock.monotonic() },
      5 * second,
      () => undefined,
    );
    time.observe({ sentAt: clock.now(), answeredAt: clock.now(), servedAt: clock.now() });
    await clock.advance(hour);
    expect(time.isProven).toBe(true);
    set = 5_001;
    expect(time.isProven).toBe(false);
    set = -5_001;
    expect(time.isProven).toBe(false);
  });
});
