/**
 * Runs a job at its slots, however the machine's clock changes. The waiting is ours: node-cron uses the machine's timers, where a simulation
 * has a virtual clock, and does not make up missed slots.
 *
 * Runs are one at a time. A missed slot (first start, process down, machine suspended, clock set forward) is made up once, immediately. A
 * slot that passes during a run is made up after a pause of one interval, so that there is idle time even where runs take longer than their
 * interval. After the clock was set back, slots that already ran run again only if half their interval has really passed.
 */
import { Background, sharedWait } from '../domain/concurrency.ts';
import { sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import type { Slots } from './cron-slots.ts';

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

/** The clock is read at least this often, so that a jump or a suspended machine is noticed. */
const maxSleep = 60_000;

/** A run begins up to this long after its slot, at most a tenth of the interval, so that installations do not all call at once. */
const maxJitter = 30_000;

export class Schedule extends Background {
  readonly name: string;
  readonly #options: ScheduleOptions;
  #next: number | undefined;
  /** Slots up to this wall time are done. */
  #done: number;
  /** When the last run began, in wall time and in monotonic time. */
  #ran = { wall: -Infinity, monotonic: -Infinity };
  /** No run begins before this monotonic time. */
  #pausedUntil = -Infinity;
  #jitter = { slot: NaN, ms: 0 };

  constructor(options: ScheduleOptions) {
    super();
    this.name = `the ${options.name} schedule`;
    this.#options = options;
    this.#done = options.lastRun ?? -Infinity;
  }

  /** Wall time of the next run, milliseconds since 1970; undefined before the start and during a run. */
  get next(): number | undefined {
    return this.#next;
  }

  protected async work(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const ms = this.#untilNext();
      if (ms === 0) await this.#runOnce(signal);
      else await sleptThrough(clock, ms > maxSleep ? sharedWait(clock, maxSleep) : ms, signal);
    }
    this.#next = undefined;
  }

  /** Milliseconds until the next run; 0 when it is due. */
  #untilNext(): number {
    const { clock, random } = this.#options;
    const now = clock.now();
    const slot = this.#nextSlot();
    if (slot !== this.#jitter.slot) {
      const longest = Math.min(maxJitter, this.#interval(slot) / 10);
      // A missed slot is made up without jitter: only this installation missed it.
      this.#jitter = { slot, ms: slot > now ? Math.floor(random.fraction() * longest) : 0 };
    }
    const ms = Math.max(slot + this.#jitter.ms - now, this.#pausedUntil - clock.monotonic(), 0);
    this.#next = now + ms;
    return ms;
  }

  #nextSlot(): number {
    const { clock, slots } = this.#options;
    const now = clock.now();
    if (this.#done === -Infinity || (this.#ran.wall === -Infinity && this.#done > now)) return now;
    this.#done = Math.min(this.#done, now);
    const real = clock.monotonic() - this.#ran.monotonic - now;
    let slot = slots.after(this.#done);
    while (slot <= this.#ran.wall && slot + real < this.#interval(slot) / 2) slot = slots.after(slot);
    return slot;
  }

  async #runOnce(signal: AbortSignal): Promise<void> {
    const { name, slots, clock, log, run } = this.#options;
    this.#next = undefined;
    this.#done = clock.now();
    this.#ran = { wall: this.#done, monotonic: clock.monotonic() };
    try {
      await run(signal);
    } catch (error) {
      if (!signal.aborted)
        log.error({ schedule: name, err: asMirrorError(error) }, 'a scheduled run failed; the next slot tries again');
    }
    const passed = slots.after(this.#done);
    if (passed <= clock.now()) this.#pausedUntil = clock.monotonic() + this.#interval(passed);
  }

  #interval(slot: number): number {
    return this.#options.slots.after(slot) - slot;
  }
}
