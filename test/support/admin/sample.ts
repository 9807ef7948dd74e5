/** Facts of a made-up installation, at noon of 20 November 2026. */
import { timestamp } from '../../../src/domain/clock.ts';
import {
  publicationStatuses,
  targetStatuses,
  type Ability,
  type AccountFacts,
  type HealthFacts,
  type PublicationStatus,
  type TargetStatus,
} from '../../../src/health/judge.ts';
import type { ServingProcess } from '../../../src/domain/processes.ts';
import type { PublicationReport } from '../../../src/store/publications.ts';
import type { TargetReport } from '../../../src/store/reports/outbox-report.ts';
import { unknownState, type WebhookDays } from '../../../src/store/account-reports.ts';
import type { ReportedRun } from '../../../src/store/runs.ts';

export const noon = Date.UTC(2026, 10, 20, 12);
const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

export const before = (ms: number): string => timestamp(noon - ms);

export function run(id: number, change: Partial<ReportedRun> = {}): ReportedRun {
  return {
    id,
    kind: 'reconcile',
    trigger: 'schedule',
    started_at: before(2 * minute),
    finished_at: before(2 * minute - 14 * second),
    outcome: 'complete',
    pages: 17,
    requests: 34,
    seen: 1_684,
    created: 0,
    updated: 2,
    unchanged: 1_682,
    suspects: 0,
    error: null,
    error_code: null,
    remedy: null,
    safe_as_of: before(2 * minute),
    listed_as_of: before(2 * minute),
    proof: 'plain',
    list_moved: 0,
    ...change,
  };
}

const losses = [0, 0.012, 0, 0.031, 0, 0, 0.018, 0, 0.046, 0.008, 0, 0, 0.021, 0];

export const days: WebhookDays = losses.map((loss_rate, index) => ({
  account_id: '6BApk',
  day: timestamp(noon - (losses.length - 1 - index) * day).slice(0, 10),
  deliveries: 130 + index * 7,
  duplicates: index,
  unannounced_changes: Math.round(loss_rate * 140),
  announced_changes: 130 + index * 6,
  late_deliveries: loss_rate > 0 ? 1 : 0,
  latest_seconds: loss_rate > 0 ? 212 : null,
  loss_rate,
}));

export function account(change: Partial<AccountFacts> = {}): AccountFacts {
  return {
    account: '6BApk',
    connection: 'default',
    counts: [
      { vis_state: 0, presence: 'present', vendors: 1_602 },
      { vis_state: 1, presence: 'present', vendors: 51 },
      { vis_state: 2, presence: 'present', vendors: 31 },
      { vis_state: 1, presence: 'gone', vendors: 4 },
    ],
    refusals: [],
    withheldAbsences: 0,
    unprovenAbsences: 0,
    sweepRequest: { asked_at: null, callback_ids: 0, callback_id_at: null },
    failing: null,
    clockAheadMs: null,
    acceptedUnreadable: 0,
    freshness: {
      last_complete_sweep: before(2 * minute),
      oldest_unsettled_delivery: before(9 * second),
      open_suspects: 0,
      parked_vendors: 0,
      callback_verified: 1,
      safe_as_of: before(2 * minute + 20 * second),
      listed_as_of: before(2 * minute + 20 * second),
      not_served_since: null,
      paused_since: null,
      undecided: 0,
      details_as_of: null,
    },
    queue: { waiting: 3, parked: 0 },
    isRunUnseen: false,
    runs: [
      run(118, {
        outcome: 'running',
        started_at: before(4 * second),
        finished_at: null,
        pages: 3,
        seen: 300,
        updated: 1,
      }),
      run(117),
      run(116, { started_at: before(17 * minute), finished_at: before(16.8 * minute) }),
      run(115, {
        outcome: 'failed',
        started_at: before(32 * minute),
        finished_at: before(31 * minute),
        seen: 700,
        updated: 0,
        error: 'The service answered 503 on page 8 of 17, five times.',
        error_code: 'service_unavailable',
      }),
      run(114, {
        kind: 'pull',
        started_at: before(9 * hour),
        finished_at: before(9 * hour - 41 * second),
        created: 6,
        updated: 31,
      }),
    ],
    failedSince: null,
    refusedSince: null,
    findings: [
      { kind: 'balance_only', count: 14 },
      { kind: 'missed_update', count: 2 },
      { kind: 'in_flight', count: 1 },
    ],
    callbacks: [
      {
        callbackid: 2001,
        event: 'bill_vendor',
        uri: 'https://mirror.example.com/webhooks/6BApk/',
        verified: 1,
        checked_at: before(2 * minute),
      },
    ],
    unknownCallbacks: [],
    oldestMark: before(9 * second),
    lastDelivery: before(5 * second),
    days,
    provenAt: null,
    missedSince: 0,
    parkedFor: [],
    undecided: [],
    unreadable: [],
    unsent: [],
    learnedFields: [],
    notHonoured: [],
    refused: [],
    isLeft: false,
    awaitsDeliveries: true,
    movedTo: null,
    doubt: null,
    progress: null,
    ...change,
  };
}

/** A receiver of outgoing webhooks that accepts everything. */
export function target(change: Partial<TargetReport> = {}): TargetStatus {
  const report = {
    target: 'hooks.example',
    began_at: before(12 * day),
    delivered_at: before(6 * second),
    failing_since: null,
    last_error: null,
    disabled_at: null,
    waiting: 0,
    parked: 0,
    parked_error: null,
    behind: 0,
    oldest_waiting: null,
    ...change,
  };
  return targetStatuses([report.target], [report], noon)[0]!;
}

export const able: Ability = { listening: true, trouble: null, work: null, diskFreeBytes: 91_000_000_000 };

/** One of several that may serve a mirror. */
export const daemon: ServingProcess = {
  ...{ host: 'books-1', version: '0.1.0', since: before(12 * day) },
  ...{ works: true, listens: true, may_work: true },
};

export function facts(accounts: readonly AccountFacts[] = [account()]): HealthFacts {
  return {
    version: '0.1.0',
    database: 'vendors.db',
    isSandbox: false,
    maxStaleness: 7_200_000,
    startedAt: noon - 12 * day,
    accounts,
    ability: able,
    serving: null,
    listenerMovedAt: null,
    targets: [],
    publications: [],
    connections: [{ connection: 'default', accounts: accounts.length, failing: null }],
    files: { databaseBytes: 18_432_000, walBytes: 412_000 },
    process: { rssBytes: 96_400_000, eventLoopLagSeconds: 0.0112 },
    next: { pull: noon + 15 * hour, reconcile: noon + 11 * minute },
  };
}

/** A copy for readers that was written. */
export function published(change: Partial<PublicationReport> = {}): PublicationStatus {
  const known = {
    ...{ path: '/srv/share/copy.db', written_at: before(2 * hour), failing_since: null, failed_at: null },
    ...{ failures: 0, code: null, error: null, remedy: null, behind_since: null },
    ...change,
  };
  return publicationStatuses([{ path: known.path, when: 'change' }], [known])[0]!;
}

/** An account of which nothing is known yet. */
export function newAccount(name: string): AccountFacts {
  return { ...unknownState(name), isLeft: false, awaitsDeliveries: false, movedTo: null, progress: null, doubt: null };
}
