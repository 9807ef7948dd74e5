/** Moments and spans of time in words: how long ago, and how long it took. */
import { parseInstant, type Clock } from './clock.ts';
import { agoInWords, seconds } from './duration.ts';

/** A timestamp of ours or of the service, relative to now: `3 min ago`; `never` for null; a text that is not a time, unchanged. */
export function age(clock: Pick<Clock, 'now'>, moment: string | null): string {
  const instant = moment === null ? undefined : parseInstant(moment);
  if (instant === undefined) return moment ?? 'never';
  return agoInWords(clock.now() - instant);
}

/** The time from one timestamp to another, or to now for null: `0.4 s`, `3 min`. */
export function took(clock: Pick<Clock, 'now'>, from: string, to: string | null): string {
  const start = parseInstant(from) ?? clock.now();
  return seconds((((to === null ? undefined : parseInstant(to)) ?? clock.now()) - start) / 1_000);
}
