/**
 * The list of all vendors, or of those that a person searched for: a page of it, in the order that they chose, of one account or of all; and the
 * short list of what is found while they type a name, number or e-mail address, which leads there.
 */
import { counted } from '../../domain/size.ts';
import {
  isAmountUnread,
  type ListedVendor,
  type VendorList,
  type VendorOrder,
  isVendorId,
  vendorsFrom,
} from '../../store/reports/vendor-list.ts';
import { ago, amountLines, count, html, page, vendorLink, type Html, type Page, amountText } from './html.ts';
import { inOrder } from '../../domain/concurrency.ts';
import type { Presence } from '../../domain/presence.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Balance, VisState } from '../../domain/vendor.ts';
import { accountIds } from '../../store/reports/known-accounts.ts';
import { accountsWith, storedDetails } from '../../store/reports/vendor-detail.ts';
import type { VendorKey } from '../../store/sql/schema.ts';
import type { Query } from '../../store/sql/statement.ts';

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

interface Hit {
  readonly account_id: string;
  readonly vendorid: number;
  readonly vendor_name: string | null;
  readonly primary_contact_email: string | null;
  readonly vis_state: VisState | null;
  readonly presence: Presence;
  readonly outstanding: readonly Balance[];
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Whether there may be more than those. */
  readonly more: boolean;
  /** Whether the mirror has several accounts, which use the same numbers and names. */
  readonly several: boolean;
}

export interface Wanted {
  /** Part of a name, an address or an account number, or the whole number of a vendor. */
  readonly wanted: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Looks through all vendors of all accounts, few in each turn of the event loop. @throws the signal's reason as soon as it is aborted. */
export async function findVendors(
  query: Query,
  clock: Pick<Clock, 'yield'>,
  { wanted, limit, signal }: Wanted,
): Promise<Found> {
  const { hits, isAll } = isVendorId(wanted) ? await numbered(query, Number(wanted), limit) : { hits: [], isAll: true };
  const known = new Set(hits.map(nameOf));
  let after: VendorKey | null | undefined;
  do {
    const asked = { search: wanted, limit: limit - hits.length, after: after ?? undefined };
    const found = await vendorsFrom(query, clock, asked, signal);
    hits.push(...found.vendors.filter((vendor) => !known.has(nameOf(vendor))));
    after = found.next;
  } while (after && hits.length < limit);
  const several = await query(async (snapshot) => (await accountIds(snapshot)).length > 1);
  return { hits, more: !isAll || after !== null, several };
}

const nameOf = ({ account_id, vendorid }: VendorKey): string => `${account_id}:${vendorid}`;

/** The vendors of that number, and whether they are all. */
function numbered(query: Query, vendorid: number, limit: number): Promise<{ hits: Hit[]; isAll: boolean }> {
  return query(async (snapshot) => {
    const accounts = await accountsWith(snapshot, vendorid);
    const found = await inOrder(accounts.slice(0, limit), (account) => storedDetails(snapshot, vendorid, account));
    const hits = found.flat().map(({ vendor, balances }) => ({
      ...vendor,
      outstanding: balances.filter(({ kind }) => kind === 'outstanding'),
    }));
    return { hits, isAll: accounts.length <= limit };
  });
}

const noneFound = 'No vendor has this name, number or e-mail address.';

/** What stands below the search box. */
export function searchResults({ hits, more, several }: Found, root: string): Html {
  if (hits.length === 0) return html`<p>${noneFound}</p>`;
  const count = counted(hits.length, 'vendor');
  return html`<p>${more ? `The first ${count}; type more letters to find others` : count}</p>
    <ul class="hits">
      ${hits.map((hit) => html`<li>${link(hit, root, several)}</li>`)}
    </ul>`;
}

function link(hit: Hit, root: string, several: boolean): Html {
  const { account_id, vendorid, vendor_name, primary_contact_email, ...state } = hit;
  const owed = state.outstanding.map(amountText).join('; ');
  return html`<a href="${root}vendors/${account_id}/${vendorid}">
    <b><bdi>${vendor_name ?? 'No name'}</bdi></b> <span class="sum">${owed}</span>
    <small
      >${several ? `Account ${account_id} · ` : ''}${vendorid}${primary_contact_email ? html` · <bdi>${primary_contact_email}</bdi>` : null}</small
    >
    <small class="sum">${stateWords(state)}</small>
  </a>`;
}

const states = ['active', 'deleted', 'archived'] as const;

/** In one word; what is not in the lists is no longer a question of its state. */
export function stateWords({ vis_state, presence }: Pick<Hit, 'vis_state' | 'presence'>): string {
  if (presence !== 'present') return presence;
  return vis_state === null ? 'state unknown' : states[vis_state];
}
