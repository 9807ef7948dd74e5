/** Whether changes reach the receivers of outgoing webhooks; nothing where the settings name none. */
import { sentenceOf, targetProblems, type TargetStatus, type Tone } from '../../../health/judge.ts';
import { ago, counted, lasting } from '../parts/format.ts';
import { html, sentence, type Html } from '../parts/html.ts';
import { namedValues } from '../parts/named-values.ts';

export function targetSection(targets: readonly TargetStatus[], now: number): Html | null {
  if (targets.length === 0) return null;
  return html`<section id="targets" aria-labelledby="targets-title">
    <h2 id="targets-title">Outgoing webhooks</h2>
    <ul class="targets">
      ${targets.map((target) => html`<li>${targetHtml(target, now)}</li>`)}
    </ul>
  </section>`;
}

function targetHtml(report: TargetStatus, now: number): Html {
  const { target, state, failing_since, last_error } = report;
  const problems = targetProblems(report, now);
  const failure =
    failing_since === null || state !== 'failing' || problems.some(({ code }) => code === 'receiver_failing')
      ? null
      : html`<p class="trouble">Failing for ${lasting(now, failing_since)}: ${last_error ?? 'no cause is known.'}</p>`;
  return html`<h3><bdi>${target}</bdi> <span class="pill ${tone(report)}">${state}</span></h3>
    <dl class="figures">${namedValues(figures(report, now))}</dl>
    ${failure} ${problems.map((problem) => html`<p class="trouble">${sentence(sentenceOf(problem))}</p>`)}`;
}

function figures(report: TargetStatus, now: number): [string, Html | string][] {
  const { waiting, behind, parked, oldest_waiting, delivered_at } = report;
  const further = behind === 0 ? '' : `, and ${counted(behind, 'further change')}`;
  return [
    ['Lag', oldest_waiting === null ? 'none' : lasting(now, oldest_waiting)],
    ['Waiting', waiting + behind === 0 ? 'nothing' : `${counted(waiting, 'vendor')}${further}`],
    ['Given up', parked === 0 ? 'nothing' : counted(parked, 'vendor')],
    ['Last accepted', ago(now, delivered_at)],
  ];
}

function tone({ state, parked }: TargetStatus): Tone {
  if (state === 'failing' || state === 'disabled') return 'bad';
  return state === 'delivering' && parked === 0 ? 'good' : 'fair';
}
