/** Draws the charts whose figures the page carries, and draws them again when figures, width or colours change. */
import uPlot from 'uplot';
import { exactWords } from './age-counter.ts';

/** What `data-series` holds, as JSON. */
interface Figures {
  /** Seconds since 1970 of each column. */
  readonly at: readonly number[];
  /** Whether columns are days, or hours. */
  readonly grain: 'day' | 'hour';
  readonly kind: 'line' | 'bars';
  /** Digits after the point. */
  readonly places: number;
  readonly series: readonly { readonly name: string; readonly tone: string; readonly values: (number | null)[] }[];
}

interface Drawn {
  readonly chart: uPlot;
  readonly text: string;
}

const drawn = new WeakMap<HTMLElement, Drawn>();
const height = 150;

const resized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries)
    drawn.get(target as HTMLElement)?.chart.setSize({ width: Math.floor(contentRect.width), height });
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawCharts(true));

/** Draws what is new or has changed. */
export function drawCharts(again = false): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-series]')) {
    const text = place.dataset['series'] ?? '';
    const known = drawn.get(place);
    if (known?.text === text && !again) continue;
    known?.chart.destroy();
    if (!known) resized.observe(place);
    drawn.set(place, { text, chart: draw(place, JSON.parse(text) as Figures) });
  }
}

function draw(place: HTMLElement, { at, grain, kind, places, series }: Figures): uPlot {
  const colour = (name: string): string => getComputedStyle(place).getPropertyValue(`--${name}`).trim();
  const numbers = new Intl.NumberFormat('en', { minimumFractionDigits: places, maximumFractionDigits: places });
  const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
  const days = new Intl.DateTimeFormat('en', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });
  const moment = (ms: number): string => (grain === 'hour' ? exactWords(ms, Date.now()) : days.format(ms));
  const step = grain === 'hour' ? 3_600 : 86_400;
  const axis: uPlot.Axis = {
    stroke: colour('soft'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 28], radius: 0.15 });
  const columns = series.map((line) => line.values);
  return new uPlot(
    {
      width: Math.floor(place.clientWidth),
      height,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      // Unless the pointer is on a column, the legend shows the latest.
      hooks: { ready: [showLatest], setLegend: [showLatest] },
      cursor: { drag: { x: false, y: false }, y: false },
      legend: { markers: { width: 0, fill: (_, index) => colour(series[index - 1]?.tone ?? 'soft') } },
      scales: {
        x: { time: true, range: (_, from, to) => [from - step / 2, Math.max(to, from + step) + step / 2] },
        y: { range: (_, least, most) => [Math.min(0, least), Math.max(most * 1.08, 1)] },
      },
      axes: [
        { ...axis, size: 28, grid: { show: false }, values: axisWords(grain) },
        { ...axis, size: 56, space: 22, values: (_, splits) => splits.map((value) => short.format(value)) },
      ],
      series: [
        {
          label: grain === 'hour' ? 'Hour from' : 'Day',
          value: (_, at) => (at ? moment(at * 1_000) : '–'),
        },
        ...series.map(({ name, tone }): uPlot.Series => ({
          label: name,
          stroke: colour(tone),
          fill: kind === 'bars' ? colour(tone) : `${colour(tone)}14`,
          width: kind === 'bars' ? 0 : 2,
          points: { show: false },
          value: (_, value) => (Number.isFinite(value) ? numbers.format(value) : '–'),
          ...(kind === 'bars' && bars && { paths: bars }),
        })),
      ],
    },
    [[...at], ...columns],
    place,
  );
}

function showLatest(chart: uPlot): void {
  if (chart.cursor.idx == null) chart.setLegend({ idx: chart.data[0].length - 1 }, false);
}

/** Days by name, hours by the clock, years only where they begin. */
function axisWords(grain: Figures['grain']): (chart: uPlot, splits: number[]) => string[] {
  const days = new Intl.DateTimeFormat('en', { timeZone: 'UTC', day: 'numeric', month: 'short' });
  const hours = new Intl.DateTimeFormat('en', {
    timeZone: 'UTC',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (_, splits) =>
    splits.map((at) => (grain === 'hour' && at % 86_400 !== 0 ? hours.format(at * 1_000) : days.format(at * 1_000)));
}
