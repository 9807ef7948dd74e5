/**
 * The times of a cron expression. The only file that imports node-cron, which parses and matches expressions.
 *
 * When daylight saving time begins or ends, an expression that names its hours runs once for each local time. Several accounts have
 * different due times: the shared slot plus an offset derived from the account's id, at most 15 minutes or the interval, whichever is
 * shorter.
 */
import { hash } from 'node:crypto';
import { createTask, parse, validateDetailed } from 'node-cron';

const day = 86_400_000;

/** No schedule pauses for longer: 29 February falls on a given weekday at least every 40 years. */
const horizon = 41 * 366 * day;

/** Slots that are cached. */
const maxCached = 8;

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
    this.#cached.length = Math.min(this.#cached.length, maxCached);
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

/** Local times are milliseconds since 1970 as the zone's clocks show them, read as if they were UTC. */
class Timezone {
  readonly #format: Intl.DateTimeFormat;

  /** @throws RangeError if there is no such zone. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** The zone's offset from UTC at an instant, in milliseconds. */
  offset(instant: number): number {
    const text = this.#format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes, seconds] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
    const ahead = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1_000;
    return sign === '-' ? -ahead : ahead;
  }

  /** The first instant after `from` and up to `to` at which the offset differs from that at `from`; `to` where it does not change. */
  change(from: number, to: number): number {
    const old = this.offset(from);
    let [same, other] = [from, to];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.offset(middle) === old) same = middle;
      else other = middle;
    }
    return other;
  }

  /**
   * The first instant at which the clocks show `local` or later: for a skipped time, the end of the gap; for a repeated one, the first
   * occurrence. Never falls as `local` rises.
   */
  reaches(local: number): number {
    const [before, after] = [this.offset(local - day), this.offset(local + day)];
    if (this.offset(local - before) === before) return local - before;
    if (this.offset(local - after) === after) return local - after;
    return this.change(local - after, local - before);
  }
}

/** Accounts are spread over at most this time after a shared slot, in milliseconds. */
const maxOffset = 900_000;

/**
 * Shared slots, each delayed by the account's own share of 15 minutes, or of the time to the next slot where that is shorter. The share is
 * derived from the account id, so adding or removing an account does not move the others.
 */
export class OffsetSlots implements Slots {
  readonly #shared: Slots;
  readonly #share: number;
  #cached = { since: Infinity, slot: -Infinity };

  constructor(shared: Slots, accountId: string) {
    this.#shared = shared;
    this.#share = Number.parseInt(hash('sha256', accountId).slice(0, 8), 16) / 2 ** 32;
  }

  after(instant: number): number {
    if (instant < this.#cached.since || instant >= this.#cached.slot) {
      const last = this.#lastSharedBefore(instant);
      const current = last === undefined ? -Infinity : this.#delayed(last);
      const slot = current > instant ? current : this.#delayed(this.#shared.after(instant));
      this.#cached = { since: instant, slot };
    }
    return this.#cached.slot;
  }

  #delayed(slot: number): number {
    if (!Number.isFinite(slot)) return slot;
    return slot + Math.floor(this.#share * Math.min(maxOffset, this.#shared.after(slot) - slot));
  }

  /** The last shared slot up to an instant; undefined where it is further back than the longest offset. */
  #lastSharedBefore(instant: number): number | undefined {
    for (let back = 1_000; ; back = Math.min(2 * back, maxOffset)) {
      let slot = this.#shared.after(instant - back);
      if (slot > instant && back === maxOffset) return undefined;
      if (slot > instant) continue;
      for (let next = this.#shared.after(slot); next <= instant; next = this.#shared.after(next)) slot = next;
      return slot;
    }
  }
}
