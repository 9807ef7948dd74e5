/** What happened to vendors: today in one sentence, the latest changes, what webhooks missed; and, folded, runs and gateways. */
import { took } from '../../domain/clock.ts';
import type { ReportedRun } from '../../store/runs.ts';
import { learnedBy, type FieldChange } from '../../store/reports/change-feed.ts';
import type { ChangeFigure, Figures, FoundFigure } from '../../store/reports/figures.ts';
import type { RunOutcome } from '../../domain/run.ts';
import { counted } from '../../domain/size.ts';
import {
  ago,
  changedFields,
  changeWords,
  count,
  findingWords,
  foldedSection,
  html,
  lasting,
  vendorLink,
  type Html,
} from './html.ts';

export function eventSection(account: string, figures: Figures, now: number): Html {
  return html`<section id="events" aria-labelledby="events-title">
    <h2 id="events-title">What happened</h2>
    ${today(figures)}
    <div class="pair">${latest(figures.changes, account, now)} ${found(figures, account, now)}</div>
  </section>`;
}

function today({ today: { created, changed } }: Figures): Html {
  const parts = [
    ...(created === 0 ? [] : [`${counted(created, 'vendor')} seen for the first time`]),
    ...(changed === 0 ? [] : [counted(changed, 'change')]),
  ];
  const words = parts.length === 0 ? 'Nothing has changed today (UTC).' : `Today (UTC): ${parts.join(', ')}.`;
  return html`<p class="today">${words}</p>`;
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

/** What no webhook announced. Balances, which none ever announces, are counted apart. */
function found({ found: lines, balancesFound }: Figures, account: string, now: number): Html {
  return html`<div>
    <h3>Found by sweeps, without a webhook</h3>
    ${lines.length === 0 ? html`<p class="soft">Nothing.</p>` : null}
    ${
      balancesFound === 0
        ? null
        : html`<p class="soft">
            Not counting ${counted(balancesFound, 'change')} of balances in seven days, which no webhook announces.
          </p>`
    }
    <ul class="changes" tabindex="0" aria-label="Found by sweeps, without a webhook">
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
  const told = JSON.parse(fields) as readonly string[] | { readonly field?: string };
  const names = 'field' in told ? [told.field ?? ''] : Array.isArray(told) ? (told as readonly string[]) : [];
  if (names.length === 0) return null;
  return html`(${names.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`)})`;
}

export function gatewaySection({ gateways }: Figures, now: number): Html {
  const enabled = gateways.filter(({ removed }) => removed === null).length;
  const removed = gateways.length - enabled;
  const state =
    gateways.length === 0 ? 'None' : `${count(enabled)} enabled${removed === 0 ? '' : `, ${count(removed)} removed`}`;
  const list = gateways.map(
    ({ sgid, name, since, removed: at }) =>
      html`<li>
        <span class="pill ${at === null ? 'good' : 'fair'}">${at === null ? 'enabled' : 'removed'}</span>
        <b><bdi>${name ?? `Gateway ${sgid}`}</bdi></b
        >, ${at === null ? html`for ${lasting(now, since)}` : ago(now, at)}
      </li>`,
  );
  return foldedSection(
    'gateways',
    'Gateways',
    state,
    list.length === 0
      ? html`<p class="soft">The service names none.</p>`
      : html`<ul class="plain">
          ${list}
        </ul>`,
  );
}

const tone: Readonly<Record<RunOutcome, string>> = {
  running: 'busy',
  complete: 'good',
  incomplete: 'fair',
  failed: 'bad',
  abandoned: 'bad',
};

export function runSection(runs: readonly ReportedRun[], now: number): Html {
  const [last] = runs;
  const state = last
    ? html`<span class="pill ${tone[last.outcome]}">${last.outcome}</span> the last began ${ago(now, last.started_at)}`
    : 'None yet';
  return foldedSection('runs', 'Runs', state, runTable(runs, now));
}

function runTable(runs: readonly ReportedRun[], now: number): Html {
  if (runs.length === 0) return html`<p class="soft">None yet.</p>`;
  const rows = runs.map(
    (run) =>
      html`<tr>
          <td>${run.kind} <small>${run.trigger}</small></td>
          <td><span class="pill ${tone[run.outcome]}">${run.outcome}</span></td>
          <td>${ago(now, run.started_at)}</td>
          <td class="number rest">
            ${
              run.finished_at !== null
                ? took({ now: () => now }, run.started_at, run.finished_at)
                : run.outcome === 'running'
                  ? lasting(now, run.started_at)
                  : '–'
            }
          </td>
          <td class="number">${count(run.seen)}</td>
          <td class="number rest">${count(run.created)}</td>
          <td class="number rest">${count(run.updated)}</td>
          <td class="number rest">${count(run.suspects)}</td>
        </tr>
        ${
          run.error === null
            ? null
            : html`<tr class="error">
                <td colspan="8">${run.error}</td>
              </tr>`
        }`,
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="The latest runs">
    <table>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Outcome</th>
          <th scope="col">Begun</th>
          <th scope="col" class="number rest">Took</th>
          <th scope="col" class="number">Vendors seen</th>
          <th scope="col" class="number rest">New</th>
          <th scope="col" class="number rest">Changed</th>
          <th scope="col" class="number rest">Suspects</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
