/** The one module that runs in the browser: it asks for the page again, and exchanges the parts that changed. */
export const script = `const every = 5000;
const notice = document.querySelector('#lost');

async function refresh() {
  const response = await fetch('./', { cache: 'no-store', signal: AbortSignal.timeout(every) });
  if (!response.ok) throw new Error('status ' + response.status);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.title = fresh.title;
  const old = [...document.querySelectorAll('[data-part]')];
  const parts = [...fresh.querySelectorAll('[data-part]')];
  if (old.map((part) => part.id).join() !== parts.map((part) => part.id).join()) return location.reload();
  parts.forEach((part, index) => {
    if (!part.isEqualNode(old[index])) old[index].replaceWith(part);
  });
}

async function watch() {
  if (!document.hidden) {
    try {
      await refresh();
      notice.hidden = true;
    } catch {
      if (notice.hidden) notice.querySelector('time').textContent = new Date().toLocaleTimeString();
      notice.hidden = false;
    }
  }
  setTimeout(watch, every);
}

setTimeout(watch, every);
`;
