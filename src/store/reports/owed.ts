/** What is owed: the view `owed`, and what the view `owed_by_day` says of active vendors. Nothing here adds anything up. */
import { sql } from 'kysely';
import { owedText, type OwedAmount } from '../../domain/amounts.ts';
import { timestamp } from '../../domain/clock.ts';
import type { StateWord } from '../../domain/vendor.ts';
import { statement, Operations, type Connection, type None, type OfAccount } from '../sql/statement.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { OwedView } from '../sql/schema.ts';

const dayMs = 86_400_000;
/** A year and today. */
const daysDrawn = 366;

export interface Owed {
  readonly outstanding: OwedAmount;
  readonly overdue: OwedAmount;
}

export interface OwedRow extends Owed {
  readonly state: OwedView['state'];
  readonly currency: string;
  /** Number of vendors whose outstanding amount is not zero. */
  readonly vendors: number;
  /** Amounts that are not decimal numbers, and are left out. */
  readonly unreadable: number;
}

export interface OwedReport {
  readonly rows: readonly OwedRow[];
  /** Vendors whose balances cannot be read at all, so that nobody knows in which currency they are owed. */
  readonly unknown: number;
}

/** The columns of an amount; minor units as text, because they may exceed the range of a number. */
interface AmountColumns {
  readonly outstanding: number;
  readonly overdue: number;
  readonly outstanding_minor: string | null;
  readonly overdue_minor: string | null;
}

const amounts = sql`outstanding, overdue, CAST(outstanding_minor AS TEXT) AS outstanding_minor,
  CAST(overdue_minor AS TEXT) AS overdue_minor`;

type OwedColumns = AmountColumns & Pick<OwedView, 'state' | 'currency' | 'vendors' | 'unreadable'>;

/** What is owed in an account, by state and currency. Adds up all open balances: 100 ms for 200,000 vendors. */
export function owedReport(db: Connection): (accountId: string) => Promise<OwedReport> {
  const all = statement(db)<OfAccount, OwedColumns>`
    SELECT state, currency, vendors, unreadable, ${amounts} FROM owed
    WHERE account_id = ${'accountId'} ORDER BY state, currency`;
  return async (accountId) => {
    const found = (await all.all({ accountId })).map(withoutBlobs);
    return {
      rows: found.flatMap((row) => {
        const { state, currency, vendors, unreadable } = row;
        return currency === null ? [] : [{ state, currency, vendors, unreadable, ...amountsOf(row) }];
      }),
      unknown: found.reduce((sum, { currency, unreadable }) => sum + (currency === null ? unreadable : 0), 0),
    };
  };
}

/** What is owed to active vendors of an account in one currency. */
export interface AccountOwed extends Owed {
  readonly account: string;
  readonly currency: string;
}

/** What is owed in every account. Adds up all open balances. */
export function owedByAccount(db: Connection): () => Promise<AccountOwed[]> {
  type Row = AmountColumns & { readonly account: string; readonly currency: string };
  const all = statement(db)<None, Row>`
    SELECT account_id AS account, currency, ${amounts} FROM owed
    WHERE state = 'active' AND currency IS NOT NULL ORDER BY account_id, currency`;
  return async () =>
    (await all.all({})).map((row) => ({ account: row.account, currency: row.currency, ...amountsOf(row) }));
}

/** What is owed to active vendors in one currency. */
export interface CurrencyOwed extends Owed {
  readonly code: string;
}

/** The sums over all accounts, by currency. */
export function owedInAll(owed: readonly AccountOwed[]): CurrencyOwed[] {
  const sums = new Map<string, CurrencyOwed>();
  for (const { currency: code, outstanding, overdue } of owed) {
    const before = sums.get(code) ?? { outstanding: nothing, overdue: nothing };
    sums.set(code, {
      code,
      outstanding: plus(before.outstanding, outstanding),
      overdue: plus(before.overdue, overdue),
    });
  }
  return [...sums.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}

const nothing: OwedAmount = { value: 0, minor: 0n };

function plus(a: OwedAmount, b: OwedAmount): OwedAmount {
  return { value: a.value + b.value, minor: a.minor === null || b.minor === null ? null : a.minor + b.minor };
}

/** What is owed to one vendor in one currency. */
export interface Payable extends Owed {
  readonly vendorid: number;
  readonly vendor: string | null;
  readonly state: StateWord;
  readonly currency: string;
}

/** The largest payables of each currency: what is outstanding, what of it is overdue, and what is owed to vendors that are not active. */
export interface Payables {
  readonly outstanding: readonly Payable[];
  readonly overdue: readonly Payable[];
  readonly inactive: readonly Payable[];
}

/** So many of each currency are shown, and so many in all. */
const [largestOfCurrency, largestShown] = [3, 12];

/** The largest payables of an account, of which `owedReport` said what is owed: those of the currency with most vendors first. */
export function largestPayables(db: Connection): (accountId: string, report: OwedReport) => Promise<Payables> {
  type Row = AmountColumns & Pick<Payable, 'vendorid' | 'vendor' | 'state'>;
  const isActive = ({ state }: OwedRow): boolean => state === 'active';
  const largest = (amount: typeof amounts, ofActive: boolean) => {
    // The names are joined to the few rows that are shown.
    const states = ofActive ? sql`state = 'active'` : sql`state IN ('archived', 'deleted', 'unknown')`;
    const rows = statement(db)<OfAccount & { currency: string; shown: number }, Row>`
      SELECT p.vendorid, v.vendor_name AS vendor, state, ${amounts} FROM (
        SELECT vendorid, state, outstanding, overdue, outstanding_minor, overdue_minor FROM balance_history
        WHERE account_id = ${'accountId'} AND ${states} AND currency = ${'currency'} AND valid_to IS NULL AND ${amount} > 0
        ORDER BY ${amount} DESC, vendorid LIMIT +${'shown'}) AS p
      JOIN vendors AS v ON v.account_id = ${'accountId'} AND v.vendorid = p.vendorid
      ORDER BY ${amount} DESC, p.vendorid`;
    return async (accountId: string, report: OwedReport): Promise<Payable[]> => {
      const found: Payable[] = [];
      for (const currency of byVendors(report.rows.filter((row) => isActive(row) === ofActive))) {
        const shown = Math.min(largestOfCurrency, largestShown - found.length);
        if (shown === 0) break;
        for (const row of await rows.all({ accountId, currency, shown })) {
          const { vendorid, vendor, state } = withoutBlobs(row);
          found.push({ vendorid, vendor, state, currency, ...amountsOf(row) });
        }
      }
      return found;
    };
  };
  const outstanding = largest(sql`outstanding`, true);
  const overdue = largest(sql`overdue`, true);
  const inactive = largest(sql`outstanding`, false);
  return async (accountId, report) => ({
    outstanding: await outstanding(accountId, report),
    overdue: await overdue(accountId, report),
    inactive: await inactive(accountId, report),
  });
}

/** The currencies of the rows, that of most vendors first. */
function byVendors(rows: readonly OwedRow[]): string[] {
  const vendors = new Map<string, number>();
  for (const row of rows) vendors.set(row.currency, (vendors.get(row.currency) ?? 0) + row.vendors);
  return [...vendors].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1)).map(([currency]) => currency);
}

/** What is owed to vendors that are not active, in words; nothing where it is zero. */
export function owedElsewhere({ rows }: OwedReport): string[] {
  return rows
    .filter(({ state, outstanding, overdue }) => state !== 'active' && (outstanding.value !== 0 || overdue.value !== 0))
    .map(({ state, currency, outstanding, overdue }) => {
      const whom = state === 'unknown' ? 'vendors of unknown state' : `${state} vendors`;
      const late = overdue.value === 0 ? '' : ` (overdue ${owedText(overdue, currency)})`;
      return `${owedText(outstanding, currency)} ${currency}${late} to ${whom}`;
    });
}

function amountsOf(row: AmountColumns): Owed {
  const amount = (value: number, minor: string | null): OwedAmount => ({
    value,
    minor: minor === null ? null : BigInt(minor),
  });
  return {
    outstanding: amount(row.outstanding, row.outstanding_minor),
    overdue: amount(row.overdue, row.overdue_minor),
  };
}

type Day = Owed & { readonly day: string };

type Closing = AmountColumns & { readonly currency: string; readonly day: string; readonly until: string | null };

/** What was owed to active vendors at the end of each day. Past days do not change, so they are read once. */
export class OwedHistory extends Operations {
  readonly #closings = statement(this.db)<OfAccount & { oldest: string }, Closing>`
    SELECT currency, day, until, ${amounts} FROM _owed_closings
    WHERE account_id = ${'accountId'} AND state = 'active' AND (until IS NULL OR until > ${'oldest'})
    ORDER BY currency, day`;
  readonly #known = new Map<string, { readonly today: string; readonly days: ReadonlyMap<string, readonly Day[]> }>();

  /** The days before today by currency, from the first known day or a year ago. @param now milliseconds since 1970 */
  async before(accountId: string, now: number): Promise<ReadonlyMap<string, readonly Day[]>> {
    const today = timestamp(now).slice(0, 10);
    const known = this.#known.get(accountId);
    if (known?.today === today) return known.days;
    const dates = Array.from({ length: daysDrawn - 1 }, (_, index) =>
      timestamp(now - (daysDrawn - 1 - index) * dayMs).slice(0, 10),
    );
    const days = new Map<string, Day[]>();
    for (const closing of (await this.#closings.all({ accountId, oldest: dates[0] ?? today })).map(withoutBlobs)) {
      const { currency, day: from, until } = closing;
      const owed = amountsOf(closing);
      const own = days.get(currency) ?? [];
      own.push(
        ...dates.filter((day) => day >= from && (until === null || day < until)).map((day) => ({ day, ...owed })),
      );
      days.set(currency, own);
    }
    this.#known.set(accountId, { today, days });
    return days;
  }
}
