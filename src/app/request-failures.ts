/** Records which accounts' requests keep failing, so that status can report it before the run has ended. */
import type { Clock } from '../domain/clock.ts';
import { asMirrorError, type MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import type { RequestFailures } from '../store/areas/areas.ts';

/**
 * Milliseconds between two writes about one account: failures in between are counted and written together, and a failed write is tried again
 * after it.
 */
const writeInterval = 5_000;

interface Failing {
  requests: number;
  last: MirrorError;
  cancel: (() => void) | undefined;
  /** Settles when the last write has ended. */
  written: Promise<void>;
}

interface Dependencies {
  readonly failures: RequestFailures;
  readonly clock: Pick<Clock, 'timer'>;
  readonly log: Log;
}

export class RequestFailureLog {
  readonly #failures: RequestFailures;
  readonly #clock: Pick<Clock, 'timer'>;
  readonly #log: Log;
  readonly #failing = new Map<string, Failing>();
  /** Accounts without a record in the mirror. */
  readonly #recordedClean = new Set<string>();
  /** Accounts whose answer could not be recorded, with what cancels the wait before the next try. */
  readonly #unwritten = new Map<string, () => void>();

  constructor({ failures, clock, log }: Dependencies) {
    this.#failures = failures;
    this.#clock = clock;
    this.#log = log;
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

  /** Never fails: an answer of the service counts even if it cannot be recorded. */
  async answered(accountId: string): Promise<void> {
    const failing = this.#failing.get(accountId);
    failing?.cancel?.();
    this.#failing.delete(accountId);
    if (this.#recordedClean.has(accountId)) return;
    this.#recordedClean.add(accountId);
    await failing?.written;
    try {
      await this.#failures.forget(accountId);
      this.#unwritten.delete(accountId);
    } catch (error) {
      this.#tryLater(accountId, error);
    }
  }

  /** Nothing is written any more. */
  stop(): void {
    for (const { cancel } of this.#failing.values()) cancel?.();
    for (const cancel of this.#unwritten.values()) cancel();
  }

  #tryLater(accountId: string, error: unknown): void {
    if (!this.#unwritten.has(accountId))
      this.#log.warn(
        { account: accountId, err: asMirrorError(error) },
        'the service answers again, but this could not be recorded: status may still name the old error',
      );
    const cancel = this.#clock.timer(writeInterval, () => this.#recordedClean.delete(accountId));
    this.#unwritten.set(accountId, cancel);
  }

  #write(accountId: string, failing: Failing): void {
    const { requests, last } = failing;
    failing.requests = 0;
    failing.cancel = this.#clock.timer(writeInterval, () => {
      failing.cancel = undefined;
      if (failing.requests > 0) this.#write(accountId, failing);
    });
    this.#recordedClean.delete(accountId);
    // A file that cannot be written is reported by the work that needs it.
    failing.written = this.#failures.add(accountId, requests, last).catch(() => undefined);
  }
}
