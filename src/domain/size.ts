/** Numbers in words. */

const numbers = new Intl.NumberFormat('en');

/** A number with what is counted: `1 vendor`, `94,942 vendors`; a plural that is not the noun with an s is named. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${numbers.format(count)} ${count === 1 ? noun : plural}`;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: false });

/** A number of bytes as people read it, `73.2 GB`; a kB is 1,024 bytes, as in the limits. */
export function sizeInWords(bytes: number): string {
  // Beyond 999.5 of a unit, three digits would round to 1,000.
  const power = units.findIndex((_, index) => bytes < 999.5 * 1_024 ** index);
  const unit = power === -1 ? units.length - 1 : power;
  return `${digits.format(bytes / 1_024 ** unit)} ${units[unit] ?? ''}`;
}
