/** What happened: today in one sentence, what sweeps met, runs, and gateways. */
import type { ChangeFigure, Figures, FoundFigure } from '../../../store/figures/figures.ts';
import { learnedBy, type FieldChange } from '../../../store/reports/field-changes.ts';
import type { AccountFacts } from '../../../health/judge.ts';
import { ago, counted, findingWords } from '../parts/format.ts';
import { html, type Html } from '../parts/html.ts';
import { runTable } from './run-table.ts';
import { changeWords } from '../parts/change-words.ts';
import { changedFields } from '../parts/changed-fields.ts';

export function eventSection(facts: AccountFacts, figures: Figures | null, now: number): Html {
  return html`<section id="events" aria-labelledby="events-title">
    <h2 id="events-title">What happened</h2>
    ${figures === null ? null : changes(figures, facts.account, now)} ${runTable(facts.runs, now)}
    ${figures === null ? null : gateways(figures, now)}
  </section>`;
}

function today({ today: { created, changed } }: Figures): Html {
  const words =
    created + changed === 0
      ? 'Nothing has changed today (UTC).'
      : `Today (UTC): ${counted(created, 'vendor')} seen for the first time, ${counted(changed, 'change')}.`;
  return html`<p class="today">${words}</p>`;
}

function changes(figures: Figures, account: string, now: number): Html {
  return html`${today(figures)}
    <div class="pair">${latest(figures.changes, account, now)} ${found(figures.found, account, now)}</div>`;
}

function latest(lines: readonly ChangeFigure[], account: string, now: number): Html {
  return html`<div>
    <h3>Latest changes</h3>
    ${lines.length === 0 ? html`<p class="soft">None yet.</p>` : null}
    <ul class="changes" tabindex="0" aria-label="Latest changes">
      ${lines.map(
        ({ at, kind, source, vendorid, vendor, changes: fields }) =>
          html`<li>
            ${vendorLink(account, vendorid, vendor)} ${changeWords[kind].toLowerCase()}
            <small>${ago(now, at)}, learned by ${learnedBy[source]}</small> ${changedFields(withoutStamp(fields))}
          </li>`,
      )}
    </ul>
  </div>`;
}

/** Every change has a new `updated_at`; it is shown only where nothing else changed. */
function withoutStamp(fields: readonly FieldChange[]): readonly FieldChange[] {
  const others = fields.filter(({ field }) => field !== 'updated_at');
  return others.length === 0 ? fields : others;
}

function vendorLink(account: string, vendorid: number, vendor: string | null): Html {
  return html`<a href="./vendors/${account}/${vendorid}"><bdi>${vendor ?? `Vendor ${vendorid}`}</bdi></a>`;
}

function found(lines: readonly FoundFigure[], account: string, now: number): Html {
  return html`<div>
    <h3>Differences found by sweeps</h3>
    ${lines.length === 0 ? html`<p class="soft">None yet.</p>` : null}
    <ul class="changes" tabindex="0" aria-label="Differences found by sweeps">
      ${lines.map(
        ({ at, kind, vendorid, vendor, fields, changes }) =>
          html`<li>
            ${vendorid === null ? listWords(kind) : vendorLink(account, vendorid, vendor)} ${findingWords[kind]}
            ${changes.length === 0 ? fieldNames(fields) : null} <small>${ago(now, at)}</small>
            ${changedFields(withoutStamp(changes))}
          </li>`,
      )}
    </ul>
  </div>`;
}

function listWords(kind: FoundFigure['kind']): string {
  return kind === 'unreadable' ? 'Part of the list' : 'The list';
}

function fieldNames(fields: string): Html | null {
  const names = JSON.parse(fields) as unknown;
  if (!Array.isArray(names) || names.length === 0) return null;
  return html`(${names.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${String(name)}</code>`)})`;
}

function gateways({ gateways: known }: Figures, now: number): Html {
  return html`<div class="gateways">
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
