/** The answer to an invalid cursor, and the end of a stream whose unread changes were removed. */
import { whyGone, type HistoryGone } from '../../store/feed/feed-cursor.ts';

export function goneDocument(gone: HistoryGone): object {
  const { reason, oldest, latest } = gone;
  return {
    error: 'history_gone',
    message: `${whyGone(gone)} Take \`latest\`, read all vendors, and go on from it; or begin at \`oldest\`, the first of what is kept.`,
    reason,
    oldest,
    latest,
  };
}
