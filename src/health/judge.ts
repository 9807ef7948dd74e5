/**
 * Is the mirror right? The only place that decides it: the dashboard, the live summary of `serve`, `status`, `doctor`, `/api/status`, `/readyz` and the
 * metrics show what `judge` says, and alerts are built on those. It reads nothing but its facts and the time. The facts come from a running
 * daemon (`app/daemon.ts`) or from the files alone (`cmd/mirror-facts.ts`).
 *
 * Each situation is a problem with a code that does not change between versions. An account's verdict is its first problem in this order:
 *
 *   code                 tone   when
 *   listener_closed      bad    the daemon takes no deliveries; of the process, so it comes before anything of an account
 *   cannot_store         bad    a delivery cannot be stored: the disk is full, or the file cannot be written
 *   other_service        bad    the mirror belongs to another service than the settings name, so nothing keeps it fresh
 *   not_served           fair   the settings name the account no longer: nothing else is said of it
 *   paused               fair   a person paused it: nothing else is said of it
 *   access_refused       bad    the last run, or the last request, was refused, or there is no token: only a person can end that
 *   service_failing      bad    requests fail and the mirror is not fresh; fair while it is
 *   first_pull           busy   no sweep was ever complete, and one is under way
 *   never_mirrored       bad    no sweep was ever complete; busy where a daemon is about to begin the first
 *   clock_wrong          bad    this machine's clock contradicts the service's, so the age of the mirror is not known
 *   clock_set_back       bad    the age of the mirror is not known until the next complete sweep
 *   stale                bad    what lists show is older than admin.maxStaleness
 *   in_doubt             bad    its records cannot be relied on (a machine slept, a file was restored); only its daemon knows
 *   mirror_differs       fair   `verify` found vendors that differ, and no sweep was complete since, so the mirror is not called correct
 *   last_run             fair   the last run was not complete
 *   absences_waiting     fair   many vendors are no longer listed, and a person must say whether they are gone
 *   token_sees_less      fair   vendors can no longer be read while the service still counts them: nothing is concluded
 *   absences_unproven    fair   an earlier version called vendors absent by less than is required now
 *   callback_unverified  fair   no callback is verified, so nothing is delivered, or none leads to the public address of the settings
 *   deliveries_refused   fair   deliveries come and are refused, and none was accepted after them
 *   address_known        fair   requests that are not of the service come to the address of the callback
 *   callbacks_unknown    fair   callbacks at the service lead here that other secrets registered, such as lost ones
 *   deliveries_silent    fair   sweeps find changes, and none was announced for unusually long
 *   vendors_undecided    fair   vendors that no list shows could not be read, or are left out for ever though reads by id show them
 *   values_unreadable    fair   the service sent values that the mirror does not understand: they are NULL, so the mirror is not called correct
 *   fields_unsent        fair   the service no longer sends fields of which the mirror holds values, so the mirror is not called correct
 *   vendors_parked       fair   changed vendors could not be read
 *   queue_stuck          fair   a changed vendor has waited for half an hour
 *
 * then of the installation: no_daemon, nobody_works, nobody_listens, disk_low (sweeps wait), listener_moved, connection_refused, receiver_gone, receiver_failing,
 * changes_given_up, receiver_unknown, publication_failing, publication_late, all of them fair.
 * A problem that another one already explains is left out. An account is stale or fresh by the age of what lists show alone; it is ready where
 * it may be relied on, so a refused account is fresh until it is old, and not ready.
 */
import type { SweepProgress } from '../domain/run.ts';
import { age, took, parseInstant } from '../domain/clock.ts';
import { apartInWords, inWords, lastInWords } from '../domain/duration.ts';
import { catalogue, isAccessRefused, isOfToken, withFullStop, type ErrorCode } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import { limits } from '../domain/limits.ts';
import type { ServingProcess, Work } from '../domain/processes.ts';
import { lagOf, type TargetReport } from '../store/reports/outbox-report.ts';
import type { PublicationReport } from '../store/publications.ts';
import type { ReportedRun } from '../store/runs.ts';
import { noSpaceForSweep } from '../store/sqlite/file-systems.ts';
import { nobodyListens, nobodyWorks } from './daemons.ts';
import {
  leadsElsewhere,
  notRegistered,
  notVerified,
  registrationRefused,
  addressRemedy,
  ofStrangers,
  refusalRemedy,
  refusalWords,
  unknownCallbacksRemedy,
  unknownCallbacksText,
  unsolvedRefusals,
} from './callbacks.ts';
import type { ConnectionFailure, RequestFailureReport, AccountState } from '../store/account-reports.ts';

/** Where a running daemon's facts come from. */
export interface HealthSource {
  /** Everything as it is now. */
  facts(): Promise<HealthFacts>;
  /** Whether this process can do its work, which says nothing of any account. */
  ability(): Ability;
}

/** What a process needs to take deliveries. */
export interface Ability {
  /** Whether the listener takes connections; null to a process that has none. */
  readonly listening: boolean | null;
  /** Why no delivery can be stored, or the mirror is not that of the settings; null while neither is so. */
  readonly trouble: { readonly code: ErrorCode; readonly message: string; readonly remedy?: string | undefined } | null;
  /** Bytes that are free beside the mirror. */
  readonly diskFreeBytes: number;
  /** Who works, as one of several daemons knows it; null where the mirror is a file, and to a process that is no daemon. */
  readonly work: Work | null;
}

export interface HealthFacts {
  readonly version: string;
  readonly database: string;
  /** Whether the built-in sandbox stands in for the service. */
  readonly isSandbox: boolean;
  /** Wall time at which the daemon began, milliseconds since 1970; null where none runs. */
  readonly startedAt: number | null;
  /** `admin.maxStaleness`, milliseconds. */
  readonly maxStaleness: number;
  readonly accounts: readonly AccountFacts[];
  readonly connections: readonly ConnectionFacts[];
  readonly ability: Ability;
  /** Since when the listener is open to this machine alone, by default, after a daemon that listened on all interfaces; null if not. */
  readonly listenerMovedAt: string | null;
  readonly targets: readonly TargetStatus[];
  readonly publications: readonly PublicationStatus[];
  readonly files: { readonly databaseBytes: number; readonly walBytes: number };
  /** The daemons that serve the mirror; null where it is a file, which has one at most. */
  readonly serving: readonly ServingProcess[] | null;
  /** Of the daemon's process; null where that is another one. */
  readonly process: { readonly rssBytes: number; readonly eventLoopLagSeconds: number } | null;
  /** Wall time of the next scheduled run of any account, milliseconds since 1970; undefined where all are under way, or it is not known. */
  readonly next: { readonly pull: number | undefined; readonly reconcile: number | undefined };
}

export interface AccountFacts extends AccountState {
  /** Whether no settings name it any more. */
  readonly isLeft: boolean;
  /** Whether the service is to deliver its changes. */
  readonly awaitsDeliveries: boolean;
  /** `listener.publicUrl`, where callbacks are registered and none of them leads there; null otherwise. */
  readonly movedTo: string | null;
  /** How far the sweep under way has come; null while none is, none of its pages has arrived, or another process runs it. */
  readonly progress: SweepProgress | null;
  /** Why the mirror may not be called fresh although its records say so, as a sentence. */
  readonly doubt: string | null;
}

export interface ConnectionFacts {
  readonly connection: string;
  readonly accounts: number;
  /** Null where the last request was answered. */
  readonly failing: ConnectionFailure | null;
}

/** A receiver of outgoing webhooks: of the settings, or one that the mirror still knows. */
export interface TargetStatus extends TargetReport {
  readonly state: 'delivering' | 'failing' | 'disabled' | 'not begun' | 'not in the settings';
  readonly lag_seconds: number;
}

/** A copy for readers that the settings name. */
export interface PublicationStatus extends PublicationReport {
  readonly when: string;
  readonly state: 'written' | 'failing' | 'not written yet';
}

/** Green, amber, red, and blue for a first pull. */
export type Tone = 'good' | 'fair' | 'bad' | 'busy';

export type ProblemCode =
  | 'listener_closed'
  | 'cannot_store'
  | keyof typeof headlines
  | 'last_run'
  | 'absences_waiting'
  | 'token_sees_less'
  | 'absences_unproven'
  | 'callback_unverified'
  | 'deliveries_refused'
  | 'address_known'
  | 'callbacks_unknown'
  | 'deliveries_silent'
  | 'vendors_undecided'
  | 'vendors_parked'
  | 'queue_stuck'
  | 'no_daemon'
  | 'nobody_works'
  | 'nobody_listens'
  | 'disk_low'
  | 'listener_moved'
  | 'connection_refused'
  | 'receiver_gone'
  | 'receiver_failing'
  | 'changes_given_up'
  | 'receiver_unknown'
  | 'publication_failing'
  | 'publication_late';

export interface Problem {
  readonly code: ProblemCode;
  readonly tone: Exclude<Tone, 'good'>;
  /** Since when, where that is known. */
  readonly since: string | null;
  /** What is wrong: sentences. */
  readonly message: string;
  /** What a person should do about it; null where nothing needs to be done. */
  readonly remedy: string | null;
  /** What the verdict says of it, where its cause has words of its own. */
  readonly headline?: string;
  /** The connection that it is about, where it is about one. */
  readonly connection?: string;
}

/** What stands above everything else about an account. */
export interface Verdict {
  readonly code: ProblemCode | 'correct';
  readonly tone: Tone;
  /** Without a full stop: the moment may follow. */
  readonly words: string;
  readonly since: string | null;
  /** Whether the words say that the mirror is correct: the moment that belongs to them is `asOf`, otherwise it is `since`. */
  readonly isCorrect: boolean;
}

export interface AccountHealth {
  readonly facts: AccountFacts;
  readonly verdict: Verdict;
  /** Problems of this account alone, the first decides. */
  readonly problems: readonly Problem[];
  /** Paused accounts and those that are no longer served are neither read nor called stale, and no total counts them. */
  readonly isServed: boolean;
  /** Whether its part of the mirror may be relied on. */
  readonly ready: boolean;
  /** Whether it is too old, or its freshness is in doubt. */
  readonly stale: boolean;
  /** How far what the lists show may lag behind the service, in milliseconds; null where that is not known. */
  readonly staleness: number | null;
  /** Up to when every change is in the mirror; null where that is not known. */
  readonly asOf: string | null;
  /** Why the last run that ended was not complete; undefined where it was. */
  readonly error: LastError | undefined;
  readonly deliveries: DeliveryHealth;
}

export interface DeliveryHealth {
  readonly state: 'off' | 'unregistered' | 'unverified' | 'refused' | 'silent' | 'receiving';
  readonly tone: Tone;
  readonly words: string;
}

/** Why the last run that ended was not complete. */
export interface LastError {
  readonly run: ReportedRun;
  /** Null where an older version wrote the run. */
  readonly code: ErrorCode | null;
  /** What to do about it; null where the next run follows without help. */
  readonly hint: string | null;
}

export interface Health {
  readonly facts: HealthFacts;
  /** Problems that keep the daemon from taking deliveries; none where it can. */
  readonly process: readonly Problem[];
  /** Problems of no single account. */
  readonly installation: readonly Problem[];
  /** Those in most need of a person first, those that are not served last. */
  readonly bySeverity: readonly AccountHealth[];
  readonly accounts: readonly AccountHealth[];
  readonly verdict: Verdict;
  /** Wall time of the judgement, milliseconds since 1970. */
  readonly now: number;
}

export function judge(facts: HealthFacts, now: number): Health {
  const process = judgeProcess(facts.ability);
  const installation = installationProblems(facts, now);
  const accounts = facts.accounts.map((account) => judgeAccount(account, { facts, process, installation, now }));
  const bySeverity = [...accounts].sort(moreSevere);
  const verdict = bySeverity[0]?.verdict ?? verdictOf([...process, ...installation], 'No account is served');
  return { facts, process, installation, accounts, bySeverity, verdict, now };
}

/** About the process only: a refused or late account must not take the listener away from the others. */
export function judgeProcess({ listening, trouble }: Ability): Problem[] {
  return [
    listening === false ? problem('listener_closed', 'bad', 'The listener is not open.', null) : [],
    trouble
      ? problem(
          trouble.code === 'other_service' ? 'other_service' : 'cannot_store',
          'bad',
          trouble.message,
          trouble.remedy ?? catalogue[trouble.code].hint,
        )
      : [],
  ].flat();
}

export function sentenceOf({ message, remedy }: Problem): string {
  return remedy === null ? message : `${message} ${remedy}`;
}

interface Surroundings {
  readonly facts: HealthFacts;
  readonly process: readonly Problem[];
  readonly installation: readonly Problem[];
  readonly now: number;
}

const headlines = {
  other_service: 'The settings name another service',
  not_served: 'No longer in the settings',
  paused: 'Paused',
  access_refused: 'The service refuses access',
  service_failing: 'The service does not answer correctly',
  first_pull: 'The first pull is under way',
  never_mirrored: 'Nothing is mirrored completely yet',
  clock_wrong: 'Your mirror may be out of date',
  clock_set_back: 'Your mirror may be out of date',
  stale: 'Your mirror may be out of date',
  in_doubt: 'Your mirror may be out of date',
  mirror_differs: 'Your mirror differs from the service',
  values_unreadable: 'Some values could not be read',
  fields_unsent: 'Some fields are no longer sent',
} as const;

/** The service was not asked. */
const noToken = 'There is no usable access token';

function correctWords({ freshness }: AccountFacts): string {
  return lacksDetails(freshness) ? 'Your mirror is correct but for fields that lists leave out' : correctMirror;
}

/** Whether lists leave out fields that were not read of each vendor yet. */
export function lacksDetails({ details_as_of }: AccountFacts['freshness']): boolean {
  return details_as_of?.startsWith('1970') === true;
}

const correctMirror = 'Your mirror is correct';

function verdictOf([first]: readonly Problem[], correct: string): Verdict {
  if (!first) return { code: 'correct', tone: 'good', words: correct, since: null, isCorrect: true };
  const { code, tone, since, headline } = first;
  if (code in headlines)
    return { code, tone, since, words: headline ?? headlines[code as keyof typeof headlines], isCorrect: false };
  return tone === 'bad'
    ? { code, tone, since, words: 'Changes cannot be stored now', isCorrect: false }
    : { code, tone, since, words: 'Something needs your attention, but your mirror is correct', isCorrect: true };
}

function problem(
  code: ProblemCode,
  tone: Problem['tone'],
  message: string,
  remedy: string | null,
  since: string | null = null,
): Problem {
  return { code, tone, since, message, remedy };
}

/** A token that is refused is refused for each account of its connection, whichever request found it out. */
function withToken(facts: AccountFacts, connections: readonly ConnectionFacts[]): AccountFacts {
  const refused = connections.find(({ connection }) => connection === facts.connection)?.failing;
  return facts.failing || !refused || !isOfToken(refused.code) ? facts : { ...facts, failing: refused };
}

/**
 * How far what a run claims may lie in the future, in milliseconds: it is of a moment before its run began, so more than the clocks of two
 * machines differ by shows that a clock was wrong, then or now.
 */
const longestAhead = 5_000;

function judgeAccount(account: AccountFacts, around: Surroundings): AccountHealth {
  const { now, process, installation } = around;
  const facts = withToken(account, around.facts.connections);
  const { listed_as_of, safe_as_of, paused_since } = facts.freshness;
  const listed = listed_as_of === null ? undefined : parseInstant(listed_as_of);
  const aheadBy = listed === undefined || listed - now <= longestAhead ? null : listed - now;
  const staleness = listed === undefined || aheadBy !== null ? null : Math.max(0, now - listed);
  const isServed = !facts.isLeft && paused_since === null;
  // Those that only listen begin no run, and register no callback.
  const hasDaemon = around.facts.startedAt !== null && !nobodyWorks(around.facts.serving ?? []);
  const found = {
    facts,
    now,
    staleness,
    aheadBy,
    maxStaleness: around.facts.maxStaleness,
    hasDaemon,
    isDiskShort: isDiskShort(around.facts),
    error: isServed ? lastError(facts.runs, hasDaemon) : undefined,
    deliveries: judgeDeliveries(facts, now),
  };
  const problems = isServed ? problemsOf(found) : notServed(facts);
  const isOld = staleness === null || staleness > found.maxStaleness;
  return {
    facts,
    problems,
    isServed,
    staleness,
    verdict: verdictOf([...process, ...problems, ...installation], correctWords(facts)),
    ready: isServed && problems.every(({ tone }) => tone === 'fair'),
    stale: isServed && (isOld || facts.doubt !== null),
    asOf: aheadBy === null ? (safe_as_of ?? listed_as_of) : null,
    error: found.error,
    deliveries: found.deliveries,
  };
}

const tones: readonly Tone[] = ['good', 'fair', 'busy', 'bad'];

function moreSevere(a: AccountHealth, b: AccountHealth): number {
  const need = ({ isServed, verdict }: AccountHealth): number => (isServed ? tones.indexOf(verdict.tone) : -1);
  const old = ({ staleness }: AccountHealth): number => staleness ?? Number.MAX_VALUE;
  return need(b) - need(a) || old(b) - old(a);
}

function notServed({ account, callbacks, isLeft, freshness }: AccountFacts): Problem[] {
  const { paused_since, not_served_since } = freshness;
  if (!isLeft) {
    const message = `Paused since ${String(paused_since).slice(0, 19)} UTC: nothing is requested from the service, and deliveries are stored. \`vendor-mirror accounts resume ${account}\` resumes it.`;
    return [problem('paused', 'fair', message, null, paused_since)];
  }
  const what = 'It is no longer in the settings, so nothing keeps it fresh';
  const [callback] = callbacks;
  return [
    callback
      ? problem(
          'not_served',
          'fair',
          `${what}, and its callback is still registered.`,
          `Run \`vendor-mirror callbacks delete ${callback.callbackid} --account ${account}\`.`,
          not_served_since,
        )
      : problem('not_served', 'fair', `${what}.`, null, not_served_since),
  ];
}

interface Found {
  readonly facts: AccountFacts;
  readonly now: number;
  readonly maxStaleness: number;
  readonly hasDaemon: boolean;
  /** The installation says so. */
  readonly isDiskShort: boolean;
  readonly staleness: number | null;
  /** How far what the last run claims lies in the future, in milliseconds; null where it does not. */
  readonly aheadBy: number | null;
  readonly error: LastError | undefined;
  readonly deliveries: DeliveryHealth;
}

type Rule = (found: Found) => Problem | undefined;

const accessRefused: Rule = ({ facts, error }) => {
  const { failing } = facts;
  const run = error?.code && isAccessRefused(error.code) ? error : undefined;
  const code = run?.code ?? codeOf(failing);
  if (!code || !isAccessRefused(code)) return undefined;
  const headline = code === 'token_unusable' ? noToken : headlines.access_refused;
  const message = `${headline} (${code}). ${(run ? run.run.error : failing?.message) ?? ''}`.trimEnd();
  const firsts = [facts.refusedSince, failing && isAccessRefused(failing.code as ErrorCode) ? failing.first_at : null];
  const since = firsts.filter((moment) => moment !== null).sort()[0] ?? run?.run.started_at ?? null;
  const remedy = (run ? run.run.remedy : failing?.remedy) ?? catalogue[code].hint;
  return { ...problem('access_refused', 'bad', message, remedy, since), headline };
};

const serviceFailing: Rule = (found) => {
  const { failing } = found.facts;
  if (failing === null || accessRefused(found)) return undefined;
  const { requests, first_at, last_at, message } = failing;
  const clock = { now: () => found.now };
  const which = requests === 1 ? 'The last request failed' : `The last ${requests} requests failed`;
  const times = requests === 1 ? age(clock, last_at) : `the first at ${first_at.slice(0, 19)} UTC`;
  const code = codeOf(failing);
  const isFresh = !neverComplete(found) && !tooOld(found) && found.facts.doubt === null;
  const remedy = failing.remedy ?? (code ? catalogue[code].hint : 'Run `vendor-mirror doctor`.');
  return problem(
    'service_failing',
    isFresh ? 'fair' : 'bad',
    `${which}, ${times}: ${withFullStop(message)}`,
    remedy,
    first_at,
  );
};

const neverComplete: Rule = (found) => {
  const { facts, error, hasDaemon, staleness } = found;
  if (staleness !== null || facts.freshness.last_complete_sweep !== null) return undefined;
  const none = 'No sweep was complete yet';
  const running = facts.runs.find(({ kind, outcome }) => kind !== 'verify' && outcome === 'running');
  if (running) {
    const message = `${none}: what has been read so far is correct.${progressWords(facts.progress)}`;
    if (!facts.isRunUnseen) return problem('first_pull', 'busy', message, null, running.started_at);
    const unseen = `${message} Whether its process is still there is not known to this user.`;
    const remedy = 'Run `vendor-mirror status` as the user who pulls.';
    return {
      ...problem('first_pull', 'busy', unseen, remedy, running.started_at),
      headline: 'The first pull has begun',
    };
  }
  if (facts.failing || accessRefused(found) || isExplainedByDisk(found))
    return problem('never_mirrored', 'bad', `${none}.`, null);
  if (error) return afterFailure(`${none}. ${ending(error)}`, error, firstFailure(facts, error));
  if (hasDaemon) return problem('never_mirrored', 'busy', `${none}. The first run is about to begin.`, null);
  return problem('never_mirrored', 'bad', `${none}.`, 'Run `vendor-mirror sync`.');
};

/** Of an account that was never mirrored completely. A comparison that was cut off leaves that as it was. */
function afterFailure(message: string, { run, hint }: LastError, since: string | null): Problem {
  if (hint === null)
    return problem('never_mirrored', 'busy', `${message} The next run is about to begin.`, null, since);
  const isCutOff = run.kind === 'verify' && run.outcome === 'abandoned';
  return problem('never_mirrored', 'bad', message, isCutOff ? 'Run `vendor-mirror sync`.' : hint, since);
}

/** Judged by what lists show: vendors that they hide are read again in turn, which takes longer. */
const tooOld: Rule = (found) => {
  const { staleness, aheadBy, maxStaleness, error, facts, hasDaemon } = found;
  if (neverComplete(found)) return undefined;
  // Where something else says what to do, another run alone would only fail again.
  const sync = hasDaemon ? 'Run `vendor-mirror sync`.' : 'Run `vendor-mirror sync`, or start `vendor-mirror serve`.';
  const remedy = error || facts.failing ? null : sync;
  if (staleness === null && facts.clockAheadMs !== null) {
    const ahead = facts.clockAheadMs > 0 ? 'ahead of' : 'behind';
    const message = `The clock of this machine is ${apartInWords(Math.abs(facts.clockAheadMs))} ${ahead} the service's, so the age of the mirror is unknown, and nothing old is removed.`;
    return problem(
      'clock_wrong',
      'bad',
      message,
      'Set the clock, best by NTP; the next sweep then says how fresh the mirror is.',
    );
  }
  if (aheadBy !== null) {
    const message = `By the clock of this machine, the lists were read in the future, ${inWords(aheadBy)} from now: it was wrong then, or is now, so the age of the mirror is unknown.`;
    const set = 'Set the clock, best by NTP, if it is wrong now.';
    return problem('clock_set_back', 'bad', message, remedy === null ? set : `${set} ${remedy}`);
  }
  if (staleness === null) {
    const unknown = 'The clock was set back, so the age of the mirror is unknown until the next complete sweep.';
    return problem('clock_set_back', 'bad', unknown, remedy);
  }
  if (staleness <= maxStaleness) return undefined;
  const message = `Changes of the ${lastInWords(staleness)} may be missing; admin.maxStaleness allows ${inWords(maxStaleness)}.`;
  return problem('stale', 'bad', message, remedy);
};

const inDoubt: Rule = ({ facts: { doubt } }) => (doubt === null ? undefined : problem('in_doubt', 'bad', doubt, null));

const mirrorDiffers: Rule = ({ facts: { runs } }) => {
  const run = runs.find(({ outcome }) => outcome === 'complete');
  if (run?.kind !== 'verify' || run.error_code !== 'differences') return undefined;
  const message = `The last verify found differences: ${withFullStop(run.error ?? 'none is known')}`;
  return problem('mirror_differs', 'fair', message, run.remedy ?? catalogue.differences.hint, run.finished_at);
};

const lastRun: Rule = (found) => {
  const { error, facts, hasDaemon } = found;
  if (!error || accessRefused(found) || (error.code !== null && error.code === codeOf(facts.failing))) return undefined;
  if (facts.failing === null && neverComplete(found)?.code === 'never_mirrored') return undefined;
  if (isExplainedByDisk(found)) return undefined;
  const since = firstFailure(facts, error);
  if (error.hint === null) return problem('last_run', 'fair', `${ending(error)} ${followsText(facts)}`, null, since);
  if (error.code !== 'disk_full') return problem('last_run', 'fair', ending(error), error.hint, since);
  const message = `${ending(error)} There is space again.`;
  return problem('last_run', 'fair', message, hasDaemon ? null : 'Run `vendor-mirror sync`.', since);
};

function followsText({ runs }: AccountFacts): string {
  return runs[0]?.outcome === 'running' ? 'The next run is under way.' : 'The next run is about to begin.';
}

/** Whether the last run failed for want of the space that is still wanting. */
function isExplainedByDisk({ error, isDiskShort: isShort }: Found): boolean {
  return isShort && error?.code === 'disk_full';
}

/** When the first run failed since one was complete: the last one says only what is wrong now. */
function firstFailure({ failedSince }: AccountFacts, { run }: LastError): string | null {
  return failedSince ?? run.finished_at ?? run.started_at;
}

const absencesWaiting: Rule = ({ facts, error }) =>
  facts.findings.some(({ kind }) => kind === 'breaker') && error?.code !== 'breaker_tripped'
    ? problem(
        'absences_waiting',
        'fair',
        'Many vendors are missing from the list, and none of them was marked gone yet.',
        catalogue.breaker_tripped.hint,
      )
    : undefined;

const tokenSeesLess: Rule = ({ facts: { account, withheldAbsences: vendors } }) => {
  if (vendors === 0) return undefined;
  const which = vendors === 1 ? 'One vendor' : `${vendors} vendors`;
  const message = `${which} can no longer be read, and the service counts more than it shows: the token may see less than before. The mirror keeps what it knew.`;
  const approve = `vendor-mirror reconcile --account ${account} --approve-absences ${vendors}`;
  const remedy = `Check the role of the token; if they are really gone, run \`${approve}\`.`;
  return problem('token_sees_less', 'fair', message, remedy);
};

const absencesUnproven: Rule = ({ facts: { account, unprovenAbsences: vendors } }) => {
  if (vendors === 0) return undefined;
  const which = vendors === 1 ? 'one vendor' : `${vendors} vendors`;
  const message = `An earlier version called ${which} missing or gone, although lists may merely hide them.`;
  return problem(
    'absences_unproven',
    'fair',
    message,
    `Run \`vendor-mirror reconcile --account ${account}\`: it reads them again, fifty a run.`,
  );
};

const callbackUnverified: Rule = ({ facts, deliveries, hasDaemon, now }) => {
  const { account, callbacks, freshness, refusals, movedTo } = facts;
  const first = callbacks.find(({ event }) => isAboutVendors(event));
  const isUnregistered = deliveries.state === 'unregistered' && freshness.last_complete_sweep !== null;
  if (!isUnregistered && movedTo === null && freshness.callback_verified !== 0) return undefined;
  const refusal = refusals.find(({ event }) => isAboutVendors(event));
  const { message, remedy } = refusal
    ? registrationRefused(refusal, now)
    : !first
      ? notRegistered(hasDaemon)
      : movedTo === null
        ? notVerified(first.callbackid, account)
        : leadsElsewhere(first, movedTo, hasDaemon);
  return problem('callback_unverified', 'fair', message, remedy, refusal?.refused_at ?? null);
};

const deliveriesRefused: Rule = ({ facts, now }) => {
  const { account, refused } = facts;
  const unsolved = unsolvedRefusals(refused, facts, now);
  const [first] = unsolved;
  if (!first) return undefined;
  const since = unsolved.map(({ recent_at }) => recent_at).sort()[0] ?? first.recent_at;
  const all = unsolved.reduce((sum, { recent }) => sum + recent, 0);
  const which = all === 1 ? 'one request' : `${all.toLocaleString('en')} requests`;
  const parts = unsolved.map(({ outcome, recent, detail }) => {
    const words = refusalWords(outcome, detail);
    return unsolved.length === 1 ? words : `${recent.toLocaleString('en')} ${words}`;
  });
  const message = `Since ${since.slice(0, 19)} UTC, no delivery was accepted, and ${which} to the callback address ${all === 1 ? 'was' : 'were'} refused: ${parts.join('; ')}.`;
  return problem(
    'deliveries_refused',
    'fair',
    message,
    refusalRemedy(first.outcome, account, verifiedId(facts)),
    since,
  );
};

const addressKnown: Rule = ({ facts, now }) => {
  const { account, refused } = facts;
  const found = ofStrangers(refused, facts, now);
  if (!found) return undefined;
  const { count, first, last } = found;
  const message = `Somebody besides the service knows the address of the callback: ${count.toLocaleString('en')} requests with wrong codes or signatures came there since ${first.slice(0, 19)} UTC, the last ${age({ now: () => now }, last)}. They were refused.`;
  return problem('address_known', 'fair', message, addressRemedy(account), first);
};

const callbacksUnknown: Rule = ({ facts: { account, awaitsDeliveries, unknownCallbacks, refused } }) => {
  const ids = unknownCallbacks.map(({ callbackid }) => callbackid);
  if (ids.length === 0 || !awaitsDeliveries) return undefined;
  const since = unknownCallbacks.map(({ found_at }) => found_at).sort()[0];
  const count = refused.find(({ outcome }) => outcome === 'unknown_path')?.refused ?? 0;
  const many = count === 0 ? '' : ` ${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'} until now.`;
  const message = `${unknownCallbacksText(ids)}${many}`;
  return problem('callbacks_unknown', 'fair', message, unknownCallbacksRemedy(ids, account), since);
};

/** Of the callback by which changes of vendors come. */
function verifiedId({ callbacks }: AccountFacts): number | undefined {
  return callbacks.find(({ verified, event }) => verified === 1 && isAboutVendors(event))?.callbackid;
}

const deliveriesSilent: Rule = ({ facts, deliveries, now }) => {
  const { account, lastDelivery, missedSince } = facts;
  if (deliveries.state !== 'silent') return undefined;
  const silent =
    lastDelivery === null
      ? 'no delivery ever arrived'
      : `the last one arrived ${age({ now: () => now }, lastDelivery)}`;
  const message = `Sweeps found ${missedSince} changes that no delivery announced, and ${silent}.`;
  const resend = `vendor-mirror callbacks resend ${verifiedId(facts) ?? 'ID'} --account ${account}`;
  const remedy = `Correct what \`vendor-mirror doctor\` says of the public address and the delivery path. If both are right, the service may have disabled the callback: \`${resend}\` enables it, while the daemon runs, which also tries it by itself.`;
  return problem('deliveries_silent', 'fair', message, remedy, lastDelivery);
};

const named = 3;

const vendorsUndecided: Rule = ({ facts: { freshness, undecided, withheldAbsences } }) => {
  const [first] = undecided;
  // Those that are withheld have a problem of their own.
  if (!first || freshness.undecided <= withheldAbsences) return undefined;
  const ids = undecided.slice(0, named).map(({ vendorid }) => vendorid);
  const more = freshness.undecided - ids.length;
  if (undecided.every(({ code }) => code === 'list_refuted')) {
    const which =
      freshness.undecided === 1
        ? `vendor ${first.vendorid}`
        : `${freshness.undecided} vendors (${ids.join(', ')}${more > 0 ? ' and others' : ''})`;
    return problem(
      'vendors_undecided',
      'fair',
      `The list leaves out ${which}, though reads by id show them: they are read by id with each run, but others may be missing that no delivery names.`,
      'Report it to the service.',
      first.since,
    );
  }
  const which =
    freshness.undecided === 1
      ? `Vendor ${first.vendorid}, which no list shows, could not be read`
      : `${freshness.undecided} vendors that no list shows (${ids.join(', ')}${more > 0 ? ' and others' : ''}) could not be read`;
  const message = `${which}, so the mirror holds what was last known: ${withFullStop(first.error)}`;
  const remedy = isAccessRefused(first.code as ErrorCode)
    ? 'Give the person whose token it is access to such vendors; each run tries again.'
    : 'Open the vendor in the service, and report it there; each run tries again.';
  return problem('vendors_undecided', 'fair', message, remedy, first.since);
};

const valuesUnreadable: Rule = ({ facts: { unreadable } }) => {
  if (unreadable.length === 0) return undefined;
  const fields = unreadable.map(
    ({ field, vendors }) => `${field} of ${vendors === 1 ? '1 vendor' : `${vendors} vendors`}`,
  );
  const message = `The service sent values that could not be read, so they are null in the mirror: ${fields.join(', ')}.`;
  return problem(
    'values_unreadable',
    'fair',
    message,
    '`vendor-mirror verify` lists the vendors, and `vendors show` what was sent.',
  );
};

const fieldsUnsent: Rule = ({ facts: { unsent } }) => {
  const [first] = unsent;
  if (!first) return undefined;
  const fields = unsent.map(({ field }) => field);
  const message = `The service no longer sends ${fields.join(', ')}: the mirror holds the values of before, and nobody knows whether they are still so.`;
  const remedy = `Check the scopes of the token and the plan of the business. If it is to stay so, add ${fields.length === 1 ? 'the field' : 'the fields'} to vendors.exclude, and run \`vendor-mirror forget --field ${first.field}\`.`;
  return problem('fields_unsent', 'fair', message, remedy, first.since);
};

const vendorsParked: Rule = ({ facts: { queue, parkedFor } }) => {
  if (queue.parked === 0) return undefined;
  const vendors = queue.parked === 1 ? 'One changed vendor' : `${queue.parked} changed vendors`;
  const [most, ...others] = parkedFor;
  const why = most?.error ? ` ${others.length === 0 ? 'The cause' : 'Most often'}: ${withFullStop(most.error)}` : '';
  const message = `${vendors} could not be read; the next reconciliation tries again.${why}`;
  const remedy = 'Remove the cause; then `vendor-mirror deliveries retry` tries again at once.';
  return problem('vendors_parked', 'fair', message, remedy);
};

/** As long as the alert rules allow, in milliseconds. */
const maxWait = 30 * 60_000;

/** Not where vendors are parked, because one of those may be the oldest, nor where the service explains it. */
const queueStuck: Rule = (found) => {
  const { queue, oldestMark, failing } = found.facts;
  if (queue.waiting === 0 || queue.parked > 0 || oldestMark === null || failing || accessRefused(found))
    return undefined;
  const waited = found.now - (parseInstant(oldestMark) ?? found.now);
  if (waited <= maxWait) return undefined;
  const message = `A changed vendor has waited ${inWords(waited)} to be read.`;
  return problem('queue_stuck', 'fair', message, '`vendor-mirror sync` reads it with all others.', oldestMark);
};

/** In this order. */
const rules: readonly Rule[] = [
  accessRefused,
  serviceFailing,
  neverComplete,
  tooOld,
  inDoubt,
  mirrorDiffers,
  lastRun,
  absencesWaiting,
  tokenSeesLess,
  absencesUnproven,
  callbackUnverified,
  deliveriesRefused,
  addressKnown,
  callbacksUnknown,
  deliveriesSilent,
  vendorsUndecided,
  valuesUnreadable,
  fieldsUnsent,
  vendorsParked,
  queueStuck,
];

function problemsOf(found: Found): Problem[] {
  return rules.map((rule) => rule(found)).filter((problem) => problem !== undefined);
}

const codeOf = (failing: RequestFailureReport | null): ErrorCode | undefined =>
  failing && failing.code in catalogue ? (failing.code as ErrorCode) : undefined;

const endings: Readonly<Record<string, string>> = {
  incomplete: 'was incomplete',
  failed: 'failed',
  abandoned: 'was cut off',
};

function lastError(runs: readonly ReportedRun[], hasDaemon: boolean): LastError | undefined {
  const run = runs.find(({ outcome }) => outcome !== 'running');
  if (!run || !(run.outcome in endings)) return undefined;
  const code = run.error_code !== null && run.error_code in catalogue ? (run.error_code as ErrorCode) : null;
  const isUnderWay = runs.some(({ id, outcome }) => id > run.id && outcome === 'running');
  const again = run.kind === 'pull' ? 'sync' : run.kind;
  const known = run.remedy ?? (code === null ? `Run \`vendor-mirror ${again}\` again.` : catalogue[code].hint);
  const follows = run.outcome === 'abandoned' && (isUnderWay || (hasDaemon && run.kind !== 'verify'));
  return { run, code, hint: follows ? null : known };
}

function ending({ run: { kind, outcome, error } }: LastError): string {
  const ended = `The last ${kind} ${endings[outcome] ?? outcome}`;
  return withFullStop(error === null ? ended : `${ended}: ${error}`);
}

function progressWords(progress: SweepProgress | null): string {
  if (progress === null) return '';
  const { page, pages, pass, seen, total } = progress;
  const vendors = total > 0 ? `; ${seen.toLocaleString('en')} of ${total.toLocaleString('en')} vendors` : '';
  return ` Page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}, walk ${pass.toLocaleString('en')}${vendors}.`;
}

/** A delivery younger than this proves that deliveries arrive. */
const recent = 24 * 3_600_000;

type DeliveryFacts = Pick<
  AccountFacts,
  'awaitsDeliveries' | 'callbacks' | 'freshness' | 'lastDelivery' | 'provenAt' | 'missedSince' | 'refused'
>;

/** The silence is unusual from this many unannounced changes, and this many milliseconds without a delivery. */
const unusualMisses = 3;
const unusualSilence = 15 * 60_000;

/**
 * For how long neither a delivery nor a code that was right has come, in milliseconds; undefined where that is not unusual. Counted from
 * `since` where none ever came. The callback may be disabled without showing it.
 */
export function unusuallySilentFor(
  { lastDelivery, provenAt, missedSince }: Pick<AccountFacts, 'lastDelivery' | 'provenAt' | 'missedSince'>,
  now: number,
  since: number,
): number | undefined {
  const heard = [lastDelivery, provenAt].map((moment) => parseInstant(moment ?? '') ?? since);
  const silentFor = now - Math.max(...heard);
  return missedSince >= unusualMisses && silentFor >= unusualSilence ? silentFor : undefined;
}

export function judgeDeliveries(facts: DeliveryFacts, now: number): DeliveryHealth {
  const { awaitsDeliveries, callbacks, freshness, lastDelivery, provenAt, missedSince, refused } = facts;
  const receiving = (tone: Tone, words: string): DeliveryHealth => ({ state: 'receiving', tone, words });
  if (!awaitsDeliveries)
    return { state: 'off', tone: 'fair', words: 'Off: listener.publicUrl is not set, so only sweeps find changes' };
  if (callbacks.length === 0)
    return freshness.last_complete_sweep === null
      ? { state: 'unregistered', tone: 'busy', words: 'Not registered yet' }
      : { state: 'unregistered', tone: 'bad', words: 'Dead: no callback is registered' };
  if (freshness.callback_verified === 0)
    return { state: 'unverified', tone: 'bad', words: 'Dead: no callback is verified' };
  if (unsolvedRefusals(refused, facts, now).length > 0)
    return { state: 'refused', tone: 'bad', words: 'Dead: deliveries come and are refused' };
  if (unusuallySilentFor(facts, now, -Infinity) !== undefined)
    return { state: 'silent', tone: 'bad', words: 'Dead: sweeps find changes that no delivery announced' };
  const silentFor = lastDelivery === null ? Infinity : now - (parseInstant(lastDelivery) ?? 0);
  // Right after a delivery, that of a change which a sweep found may still be on its way.
  if (missedSince > 0 && silentFor >= unusualSilence) {
    const isRenewed = lastDelivery !== null && (provenAt ?? '') > lastDelivery;
    const last = `since the ${isRenewed ? 'callback was renewed' : 'last delivery'}`;
    const since = lastDelivery === null ? 'no delivery ever arrived, and' : last;
    const found = missedSince === 1 ? '1 change' : `${missedSince.toLocaleString('en')} changes`;
    return receiving('fair', `Doubtful: ${since} sweeps found ${found} that should have been announced`);
  }
  if (lastDelivery === null)
    return receiving('fair', 'Not proven: the callback is verified, but no delivery has arrived yet');
  if (silentFor < recent) return receiving('good', 'Alive');
  const silent = `Quiet for ${inWords(silentFor)}: the callback is verified`;
  return (freshness.last_complete_sweep ?? '') > lastDelivery
    ? receiving('good', `${silent}, and no sweep found a change that should have been announced`)
    : receiving('fair', `${silent}, but there was no complete sweep since, so missed changes are unknown`);
}

const nobodyWorking =
  'The daemons of this mirror only listen, and none works: deliveries are stored, and no vendor is read.';
const workingRemedy = 'Start `vendor-mirror serve` on one more machine, or with work among its `roles`.';
const nobodyListening = 'No daemon of this mirror listens, so nothing takes the deliveries of the service.';
const listeningRemedy = 'Start `vendor-mirror serve` on one more machine, or with listen among its `roles`.';

function installationProblems(facts: HealthFacts, now: number): Problem[] {
  const { accounts, connections, targets, publications, startedAt } = facts;
  const isDelivered = accounts.some(({ isLeft, freshness }) => !isLeft && freshness.callback_verified === 1);
  const noDaemon = 'No daemon runs, so nothing takes the deliveries of the service.';
  return [
    startedAt === null && isDelivered ? problem('no_daemon', 'fair', noDaemon, 'Run `vendor-mirror serve`.') : [],
    nobodyWorks(facts.serving ?? []) ? problem('nobody_works', 'fair', nobodyWorking, workingRemedy) : [],
    nobodyListens(facts.serving ?? []) && isDelivered
      ? problem('nobody_listens', 'fair', nobodyListening, listeningRemedy)
      : [],
    diskProblem(facts) ?? [],
    listenerProblem(facts) ?? [],
    // Of a single connection its accounts say it all.
    connections.length < 2 ? [] : connections.flatMap((connection) => connectionProblem(connection, now) ?? []),
    targets.flatMap((target) => targetProblems(target, now)),
    publications.flatMap((publication) => publicationProblem(publication, startedAt !== null, now) ?? []),
  ].flat();
}

function isDiskShort(facts: HealthFacts): boolean {
  return facts.ability.trouble?.code === 'disk_full' || diskProblem(facts) !== undefined;
}

/** Where sweeps wait; a full disk is a problem of the process. */
function diskProblem({ ability: { trouble, diskFreeBytes }, database }: HealthFacts): Problem | undefined {
  const noSpace = trouble?.code === 'disk_full' ? undefined : noSpaceForSweep(diskFreeBytes, database);
  return noSpace && problem('disk_low', 'fair', noSpace.message, catalogue.disk_full.hint);
}

/** What a daemon says that no longer listens on all interfaces, though nobody asked for that. */
export function listenerMoved(host: string): string {
  return `listener.host is not set, and its default is ${host} now: only this machine reaches the listener, which took deliveries on all interfaces before.`;
}

export const listenerRemedy =
  'If the proxy runs on another machine, or in another container, set listener.host: 0.0.0.0 and restart the daemon. If it runs on this machine, this ends with the first delivery.';

/** Nothing once a delivery has come. */
function listenerProblem({ listenerMovedAt, accounts }: HealthFacts): Problem | undefined {
  if (listenerMovedAt === null) return undefined;
  if (accounts.some(({ lastDelivery }) => (lastDelivery ?? '') >= listenerMovedAt)) return undefined;
  const message = `${listenerMoved('127.0.0.1')} No delivery has come since.`;
  return problem('listener_moved', 'fair', message, listenerRemedy, listenerMovedAt);
}

/** The accounts of each connection, and why one gives no access. */
export function connectionFacts(
  names: readonly string[],
  connectionOf: (accountId: string) => string,
  accounts: readonly string[],
  failures: readonly ConnectionFailure[],
): ConnectionFacts[] {
  const counts = new Map<string, number>();
  for (const name of accounts.map(connectionOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((connection) => ({
    connection,
    accounts: counts.get(connection) ?? 0,
    failing: failures.find((failure) => failure.connection === connection) ?? null,
  }));
}

/** What to do about a connection that gives no access; undefined while it does. */
export function connectionRemedy({ connection, failing }: ConnectionFacts): string | undefined {
  if (!failing) return undefined;
  if (failing.code === 'token_refresh_failed' && !failing.remedy) return `Run \`vendor-mirror login ${connection}\`.`;
  return failing.remedy ?? (failing.code in catalogue ? catalogue[failing.code as ErrorCode].hint : '');
}

/** Nothing of a problem that may pass without help. */
function connectionProblem(facts: ConnectionFacts, now: number): Problem | undefined {
  const { connection, accounts, failing } = facts;
  if (!failing || !isAccessRefused(failing.code as ErrorCode)) return undefined;
  const whose = accounts === 1 ? 'its account' : `its ${accounts} accounts`;
  const message = `The connection ${connection} has given no access to ${whose} for ${took({ now: () => now }, failing.first_at, null)}: ${withFullStop(failing.message)}`;
  const remedy = connectionRemedy(facts) ?? '';
  return { ...problem('connection_refused', 'fair', message, remedy, failing.first_at), connection };
}

/** Targets of these names, and those that the mirror still knows. */
export function targetStatuses(
  named: readonly string[],
  reports: readonly TargetReport[],
  now: number,
): TargetStatus[] {
  const known = reports.map((report): TargetStatus => {
    const { target, disabled_at, failing_since } = report;
    const state = disabled_at !== null ? 'disabled' : failing_since === null ? 'delivering' : 'failing';
    return {
      ...report,
      state: named.includes(target) ? state : 'not in the settings',
      lag_seconds: lagOf(report, now) / 1_000,
    };
  });
  const never = { began_at: '', delivered_at: null, failing_since: null, last_error: null, disabled_at: null };
  const empty = { waiting: 0, parked: 0, parked_error: null, behind: 0, oldest_waiting: null, lag_seconds: 0 };
  const others = named.filter((name) => !reports.some(({ target }) => target === name));
  return [...known, ...others.map((target): TargetStatus => ({ target, ...never, ...empty, state: 'not begun' }))];
}

/** The copies of the settings, in their order, with what the mirror knows of them. */
export function publicationStatuses(
  named: readonly { readonly path: string; readonly when: string }[],
  reports: readonly PublicationReport[],
): PublicationStatus[] {
  const none = {
    written_at: null,
    failing_since: null,
    failed_at: null,
    failures: 0,
    code: null,
    error: null,
    remedy: null,
  };
  return named.map(({ path, when }) => {
    const known = reports.find((report) => report.path === path) ?? { path, ...none, behind_since: null };
    const written = known.written_at === null ? 'not written yet' : 'written';
    // One on a schedule is not behind between its slots.
    const behind_since = when === 'change' ? known.behind_since : null;
    return { ...known, behind_since, when, state: known.failing_since === null ? written : 'failing' };
  });
}

function publicationProblem(
  { path, failing_since, code, error, remedy, behind_since }: PublicationStatus,
  hasDaemon: boolean,
  now: number,
): Problem | undefined {
  if (failing_since !== null) {
    const message = `${path} could not be published since ${failing_since.slice(0, 19)} UTC: ${withFullStop(error ?? 'no cause is known')}`;
    const hint =
      code === 'disk_full'
        ? `Free space on the disk that holds ${path}.`
        : code !== null && code in catalogue
          ? catalogue[code as ErrorCode].hint
          : 'Read the log.';
    return problem('publication_failing', 'fair', message, remedy ?? hint, failing_since);
  }
  const isLate = behind_since !== null && now - (parseInstant(behind_since) ?? now) > limits.publicationLate;
  if (!isLate || !hasDaemon) return undefined;
  const isFile = !path.startsWith('postgres://');
  const cause = isFile ? 'other copies take so long' : 'the server takes its rows so slowly';
  const message = `${path} lacks changes since ${behind_since.slice(0, 19)} UTC, because ${cause}.`;
  const { hint } = isFile ? catalogue.copy_too_slow : catalogue.postgres_failed;
  return problem('publication_late', 'fair', message, hint, behind_since);
}

export function targetProblems(status: TargetStatus, now: number): Problem[] {
  const { target, state, disabled_at, failing_since, last_error, parked, parked_error } = status;
  const because = (error: string | null): string => (error === null ? '.' : `: ${withFullStop(error)}`);
  if (state === 'not in the settings') {
    const remedy = `\`vendor-mirror notify forget ${target}\` deletes it.`;
    return [problem('receiver_unknown', 'fair', `${target} is no longer in the settings.`, remedy)];
  }
  if (state === 'disabled') {
    const { hint } = catalogue.receiver_gone;
    return [problem('receiver_gone', 'fair', `${target} answered 410.`, hint, disabled_at)];
  }
  const isLong = failing_since !== null && now - (parseInstant(failing_since) ?? now) >= limits.targetFailing;
  const down = `${target} has accepted nothing since ${failing_since?.slice(0, 19)} UTC${because(last_error)}`;
  const vendors = parked === 1 ? 'one vendor' : `${parked} vendors`;
  const givenUp = `${target}: the changes of ${vendors} were given up${because(parked_error)}`;
  const again = `\`vendor-mirror notify retry ${target}\` sends them again.`;
  return [
    isLong ? problem('receiver_failing', 'fair', down, catalogue.receiver_failing.hint, failing_since) : [],
    parked > 0 ? problem('changes_given_up', 'fair', givenUp, again) : [],
  ].flat();
}
