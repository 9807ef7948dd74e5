/** Moments as people say them: how long ago, and how long between two. */
import { parseInstant, type Clock } from './clock.ts';
import { agoInWords, seconds } from './duration.ts';

/** A moment of ours or of the service, seen from now: `3 min ago`; `never` where there is none. */
export function age(clock: Pick<Clock, 'now'>, moment: string | null): string {
  const instant = moment === null ? undefined : parseInstant(moment);
  if (instant === undefined) return moment ?? 'never';
  return agoInWords(clock.now() - instant);
}

/** The length of time between two moments, or until now: `0.4 s`, `3 min`. */
export function took(clock: Pick<Clock, 'now'>, from: string, to: string | null): string {
  const start = parseInstant(from) ?? clock.now();
  return seconds((((to === null ? undefined : parseInstant(to)) ?? clock.now()) - start) / 1_000);
}
