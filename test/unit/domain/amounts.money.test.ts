import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minorUnits, money } from '../../../src/domain/amounts.ts';

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

  it('writes what minorUnits has read', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom('USD', 'JPY', 'KWD'), (minor, code) => {
        const [amount = ''] = money(minor, code).replaceAll(',', '').split(' ');
        expect(minorUnits({ amount, code })).toBe(minor);
      }),
    );
  });
});
