/** The dashboard: what the mirror holds, how fresh it is, and what the service told us, for a person who looks. */
import { inWords } from '../../domain/duration.ts';
import { timestamp, type Clock } from '../../domain/clock.ts';
import { inSlices } from '../health/in-slices.ts';
import { bySeverity, type Health } from '../health/readiness.ts';
import { accountCard } from './account-card.ts';
import { html, type Html } from './html.ts';
import { ago, bytes, count } from './format.ts';

/** A page of more cards would be read by nobody; those in trouble come first. */
const mostCards = 50;

/** Cards that are made in one turn of the event loop. */
const atOnce = 5;

/** The whole page. Parts that are marked are exchanged by the script when they change. */
export async function dashboard(health: Health, clock: Pick<Clock, 'yield'>): Promise<string> {
  const { facts, accounts, now } = health;
  const cards = bySeverity(accounts).slice(0, mostCards);
  const left = accounts.length - cards.length;
  const shown = await inSlices(clock, cards, atOnce, (account) => accountCard(account, now));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${health.fresh ? 'Fresh' : 'Not fresh'} · vendor-mirror</title>
        <link rel="icon" href="./icon.svg" />
        <link rel="stylesheet" href="./dashboard.css" />
        <script type="module" src="./dashboard.js"></script>
      </head>
      <body>
        ${masthead(health)}
        <p id="lost" role="alert" hidden>No answer since <time></time>. What you see may be old; trying again.</p>
        <main>
          ${shown}
          ${
            left > 0
              ? html`<p class="more">And ${count(left)} more accounts: see <a href="./api/status">/api/status</a>.</p>`
              : null
          }
        </main>
        ${footer(facts, now)}
      </body>
    </html> `;
  return page.text;
}

function masthead({ fresh, process, accounts, facts }: Health): Html {
  const waiting = accounts.filter((account) => !account.ready).length;
  const words = fresh
    ? 'The mirror is fresh'
    : accounts.length === 1
      ? 'The mirror is not fresh'
      : `${count(waiting)} of ${count(accounts.length)} accounts are not fresh`;
  return html`<header id="masthead" data-part class="masthead">
    <img src="./icon.svg" alt="" width="28" height="28" />
    <h1>vendor-mirror <small>${facts.version}</small></h1>
    <p class="pill ${fresh ? 'good' : 'bad'}" role="status">${words}</p>
    ${process.ready ? null : html`<p class="pill bad" role="alert">${process.reasons.join(' ')}</p>`}
  </header>`;
}

function footer({ startedAt, files, process, next }: Health['facts'], now: number): Html {
  const due = (moment: number | undefined): Html | string =>
    moment === undefined ? 'under way' : ago(now, timestamp(moment));
  const entries: [string, Html | string][] = [
    ['Next reconciliation', due(next.reconcile)],
    ['Next full pull', due(next.pull)],
    ['Running for', inWords(now - startedAt)],
    ['Database', bytes(files.databaseBytes)],
    ['Write-ahead log', bytes(files.walBytes)],
    ['Memory', bytes(process.rssBytes)],
    ['Event loop lag', `${(process.eventLoopLagSeconds * 1_000).toFixed(1)} ms`],
  ];
  return html`<footer id="footer" data-part>
    <dl>
      ${entries.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <nav><a href="./api/status">status</a><a href="./metrics">metrics</a><a href="./readyz">readiness</a></nav>
  </footer>`;
}
