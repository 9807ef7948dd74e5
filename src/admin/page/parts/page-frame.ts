/** A page as it is sent: the frame that all pages share, and the version by which a browser knows that it has it already. */
import { createHash } from 'node:crypto';
import { html, type Html } from './html.ts';

export interface PageParts {
  readonly title: string;
  /** From this page to the place of the first one: `./`, `../../`. */
  readonly root: string;
  /** The text in the search box. */
  readonly wanted?: string;
  readonly content: Html;
  /** Wall time, milliseconds since 1970. */
  readonly now: number;
}

export interface Page {
  /** HTML as it is sent: made once for all readers. */
  readonly body: Uint8Array;
  /** Changes with anything but ages, which browsers count themselves. */
  readonly version: string;
}

export function page({ title, root, wanted = '', content, now }: PageParts): Page {
  const body = html`<header id="top">
      <a class="home" href="${root}"><img src="${root}icon.svg" alt="" width="28" height="28" /> vendor-mirror</a>
      <form role="search" action="${root}vendors" method="get" data-live="${root}search" data-root="${root}">
        <label for="search" class="unseen">Vendor by name, number or e-mail address</label>
        <input
          type="search"
          id="search"
          name="q"
          value="${wanted}"
          placeholder="Vendor by name, number, e-mail"
          autocomplete="off"
          spellcheck="false"
          maxlength="200"
        />
      </form>
      <div id="results" data-own aria-live="polite"></div>
    </header>
    <p id="notice" role="alert" hidden></p>
    ${content}
    <dialog id="confirm" data-own aria-labelledby="confirm-title">
      <form method="dialog">
        <h2 id="confirm-title"></h2>
        <p id="confirm-words"></p>
        <label id="confirm-number" hidden>
          Vendors that may be gone
          <input type="number" min="1" step="1" inputmode="numeric" />
        </label>
        <p class="buttons"><button value="yes">Confirm</button> <button type="button" data-close>Cancel</button></p>
      </form>
    </dialog>`;
  const version = createHash('sha256')
    .update(title)
    .update(body.text.replace(/(<time [^>]*>)[^<]*/g, '$1'))
    .digest('base64url')
    .slice(0, 22);
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · vendor-mirror</title>
        <link rel="icon" href="${root}icon.svg" />
        <link rel="stylesheet" href="${root}page.css" />
        <script type="module" src="${root}page.js"></script>
      </head>
      <body data-version="${version}" data-now="${Math.round(now)}">
        ${body}
      </body>
    </html>`;
  return { body: Buffer.from(whole.text), version };
}
