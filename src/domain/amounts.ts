/**
 * Amounts: from the service's text to exact numbers, and from minor units to text.
 *
 * Minor units are those of the currency (ISO 4217): cents for USD, whole units for JPY.
 */
import type { Balance } from './vendor.ts';

/** No 64 bits hold a whole number with more. */
const mostDigits = 19;

const decimal = /^([+-]?)(\d+)(?:\.(\d+))?$/;

/**
 * The amount in the minor unit of its currency (cents of USD, whole JPY); null where the text is not a decimal number, has more decimal
 * places than the currency, or does not fit 64 bits.
 */
export function minorUnits(balance: Balance): bigint | null {
  const match = decimal.exec(balance.amount.trim());
  if (!match) return null;
  const [, sign = '', whole = '', fraction = ''] = match;
  const places = currencyDigits(balance.code);
  if (/[1-9]/.test(fraction.slice(places))) return null;
  const significant = whole.replace(/^0+/, '');
  // The time for a number grows with the square of its digits.
  if (significant.length > mostDigits) return null;
  const digits = BigInt(significant + fraction.slice(0, places).padEnd(places, '0'));
  const minor = sign === '-' ? -digits : digits;
  return BigInt.asIntN(64, minor) === minor ? minor : null;
}

/** Compares minor units, which a database may return as numbers. */
export function isSameMinor(left: number | bigint | null, right: number | bigint | null): boolean {
  return left === null || right === null ? left === right : Number(left) === Number(right);
}

/** An amount as a number; null where the text is not a decimal number. */
export function decimalAmount({ amount }: Balance): number | null {
  const text = amount.trim();
  return decimal.test(text) ? Number(text) : null;
}

/** Currencies of ISO 4217 that do not have two digits after the point. */
const unusualDigits: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...placesOf(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
    ...placesOf(3, 'BHD IQD JOD KWD LYD OMR TND'),
    ...placesOf(4, 'CLF UYW'),
  }),
);

/** The number of decimal places of a currency (ISO 4217); two for unknown codes. */
export function currencyDigits(code: string): number {
  return unusualDigits.get(code.toUpperCase()) ?? 2;
}

function placesOf(places: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, places]));
}

export interface OwedAmount {
  readonly value: number;
  /** The same exactly, in minor units; null where an amount has more decimal places than the currency, or does not fit 64 bits. */
  readonly minor: bigint | null;
}

/** `1,234.50`; as many decimal places as there are, where they are more than the currency has. */
export function owedText({ value, minor }: OwedAmount, code: string): string {
  if (minor !== null) return grouped(minor, code);
  // A sum of numbers is exact to fifteen digits.
  if (Math.abs(value) >= 1e15) return `about ${value.toPrecision(3)}`;
  const digits = { minimumFractionDigits: currencyDigits(code), maximumFractionDigits: 9 };
  return Number(value.toPrecision(15)).toLocaleString('en-US', digits);
}

/** An amount in the minor unit of its currency: `1,234.50 USD`. */
export function money(minor: bigint, code: string): string {
  return `${grouped(minor, code)} ${code}`;
}

/** The same without the currency code: `1,234.50`. */
function grouped(minor: bigint, code: string): string {
  const places = currencyDigits(code);
  const digits = String(minor < 0n ? -minor : minor).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = places === 0 ? '' : `.${digits.slice(-places)}`;
  return `${minor < 0n ? '-' : ''}${whole}${fraction}`;
}
