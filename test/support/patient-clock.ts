/**
 * A clock for a daemon whose deliveries come over real sockets: time passes only when told, and never while something that was begun is
 * still going on.
 */
import type { Clock } from '../../src/domain/clock.ts';
import { virtualClock } from './virtual-clock.ts';

export interface PatientClock extends Clock {
  /** Lets `ms` milliseconds pass, one timer after the other, each with all that follows from it. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until something is so. Throws where it is not within `atMost` milliseconds. */
  until(what: string, isSo: () => boolean | Promise<boolean>, atMost?: number): Promise<void>;
  /** Lets time pass until the work is done. */
  during<T>(work: Promise<T>): Promise<T>;
  /** The machine sleeps: the wall clock goes on, and nothing else. */
  suspend(ms: number): void;
  /** Holds time while a real socket is at work. */
  busy<T>(work: Promise<T>): Promise<T>;
}

/** Turns of the event loop without news after which the program is taken for idle. */
const idleTurns = 6;

const day = 86_400_000;

export function patientClock(start?: number): PatientClock {
  const clock = virtualClock(start === undefined ? {} : { start });
  let asleep = 0;
  let timers = 0;
  let working = 0;

  /** Gives the program turns until nothing happens by itself any more. */
  const settle = async (): Promise<void> => {
    for (let idle = 0, seen = timers; idle < idleTurns; idle += 1) {
      await clock.yield();
      if (working > 0 || timers !== seen) idle = 0;
      seen = timers;
    }
  };

  /** Lets the next timer fire. False, and nothing has happened, where none is due within `ms`. */
  const step = async (ms: number): Promise<boolean> => {
    const [next] = clock.pending();
    if (next === undefined || next > ms) return false;
    await clock.advance(next);
    await settle();
    return true;
  };

  return {
    monotonic: () => clock.monotonic(),
    yield: () => clock.yield(),
    now: () => clock.now() + asleep,
    timer(ms, run) {
      timers += 1;
      return clock.timer(ms, run);
    },
    async pass(ms) {
      const end = clock.monotonic() + ms;
      await settle();
      while (await step(end - clock.monotonic()));
      await clock.advance(end - clock.monotonic());
      await settle();
    },
    async until(what, isSo, atMost = day) {
      const end = clock.monotonic() + atMost;
      await settle();
      while (!(await isSo()))
        if (!(await step(end - clock.monotonic())))
          throw new Error(`After ${atMost / 1_000} s it was still not so that ${what}.`);
    },
    async during(work) {
      const state = { going: true };
      const end = (): void => void (state.going = false);
      work.then(end, end);
      await settle();
      while (state.going) if (!(await step(day))) await clock.yield();
      return work;
    },
    suspend(ms) {
      asleep += ms;
    },
    async busy(work) {
      working += 1;
      try {
        return await work;
      } finally {
        working -= 1;
      }
    },
  };
}
