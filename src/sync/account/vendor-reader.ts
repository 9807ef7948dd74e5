/** One vendor read by its id and applied; and whether the service offers that at all. */
import type { VendorsApi } from '../../api/vendors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { ServiceSettings } from '../../settings/parse.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { ReadingContext } from '../../store/records/reading-record.ts';
import type { Store } from '../../store/store.ts';

/** What a read by id taught. */
export type ReadResult =
  | { readonly kind: 'record'; readonly verdict: Verdict }
  /** The service knows no such vendor. It is proven where the answer is in the service's own error form: a proxy answers 404, too. */
  | { readonly kind: 'absent'; readonly stamp: ReadStamp; readonly isProven: boolean }
  /** No access, or no answer, says nothing about the vendor. */
  | { readonly kind: 'refused'; readonly error: MirrorError };

export interface ReadOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  /** Patient reads leave a part of the rate to prompt ones, which most are. */
  readonly priority?: 'patient';
  readonly onRequest?: () => void;
}

/** Listed vendors that are asked for to find out whether the service reads vendors by id. */
const attempts = 3;

/** A service that does not must say so twice, this long apart; what was learned is doubted after a pause that doubles, in milliseconds. */
const timeBetweenAnswers = 60_000;
const firstRecheck = 300_000;
const longestRecheck = 24 * 3_600_000;

/** A service that once answered is believed for a day. */
const offeredFor = 24 * 3_600_000;

export class VendorReader {
  readonly #vendors: VendorsApi;
  readonly #mirror: Store;
  readonly #clock: Clock;
  readonly #setting: ServiceSettings['readOne'];
  #learned: { readonly offered: boolean; readonly until: number } | undefined;
  /** When it was found first that no listed vendor is answered by id, since one was; and how long that will be believed. */
  notOffered: { readonly since: number; readonly pause: number } | undefined;

  constructor(parts: { vendors: VendorsApi; mirror: Store; clock: Clock; setting: ServiceSettings['readOne'] }) {
    this.#vendors = parts.vendors;
    this.#mirror = parts.mirror;
    this.#clock = parts.clock;
    this.#setting = parts.setting;
  }

  /**
   * Whether the service reads vendors by id. Where that is to be found out, `listed` are ids that a list has just shown: if one of
   * them is answered, the service offers it; if three are not, it does not for now, and it is asked again next time, until
   * it has said so twice a minute apart. A refusal teaches nothing.
   */
  async isOffered(listed: Iterable<number>, options: ReadOptions): Promise<boolean> {
    if (this.#setting !== 'auto') return this.#setting === 'get';
    if (this.#learned && this.#clock.monotonic() < this.#learned.until) return this.#learned.offered;
    const sightings: (ReadResult | 'not_supported')[] = [];
    for (const vendorid of listed) {
      if (sightings.length === attempts) break;
      const sighting = await this.#attempt(vendorid, options);
      if (sighting !== 'not_supported' && sighting.kind === 'record') return this.#learnOffered();
      sightings.push(sighting);
    }
    const refused = sightings.some((sighting) => sighting !== 'not_supported' && sighting.kind === 'refused');
    if (sightings.length > 0 && !refused) this.learnNotOffered();
    return false;
  }

  /** Reads a vendor and applies what came. @throws MirrorError where the service cannot be reached or refuses the token. */
  async read(vendorid: number, options: ReadOptions): Promise<ReadResult> {
    const sighting = await this.#attempt(vendorid, options);
    if (sighting !== 'not_supported') return sighting;
    // One answer does not tell whether it is the service's or a proxy's: listed vendors are asked for before the next reading.
    this.#learned = undefined;
    throw new MirrorError('not_supported', 'The service does not read vendors by id.');
  }

  #learnOffered(): true {
    this.#learned = { offered: true, until: this.#clock.monotonic() + offeredFor };
    this.notOffered = undefined;
    return true;
  }

  learnNotOffered(): void {
    const now = this.#clock.monotonic();
    const { since, pause } = (this.notOffered ??= { since: now, pause: firstRecheck });
    if (now - since < timeBetweenAnswers) return;
    this.#learned = { offered: false, until: now + pause };
    this.notOffered = { since, pause: Math.min(longestRecheck, pause * 2) };
  }

  async #attempt(
    vendorid: number,
    { context, signal, priority, onRequest }: ReadOptions,
  ): Promise<ReadResult | 'not_supported'> {
    // A refusal carries no number of its own; this one is lower than that of the request, and so claims less.
    const stamp = await this.#mirror.takeStamp();
    onRequest?.();
    try {
      const reading = await this.#vendors.read(vendorid, { priority, signal });
      return { kind: 'record', verdict: await this.#mirror.readings.applyReading(reading, context) };
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      if (error.code === 'not_found') return { kind: 'absent', stamp, isProven: error.errno !== undefined };
      if (error.code === 'access_denied') return { kind: 'refused', error };
      if (error.code === 'not_supported') return 'not_supported';
      throw error;
    }
  }
}
