/** Durations in settings and in words. Imports nothing, because it also runs in the browser. */

const parsed = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `500ms`, `30s`, `15m`, `12h` or `90d` in milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * parsed[unit as keyof typeof parsed];
}

const units = [
  { name: 'years', one: 'year', ms: 31_557_600_000 },
  { name: 'days', one: 'day', ms: 86_400_000 },
  { name: 'h', one: 'h', ms: 3_600_000 },
  { name: 'min', one: 'min', ms: 60_000 },
  { name: 's', one: 's', ms: 1_000 },
] as const;

/** A duration in its largest unit, rounded down: `3 min`. */
export function inWords(ms: number): string {
  const unit = units.find(({ ms: size }) => ms >= size) ?? units[4];
  const count = Math.floor(ms / unit.ms);
  return `${count} ${count === 1 ? unit.one : unit.name}`;
}

/** How far two clocks are apart: each tells whole seconds, and the answer was under way, so 2 h 59 min 59 s is `3 h`. */
export function apartInWords(ms: number): string {
  const about = 5_000;
  return inWords(ms < 60_000 - about ? ms : Math.round(ms / about) * about);
}

/** A number of seconds, with one decimal place below ten. */
export function seconds(count: number): string {
  return count < 10 ? `${count.toFixed(1)} s` : inWords(count * 1_000);
}

/** A moment that many milliseconds ago: `3 min ago`; negative for the future: `in 3 min`. */
export function agoInWords(past: number): string {
  if (Math.abs(past) < 1_000) return 'just now';
  return past > 0 ? `${inWords(past)} ago` : `in ${inWords(-past)}`;
}

/**
 * A moment in UTC, with the time where the reader is beside it if that differs: `11:57:40 UTC (12:57:40 local)`. A date is named where it
 * is not today, or not the same in both. All are given as `YYYY-MM-DD HH:MM:SS`.
 */
export function momentInWords(moment: string, now: string, local = moment): string {
  const utc = `${timeOn(now, moment)} UTC`;
  return local === moment ? utc : `${utc} (${timeOn(moment, local)} local)`;
}

/** The time of a moment, with its date unless that is the date of `day`. */
function timeOn(day: string, moment: string): string {
  return moment.slice(moment.slice(0, 10) === day.slice(0, 10) ? 11 : 0, 19);
}

/** A period that ends now: `last 4 min`, `last day`. */
export function lastInWords(ms: number): string {
  return `last ${inWords(ms).replace(/^1 day$/, 'day')}`;
}
