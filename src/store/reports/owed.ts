/**
 * Amounts owed in each currency at the end of each day. Past days do not change, so they are computed once; only today is computed again.
 * Vendors that are active now count for their whole time, others for as long as they were active.
 */
import { sql, type RawBuilder } from 'kysely';
import { parseInstant, timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import { statement, type At, type OfAccount, type Statement } from '../sqlite/statement.ts';
import type { Owed } from './figures.ts';

const dayMs = 86_400_000;
/** A year and today. */
const daysDrawn = 366;

/** What was added on a day, in two parts, billions and the rest, so that neither exceeds the range of a number. */
interface Step {
  readonly code: string;
  readonly day: string;
  readonly outstanding_billions: number;
  readonly outstanding_rest: number;
  readonly overdue_billions: number;
  readonly overdue_rest: number;
}

type Day = Owed & { readonly day: string };

export class MoneyHistory {
  readonly #steps: Statement<OfAccount, Step>;
  readonly #known = new Map<string, { readonly today: string; readonly days: ReadonlyMap<string, readonly Day[]> }>();

  constructor(sqlite: Sqlite) {
    this.#steps = statement(sqlite, steps);
  }

  /** The days before today by currency. @param now milliseconds since 1970 */
  before(accountId: string, now: number): ReadonlyMap<string, readonly Day[]> {
    const today = timestamp(now).slice(0, 10);
    const known = this.#known.get(accountId);
    if (known?.today === today) return known.days;
    const days = daily(this.#steps.all({ accountId }), now);
    this.#known.set(accountId, { today, days });
    return days;
  }
}

const amounts = (sign: 1 | -1): RawBuilder<unknown> => sql`
  sum(outstanding_minor / 1000000000) * ${sign} AS outstanding_billions,
  sum(outstanding_minor % 1000000000) * ${sign} AS outstanding_rest,
  sum(overdue_minor / 1000000000) * ${sign} AS overdue_billions,
  sum(overdue_minor % 1000000000) * ${sign} AS overdue_rest`;

const columns = sql`s.code, s.outstanding_minor, s.overdue_minor`;

const steps = (at: At<OfAccount>): RawBuilder<Step> => sql`
  WITH owed AS (
    SELECT ${columns}, s.valid_from AS began, s.valid_to AS ended
    FROM balance_spans s JOIN vendors v ON v.account_id = s.account_id AND v.vendorid = s.vendorid
    WHERE s.account_id = ${at('accountId')} AND v.vis_state = 0 AND v.presence IN ('present', 'suspect')
    UNION ALL
    SELECT ${columns}, max(s.valid_from, o.valid_from),
      nullif(min(coalesce(s.valid_to, 'z'), coalesce(o.valid_to, 'z')), 'z')
    FROM vendors v
    JOIN vendor_versions o ON o.account_id = v.account_id AND o.vendorid = v.vendorid
    JOIN balance_spans s ON s.account_id = v.account_id AND s.vendorid = v.vendorid
    WHERE v.account_id = ${at('accountId')} AND NOT (v.vis_state = 0 AND v.presence IN ('present', 'suspect'))
      AND o.vis_state = 0 AND o.presence = 'present'
      AND s.valid_from < coalesce(o.valid_to, 'z') AND o.valid_from < coalesce(s.valid_to, 'z')
  )
  SELECT code, substr(began, 1, 10) AS day, ${amounts(1)} FROM owed GROUP BY 1, 2
  UNION ALL
  SELECT code, substr(ended, 1, 10) AS day, ${amounts(-1)} FROM owed WHERE ended IS NOT NULL GROUP BY 1, 2
  ORDER BY 1, 2`;

/** Running sums at the end of each day before today, from the first known day or a year ago. */
function daily(rows: readonly Step[], now: number): Map<string, Day[]> {
  const byCode = grouped(rows);
  const oldest = timestamp(now - (daysDrawn - 1) * dayMs).slice(0, 10);
  const today = timestamp(now).slice(0, 10);
  const result = new Map<string, Day[]>();
  for (const [code, own] of byCode) {
    const first = own[0]?.day ?? today;
    let [outstanding, overdue, place] = [0n, 0n, 0];
    const days: Day[] = [];
    for (let day = first > oldest ? first : oldest; day < today; day = following(day)) {
      for (let row = own[place]; row && row.day <= day; row = own[++place]) {
        outstanding += joined(row.outstanding_billions, row.outstanding_rest);
        overdue += joined(row.overdue_billions, row.overdue_rest);
      }
      days.push({ day, outstanding, overdue });
    }
    result.set(code, days);
  }
  return result;
}

function grouped(rows: readonly Step[]): Map<string, Step[]> {
  const groups = new Map<string, Step[]>();
  for (const row of rows) {
    const group = groups.get(row.code);
    if (group) group.push(row);
    else groups.set(row.code, [row]);
  }
  return groups;
}

function following(day: string): string {
  return timestamp((parseInstant(`${day} 00:00:00`) ?? 0) + dayMs).slice(0, 10);
}

/** The amount owed to active vendors in one currency, in minor units. */
export interface CurrencyTotal {
  readonly code: string;
  readonly kind: 'outstanding' | 'overdue';
  readonly minor: bigint;
  /** How many amounts were added up, zeros included. */
  readonly amounts: number;
  /** Number of vendors whose amount is not zero. */
  readonly vendors: number;
  /** Amounts that are not decimal numbers of the currency, and are left out. */
  readonly unreadable: number;
}

/** A sum in two parts, billions and the rest, so that neither exceeds the range of a number. */
type SplitSum = Omit<CurrencyTotal, 'minor'> & {
  readonly billions: number | null;
  readonly rest: number | null;
};

/** Amounts owed to active vendors of an account. Adds up all balances but those of other vendors: 90 ms for 200,000 vendors. */
export function currencyTotals(sqlite: Sqlite): (accountId: string) => CurrencyTotal[] {
  const totals = statement<OfAccount, SplitSum>(
    sqlite,
    (at) => sql`
  SELECT b.code, b.kind, sum(b.amount_minor / 1000000000) AS billions, sum(b.amount_minor % 1000000000) AS rest,
    count(*) AS amounts, count(*) - count(nullif(b.amount_minor = 0, 0)) AS vendors, count(*) - count(b.amount_minor) AS unreadable
  FROM vendor_balances AS b
  WHERE b.account_id = ${at('accountId')} AND b.vendorid NOT IN (
    SELECT vendorid FROM vendors WHERE account_id = ${at('accountId')} AND (presence IN ('missing', 'gone') OR vis_state IS NOT 0))
  GROUP BY b.code, b.kind
  ORDER BY b.code, b.kind DESC`,
  );
  return (accountId) => totals.all({ accountId }).map(withoutBlobs).map(wholeSum);
}

function wholeSum({ billions, rest, ...counted }: SplitSum): CurrencyTotal {
  return { ...counted, minor: joined(billions, rest) };
}

/** The number that was split into billions and the rest. */
function joined(billions: number | null, rest: number | null): bigint {
  return BigInt(billions ?? 0) * 1_000_000_000n + BigInt(rest ?? 0);
}
