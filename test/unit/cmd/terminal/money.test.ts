import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { age, inWords, seconds, took } from '../../../../src/domain/age.ts';
import { money } from '../../../../src/cmd/terminal/money.ts';
import { minorUnits } from '../../../../src/domain/vendor.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

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
    expect(seconds(42.6)).toBe('42 s');
    expect(inWords(0)).toBe('0 s');
  });
});

describe('money', () => {
  it.each([
    [123_456n, 'USD', '1,234.56 USD'],
    [5n, 'USD', '0.05 USD'],
    [-1_000_000n, 'EUR', '-10,000.00 EUR'],
    [1_234_567n, 'JPY', '1,234,567 JPY'],
    [1_234_567n, 'KWD', '1,234.567 KWD'],
  ])('writes %d of %s', (minor, code, text) => {
    expect(money(minor, code)).toBe(text);
  });

  it('says what minorUnits understood', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom('USD', 'JPY', 'KWD'), (minor, code) => {
        const [amount = ''] = money(minor, code).replaceAll(',', '').split(' ');
        expect(minorUnits({ amount, code })).toBe(minor);
      }),
    );
  });
});
