/**
 * Whether vendors may have entered the list since its walk began: created, or back from a state in which lists hide them. In doubt
 * they have; all that this costs is another walk.
 *
 * When a vendor was written is known by the service's stamps alone, and how they compare with the clock that dates its answers is not:
 * they may be in a zone of their own, a multiple of 15 minutes away, and a few seconds off besides. No stamp lies in the
 * future, so the youngest one seen bounds from below how far stamps are ahead. A vendor may have entered if for some zone that is
 * left its stamp falls between the beginning of the walk and now.
 */
import { parseInstant } from '../../domain/clock.ts';
import type { VendorPage, VendorRow } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Vendor } from '../../domain/vendor.ts';

/** Zones, and how far behind UTC the farthest is, in milliseconds. */
const zoneStep = 15 * 60_000;
const farthestZone = 12 * 3_600_000;

/** Zones change by an hour twice a year: stamps of before may be ahead by as much. */
const zoneChange = 3_600_000;

/** How far the service's clocks differ from each other, and stamps are rounded, in milliseconds. */
const clockError = 3_000;

/** A vendor that was written: its latest stamp, and when the answer that showed it was dated, both Unix ms. */
interface Written {
  readonly stamp: number;
  readonly shownAt: number;
}

export class EntryWatch {
  readonly #first: VendorPage;
  readonly #lag: number;
  readonly #written: Written[] = [];
  /** How far stamps are ahead of the dates of answers at least, in milliseconds. */
  #ahead = -Infinity;
  #entered = false;

  /** The page with which the walk began, and how long the service may answer from an old copy, in milliseconds. */
  constructor(first: VendorPage, lag: number) {
    this.#first = first;
    this.#lag = lag;
  }

  /** Whether a vendor may have entered by what a page of the walk says of it: most were stored as they are long before. */
  concerns(verdict: Verdict): boolean {
    return verdict.kind !== 'unchanged' || verdict.heldSince >= this.#first.stamp.begun - this.#lag;
  }

  /** Takes in a vendor that a page of the walk shows, and that no walk before showed. */
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
        // A delivery may have brought it as a new one while lists did not show it yet.
        this.#entered ||= this.concerns(verdict);
        return;
      case 'forgotten':
        this.#note(row.vendor(), servedAt);
        return;
      case 'stale':
        this.#entered = true;
        return;
      case 'rejected':
        // The run cannot be complete.
        return;
    }
  }

  /** Whether one of the vendors may have entered. */
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
    // The more stamps are seen, the fewer may be new: one that is not now never is.
    else if (this.#mayBeNew(written)) this.#written.push(written);
  }

  #mayBeNew({ stamp, shownAt }: Written): boolean {
    const begun = (this.#first.servedAt ?? NaN) - this.#lag - clockError;
    const least = Math.max(-farthestZone, this.#ahead - zoneChange - clockError);
    // The zones under which the stamp is not younger than the answer that showed it, and not older than the beginning.
    const lowest = Math.ceil(Math.max(least, stamp - shownAt - clockError) / zoneStep) * zoneStep;
    return !(lowest > stamp - begun);
  }
}

function instant(text: string | null | undefined): number {
  return (text == null ? undefined : parseInstant(text)) ?? NaN;
}
