/** How many changes no delivery announced, day by day, as a small drawing. */
import { timestamp } from '../../domain/clock.ts';
import type { WebhookDay } from '../health/health.ts';
import { html, type Html } from './html.ts';
import { count, date, percent } from './format.ts';

const daysShown = 14;
const oneDay = 86_400_000;

/** Tops of the scale. */
const scales = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

const [width, height] = [430, 116];
const [left, right, ceiling, base] = [34, 420, 12, 94];
const slot = (right - left) / daysShown;
const bar = 16;

/** One bar for each of the last fourteen days up to `now`; a day on which nothing was heard or missed has only a dot. */
export function lossChart(days: readonly WebhookDay[], now: number): Html {
  const names = Array.from({ length: daysShown }, (_, index) =>
    timestamp(now - (daysShown - 1 - index) * oneDay).slice(0, 10),
  );
  const known = new Map(days.map((day) => [day.day, day]));
  const highest = Math.max(...days.map(({ loss_rate }) => loss_rate ?? 0));
  const top = scales.find((scale) => highest <= scale) ?? 1;
  const bars = names.map((name, index) => mark(known.get(name), name, left + index * slot + slot / 2, top));
  const labels = names.map((name, index) =>
    index % 4 === 1
      ? html`<text x="${round(left + index * slot + slot / 2)}" y="${height - 4}" class="date">${date(name)}</text>`
      : null,
  );
  return html`<svg
    class="chart"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="Share of changes that no delivery announced, last ${daysShown} days"
  >
    <line x1="${left}" y1="${ceiling}" x2="${right}" y2="${ceiling}" class="grid" />
    <line x1="${left}" y1="${(ceiling + base) / 2}" x2="${right}" y2="${(ceiling + base) / 2}" class="grid" />
    <line x1="${left}" y1="${base}" x2="${right}" y2="${base}" class="base" />
    <text x="${left - 6}" y="${ceiling + 4}" class="scale">${percent(top)}</text>
    <text x="${left - 6}" y="${(ceiling + base) / 2 + 4}" class="scale">${percent(top / 2)}</text>
    <text x="${left - 6}" y="${base + 4}" class="scale">0</text>
    ${bars}${labels}
  </svg>`;
}

function mark(day: WebhookDay | undefined, name: string, x: number, top: number): Html {
  const rate = day?.loss_rate ?? null;
  if (!day || rate === null)
    return html`<circle cx="${round(x)}" cy="${base}" r="1.5" class="quiet"
      ><title>${date(name)}: nothing</title></circle
    >`;
  const tall = Math.max(2, (rate / top) * (base - ceiling));
  const kind = rate === 0 ? 'heard' : 'lost';
  return html`<rect
    x="${round(x - bar / 2)}"
    y="${round(base - tall)}"
    width="${bar}"
    height="${round(tall)}"
    rx="2"
    class="${kind}"
  >
    <title>${date(name)}: ${dayWords(day, rate)}</title>
  </rect>`;
}

function dayWords({ deliveries, unannounced_changes, late_deliveries }: WebhookDay, rate: number): string {
  const lost = `${count(unannounced_changes)} changes unannounced (${percent(rate)})`;
  return `${count(deliveries)} deliveries, ${lost}, ${count(late_deliveries)} late`;
}

/** What the chart comes to, in a sentence. */
export function lossSentence(days: readonly WebhookDay[]): string {
  const shown = days.slice(-daysShown);
  const add = (of: (day: WebhookDay) => number): number => shown.reduce((total, day) => total + of(day), 0);
  const lost = add((day) => day.unannounced_changes);
  const changes = lost + add((day) => day.announced_changes);
  if (changes === 0) return 'Nothing was heard or missed lately.';
  if (lost === 0) return `Of ${count(changes)} changes none is known to have come without a delivery.`;
  return `${count(lost)} of ${count(changes)} changes came without a delivery: ${percent(lost / changes)} lost.`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
