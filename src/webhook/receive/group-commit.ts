/**
 * Deliveries that arrive together share one commit, because waiting for the disk costs as much for one as for a hundred. None is
 * acknowledged before its commit is on disk.
 */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { inBatches } from '../../domain/async/in-batches.ts';
import type { NewDelivery } from '../../store/records/delivery-record.ts';

export interface GroupCommitOptions {
  readonly clock: Clock;
  /** Writes deliveries in one commit. */
  readonly commit: (deliveries: readonly NewDelivery[]) => Promise<void>;
  /** The most deliveries that may wait; more are refused at once. */
  readonly capacity: number;
}

export class GroupCommit {
  readonly #capacity: number;
  readonly #commit: (delivery: NewDelivery) => Promise<void>;
  #unanswered = 0;

  constructor({ clock, commit, capacity }: GroupCommitOptions) {
    this.#capacity = capacity;
    this.#commit = inBatches(clock, async (group) => {
      await commit(group);
      return group.map(() => undefined);
    });
  }

  /** Journals a delivery; resolves when it is on disk. @throws MirrorError `rate_limited` where too many wait; whatever `commit` throws. */
  async add(delivery: NewDelivery): Promise<void> {
    if (this.#unanswered >= this.#capacity)
      throw new MirrorError('rate_limited', 'Too many deliveries wait to be written.');
    this.#unanswered += 1;
    try {
      await this.#commit(delivery);
    } finally {
      this.#unanswered -= 1;
    }
  }
}
