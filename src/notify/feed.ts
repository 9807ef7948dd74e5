/** The position of one target in the change feed. It is first saved outside the mirror, then in it, and only then is anything sent. */
import { timestamp, type Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import { whyGone, type HistoryGone } from '../store/feed/feed-cursor.ts';
import type { NotifiedPositions } from '../store/secrets/notified-positions.ts';
import { goneMessage, type Message } from './message.ts';

export interface FeedDependencies {
  readonly outbox: Outbox;
  readonly positions: Pick<NotifiedPositions, 'find' | 'save'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export class Feed {
  readonly #target: string;
  readonly #dependencies: FeedDependencies;

  constructor(target: string, dependencies: FeedDependencies) {
    this.#target = target;
    this.#dependencies = dependencies;
  }

  /**
   * Continues at the saved position, or starts at the end of the feed; with a notice where the mirror's history is not the one that the
   * target followed.
   */
  async open(): Promise<void> {
    const { outbox, positions } = this.#dependencies;
    const position = await outbox.open(this.#target, await positions.find(this.#target), (gone) => this.#notice(gone));
    await positions.save(this.#target, position);
  }

  /** Adds the vendors that changed since to the outbox. @returns whether there were any. */
  async enqueueChanges(): Promise<boolean> {
    const { outbox, positions } = this.#dependencies;
    const next = await outbox.nextPosition(this.#target);
    if (next === undefined) return false;
    if (typeof next === 'string') {
      await positions.save(this.#target, next);
      await outbox.enqueueChanges(this.#target, next);
    } else await outbox.skipRemoved(this.#target, next, this.#notice(next));
    return true;
  }

  #notice(gone: HistoryGone): Message {
    const { clock, log } = this.#dependencies;
    log.warn({ target: this.#target }, `${whyGone(gone)} The receiver of webhooks is told to read all vendors again.`);
    return goneMessage(gone, timestamp(clock.now()));
  }
}
