/** Searches for vendors while the user types, and hides what it found from whoever turns to something else. Without it the form leads to a page with the same results. */

/** How long to wait after the last key, in milliseconds. */
const pause = 120;

export function searchAsTyped(): void {
  const box = document.querySelector<HTMLInputElement>('#search');
  const results = document.querySelector<HTMLElement>('#results');
  if (!box?.form || !results) return;
  const { live = '', root = './' } = box.form.dataset;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let asking = new AbortController();

  const show = async (): Promise<void> => {
    asking.abort();
    asking = new AbortController();
    const wanted = box.value.trim();
    if (wanted === '') {
      results.replaceChildren();
      return;
    }
    const fresh = await found(`${live}?${new URLSearchParams({ q: wanted, root }).toString()}`, asking.signal);
    if (fresh) results.replaceChildren(...fresh);
  };
  box.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => void show(), pause);
  });
  for (const kind of ['pointerdown', 'focusin'])
    document.addEventListener(kind, ({ target }) => {
      if (!(target instanceof Node) || target === box || results.contains(target)) return;
      clearTimeout(waiting);
      asking.abort();
      results.replaceChildren();
    });
  box.addEventListener('focus', () => {
    if (results.childElementCount === 0) void show();
  });
  for (const element of [box, results]) element.addEventListener('keydown', (event) => moveFocus(event, box, results));
  if (box.value !== '' && document.activeElement === box) void show();
}

/** What the daemon found; undefined if the user typed on meanwhile. */
async function found(url: string, signal: AbortSignal): Promise<Node[] | undefined> {
  try {
    const response = await fetch(url, { cache: 'no-store', signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return [...new DOMParser().parseFromString(await response.text(), 'text/html').body.childNodes];
  } catch {
    if (signal.aborted) return undefined;
    const words = document.createElement('p');
    words.textContent = 'The search was not answered. Try again.';
    return [words];
  }
}

/** Arrows lead from the box into the results and through them; Escape leads back, and empties the box. */
function moveFocus(event: KeyboardEvent, box: HTMLInputElement, results: HTMLElement): void {
  const stops = [box, ...results.querySelectorAll<HTMLElement>('a')];
  const place = stops.findIndex((stop) => stop === document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined && place >= 0) {
    event.preventDefault();
    stops[Math.min(stops.length - 1, Math.max(0, place + step))]?.focus();
  }
  if (event.key === 'Escape') {
    box.value = '';
    results.replaceChildren();
    box.focus();
  }
}
