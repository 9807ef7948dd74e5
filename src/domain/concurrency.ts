/**
 * Work in the background and at the same time: services that are started in order and stopped in reverse, loops from start to stop, arrivals
 * that wake them, calls that are joined, batches and bounds.
 */
import { sleptThrough, type Clock } from './clock.ts';

/** A service that begins its work once, and on stop aborts the signal of it and waits for it to end. */
export abstract class Background implements Service {
  abstract readonly name: string;
  readonly #stop = new AbortController();
  #ended: Promise<unknown> | undefined;

  start(): Promise<void> {
    this.#ended ??= this.work(this.#stop.signal);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error(`${this.name} stops.`));
    await this.#ended;
  }

  protected abstract work(signal: AbortSignal): Promise<unknown>;
}

/** The same of a function. */
export function background(name: string, work: (signal: AbortSignal) => Promise<unknown>): Service {
  return new (class extends Background {
    readonly name = name;
    protected work(signal: AbortSignal): Promise<unknown> {
      return work(signal);
    }
  })();
}

/** Runs `work` now, and again `ms` milliseconds after each time it ended, until the signal is aborted. */
export async function repeatedly(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  do await work();
  while (await sleptThrough(clock, ms, signal));
}

/**
 * Counts arrivals and wakes whoever waits for the next one. A caller reads `count` before it looks for work and passes it to the wait, so
 * that an arrival in between is not lost.
 */
export class ArrivalSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /**
   * Waits until there were more than `since` arrivals.
   * @returns true then, false after `ms` milliseconds.
   * @throws the signal's reason when it is aborted.
   */
  async waitForMore(since: number, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (this.#count > since) return true;
    const over = new AbortController();
    const wake = (): void => over.abort();
    this.#waiting.add(wake);
    await sleptThrough(clock, ms, AbortSignal.any([signal, over.signal]));
    this.#waiting.delete(wake);
    signal.throwIfAborted();
    return this.#count > since;
  }
}

type Outcome = 'done' | 'failed';

/** Joins concurrent calls: while the work of the first is under way, later calls wait for its result. */
export class SingleFlight<T> {
  readonly #keeps: (outcome: Outcome) => boolean;
  #last: { readonly result: Promise<T>; outcome?: Outcome } | undefined;

  /** `keeps` decides whether a finished result is still used for later calls; by default never. */
  constructor(keeps: (outcome: Outcome) => boolean = () => false) {
    this.#keeps = keeps;
  }

  /** Starts the work, or returns the result that is under way or kept. @throws what the work throws, to every caller that joined it. */
  run(work: () => Promise<T>): Promise<T> {
    const last = this.#last;
    if (last && (last.outcome === undefined || this.#keeps(last.outcome))) return last.result;
    const begun: { result: Promise<T>; outcome?: Outcome } = { result: work() };
    begun.result.then(
      () => (begun.outcome = 'done'),
      () => (begun.outcome = 'failed'),
    );
    this.#last = begun;
    return begun.result;
  }

  /** Resolves when no work is under way, whether it succeeded or failed. */
  async idle(): Promise<void> {
    await this.#last?.result.catch(() => undefined);
  }
}

/** Gives turns to pieces of work, one at a time, in the order in which they asked for it. */
export class Turns {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  /** Work that asks for another turn before it ends would wait for ever. @throws what `work` throws. */
  async take<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isTaken = false;
    }
  }
}

/** The results of `work` on the items, each begun when the one before has ended. */
export async function inOrder<T, Result>(
  items: Iterable<T>,
  work: (item: T) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Runs `work` on every item, at most `limit` at a time, in order of arrival; the first failure stops further starts. */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !failed && next.done !== true; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: limit }, worker));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}

/**
 * Gets every item, at most `limit` at a time, and uses what came, as many again at a time: the next is got while the one before is used. The
 * first failure stops further starts, and is thrown when nothing is under way any more.
 */
export async function eachGotAndUsed<T, Got>(
  items: Iterable<T>,
  limit: number,
  get: (item: T) => Promise<Got>,
  use: (got: Got, item: T) => Promise<void>,
): Promise<void> {
  const using = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;
  const start = async (got: Got, item: T): Promise<void> => {
    try {
      await use(got, item);
    } catch (reason) {
      failure ??= { reason };
    }
  };
  try {
    await eachBounded(items, limit, async (item) => {
      const got = await get(item);
      while (using.size >= limit) await Promise.race(using);
      if (failure) throw failure.reason;
      const used = start(got, item).finally(() => using.delete(used));
      using.add(used);
    });
  } finally {
    await Promise.all(using);
  }
  if (failure) throw failure.reason;
}

interface Waiter<Item, Result> {
  readonly item: Item;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Returns a function that queues an item and resolves with its result. All items that were queued in one turn of the event loop are handed
 * to `work` together, in a later turn, so that the fixed cost of a batch is paid once and other events are handled first. `work` returns
 * one result for each item, in order; where it fails, every item of the batch fails with its error.
 */
export function inBatches<Item, Result>(
  clock: Pick<Clock, 'yield'>,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiter<Item, Result>[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const workOnAll = async (): Promise<void> => {
    await clock.yield();
    const group = waiting;
    waiting = [];
    try {
      const results = await work(group.map(({ item }) => item));
      for (const [index, result] of results.entries()) group[index]?.done(result);
    } catch (error) {
      for (const { failed } of group) failed(error);
    }
  };

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (waiting.length === 1) last = last.then(workOnAll);
    });
}

/** Waits end at multiples of this, in milliseconds. */
const tick = 1_000;

/** How long to wait so that many loops wake the processor together, at a whole second of the clock: at most `ms` milliseconds, and less by up to one tick. */
export function sharedWait(clock: Pick<Clock, 'monotonic'>, ms: number): number {
  return ms - ((clock.monotonic() + ms) % tick);
}

/** The work's result. @throws the signal's reason as soon as it is aborted; the work goes on, and its result is ignored. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => undefined);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  /** May be called before start, and more than once. */
  stop(): Promise<void>;
}

/** Starts the services in order. If one fails, those already started are stopped again, and its error is thrown. */
export async function startAll(services: readonly Service[]): Promise<void> {
  const started: Service[] = [];
  for (const service of services) {
    try {
      started.push(service);
      await service.start();
    } catch (error) {
      await stopAll(started);
      throw error;
    }
  }
}

/** Stops all services in reverse order. @throws the first error, after the last service has stopped. */
export async function stopAll(services: readonly Service[]): Promise<void> {
  let failure: { error: unknown } | undefined;
  for (const service of [...services].reverse()) {
    try {
      await service.stop();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
}
