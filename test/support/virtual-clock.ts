/**
 * A clock that stands still until told: time passes step by step, one timer after the other, each with all that follows from it; or
 * by itself whenever nothing else is going on.
 */
import { assertDelay, type Clock } from '../../src/domain/clock.ts';

export interface VirtualClockOptions {
  /** Wall clock at the start, milliseconds since 1970. */
  readonly start?: number;
  /** Jump to the next timer as soon as the program has nothing else to do. */
  readonly auto?: boolean;
  /** Timers at least this long are deadlines: `auto` never jumps to them, so that real sockets get their time. */
  readonly deadline?: number;
  /** Timers of this length never end. */
  readonly endless?: number | undefined;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly length: number;
  readonly run: () => void;
}

/** Turns of the event loop that must pass without news before the program is taken for idle; more where sockets are at work. */
const idleTurns = { auto: 4, stepped: 6 };

const day = 86_400_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #auto: boolean;
  readonly #deadline: number;
  readonly #endless: number | undefined;
  #wall: number;
  #elapsed = 0;
  #order = 0;
  #jumping = false;
  #working = 0;

  constructor({
    start = Date.UTC(2026, 10, 20, 12),
    auto = false,
    deadline = Infinity,
    endless,
  }: VirtualClockOptions = {}) {
    this.#wall = start;
    this.#auto = auto;
    this.#deadline = deadline;
    this.#endless = endless;
  }

  now(): number {
    return this.#wall + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  timer(ms: number, run: () => void): () => void {
    assertDelay(ms);
    if (ms === this.#endless) return () => undefined;
    this.#order += 1;
    const timer = { due: this.#elapsed + ms, order: this.#order, length: ms, run };
    this.#timers.add(timer);
    if (this.#auto && !this.#jumping) void this.#jump();
    return () => this.#timers.delete(timer);
  }

  yield(): Promise<void> {
    return turn();
  }

  /** Lets `ms` milliseconds pass, runs what falls due in order, and gives the rest of the program a turn in between. */
  async advance(ms: number): Promise<void> {
    assertDelay(ms);
    const until = this.#elapsed + ms;
    for (;;) {
      await turn();
      const next = this.#soonest().find((timer) => timer.due <= until);
      if (!next) break;
      this.#fire(next);
    }
    this.#elapsed = Math.max(this.#elapsed, until);
    await turn();
  }

  /** Resolves as soon as `count` timers wait. */
  async waiting(count = 1): Promise<void> {
    while (this.#timers.size < count) await turn();
  }

  /** Timers that wait, soonest first, as milliseconds from now. */
  pending(): number[] {
    return this.#soonest().map((timer) => timer.due - this.#elapsed);
  }

  /** Lets `ms` milliseconds pass; never while something that was begun is still going on. */
  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.#settle();
    while (await this.#step(end - this.#elapsed));
    await this.advance(end - this.#elapsed);
    await this.#settle();
  }

  /** Lets time pass until something is so. @throws Error where it is not within `atMost` milliseconds. */
  async until(what: string, isSo: () => boolean | Promise<boolean>, atMost = day): Promise<void> {
    const end = this.#elapsed + atMost;
    await this.#settle();
    while (!(await isSo()))
      if (!(await this.#step(end - this.#elapsed)))
        throw new Error(`After ${atMost / 1_000} s it was still not so that ${what}.`);
  }

  /** Lets time pass until the work is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    const state = { going: true };
    const end = (): void => void (state.going = false);
    work.then(end, end);
    await this.#settle();
    while (state.going) if (!(await this.#step(day))) await turn();
    return work;
  }

  /** Holds time while a real socket is at work. */
  async busy<T>(work: Promise<T>): Promise<T> {
    this.#working += 1;
    this.#order += 1;
    try {
      return await work;
    } finally {
      this.#order += 1;
      this.#working -= 1;
    }
  }

  /** Moves the wall clock alone, as when the machine sleeps or somebody sets it. */
  shiftWall(ms: number): void {
    this.#wall += ms;
  }

  #soonest(): Timer[] {
    return [...this.#timers].sort((a, b) => a.due - b.due || a.order - b.order);
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#elapsed = Math.max(this.#elapsed, timer.due);
    timer.run();
  }

  async #jump(): Promise<void> {
    this.#jumping = true;
    for (;;) {
      const seen = this.#order;
      for (let idle = 0; idle < idleTurns.auto; idle += 1) await turn();
      const next = this.#soonest().find((timer) => timer.length < this.#deadline);
      if (!next) break;
      if (seen === this.#order && this.#working === 0) this.#fire(next);
    }
    this.#jumping = false;
  }

  /** Gives the program turns until it is idle. */
  async #settle(): Promise<void> {
    for (let idle = 0, seen = this.#order; idle < idleTurns.stepped; idle += 1) {
      await turn();
      if (this.#working > 0 || this.#order !== seen) idle = 0;
      seen = this.#order;
    }
  }

  /** Lets the next timer fire. False, and nothing has happened, where none is due within `ms`. */
  async #step(ms: number): Promise<boolean> {
    const [next] = this.pending();
    if (next === undefined || next > ms) return false;
    await this.advance(next);
    await this.#settle();
    return true;
  }
}

export function virtualClock(options?: VirtualClockOptions): VirtualClock {
  return new VirtualClock(options);
}
