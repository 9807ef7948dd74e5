/** Moments and lengths of time, as people say them. */
import { parseInstant, type Clock } from './clock.ts';

const units = [
  { name: 'years', one: 'year', ms: 31_557_600_000 },
  { name: 'days', one: 'day', ms: 86_400_000 },
  { name: 'h', one: 'h', ms: 3_600_000 },
  { name: 'min', one: 'min', ms: 60_000 },
  { name: 's', one: 's', ms: 1_000 },
] as const;

/** A length of time in its largest unit, rounded down: `3 min`. */
export function inWords(ms: number): string {
  const unit = units.find(({ ms: size }) => ms >= size) ?? units[4];
  const count = Math.floor(ms / unit.ms);
  return `${count} ${count === 1 ? unit.one : unit.name}`;
}

/** A moment of ours or of the service, seen from now: `3 min ago`; `never` where there is none. */
export function age(clock: Pick<Clock, 'now'>, moment: string | null): string {
  const instant = moment === null ? undefined : parseInstant(moment);
  if (instant === undefined) return moment ?? 'never';
  const past = clock.now() - instant;
  if (Math.abs(past) < 1_000) return 'just now';
  return past > 0 ? `${inWords(past)} ago` : `in ${inWords(-past)}`;
}

/** The length of time between two moments, or until now: `0.4 s`, `3 min`. */
export function took(clock: Pick<Clock, 'now'>, from: string, to: string | null): string {
  const start = parseInstant(from) ?? clock.now();
  return seconds((((to === null ? undefined : parseInstant(to)) ?? clock.now()) - start) / 1_000);
}

/** Some seconds, with one digit after the point below ten. */
export function seconds(count: number): string {
  return count < 10 ? `${count.toFixed(1)} s` : inWords(count * 1_000);
}
