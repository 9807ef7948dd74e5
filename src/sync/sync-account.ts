/** One account, and everything that is needed to sync it; single vendors of it, read by id and applied. */
import type { VendorsApi } from '../api/vendors.ts';
import type { Clock, Random } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import type { ReadStamp } from '../domain/reading.ts';
import type { ServiceTime } from '../domain/service-time.ts';
import type { ServiceSettings, SyncSettings } from '../settings/parse.ts';
import type { Verdict } from '../store/acceptance.ts';
import type { Store } from '../store/mirror.ts';
import type { ReadingContext } from '../store/reading-writer.ts';

/** One account, and everything that is needed to sync it. */
export interface SyncAccount {
  readonly accountId: string;
  /** The vendors at the service; `mirror` has the stored ones. */
  readonly vendors: Pick<VendorsApi, 'page' | 'read' | 'create' | 'edit'>;
  readonly mirror: Store;
  readonly reader: VendorReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sync: SyncSettings;
  readonly serviceTime: Pick<ServiceTime, 'aheadBy'>;
  /** The most requests at once. */
  readonly concurrency: number;
  readonly extraWalks: ServiceSettings['extraWalks'];
}

/** The result of a read by id. */
export type ReadResult =
  | { readonly kind: 'record'; readonly verdict: Verdict }
  /** The service does not know the vendor. `isProven` where the answer has the service's own error form; a proxy may answer 404 too. */
  | { readonly kind: 'absent'; readonly stamp: ReadStamp; readonly isProven: boolean }
  /** No access or no answer: says nothing about the vendor. */
  | { readonly kind: 'refused'; readonly error: MirrorError };

export interface ReadOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  /** Background reads leave a part of the rate to prompt ones, the default. */
  readonly priority?: 'background';
  readonly onRequest?: () => void;
}

/** How many listed vendors are read to find out whether the service offers reads by id. */
const attempts = 3;

/**
 * That reads are not offered must be found twice, with this time between, in milliseconds. It is checked again after a pause that doubles.
 */
const timeBetweenAnswers = 60_000;
const firstRecheck = 300_000;
const maxRecheck = 24 * 3_600_000;

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
   */
  async isOffered(listed: () => Promise<Iterable<number>>, options: ReadOptions): Promise<boolean> {
    if (this.#readOne !== 'auto') return this.#readOne === 'get';
    if (this.#learned && this.#clock.monotonic() < this.#learned.until) return this.#learned.offered;
    const results: (ReadResult | 'not_supported')[] = [];
    for (const vendorid of await listed()) {
      if (results.length === attempts) break;
      const result = await this.#attempt(vendorid, options);
      if (result !== 'not_supported' && result.kind === 'record') return this.#learnOffered();
      results.push(result);
    }
    const refused = results.some((result) => result !== 'not_supported' && result.kind === 'refused');
    if (results.length > 0 && !refused) this.#learnNotOffered();
    return false;
  }

  /**
   * Reads a vendor and applies the answer.
   * @throws MirrorError where the service cannot be reached, refuses the token, or offers no reads by id (`not_supported`).
   */
  async read(vendorid: number, options: ReadOptions): Promise<ReadResult> {
    const result = await this.#attempt(vendorid, options);
    if (result !== 'not_supported') return result;
    // A single answer may be a proxy's, so listed vendors are tried before the next read.
    this.#learned = undefined;
    throw new MirrorError('not_supported', 'The service does not read vendors by id.');
  }

  #learnOffered(): true {
    this.#learned = { offered: true, until: this.#clock.monotonic() + offeredFor };
    this.#notOffered = undefined;
    return true;
  }

  #learnNotOffered(): void {
    const now = this.#clock.monotonic();
    const { since, pause } = (this.#notOffered ??= { since: now, pause: firstRecheck });
    if (now - since < timeBetweenAnswers) return;
    this.#learned = { offered: false, until: now + pause };
    this.#notOffered = { since, pause: Math.min(maxRecheck, pause * 2) };
  }

  async #attempt(
    vendorid: number,
    { context, signal, priority, onRequest }: ReadOptions,
  ): Promise<ReadResult | 'not_supported'> {
    onRequest?.();
    let stamp: ReadStamp | undefined;
    const onStamp = (taken: ReadStamp): void => void (stamp = taken);
    try {
      const reading = await this.#vendors.read(vendorid, { priority, signal, onStamp });
      return { kind: 'record', verdict: await this.#mirror.readings.applyReading(reading, context) };
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      if (error.code === 'not_found' && stamp) return { kind: 'absent', stamp, isProven: error.errno !== undefined };
      if (error.code === 'access_denied') return { kind: 'refused', error };
      if (error.code === 'not_supported') return 'not_supported';
      throw error;
    }
  }
}
