/** How long an answer asks to wait: seconds or an HTTP date, made safe for a timer. */
import { parseInstant } from '../../domain/clock.ts';

const shortest = 1_000;
const longest = 3_600_000;

/**
 * Milliseconds asked for by a `Retry-After` header, from one second to one hour; undefined where the header is missing
 * or neither a number of seconds nor a date. A date is measured against the answer's own `Date` header where it has
 * one, so that a wrong clock on this machine makes no difference. It counts only on 429 and 503: the service sends it
 * on success too.
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
