/**
 * What the mirror holds of each account, how fresh it is, and what went on lately. These queries are plain SQL: whoever asks
 * only this, as `status` does, need not wait for the query builder to load.
 */
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';
import type { CallbackTable, FindingKind, FreshnessView, RunTable } from '../tables/mirror-tables.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';
import type { RegistrationRefusalTable } from '../tables/webhook-tables.ts';

interface OfAccount {
  readonly accountId: string;
}

export type VendorCount = Pick<VendorTable, 'vis_state' | 'presence'> & { readonly vendors: number };

/** What is owed to the active vendors in one currency, in its minor unit. */
export interface CurrencyTotal {
  readonly code: string;
  readonly kind: 'outstanding' | 'overdue';
  readonly minor: bigint;
  /** How many amounts were added up, zeros included. */
  readonly amounts: number;
  /** Vendors whose amount is not zero. */
  readonly vendors: number;
  /** Amounts that are no decimal number of that currency, and are left out. */
  readonly unreadable: number;
}

interface QueueReport {
  /** Marked vendors that wait to be read. */
  readonly waiting: number;
  /** Marked vendors that were given up until the next reconciliation. */
  readonly parked: number;
}

/** What deliveries said that names no vendor. */
export interface SweepRequestReport {
  /** Since when a sweep is asked for; null where none is. */
  readonly asked_at: string | null;
  /** Deliveries whose `object_id` was the id of a callback of ours, and when the last one came. */
  readonly callback_ids: number;
  readonly callback_id_at: string | null;
}

/** Requests that failed one after the other, since the last that was answered. */
export interface RequestFailureReport {
  readonly requests: number;
  readonly first_at: string;
  readonly last_at: string;
  readonly code: string;
  readonly message: string;
}

/** Why a connection gives no access at present, as the last request that needed one found. */
export type ConnectionFailure = RequestFailureReport & { readonly connection: string };

export type ReportedRun = Omit<RunTable, 'id' | 'account_id' | 'process' | 'began_seq'> & { readonly id: number };
export type ReportedRefusal = Omit<RegistrationRefusalTable, 'account_id'>;
export type ReportedCallback = Omit<CallbackTable, 'account_id'>;

export interface AccountReport {
  readonly account: string;
  readonly counts: readonly VendorCount[];
  readonly totals: readonly CurrencyTotal[];
  readonly freshness: Omit<FreshnessView, 'account_id'>;
  readonly queue: QueueReport;
  readonly sweepRequest: SweepRequestReport;
  /** Null where the last request was answered. */
  readonly failing: RequestFailureReport | null;
  /** The latest runs, newest first. */
  readonly runs: readonly ReportedRun[];
  /** Differences that the newest run met, by kind. */
  readonly findings: readonly { readonly kind: FindingKind; readonly count: number }[];
  readonly callbacks: readonly ReportedCallback[];
  /** Events that the service would not register. */
  readonly refusals: readonly ReportedRefusal[];
}

/** A report without the sums of money, which are the only thing that is not kept or found by an index. */
export type AccountSummary = Omit<AccountReport, 'totals'>;

/** Summaries of single accounts, with their `latest` runs; undefined for an account that the mirror does not know. */
export function accountSummaries(sqlite: Sqlite, latest: number): (accountId: string) => AccountSummary | undefined {
  const freshness = plainStatement<OfAccount, FreshnessView>(
    sqlite,
    'SELECT * FROM freshness WHERE account_id = :accountId',
  );
  const counts = countVendors(sqlite);
  const queue = measureQueue(sqlite);
  const sweepRequest = plainStatement<OfAccount, SweepRequestReport>(
    sqlite,
    'SELECT asked_at, callback_ids, callback_id_at FROM _sweep_requests WHERE account_id = :accountId',
  );
  const failing = plainStatement<OfAccount, RequestFailureReport>(
    sqlite,
    'SELECT requests, first_at, last_at, code, message FROM _request_failures WHERE account_id = :accountId',
  );
  const runs = latestRuns(sqlite);
  const findings = latestFindings(sqlite);
  const callbacks = plainStatement<OfAccount, ReportedCallback>(
    sqlite,
    'SELECT callbackid, event, uri, verified, checked_at FROM callbacks WHERE account_id = :accountId ORDER BY callbackid',
  );
  const refusals = plainStatement<OfAccount, ReportedRefusal>(
    sqlite,
    'SELECT event, refused_at, code, message FROM _registration_refusals WHERE account_id = :accountId ORDER BY event',
  );
  return (accountId) => {
    const fresh = freshness.get({ accountId });
    if (!fresh) return undefined;
    const { account_id, ...rest } = fresh;
    return {
      account: account_id,
      counts: counts.all({ accountId }),
      freshness: withoutBlobs(rest),
      queue: queue.get({ accountId }) ?? { waiting: 0, parked: 0 },
      sweepRequest: sweepRequest.get({ accountId }) ?? { asked_at: null, callback_ids: 0, callback_id_at: null },
      failing: withoutBlobs(failing.get({ accountId })) ?? null,
      runs: runs.all({ accountId, latest }).map(withoutBlobs),
      findings: findings.all({ accountId }),
      callbacks: callbacks.all({ accountId }).map(withoutBlobs),
      refusals: refusals.all({ accountId }).map(withoutBlobs),
    };
  };
}

/** Reports on every account of the mirror, or on one; with its `latest` runs. */
export function accountReports(sqlite: Sqlite, account: string | undefined, latest: number): AccountReport[] {
  const accounts = plainStatement<None, { account_id: string }>(
    sqlite,
    'SELECT account_id FROM accounts ORDER BY account_id',
  );
  const summary = accountSummaries(sqlite, latest);
  const totals = currencyTotals(sqlite);
  return accounts
    .all({})
    .map(({ account_id }) => account_id)
    .filter((accountId) => account === undefined || accountId === account)
    .flatMap((accountId) => summary(accountId) ?? [])
    .map((found) => ({ ...found, totals: totals(found.account) }));
}

/** Connections that give no access, by their names; those that the settings do not name any more included. */
export function connectionFailures(sqlite: Sqlite): ConnectionFailure[] {
  const all = plainStatement<None, ConnectionFailure>(
    sqlite,
    'SELECT connection, requests, first_at, last_at, code, message FROM _connection_failures ORDER BY connection',
  );
  return all.all({}).map(withoutBlobs);
}

/** Counted as vendors change: to count them all again takes a second for each few millions. */
function countVendors(sqlite: Sqlite): Statement<OfAccount, VendorCount> {
  return plainStatement<OfAccount, VendorCount>(
    sqlite,
    `
  SELECT nullif(vis_state, -1) AS vis_state, presence, vendors
  FROM _vendor_counts
  WHERE account_id = :accountId AND vendors > 0
  ORDER BY 1, presence`,
  );
}

/** A sum in two halves: whole billions, and what is below, neither of which can leave the range of a number. */
export type HalvedSum = Omit<CurrencyTotal, 'minor'> & {
  readonly billions: number | null;
  readonly rest: number | null;
};

/** What is owed to the active vendors of an account: a look at every vendor of it. */
export function currencyTotals(sqlite: Sqlite): (accountId: string) => CurrencyTotal[] {
  const totals = plainStatement<OfAccount, HalvedSum>(
    sqlite,
    `
  SELECT b.code, b.kind, sum(b.amount_minor / 1000000000) AS billions, sum(b.amount_minor % 1000000000) AS rest,
    count(*) AS amounts, count(*) - count(nullif(b.amount_minor = 0, 0)) AS vendors, count(*) - count(b.amount_minor) AS unreadable
  FROM vendor_balances AS b JOIN vendors AS v ON v.account_id = b.account_id AND v.vendorid = b.vendorid
  WHERE b.account_id = :accountId AND v.vis_state = 0 AND v.presence = 'present'
  GROUP BY b.code, b.kind
  ORDER BY b.code, b.kind DESC`,
  );
  return (accountId) => totals.all({ accountId }).map(withoutBlobs).map(wholeSum);
}

export function wholeSum({ billions, rest, ...counted }: HalvedSum): CurrencyTotal {
  return { ...counted, minor: BigInt(billions ?? 0) * 1_000_000_000n + BigInt(rest ?? 0) };
}

function measureQueue(sqlite: Sqlite): Statement<OfAccount, QueueReport> {
  return plainStatement<OfAccount, QueueReport>(
    sqlite,
    `
  SELECT count(due_at) AS waiting, count(*) - count(due_at) AS parked
  FROM dirty_vendors
  WHERE account_id = :accountId`,
  );
}

function latestRuns(sqlite: Sqlite): Statement<OfAccount & { latest: number }, ReportedRun> {
  return plainStatement<OfAccount & { latest: number }, ReportedRun>(
    sqlite,
    `
  SELECT id, kind, "trigger", started_at, finished_at, outcome, pages, requests, seen, created, updated, unchanged,
    suspects, error, safe_as_of, listed_as_of, proof, list_moved, error_code
  FROM runs
  WHERE account_id = :accountId
  ORDER BY id DESC
  LIMIT :latest`,
  );
}

function latestFindings(sqlite: Sqlite): Statement<OfAccount, AccountReport['findings'][number]> {
  return plainStatement<OfAccount, AccountReport['findings'][number]>(
    sqlite,
    `
  SELECT kind, count(*) AS count
  FROM findings
  WHERE run_id = (SELECT max(id) FROM runs WHERE account_id = :accountId)
  GROUP BY kind
  ORDER BY kind`,
  );
}
