/** Whether this process can do its work, whether each account's part of the mirror may be relied on, and why not. */
import { inWords, lastInWords } from '../../domain/duration.ts';
import { parseInstant, type Clock } from '../../domain/clock.ts';
import { accessRefused, failingRequests, lastError, type LastError } from './advice.ts';
import { inSlices } from './in-slices.ts';
import { targetAdvice } from './target-health.ts';
import type { Ability, AccountFacts, HealthFacts } from './health.ts';

/** The facts with their evaluation. */
export interface Health {
  readonly facts: HealthFacts;
  readonly process: Readiness;
  readonly accounts: readonly AccountHealth[];
  /** What a person should do about the receivers of outgoing webhooks: sentences, none if nothing is wrong. */
  readonly receivers: readonly string[];
  /** Whether the part of the mirror of every account that is not paused may be relied on. */
  readonly fresh: boolean;
  /** Wall time of the examination, milliseconds since 1970. */
  readonly now: number;
}

/** Whether deliveries can be accepted and stored, whatever the service and the accounts do. */
export interface Readiness {
  readonly ready: boolean;
  /** Sentences; none where it is ready. */
  readonly reasons: readonly string[];
  readonly ability: Ability;
}

export interface AccountHealth {
  readonly facts: AccountFacts;
  /** Whether it is paused: it is neither read nor called stale. */
  readonly isPaused: boolean;
  readonly ready: boolean;
  /** Sentences; none where it is ready. */
  readonly reasons: readonly string[];
  /** How far what the lists show may lag behind the service, in milliseconds; null before the first complete sweep. */
  readonly staleness: number | null;
  /** Whether it is too old, or its freshness is in doubt. */
  readonly stale: boolean;
  /** Why the last run that ended was not complete; undefined where it was. */
  readonly error: LastError | undefined;
}

export interface ReadinessRules {
  /** Wall time, milliseconds since 1970. */
  readonly now: number;
  /** `admin.maxStaleness`, milliseconds. */
  readonly maxStaleness: number;
}

/** About the process only: a refused or late account must not take the listener away from the others. */
export function readiness(ability: Ability): Readiness {
  const reasons = [ability.listening ? null : 'The listener is not open.', ability.trouble].filter(
    (reason) => reason !== null,
  );
  return { ready: reasons.length === 0, reasons, ability };
}

/** Accounts that are examined in one turn of the event loop. */
const atOnce = 100;

export async function examineHealth(
  facts: HealthFacts,
  rules: ReadinessRules,
  clock: Pick<Clock, 'yield'>,
): Promise<Health> {
  const accounts = await inSlices(clock, facts.accounts, atOnce, (account) => accountHealth(account, rules));
  return {
    facts,
    process: readiness(facts.ability),
    accounts,
    receivers: facts.targets.flatMap((target) => targetAdvice(target, rules.now)),
    fresh: accounts.every(({ ready, isPaused }) => ready || isPaused),
    now: rules.now,
  };
}

/** An account is ready after a complete sweep, while the mirror is not too old, the service gives access, and there is no doubt. */
function accountHealth(facts: AccountFacts, { now, maxStaleness }: ReadinessRules): AccountHealth {
  const { listed_as_of, last_complete_sweep, paused_since } = facts.freshness;
  const listed = listed_as_of === null ? undefined : parseInstant(listed_as_of);
  const staleness = listed === undefined ? null : Math.max(0, now - listed);
  if (paused_since !== null) {
    const reasons = [pausedWords(facts.account, paused_since)];
    return { facts, isPaused: true, ready: false, reasons, staleness, stale: false, error: undefined };
  }
  const old =
    staleness === null
      ? last_complete_sweep === null
        ? 'No sweep was complete yet.'
        : 'The clock was set back, so the age of the mirror is unknown until the next complete sweep.'
      : staleness > maxStaleness
        ? `Changes of the ${lastInWords(staleness)} may be missing; admin.maxStaleness allows ${inWords(maxStaleness)}.`
        : null;
  const refused = accessRefused(facts.runs);
  const reasons = [
    refused ? `The service refuses access (${refused.code}). ${refused.hint}` : null,
    old,
    old === null ? null : failingRequests(facts.failing, now),
    facts.doubt,
  ].filter((reason) => reason !== null);
  return {
    facts,
    isPaused: false,
    ready: reasons.length === 0,
    reasons,
    staleness,
    stale: old !== null || facts.doubt !== null,
    error: lastError(facts.runs),
  };
}

/** Why nothing is read about a paused account, and how to resume it. */
function pausedWords(account: string, since: string): string {
  return `Paused since ${since.slice(0, 19)} UTC: nothing is requested from the service, and deliveries are stored. \`vendor-mirror accounts resume ${account}\` resumes it.`;
}

/** The accounts in most need of a person first, those that are paused last. */
export function bySeverity(accounts: readonly AccountHealth[]): AccountHealth[] {
  const need = ({ isPaused, ready, error }: AccountHealth): number =>
    isPaused ? -1 : (ready ? 0 : 2) + (error ? 1 : 0);
  const age = ({ staleness }: AccountHealth): number => staleness ?? Number.MAX_VALUE;
  return [...accounts].sort((a, b) => need(b) - need(a) || age(b) - age(a));
}
