/** Moments, as people name them on a command line. */
import { parseInstant } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { visible } from '../terminal/plain-text.ts';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * `12h` ago, or a moment such as `2026-11-20` or `2026-11-20 09:00:00`, UTC; in milliseconds since 1970.
 * @throws MirrorError `usage` for anything else.
 */
export function momentSince(text: string, now: number): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * units[unit as keyof typeof units];
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseInstant(text) : undefined;
  if (moment !== undefined) return moment;
  throw new MirrorError('usage', `--since takes 30m, 12h, 7d or a moment in UTC, not "${visible(text)}".`);
}
