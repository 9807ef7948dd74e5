/** The headline about an account: whether the mirror is correct, and what to do. */
import { catalogue, type ErrorCode } from '../../domain/errors.ts';
import type { SweepProgressFacts } from './health.ts';
import type { AccountHealth, Health } from './readiness.ts';

/** Green, amber, red, and blue for a first pull. */
export type Tone = 'good' | 'fair' | 'bad' | 'busy';

export interface Headline {
  readonly tone: Tone;
  /** Without a full stop: the moment may follow. */
  readonly words: string;
  /** Since when it is so, where that is known. */
  readonly since: string | null;
  /** Why, and what to do about it: sentences. */
  readonly details: readonly string[];
}

/** What does not belong to one account. */
type Installation = Pick<Health, 'process' | 'receivers'>;

/** Checks the process first, then the connection to the service, then the mirror, then outgoing webhooks. */
export function headline(account: AccountHealth, installation: Installation): Headline {
  for (const rule of [disabled, paused, refused, unreachable, unfinished, doubtful, troubled]) {
    const found = rule(account, installation);
    if (found) return found;
  }
  return { tone: 'good', words: 'Your mirror is correct', since: null, details: [] };
}

type Rule = (account: AccountHealth, installation: Installation) => Headline | undefined;

const disabled: Rule = (_, { process }) =>
  process.ready
    ? undefined
    : { tone: 'bad', words: 'Changes cannot be stored now', since: null, details: process.reasons };

const paused: Rule = ({ isPaused, reasons, facts }) =>
  isPaused ? { tone: 'fair', words: 'Paused', since: facts.freshness.paused_since, details: reasons } : undefined;

const refused: Rule = ({ reasons, error, facts }) => {
  if (!error?.code || !reasons[0]?.startsWith('The service refuses access')) return undefined;
  const details = [error.run.error ?? '', catalogue[error.code].hint].filter((words) => words !== '');
  return {
    tone: 'bad',
    words: 'The service refuses access',
    since: since(facts.failing, error.run.started_at),
    details,
  };
};

const unreachable: Rule = ({ ready, facts: { failing } }) => {
  if (failing === null) return undefined;
  const hint = failing.code in catalogue ? catalogue[failing.code as ErrorCode].hint : '';
  return {
    tone: ready ? 'fair' : 'bad',
    words: 'The service does not answer correctly',
    since: failing.first_at,
    details: [failing.message, hint].filter((words) => words !== ''),
  };
};

const unfinished: Rule = ({ staleness, facts, error }) => {
  if (staleness !== null) return undefined;
  const running = facts.runs.find(({ outcome }) => outcome === 'running');
  if (running)
    return {
      tone: 'busy',
      words: 'The first pull is under way',
      since: running.started_at,
      details: [progressWords(facts.progress), 'What has been read so far is correct, but not complete.'],
    };
  const details = error
    ? [error.run.error ?? 'The last run was cut off.', error.hint]
    : ['The first run is about to begin.'];
  return { tone: error ? 'bad' : 'busy', words: 'Nothing is mirrored completely yet', since: null, details };
};

const doubtful: Rule = ({ ready, reasons, error }) =>
  ready
    ? undefined
    : { tone: 'bad', words: 'Your mirror may be out of date', since: null, details: [...reasons, ...remedy(error)] };

const troubled: Rule = ({ facts, error }, { receivers }) => {
  const breaker = facts.findings.some(({ kind }) => kind === 'breaker') && error?.code !== 'breaker_tripped';
  const details = [
    ...remedy(error),
    breaker
      ? `Many vendors are missing from the list, and none of them was marked gone yet. ${catalogue.breaker_tripped.hint}`
      : null,
    facts.freshness.callback_verified === 0
      ? 'No callback is verified, so nothing is delivered: run `vendor-mirror doctor`.'
      : null,
    facts.watchdog === 'silent'
      ? 'Sweeps find changes that no delivery announced: the callback is being renewed.'
      : null,
    facts.queue.parked > 0
      ? `${facts.queue.parked === 1 ? 'One changed vendor' : `${facts.queue.parked} changed vendors`} could not be read; the next reconciliation tries again.`
      : null,
    ...receivers,
  ].filter((words) => words !== null);
  return details.length === 0
    ? undefined
    : { tone: 'fair', words: 'Something needs your attention, but your mirror is correct', since: null, details };
};

function remedy(error: AccountHealth['error']): string[] {
  if (!error) return [];
  return [`The last ${error.run.kind} was not complete: ${error.run.error ?? 'it was cut off.'} ${error.hint}`];
}

function since(failing: { readonly first_at: string } | null, otherwise: string): string {
  return failing?.first_at ?? otherwise;
}

const numbers = new Intl.NumberFormat('en');

/** How far a sweep has come: `Page 120 of 1,000, walk 1.` */
export function progressWords(progress: SweepProgressFacts | null): string {
  if (progress === null) return 'Waiting for the first answer of the service.';
  const { page, pages, pass, seen, total } = progress;
  const vendors = total > 0 ? `; ${numbers.format(seen)} of ${numbers.format(total)} vendors` : '';
  return `Page ${numbers.format(page)} of ${numbers.format(pages)}, walk ${numbers.format(pass)}${vendors}.`;
}
