/**
 * Caches figures for all readers; no page waits for them longer than a moment.
 *
 * They are computed in a thread of their own, because the first of a day, with what was owed on each day of a year, take 40 ms of processor
 * time for 5,000 vendors, 290 ms for 50,000 and more than a second for 200,000, and deliveries would wait. What is owed now is added up
 * again after commits, while somebody looks: 7 ms for 5,000 vendors, 65 ms for 50,000, 260 ms for 200,000; for the last they are up to half
 * a minute old. Sums that nobody has requested for half a minute are not shown.
 */
import type { Clock } from '../../domain/clock.ts';
import { SingleFlight } from '../../domain/concurrency.ts';
import type { Figures } from '../../store/reports/figures.ts';

/** How long a page waits for figures before it shows the last known ones, in milliseconds. */
const maxWait = 250;

/** For how long figures are shown after they could have been read again, in milliseconds. */
const oldestShown = 30_000;

interface Known<T> {
  readonly refresh: () => Promise<void>;
  figures: T | null;
  /** Monotonic time until which they are shown. */
  shownUntil: number;
}

/** Figures of each account, or of all of them under one name. */
export class FiguresCache<T = Figures> {
  readonly #clock: Pick<Clock, 'monotonic' | 'timer'>;
  readonly #read: (accountId: string) => Promise<T>;
  readonly #onFault: (error: unknown) => void;
  readonly #accounts = new Map<string, Known<T>>();

  constructor(
    clock: Pick<Clock, 'monotonic' | 'timer'>,
    read: (accountId: string) => Promise<T>,
    onFault: (error: unknown) => void,
  ) {
    this.#clock = clock;
    this.#read = read;
    this.#onFault = onFault;
  }

  /** The latest figures of an account; null where there are none that are young enough. */
  async of(accountId: string): Promise<T | null> {
    const known = this.#account(accountId);
    let cancel = (): void => undefined;
    const enough = new Promise<void>((resolve) => (cancel = this.#clock.timer(maxWait, resolve)));
    await Promise.race([known.refresh(), enough]);
    cancel();
    return this.#clock.monotonic() > known.shownUntil ? null : known.figures;
  }

  #account(accountId: string): Known<T> {
    const known = this.#accounts.get(accountId);
    if (known) return known;
    const look = shared(
      this.#clock,
      async () => {
        const begun = this.#clock.monotonic();
        try {
          added.figures = await this.#read(accountId);
          // Where they take long, they are also read less often.
          added.shownUntil = begun + serves(this.#clock.monotonic() - begun, partOfFigures) + oldestShown;
        } catch (error) {
          this.#onFault(error);
        }
      },
      partOfFigures,
    );
    const added: Known<T> = { refresh: look, figures: null, shownUntil: 0 };
    this.#accounts.set(accountId, added);
    return added;
  }
}

/** How long a result serves at least, in milliseconds. */
const shortest = 1_000;

/** Of the time, figures are read in no more than this part. */
const partOfFigures = 0.01;

/** For how long, from its beginning, a result serves that took so long, so that the work takes no more than that part of the time. */
function serves(took: number, part: number): number {
  return Math.max(shortest, took / part);
}

/**
 * Work whose result is shared for a while, so that many readers cost no more than one.
 *
 * @param part of the time, how much of it the work may take at most
 */
export function shared<T>(clock: Pick<Clock, 'monotonic'>, work: () => Promise<T>, part = 0.1): () => Promise<T> {
  let until = 0;
  const flight = new SingleFlight<T>(() => clock.monotonic() < until);
  const timed = async (): Promise<T> => {
    const begun = clock.monotonic();
    try {
      return await work();
    } finally {
      until = begun + serves(clock.monotonic() - begun, part);
    }
  };
  return () => flight.run(timed);
}
