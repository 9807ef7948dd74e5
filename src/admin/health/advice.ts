/** What a person should do about an account; nothing if all is well. */
import { age } from '../../domain/age.ts';
import { lastInWords } from '../../domain/duration.ts';
import { parseInstant } from '../../domain/clock.ts';
import { catalogue, isAccessRefused, type ErrorCode } from '../../domain/errors.ts';
import type { AccountReport, ReportedRun, RequestFailureReport } from '../../store/reports/account-reports.ts';
import type { RunOutcome } from '../../store/tables/mirror-tables.ts';

/** What advice is judged by. */
export type Advised = Pick<AccountReport, 'account' | 'freshness' | 'queue' | 'runs' | 'findings' | 'failing'>;

/** Checks for one problem. @returns a sentence with its remedy. */
type Rule = (status: Advised, now: number) => string | undefined;

/** Why the last run that ended was not complete. */
export interface LastError {
  readonly run: ReportedRun;
  /** Null where an older version wrote the run. */
  readonly code: ErrorCode | null;
  /** What to do about it. */
  readonly hint: string;
}

/** How often in a row requests of an account failed, since when, and what to do; null where the last one was answered. */
export function failingRequests(failing: RequestFailureReport | null, now: number): string | null {
  if (failing === null) return null;
  const { requests, first_at, last_at, message } = failing;
  const which = requests === 1 ? 'The last request failed' : `The last ${requests} requests failed`;
  const times = requests === 1 ? age({ now: () => now }, last_at) : `since ${age({ now: () => now }, first_at)}`;
  const code = failing.code in catalogue ? (failing.code as ErrorCode) : undefined;
  return `${which}, ${times}: ${message}${code ? ` ${catalogue[code].hint}` : ''}`;
}

/** The error of an account's last run that ended, newest first given; undefined where that run was complete, or none ended. */
export function lastError(runs: readonly ReportedRun[]): LastError | undefined {
  const run = runs.find(({ outcome }) => outcome !== 'running');
  if (!run || !endings[run.outcome]) return undefined;
  const code = run.error_code !== null && run.error_code in catalogue ? (run.error_code as ErrorCode) : null;
  return { run, code, hint: code === null ? 'Run `vendor-mirror sync` again.' : catalogue[code].hint };
}

/**
 * Sentences, each with its remedy.
 * @param maxStaleness how old, in milliseconds, the mirror may be
 */
export function advice(account: string, status: Advised | undefined, now: number, maxStaleness: number): string[] {
  if (!status) return [`${never(account)}: run \`vendor-mirror sync\`.`];
  return [failure, stale(maxStaleness), breaker, parked, unverified].flatMap((rule) => rule(status, now) ?? []);
}

const endings: Partial<Record<RunOutcome, string>> = {
  incomplete: 'was incomplete',
  failed: 'failed',
  abandoned: 'was cut off',
};

const never = (account: string): string => `${account} was never mirrored completely`;

const failure: Rule = ({ account, runs }) => {
  const error = lastError(runs);
  if (!error) return undefined;
  const { kind, outcome, error: message } = error.run;
  const ended = `The last ${kind} of ${account} ${endings[outcome]}`;
  return `${message === null ? `${ended}.` : `${ended}: ${message}`} ${error.hint}`;
};

/** Judged by what lists show: vendors that they hide are read again in turn, which takes longer. */
const stale =
  (maxStaleness: number): Rule =>
  ({ account, freshness, runs, failing }, now) => {
    const listed = freshness.listed_as_of;
    const staleness = listed === null ? Infinity : now - (parseInstant(listed) ?? now);
    if (staleness <= maxStaleness) return undefined;
    const isUnknown = listed === null && freshness.last_complete_sweep !== null;
    if (isUnknown)
      return `${account}: the clock was set back, so the age of the mirror is unknown until the next complete sweep.`;
    const what = listed === null ? never(account) : `${account} may lack changes of the ${lastInWords(staleness)}`;
    // Where the run says itself what to do, another run alone would only fail again.
    if (lastError(runs)) return `${what}.`;
    const trouble = failingRequests(failing, now);
    return trouble === null ? `${what}: run \`vendor-mirror sync\`.` : `${what}. ${trouble}`;
  };

const breaker: Rule = ({ account, findings, runs }) =>
  findings.some(({ kind }) => kind === 'breaker') && lastError(runs)?.code !== 'breaker_tripped'
    ? `Many vendors of ${account} were not listed, which needs a person's approval. ${catalogue.breaker_tripped.hint}`
    : undefined;

const parked: Rule = ({ account, queue }) => {
  if (queue.parked === 0) return undefined;
  const vendors = queue.parked === 1 ? 'One changed vendor' : `${queue.parked} changed vendors`;
  return `${account}: ${vendors} could not be read; the next reconciliation tries again, \`vendor-mirror deliveries retry\` at once.`;
};

const unverified: Rule = ({ account, freshness }) =>
  freshness.callback_verified === 0
    ? `${account}: no callback is verified, so nothing is delivered: run \`vendor-mirror doctor\`.`
    : undefined;

/** Whether only a person can end what the last run met: nothing that is tried again will help. */
export function accessRefused(runs: readonly ReportedRun[]): LastError | undefined {
  const error = lastError(runs);
  return error?.code && isAccessRefused(error.code) ? error : undefined;
}
