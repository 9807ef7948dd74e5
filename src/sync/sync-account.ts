/** One account, and everything that is needed to sync it; single vendors of it, read by id and applied. */
import type { OptionalRequests } from '../api/optional-requests.ts';
import type { VendorsApi } from '../api/vendors.ts';
import { sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { MirrorError, type ErrorCode } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ServiceTime } from '../domain/service-time.ts';
import { readRetryLimits, type RetryLimits } from '../domain/retry.ts';
import type { ServiceSettings, SyncSettings } from '../settings/parse.ts';
import type { Verdict } from '../store/acceptance.ts';
import type { Store } from '../store/mirror.ts';
import type { ReadingContext } from '../store/reading-writer.ts';
import { assertSameAccount } from './same-account.ts';

export interface SyncAccount {
  readonly accountId: string;
  /** The vendors at the service; `mirror` has the stored ones. */
  readonly vendors: Pick<VendorsApi, 'page' | 'read' | 'create' | 'edit'>;
  readonly mirror: Store;
  readonly reader: VendorReader;
  /** What the service may decline. */
  readonly optional: OptionalRequests;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sync: SyncSettings;
  readonly serviceTime: Pick<ServiceTime, 'aheadBy'>;
  /** The most requests at once. */
  readonly concurrency: number;
  readonly extraWalks: ServiceSettings['extraWalks'];
}

/** The account, where copies of its list were seen to be older than `sync.lag` with their age in its place. */
export async function withSeenLag(account: SyncAccount): Promise<SyncAccount> {
  const { mirror, accountId, sync } = account;
  const behind = await mirror.readings.copiesBehind(accountId);
  return behind <= sync.lag ? account : { ...account, sync: { ...sync, lag: behind } };
}

export type ReadResult =
  | { readonly kind: 'record'; readonly verdict: Verdict }
  /** The service does not know the vendor. `isProven` where the answer has the service's own error form; a proxy may answer 404 too. */
  | { readonly kind: 'absent'; readonly stamp: ReadStamp; readonly isProven: boolean }
  /** No access, no answer, or one that cannot be used: says nothing about the vendor. */
  | { readonly kind: 'refused'; readonly error: MirrorError };

/**
 * Errors that one vendor alone may cause, whose record, or whose read by id, is broken at the service. Whether the service answers for others
 * must be asked before any of them is taken for that.
 */
const ofOneVendor: ReadonlySet<ErrorCode> = new Set([
  'access_denied',
  'rejected',
  'not_supported',
  'unauthenticated',
  'service_unavailable',
  'service_timeout',
  'service_unreachable',
  'answer_unreadable',
  'answer_too_large',
  'row_unusable',
  'record_rejected',
  'redirected',
]);

/** Whether a read by id may have failed because of that vendor alone. */
export function isOfOneVendor({ code }: MirrorError): boolean {
  return ofOneVendor.has(code);
}

export interface ReadOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  /** Background reads leave a part of the rate to prompt ones, the default, and spare ones most of it to all others. */
  readonly priority?: 'background' | 'spare';
  readonly onRequest?: () => void;
  /** Called when the request has its place in the rate and leaves. */
  readonly onSend?: () => void;
}

/** How many listed vendors are read to find out whether the service offers reads by id. */
const attempts = 3;

/** After this many milliseconds without an answer, the next of them is read too. */
const slowAnswer = 1_000;

/**
 * That reads are not offered must be found twice, with this time between, in milliseconds. It is checked again after a pause that doubles.
 */
const timeBetweenAnswers = 60_000;

/** That reads are offered is checked again after a day. */
const offeredFor = 24 * 3_600_000;

/** Reads single vendors by id and applies them; finds out whether the service offers that. */
export class VendorReader {
  readonly #vendors: Pick<VendorsApi, 'read'>;
  readonly #mirror: Store;
  readonly #clock: Clock;
  readonly #readOne: ServiceSettings['readOne'];
  #learned: { readonly offered: boolean; readonly until: number } | undefined;
  /** When reads were first found not to be offered, and the pause before the next check. */
  #notOffered: { readonly since: number; readonly pause: number } | undefined;

  constructor(parts: {
    vendors: Pick<VendorsApi, 'read'>;
    mirror: Store;
    clock: Clock;
    readOne: ServiceSettings['readOne'];
  }) {
    this.#vendors = parts.vendors;
    this.#mirror = parts.mirror;
    this.#clock = parts.clock;
    this.#readOne = parts.readOne;
  }

  /**
   * Whether the service offers reads by id. To find out, up to three of the ids that `listed` returns, which a list has just shown, are
   * read: one success means yes. Three failures mean no for now; the next call checks again, until it was no twice with a minute between. A
   * refusal decides nothing.
   * @param unlisted ids that no list has just shown, which are read where `listed` returns none: those that are not found decide nothing, and
   * reads are offered if some were answered before.
   * @throws MirrorError where none is answered.
   */
  async isOffered(
    listed: () => Promise<Iterable<number>>,
    options: ReadOptions,
    unlisted: () => Promise<readonly number[]>,
  ): Promise<boolean> {
    if (this.#readOne !== 'auto') return this.#readOne === 'get';
    if (this.#learned && this.#clock.monotonic() < this.#learned.until) return this.#learned.offered;
    const known = [...(await listed())];
    const others = known.length > 0 ? [] : await unlisted();
    const results = await this.#probe([...known, ...others].slice(0, attempts), options);
    if (results.some(({ kind }) => kind === 'record')) return this.#learnOffered();
    const failures = results.flatMap((result) =>
      result.kind === 'refused' && result.error.code !== 'not_supported' ? [result.error] : [],
    );
    const [failure] = failures;
    if (failure && failures.length === results.length && failure.code !== 'access_denied') throw failure;
    if (others.length > 0 && results.some(({ kind }) => kind === 'absent'))
      return (await this.#mirror.details.probed(options.context.accountId)) > 0;
    if (results.length > 0 && !failure) this.#learnNotOffered();
    return false;
  }

  /**
   * Reads vendors in turn until one is answered with its record; one that takes long does not hold up the next.
   * @throws MirrorError as `read`, where none is.
   */
  async #probe(vendorids: readonly number[], options: ReadOptions): Promise<ReadResult[]> {
    const results: ReadResult[] = [];
    const enough = new AbortController();
    const signal = AbortSignal.any([options.signal, enough.signal]);
    const probes: Promise<void>[] = [];
    for (const vendorid of vendorids) {
      if (signal.aborted) break;
      const probe = this.#attempt(vendorid, { ...options, signal }).then((result) => {
        results.push(result);
        if (result.kind === 'record') enough.abort();
      });
      probes.push(probe);
      await Promise.race([probe.catch(() => undefined), sleptThrough(this.#clock, slowAnswer, signal)]);
    }
    const failure = (await Promise.allSettled(probes)).find((ended) => ended.status === 'rejected');
    options.signal.throwIfAborted();
    if (failure && !enough.signal.aborted) throw failure.reason;
    enough.abort();
    return results;
  }

  /**
   * Reads a vendor and applies the answer.
   * @throws MirrorError of the mirror, and where no vendor would be answered.
   */
  async read(vendorid: number, options: ReadOptions): Promise<ReadResult> {
    const result = await this.#attempt(vendorid, options, readRetryLimits);
    // That may be an answer for this vendor only, or a proxy's, so listed vendors are tried before the next read.
    if (result.kind === 'refused' && result.error.code === 'not_supported') this.#learned = undefined;
    return result;
  }

  /** Whether a vendor may be read by id, as far as is known: false only where the service was found to offer it not, or nobody wants it. */
  get mayRead(): boolean {
    return this.#readOne === 'auto' ? this.#learned?.offered !== false && !this.#notOffered : this.#readOne === 'get';
  }

  #learnOffered(): true {
    this.#learned = { offered: true, until: this.#clock.monotonic() + offeredFor };
    this.#notOffered = undefined;
    return true;
  }

  #learnNotOffered(): void {
    const now = this.#clock.monotonic();
    const { since, pause } = (this.#notOffered ??= { since: now, pause: limits.readsCheckedAgain });
    if (now - since < timeBetweenAnswers) return;
    this.#learned = { offered: false, until: now + pause };
    this.#notOffered = { since, pause: Math.min(limits.readsCheckedAtMost, pause * 2) };
  }

  async #attempt(
    vendorid: number,
    { context, signal, priority, onRequest, onSend }: ReadOptions,
    retryLimits?: RetryLimits,
  ): Promise<ReadResult> {
    onRequest?.();
    let stamp: ReadStamp | undefined;
    let askedAt = 0;
    const onStamp = (taken: ReadStamp): void => {
      stamp = taken;
      askedAt = this.#clock.now();
      onSend?.();
    };
    try {
      const reading = await this.#vendors.read(vendorid, { priority, signal, onStamp, retryLimits });
      const apply = (isAccountAccepted = context.isAccountAccepted): Promise<Verdict> =>
        this.#mirror.readings.applyReading(reading, { ...context, askedAt, isAccountAccepted });
      let verdict = await apply();
      if (verdict.kind === 'guarded' && verdict.isOther === true) {
        const account = { accountId: context.accountId, mirror: this.#mirror, vendors: this.#vendors };
        await assertSameAccount(account, vendorid, { signal, priority, onRequest });
        verdict = await apply(true);
      }
      if (verdict.kind !== 'rejected') return { kind: 'record', verdict };
      return { kind: 'refused', error: new MirrorError('record_rejected', verdict.reason) };
    } catch (error) {
      if (signal.aborted || !(error instanceof MirrorError)) throw error;
      if (error.code === 'not_found' && stamp) return { kind: 'absent', stamp, isProven: error.errno !== undefined };
      if (isOfOneVendor(error)) return { kind: 'refused', error };
      throw error;
    }
  }
}
