/** The slots of one of several accounts, so that not all begin at once. */
import { hash } from 'node:crypto';
import type { Slots } from './cron-slots.ts';

/** Accounts are spread over at most this time after a shared slot, in milliseconds. */
const longestOffset = 900_000;

/**
 * Shared slots, each delayed by the account's own share of 15 minutes, or of the time to the next slot where that is shorter. The share is
 * derived from the account id, so adding or removing an account does not move the others.
 */
export class OffsetSlots implements Slots {
  readonly #shared: Slots;
  readonly #share: number;
  #cached = { since: Infinity, slot: -Infinity };

  constructor(shared: Slots, accountId: string) {
    this.#shared = shared;
    this.#share = Number.parseInt(hash('sha256', accountId).slice(0, 8), 16) / 2 ** 32;
  }

  after(instant: number): number {
    if (instant < this.#cached.since || instant >= this.#cached.slot) {
      const last = this.#lastSharedBefore(instant);
      const current = last === undefined ? -Infinity : this.#delayed(last);
      const slot = current > instant ? current : this.#delayed(this.#shared.after(instant));
      this.#cached = { since: instant, slot };
    }
    return this.#cached.slot;
  }

  #delayed(slot: number): number {
    if (!Number.isFinite(slot)) return slot;
    return slot + Math.floor(this.#share * Math.min(longestOffset, this.#shared.after(slot) - slot));
  }

  /** The last shared slot up to an instant; undefined where it is further back than the longest offset. */
  #lastSharedBefore(instant: number): number | undefined {
    for (let back = 1_000; ; back = Math.min(2 * back, longestOffset)) {
      let slot = this.#shared.after(instant - back);
      if (slot > instant && back === longestOffset) return undefined;
      if (slot > instant) continue;
      for (let next = this.#shared.after(slot); next <= instant; next = this.#shared.after(next)) slot = next;
      return slot;
    }
  }
}
