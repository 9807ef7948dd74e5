/** Draws how costs grow: one panel a curve, sizes by powers of ten to the right, cost of one upwards from zero. */
import { median } from './figures.ts';
import type { Curve, Point } from './growth.ts';

const panel = { width: 300, height: 200, left: 44, right: 32, top: 34, bottom: 34 };

export function growthPicture(curves: readonly Curve[]): string {
  const width = panel.width * curves.length;
  const panels = curves.map(
    (curve, index) => `<g transform="translate(${index * panel.width} 0)">${panelOf(curve)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${panel.height}" width="${width}" height="${panel.height}" font-family="sans-serif" font-size="11" fill="#333">
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
</svg>
`;
}

function panelOf({ name, unit, points }: Curve): string {
  const middle = roundUp((Math.max(...points.map(({ costs }) => median(costs))) * 1.15) / 2);
  const top = 2 * middle;
  const powers = points.map(({ size }) => Math.log10(size));
  const [least, most] = [Math.min(...powers), Math.max(...powers)];
  const right = (power: number): number =>
    panel.left + ((power - least) / (most - least || 1)) * (panel.width - panel.left - panel.right);
  const up = (cost: number): number =>
    panel.height - panel.bottom - (cost / top) * (panel.height - panel.top - panel.bottom);
  const at = ({ size, costs }: Point): string =>
    `${right(Math.log10(size)).toFixed(1)},${up(median(costs)).toFixed(1)}`;
  const baseline = up(0).toFixed(1);
  return [
    `<text x="8" y="18" font-size="12">${name} (${unit})</text>`,
    `<path d="M${panel.left},${panel.top} V${baseline} H${panel.width - panel.right}" fill="none" stroke="#999"/>`,
    ...[0, middle, top].map(
      (cost) =>
        `<text x="${panel.left - 6}" y="${(up(cost) + 4).toFixed(1)}" text-anchor="end">${cost.toLocaleString('en', { maximumSignificantDigits: 3 })}</text>`,
    ),
    ...points.map(
      ({ size }) =>
        `<text x="${right(Math.log10(size)).toFixed(1)}" y="${panel.height - 16}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
    ),
    `<polyline points="${points.map(at).join(' ')}" fill="none" stroke="#2563eb" stroke-width="2"/>`,
    ...points.map((point) => `<circle cx="${at(point).replace(',', '" cy="')}" r="3" fill="#2563eb"/>`),
  ].join('\n');
}

/** The next number of two digits and zeros, so that an axis says exactly what stands on it. */
function roundUp(cost: number): number {
  const step = 10 ** (Math.floor(Math.log10(cost)) - 1);
  return Math.ceil(cost / step) * step;
}
