/**
 * What the mirror knows of each account: vendors, freshness, runs, deliveries, what is parked.
 *
 * Counts of vendors come from an index that holds nothing else (`vendors_by_state`): 3 ms for 50,000 vendors, 11 ms for 200,000. The days of
 * `webhook_health` (`_webhook_days`) are kept by triggers, whichever program writes, because they stay when the deliveries behind them are
 * pruned. A delivery that was received before a sweep began and stored after it counts for the next sweep.
 *
 * The loss rate compares vendors that changed between two sweeps, not deliveries with findings: a change announced twice would count twice,
 * and one that a sweep found first would not count. It is a lower bound: deliveries carry no content, so where a vendor changes several
 * times between two sweeps, a repeated delivery of an earlier change looks like a late one of the last.
 */
import { firstMoment } from './retention.ts';
import { timestamp, type Clock } from '../domain/clock.ts';
import { findingCounts, unsentFields, type FindingCount, type UnsentField } from './findings.ts';
import { unreadableCounts, type UnreadableCount } from './vendors.ts';
import { declinedRequests, type DeclinedRequest } from './not-honoured.ts';
import { refusalsOf, type ReportedRefusals } from './refusals.ts';
import { failuresOfRuns, latestRuns, type Carriers, type FailedSince, type LatestRuns } from './runs.ts';
import { withoutBlobs } from './sqlite/blobs.ts';
import {
  columnList,
  mirrorSql,
  statement,
  type Connection,
  type None,
  type OfAccount,
  type Statement,
} from './sql/statement.ts';
import {
  freshnessColumns,
  type CallbackTable,
  type FreshnessView,
  type RegistrationRefusalTable,
  type VendorTable,
  type WebhookHealthView,
  type UndecidedTable,
  type UnknownCallbackTable,
} from './sql/schema.ts';

export type VendorCount = Pick<VendorTable, 'vis_state' | 'presence'> & { readonly vendors: number };

interface QueueReport {
  readonly waiting: number;
  /** Number of vendors that are parked until the next reconciliation. */
  readonly parked: number;
}

/** Requested sweeps, and deliveries that named a callback instead of a vendor. */
export interface SweepRequestReport {
  /** Since when a sweep is requested; null where none is. */
  readonly asked_at: string | null;
  /** Number of deliveries whose `object_id` was the id of a callback, and when the last came. */
  readonly callback_ids: number;
  readonly callback_id_at: string | null;
}

/** Consecutive failed requests since the last successful one. */
export interface RequestFailureReport {
  readonly requests: number;
  readonly first_at: string;
  readonly last_at: string;
  readonly code: string;
  readonly message: string;
  /** What to do, where more is known than the code says. */
  readonly remedy?: string | null;
}

/** The latest failures of a connection that gives no access. */
export type ConnectionFailure = RequestFailureReport & { readonly connection: string };

export type ReportedRefusal = Omit<RegistrationRefusalTable, 'account_id'>;
export type ReportedCallback = Omit<CallbackTable, 'account_id'>;
export type ReportedUnknownCallback = Omit<UnknownCallbackTable, 'account_id'>;

/** What is stored of an account or found by an index: no sums of money, which need a scan of all vendors. */
interface AccountSummary extends FailedSince, LatestRuns {
  readonly account: string;
  /** The grant that gives access to it. */
  readonly connection: string;
  readonly counts: readonly VendorCount[];
  readonly freshness: Omit<FreshnessView, 'account_id'>;
  /** By how many milliseconds this machine's clock is ahead of the service's; null where it is not known to be wrong. */
  readonly clockAheadMs: number | null;
  /** How many vendors that the service counts and does not show a person accepted. */
  readonly acceptedUnreadable: number;
  readonly queue: QueueReport;
  readonly sweepRequest: SweepRequestReport;
  /** Null where the last request succeeded. */
  readonly failing: RequestFailureReport | null;
  /** Findings of the newest run, by kind. */
  readonly findings: readonly FindingCount[];
  readonly callbacks: readonly ReportedCallback[];
  /** Callbacks that lead here and that other secrets registered. */
  readonly unknownCallbacks: readonly ReportedUnknownCallback[];
  readonly refusals: readonly ReportedRefusal[];
  /** Vendors whose absence is not concluded, because the token may see less than before. */
  readonly withheldAbsences: number;
  /** Absent vendors whose absence an earlier version concluded from less than is required now. */
  readonly unprovenAbsences: number;
}

const noAccount = { connection: 'default', accepted_unreadable: 0 };

/** Prepares summaries of accounts with their `latest` runs; a summary is undefined for an unknown account. */
export function accountSummaries(
  db: Connection,
  latest: number,
): (accountId: string, carriers?: Carriers) => Promise<AccountSummary | undefined> {
  const freshness = statement(db)<OfAccount, FreshnessView>`
    SELECT ${columnList(freshnessColumns)} FROM freshness WHERE account_id = ${'accountId'}`;
  const clock = statement<None, { clock_ahead_ms: number | null }>(db, () =>
    mirrorSql.selectFrom('_reading_counter').select('clock_ahead_ms'),
  );
  const registered = statement(db)<OfAccount, { connection: string; accepted_unreadable: number }>`
    SELECT connection, accepted_unreadable FROM _accounts WHERE account_id = ${'accountId'}`;
  const counts = countVendors(db);
  const queue = measureQueue(db);
  const sweepRequest = statement(db)<OfAccount, SweepRequestReport>`
    SELECT asked_at, callback_ids, callback_id_at FROM _sweep_requests WHERE account_id = ${'accountId'}`;
  const failing = statement(db)<OfAccount, RequestFailureReport>`
    SELECT requests, first_at, last_at, code, message, remedy FROM _request_failures WHERE account_id = ${'accountId'}`;
  const runs = latestRuns(db);
  const failures = failuresOfRuns(db);
  const findings = findingCounts(db);
  const callbacks = statement(db)<OfAccount, ReportedCallback>`
    SELECT callbackid, event, uri, verified, checked_at FROM callbacks
    WHERE account_id = ${'accountId'} ORDER BY callbackid`;
  const unknownCallbacks = statement(db)<OfAccount, ReportedUnknownCallback>`
    SELECT callbackid, found_at FROM _unknown_callbacks WHERE account_id = ${'accountId'} ORDER BY callbackid`;
  const refusals = statement(db)<OfAccount, ReportedRefusal>`
    SELECT event, refused_at, code, message, remedy, uri, attempts, retry_at FROM _registration_refusals
    WHERE account_id = ${'accountId'} ORDER BY event`;
  const absences = statement(db)<OfAccount, Pick<AccountSummary, 'withheldAbsences' | 'unprovenAbsences'>>`
    SELECT withheld_absences AS "withheldAbsences", unproven_absences AS "unprovenAbsences" FROM _accounts
    WHERE account_id = ${'accountId'}`;
  return async (accountId, carriers = new Map()) => {
    const fresh = await freshness.get({ accountId });
    if (!fresh) return undefined;
    const { account_id, ...rest } = fresh;
    const { connection, accepted_unreadable } = (await registered.get({ accountId })) ?? noAccount;
    const shown = await runs(accountId, latest, carriers);
    const [newest] = shown.runs;
    return {
      account: account_id,
      connection,
      counts: await counts.all({ accountId }),
      freshness: withoutBlobs(rest),
      clockAheadMs: (await clock.get({}))?.clock_ahead_ms ?? null,
      acceptedUnreadable: accepted_unreadable,
      queue: (await queue.get({ accountId })) ?? { waiting: 0, parked: 0 },
      sweepRequest: (await sweepRequest.get({ accountId })) ?? {
        asked_at: null,
        callback_ids: 0,
        callback_id_at: null,
      },
      failing: withoutBlobs(await failing.get({ accountId })) ?? null,
      ...shown,
      ...(withoutBlobs(await failures.get({ accountId })) ?? { failedSince: null, refusedSince: null }),
      findings: newest ? await findings.all({ run_id: newest.id }) : [],
      callbacks: (await callbacks.all({ accountId })).map(withoutBlobs),
      unknownCallbacks: (await unknownCallbacks.all({ accountId })).map(withoutBlobs),
      refusals: (await refusals.all({ accountId })).map(withoutBlobs),
      ...((await absences.get({ accountId })) ?? { withheldAbsences: 0, unprovenAbsences: 0 }),
    };
  };
}

/** Connections that give no access, by name, including those that the settings no longer name. */
export async function connectionFailures(db: Connection): Promise<ConnectionFailure[]> {
  const all = statement(db)<None, ConnectionFailure>`
    SELECT connection, requests, first_at, last_at, code, message, remedy FROM _connection_failures ORDER BY connection`;
  return (await all.all({})).map(withoutBlobs);
}

/** Counted in an index: 11 ms for 200,000 vendors. */
function countVendors(db: Connection): Statement<OfAccount, VendorCount> {
  return statement(db)<OfAccount, VendorCount>`
    SELECT vis_state, presence, count(*) AS vendors
    FROM vendors
    WHERE account_id = ${'accountId'}
    GROUP BY presence, vis_state
    ORDER BY vis_state, presence`;
}

function measureQueue(db: Connection): Statement<OfAccount, QueueReport> {
  return statement(db)<OfAccount, QueueReport>`
    SELECT count(due_at) AS waiting, count(*) - count(due_at) AS parked
    FROM dirty_vendors
    WHERE account_id = ${'accountId'}`;
}

/** Everything that is shown of one account but sums of money, which need a scan of all vendors; cheap, however large the mirror is. */
export interface AccountState extends AccountSummary, ReceivedDeliveries {
  readonly parkedFor: readonly ParkedReason[];
  /** Those that have been undecided for longest. */
  readonly undecided: readonly UndecidedVendor[];
  /** Fields with values that could not be read, and of how many vendors. */
  readonly unreadable: readonly UnreadableCount[];
  /** Fields of which the mirror holds values, and that no answer shows any more. */
  readonly unsent: readonly UnsentField[];
  readonly learnedFields: readonly LearnedField[];
  readonly notHonoured: readonly DeclinedRequest[];
  readonly days: WebhookDays;
  /** Requests to its callback address that were refused, by outcome. */
  readonly refused: readonly ReportedRefusals[];
}

/** Of an account of which the mirror holds nothing. */
export function unknownState(account: string): AccountState {
  return {
    account,
    connection: noAccount.connection,
    counts: [],
    freshness: {
      last_complete_sweep: null,
      oldest_unsettled_delivery: null,
      open_suspects: 0,
      parked_vendors: 0,
      callback_verified: null,
      safe_as_of: null,
      listed_as_of: null,
      not_served_since: null,
      paused_since: null,
      undecided: 0,
      details_as_of: null,
    },
    clockAheadMs: null,
    acceptedUnreadable: 0,
    queue: { waiting: 0, parked: 0 },
    sweepRequest: { asked_at: null, callback_ids: 0, callback_id_at: null },
    failing: null,
    runs: [],
    isRunUnseen: false,
    failedSince: null,
    refusedSince: null,
    findings: [],
    callbacks: [],
    unknownCallbacks: [],
    refusals: [],
    withheldAbsences: 0,
    unprovenAbsences: 0,
    oldestMark: null,
    lastDelivery: null,
    provenAt: null,
    missedSince: 0,
    parkedFor: [],
    undecided: [],
    unreadable: [],
    unsent: [],
    learnedFields: [],
    notHonoured: [],
    days: [],
    refused: [],
  };
}

/** A field that answers do not show alike: lists leave it out, show it otherwise than reads by id, or it is different in each answer. */
export interface LearnedField {
  readonly field: string;
  readonly how: 'left_out' | 'shown_otherwise' | 'different';
}

function learnedFieldsOf(db: Connection): Statement<OfAccount, LearnedField> {
  return statement(db)<OfAccount, LearnedField>`
    SELECT field, CASE is_shown WHEN 1 THEN 'shown_otherwise' ELSE 'left_out' END AS how FROM _detail_fields
    WHERE account_id = ${'accountId'} AND learned_at IS NOT NULL
    UNION SELECT field, 'different' FROM _unsteady_fields WHERE account_id = ${'accountId'} AND is_found = 1
    ORDER BY how, field`;
}

/** How many runs of an account are shown. */
export const runsShown = 8;

/** Prepares the states of accounts; undefined for an unknown account. */
export function accountStates(
  db: Connection,
  clock: Pick<Clock, 'now'>,
): (accountId: string, carriers?: Carriers) => Promise<AccountState | undefined> {
  const summary = accountSummaries(db, runsShown);
  const received = receivedDeliveriesOf(db);
  const parkedFor = parkedReasons(db);
  const undecided = undecidedVendors(db);
  const unreadable = unreadableCounts(db);
  const unsent = unsentFields(db);
  const learned = learnedFieldsOf(db);
  const declined = declinedRequests(db);
  const days = webhookDays(db);
  const refused = refusalsOf(db);
  return async (accountId, carriers) => {
    const found = await summary(accountId, carriers);
    if (!found) return undefined;
    return {
      ...found,
      ...(await received(accountId)),
      parkedFor: found.queue.parked === 0 ? [] : await parkedFor(accountId),
      undecided: found.freshness.undecided === 0 ? [] : await undecided(accountId),
      unreadable: await unreadable.all({ accountId }),
      unsent: (await unsent.all({ accountId })).map(withoutBlobs),
      learnedFields: await learned.all({ accountId }),
      notHonoured: (await declined.all({ accountId })).map(withoutBlobs),
      days: await days(accountId, clock.now()),
      refused: (await refused.all({ accountId })).map(withoutBlobs),
    };
  };
}

/** Received deliveries of an account, and changes that none announced. */
export interface ReceivedDeliveries {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** When a callback was verified last; null if none was. */
  readonly provenAt: string | null;
  /** Changes that sweeps found since the later of both and no delivery announced; at most 1,000. */
  readonly missedSince: number;
}

/** A higher count adds no information, and counting would take long. */
const maxMissed = 1_000;

interface Moment {
  readonly at: string | null;
}

/** Prepares lookups by index. */
export function receivedDeliveriesOf(db: Connection): (accountId: string) => Promise<ReceivedDeliveries> {
  const oldest = statement(db)<OfAccount, Moment>`
    SELECT min(marked_at) AS at FROM dirty_vendors WHERE account_id = ${'accountId'}`;
  const last = statement(db)<OfAccount, Moment>`
    SELECT max(received_at) AS at FROM deliveries WHERE account_id = ${'accountId'}`;
  const proven = statement(db)<OfAccount, Moment>`
    SELECT callback_proven_at AS at FROM _accounts WHERE account_id = ${'accountId'}`;
  const missed = statement(db)<OfAccount & { after: string; most: number }, { count: number }>`
    SELECT count(*) AS count FROM (
      SELECT 1 FROM findings
      WHERE account_id = ${'accountId'} AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore')
        AND explained_at IS NULL AND found_at > ${'after'}
      LIMIT +${'most'}) AS missed`;
  return async (accountId) => {
    const lastDelivery = (await last.get({ accountId }))?.at ?? null;
    const provenAt = (await proven.get({ accountId }))?.at ?? null;
    const after = [lastDelivery, provenAt].map((at) => at ?? firstMoment).sort()[1] ?? firstMoment;
    const found = await missed.get({ accountId, after, most: maxMissed });
    const oldestMark = (await oldest.get({ accountId }))?.at ?? null;
    return withoutBlobs({ oldestMark, lastDelivery, provenAt, missedSince: found?.count ?? 0 });
  };
}

/** Rows of the view, oldest first. */
export type WebhookDays = readonly WebhookHealthView[];

const day = 86_400_000;
const latest = 14;

/** Prepares the days with any activity in the two weeks before `now` (milliseconds since 1970), by account. */
function webhookDays(db: Connection): (accountId: string, now: number) => Promise<WebhookDays> {
  const days = statement(db)<{ accountId: string; after: string }, WebhookHealthView>`
    SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds, loss_rate
    FROM webhook_health WHERE account_id = ${'accountId'} AND day > ${'after'} ORDER BY day`;
  return (accountId, now) => days.all({ accountId, after: timestamp(now - latest * day).slice(0, 10) });
}

export interface ParkedReason {
  /** The error of the last attempt; null where there is none. */
  readonly error: string | null;
  readonly vendors: number;
}

/** Prepares the reasons of an account's parked vendors, the most frequent first. */
function parkedReasons(db: Connection): (accountId: string) => Promise<ParkedReason[]> {
  const reasons = statement(db)<{ accountId: string }, ParkedReason>`
    SELECT last_error AS error, count(*) AS vendors FROM dirty_vendors
    WHERE account_id = ${'accountId'} AND due_at IS NULL
    GROUP BY last_error
    ORDER BY vendors DESC, last_error`;
  return (accountId) => reasons.all({ accountId });
}

/** A vendor about which the last complete run could not decide, and why. */
export type UndecidedVendor = Pick<UndecidedTable, 'vendorid' | 'since' | 'code' | 'error'>;

const undecidedShown = 20;

function undecidedVendors(db: Connection): (accountId: string) => Promise<UndecidedVendor[]> {
  const vendors = statement(db)<OfAccount & { most: number }, UndecidedVendor>`
    SELECT vendorid, since, code, error FROM undecided_vendors
    WHERE account_id = ${'accountId'} ORDER BY since, vendorid LIMIT +${'most'}`;
  return async (accountId) => (await vendors.all({ accountId, most: undecidedShown })).map(withoutBlobs);
}
