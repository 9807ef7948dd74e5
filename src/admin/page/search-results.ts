/** What is found while a person types a name, number or e-mail address; the whole list of it is a page of the list of vendors. */
import { inOrder } from '../../domain/concurrency.ts';
import type { Presence } from '../../domain/presence.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Balance, VisState } from '../../domain/vendor.ts';
import { counted } from '../../domain/size.ts';
import { accountIds } from '../../store/reports/known-accounts.ts';
import { accountsWith, storedDetails } from '../../store/reports/vendor-detail.ts';
import { isVendorId, vendorsFrom } from '../../store/reports/vendor-list.ts';
import type { VendorKey } from '../../store/sql/schema.ts';
import type { Query } from '../../store/sql/statement.ts';
import { amountText, html, type Html } from './html.ts';

/** One that was found. */
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

export const noneFound = 'No vendor has this name, number or e-mail address.';

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
