/**
 * Reads the pages of one list during a sweep: fetches and applies each, and watches the order of the list and vendors that may have
 * entered it.
 *
 * Whether a vendor entered during the walk is decided by its timestamps and the service's own `Date` header. Timestamps may be in an unknown
 * time zone. So one counts as inside the walk if it is so in any zone, a multiple of 15 minutes away, that the latest timestamp seen allows.
 */
import { optionalRetryLimits } from '../../api/optional-requests.ts';
import type { VendorsApi } from '../../api/vendors.ts';
import { parseInstant } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { isDeclined } from '../../domain/optional-requests.ts';
import type { VendorPage, VendorRow } from '../../domain/reading.ts';
import { kept, type Vendor } from '../../domain/vendor.ts';
import type { Verdict } from '../../store/acceptance.ts';
import { IdSet } from './id-set.ts';
import type { ObservedOrder } from './list-order.ts';
import { windowOf, type PageRequest, type Window } from './window-chain.ts';

/** Progress of a sweep. */
export interface SweepProgress {
  readonly pass: number;
  readonly page: number;
  readonly pages: number;
  readonly seen: number;
  readonly total: number;
}

export interface ListSource {
  readonly vendors: Pick<VendorsApi, 'page'>;
  /** Applies a page. @returns a verdict for each vendor. */
  readonly apply: (page: VendorPage) => Promise<ReadonlyMap<number, Verdict>>;
  readonly onRequest: () => void;
  readonly signal: AbortSignal;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  /** Called where the service declines a page of another size than the usual. */
  readonly onSizeDeclined?: (error: MirrorError) => Promise<void>;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** Reads the pages of one list during a sweep: fetches and applies each, and watches the order of the list and vendors that enter it. */
export class ListReader {
  /** Every vendor that any page showed. */
  readonly seen = new IdSet();
  /** Reasons why records cannot be used, without duplicates. */
  readonly rejected = new Set<string>();
  readonly order: ObservedOrder;
  /** How many vendors the last page counted. */
  counted = 0;
  readonly #source: ListSource;
  readonly #visState: 1 | 2 | undefined;
  #entries: { readonly first: VendorPage; readonly watch: EntryWatch; readonly known: IdSet } | undefined;
  #moved = false;
  #begins = true;
  #pass = 0;
  #rowsSeen = 0;

  constructor(source: ListSource, visState: 1 | 2 | undefined, order: ObservedOrder) {
    this.#source = source;
    this.#visState = visState;
    this.order = order;
  }

  /** Whether vendors may have entered the list since this walk began. */
  get entered(): boolean {
    return this.#entries?.watch.entered ?? false;
  }

  /** Whether the list was seen to change at any time. */
  get moved(): boolean {
    return this.#moved || this.entered;
  }

  /** Begins another walk; with `startsOver`, earlier walks no longer count. */
  begin(startsOver: boolean): void {
    this.#moved = this.moved;
    this.#pass += 1;
    this.#rowsSeen = 0;
    this.#begins = true;
    if (startsOver) this.#entries = undefined;
  }

  /** Fetches a page; `size` is the usual number of rows by default. */
  async fetch(page: number, size?: number): Promise<VendorPage> {
    const { signal, onRequest, vendors } = this.#source;
    signal.throwIfAborted();
    onRequest();
    const retryLimits = size === undefined ? undefined : optionalRetryLimits;
    return vendors.page(page, { visState: this.#visState, size, signal, retryLimits });
  }

  /** Applies a page and records what it shows of the list. */
  async applyPage(page: VendorPage, requested: PageRequest, observeTimes = false): Promise<Window> {
    // Walks count together only while the list's total is the same as at the first.
    if (this.#begins && this.#entries?.first.total !== page.total) this.#entries = undefined;
    this.#begins = false;
    const { first, watch, known } = (this.#entries ??= {
      first: page,
      watch: new EntryWatch(page, this.#source.lag),
      // One set for both, unless another walk starts over.
      known: this.seen.size === 0 ? this.seen : new IdSet(),
    });
    const verdicts = await this.#source.apply(page);
    this.#moved ||= page.total !== first.total;
    for (const reason of page.rejected ?? []) this.rejected.add(reason);
    for (const row of page.rows) {
      const verdict = verdicts.get(row.vendorid);
      if (verdict && watch.concerns(verdict) && !known.has(row.vendorid)) watch.see(row, verdict, page);
    }
    const window = windowOf(page, requested, this.order.observe(page.rows, observeTimes));
    if (known !== this.seen) known.addAll(window.ids);
    this.seen.addAll(window.ids);
    this.#rowsSeen += window.ids.length;
    const { pages, total } = page;
    this.counted = total;
    // Windows overlap, so some rows are counted twice.
    const seen = Math.min(this.#rowsSeen, total);
    this.#source.onProgress?.({ pass: this.#pass, page: requested.page, pages, seen, total });
    return window;
  }

  /** Reads one window: a page of a given size. */
  async window(requested: PageRequest, observeTimes: boolean): Promise<Window | 'no_such_page' | 'size_ignored'> {
    try {
      const page = await this.fetch(requested.page, requested.size);
      const window = await this.applyPage(page, requested, observeTimes);
      return page.perPage === requested.size && window.ids.length <= requested.size ? window : 'size_ignored';
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      // The list may have become shorter; a page of rows that it surely has shows that the size is not honoured.
      const isBeyond = (requested.page - 1) * requested.size >= (this.#entries?.first.total ?? 0) / 2;
      if (error.code === 'not_found' && isBeyond) return 'no_such_page';
      if (!isDeclined(error)) throw error;
      // A walk over all pages decides about those of the usual size.
      if (requested.size !== this.#entries?.first.perPage) await this.#source.onSizeDeclined?.(error);
      return 'size_ignored';
    }
  }

  /** Whether rows of the same time are on both sides of an edge between these pages, which cover the list in sequence. */
  splitsTimes(windows: readonly Window[]): boolean {
    const sorted = windows.filter(({ ids }) => ids.length > 0).toSorted((a, b) => a.page - b.page);
    return this.order
      .possibleTimes()
      .some((key) =>
        sorted.some((window, index) => index > 0 && sorted[index - 1]?.times?.[key].last === window.times?.[key].first),
      );
  }
}

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

/**
 * Detects vendors that may have entered the list since its walk began: created, or restored from a hidden state. Doubt counts as yes; that
 * costs only another walk.
 *
 * When a vendor was written is known only from its timestamps, and how they relate to the clock of the answers is not known: they may be in
 * another time zone, a multiple of 15 minutes away, and off by a few seconds. No timestamp is in the future, so the youngest one seen
 * bounds how far timestamps are ahead. A vendor may have entered if, in any remaining zone, its timestamp lies between the start of the
 * walk and now.
 */
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
    const stamp = Math.max(instant(kept(created_at)), instant(kept(updated_at)));
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
