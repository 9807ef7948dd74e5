/** The list of all vendors: a page of it, in the order that a person chose, of one account or of all. */
import type { ListedVendor, VendorList, VendorOrder } from '../../store/reports/vendor-list.ts';
import { ago, amountText, count, counted, html, page, vendorLink, type Html, type Page } from './html.ts';
import { stateWords } from './search-results.ts';

/** What a person chose, as the address of the page says it. */
export interface Chosen {
  readonly account: string | undefined;
  readonly sort: VendorOrder;
  /** From 1. */
  readonly page: number;
}

export const vendorsOnPage = 100;

/** The highest page that an address may ask for. */
const maxPage = 100_000;

const columns = [
  ['name', 'Vendor'],
  ['number', 'Number'],
  ['outstanding', 'Outstanding'],
  ['overdue', 'Overdue'],
  ['changed', 'Changed'],
] as const satisfies readonly (readonly [VendorOrder, string])[];

/** What is not understood is as if it was not there. */
export function chosenIn(query: URLSearchParams): Chosen {
  const sort = columns.map(([order]) => order).find((order) => order === query.get('sort')) ?? 'outstanding';
  const asked = Number(query.get('page') ?? 1);
  const account = /^[A-Za-z0-9_-]{1,64}$/.exec(query.get('account') ?? '')?.[0];
  return { account, sort, page: Number.isInteger(asked) && asked >= 1 ? Math.min(asked, maxPage) : 1 };
}

export function browserPage({ total, vendors }: VendorList, chosen: Chosen, now: number): Page {
  const { account, sort, page: at } = chosen;
  const first = (at - 1) * vendorsOnPage + 1;
  const pages = Math.max(1, Math.ceil(total / vendorsOnPage));
  const shown =
    vendors.length === 0
      ? 'None here'
      : `${count(first)} to ${count(first + vendors.length - 1)} of ${counted(total, 'vendor')}`;
  const ordered =
    sort === 'outstanding' || sort === 'overdue' ? '; amounts are ordered as numbers, whatever their currency' : '';
  const content = html`<main id="main">
    <section aria-labelledby="vendors-title">
      <h1 id="vendors-title">Vendors of ${account === undefined ? 'all accounts' : html`account ${account}`}</h1>
      <p class="soft">
        ${shown}, in every state${ordered}.
        ${account === undefined ? null : html`<a href="${address({ ...chosen, account: undefined, page: 1 })}">All accounts</a>`}
      </p>
      <div class="scroll" tabindex="0" role="group" aria-label="Vendors">
        <table id="vendor-list">
          <thead>
            <tr>
              ${columns.map(([order, name]) => heading(order, name, chosen))}
              <th scope="col">State</th>
              ${account === undefined ? html`<th scope="col">Account</th>` : null}
            </tr>
          </thead>
          <tbody>
            ${vendors.map((vendor) => row(vendor, account === undefined, now))}
          </tbody>
        </table>
      </div>
      <nav class="pages" aria-label="Pages">
        ${at > 1 ? html`<a rel="prev" href="${address({ ...chosen, page: at - 1 })}">Previous</a>` : null}
        <span>Page ${count(at)} of ${count(pages)}</span>
        ${at < pages ? html`<a rel="next" href="${address({ ...chosen, page: at + 1 })}">Next</a>` : null}
      </nav>
    </section>
  </main>`;
  return page({ title: 'Vendors', root: './', now, content });
}

function heading(order: VendorOrder, name: string, chosen: Chosen): Html {
  const isAmount = order === 'outstanding' || order === 'overdue';
  const sorted = order !== chosen.sort ? 'none' : isAmount || order === 'changed' ? 'descending' : 'ascending';
  return html`<th scope="col" class="${isAmount ? 'number' : order === 'name' ? '' : 'rest'}" aria-sort="${sorted}">
    <a href="${address({ ...chosen, sort: order, page: 1 })}">${name}</a>
  </th>`;
}

function row(vendor: ListedVendor, several: boolean, now: number): Html {
  const { account_id, vendorid, vendor_name, outstanding, overdue, changed_at } = vendor;
  return html`<tr>
    <th scope="row">${vendorLink(account_id, vendorid, vendor_name)}</th>
    <td class="rest">${vendorid}</td>
    <td class="number">${outstanding.map(amountText).join('; ')}</td>
    <td class="number">${overdue.map(amountText).join('; ')}</td>
    <td class="rest">${ago(now, changed_at)}</td>
    <td>${stateWords(vendor)}</td>
    ${several ? html`<td>${account_id}</td>` : null}
  </tr>`;
}

function address({ account, sort, page: at }: Chosen): string {
  const query = new URLSearchParams({
    ...(account === undefined ? {} : { account }),
    sort,
    ...(at === 1 ? {} : { page: String(at) }),
  });
  return `./vendors?${query.toString()}`;
}
