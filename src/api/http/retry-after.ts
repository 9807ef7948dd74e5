/** Parses `Retry-After`: seconds or an HTTP date. */
import { parseInstant } from '../../domain/clock.ts';

const shortest = 1_000;
const longest = 3_600_000;

/**
 * Milliseconds of a `Retry-After` header, limited to between one second and one hour; undefined where it is missing or invalid. A date is
 * compared with the answer's own `Date` header where there is one, so that a wrong clock of this machine does not matter. Use it only for
 * 429 and 503: the service also sends it with success.
 */
export function retryAfter(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return clamp(Number(text) * 1_000);
  const until = /[A-Za-z]{3}/.test(text) ? parseInstant(text) : undefined;
  if (until === undefined) return undefined;
  return clamp(until - (parseInstant(headers.get('date') ?? '') ?? now));
}

function clamp(ms: number): number {
  return Math.min(longest, Math.max(shortest, ms));
}
