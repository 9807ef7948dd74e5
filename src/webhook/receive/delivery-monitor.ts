/** Notices that an account hears nothing genuine any more: several wrong signatures and no right one within an hour. */
import type { Clock } from '../../domain/clock.ts';

const window = 3_600_000;
const tooMany = 5;

export class DeliveryMonitor {
  readonly #clock: Clock;
  readonly #onSilence: (accountId: string) => void;
  /** When the wrong signatures since the last right one came, by account, as far as they matter. */
  readonly #wrong = new Map<string, number[]>();

  /** `onSilence` is called at most once an hour for each account. */
  constructor(clock: Clock, onSilence: (accountId: string) => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  right(accountId: string): void {
    this.#wrong.delete(accountId);
  }

  wrong(accountId: string): void {
    const now = this.#clock.monotonic();
    const recent = (this.#wrong.get(accountId) ?? []).filter((at) => now - at < window);
    this.#wrong.set(accountId, recent);
    // Past the number that tells, no more are remembered until it has told its hour.
    if (recent.length >= tooMany) return;
    recent.push(now);
    if (recent.length === tooMany) this.#onSilence(accountId);
  }
}
