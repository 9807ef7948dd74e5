/**
 * Deliveries that arrive together share one commit: it costs as much for a hundred as for one, because waiting for the disk is all of it.
 * Nobody is told before the commit that holds their delivery is on disk.
 */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { NewDelivery } from '../../store/rows/deliveries.ts';

export interface GroupCommitOptions {
  readonly clock: Clock;
  /** Writes deliveries in one commit. */
  readonly commit: (deliveries: readonly NewDelivery[]) => Promise<void>;
  /** How many may be unanswered; more are refused at once. */
  readonly capacity: number;
}

interface Waiter {
  readonly delivery: NewDelivery;
  readonly taken: () => void;
  readonly refused: (error: unknown) => void;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiter[] = [];
  #unanswered = 0;
  #committing = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the delivery is on disk.
   * @throws MirrorError `rate_limited` where too many wait; whatever the commit throws.
   */
  add(delivery: NewDelivery): Promise<void> {
    if (this.#unanswered >= this.#options.capacity)
      return Promise.reject(new MirrorError('rate_limited', 'Too many deliveries wait to be written.'));
    return new Promise((taken, refused) => {
      this.#waiting.push({ delivery, taken, refused });
      this.#unanswered += 1;
      if (!this.#committing) void this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    this.#committing = true;
    while (this.#waiting.length > 0) {
      // What else arrives in this turn of the event loop comes along.
      await this.#options.clock.yield();
      const group = this.#waiting;
      this.#waiting = [];
      await this.#commit(group);
    }
    this.#committing = false;
  }

  async #commit(group: readonly Waiter[]): Promise<void> {
    try {
      await this.#options.commit(group.map(({ delivery }) => delivery));
      for (const waiter of group) waiter.taken();
    } catch (error) {
      for (const waiter of group) waiter.refused(error);
    } finally {
      this.#unanswered -= group.length;
    }
  }
}
