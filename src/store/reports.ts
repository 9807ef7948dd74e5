/** What the mirror holds of each account, how fresh it is, and what went on lately. */
import { sql } from 'kysely';
import type { Sqlite } from './driver.ts';
import { mirrorSql, statement } from './statement.ts';
import type { CallbackTable, FindingKind, FreshnessView, RunTable, VendorTable } from './tables.ts';

export type VendorCount = Pick<VendorTable, 'vis_state' | 'presence'> & { readonly vendors: number };

/** What is owed to the active vendors in one currency, in its minor unit. */
export interface CurrencyTotal {
  readonly code: string;
  readonly kind: 'outstanding' | 'overdue';
  readonly minor: bigint;
  /** Amounts that are no decimal number of that currency, and are left out. */
  readonly unreadable: number;
}

interface QueueReport {
  /** Marked vendors that wait to be read. */
  readonly waiting: number;
  /** Marked vendors that were given up until the next reconciliation. */
  readonly parked: number;
}

export type ReportedRun = Omit<RunTable, 'id' | 'account_id' | 'pid' | 'began_seq'> & { readonly id: number };
export type ReportedCallback = Omit<CallbackTable, 'account_id'>;

export interface AccountReport {
  readonly account: string;
  readonly counts: readonly VendorCount[];
  readonly totals: readonly CurrencyTotal[];
  readonly freshness: Omit<FreshnessView, 'account_id'>;
  readonly queue: QueueReport;
  /** The latest runs, newest first. */
  readonly runs: readonly ReportedRun[];
  /** Differences that the newest run met, by kind. */
  readonly findings: readonly { readonly kind: FindingKind; readonly count: number }[];
  readonly callbacks: readonly ReportedCallback[];
}

interface Of {
  account: string;
}

/** Reports on every account of the mirror, or on one; with its `latest` runs. */
export function accountReports(sqlite: Sqlite, account: string | undefined, latest: number): AccountReport[] {
  const accounts = statement<object, FreshnessView>(sqlite, () =>
    mirrorSql.selectFrom('freshness').selectAll().orderBy('account_id'),
  );
  const counts = countVendors(sqlite);
  const totals = totalAmounts(sqlite);
  const queue = measureQueue(sqlite);
  const runs = latestRuns(sqlite, latest);
  const findings = latestFindings(sqlite);
  const callbacks = statement<Of, ReportedCallback>(sqlite, (at) =>
    mirrorSql
      .selectFrom('callbacks')
      .select(['callbackid', 'event', 'uri', 'verified', 'checked_at'])
      .where('account_id', '=', at.account)
      .orderBy('callbackid'),
  );
  return accounts
    .all({})
    .filter(({ account_id }) => account === undefined || account_id === account)
    .map(({ account_id, ...freshness }) => {
      const of = { account: account_id };
      return {
        account: account_id,
        counts: counts.all(of),
        totals: totals.all(of).map(total),
        freshness,
        queue: queue.get(of) ?? { waiting: 0, parked: 0 },
        runs: runs.all(of),
        findings: findings.all(of),
        callbacks: callbacks.all(of),
      };
    });
}

type Statements<Row> = ReturnType<typeof statement<Of, Row>>;

function countVendors(sqlite: Sqlite): Statements<VendorCount> {
  return statement<Of, VendorCount>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select((eb) => ['vis_state', 'presence', eb.fn.countAll<number>().as('vendors')])
      .where('account_id', '=', at.account)
      .groupBy(['vis_state', 'presence'])
      .orderBy('vis_state')
      .orderBy('presence'),
  );
}

/** A sum in two halves: whole billions, and what is below, neither of which can leave the range of a number. */
type HalvedTotal = Pick<CurrencyTotal, 'code' | 'kind' | 'unreadable'> & {
  billions: number | null;
  rest: number | null;
};

function totalAmounts(sqlite: Sqlite): Statements<HalvedTotal> {
  return statement<Of, HalvedTotal>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendor_balances as b')
      .innerJoin('vendors as v', (join) =>
        join.onRef('v.account_id', '=', 'b.account_id').onRef('v.vendorid', '=', 'b.vendorid'),
      )
      .select(['b.code', 'b.kind'])
      .select([
        sql<number>`sum(b.amount_minor / 1000000000)`.as('billions'),
        sql<number>`sum(b.amount_minor % 1000000000)`.as('rest'),
        sql<number>`count(*) - count(b.amount_minor)`.as('unreadable'),
      ])
      .where('b.account_id', '=', at.account)
      .where('v.vis_state', '=', 0)
      .where('v.presence', '=', 'present')
      .groupBy(['b.code', 'b.kind'])
      .orderBy('b.code')
      .orderBy('b.kind', 'desc'),
  );
}

function total({ code, kind, unreadable, billions, rest }: HalvedTotal): CurrencyTotal {
  return { code, kind, unreadable, minor: BigInt(billions ?? 0) * 1_000_000_000n + BigInt(rest ?? 0) };
}

function measureQueue(sqlite: Sqlite): Statements<QueueReport> {
  return statement<Of, QueueReport>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select([sql<number>`count(due_at)`.as('waiting'), sql<number>`count(*) - count(due_at)`.as('parked')])
      .where('account_id', '=', at.account),
  );
}

function latestRuns(sqlite: Sqlite, count: number): Statements<ReportedRun> {
  return statement<Of, ReportedRun>(sqlite, (at) =>
    mirrorSql
      .selectFrom('runs')
      .select(['id', 'kind', 'trigger', 'started_at', 'finished_at', 'outcome', 'pages', 'requests', 'seen'])
      .select(['created', 'updated', 'unchanged', 'suspects', 'error', 'safe_as_of'])
      .where('account_id', '=', at.account)
      .orderBy('id', 'desc')
      .limit(count),
  );
}

function latestFindings(sqlite: Sqlite): Statements<AccountReport['findings'][number]> {
  return statement<Of, AccountReport['findings'][number]>(sqlite, (at) =>
    mirrorSql
      .selectFrom('findings')
      .select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
      .where('run_id', '=', (eb) =>
        eb
          .selectFrom('runs')
          .select((run) => run.fn.max('id').as('id'))
          .where('account_id', '=', at.account),
      )
      .groupBy('kind')
      .orderBy('kind'),
  );
}
