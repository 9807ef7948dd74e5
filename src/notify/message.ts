/** The messages: one for each change, and one where the history that a target followed is gone. A public interface. */
import { whyGone, type HistoryGone } from '../store/feed/feed-cursor.ts';
import type { PendingNotice } from '../store/records/outbox-record.ts';
import type { FeedChange } from '../store/reports/change-page.ts';

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
export function goneMessage(gone: HistoryGone, at: string): Message {
  const { reason, oldest, latest } = gone;
  const goesOn = reason === 'removed' ? oldest : latest;
  const text = `${whyGone(gone)} Read all vendors again; what follows begins after \`goes_on_after\`.`;
  const data = { reason, message: text, goes_on_after: goesOn };
  return message(`gone:${goesOn}`, 'history.gone', at, data);
}

function message(id: string, type: string, at: string, data: unknown): Message {
  return { id, body: JSON.stringify({ type, timestamp: `${at.replace(' ', 'T')}Z`, data }) };
}
