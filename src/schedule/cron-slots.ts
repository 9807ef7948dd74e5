/** The times of a cron expression. The only file that imports node-cron, which parses and matches expressions. */
import { createTask, parse, validateDetailed } from 'node-cron';
import { Timezone } from './timezone.ts';

const day = 86_400_000;

/** No schedule pauses for longer: 29 February falls on a given weekday at least every 40 years. */
const horizon = 41 * 366 * day;

/** Slots that are cached. */
const mostCached = 8;

/** The times at which a schedule is due. */
export interface Slots {
  /** The first slot after an instant; both in milliseconds since 1970. Infinity where none follows. */
  after(instant: number): number;
}

/** What is wrong with a cron expression of five fields, or six with seconds first, in words; undefined where it is valid. */
export function checkCron(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  // Only the field is named: the value may be anything that was put on the wrong line of the settings, even a secret.
  if (!valid) return errors.map(({ field, message }) => reasonOf(field, message)).join('; ');
  return Number.isFinite(new CronSlots(expression, 'UTC').after(0)) ? undefined : 'no day of the calendar ever matches';
}

function reasonOf(field: string, message: string): string {
  if (message.includes('impossible day')) return 'an impossible day of the month';
  return field === 'expression'
    ? 'expected 5 or 6 fields of a cron schedule'
    : `the ${field} is not valid in a cron schedule`;
}

/**
 * The slots of a valid cron expression in a time zone. Where the clocks change, an expression that names its hours keeps each local time
 * once: a skipped time comes at the end of the gap, a repeated one the first time. An expression that runs every hour runs through both
 * hours of the same name.
 */
export class CronSlots implements Slots {
  readonly #zone: Timezone;
  /** Only its `match` is used, which says on which days the expression falls; it is never started. */
  readonly #task: ReturnType<typeof createTask>;
  /** Times of day, in milliseconds. */
  readonly #times: readonly number[];
  readonly #isEveryHour: boolean;
  /**
   * Cached slots, each with the earliest instant that is known to have no other slot before it. Thousands of accounts may share them and
   * ask for the same few.
   */
  readonly #cached: { since: number; readonly slot: number }[] = [];

  constructor(expression: string, timezone: string) {
    const { hour, minute, second } = parse(expression);
    const seconds = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 60 + m) * 60 + s)));
    this.#times = seconds.sort((a, b) => a - b).map((time) => time * 1_000);
    this.#isEveryHour = new Set(hour).size === 24;
    this.#zone = new Timezone(timezone);
    this.#task = createTask(expression, () => undefined, { timezone: 'UTC' });
    void this.#task.destroy();
  }

  after(instant: number): number {
    const found = this.#cached.find(({ since, slot }) => since <= instant && instant < slot);
    if (found) return found.slot;
    const slot = this.#isEveryHour ? this.#everyHour(instant, this.#zone.offset(instant)) : this.#namedHours(instant);
    const same = this.#cached.find((one) => one.slot === slot);
    if (same) same.since = Math.min(same.since, instant);
    else this.#cached.unshift({ since: instant, slot });
    this.#cached.length = Math.min(this.#cached.length, mostCached);
    return slot;
  }

  #everyHour(from: number, offset: number): number {
    const slot = this.#localAfter(from + offset) - offset;
    if (!Number.isFinite(slot) || this.#zone.offset(slot) === offset) return slot;
    const changed = this.#zone.change(from, slot);
    return this.#everyHour(changed - 1, this.#zone.offset(changed));
  }

  #namedHours(instant: number): number {
    for (let local = instant + this.#zone.offset(instant); ;) {
      local = this.#localAfter(local);
      const slot = Number.isFinite(local) ? this.#zone.reaches(local) : local;
      if (slot > instant) return slot;
    }
  }

  /** The first local time after another that the expression matches. */
  #localAfter(local: number): number {
    const [first = 0] = this.#times;
    for (let date = Math.floor(local / day) * day; date < local + horizon; date += day) {
      const time = this.#times.find((candidate) => date + candidate > local);
      // eslint-disable-next-line no-restricted-globals -- node-cron takes a Date; it is not read from a clock
      if (time !== undefined && this.#task.match(new Date(date + first))) return date + time;
    }
    return Infinity;
  }
}
