/** A clock that stands still until told: time passes by `advance`, or by itself whenever nothing else is going on. */
import { assertDelay, type Clock } from '../../src/domain/clock.ts';

export interface VirtualClock extends Clock {
  /** Lets `ms` milliseconds pass, runs what falls due in order, and gives the rest of the program turns in between. */
  advance(ms: number): Promise<void>;
  /** Resolves as soon as `count` timers wait. */
  waiting(count?: number): Promise<void>;
  /** Timers that wait, soonest first, as milliseconds from now. */
  pending(): number[];
}

export interface VirtualClockOptions {
  /** Wall clock at the start, milliseconds since 1970. */
  readonly start?: number;
  /** Jump to the next timer as soon as the program has nothing else to do. */
  readonly auto?: boolean;
  /** Timers at least this long are deadlines: `auto` never jumps to them, so that real sockets get their time. */
  readonly deadline?: number;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly length: number;
  readonly run: () => void;
}

/** Turns of the event loop that must pass without news before `auto` takes the program for idle. */
const idleTurns = 4;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const { start = Date.UTC(2026, 10, 20, 12), auto = false, deadline = Infinity } = options;
  const timers = new Set<Timer>();
  let elapsed = 0;
  let order = 0;
  let jumping = false;

  const soonest = (): Timer[] => [...timers].sort((a, b) => a.due - b.due || a.order - b.order);

  const fire = (timer: Timer): void => {
    timers.delete(timer);
    elapsed = Math.max(elapsed, timer.due);
    timer.run();
  };

  const jump = async (): Promise<void> => {
    jumping = true;
    for (;;) {
      const seen = order;
      for (let idle = 0; idle < idleTurns; idle += 1) await turn();
      const next = soonest().find((timer) => timer.length < deadline);
      if (!next) break;
      if (seen === order) fire(next);
    }
    jumping = false;
  };

  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    timer(ms, run) {
      assertDelay(ms);
      order += 1;
      const timer = { due: elapsed + ms, order, length: ms, run };
      timers.add(timer);
      if (auto && !jumping) void jump();
      return () => timers.delete(timer);
    },
    yield: turn,
    async advance(ms) {
      assertDelay(ms);
      const until = elapsed + ms;
      for (;;) {
        await turn();
        const next = soonest().find((timer) => timer.due <= until);
        if (!next) break;
        fire(next);
      }
      elapsed = Math.max(elapsed, until);
      await turn();
    },
    async waiting(count = 1) {
      while (timers.size < count) await turn();
    },
    pending: () => soonest().map((timer) => timer.due - elapsed),
  };
}
