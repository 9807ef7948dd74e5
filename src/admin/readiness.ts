/** Whether the mirror may be relied on, account by account, and why not. */
import { inWords } from '../age.ts';
import { parseInstant } from '../clock.ts';
import type { AccountFacts, HealthFacts } from './health.ts';

/** Facts, and what follows from them. */
export interface Health {
  readonly facts: HealthFacts;
  readonly accounts: readonly AccountHealth[];
  /** Whether every account is ready. */
  readonly ready: boolean;
  /** Wall time of the examination, milliseconds since 1970. */
  readonly now: number;
}

export interface AccountHealth {
  readonly facts: AccountFacts;
  readonly ready: boolean;
  /** Sentences; none where it is ready. */
  readonly reasons: readonly string[];
  /** How far the mirror may lag behind the service, in milliseconds; null before the first complete sweep. */
  readonly staleness: number | null;
}

export interface ReadinessRules {
  /** Wall time, milliseconds since 1970. */
  readonly now: number;
  /** `admin.maxStaleness`, milliseconds. */
  readonly maxStaleness: number;
}

export function examined(facts: HealthFacts, rules: ReadinessRules): Health {
  const accounts = facts.accounts.map((account) => accountHealth(account, rules));
  return { facts, accounts, ready: accounts.every(({ ready }) => ready), now: rules.now };
}

/** An account is ready once a sweep was complete, while the mirror is not too old, and nothing casts doubt on it. */
function accountHealth(facts: AccountFacts, { now, maxStaleness }: ReadinessRules): AccountHealth {
  const { safe_as_of } = facts.freshness;
  const safe = safe_as_of === null ? undefined : parseInstant(safe_as_of);
  const staleness = safe === undefined ? null : Math.max(0, now - safe);
  const reasons: string[] = [];
  if (staleness === null) reasons.push('No sweep was complete yet.');
  else if (staleness > maxStaleness)
    reasons.push(
      `Changes of the last ${inWords(staleness)} may be missing; admin.maxStaleness allows ${inWords(maxStaleness)}.`,
    );
  if (facts.doubt !== null) reasons.push(facts.doubt);
  return { facts, ready: reasons.length === 0, reasons, staleness };
}
