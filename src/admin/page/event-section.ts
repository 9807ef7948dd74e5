/** What happened: today in one sentence, what sweeps met, runs, and gateways. */
import { took } from '../../domain/clock.ts';
import type { AccountFacts } from '../../health/judge.ts';
import type { ReportedRun } from '../../store/runs.ts';
import { learnedBy, type FieldChange } from '../../store/reports/change-feed.ts';
import type { ChangeFigure, Figures, FoundFigure } from '../../store/reports/figures.ts';
import type { RunOutcome } from '../../domain/run.ts';
import {
  ago,
  changedFields,
  changeWords,
  count,
  counted,
  findingWords,
  html,
  lasting,
  vendorLink,
  type Html,
} from './html.ts';

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

const tone: Readonly<Record<RunOutcome, string>> = {
  running: 'busy',
  complete: 'good',
  incomplete: 'fair',
  failed: 'bad',
  abandoned: 'bad',
};

/** The latest runs of an account, as a table. */
function runTable(runs: readonly ReportedRun[], now: number): Html {
  const rows = runs.map(
    (run) =>
      html`<tr>
          <td>${run.kind} <small>${run.trigger}</small></td>
          <td><span class="pill ${tone[run.outcome]}">${run.outcome}</span></td>
          <td>${ago(now, run.started_at)}</td>
          <td class="number rest">
            ${
              run.finished_at === null && run.outcome === 'running'
                ? lasting(now, run.started_at)
                : took({ now: () => now }, run.started_at, run.finished_at)
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
  return html`<div class="runs">
    <h3>Last runs</h3>
    <div class="scroll" tabindex="0" role="group" aria-label="Last runs">
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Outcome</th>
            <th scope="col">Begun</th>
            <th scope="col" class="number rest">Took</th>
            <th scope="col" class="number">Seen</th>
            <th scope="col" class="number rest">New</th>
            <th scope="col" class="number rest">Changed</th>
            <th scope="col" class="number rest">Suspects</th>
          </tr>
        </thead>
        <tbody>
          ${
            rows.length === 0
              ? html`<tr>
                  <td colspan="8">None yet.</td>
                </tr>`
              : rows
          }
        </tbody>
      </table>
    </div>
  </div>`;
}
