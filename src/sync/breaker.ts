/**
 * The circuit breaker: many absences at once, and lists that may be empty by a fault, wait for a person's approval.
 *
 * An empty list never supports an absence without `--approve-absences`, however small the account. Before an account's first complete sweep
 * it is read a second time after `sync.lag`, and believed if it is empty again: two faulty answers in a row cannot be told from an account
 * without vendors, and the next sweep finds the vendors if they were faulty.
 *
 * Several pages, all empty, with a count higher than the number of vendors in the mirror: either the service repeats its first page, or all
 * its vendors are hidden. The run ends as `breaker_tripped` until `--approve-absences` allows as many absences as the list counts. If one
 * page can hold them all, no approval is needed.
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

  /** @throws MirrorError `breaker_tripped` where the list may be blank by a fault. */
  async checkBlank(list: Complete): Promise<void> {
    const { present, approved } = this.#scale;
    if (!isBlank(list, Math.max(present, approved))) return;
    throw await this.#waitForPerson({ suspects: list.unreadable, present }, `The service ${describeBlank(list)}.`);
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
 * Whether all pages of a list are empty although it counts more vendors than the mirror knows: the service may answer every page as the
 * first.
 */
export function isBlank({ pages, shown, unreadable }: Complete, known: number): boolean {
  return shown === 0 && pages > 1 && unreadable > known;
}

/** Describes a blank list. */
export function describeBlank({ pages, unreadable }: Complete): string {
  return `counts ${unreadable} vendors on ${pages} pages and shows none: either all are hidden, or it answers every request with the first page`;
}

/**
 * Whether a list that omits these suspects is accepted as proof. An empty list proves nothing: it needs approval even for a single vendor,
 * and even as the first of two sweeps.
 */
export function isBelieved({ shown }: Complete, suspects: number, approved: number): boolean {
  return shown > 0 || approved >= suspects;
}
