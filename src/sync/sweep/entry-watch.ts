/**
 * Detects vendors that may have entered the list since its walk began: created, or restored from a hidden state. Doubt counts as yes; that
 * costs only another walk.
 *
 * When a vendor was written is known only from its timestamps, and how they relate to the clock of the answers is not known: they may be in
 * another time zone, a multiple of 15 minutes away, and off by a few seconds. No timestamp is in the future, so the youngest one seen
 * bounds how far timestamps are ahead. A vendor may have entered if, in any remaining zone, its timestamp lies between the start of the
 * walk and now.
 */
import { parseInstant } from '../../domain/clock.ts';
import type { VendorPage, VendorRow } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Vendor } from '../../domain/vendor.ts';

/** The step between time zones, and the farthest zone behind UTC, in milliseconds. */
const zoneStep = 15 * 60_000;
const farthestZone = 12 * 3_600_000;

/** Daylight saving changes zones by an hour: earlier timestamps may be ahead by that, in milliseconds. */
const zoneChange = 3_600_000;

/** How far the service's clocks may differ, and timestamps are rounded, in milliseconds. */
const clockError = 3_000;

/** The latest timestamp of a vendor, and the date of the answer that showed it, both Unix ms. */
interface Written {
  readonly stamp: number;
  readonly shownAt: number;
}

export class EntryWatch {
  readonly #first: VendorPage;
  readonly #lag: number;
  readonly #written: Written[] = [];
  /** The largest known lead of timestamps over the dates of answers, in milliseconds. */
  #ahead = -Infinity;
  #entered = false;

  /** `first` is the page with which the walk began; `lag` is how long the service may answer from an old copy, in milliseconds. */
  constructor(first: VendorPage, lag: number) {
    this.#first = first;
    this.#lag = lag;
  }

  /** Whether a vendor with this verdict may have entered the list. Most were stored as shown long before. */
  concerns(verdict: Verdict): boolean {
    return verdict.kind !== 'unchanged' || verdict.heldSince >= this.#first.stamp.begun - this.#lag;
  }

  /** Adds a vendor that a page of the walk shows and no earlier walk showed. */
  see(row: VendorRow, verdict: Verdict, { servedAt = NaN }: VendorPage): void {
    switch (verdict.kind) {
      case 'created':
        this.#note(verdict.vendor, servedAt);
        return;
      case 'updated':
      case 'guarded': {
        const { before, after } = verdict;
        if (before.vis_state !== after.vis_state || before.presence !== after.presence) this.#entered = true;
        this.#note(row.vendor(), servedAt);
        return;
      }
      case 'unchanged':
        // A delivery may have brought a new vendor before lists showed it.
        this.#entered ||= this.concerns(verdict);
        return;
      case 'forgotten':
        this.#note(row.vendor(), servedAt);
        return;
      case 'stale':
        this.#entered = true;
        return;
      case 'rejected':
        // The run cannot be complete then.
        return;
    }
  }

  /** Whether any of the vendors may have entered the list. */
  get entered(): boolean {
    if (this.#entered) return true;
    for (let last = this.#written.at(-1); last; last = this.#written.at(-1)) {
      if (this.#mayBeNew(last)) return true;
      this.#written.pop();
    }
    return false;
  }

  #note({ created_at, updated_at }: Vendor, shownAt: number): void {
    const stamp = Math.max(instant(created_at), instant(updated_at));
    if (stamp - shownAt > this.#ahead) this.#ahead = stamp - shownAt;
    const written = { stamp, shownAt };
    if (Number.isNaN(stamp - shownAt)) this.#entered = true;
    // More timestamps only narrow the zones: a vendor that is not new now never is.
    else if (this.#mayBeNew(written)) this.#written.push(written);
  }

  #mayBeNew({ stamp, shownAt }: Written): boolean {
    const begun = (this.#first.servedAt ?? NaN) - this.#lag - clockError;
    const least = Math.max(-farthestZone, this.#ahead - zoneChange - clockError);
    // Zones in which the timestamp is not after the answer that showed it, and not before the start of the walk.
    const lowest = Math.ceil(Math.max(least, stamp - shownAt - clockError) / zoneStep) * zoneStep;
    return !(lowest > stamp - begun);
  }
}

function instant(text: string | null | undefined): number {
  return (text == null ? undefined : parseInstant(text)) ?? NaN;
}
