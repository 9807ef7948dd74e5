/**
 * The one JSON document about the mirror's state: `/api/status` and `status --json` print it, key for key. Public interface, in the names of the
 * data model. Moments are UTC, `YYYY-MM-DD HH:MM:SS.SSS`. What is not known, never was, or only the daemon's process knows is null.
 */
import { timestamp } from '../domain/clock.ts';
import { limits } from '../domain/limits.ts';
import type { LearnedField, VendorCount } from '../store/account-reports.ts';
import type { Presence } from '../domain/presence.ts';
import { advice, causesOf } from './causes.ts';
import {
  connectionRemedy,
  judgeProcess,
  sentenceOf,
  type Ability,
  type AccountHealth,
  type ConnectionFacts,
  type Health,
  type Problem,
  type Verdict,
} from './judge.ts';

export type StatusDocument = ReturnType<typeof statusDocument>;

// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- what it makes is its type
export function statusDocument(health: Health) {
  const { facts, accounts, process, now } = health;
  const { startedAt, files, next, ability } = facts;
  const whole = new Set(health.bySeverity.slice(0, limits.wholeAccounts));
  const stale = accounts.filter((account) => account.stale).length;
  return {
    /** As in every JSON that a command prints: the document could be made. */
    ok: true as const,
    version: facts.version,
    database: facts.database,
    ...(facts.isSandbox && { sandbox: true as const }),
    at: timestamp(now),
    started_at: startedAt === null ? null : timestamp(startedAt),
    /** Whether a daemon can accept and store deliveries, and why not. */
    ready: startedAt !== null && process.length === 0,
    reasons: startedAt === null ? ['No daemon runs.', ...process.map(sentenceOf)] : process.map(sentenceOf),
    /** Whether no account is stale. */
    fresh: stale === 0,
    accounts_stale: stale,
    accounts_paused: accounts.filter((account) => isPaused(account)).length,
    verdict: verdictDocument(health.verdict),
    /** Of no single account. */
    problems: [...process, ...health.installation].map(problemDocument),
    /** What is wrong, by cause: the problems of the process, of accounts and of the installation, each once. */
    causes: causesOf(health).map(({ problem, accounts: ids }) => ({ ...problemDocument(problem), accounts: ids })),
    /** What a person should do, in sentences. */
    advice: advice(health),
    notify: facts.targets,
    publications: facts.publications,
    connections: facts.connections.map(connectionDocument),
    /** The daemons that serve the mirror, by machine; null where it is a file, which has one at most. */
    daemons: facts.serving,
    next: { pull: moment(next.pull), reconcile: moment(next.reconcile) },
    database_bytes: files.databaseBytes,
    wal_bytes: files.walBytes,
    disk_free_bytes: freeBytesOf(ability),
    rss_bytes: facts.process?.rssBytes ?? null,
    event_loop_lag_seconds: facts.process?.eventLoopLagSeconds ?? null,
    accounts: accounts.map((account) => accountDocument(account, whole.has(account))),
  };
}

interface ReadinessDocument extends Pick<StatusDocument, 'ready' | 'reasons' | 'disk_free_bytes'> {
  readonly listener_open: boolean | null;
  readonly file_writable: boolean;
  /** Where several daemons may serve the mirror: whether this one works. */
  readonly works?: boolean;
  /** The machine of the one that works; null where none does. */
  readonly worker?: string | null;
}

/** What `/readyz` answers, about the daemon's process alone: what an orchestrator's log should show when it takes it for not ready. */
export function readinessDocument(ability: Ability): ReadinessDocument {
  const problems = judgeProcess(ability);
  return {
    ready: problems.length === 0,
    reasons: problems.map(sentenceOf),
    listener_open: ability.listening,
    file_writable: ability.trouble === null,
    ...(ability.work && { works: ability.work.isHere, worker: ability.work.host }),
    disk_free_bytes: freeBytesOf(ability),
  };
}

/** Null where the disk is not this machine's. */
function freeBytesOf({ diskFreeBytes }: Ability): number | null {
  return Number.isFinite(diskFreeBytes) ? diskFreeBytes : null;
}

/** Of those that the settings name. */
export function isPaused({ facts: { isLeft, freshness } }: AccountHealth): boolean {
  return !isLeft && freshness.paused_since !== null;
}

/** Those that are present, by state; and the others, by presence. */
export type VendorCounts = Readonly<Record<'active' | 'archived' | 'deleted' | 'unknown' | Presence, number>>;

const states = ['active', 'deleted', 'archived'] as const;

/** How many vendors there are of each sort. */
export function vendorCounts(counts: readonly VendorCount[]): VendorCounts {
  const total = { present: 0, active: 0, archived: 0, deleted: 0, unknown: 0, suspect: 0, missing: 0, gone: 0 };
  for (const { vis_state, presence, vendors } of counts) {
    total[presence] += vendors;
    if (presence === 'present') total[vis_state === null ? 'unknown' : states[vis_state]] += vendors;
  }
  return total;
}

const watchdogs = ['off', 'refused', 'silent'] as const;

function accountDocument(health: AccountHealth, isWhole: boolean) {
  const { facts, ready, problems, error, staleness, deliveries } = health;
  const { freshness, queue, runs } = facts;
  return {
    account: facts.account,
    verdict: verdictDocument(health.verdict),
    problems: problems.map(problemDocument),
    /** Whether its part of the mirror may be relied on, and why not. */
    ready,
    reasons: ready ? [] : problems.filter(({ tone }) => tone !== 'fair' || !health.isServed).map(sentenceOf),
    last_error: error
      ? {
          code: error.code,
          message: error.run.error,
          run: error.run.id,
          at: error.run.finished_at,
          what_to_do: error.hint,
        }
      : null,
    stale: health.stale,
    paused_since: freshness.paused_since,
    /** How many vendors that the service counts and does not show a person accepted. */
    accepted_unreadable: facts.acceptedUnreadable,
    listed_as_of: freshness.listed_as_of,
    safe_as_of: freshness.safe_as_of,
    staleness_seconds: staleness === null ? null : staleness / 1_000,
    watchdog: watchdogs.find((state) => state === deliveries.state) ?? 'receiving',
    vendors: vendorCounts(facts.counts),
    freshness,
    queue: { ...queue, oldest: facts.oldestMark, parked_for: facts.parkedFor },
    undecided: facts.undecided,
    callbacks: facts.callbacks.map((callback) => ({ ...callback, verified: callback.verified === 1 })),
    last_delivery: facts.lastDelivery,
    /** Requests to the callback address that were refused, by outcome. */
    refused_deliveries: facts.refused,
    registration_refusals: facts.refusals,
    sweep_request: facts.sweepRequest,
    request_failures: facts.failing,
    webhook_health: isWhole ? facts.days : [],
    runs: isWhole ? runs : runs.slice(0, 1),
    unreadable_values: facts.unreadable,
    /** Fields of which the mirror holds values, and that the service no longer sends. */
    unsent_fields: facts.unsent,
    /** Fields that lists leave out or show otherwise, or that are different in each answer. */
    learned_fields: facts.learnedFields,
    /** Optional requests that the service does not honour. */
    not_honoured: facts.notHonoured,
    findings: facts.findings,
  };
}

function verdictDocument({ code, tone, words, since }: Verdict) {
  return { code, tone, message: `${words}.`, since };
}

function problemDocument({ code, tone, since, message, remedy }: Problem) {
  return { code, tone, since, message, what_to_do: remedy };
}

function connectionDocument(facts: ConnectionFacts) {
  const { connection, accounts, failing } = facts;
  if (!failing) return { connection, accounts, failing: null };
  const { requests, first_at, last_at, code, message } = failing;
  return {
    connection,
    accounts,
    failing: { requests, first_at, last_at, code, message, what_to_do: connectionRemedy(facts) },
  };
}

function moment(ms: number | undefined): string | null {
  return ms === undefined ? null : timestamp(ms);
}

/** What was learned of fields, in words, such as “left out of lists: note”. */
export function learnedText(fields: readonly LearnedField[]): string {
  const said = {
    left_out: 'left out of lists',
    shown_otherwise: 'shown otherwise in lists',
    different: 'different in each answer',
  };
  const kinds = Object.entries(said).map(([kind, words]) => {
    const names = fields.filter(({ how }) => how === kind).map(({ field }) => field);
    return names.length === 0 ? [] : [`${words}: ${names.join(', ')}`];
  });
  return kinds.flat().join('; ');
}
