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
      const exact = `${time.dateTime.slice(0, 19).replace('T', ' ')} UTC${here(time.dateTime)}`;
      if (time.title !== exact) time.title = exact;
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

/** The same moment where the reader is; nothing where that is UTC. */
function here(moment: string): string {
  const date = new Date(moment);
  return date.getTimezoneOffset() === 0 ? '' : `, ${date.toLocaleString()} here`;
}

/** Somebody is selecting it, to copy it: it must hold still. */
function isSelected(node: Node): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}
