/**
 * The position of one target in the change feed, and the messages made from there: a public interface. The position is first saved outside
 * the mirror, then in it, and only then is anything sent.
 *
 * A target begins at the present end of the feed; earlier data is available from `/api/vendors`. One that is removed from the settings keeps
 * its position under its name, and continues there if it is named again; `notify forget` deletes the position. A mirror restored from a copy
 * also restores positions, and would not know what was sent since: so each is recorded in the secrets file before anything up to it is sent.
 * If that record is of a history that the mirror does not have, the receiver gets one message of type `history.gone`, and then the changes
 * from there on; so it does when `retention.versions` removed changes that it had not received.
 */
import { jsonText } from '../domain/steering.ts';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Outbox, PendingNotice } from '../store/outbox.ts';
import type { FeedChange } from '../store/reports/change-feed.ts';
import { whyGone, type HistoryGone } from '../store/reports/feed-cursor.ts';
import type { NotifiedPositions } from '../store/secrets/secrets.ts';

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

/** A message has the same id in every attempt. */
export type Message = PendingNotice;

/** The message for a change of the feed; its id is the cursor. */
export function changeMessage(change: FeedChange): Message {
  return message(change.cursor, `vendor.${change.kind}`, change.at, change);
}

/**
 * The message for a lost history: the receiver may have seen changes that do not exist here, or missed some, and should read all vendors
 * again. `at` is when that was detected, UTC.
 */
function goneMessage(gone: HistoryGone, at: string): Message {
  const { reason, oldest, latest } = gone;
  const goesOn = reason === 'removed' ? oldest : latest;
  const text = `${whyGone(gone)} Read all vendors again; what follows begins after \`goes_on_after\`.`;
  const data = { reason, message: text, goes_on_after: goesOn };
  return message(`gone:${goesOn}`, 'history.gone', at, data);
}

function message(id: string, type: string, at: string, data: unknown): Message {
  return { id, body: jsonText({ type, timestamp: `${at.replace(' ', 'T')}Z`, data }) };
}
