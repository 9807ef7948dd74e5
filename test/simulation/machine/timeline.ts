/** The one time of a simulation. It stands still while anything can still happen by itself, then jumps to the next timer. */
import { assertDelay, sleep, type Clock } from '../../../src/domain/clock.ts';

interface Timer {
  readonly due: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Wall time at the beginning of every simulation. */
export const epoch = Date.UTC(2026, 10, 20, 12);

/** More turns than any seed needs: a program that never rests would otherwise never end. */
const mostTurns = 300_000;

/** Thrown where a simulation waits after it was stopped. */
export class Stopped extends Error {}

/** A turn of the event loop: where nothing waits for the outside, everything that follows has happened after it. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Timeline {
  /** Milliseconds since the beginning. */
  now = 0;
  /** A binary heap, the soonest first. */
  readonly #heap: Timer[] = [];
  readonly #settled: () => Promise<void>;
  #order = 0;
  #turns = 0;
  #isStopped = false;

  /** @param settled resolves when nothing happens by itself any more */
  constructor(settled: () => Promise<void>) {
    this.#settled = settled;
  }

  /** The world's clock: right, and never interrupted. */
  readonly clock: Clock = {
    now: () => epoch + this.now,
    monotonic: () => this.now,
    timer: (ms, run) => this.timer(ms, run),
    yield: () => sleep(this.clock, 0),
  };

  timer(ms: number, run: () => void): () => void {
    assertDelay(ms);
    this.#order += 1;
    const timer: Timer = { due: this.now + ms, order: this.#order, run };
    this.#push(timer);
    return () => (timer.run = undefined);
  }

  /** Stops the time: all who wait for it get `Stopped`. */
  stop(): void {
    this.#isStopped = true;
  }

  /**
   * Lets time pass until something is so, for at most `ms` milliseconds.
   * @returns whether it came to be so.
   * @throws Stopped
   */
  async until(isSo: () => boolean, ms: number): Promise<boolean> {
    const end = this.now + ms;
    await this.#settled();
    while (!isSo()) {
      if (this.#isStopped) throw new Stopped();
      const next = this.#heap[0];
      if (!next || next.due > end) {
        this.now = end;
        return isSo();
      }
      this.#pop();
      if (!next.run) continue;
      this.now = Math.max(this.now, next.due);
      next.run();
      this.#turns += 1;
      if (this.#turns > mostTurns)
        throw new Error(`P8 the program does not rest: ${mostTurns} timers by ${this.now} ms`);
      await this.#settled();
    }
    return true;
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(timer, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function before(one: Timer, other: Timer): boolean {
  return one.due < other.due || (one.due === other.due && one.order < other.order);
}
