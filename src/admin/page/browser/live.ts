/** Keeps the page up to date: requests it again and again, and changes only what differs. */
import { Idiomorph } from 'idiomorph';
import { exactWords } from './age-counter.ts';

/** Milliseconds between two requests. The daemon makes a page once a second, so that a change shows within two seconds. */
const rest = 700;
/** The same for a tab in the background, of which only the title is seen. */
const restInBackground = 60_000;

/** A daemon that does not answer within this time is told of, in milliseconds; it may be busy, so the next answer has twice as long, up to a minute. */
const firstPatience = 4_000;
const mostPatience = 60_000;
let patience = firstPatience;

/** Calls `onPage` with the daemon's clock whenever the page was exchanged, `onSame` whenever it still holds. A reader may pause that. */
export function keepLive(onPage: (now: number) => void, onSame: () => void): void {
  let version = document.body.dataset['version'] ?? '';
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const button = document.querySelector<HTMLButtonElement>('#pause');
  const isPaused = (): boolean => button?.ariaPressed === 'true';
  const refresh = async (): Promise<void> => {
    clearTimeout(waiting);
    if (!isPaused()) {
      const answer = await ask(version);
      if (isPaused()) return;
      if ('trouble' in answer) showTrouble(answer.trouble);
      else {
        showTrouble(null);
        if (answer.page) {
          const { body } = answer.page;
          version = body.dataset['version'] ?? '';
          document.title = title = answer.page.title;
          exchange(body);
          const [printed, fresh] = [document.querySelector('#printed'), body.querySelector('#printed')];
          if (printed && fresh) printed.replaceChildren(...fresh.childNodes);
          onPage(Number(body.dataset['now']));
        } else onSame();
      }
    }
    waiting = setTimeout(() => void refresh(), document.hidden ? restInBackground : rest);
  };
  document.addEventListener('visibilitychange', () => void refresh());
  if (button) {
    button.hidden = false;
    button.addEventListener('click', () => {
      button.ariaPressed = String(!isPaused());
      button.textContent = isPaused() ? 'Paused: go on' : 'Pause';
      if (!isPaused()) void refresh();
    });
  }
  waiting = setTimeout(() => void refresh(), rest);
}

type Answer = { readonly page: Document | null } | { readonly trouble: string };

/** The page; null if it still has this version; or what is wrong. */
async function ask(version: string): Promise<Answer> {
  try {
    const response = await fetch(location.pathname + location.search, {
      headers: { 'if-none-match': `"${version}"` },
      cache: 'no-store',
      signal: AbortSignal.timeout(patience),
    });
    if (response.status === 304) {
      patience = firstPatience;
      return { page: null };
    }
    if (response.status === 401) return { trouble: 'The daemon no longer accepts the token. Reload the page.' };
    // Of a vendor that is not here, there is a page that says so.
    if (!response.ok && response.status !== 404)
      return { trouble: `The daemon answers with status ${response.status}. Its log says why.` };
    const text = await response.text();
    patience = firstPatience;
    return { page: new DOMParser().parseFromString(text, 'text/html') };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      const seconds = patience / 1_000;
      patience = Math.min(mostPatience, 2 * patience);
      return { trouble: `The daemon has not answered for ${seconds} s: it may be busy.` };
    }
    return { trouble: 'The daemon does not answer. Check that vendor-mirror serve is running.' };
  }
}

let shown: string | null = null;
/** Of the page as it was last sent. */
let title = document.title;

/** While the daemon is gone, the page is grey and shows the last known state. A daemon that stops may answer 503 before it is gone. */
function showTrouble(trouble: string | null): void {
  const notice = document.querySelector<HTMLElement>('#notice');
  if (!notice || trouble === shown) return;
  shown = trouble;
  document.body.classList.toggle('dead', trouble !== null);
  notice.hidden = trouble === null;
  document.title = trouble === null ? title : 'Not current · vendor-mirror';
  if (trouble === null) return;
  const since = timeElement('ago', 'just now');
  const at = timeElement('at', exactWords(Date.now(), Date.now()));
  notice.replaceChildren(`${trouble} Last answer `, since, ', at ', at, '. This page shows the state of that time.');
}

function timeElement(kind: 'ago' | 'at', words: string): HTMLTimeElement {
  const time = document.createElement('time');
  time.dateTime = new Date().toISOString();
  time.dataset['time'] = kind;
  time.textContent = words;
  return time;
}

/** Keeps nodes that did not change, with their focus, selection and scroll position, and nodes that scripts of this page made (`data-own`). */
function exchange(body: HTMLElement): void {
  for (const id of ['main', 'footer']) {
    const [old, fresh] = [document.getElementById(id), body.querySelector(`#${id}`)];
    if (old && fresh) void Idiomorph.morph(old, fresh, rules);
    else if (old) old.replaceChildren();
  }
}

const rules: Parameters<typeof Idiomorph.morph>[2] = {
  ignoreActiveValue: true,
  callbacks: {
    beforeNodeMorphed(old: Node, fresh: Node): boolean {
      if (!(old instanceof HTMLElement) || !(fresh instanceof HTMLElement)) return true;
      if (old instanceof HTMLTimeElement && old.dateTime === (fresh as HTMLTimeElement).dateTime) return false;
      if (!('own' in old.dataset)) return true;
      if (fresh.dataset['series'] !== undefined) old.dataset['series'] = fresh.dataset['series'];
      return false;
    },
    beforeAttributeUpdated: (name: string, element: Element): boolean =>
      !(name === 'open' && element instanceof HTMLDetailsElement),
  },
};
