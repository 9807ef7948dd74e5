/**
 * Schedules: runs that begin at the slots of a cron expression, whatever the machine's clock does. The only file that knows node-cron: it parses
 * and matches expressions. The waiting is ours, because node-cron waits by the machine's timers, where a simulation has a virtual clock, and
 * makes up no slot that was missed.
 */
import { hash } from 'node:crypto';
import { createTask, parse, validateDetailed } from 'node-cron';
import { sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { background } from '../domain/async/background.ts';
import { openTimezone } from './timezone.ts';

const day = 86_400_000;

/** Longer than any schedule pauses: 29 February comes on a given weekday at least every 40 years. */
const horizon = 41 * 366 * day;

/** What is wrong with a cron expression of five fields (or six, seconds first), in a person's words; undefined where all is well. */
export function checkCron(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  // Told by its field alone: whoever writes in the wrong line of the settings may have written anything.
  if (!valid) return errors.map(({ field, message }) => reasonOf(field, message)).join('; ');
  return Number.isFinite(openSlots(expression, 'UTC').after(0)) ? undefined : 'no day of the calendar ever matches';
}

function reasonOf(field: string, message: string): string {
  if (message.includes('impossible day')) return 'an impossible day of the month';
  return field === 'expression'
    ? 'expected 5 or 6 fields of a cron schedule'
    : `the ${field} is none of a cron schedule`;
}

/** So many slots are remembered. */
const mostKnown = 8;

/** The moments at which a cron expression comes due. */
export interface Slots {
  /** The first slot after an instant, milliseconds since 1970; Infinity where none follows. */
  after(instant: number): number;
}

/**
 * The slots of a valid cron expression in a time zone. Where the clocks change, an expression that names its hours keeps each
 * of its local times once: a time that is skipped comes at the end of the skip, one that is shown twice comes the first
 * time. One that means every hour goes on through both hours that bear the same name.
 */
export function openSlots(expression: string, timezone: string): Slots {
  const { hour, minute, second } = parse(expression);
  const seconds = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 60 + m) * 60 + s)));
  const times = seconds.sort((a, b) => a - b).map((time) => time * 1_000);
  const zone = openTimezone(timezone);
  // Stopped at once: it only says on which days the expression falls.
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
  /** Slots, each with an instant after which no other comes before it. Thousands of accounts may share them, and ask for the same few. */
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

/** Accounts begin up to this long after a slot that they share. */
const longestOffset = 900_000;

/**
 * The slots as one of several accounts has them: each later by the account's own share of 15 minutes, or of the time to the next slot where
 * that is shorter, so that not all begin at once. The share follows from the id: another account more or less moves no other.
 */
export function offsetSlots(slots: Slots, accountId: string): Slots {
  const share = Number.parseInt(hash('sha256', accountId).slice(0, 8), 16) / 2 ** 32;
  const moved = (slot: number): number =>
    Number.isFinite(slot) ? slot + Math.floor(share * Math.min(longestOffset, slots.after(slot) - slot)) : slot;

  /** The last slot up to an instant; undefined where it is longer ago than any offset. */
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
  /** What runs, for the log: 'pull', 'reconcile'. */
  readonly name: string;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Wall time at which it last ran, in an earlier life; undefined if it never did. */
  readonly lastRun: number | undefined;
  /** Ends early when the signal is aborted. What it throws is logged, and the next slot tries again. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Schedule extends Service {
  /** Wall time of the next run, milliseconds since 1970; undefined while one is under way or before the start. */
  readonly next: number | undefined;
}

/** The clock is read again at least this often, so that a jump or a suspended machine is noticed. */
const longestSleep = 60_000;

/** A run begins up to this long after its slot, at most a tenth of the time to the next, so that installations do not all call at once. */
const longestJitter = 30_000;

/**
 * Runs at each slot, one at a time.
 *
 * A slot that was missed (never run, process down, machine suspended, clock set forward) is made up once, at once. A slot that passes during
 * a run is made up after a rest of one interval, so that runs longer than their interval leave room. After the clock was set
 * back, slots that ran already run again only if half their interval has truly gone by since.
 */
export function createSchedule(options: ScheduleOptions): Schedule {
  const { name, slots, clock, random, log } = options;
  let next: number | undefined;

  /** Slots up to this wall time are done with; what ran last, in wall time and in time that never jumps. */
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

  /** How long until the next run, in milliseconds; 0 when it is due. */
  const wait = (): number => {
    const now = clock.now();
    const slot = nextSlot();
    // A slot long past is made up, by this installation alone: nothing to spread.
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
      else await sleptThrough(clock, Math.min(ms, longestSleep), signal);
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
