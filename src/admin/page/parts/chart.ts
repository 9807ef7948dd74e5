/** A chart as HTML: figures that the browser draws, a text for screen readers, and a table. */
import { parseInstant } from '../../../domain/clock.ts';
import { html, type Html } from './html.ts';

export interface Chart {
  /** What is drawn, and what it comes to, in a sentence. */
  readonly words: string;
  readonly grain: 'day' | 'hour';
  readonly kind: 'line' | 'bars';
  /** Digits after the point. */
  readonly places: number;
  /** Days as `YYYY-MM-DD`, hours as `YYYY-MM-DD HH`. */
  readonly at: readonly string[];
  readonly series: readonly ChartSeries[];
  /** Rows of the table: the first cell names the row. */
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

interface ChartSeries {
  readonly name: string;
  /** The colour, as the style sheet names it. */
  readonly tone: 'ink-1' | 'ink-2' | 'ink-3';
  readonly values: readonly (number | null)[];
}

export function chart({ words, grain, kind, places, at, series, table }: Chart): Html {
  const seconds = at.map(
    (moment) => (parseInstant(moment.length > 10 ? `${moment}:00:00` : `${moment} 00:00:00`) ?? 0) / 1_000,
  );
  const figures = JSON.stringify({ at: seconds, grain, kind, places, series });
  return html`<figure class="chart">
    <div class="plot" role="img" aria-label="${words}" data-own data-series="${figures}"></div>
    <details>
      <summary>In numbers</summary>
      <div class="scroll" tabindex="0" role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              ${table.head.map((name, index) => html`<th scope="col" class="${index > 0 ? 'number' : ''}">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${table.rows.map(
              ([name = '', ...cells]) =>
                html`<tr>
                  <th scope="row">${name}</th>
                  ${cells.map((cell) => html`<td class="number">${cell}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`;
}
