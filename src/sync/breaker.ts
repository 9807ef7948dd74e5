/**
 * The circuit breaker: many absences at once, and lists that may be empty by a fault, wait for a person's approval.
 *
 * Absences of an account are counted over the last 24 hours of mirror time, from its vendors themselves, whatever was restarted or pruned
 * meanwhile: those that no read by id found, or that two sweeps agreed on. Those that a person approved and those that came back are not
 * among them, nor are vendors that are merely not listed.
 *
 * An empty list never supports an absence without `--approve-absences`, however small the account. Before an account's first complete sweep
 * it is read a second time after `sync.lag`, and believed if it is empty again: two faulty answers in a row cannot be told from an account
 * without vendors, and the next sweep finds the vendors if they were faulty.
 */
import { MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Finding } from '../store/findings.ts';
import type { AbsenceAllowance } from '../store/readings.ts';
import type { Run } from '../store/runs.ts';
import type { SyncAccount } from './sync-account.ts';

export interface BreakerSettings {
  readonly vendors: number;
  readonly percent: number;
}

/** However low the settings: this percentage of a large account. */
const leastPercent = 1;

/**
 * How many of `base` vendors may be lost without a person's word: the largest of 3, the smaller of `vendors` and `percent`, and 1 percent.
 */
export function absenceBound(base: number, { vendors, percent }: BreakerSettings): number {
  const share = (percentage: number): number => Math.floor((base * percentage) / 100);
  return Math.max(limits.absencesAlwaysAllowed, Math.min(vendors, share(percent)), share(leastPercent));
}

/**
 * Vendors that the service counts and does not list may be beyond what the token may read, or deleted; they may as well be a list that was cut
 * off. So more than `absenceBound` of those that were shown need a person's word, and again when there are that many more.
 * `elsewhere`: vendors that this list does not show, and others do: lists of one state, or the mirror, as deleted. `accepted`: how many more
 * a person accepted.
 * @throws MirrorError `too_many_unreadable`.
 */
export function refuseShortfall(
  { shown, unreadable }: Pick<CountedList, 'shown' | 'unreadable'>,
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
  /** Those that were present when the last 24 hours began. */
  readonly base: number;
  /** How many absences a person has allowed. */
  readonly approved: number;
}

/** A list as the breaker judges it. */
export interface CountedList {
  readonly shown: number;
  /** Rows that are counted and not shown. */
  readonly unreadable: number;
}

/** How long absences are remembered, in milliseconds of mirror time. */
export const day = 24 * 3_600_000;

/**
 * Absences are remembered that began later, in milliseconds of mirror time: a day ago. Those that a person approved began at 0, also
 * where the mirror is younger than that.
 */
export function rememberedSince(now: number): number {
  return Math.max(0, now - day);
}

/** The breaker of one run. */
export class Breaker {
  readonly #account: Pick<SyncAccount, 'mirror' | 'sync' | 'accountId'>;
  readonly #run: Run;
  readonly #scale: BreakerScale;

  constructor(account: Pick<SyncAccount, 'mirror' | 'sync' | 'accountId'>, run: Run, scale: BreakerScale) {
    this.#account = account;
    this.#run = run;
    this.#scale = scale;
  }

  /** How many more absences this run may conclude. */
  async room(): Promise<number> {
    const { bound, since, approved } = await this.allowance();
    const { mirror, accountId } = this.#account;
    return Math.max(approved, bound - (await mirror.vendors.countAbsences(accountId, since)));
  }

  /** The same for whoever stores them. */
  async allowance(): Promise<AbsenceAllowance> {
    const { mirror, sync } = this.#account;
    const { base, approved } = this.#scale;
    return { bound: absenceBound(base, sync.breaker), since: rememberedSince(await mirror.moment()), approved };
  }

  /** Whether a person approved so many absences. */
  isApproved(absences: number): boolean {
    return absences <= this.#scale.approved;
  }

  /**
   * @param unread unlisted vendors that were not read, because there were too many already
   * @throws MirrorError `breaker_tripped` where there are too many absences.
   */
  async check(absences: number, unread = 0): Promise<void> {
    if (absences + unread > (await this.room())) throw await this.trip(absences, unread);
  }

  /** Records the tripped breaker. @returns the error to throw. */
  async trip(absences: number, unread = 0): Promise<MirrorError> {
    const { present } = this.#scale;
    const { mirror, accountId } = this.#account;
    const before = await mirror.vendors.countAbsences(accountId, (await this.allowance()).since);
    const what = [
      unread === 0
        ? `${absences} of ${present} vendors are neither listed nor found`
        : `${absences + unread} of ${present} vendors are not listed, and ${absences === 0 ? 'no read by id says more' : `none of the ${absences} that were read is found`}`,
      before === 0 ? [] : `${before} became absent in the last 24 hours`,
    ].flat();
    const fields = { suspects: absences + unread, present, ...(before > 0 && { before }) };
    return this.#waitForPerson(fields, `${what.join(', ')}.`);
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

/**
 * Whether a list that omits these suspects is accepted as proof. An empty list proves nothing: it needs approval even for a single vendor,
 * and even as the first of two sweeps.
 */
export function isBelieved({ shown }: Pick<CountedList, 'shown'>, suspects: number, approved: number): boolean {
  return shown > 0 || approved >= suspects;
}
