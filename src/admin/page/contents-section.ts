/** What is in the mirror: vendors by state, and what is owed in each currency, today and over time. */
import { currencyDigits, grouped, money } from '../../domain/amounts.ts';
import type { AccountFacts } from '../../health/judge.ts';
import { vendorCounts } from '../../health/status-document.ts';
import type { CurrencyFigures, Figures } from '../../store/reports/figures.ts';
import { chart, count, counted, date, html, type Html } from './html.ts';

/** So many currencies are drawn, those of most vendors; all are listed. */
const maxDrawn = 4;

export function contentsSection(facts: AccountFacts, figures: Figures | null): Html {
  return html`<section id="contents" aria-labelledby="contents-title">
    <h2 id="contents-title">What is in it</h2>
    ${states(facts)}
    ${figures === null ? html`<p class="soft">What is owed is being calculated.</p>` : owed(figures.money)}
  </section>`;
}

function states({ counts }: AccountFacts): Html {
  const { active, archived, deleted, unknown, suspect, missing, gone } = vendorCounts(counts);
  const rare: readonly (readonly [string, number, string])[] = [
    ['State unknown', unknown, 'The service did not report their state'],
    ['Suspect', suspect, 'Not in the last list; being checked'],
    ['Missing', missing, 'No longer in any list'],
    ['Gone', gone, 'The service says they no longer exist'],
  ];
  return html`<dl class="tiles">
    ${tile('Active', count(active), 'vendors', 'main')} ${tile('Archived', count(archived), 'vendors')}
    ${tile('Deleted', count(deleted), 'vendors')}
    ${rare.filter(([, vendors]) => vendors > 0).map(([name, vendors, why]) => tile(name, count(vendors), why, 'odd'))}
  </dl>`;
}

function tile(name: string, value: string, note: string, kind = 'plain'): Html {
  return html`<div class="tile ${kind}">
    <dt>${name}</dt>
    <dd>${value} <small>${note}</small></dd>
  </div>`;
}

function owed(currencies: readonly CurrencyFigures[]): Html {
  if (currencies.length === 0) return html`<p class="soft">Nothing is owed to active vendors.</p>`;
  const unreadable = currencies.reduce((total, currency) => total + currency.unreadable, 0);
  const drawn = [...currencies]
    .filter(({ days }) => days.length > 1)
    .sort((a, b) => b.vendors - a.vendors)
    .slice(0, maxDrawn);
  return html`<div class="owing">
    <div>
      <div class="scroll" tabindex="0" role="group" aria-label="Owed to active vendors">
        <table class="owed">
          <caption>
            Owed to active vendors
          </caption>
          <thead>
            <tr>
              <th scope="col">Currency</th>
              <th scope="col" class="number">Outstanding</th>
              <th scope="col" class="number">Overdue</th>
            </tr>
          </thead>
          <tbody>
            ${currencies.map(
              ({ code, outstanding, overdue }) =>
                html`<tr>
                  <th scope="row"><bdi>${code}</bdi></th>
                  <td class="number">${grouped(outstanding, code)}</td>
                  <td class="number late">${grouped(overdue, code)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${
        unreadable === 0
          ? null
          : html`<p class="soft">
              ${counted(unreadable, 'amount')} could not be read, and ${unreadable === 1 ? 'is' : 'are'} left out.
            </p>`
      }
    </div>
    ${
      drawn.length === 0
        ? html`<p class="soft">Charts of these amounts over time begin tomorrow: this mirror began today (UTC).</p>`
        : html`<div class="pair">${drawn.map(history)}</div>`
    }
  </div>`;
}

function history({ code, days }: CurrencyFigures): Html {
  const places = currencyDigits(code);
  const major = (minor: bigint): number => Number(minor) / 10 ** places;
  const ends = days.filter(
    ({ day }, index) => index === days.length - 1 || days[index + 1]?.day.slice(0, 7) !== day.slice(0, 7),
  );
  const [first] = days;
  const drawing = chart({
    words: `Outstanding and overdue ${code}, day by day since ${first ? date(first.day) : 'today'}`,
    grain: 'day',
    kind: 'line',
    places,
    at: days.map(({ day }) => day),
    series: [
      { name: 'Outstanding', tone: 'ink-1', values: days.map(({ outstanding }) => major(outstanding)) },
      { name: 'Overdue', tone: 'ink-2', values: days.map(({ overdue }) => major(overdue)) },
    ],
    table: {
      head: ['At the end of', 'Outstanding', 'Overdue'],
      rows: ends.map(({ day, outstanding, overdue }) => [day, money(outstanding, code), money(overdue, code)]),
    },
  });
  return html`<div>
    <h3><bdi>${code}</bdi> over time</h3>
    ${drawing}
  </div>`;
}
