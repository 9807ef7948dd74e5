/**
 * The circuit breaker: many absences at once, and lists that may be empty by a fault, wait for a person's approval.
 *
 * An empty list never supports an absence without `--approve-absences`, however small the account. Before an account's first complete sweep
 * it is read a second time after `sync.lag`, and believed if it is empty again: two faulty answers in a row cannot be told from an account
 * without vendors, and the next sweep finds the vendors if they were faulty.
 */
import { MirrorError } from '../domain/errors.ts';
import type { Finding } from '../store/findings.ts';
import type { Run } from '../store/runs.ts';
import type { Complete } from './sweep/passes.ts';
import type { SyncAccount } from './sync-account.ts';

export interface BreakerSettings {
  readonly vendors: number;
  readonly percent: number;
}

/** So many absences a day need no approval, however small the account. */
const alwaysAllowed = 3;

/** However low the settings: this percentage of a large account. */
const leastPercent = 1;

/**
 * How many of `base` vendors may be lost without a person's word: the largest of 3, the smaller of `vendors` and `percent`, and 1 percent.
 */
export function absenceBound(base: number, { vendors, percent }: BreakerSettings): number {
  const share = (percentage: number): number => Math.floor((base * percentage) / 100);
  return Math.max(alwaysAllowed, Math.min(vendors, share(percent)), share(leastPercent));
}

/**
 * Vendors that the service counts and does not list may be beyond what the token may read, or deleted; they may as well be a list that was cut
 * off. So more than `absenceBound` of those that were shown need a person's word, and again when there are that many more.
 * `elsewhere`: vendors that this list does not show, and others do: lists of one state, or the mirror, as deleted. `accepted`: how many more
 * a person accepted.
 * @throws MirrorError `too_many_unreadable`.
 */
export function refuseShortfall(
  { shown, unreadable }: Pick<Complete, 'shown' | 'unreadable'>,
  { elsewhere, accepted }: { readonly elsewhere: number; readonly accepted: number },
  settings: BreakerSettings,
): void {
  const missing = unreadable - elsewhere;
  if (missing <= accepted + absenceBound(shown, settings)) return;
  const before = accepted === 0 ? '' : `, where a person accepted ${accepted}`;
  throw new MirrorError(
    'too_many_unreadable',
    `The service counts ${shown + unreadable} vendors and shows ${shown + elsewhere}: ${missing} are missing${before}. The role or the plan of the token may hide them, or the list was cut off.`,
  );
}

/** What the number of absences is compared with. */
export interface BreakerScale {
  /** Vendors of the account that were present before. */
  readonly present: number;
  /** How many absences a person has allowed. */
  readonly approved: number;
}

/** The breaker of one run. */
export class Breaker {
  readonly #account: Pick<SyncAccount, 'mirror' | 'sync'>;
  readonly #run: Run;
  readonly #scale: BreakerScale;

  constructor(account: Pick<SyncAccount, 'mirror' | 'sync'>, run: Run, scale: BreakerScale) {
    this.#account = account;
    this.#run = run;
    this.#scale = scale;
  }

  /** @throws MirrorError `breaker_tripped` where there are too many absences. */
  async check(absences: number): Promise<void> {
    if (trips(absences, this.#scale, this.#account.sync.breaker)) throw await this.trip(absences);
  }

  /** Records the tripped breaker. @returns the error to throw. */
  trip(absences: number): Promise<MirrorError> {
    const { present } = this.#scale;
    return this.#waitForPerson({ suspects: absences, present }, `${absences} of ${present} vendors were not listed.`);
  }

  /** Stores a finding for what waits for approval. */
  async #waitForPerson(fields: Finding['fields'], what: string): Promise<MirrorError> {
    await this.#account.mirror.findings.addFindings(this.#run, [{ kind: 'breaker', vendorid: null, fields }]);
    return new MirrorError(
      'breaker_tripped',
      `${what} So many absences need a person's approval; everything else was applied.`,
    );
  }
}

/** Whether there are too many suspects to act on. */
export function trips(suspects: number, { present, approved }: BreakerScale, settings: BreakerSettings): boolean {
  const limit = Math.max(settings.vendors, Math.floor((present * settings.percent) / 100), approved);
  return suspects > limit;
}

/**
 * Whether a list that omits these suspects is accepted as proof. An empty list proves nothing: it needs approval even for a single vendor,
 * and even as the first of two sweeps.
 */
export function isBelieved({ shown }: Complete, suspects: number, approved: number): boolean {
  return shown > 0 || approved >= suspects;
}
