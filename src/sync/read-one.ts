/** One vendor read by its number and applied; and whether the service offers that at all. */
import type { VendorsApi } from '../api/vendors.ts';
import type { Clock } from '../clock.ts';
import type { ServiceSettings } from '../config.ts';
import { MirrorError } from '../errors.ts';
import type { ReadStamp } from '../reading.ts';
import type { Mirror } from '../store/mirror.ts';
import type { ReadingContext, Verdict } from '../store/readings.ts';

/** What a read by number taught. */
export type Sighting =
  | { readonly kind: 'record'; readonly verdict: Verdict }
  /** The service knows no such vendor. What that proves depends on who asks. */
  | { readonly kind: 'absent'; readonly stamp: ReadStamp }
  /** No access, or no answer, says nothing about the vendor. */
  | { readonly kind: 'refused'; readonly error: MirrorError };

export interface ReadOptions {
  readonly context: ReadingContext;
  readonly signal: AbortSignal;
  readonly onRequest?: () => void;
}

/** What was learned about a service stays true for a day. */
const remembered = 24 * 3_600_000;

export class OneReader {
  readonly #vendors: VendorsApi;
  readonly #mirror: Mirror;
  readonly #clock: Clock;
  readonly #setting: ServiceSettings['readOne'];
  #learned: { offered: boolean; until: number } | undefined;

  constructor(parts: { vendors: VendorsApi; mirror: Mirror; clock: Clock; setting: ServiceSettings['readOne'] }) {
    this.#vendors = parts.vendors;
    this.#mirror = parts.mirror;
    this.#clock = parts.clock;
    this.#setting = parts.setting;
  }

  /**
   * Whether the service reads vendors by number. Where that is to be found out, `listed` are numbers that a list has just
   * shown: if one of them is answered, the service offers it; if none is known, it does not. A refusal teaches nothing.
   */
  async isOffered(listed: Iterable<number>, options: ReadOptions): Promise<boolean> {
    if (this.#setting !== 'auto') return this.#setting === 'get';
    if (this.#learned && this.#clock.monotonic() < this.#learned.until) return this.#learned.offered;
    const sightings: (Sighting | 'not_supported')[] = [];
    for (const vendorid of listed) {
      if (sightings.length === 3) break;
      const sighting = await this.#attempt(vendorid, options);
      if (sighting !== 'not_supported' && sighting.kind === 'record') return this.#learn(true);
      sightings.push(sighting);
    }
    const refused = sightings.some((sighting) => sighting !== 'not_supported' && sighting.kind === 'refused');
    return sightings.length > 0 && !refused && this.#learn(false);
  }

  /** Reads a vendor and applies what came. @throws MirrorError where the service cannot be reached or refuses the token. */
  async read(vendorid: number, options: ReadOptions): Promise<Sighting> {
    const sighting = await this.#attempt(vendorid, options);
    if (sighting !== 'not_supported') return sighting;
    this.#learn(false);
    throw new MirrorError('not_supported', 'The service does not read vendors by number.');
  }

  #learn(offered: boolean): boolean {
    this.#learned = { offered, until: this.#clock.monotonic() + remembered };
    return offered;
  }

  async #attempt(vendorid: number, { context, signal, onRequest }: ReadOptions): Promise<Sighting | 'not_supported'> {
    // A refusal carries no number of its own; this one is lower than that of the request, and so claims less.
    const stamp = await this.#mirror.takeStamp();
    onRequest?.();
    try {
      const reading = await this.#vendors.read(vendorid, { signal });
      return { kind: 'record', verdict: await this.#mirror.applyReading(reading, context) };
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      if (error.code === 'not_found') return { kind: 'absent', stamp };
      if (error.code === 'access_denied') return { kind: 'refused', error };
      if (error.code === 'not_supported') return 'not_supported';
      throw error;
    }
  }
}
