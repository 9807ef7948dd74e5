/** The latest runs of an account, as a table. */
import { took } from '../../../domain/age.ts';
import type { ReportedRun } from '../../../store/reports/account-reports.ts';
import type { RunOutcome } from '../../../store/tables/mirror-tables.ts';
import { html, type Html } from '../parts/html.ts';
import { ago, count, lasting } from '../parts/format.ts';

const tone: Readonly<Record<RunOutcome, string>> = {
  running: 'busy',
  complete: 'good',
  incomplete: 'fair',
  failed: 'bad',
  abandoned: 'bad',
};

export function runTable(runs: readonly ReportedRun[], now: number): Html {
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
