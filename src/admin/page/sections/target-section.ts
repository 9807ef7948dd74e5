/** Whether changes reach the receivers of outgoing webhooks; nothing where the settings name none. */
import type { TargetReport } from '../../../store/outbox/outbox-report.ts';
import { deliveryState, longFailure, targetAdvice } from '../../health/target-health.ts';
import type { Tone } from '../../health/headline.ts';
import { ago, counted, lasting } from '../parts/format.ts';
import { html, sentence, type Html } from '../parts/html.ts';
import { namedValues } from '../parts/named-values.ts';

export function targetSection(targets: readonly TargetReport[], now: number): Html | null {
  if (targets.length === 0) return null;
  return html`<section id="targets" aria-labelledby="targets-title">
    <h2 id="targets-title">Outgoing webhooks</h2>
    <ul class="targets">
      ${targets.map((target) => html`<li>${targetHtml(target, now)}</li>`)}
    </ul>
  </section>`;
}

function targetHtml(report: TargetReport, now: number): Html {
  const { target, failing_since, disabled_at, last_error } = report;
  const advice = targetAdvice(report, now);
  const failure =
    failing_since === null || disabled_at !== null || longFailure(report, now).length > 0
      ? null
      : html`<p class="trouble">Failing for ${lasting(now, failing_since)}: ${last_error ?? 'no cause is known.'}</p>`;
  return html`<h3><bdi>${target}</bdi> <span class="pill ${tone(report)}">${deliveryState(report)}</span></h3>
    <dl class="figures">${namedValues(figures(report, now))}</dl>
    ${failure} ${advice.map((line) => html`<p class="trouble">${sentence(line)}</p>`)}`;
}

function figures(report: TargetReport, now: number): [string, Html | string][] {
  const { waiting, behind, parked, oldest_waiting, delivered_at } = report;
  const further = behind === 0 ? '' : `, and ${counted(behind, 'further change')}`;
  return [
    ['Lag', oldest_waiting === null ? 'none' : lasting(now, oldest_waiting)],
    ['Waiting', waiting + behind === 0 ? 'nothing' : `${counted(waiting, 'vendor')}${further}`],
    ['Given up', parked === 0 ? 'nothing' : counted(parked, 'vendor')],
    ['Last accepted', ago(now, delivered_at)],
  ];
}

function tone(report: TargetReport): Tone {
  const state = deliveryState(report);
  if (state === 'delivering') return report.parked > 0 ? 'fair' : 'good';
  return 'bad';
}
