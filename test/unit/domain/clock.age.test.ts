import { describe, expect, it } from 'vitest';
import { age, took } from '../../../src/domain/clock.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('age', () => {
  const clock = virtualClock({ start: Date.UTC(2026, 10, 20, 12) });

  it.each([
    ['2026-11-20 12:00:00.000', 'just now'],
    ['2026-11-20 11:59:48.000', '12 s ago'],
    ['2026-11-20 11:56:40.000', '3 min ago'],
    ['2026-11-20 09:00:00', '3 h ago'],
    ['2026-11-19 11:00:00.000', '1 day ago'],
    ['2026-11-01 12:00:00.000', '19 days ago'],
    ['2020-10-09 15:25:05', '6 years ago'],
    ['2026-11-20 12:05:00.000', 'in 5 min'],
    ['soon', 'soon'],
    [null, 'never'],
  ])('says %s as %s', (moment, words) => {
    expect(age(clock, moment)).toBe(words);
  });

  it('says how long something took', () => {
    expect(took(clock, '2026-11-20 11:00:00.000', '2026-11-20 11:00:00.420')).toBe('0.4 s');
    expect(took(clock, '2026-11-20 11:00:00.000', null)).toBe('1 h');
  });
});
