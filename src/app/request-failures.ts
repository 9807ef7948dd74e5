/** Writes down which accounts' requests fail one after the other, so that a person hears of it before the run that they hold up has ended. */
import type { Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { RequestFailures } from '../store/transactions/failed-requests.ts';

/** Failures that come faster are counted, and written down together, in milliseconds. */
const pause = 5_000;

interface Failing {
  requests: number;
  last: MirrorError;
  cancel: (() => void) | undefined;
  /** Settles when what was to be written is. */
  written: Promise<void>;
}

export class RequestFailureLog {
  readonly #failures: RequestFailures;
  readonly #clock: Pick<Clock, 'timer'>;
  readonly #failing = new Map<string, Failing>();
  /** Accounts of which nothing stands in the mirror. */
  readonly #clean = new Set<string>();

  constructor(failures: RequestFailures, clock: Pick<Clock, 'timer'>) {
    this.#failures = failures;
    this.#clock = clock;
  }

  failed(accountId: string, error: MirrorError): void {
    const known = this.#failing.get(accountId);
    const failing = known ?? { requests: 0, last: error, cancel: undefined, written: Promise.resolve() };
    failing.requests += 1;
    failing.last = error;
    if (known?.cancel) return;
    this.#failing.set(accountId, failing);
    this.#write(accountId, failing);
  }

  async answered(accountId: string): Promise<void> {
    const failing = this.#failing.get(accountId);
    failing?.cancel?.();
    this.#failing.delete(accountId);
    if (this.#clean.has(accountId)) return;
    this.#clean.add(accountId);
    await failing?.written;
    await this.#failures.forget(accountId);
  }

  /** Nothing is written any more. */
  stop(): void {
    for (const { cancel } of this.#failing.values()) cancel?.();
  }

  #write(accountId: string, failing: Failing): void {
    const { requests, last } = failing;
    failing.requests = 0;
    failing.cancel = this.#clock.timer(pause, () => {
      failing.cancel = undefined;
      if (failing.requests > 0) this.#write(accountId, failing);
    });
    this.#clean.delete(accountId);
    // Whatever keeps the file from being written is told of by those whose work it holds up.
    failing.written = this.#failures.add(accountId, requests, last).catch(() => undefined);
  }
}
