/** What is sent: one message for each change, and one where the history that a target followed is gone. Public interface. */
import { whyGone, type HistoryGone } from '../store/feed/feed-cursor.ts';
import type { PendingNotice } from '../store/records/outbox-record.ts';
import type { FeedChange } from '../store/reports/change-page.ts';

/** Of each message the id is the same in every attempt. */
export type Message = PendingNotice;

/** A change as the feed tells it; its id is its cursor. */
export function changeMessage(change: FeedChange): Message {
  return message(change.cursor, `vendor.${change.kind}`, change.at, change);
}

/** The receiver may hold what never was, or lack what was: it should read all vendors anew. `at` is when that was found, UTC. */
export function goneMessage(gone: HistoryGone, at: string): Message {
  const { reason, oldest, latest } = gone;
  const goesOn = reason === 'removed' ? oldest : latest;
  const text = `${whyGone(gone)} Read all vendors anew; what follows begins after \`goes_on_after\`.`;
  const data = { reason, message: text, goes_on_after: goesOn };
  return message(`gone:${goesOn}`, 'history.gone', at, data);
}

function message(id: string, type: string, at: string, data: unknown): Message {
  return { id, body: JSON.stringify({ type, timestamp: `${at.replace(' ', 'T')}Z`, data }) };
}
