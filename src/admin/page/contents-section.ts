/**
 * What is in the mirror: vendors by state; what is owed in each currency, today and over time; and whom: the largest amounts, vendors that are
 * archived or deleted and still owed, and whose name, account or contact changed.
 */
import { currencyDigits, owedText, type OwedAmount } from '../../domain/amounts.ts';
import { insteadOf } from '../../domain/optional-requests.ts';
import { counted } from '../../domain/size.ts';
import type { AccountFacts } from '../../health/judge.ts';
import { learnedText, vendorCounts } from '../../health/status-document.ts';
import type { VendorCount } from '../../store/account-reports.ts';
import type { CurrencyFigures, Figures, ContactFigure } from '../../store/reports/figures.ts';
import { owedElsewhere, type Owed, type OwedReport, type Payable } from '../../store/reports/owed.ts';
import { ago, chart, count, date, html, type Html, changedFields, vendorLink } from './html.ts';
import { learnedBy } from '../../store/reports/change-feed.ts';

/** So many currencies are drawn, those of most vendors; all are listed. */
const maxDrawn = 4;

export function contentsSection(facts: AccountFacts, figures: Figures | null, now: number): Html {
  return html`<section id="contents" aria-labelledby="contents-title">
    <h2 id="contents-title">What is owed</h2>
    <div class="pair">
      <div>
        ${figures === null ? html`<p class="soft">What is owed is being calculated.</p>` : owed(facts, figures)}
      </div>
      ${
        facts.counts.length === 0 && facts.freshness.last_complete_sweep === null
          ? html`<div>
              <h3>Vendors</h3>
              <p class="soft">None is stored yet.</p>
            </div>`
          : vendorTiles(facts.counts, html`<a href="./vendors?account=${facts.account}">Browse all vendors</a>`)
      }
    </div>
    ${facts.learnedFields.length === 0 ? null : html`<p class="soft">Fields ${learnedText(facts.learnedFields)}.</p>`}
    ${
      facts.notHonoured.length === 0
        ? null
        : html`<p class="soft">
            The service does not honour
            ${facts.notHonoured.map(
              ({ request, since }, index) =>
                html`${index > 0 ? '; ' : ''}<code>${request}</code> since ${ago(now, since)}, so ${insteadOf[request]}`,
            )}.
          </p>`
    }
  </section>`;
}

export function vendorTiles(counts: readonly VendorCount[], browse: Html): Html {
  const { active, archived, deleted, unknown, suspect, missing, gone } = vendorCounts(counts);
  const rare: readonly (readonly [string, number, string])[] = [
    ['State unknown', unknown, 'The service did not report their state'],
    ['Suspect', suspect, 'Not in the last list; being checked'],
    ['Missing', missing, 'No longer in any list'],
    ['Gone', gone, 'The service says they no longer exist'],
  ];
  return html`<div>
    <h3>Vendors</h3>
    <dl class="tiles">
      ${tile('Active', active, null, 'main')} ${tile('Archived', archived, null)} ${tile('Deleted', deleted, null)}
      ${rare.filter(([, vendors]) => vendors > 0).map(([name, vendors, why]) => tile(name, vendors, why, 'odd'))}
    </dl>
    <p class="browse">${browse}</p>
  </div>`;
}

function tile(name: string, vendors: number, why: string | null, kind = 'plain'): Html {
  return html`<div class="tile ${kind}">
    <dt>${name}</dt>
    <dd>${count(vendors)} ${why === null ? null : html`<small>${why}</small>`}</dd>
  </div>`;
}

function owed({ freshness }: AccountFacts, { money: currencies, owed: report }: Figures): Html {
  const isWhole = freshness.last_complete_sweep !== null;
  const rest = leftOut(report);
  if (currencies.length === 0)
    return html`<p class="soft">
        ${isWhole && rest === null ? 'Nothing is owed to active vendors.' : 'What is owed to active vendors is not known.'}
      </p>
      ${others(report)} ${rest}`;
  return html`${owedTable(`Owed to active vendors${isWhole ? '' : ', so far'}`, currencies)} ${others(report)} ${rest}`;
}

/** What is owed day by day, in the currencies of most vendors; null where nothing is owed. */
export function historySection({ money: currencies }: Figures): Html | null {
  if (currencies.length === 0) return null;
  const largest = [...currencies]
    .filter(({ days }) => days.length > 1)
    .sort((a, b) => b.vendors - a.vendors)
    .slice(0, maxDrawn);
  // In the order of the table above them.
  const drawn = currencies.filter((currency) => largest.includes(currency));
  const left = currencies.length - drawn.length;
  return html`<section id="history" aria-labelledby="history-title">
    <h2 id="history-title">What was owed to active vendors, day by day</h2>
    ${
      drawn.length === 0
        ? html`<p class="soft">Charts of these amounts over time begin tomorrow: this mirror began today (UTC).</p>`
        : html`<div class="charts">${drawn.map(history)}</div>`
    }
    ${
      drawn.length === 0 || left === 0
        ? null
        : html`<p class="soft">
            The currencies of most vendors; ${counted(left, 'other')} ${left === 1 ? 'is' : 'are'} not drawn.
          </p>`
    }
  </section>`;
}

export function owedTable(title: string, currencies: readonly (Owed & { readonly code: string })[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}">
    <table class="owed">
      <caption>
        ${title}
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
              <td class="number">${owedText(outstanding, code)}</td>
              <td class="number ${overdue.value > 0 ? 'late' : ''}">${owedText(overdue, code)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** What is owed to vendors that are not active. */
function others(report: OwedReport): Html | null {
  const sums = owedElsewhere(report);
  return sums.length === 0 ? null : html`<p class="soft">Also owed: <bdi>${sums.join('; ')}</bdi>.</p>`;
}

function leftOut({ rows, unknown }: OwedReport): Html | null {
  const amounts = rows.reduce((total, row) => total + row.unreadable, 0);
  if (amounts + unknown === 0) return null;
  const parts = [
    ...(amounts === 0 ? [] : [counted(amounts, 'amount')]),
    ...(unknown === 0 ? [] : [`all or a part of the balances of ${counted(unknown, 'vendor')}`]),
  ];
  return html`<p class="soft">Left out, because they could not be read: ${parts.join(' and ')}.</p>`;
}

function history({ code, days }: CurrencyFigures): Html {
  const places = currencyDigits(code);
  const text = (amount: OwedAmount): string => owedText(amount, code);
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
      { name: 'Outstanding', tone: 'ink-1', values: days.map(({ outstanding }) => outstanding.value) },
      { name: 'Overdue', tone: 'ink-2', values: days.map(({ overdue }) => overdue.value) },
    ],
    table: {
      head: ['At the end of', 'Outstanding', 'Overdue'],
      rows: ends.map(({ day, outstanding, overdue }) => [day, text(outstanding), text(overdue)]),
    },
  });
  return html`<div>
    <h3><bdi>${code}</bdi></h3>
    ${drawing}
  </div>`;
}

/** Null where nothing is known to be owed and no contact changed. */
export function payablesSection(account: string, { payables, contacts }: Figures, now: number): Html | null {
  if (payables.outstanding.length + payables.inactive.length + contacts.length === 0) return null;
  return html`<section id="payables" aria-labelledby="payables-title">
    <h2 id="payables-title">Whom we owe</h2>
    <div class="pair">
      ${largest('Most outstanding', payables.outstanding, 'outstanding', account)}
      ${largest('Most overdue', payables.overdue, 'overdue', account)}
      ${payables.inactive.length === 0 ? null : largest('Archived or deleted, and still owed', payables.inactive, 'outstanding', account)}
      ${contactChanges(contacts, account, now)}
    </div>
  </section>`;
}

function largest(name: string, found: readonly Payable[], amount: 'outstanding' | 'overdue', account: string): Html {
  // In the order of what is owed: lists beside each other begin with the same currency.
  const rows = [...found].sort((a, b) => (a.currency < b.currency ? -1 : Number(a.currency > b.currency)));
  const title = new Set(rows.map(({ currency }) => currency)).size > 1 ? `${name}, by currency` : name;
  if (rows.length === 0)
    return html`<div>
      <h3>${title}</h3>
      <p class="soft">None.</p>
    </div>`;
  return html`<div>
    <h3>${title}</h3>
    <div class="scroll" tabindex="0" role="group" aria-label="${title}">
      <table>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                <th scope="row">
                  ${vendorLink(account, row.vendorid, row.vendor)}
                  ${row.state === 'active' ? null : html`<small>${row.state}</small>`}
                </th>
                <td class="number">${owedText(row[amount], row.currency)} <bdi>${row.currency}</bdi></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

function contactChanges(changes: readonly ContactFigure[], account: string, now: number): Html {
  const title = 'Names, account numbers and contacts changed in seven days';
  const edits = new Map<number, ContactFigure[]>();
  for (const one of changes) edits.set(one.change.seq, [...(edits.get(one.change.seq) ?? []), one]);
  return html`<div>
    <h3>${title}</h3>
    ${changes.length === 0 ? html`<p class="soft">None.</p>` : null}
    <ul class="changes" tabindex="0" aria-label="${title}">
      ${[...edits.values()].map(([edit, ...others]) => (edit ? contactEdit(edit, others, account, now) : null))}
    </ul>
  </div>`;
}

/** The fields that one edit changed, together. */
function contactEdit(edit: ContactFigure, others: readonly ContactFigure[], account: string, now: number): Html {
  const { at, source, user, vendorid, vendor } = edit;
  return html`<li>
    ${vendorLink(account, vendorid, vendor)}
    <small> ${ago(now, at)}, learned by ${learnedBy[source]}${user === null ? '' : `, changed by user ${user}`} </small>
    ${changedFields([edit, ...others].map(({ change }) => change))}
  </li>`;
}
