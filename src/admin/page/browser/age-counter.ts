/** Counts ages in the browser, by the daemon's clock as it was last told: they go on when the daemon is gone. Moments stand in UTC and in local time. */
import { agoInWords, inWords, momentInWords } from '../../../domain/duration.ts';

export interface AgeCounter {
  /** The daemon's clock, in milliseconds since 1970, as of this moment. */
  setNow(now: number): void;
  /** What is shown still holds, as of this moment. */
  confirm(): void;
}

/**
 * Begins to count. `data-time` of a `<time>` says what it shows: how long `ago` it was, how long something has lasted (`for`), when (`at`),
 * or what time it is `now`.
 */
export function countAges(): AgeCounter {
  let ahead = Number(document.body.dataset['now'] ?? Date.now()) - Date.now();
  const show = (): void => {
    const now = Date.now() + ahead;
    for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-time]')) {
      const [moment, kind] = [Date.parse(time.dateTime), time.dataset['time']];
      const [past, exact] = [now - moment, exactWords(moment, now)];
      const shown = { now: exactWords(now, 0), at: exact, for: inWords(Math.max(0, past)), ago: agoInWords(past) };
      const words = shown[kind as keyof typeof shown];
      // What the server wrote may be right already, and its dates be cut.
      const mayCut = time.childElementCount === 0 && date.test(words);
      if ((time.textContent !== words || mayCut) && !isSelected(time)) time.replaceChildren(...withWholeDates(words));
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
    confirm() {
      const asOf = document.querySelector<HTMLTimeElement>('#printed [data-time="at"]');
      if (asOf) asOf.dateTime = new Date(Date.now() + ahead).toISOString();
      show();
    },
  };
}

/** A moment in UTC and, where that differs, in the reader's time; milliseconds since 1970. */
export function exactWords(moment: number, now: number): string {
  const local = moment - new Date(moment).getTimezoneOffset() * 60_000;
  return momentInWords(utc(moment), utc(now), utc(local));
}

function utc(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ');
}

const date = /(\d{4}-\d\d-\d\d)/;

/** No line ends within a date. */
function withWholeDates(words: string): (string | HTMLElement)[] {
  return words.split(date).map((part, index) => {
    if (index % 2 === 0) return part;
    const whole = document.createElement('span');
    whole.textContent = part;
    return whole;
  });
}

/** Somebody is selecting it, to copy it: it must hold still. */
function isSelected(node: Node): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}
