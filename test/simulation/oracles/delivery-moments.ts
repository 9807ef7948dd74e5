/** When deliveries were received, in milliseconds of the timeline: worked out while the wall clock is still as wrong as it was then. */
import { parseInstant } from '../../../src/domain/clock.ts';
import type { Reader } from '../machine/world-store.ts';
import { epoch } from '../machine/timeline.ts';

export interface DeliveryMomentsOptions {
  readonly account: string;
  readonly now: () => number;
  /** How wrong the machine's wall clock is, in milliseconds. */
  readonly wallError: () => number;
}

export class DeliveryMoments {
  readonly #options: DeliveryMomentsOptions;
  readonly #moments = new Map<number, number>();
  #last = 0;
  /** When it was read last, and how wrong the clock was then. */
  #read = { at: 0, wallError: 0 };

  constructor(options: DeliveryMomentsOptions) {
    this.#options = options;
  }

  /** Reads on in the journal. To be called whenever the clock is about to be set. */
  read(reader: Reader): void {
    const { account, now, wallError } = this.#options;
    const fresh = reader.rows<{ id: number; at: string }>(
      'SELECT id, received_at AS at FROM deliveries WHERE account_id = ? AND id > ? ORDER BY id',
      account,
      this.#last,
    );
    const isSet = wallError() !== this.#read.wallError;
    for (const { id, at } of fresh) {
      const moment = (parseInstant(at) ?? 0) - epoch - wallError();
      // One that was received before the clock was set, and stored after, bears a time of the clock before.
      if (!isSet || (moment >= this.#read.at && moment <= now())) this.#moments.set(id, moment);
      this.#last = id;
    }
    this.#read = { at: now(), wallError: wallError() };
  }

  /** Undefined if unknown. */
  of(delivery: number): number | undefined {
    return this.#moments.get(delivery);
  }
}
