/** Whom we owe: the largest amounts, vendors that are archived or deleted and still owed, and whose name, account or contact changed. */
import { owedText } from '../../domain/amounts.ts';
import { learnedBy } from '../../store/reports/change-feed.ts';
import type { ContactFigure, Figures } from '../../store/reports/figures.ts';
import type { Payable } from '../../store/reports/owed.ts';
import { ago, changedFields, html, vendorLink, type Html } from './html.ts';

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
