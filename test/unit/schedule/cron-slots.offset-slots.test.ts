import { describe, expect, it, vi } from 'vitest';
import { CronSlots, OffsetSlots } from '../../../src/schedule/cron-slots.ts';

const minute = 60_000;
const start = Date.UTC(2026, 10, 20, 12);

describe('the slots of one of several accounts', () => {
  it.each(['* * * * *', '*/15 * * * *', '0 3 * * *', '*/10 * * * * *', '0,1,30 9 * * mon-fri'])(
    'K17 %s: each slot once, later by at most 15 minutes and by less than the time to the next',
    (expression) => {
      const slots = new CronSlots(expression, 'UTC');
      for (const account of ['6BApk', 'other', 'third']) {
        const own = new OffsetSlots(slots, account);
        let [slot, at] = [slots.after(start), own.after(slots.after(start) - 1)];
        for (let count = 0; count < 40; count++) {
          expect(at - slot).toBeGreaterThanOrEqual(0);
          expect(at - slot).toBeLessThan(Math.min(15 * minute, slots.after(slot) - slot));
          // From wherever it is asked in between.
          expect(own.after(at - 1)).toBe(at);
          [slot, at] = [slots.after(slot), own.after(at)];
        }
      }
    },
  );

  it('K17 are spread, and do not depend on other accounts', () => {
    const slots = new CronSlots('*/15 * * * *', 'UTC');
    const offsets = Array.from({ length: 300 }, (_, index) => new OffsetSlots(slots, `a${index}`).after(start) - start);
    for (let minutes = 0; minutes < 15; minutes++)
      expect(offsets.filter((ms) => Math.floor(ms / minute) === minutes).length).toBeGreaterThan(5);
  });

  it('K24 need no more calendar look-ups for a thousand accounts in a row than for a few', () => {
    const looks = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    const slots = new CronSlots('*/15 * * * *', 'Europe/Berlin');
    for (let index = 0; index < 1_000; index++) new OffsetSlots(slots, `a${index}`).after(start + index);
    expect(looks.mock.calls.length).toBeLessThan(100);
  });
});
