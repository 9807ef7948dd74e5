/**
 * Limits how many sweeps run at once, over all accounts. A sweep that waits long for the service gives up its permit meanwhile.
 *
 * At most four sweeps and callback checks run at once. One that has waited a second for an answer gives up its permit; when the answer comes
 * it takes one again, before those that wait for their first. So an account that hangs does not block others.
 */
import type { Clock } from '../domain/clock.ts';
import type { Service } from '../domain/concurrency.ts';

/** How long an answer may take until the sweep that waits for it gives its permit to another, in milliseconds. */
const givenUpAfter = 1_000;

interface Permit {
  /**
   * Awaits an answer of the service. Where none has come for a while the permit goes to another sweep, and is taken again, before all
   * that wait for a first one, when the answer is there.
   */
  during<T>(answer: Promise<T>): Promise<T>;
  /** The sweep is over. Safe to call twice. */
  release(): void;
}

export class SweepPermits implements Service {
  readonly name = 'the limit of sweeps';
  readonly #clock: Clock;
  /** Waiting sweeps, the next first. */
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #stopped = false;

  constructor(limit: number, clock: Clock) {
    this.#free = limit;
    this.#clock = clock;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Gives out no more permits; waiting sweeps are ended by their own signals. */
  stop(): Promise<void> {
    this.#stopped = true;
    return Promise.resolve();
  }

  /** Does other work for an account with a permit. @throws the signal's reason. */
  async during<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const permit = await this.acquire(signal);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /** Resolves when this sweep may work. @throws the signal's reason. */
  async acquire(signal: AbortSignal): Promise<Permit> {
    await this.#take(signal, 'last');
    let held = true;
    let over = false;
    let retaken: Promise<void> | undefined;
    let cancel = (): void => undefined;
    const giveUp = (): void => {
      held = false;
      this.#give();
    };
    const watch = (): void => {
      cancel();
      cancel = this.#clock.timer(givenUpAfter, giveUp);
    };
    const takeAgain = async (): Promise<void> => {
      await this.#take(signal, 'first');
      held = true;
      retaken = undefined;
      if (over) giveUp();
      else watch();
    };
    watch();
    return {
      during: async (answer) => {
        const answered = await answer;
        if (over) return answered;
        if (held) watch();
        else await (retaken ??= takeAgain());
        return answered;
      },
      release: () => {
        if (over) return;
        over = true;
        cancel();
        if (held) giveUp();
      },
    };
  }

  async #take(signal: AbortSignal, place: 'first' | 'last'): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0 && !this.#stopped) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      if (place === 'first') this.#waiting.unshift(enter);
      else this.#waiting.push(enter);
    });
  }

  #give(): void {
    const next = this.#stopped ? undefined : this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
