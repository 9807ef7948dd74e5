/** What the values of options must be. */
import { InvalidArgumentError } from 'commander';

/** A whole number of at least this. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
  };
}

/** The number of something at the service. */
export const idNumber = wholeFrom(1);

/** The values of an option that may be repeated. */
export function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
