/** Moments, as people name them on a command line. */
import { parseInstant } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { MirrorError } from '../../domain/errors.ts';
import { visible } from '../terminal/plain-text.ts';

/**
 * `12h` ago, or a moment such as `2026-11-20` or `2026-11-20 09:00:00`, UTC; in milliseconds since 1970.
 * @throws MirrorError `usage` for anything else.
 */
export function startOfRange(text: string, now: number): number {
  const ago = parseDuration(text);
  if (ago !== undefined) return now - ago;
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseInstant(text) : undefined;
  if (moment !== undefined) return moment;
  throw new MirrorError('usage', `--since takes 30m, 12h, 7d or a moment in UTC, not "${visible(text)}".`);
}
