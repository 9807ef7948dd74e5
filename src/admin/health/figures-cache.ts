/** Figures that are shared by all who look, and that no page waits for longer than a moment. */
import type { Clock } from '../../domain/clock.ts';
import type { Figures } from '../../store/figures/figures.ts';
import { shared } from './shared-result.ts';

/** So long a page waits for figures before it shows those that are known, in milliseconds. */
const longestWait = 250;

export class FiguresCache {
  readonly #clock: Pick<Clock, 'monotonic' | 'timer'>;
  readonly #read: (accountId: string) => Promise<Figures>;
  readonly #onFault: (error: unknown) => void;
  readonly #accounts = new Map<string, { readonly look: () => Promise<void>; figures: Figures | null }>();

  constructor(
    clock: Pick<Clock, 'monotonic' | 'timer'>,
    read: (accountId: string) => Promise<Figures>,
    onFault: (error: unknown) => void,
  ) {
    this.#clock = clock;
    this.#read = read;
    this.#onFault = onFault;
  }

  /** The latest figures of an account; null before the first, or where they cannot be worked out. */
  async of(accountId: string): Promise<Figures | null> {
    const known = this.#account(accountId);
    let cancel = (): void => undefined;
    const enough = new Promise<void>((resolve) => (cancel = this.#clock.timer(longestWait, resolve)));
    await Promise.race([known.look(), enough]);
    cancel();
    return known.figures;
  }

  #account(accountId: string): { readonly look: () => Promise<void>; readonly figures: Figures | null } {
    const known = this.#accounts.get(accountId);
    if (known) return known;
    const look = shared(this.#clock, async () => {
      try {
        added.figures = await this.#read(accountId);
      } catch (error) {
        this.#onFault(error);
      }
    });
    const added = { look, figures: null as Figures | null };
    this.#accounts.set(accountId, added);
    return added;
  }
}
