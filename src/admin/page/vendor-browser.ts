/** The list of all vendors, or of those that a person searched for: a page of it, in the order that they chose, of one account or of all. */
import { counted } from '../../domain/size.ts';
import {
  isAmountUnread,
  type ListedVendor,
  type VendorList,
  type VendorOrder,
} from '../../store/reports/vendor-list.ts';
import { ago, amountLines, count, html, page, vendorLink, type Html, type Page } from './html.ts';
import { noneFound, stateWords } from './search-results.ts';

/** What a person chose, as the address of the page says it. */
export interface Chosen {
  readonly account: string | undefined;
  /** As in the search box; undefined where nobody searches. */
  readonly search: string | undefined;
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

/** An order or a page that is not understood is as if it was not there. */
export function chosenIn(query: URLSearchParams): Chosen {
  const sort = columns.map(([order]) => order).find((order) => order === query.get('sort')) ?? 'outstanding';
  const asked = Number(query.get('page') ?? 1);
  return {
    account: query.get('account') ?? undefined,
    search: searchIn(query),
    sort,
    page: Number.isInteger(asked) && asked >= 1 ? Math.min(asked, maxPage) : 1,
  };
}

const maxSearch = 200;

/** What is searched for; undefined where that is nothing. */
export function searchIn(query: URLSearchParams): string | undefined {
  return (query.get('q') ?? '').trim().slice(0, maxSearch) || undefined;
}

/** @param several whether the mirror has several accounts, which use the same numbers and names */
export function browserPage({ total, vendors }: VendorList, chosen: Chosen, several: boolean, now: number): Page {
  const { account, search, sort, page: at } = chosen;
  const first = (at - 1) * vendorsOnPage + 1;
  const pages = Math.max(1, Math.ceil(total / vendorsOnPage));
  const ordered =
    sort === 'outstanding' || sort === 'overdue' ? '; amounts are ordered as numbers, whatever their currency' : '';
  const shown =
    vendors.length > 0
      ? `${total === vendors.length ? '' : `${count(first)} to ${count(first + vendors.length - 1)} of `}${counted(total, 'vendor')}, in every state${ordered}.`
      : total > 0
        ? `This page is past the last of ${counted(total, 'vendor')}.`
        : search === undefined
          ? 'None.'
          : noneFound;
  const isOfEach = several && account === undefined;
  const of = !several
    ? null
    : account === undefined
      ? ' of all accounts'
      : html` of account <a href="./?account=${account}">${account}</a>`;
  const content = html`<main id="main">
    <section aria-labelledby="vendors-title">
      <h1 id="vendors-title">Vendors${of}${search === undefined ? null : html` with “<bdi>${search}</bdi>”`}</h1>
      <p class="soft">
        ${shown}
        ${several && account !== undefined ? html`<a href="${address({ ...chosen, account: undefined, page: 1 })}">All accounts</a>` : null}
        ${search === undefined ? null : html`<a href="${address({ ...chosen, search: undefined, page: 1 })}">All vendors</a>`}
      </p>
      ${vendors.length === 0 ? null : table(vendors, chosen, isOfEach, now)}
      ${pages === 1 && at === 1 ? null : steps(chosen, pages)}
    </section>
  </main>`;
  return page({ title: 'Vendors', root: './', wanted: search ?? '', now, content });
}

function table(vendors: readonly ListedVendor[], chosen: Chosen, isOfEach: boolean, now: number): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Vendors">
    <table id="vendor-list">
      <thead>
        <tr>
          ${columns.map(([order, name]) => heading(order, name, chosen))}
          <th scope="col">State</th>
          ${isOfEach ? html`<th scope="col">Account</th>` : null}
        </tr>
      </thead>
      <tbody>
        ${vendors.map((vendor) => row(vendor, chosen, isOfEach, now))}
      </tbody>
    </table>
  </div>`;
}

function steps(chosen: Chosen, pages: number): Html {
  const { page: at } = chosen;
  return html`<nav class="pages" aria-label="Pages">
    ${at > 1 ? html`<a rel="prev" href="${address({ ...chosen, page: Math.min(at - 1, pages) })}">Previous</a>` : null}
    <span>Page ${count(at)} of ${count(pages)}</span>
    ${at < pages ? html`<a rel="next" href="${address({ ...chosen, page: at + 1 })}">Next</a>` : null}
  </nav>`;
}

function heading(order: VendorOrder, name: string, chosen: Chosen): Html {
  const isAmount = order === 'outstanding' || order === 'overdue';
  const sorted = order !== chosen.sort ? 'none' : isAmount || order === 'changed' ? 'descending' : 'ascending';
  return html`<th scope="col" class="${isAmount ? 'number' : ''}" aria-sort="${sorted}">
    <a href="${address({ ...chosen, sort: order, page: 1 })}">${name}</a>
  </th>`;
}

function row(vendor: ListedVendor, { search }: Chosen, isOfEach: boolean, now: number): Html {
  const { account_id, vendorid, vendor_name, primary_contact_email: email, changed_at } = vendor;
  return html`<tr>
    <th scope="row">
      ${vendorLink(account_id, vendorid, vendor_name)}
      ${search !== undefined && email ? html`<small><bdi>${email}</bdi></small>` : null}
    </th>
    <td data-name="Number">${vendorid}</td>
    <td class="number" data-name="Outstanding">${owed(vendor, 'outstanding')}</td>
    <td class="number" data-name="Overdue">${owed(vendor, 'overdue')}</td>
    <td data-name="Changed">${ago(now, changed_at)}</td>
    <td>${stateWords(vendor)}</td>
    ${isOfEach ? html`<td data-name="Account"><a href="./?account=${account_id}">${account_id}</a></td>` : null}
  </tr>`;
}

function owed(vendor: ListedVendor, kind: 'outstanding' | 'overdue'): Html | Html[] {
  return isAmountUnread(vendor, kind) ? html`<bdi>could not be read</bdi>` : amountLines(vendor[kind]);
}

function address({ account, search, sort, page: at }: Chosen): string {
  const query = new URLSearchParams({
    ...(account === undefined ? {} : { account }),
    ...(search === undefined ? {} : { q: search }),
    sort,
    ...(at === 1 ? {} : { page: String(at) }),
  });
  return `./vendors?${query.toString()}`;
}
