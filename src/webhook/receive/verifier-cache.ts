/** Caches verifiers within one turn of the event loop: one lookup for all deliveries that arrive together. */
import type { Clock } from '../../domain/clock.ts';
import type { Verifiers } from '../../store/secrets/verifiers.ts';

type Keys = ReturnType<Verifiers['usable']>;

export class VerifierCache {
  readonly #clock: Clock;
  readonly #verifiers: Pick<Verifiers, 'usable'>;
  /** Lookups of this turn, by account. */
  readonly #found = new Map<string, Keys>();

  constructor(clock: Clock, verifiers: Pick<Verifiers, 'usable'>) {
    this.#clock = clock;
    this.#verifiers = verifiers;
  }

  /** The verifiers that are valid now. One that becomes valid during this turn may be missing until the next. */
  usable(accountId: string): Keys {
    const found = this.#found.get(accountId);
    if (found) return found;
    const keys = this.#verifiers.usable(accountId);
    this.#found.set(accountId, keys);
    void this.#clock.yield().then(() => this.#found.delete(accountId));
    return keys;
  }
}
