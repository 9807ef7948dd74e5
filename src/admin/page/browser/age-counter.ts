/** Counts ages in the browser, by the daemon's clock as it was last told: they go on when the daemon is gone. */
import { agoInWords, inWords } from '../../../domain/duration.ts';

export interface AgeCounter {
  /** The daemon's clock, in milliseconds since 1970, as of this moment. */
  setNow(now: number): void;
}

/** Begins to count. Moments are `<time data-age>`; `data-age="for"` shows how long something has lasted. */
export function countAges(): AgeCounter {
  let ahead = Number(document.body.dataset['now'] ?? Date.now()) - Date.now();
  const show = (): void => {
    const now = Date.now() + ahead;
    for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-age]')) {
      const past = now - Date.parse(time.dateTime);
      const words = time.dataset['age'] === 'for' ? inWords(Math.max(0, past)) : agoInWords(past);
      if (time.textContent !== words && !isSelected(time)) time.textContent = words;
    }
  };
  setInterval(show, 1_000);
  show();
  return {
    setNow(now) {
      ahead = now - Date.now();
      show();
    },
  };
}

/** Somebody is selecting it, to copy it: it must hold still. */
function isSelected(node: Node): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}
