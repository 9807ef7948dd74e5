/**
 * Runs jobs at the slots of a cron expression, however the machine's clock changes. The only file that imports node-cron, which parses and
 * matches the expressions. The waiting is ours: node-cron uses the machine's timers, where a simulation has a virtual clock, and does not
 * make up missed slots.
 */
import { hash } from 'node:crypto';
import { createTask, parse, validateDetailed } from 'node-cron';
import { sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { background } from '../domain/async/background.ts';
import { sharedWait } from '../domain/async/shared-wait.ts';
import { openTimezone } from './timezone.ts';

const day = 86_400_000;

/** No schedule pauses for longer: 29 February falls on a given weekday at least every 40 years. */
const horizon = 41 * 366 * day;

/** What is wrong with a cron expression of five fields, or six with seconds first, in words; undefined where it is valid. */
export function checkCron(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  // Only the field is named: the value may be anything that was put on the wrong line of the settings, even a secret.
  if (!valid) return errors.map(({ field, message }) => reasonOf(field, message)).join('; ');
  return Number.isFinite(openSlots(expression, 'UTC').after(0)) ? undefined : 'no day of the calendar ever matches';
}

function reasonOf(field: string, message: string): string {
  if (message.includes('impossible day')) return 'an impossible day of the month';
  return field === 'expression'
    ? 'expected 5 or 6 fields of a cron schedule'
    : `the ${field} is none of a cron schedule`;
}

/** Slots that are cached. */
const mostKnown = 8;

/** The times at which a schedule is due. */
export interface Slots {
  /** The first slot after an instant; both in milliseconds since 1970. Infinity where none follows. */
  after(instant: number): number;
}

/**
 * The slots of a valid cron expression in a time zone. Where the clocks change, an expression that names its hours keeps each local time
 * once: a skipped time comes at the end of the gap, a repeated one the first time. An expression that runs every hour runs through both
 * hours of the same name.
 */
export function openSlots(expression: string, timezone: string): Slots {
  const { hour, minute, second } = parse(expression);
  const seconds = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 60 + m) * 60 + s)));
  const times = seconds.sort((a, b) => a - b).map((time) => time * 1_000);
  const zone = openTimezone(timezone);
  // Never started: only its `match` is used, which says on which days the expression falls.
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  void task.destroy();

  const localAfter = (local: number): number => {
    const [first = 0] = times;
    for (let date = Math.floor(local / day) * day; date < local + horizon; date += day) {
      const time = times.find((candidate) => date + candidate > local);
      // eslint-disable-next-line no-restricted-globals -- node-cron asks for a Date; what it holds is no reading of a clock
      if (time !== undefined && task.match(new Date(date + first))) return date + time;
    }
    return Infinity;
  };

  const everyHour = (from: number, offset: number): number => {
    const slot = localAfter(from + offset) - offset;
    if (!Number.isFinite(slot) || zone.offset(slot) === offset) return slot;
    const changed = zone.change(from, slot);
    return everyHour(changed - 1, zone.offset(changed));
  };

  const namedHours = (instant: number): number => {
    for (let local = instant + zone.offset(instant); ;) {
      local = localAfter(local);
      const slot = Number.isFinite(local) ? zone.reaches(local) : local;
      if (slot > instant) return slot;
    }
  };

  const everyHourNamed = new Set(hour).size === 24;
  /**
   * Cached slots, each with the earliest instant that is known to have no other slot before it. Thousands of accounts may share them and
   * ask for the same few.
   */
  const known: { since: number; readonly slot: number }[] = [];
  return {
    after(instant) {
      const found = known.find(({ since, slot }) => since <= instant && instant < slot);
      if (found) return found.slot;
      const slot = everyHourNamed ? everyHour(instant, zone.offset(instant)) : namedHours(instant);
      const same = known.find((one) => one.slot === slot);
      if (same) same.since = Math.min(same.since, instant);
      else known.unshift({ since: instant, slot });
      known.length = Math.min(known.length, mostKnown);
      return slot;
    },
  };
}

/** Accounts are spread over at most this time after a shared slot, in milliseconds. */
const longestOffset = 900_000;

/**
 * The slots of one of several accounts: each is delayed by the account's own share of 15 minutes, or of the time to the next slot where
 * that is shorter, so that not all begin at once. The share is derived from the account id, so adding or removing an account does not move
 * the others.
 */
export function offsetSlots(slots: Slots, accountId: string): Slots {
  const share = Number.parseInt(hash('sha256', accountId).slice(0, 8), 16) / 2 ** 32;
  const moved = (slot: number): number =>
    Number.isFinite(slot) ? slot + Math.floor(share * Math.min(longestOffset, slots.after(slot) - slot)) : slot;

  /** The last slot up to an instant; undefined where it is further back than the longest offset. */
  const lastBefore = (instant: number): number | undefined => {
    for (let back = 1_000; ; back = Math.min(2 * back, longestOffset)) {
      let slot = slots.after(instant - back);
      if (slot > instant && back === longestOffset) return undefined;
      if (slot > instant) continue;
      for (let next = slots.after(slot); next <= instant; next = slots.after(next)) slot = next;
      return slot;
    }
  };

  let known = { since: Infinity, slot: -Infinity };
  return {
    after(instant) {
      if (instant < known.since || instant >= known.slot) {
        const last = lastBefore(instant);
        const begun = last === undefined ? -Infinity : moved(last);
        known = { since: instant, slot: begun > instant ? begun : moved(slots.after(instant)) };
      }
      return known.slot;
    },
  };
}

export interface ScheduleOptions {
  /** The name of the job in the log: 'pull', 'reconcile'. */
  readonly name: string;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Wall time of the last run before this process started; undefined if there was none. */
  readonly lastRun: number | undefined;
  /** The job. It ends early when the signal is aborted. Its errors are logged, and the next slot tries again. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Schedule extends Service {
  /** Wall time of the next run, milliseconds since 1970; undefined before the start and during a run. */
  readonly next: number | undefined;
}

/** The clock is read at least this often, so that a jump or a suspended machine is noticed. */
const longestSleep = 60_000;

/** A run begins up to this long after its slot, at most a tenth of the interval, so that installations do not all call at once. */
const longestJitter = 30_000;

/**
 * Runs the job at each slot, one at a time.
 *
 * A missed slot (first start, process down, machine suspended, clock set forward) is made up once, immediately. A slot that passes during a
 * run is made up after a pause of one interval, so that there is idle time even where runs take longer than their interval. After the clock
 * was set back, slots that already ran run again only if half their interval has really passed.
 */
export function createSchedule(options: ScheduleOptions): Schedule {
  const { name, slots, clock, random, log } = options;
  let next: number | undefined;

  /** Slots up to this wall time are done; the last run in wall time and in monotonic time. */
  let done = options.lastRun ?? -Infinity;
  let ran = { wall: -Infinity, monotonic: -Infinity };
  let restUntil = -Infinity;
  let jitter = { slot: NaN, ms: 0 };

  const interval = (slot: number): number => slots.after(slot) - slot;

  const nextSlot = (): number => {
    const now = clock.now();
    if (done === -Infinity || (ran.wall === -Infinity && done > now)) return now;
    done = Math.min(done, now);
    const real = clock.monotonic() - ran.monotonic - now;
    let slot = slots.after(done);
    while (slot <= ran.wall && slot + real < interval(slot) / 2) slot = slots.after(slot);
    return slot;
  };

  /** Milliseconds until the next run; 0 when it is due. */
  const wait = (): number => {
    const now = clock.now();
    const slot = nextSlot();
    // A missed slot is made up without jitter: only this installation missed it.
    if (slot !== jitter.slot)
      jitter = {
        slot,
        ms: slot > now ? Math.floor(random.fraction() * Math.min(longestJitter, interval(slot) / 10)) : 0,
      };
    const ms = Math.max(slot + jitter.ms - now, restUntil - clock.monotonic(), 0);
    next = now + ms;
    return ms;
  };

  const runOnce = async (signal: AbortSignal): Promise<void> => {
    next = undefined;
    done = clock.now();
    ran = { wall: done, monotonic: clock.monotonic() };
    try {
      await options.run(signal);
    } catch (error) {
      if (!signal.aborted)
        log.error({ schedule: name, err: asMirrorError(error) }, 'a scheduled run failed; the next slot tries again');
    }
    const passed = slots.after(done);
    if (passed <= clock.now()) restUntil = clock.monotonic() + interval(passed);
  };

  const live = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const ms = wait();
      if (ms === 0) await runOnce(signal);
      else await sleptThrough(clock, ms > longestSleep ? sharedWait(clock, longestSleep) : ms, signal);
    }
    next = undefined;
  };

  const service = background(`the ${name} schedule`, live);
  return {
    ...service,
    get next() {
      return next;
    },
  };
}
