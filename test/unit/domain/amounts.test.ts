import { describe, expect, it, vi } from 'vitest';
import { currencyDigits, decimalAmount, minorUnits, owedText } from '../../../src/domain/amounts.ts';

describe('an amount', () => {
  it.each([
    ['1200.00', 'USD', 1200, 120_000n],
    ['-0.05', 'EUR', -0.05, -5n],
    ['+7', 'EUR', 7, 700n],
    [' 3.50 ', 'GBP', 3.5, 350n],
    ['5451.00', 'JPY', 5451, 5451n],
    ['12.345', 'KWD', 12.345, 12_345n],
    ['12.50', 'HUF', 12.5, 1250n],
    ['0.1234', 'CLF', 0.1234, 1234n],
    ['1.50', 'xyz', 1.5, 150n],
    ['5.005', 'USD', 5.005, null],
    ['12.50', 'jpy', 12.5, null],
    ['99999999999999999999.00', 'USD', 1e20, null],
    ['1,234.50', 'USD', null, null],
    ['1e3', 'USD', null, null],
    ['.5', 'USD', null, null],
    ['', 'USD', null, null],
    ['n/a', 'USD', null, null],
  ])('of %j %s is %s, in the minor unit %s', (amount, code, number, minor) => {
    expect(decimalAmount({ amount, code })).toBe(number);
    expect(minorUnits({ amount, code })).toBe(minor);
  });

  it('L65 of a million digits is not calculated, which would take seconds; zeros before it do not count', () => {
    const made = vi.spyOn(globalThis, 'BigInt');
    expect(minorUnits({ amount: '9'.repeat(1_000_000), code: 'USD' })).toBeNull();
    expect(minorUnits({ amount: `-${'0'.repeat(1_000_000)}12.50`, code: 'USD' })).toBe(-1250n);
    expect(Math.max(...made.mock.calls.map(([text]) => String(text).length))).toBeLessThan(40);
    made.mockRestore();
  });

  it('has as many places as ISO 4217 says, whatever the version of Node.js', () => {
    expect(['USD', 'JPY', 'ISK', 'IQD', 'CLF', 'COP', 'XTS'].map(currencyDigits)).toEqual([2, 0, 0, 3, 4, 2, 2]);
  });
});

it('shows no digits that a sum does not have', () => {
  expect(owedText({ value: 12_345_678_901_234_567_000, minor: null }, 'EUR')).toBe('about 1.23e+19');
  expect(owedText({ value: 1_234.5, minor: null }, 'EUR')).toBe('1,234.50');
});
