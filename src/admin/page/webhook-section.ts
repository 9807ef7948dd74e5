/**
 * How well webhooks work in both directions: alive or dead in one sentence, deliveries, what was missed and how late; and whether changes
 * reach the receivers.
 */
import { timestamp } from '../../domain/clock.ts';
import { seconds } from '../../domain/duration.ts';
import { counted } from '../../domain/size.ts';
import {
  sentenceOf,
  targetProblems,
  type AccountFacts,
  type AccountHealth,
  type PublicationStatus,
  type TargetStatus,
  type Tone,
} from '../../health/judge.ts';
import { toneOrder } from '../../health/causes.ts';
import { refusalWords } from '../../health/callbacks.ts';
import type { WebhookDays } from '../../store/account-reports.ts';
import type { Figures, HourFigures } from '../../store/reports/figures.ts';
import {
  ago,
  chart,
  clockTime,
  count,
  date,
  foldedSection,
  html,
  lasting,
  namedValues,
  percent,
  sentence,
  type Html,
} from './html.ts';

const daysDrawn = 14;
const dayMs = 86_400_000;

type WebhookDay = WebhookDays[number];

export function webhookSection({ facts, deliveries }: AccountHealth, figures: Figures | null, now: number): Html {
  const { tone, words } = deliveries;
  const [word = '', why] = words.split(/: (.*)/);
  const last = facts.lastDelivery === null ? null : html`last delivery ${ago(now, facts.lastDelivery)}`;
  const state = html`<span class="pill ${tone}">${word}</span> ${why ?? null}${why && last ? '; ' : null}${last}`;
  return foldedSection(
    'webhooks',
    'How well the webhooks work',
    state,
    html`${facts.freshness.last_complete_sweep === null ? null : html`<p>${missedWords(facts.days)}</p>`}
      ${callbacks(facts, now)} ${refused(facts, now)}
      <div class="pair">
        ${figures === null ? null : byHour(figures.hours, now)}
        ${facts.days.length === 0 ? null : byDay(facts.days, now)}
      </div>
      ${waiting(facts, now)}`,
  );
}

export function missedWords(days: WebhookDays): string {
  const shown = days.slice(-daysDrawn);
  const add = (of: (day: WebhookDay) => number): number => shown.reduce((total, day) => total + of(day), 0);
  const missed = add((day) => day.unannounced_changes);
  const changes = missed + add((day) => day.announced_changes);
  const late = add((day) => day.late_deliveries);
  const longest = Math.max(0, ...shown.map((day) => day.latest_seconds ?? 0));
  if (changes === 0) return `No missed change was found in the last ${daysDrawn} days.`;
  const lost =
    missed === 0
      ? `Of ${counted(changes, 'change')} in ${daysDrawn} days none was missed`
      : `${count(missed)} of ${counted(changes, 'change')} in ${daysDrawn} days ${missed === 1 ? 'was' : 'were'} missed (${percent(missed / changes)}), and found by a sweep`;
  return late === 0 ? `${lost}; none came late.` : `${lost}; ${count(late)} came late, by ${seconds(longest)} at most.`;
}

function callbacks({ callbacks: registered, refusals }: AccountFacts, now: number): Html | null {
  if (registered.length + refusals.length === 0) return null;
  return html`<ul class="plain">
    ${registered.map(
      ({ event, uri, verified, checked_at }) =>
        html`<li class="callback">
          <span class="pill ${verified === 1 ? 'good' : 'bad'}">${verified === 1 ? 'verified' : 'not verified'}</span>
          <span><b>${event}</b> to</span> <code>${uri}</code> <small>checked ${ago(now, checked_at)}</small>
        </li>`,
    )}
    ${refusals.map(
      ({ event, refused_at, message }) =>
        html`<li><span class="pill bad">refused</span> <b>${event}</b> ${ago(now, refused_at)}: ${message}</li>`,
    )}
  </ul>`;
}

function refused({ refused: found }: AccountFacts, now: number): Html | null {
  if (found.length === 0) return null;
  return html`<ul class="plain">
    ${found.map(
      ({ outcome, refused: times, first_at, last_at, detail }) =>
        html`<li>
          <span class="pill fair">refused</span> <b>${counted(times, 'request')}</b> ${refusalWords(outcome, detail)},
          the first ${ago(now, first_at)}, the last ${ago(now, last_at)}
        </li>`,
    )}
  </ul>`;
}

function waiting({ queue, oldestMark }: AccountFacts, now: number): Html {
  if (queue.waiting === 0) return html`<p class="soft queue">Nothing waits to be read again.</p>`;
  return html`<p class="soft queue">
    ${counted(queue.waiting, 'vendor')} ${queue.waiting === 1 ? 'waits' : 'wait'} to be read again, the first
    ${oldestMark === null ? null : html`for ${lasting(now, oldestMark)}`}.
  </p>`;
}

function byHour(hours: readonly HourFigures[], now: number): Html {
  const received = hours.reduce((total, { deliveries }) => total + deliveries, 0);
  const found = hours.reduce((total, { missed, late }) => total + missed + late, 0);
  return html`<div>
    <h3>By hour, two days</h3>
    ${
      received + found === 0
        ? html`<p class="soft">No deliveries and no missed changes.</p>`
        : deliveryChart(
            'hour',
            `${counted(received, 'delivery', 'deliveries')} in the last two days, hour by hour`,
            hours.map((hour) => ({ ...hour, at: hour.hour, name: clockTime(now, `${hour.hour}:00:00`) })),
          )
    }
  </div>`;
}

function byDay(days: WebhookDays, now: number): Html {
  const known = new Map(days.map((day) => [day.day, day]));
  const columns = Array.from({ length: daysDrawn }, (_, index): DeliveryColumn => {
    const name = timestamp(now - (daysDrawn - 1 - index) * dayMs).slice(0, 10);
    const day = known.get(name);
    return {
      at: name,
      name,
      deliveries: day?.deliveries ?? 0,
      missed: day?.unannounced_changes ?? 0,
      late: day?.late_deliveries ?? 0,
      latestSeconds: day?.latest_seconds ?? null,
    };
  });
  return html`<div>
    <h3>By day, two weeks</h3>
    ${deliveryChart('day', `Deliveries, missed and late changes since ${date(columns[0]?.at ?? '')}, day by day`, columns)}
  </div>`;
}

interface DeliveryColumn extends Omit<HourFigures, 'hour'> {
  readonly at: string;
  /** As the table of the chart writes it. */
  readonly name: Html | string;
}

function deliveryChart(grain: 'hour' | 'day', words: string, columns: readonly DeliveryColumn[]): Html {
  return chart({
    ...{ words, grain, kind: 'bars', places: 0 },
    at: columns.map(({ at }) => at),
    series: [
      { name: 'Deliveries', tone: 'ink-1', values: columns.map(({ deliveries }) => deliveries) },
      { name: 'Missed', tone: 'ink-2', values: columns.map(({ missed }) => missed) },
      { name: 'Late', tone: 'ink-3', values: columns.map(({ late }) => late) },
    ],
    table: {
      head: [grain === 'hour' ? 'Hour from' : 'Day (UTC)', 'Deliveries', 'Missed', 'Late', 'Latest by'],
      rows: [...columns]
        .reverse()
        .map(({ name, deliveries, missed, late, latestSeconds: latest }) => [
          name,
          ...[deliveries, missed, late].map(count),
          latest === null ? '–' : seconds(latest),
        ]),
    },
  });
}

/** Whether changes reach the receivers of outgoing webhooks; nothing where the settings name none. */
export function targetSection(targets: readonly TargetStatus[], now: number): Html | null {
  if (targets.length === 0) return null;
  const state = stateCounts(targets.map((target) => ({ state: target.state, tone: tone(target) })));
  const list = html`<ul class="targets">
    ${targets.map((target) => html`<li>${targetHtml(target, now)}</li>`)}
  </ul>`;
  return foldedSection('targets', 'Outgoing webhooks', state, list);
}

/** How many are in each state, those in need of a person first: `1 failing, 2 delivering`. */
function stateCounts(each: readonly { readonly state: string; readonly tone: Tone }[]): Html[] {
  const names = [...new Set(each.map(({ state }) => state))];
  const of = (name: string) => each.filter(({ state }) => state === name);
  const need = (name: string): number => Math.min(...of(name).map((one) => toneOrder.indexOf(one.tone)));
  return names
    .sort((a, b) => need(a) - need(b))
    .map(
      (name) => html`<span class="pill ${toneOrder[need(name)] ?? 'fair'}">${count(of(name).length)} ${name}</span> `,
    );
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

/** The copies for readers; nothing where the settings name none. */
export function publicationSection(publications: readonly PublicationStatus[], now: number): Html | null {
  if (publications.length === 0) return null;
  const state = stateCounts(publications.map(({ state }) => ({ state, tone: toneOf(state) })));
  const list = html`<ul class="plain">
    ${publications.map(
      ({ path, state, written_at, failed_at, error }) =>
        html`<li>
          <span class="pill ${toneOf(state)}">${state}</span>
          <code>${path}</code> ${written_at === null ? 'never written' : html`last written ${ago(now, written_at)}`}${
            failed_at === null ? null : html`, last failed ${ago(now, failed_at)}`
          }${error === null ? null : html`: ${error}`}
        </li>`,
    )}
  </ul>`;
  return foldedSection('publications', 'Copies for readers', state, list);
}

function toneOf(state: PublicationStatus['state']): Tone {
  return state === 'written' ? 'good' : state === 'failing' ? 'bad' : 'fair';
}

function figures(report: TargetStatus, now: number): [string, Html | string][] {
  const { waiting, parked, oldest_waiting, delivered_at } = report;
  return [
    ['Lag', oldest_waiting === null ? 'none' : lasting(now, oldest_waiting)],
    ['Waiting', waiting === 0 ? 'nothing' : counted(waiting, 'vendor')],
    ['Given up', parked === 0 ? 'nothing' : counted(parked, 'vendor')],
    ['Last accepted', ago(now, delivered_at)],
  ];
}

function tone({ state, parked }: TargetStatus): Tone {
  if (state === 'failing' || state === 'disabled') return 'bad';
  return state === 'delivering' && parked === 0 ? 'good' : 'fair';
}
