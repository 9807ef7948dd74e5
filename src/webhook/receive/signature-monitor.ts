/** Reports an account that gets only wrongly signed deliveries: several within an hour, and no correct one in between. */
import type { Clock } from '../../domain/clock.ts';

const window = 3_600_000;
const tooMany = 5;

export class SignatureMonitor {
  readonly #clock: Clock;
  readonly #onWrongSignatures: (accountId: string) => void;
  /** Times of wrong signatures since the last correct one, by account; at most `tooMany` within the window. */
  readonly #wrong = new Map<string, number[]>();

  /** `onWrongSignatures` is called at most once an hour for each account. */
  constructor(clock: Clock, onWrongSignatures: (accountId: string) => void) {
    this.#clock = clock;
    this.#onWrongSignatures = onWrongSignatures;
  }

  correct(accountId: string): void {
    this.#wrong.delete(accountId);
  }

  wrong(accountId: string): void {
    const now = this.#clock.monotonic();
    const recent = (this.#wrong.get(accountId) ?? []).filter((at) => now - at < window);
    this.#wrong.set(accountId, recent);
    // No more are kept until the first of them is an hour old, so that the next report is due then.
    if (recent.length >= tooMany) return;
    recent.push(now);
    if (recent.length === tooMany) this.#onWrongSignatures(accountId);
  }
}
