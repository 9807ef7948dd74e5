/** The JSON of `/api/status` and `/readyz`: public interface, in the names of the data model. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { lagOf } from '../../store/outbox/outbox-report.ts';
import { connectionDocument } from './connection-health.ts';
import { inSlices } from './in-slices.ts';
import { bySeverity, type AccountHealth, type Health, type Readiness } from './readiness.ts';
import { vendorCounts } from './vendor-counts.ts';

/** Beyond this number, accounts that least need attention are shortened to one line: their latest run, without days. */
const wholeAccounts = 50;

/**
 * The text of `/api/status`, a few accounts in each turn of the event loop. Moments are UTC, `YYYY-MM-DD HH:MM:SS.SSS`; what is unknown or
 * never was is null.
 */
export async function statusText(health: Health, clock: Pick<Clock, 'yield'>): Promise<string> {
  const whole = new Set(bySeverity(health.accounts).slice(0, wholeAccounts));
  const accounts = await inSlices(clock, health.accounts, atOnce, (account) =>
    whole.has(account)
      ? JSON.stringify(accountDocument(account, true), null, 2).replaceAll('\n', '\n    ')
      : JSON.stringify(accountDocument(account, false)),
  );
  const head = JSON.stringify(processDocument(health), null, 2).slice(0, -'\n}'.length);
  const list = accounts.length === 0 ? '[]' : `[\n    ${accounts.join(',\n    ')}\n  ]`;
  return `${head},\n  "accounts": ${list}\n}\n`;
}

/** Accounts whose text is made in one turn of the event loop. */
const atOnce = 10;

function processDocument({ facts, accounts, process: self, fresh, now }: Health): object {
  const { version, startedAt, files, process, next } = facts;
  return {
    version,
    ready: self.ready,
    reasons: self.reasons,
    fresh,
    accounts_stale: accounts.filter(({ stale }) => stale).length,
    accounts_paused: accounts.filter(({ isPaused }) => isPaused).length,
    at: timestamp(now),
    started_at: timestamp(startedAt),
    notify: facts.targets.map((report) => ({ ...report, lag_seconds: lagOf(report, now) / 1_000 })),
    connections: facts.connections.map(connectionDocument),
    next: { pull: moment(next.pull), reconcile: moment(next.reconcile) },
    database_bytes: files.databaseBytes,
    wal_bytes: files.walBytes,
    disk_free_bytes: facts.ability.diskFreeBytes,
    rss_bytes: process.rssBytes,
    event_loop_lag_seconds: process.eventLoopLagSeconds,
  };
}

/** What an orchestrator's log should show when it takes the program for not ready. */
export function readinessDocument({ ready, reasons, ability }: Readiness): object {
  return {
    ready,
    reasons,
    listener_open: ability.listening,
    file_writable: ability.trouble === null,
    disk_free_bytes: ability.diskFreeBytes,
  };
}

function readinessOf({ facts, ready, reasons, staleness, stale, error }: AccountHealth): object {
  return {
    account: facts.account,
    ready,
    reasons,
    last_error: error
      ? {
          code: error.code,
          message: error.run.error,
          run: error.run.id,
          at: error.run.finished_at,
          what_to_do: error.hint,
        }
      : null,
    stale,
    paused_since: facts.freshness.paused_since,
    listed_as_of: facts.freshness.listed_as_of,
    safe_as_of: facts.freshness.safe_as_of,
    staleness_seconds: staleness === null ? null : staleness / 1_000,
    watchdog: facts.watchdog,
  };
}

function accountDocument(health: AccountHealth, isWhole: boolean): object {
  const {
    counts,
    freshness,
    queue,
    oldestMark,
    callbacks,
    lastDelivery,
    days,
    runs,
    findings,
    refusals,
    sweepRequest,
    failing,
  } = health.facts;
  return {
    ...readinessOf(health),
    vendors: vendorCounts(counts),
    freshness,
    queue: { ...queue, oldest: oldestMark },
    callbacks: callbacks.map((callback) => ({ ...callback, verified: callback.verified === 1 })),
    last_delivery: lastDelivery,
    registration_refusals: refusals,
    sweep_request: sweepRequest,
    request_failures: failing,
    webhook_health: isWhole ? days : [],
    runs: isWhole ? runs : runs.slice(0, 1),
    findings,
  };
}

function moment(ms: number | undefined): string | null {
  return ms === undefined ? null : timestamp(ms);
}
