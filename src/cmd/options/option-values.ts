/** What the values of options must be. */
import { InvalidArgumentError } from 'commander';
import { MirrorError } from '../../domain/errors.ts';
import { eventsInstead } from '../../domain/events.ts';
import { isCursor } from '../../store/feed/cursor-text.ts';

/** A whole number of at least `least`, and at most `most` if told. */
export function wholeFrom(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most < Number.MAX_SAFE_INTEGER ? `from ${least} to ${most}` : `from ${least}`;
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** Where the change feed goes on. */
export function feedCursor(text: string): string {
  if (isCursor(text)) return text;
  throw new InvalidArgumentError('It must be the cursor or the seq of a change.');
}

/** A port to listen on; 0 means any free port. */
export function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a port from 0 to 65535.');
}

/** A number of times a second, and the like. */
export function nonNegative(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0.');
}

/** A share of all. */
export function rate(text: string): number {
  if (isRate(text)) return Number(text);
  throw new InvalidArgumentError('It must be a rate from 0 to 1, such as 0.05.');
}

export function isRate(text: string): boolean {
  return /^(0(\.\d+)?|1(\.0+)?)$/.test(text);
}

/** The number of something at the service. */
export const idNumber = wholeFrom(1);

/** An event that the service lets anybody register for. */
export function eventName(text: string): string {
  const instead = eventsInstead(text);
  if (instead === undefined) return text;
  throw new InvalidArgumentError(`The service has no such event. Known events: ${instead}.`);
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
      'The address must be complete, with https (or http), such as https://hooks.example.com/inbox.',
    );
  if (url.username || url.password || url.hash)
    throw new MirrorError('usage', 'The address must not have a user, a password or a fragment.');
  return text;
}

/** The values of an option that may be repeated. */
export function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
