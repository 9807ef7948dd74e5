/** What happened: today in one sentence, what sweeps met, runs, and gateways. */
import type { Figures, FoundFigure } from '../../../store/figures/figures.ts';
import type { AccountFacts } from '../../health/health.ts';
import { ago, counted, findingWords } from '../parts/format.ts';
import { html, type Html } from '../parts/html.ts';
import { runTable } from './run-table.ts';
import { changedFields } from '../parts/changed-fields.ts';

export function eventSection(facts: AccountFacts, figures: Figures | null, now: number): Html {
  return html`<section id="events" aria-labelledby="events-title">
    <h2 id="events-title">What happened</h2>
    ${figures === null ? null : today(figures)} ${runTable(facts.runs, now)}
    <div class="pair">
      ${figures === null ? null : found(figures.found, facts.account, now)}
      ${figures === null ? null : gateways(figures, now)}
    </div>
  </section>`;
}

function today({ today: { created, changed } }: Figures): Html {
  const words =
    created + changed === 0
      ? 'Nothing has changed today (UTC).'
      : `Today (UTC): ${counted(created, 'new vendor')}, ${counted(changed, 'change')}.`;
  return html`<p class="today">${words}</p>`;
}

function found(lines: readonly FoundFigure[], account: string, now: number): Html {
  return html`<div>
    <h3>Differences found by sweeps</h3>
    ${lines.length === 0 ? html`<p class="soft">No difference yet.</p>` : null}
    <ul class="plain found">
      ${lines.map(
        ({ at, kind, vendorid, vendor, fields, changes }) =>
          html`<li>
            ${
              vendorid === null
                ? 'The list'
                : html`<a href="./vendors/${account}/${vendorid}"><bdi>${vendor ?? `Vendor ${vendorid}`}</bdi></a>`
            }
            ${findingWords[kind]} ${changes.length === 0 ? fieldNames(fields) : null} <small>${ago(now, at)}</small>
            ${changes.length === 0 ? null : changedFields(changes)}
          </li>`,
      )}
    </ul>
  </div>`;
}

function fieldNames(fields: string): Html | null {
  const names = JSON.parse(fields) as unknown;
  if (!Array.isArray(names) || names.length === 0) return null;
  return html`(${names.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${String(name)}</code>`)})`;
}

function gateways({ gateways: known }: Figures, now: number): Html {
  return html`<div>
    <h3>Gateways</h3>
    ${known.length === 0 ? html`<p class="soft">None.</p>` : null}
    <ul class="plain">
      ${known.map(
        ({ sgid, name, since, removed }) =>
          html`<li>
            <span class="pill ${removed === null ? 'good' : 'fair'}">${removed === null ? 'enabled' : 'removed'}</span>
            <b><bdi>${name ?? `Gateway ${sgid}`}</bdi></b>
            ${removed === null ? html`since ${ago(now, since)}` : ago(now, removed)}
          </li>`,
      )}
    </ul>
  </div>`;
}
