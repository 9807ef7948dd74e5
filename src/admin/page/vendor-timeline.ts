/** The page of one vendor: what it is, what is owed, and its timeline, each change from what to what. */
import { decimalAmount } from '../../domain/amounts.ts';
import type { Balance } from '../../domain/vendor.ts';
import {
  type Change,
  readTimeline,
  fieldChanges,
  learnedBy,
  type FieldChange,
} from '../../store/reports/change-feed.ts';
import { storedDetails, type StoredDetail } from '../../store/reports/vendor-detail.ts';
import type { Query } from '../../store/sql/statement.ts';
import {
  changeWords,
  changedFields,
  page,
  type Page,
  ago,
  amountText,
  clockTime,
  html,
  type Html,
  namedValues,
} from './html.ts';
import { stateWords } from './vendor-browser.ts';

const maxChanges = 100;

export interface VendorHistory {
  readonly detail: StoredDetail;
  /** The latest first. */
  readonly timeline: readonly (Change & { readonly fields: readonly FieldChange[] })[];
  /** Whether there is more than that. */
  readonly older: boolean;
}

/** Undefined where the mirror holds no such vendor. */
export function vendorHistory(query: Query, account: string, vendorid: number): Promise<VendorHistory | undefined> {
  return query(async (snapshot) => {
    const [detail] = await storedDetails(snapshot, vendorid, account);
    if (!detail) return undefined;
    const key = { account_id: account, vendorid };
    const { timeline, older } = await readTimeline(snapshot, key, { before: undefined, limit: maxChanges });
    const [from, to] = [timeline.at(-1)?.seq ?? 0, timeline[0]?.seq ?? 0];
    const fields = await fieldChanges(snapshot, { ...key, from, to });
    return {
      detail,
      timeline: timeline.map((change) => ({ ...change, fields: fields.filter(({ seq }) => seq === change.seq) })),
      older: older !== null,
    };
  });
}

const root = '../../';

export function vendorPageOf({ detail, timeline, older }: VendorHistory, now: number): Page {
  const { vendor, safeAsOf } = detail;
  const name = vendor.vendor_name ?? `Vendor ${vendor.vendorid}`;
  const content = html`<main id="main">
    <section id="vendor">
      <p class="soft">
        Vendor ${vendor.vendorid} of account
        <a href="${root}?account=${vendor.account_id}">${vendor.account_id}</a>
      </p>
      <h1><bdi>${name}</bdi> <span class="pill ${tone(vendor)}">${stateWords(vendor)}</span></h1>
      ${owed(detail)} ${facts(detail)}
      <p class="soft">
        ${
          safeAsOf === null
            ? 'The mirror has never been complete.'
            : html`Every change up to ${clockTime(now, safeAsOf)}, ${ago(now, safeAsOf)}, is here.`
        }
        Last changed here ${ago(now, vendor.changed_at)}.
      </p>
    </section>
    <section id="timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <ol class="timeline">
        ${timeline.map((change) => entry(change, now))}
      </ol>
      ${older ? html`<p class="soft"><code>vendor-mirror changes</code> lists earlier changes.</p>` : null}
    </section>
  </main>`;
  return page({ title: name, root, now, content });
}

function tone(vendor: StoredDetail['vendor']): string {
  if (vendor.presence !== 'present') return 'bad';
  return vendor.vis_state === 0 ? 'good' : 'fair';
}

/** An amount that is no number may be one. */
function isLate(balance: Balance): boolean {
  const amount = decimalAmount(balance);
  return amount === null || amount > 0;
}

const kindOrder = ['outstanding', 'overdue'];

/** Fields that the service sent, and that could not be read. */
function unreadable({ unreadable_fields: fields }: StoredDetail['vendor']): readonly string[] {
  return JSON.parse(fields ?? '[]') as string[];
}

function owed({ vendor, balances }: StoredDetail): Html {
  const isUnread = ['outstanding_balance', 'overdue_balance'].some((field) => unreadable(vendor).includes(field));
  if (balances.length === 0)
    return html`<p class="soft">
      ${isUnread ? 'What is owed to this vendor could not be read.' : 'Nothing is owed to this vendor.'}
    </p>`;
  return html`<ul class="sums">
    ${[...balances]
      .sort((a, b) => kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind))
      .map(
        ({ kind, amount, code }) =>
          html`<li class="${kind === 'overdue' && isLate({ amount, code }) ? 'late' : ''}">
            <small>${kind}</small> <b><bdi>${amountText({ amount, code })}</bdi></b>
          </li>`,
      )}
  </ul>`;
}

/** Fields of the vendor that people know it by; those that are not set are left out. */
const shown = [
  ['account_number', 'Account number'],
  ['primary_contact_email', 'E-mail'],
  ['phone', 'Phone'],
  ['street', 'Street'],
  ['street2', ''],
  ['postal_code', 'Postal code'],
  ['city', 'City'],
  ['province', 'Province'],
  ['country', 'Country'],
  ['website', 'Website'],
  ['currency_code', 'Currency'],
  ['language', 'Language'],
  ['note', 'Note'],
] as const;

function facts({ vendor, taxDefaults }: StoredDetail): Html {
  const contact = [vendor.primary_contact_first_name, vendor.primary_contact_last_name].filter(Boolean).join(' ');
  const rows: (readonly [string, string])[] = [
    ...(contact === '' ? [] : [['Contact', contact] as const]),
    ...shown.flatMap(([field, name]) => {
      const value = vendor[field];
      return value === null || value === '' ? [] : [[name || 'Street, continued', value] as const];
    }),
    ...(vendor.is_1099 === 1 ? [['1099', 'yes'] as const] : []),
    ...taxDefaults.map(
      ({ name, amount, enabled }) => ['Tax', `${name ?? '–'} ${amount ?? ''}${enabled === 0 ? ' (off)' : ''}`] as const,
    ),
  ];
  const unread = unreadable(vendor);
  return html`<dl class="facts">
    ${namedValues(rows)} ${unread.length === 0 ? null : namedValues([['Could not be read', unread.join(', ')]])}
  </dl>`;
}

function entry(change: VendorHistory['timeline'][number], now: number): Html {
  return html`<li>
    <b>${changeWords[change.kind]}</b> ${ago(now, change.at)}, ${clockTime(now, change.at)}
    <small>learned by ${learnedBy[change.source]}</small>
    ${changedFields(change.fields)}
  </li>`;
}

export function noVendorPage(now: number): Page {
  const content = html`<main id="main">
    <section>
      <h1>The mirror holds no such vendor.</h1>
      <p>Search by name, number or e-mail address in the box above.</p>
    </section>
  </main>`;
  return page({ title: 'No such vendor', root, now, content });
}
