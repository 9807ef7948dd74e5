/** One account on the dashboard. */
import { catalogue } from '../../domain/errors.ts';
import type { AccountFacts } from '../health/health.ts';
import type { AccountHealth } from '../health/readiness.ts';
import { vendorCounts } from '../health/vendor-counts.ts';
import { html, type Html } from './html.ts';
import { lossChart, lossSentence } from './loss-chart.ts';
import { runTable } from './run-table.ts';
import { ago, count, findingWords } from './format.ts';

export function accountCard(health: AccountHealth, now: number): Html {
  const { facts } = health;
  return html`<article id="account-${facts.account}" data-part class="account">
    ${verdict(health, now)} ${warnings(health)} ${numbers(facts, now)}
    <div class="panels">${webhooks(facts, now)} ${findings(facts)} ${runTable(facts.runs, now)}</div>
  </article>`;
}

function verdict({ facts, ready }: AccountHealth, now: number): Html {
  const { safe_as_of, last_complete_sweep } = facts.freshness;
  const words =
    last_complete_sweep === null
      ? 'Not mirrored completely yet'
      : html`Safe as of <strong>${safe_as_of === null ? 'unknown' : ago(now, safe_as_of)}</strong>`;
  const meaning =
    last_complete_sweep === null
      ? 'The first complete sweep makes it so.'
      : safe_as_of === null
        ? 'The clock was set back. The next complete sweep tells.'
        : html`Every change up to ${safe_as_of.slice(0, 19)} UTC is here. Last complete sweep
          ${ago(now, last_complete_sweep)}.`;
  return html`<header class="verdict ${ready ? 'good' : 'bad'}">
    <h2>${facts.account}</h2>
    <p class="safe">${words}</p>
    <p class="meaning">${meaning}</p>
  </header>`;
}

function warnings({ facts, reasons, error }: AccountHealth): Html | null {
  const breaker = facts.findings.some(({ kind }) => kind === 'breaker');
  const lines = [
    ...reasons,
    error ? `${error.run.error ?? 'The last run was cut off.'} ${error.hint}` : null,
    facts.watchdog === 'silent' ? 'Changes are found, but no delivery comes: the callback is being looked at.' : null,
    breaker && error?.code !== 'breaker_tripped'
      ? `Many vendors seem to be gone, and nothing was believed yet. ${catalogue.breaker_tripped.hint}`
      : null,
    facts.queue.parked > 0
      ? `${count(facts.queue.parked)} marked vendors could not be read; the next reconciliation tries them again.`
      : null,
  ].filter((line) => line !== null);
  return lines.length === 0
    ? null
    : html`<ul class="warnings">
        ${lines.map((line) => html`<li>${line}</li>`)}
      </ul>`;
}

function numbers({ counts, queue, oldestMark }: AccountFacts, now: number): Html {
  const { active, archived, deleted, unknown, suspect, missing, gone } = vendorCounts(counts);
  return html`<dl class="tiles">
    ${tile('Active', count(active), 'main')} ${tile('Archived', count(archived))} ${tile('Deleted', count(deleted))}
    ${unknown > 0 ? tile('Unknown', count(unknown), 'odd') : null}
    ${suspect > 0 ? tile('Suspect', count(suspect), 'odd') : null}
    ${missing > 0 ? tile('Missing', count(missing), 'odd') : null} ${gone > 0 ? tile('Gone', count(gone)) : null}
    ${tile('In the queue', count(queue.waiting))}
    ${tile('Oldest of them', queue.waiting === 0 ? '–' : ago(now, oldestMark))}
  </dl>`;
}

function tile(name: string, value: string | Html, kind = 'plain'): Html {
  return html`<div class="tile ${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function webhooks({ callbacks, lastDelivery, watchdog, days }: AccountFacts, now: number): Html {
  const lines = callbacks.map(
    ({ event, uri, verified, checked_at }) =>
      html`<li>
        <span class="pill ${verified === 1 ? 'good' : 'bad'}">${verified === 1 ? 'verified' : 'not verified'}</span>
        <b>${event}</b> to <code>${uri}</code>, checked ${ago(now, checked_at)}
      </li>`,
  );
  const none = html`<li>
    ${watchdog === 'off' ? 'No deliveries are asked for: only sweeps find changes.' : 'No callback is registered yet.'}
  </li>`;
  return html`<section class="webhooks">
    <h3>Webhooks</h3>
    <ul class="plain">
      ${lines.length === 0 ? none : lines}
      <li>Last delivery <b>${ago(now, lastDelivery)}</b></li>
    </ul>
    <figure>
      ${days.length === 0 ? null : lossChart(days, now)}
      <figcaption>${lossSentence(days)}</figcaption>
    </figure>
  </section>`;
}

function findings({ findings: met, runs }: AccountFacts): Html {
  const lines = met.map(
    ({ kind, count: times }) => html`<li><b>${count(times)}</b> <span>${findingWords[kind]}</span></li>`,
  );
  return html`<section>
    <h3>Findings of the last run</h3>
    ${
      lines.length === 0
        ? html`<p>${runs.length === 0 ? 'No run yet.' : 'None.'}</p>`
        : html`<ul class="plain findings">
            ${lines}
          </ul>`
    }
  </section>`;
}
