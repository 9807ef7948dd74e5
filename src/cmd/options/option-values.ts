/** What the values of options must be. */
import { InvalidArgumentError } from 'commander';
import { MirrorError } from '../../domain/errors.ts';
import { eventsInstead } from '../../domain/events.ts';

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

/** An event that the service lets anybody register for. */
export function eventName(text: string): string {
  const instead = eventsInstead(text);
  if (instead === undefined) return text;
  throw new InvalidArgumentError(`The service has no such event. There are ${instead}.`);
}

/**
 * An address that the service can send a POST to: absolute, http or https, nothing in it that would not arrive.
 * @throws MirrorError `usage` that does not repeat it: addresses hold secrets.
 */
export function webAddress(text: string): string {
  const url = /^https?:\/\/[\x21-\x7e]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url)
    throw new MirrorError(
      'usage',
      'The address must be a whole https (or http) one, such as https://hooks.example.com/inbox.',
    );
  if (url.username || url.password || url.hash)
    throw new MirrorError('usage', 'The address must be one without user, password and fragment.');
  return text;
}

/** The values of an option that may be repeated. */
export function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
