/**
 * HTML that escapes whatever is put into it, and what all pages are made of: the frame, numbers, moments, changes, charts.
 */
import { createHash } from 'node:crypto';
import { minorUnits, money } from '../../domain/amounts.ts';
import { age, parseInstant, timestamp } from '../../domain/clock.ts';
import { momentInWords } from '../../domain/duration.ts';
import type { Balance } from '../../domain/vendor.ts';
import type { Change, FieldChange } from '../../store/reports/change-feed.ts';
import type { FindingKind } from '../../store/sql/schema.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | null | readonly Part[];

/** A piece of HTML: everything between `${` and `}` is escaped, unless it was made here; null is nothing, a list is joined. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: texts }, ...parts.map(written)));
}

/** A sentence in which what stands between backticks is code. Beside a moment, the browser puts the local time. */
export function sentence(text: string): Part {
  return text.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : withMoments(piece)));
}

function withMoments(text: string): Part {
  return text
    .split(/(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC/)
    .map((piece, index) => (index % 2 === 1 ? timeElement(piece, `${piece} UTC`, 'at') : piece));
}

function written(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
  return String(part).replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

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

/** A page as it is sent: the frame that all pages share, and the version by which a browser knows that it has it already. */
export function page({ title, root, wanted = '', content, now }: PageParts): Page {
  const body = html`<a class="skip" href="#main">Skip to the contents</a>
    <header id="top">
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
        <div id="results" data-own aria-live="polite"></div>
      </form>
      <button type="button" id="pause" data-own hidden aria-pressed="false">Pause</button>
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
        ${printedLine(now)} ${body}
      </body>
    </html>`;
  return { body: Buffer.from(whole.text), version };
}

/** The head of a printed page. The browser counts on: when it is printed, by which its ages are told, and when the daemon last said how it stands. */
function printedLine(now: number): Html {
  const moment = timestamp(now);
  return html`<p id="printed">
    vendor-mirror, printed ${timeElement(moment, `${moment.slice(0, 19)} UTC`, 'now')}, as of ${clockTime(now, moment)}
  </p>`;
}

const numbers = new Intl.NumberFormat('en');
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const dates = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export const count = (value: number): string => numbers.format(value);

/** An amount with its thousands grouped; unchanged if it is not a number. */
export function amountText(balance: Balance): string {
  const minor = minorUnits(balance);
  return minor === null ? `${balance.amount} ${balance.code}` : money(minor, balance.code);
}

/** Amounts of several currencies, one below the other. */
export const amountLines = (balances: readonly Balance[]): Html[] =>
  balances.map((balance, at) => html`${at > 0 ? html`<br />` : null}<bdi>${amountText(balance)}</bdi>`);

/** A share from 0 to 1. */
export const percent = (share: number): string => percents.format(share);

/** `2026-11-20` as `Nov 20`. */
export const date = (day: string): string => dates.format(parseInstant(`${day} 00:00:00`));

/** How long ago a moment was, with the moment itself as a tooltip; the browser keeps counting. */
export function ago(now: number, moment: string | null): Html {
  return timeElement(moment, age({ now: () => now }, moment), 'ago');
}

/** How long something has lasted since a moment. */
export function lasting(now: number, since: string): Html {
  return timeElement(since, age({ now: () => now }, since).replace(/ ago$/, ''), 'for');
}

/** The time of a moment: `11:57:40 UTC`, with the date if it is not today. The browser puts the local time beside it. */
export function clockTime(now: number, moment: string): Html {
  return timeElement(moment, momentInWords(moment, timestamp(now)), 'at');
}

function timeElement(moment: string | null, words: string, kind: 'ago' | 'for' | 'at' | 'now'): Html {
  if (moment === null || parseInstant(moment) === undefined) return html`${words}`;
  const exact = moment.slice(0, 19);
  return html`<time datetime="${exact.replace(' ', 'T')}Z" title="${exact} UTC" data-time="${kind}">${words}</time>`;
}

/** What a sweep met, as the predicate of a sentence about a vendor or the list. */
export const findingWords: Readonly<Record<FindingKind, string>> = {
  missed_create: 'created, and no delivery announced it',
  missed_update: 'changed, and no delivery announced it',
  missed_delete: 'deleted, and no delivery announced it',
  missed_restore: 'restored, and no delivery announced it',
  balance_only: 'changed only in its balance, which no delivery announces',
  in_flight: 'changed so recently that a delivery may still arrive',
  vanished: 'vanished from the list',
  field_drift: 'has fields that appeared or disappeared',
  record_rejected: 'has a record that could not be used',
  count_mismatch: 'shows a different number of vendors than it counts',
  unreadable: 'could not be read',
  unreadable_value: 'has values that could not be read',
  not_honoured: 'refused an optional request',
  lagging_copy: 'was shown as it was before',
  unlisted: 'is left out by the list, though a read by id shows it',
  unsteady_field: 'shows a field otherwise in each answer, without an edit',
  breaker: 'lacks so many vendors that a person must approve their absence',
};

export interface Chart {
  /** What is drawn, and what it comes to, in a sentence. */
  readonly words: string;
  readonly grain: 'day' | 'hour';
  readonly kind: 'line' | 'bars';
  /** Digits after the point. */
  readonly places: number;
  /** Days as `YYYY-MM-DD`, hours as `YYYY-MM-DD HH`. */
  readonly at: readonly string[];
  readonly series: readonly ChartSeries[];
  /** Rows of the table: the first cell names the row. */
  readonly table: {
    readonly head: readonly string[];
    readonly rows: readonly (readonly [Html | string, ...string[]])[];
  };
}

interface ChartSeries {
  readonly name: string;
  /** The colour, as the style sheet names it. */
  readonly tone: 'ink-1' | 'ink-2' | 'ink-3';
  readonly values: readonly (number | null)[];
}

/** A chart as HTML: figures that the browser draws, a text for screen readers, and a table. */
export function chart({ words, grain, kind, places, at, series, table }: Chart): Html {
  const seconds = at.map(
    (moment) => (parseInstant(moment.length > 10 ? `${moment}:00:00` : `${moment} 00:00:00`) ?? 0) / 1_000,
  );
  const figures = JSON.stringify({ at: seconds, grain, kind, places, series });
  return html`<figure class="chart">
    <div class="plot" role="img" aria-label="${words}" data-own data-series="${figures}"></div>
    <details>
      <summary>In numbers</summary>
      <div class="scroll" tabindex="0" role="group" aria-label="${words}">
        <table>
          <thead>
            <tr>
              ${table.head.map((name, index) => html`<th scope="col" class="${index > 0 ? 'number' : ''}">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${table.rows.map(
              ([name, ...cells]) =>
                html`<tr>
                  <th scope="row">${name}</th>
                  ${cells.map((cell) => html`<td class="number">${cell}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`;
}

/** The rows of a list of names and values; the caller puts them into a `<dl>`. */
export function namedValues(entries: readonly (readonly [name: string, value: Html | string])[]): Html[] {
  return entries.map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  );
}

/** A section that is folded until somebody opens it: its headline says how it stands. */
export function foldedSection(id: string, title: string, state: Part, content: Part): Html {
  return html`<section id="${id}" class="folded" aria-labelledby="${id}-title">
    <details>
      <summary>
        <h2 id="${id}-title">${title}</h2>
        <span class="state">${state}</span>
      </summary>
      ${content}
    </details>
  </section>`;
}

/** A vendor, linked to what is known of it, on a page at the root. */
export function vendorLink(account: string, vendorid: number, vendor: string | null): Html {
  return html`<a href="./vendors/${account}/${vendorid}"><bdi>${vendor ?? `Vendor ${vendorid}`}</bdi></a>`;
}

/** Old and new value of each field; null where no field changed. */
export function changedFields(fields: readonly FieldChange[]): Html | null {
  if (fields.length === 0) return null;
  return html`<ul class="fields">
    ${fields.map(
      ({ field, old, new: fresh }) =>
        html`<li><code>${field}</code>: <del>${valueWords(old)}</del> → <ins>${valueWords(fresh)}</ins></li>`,
    )}
  </ul>`;
}

function valueWords(value: string | null): Html {
  if (value === null) return html`<i>no value</i>`;
  return value === '' ? html`<i>empty</i>` : html`<bdi>${value}</bdi>`;
}

/** What became of a vendor, in a word or two. */
export const changeWords: Readonly<Record<Change['kind'], string>> = {
  created: 'First seen',
  updated: 'Changed',
  deleted: 'Deleted',
  archived: 'Archived',
  restored: 'Restored',
  missing: 'Missing from the list',
  gone: 'Gone from the service',
  returned: 'Back again',
};

/** A page with an option in each command that it shows. */
export function withCommands(made: Page, option: string): Page {
  if (option === '') return made;
  const text = Buffer.from(made.body).toString();
  const completed = text.replace(
    /<code>vendor-mirror ([a-z][^<]*)<\/code>/g,
    (_, command: string) => `<code>vendor-mirror ${command} ${written(option)}</code>`,
  );
  return { ...made, body: Buffer.from(completed) };
}
