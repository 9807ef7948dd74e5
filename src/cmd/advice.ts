/** What a person should do about an account, judged by its status; nothing where all is well. */
import { inWords } from '../age.ts';
import { parseInstant } from '../clock.ts';
import { catalogue } from '../errors.ts';
import type { RunOutcome } from '../store/tables.ts';
import type { AccountStatus } from './account-status.ts';

/** Something that may be amiss: a sentence with its remedy where it is. */
type Rule = (status: AccountStatus, now: number) => string | undefined;

/**
 * Sentences, each with its remedy.
 * @param maxStaleness how old, in milliseconds, the mirror may be
 */
export function advice(
  account: string,
  status: AccountStatus | undefined,
  now: number,
  maxStaleness: number,
): string[] {
  const never = `${account} was never mirrored completely: run \`vendor-mirror sync\`.`;
  if (!status) return [never];
  const safe = status.freshness.safe_as_of;
  const rules: readonly Rule[] =
    safe === null ? [() => never, breaker] : [lastRun, stale(safe, maxStaleness), breaker, parked, unverified, silent];
  return rules.flatMap((rule) => rule(status, now) ?? []);
}

const endings: Partial<Record<RunOutcome, string>> = {
  incomplete: 'was incomplete',
  failed: 'failed',
  abandoned: 'was cut off',
};

const lastRun: Rule = ({ account, runs: [run] }) => {
  const ending = run && endings[run.outcome];
  return ending && `The last ${run.kind} of ${account} ${ending}: run \`vendor-mirror sync\` again.`;
};

const stale =
  (safe: string, maxStaleness: number): Rule =>
  ({ account }, now) => {
    const staleness = now - (parseInstant(safe) ?? now);
    if (staleness <= maxStaleness) return undefined;
    return `${account} may lack changes of the last ${inWords(staleness)}: run \`vendor-mirror sync\`.`;
  };

const breaker: Rule = ({ account, findings }) =>
  findings.some(({ kind }) => kind === 'breaker') ? `${account}: ${catalogue.breaker_tripped.hint}` : undefined;

const parked: Rule = ({ account, queue }) => {
  if (queue.parked === 0) return undefined;
  const vendors = queue.parked === 1 ? 'One changed vendor' : `${queue.parked} changed vendors`;
  return `${account}: ${vendors} could not be read; the next reconciliation tries again, \`vendor-mirror deliveries retry\` at once.`;
};

const unverified: Rule = ({ account, freshness }) =>
  freshness.callback_verified === 0
    ? `${account}: no callback is verified, so that nothing is delivered: run \`vendor-mirror doctor\`.`
    : undefined;

/** So many changes that nobody announced, and no delivery for so long, in milliseconds, are unusual. */
const [unusualMisses, unusualSilence] = [3, 15 * 60_000];

const silent: Rule = ({ account, freshness, hearing }, now) => {
  const { missedSince, lastDelivery } = hearing;
  const since = lastDelivery === null ? -Infinity : (parseInstant(lastDelivery) ?? now);
  if (freshness.callback_verified !== 1 || missedSince < unusualMisses || now - since < unusualSilence)
    return undefined;
  const silence = lastDelivery === null ? 'no delivery ever came' : `none came for ${inWords(now - since)}`;
  return `${account}: sweeps found ${missedSince} changes that no delivery announced, and ${silence}: run \`vendor-mirror doctor\`.`;
};
