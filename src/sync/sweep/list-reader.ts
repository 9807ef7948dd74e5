/**
 * Reads the pages of one list during a sweep: fetches and applies each, and watches the order of the list and vendors that may have
 * entered it.
 *
 * Whether a vendor entered during the walk is decided by its timestamps and the service's own `Date` header. Timestamps may be in an unknown
 * time zone, and those of creation in another one than those of updates. So one counts as inside the walk if it is so in any zone, a multiple
 * of 15 minutes away, that the latest timestamp of its column allows.
 */
import type { SweepProgress } from '../../domain/run.ts';
import { optionalRetryLimits } from '../../api/optional-requests.ts';
import type { ListOptions, VendorsApi } from '../../api/vendors.ts';
import { parseInstant } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { isDeclined } from '../../domain/optional-requests.ts';
import type { VendorPage, VendorRow } from '../../domain/reading.ts';
import type { RetryLimits } from '../../domain/retry.ts';
import { kept, type Vendor } from '../../domain/vendor.ts';
import { isEdited, type Difference, type Verdict } from '../../store/acceptance.ts';
import { IdSet } from './id-set.ts';
import { timeKeys, type ObservedOrder, type TimeKey } from './list-order.ts';
import type { PageMemory } from '../../store/service-knowledge.ts';
import { numberOfFirstPage } from './page-memory.ts';
import { isNoSuchPage } from './walk.ts';
import { windowOf, type PageRequest, type Window } from './window-chain.ts';

export interface ListSource {
  readonly vendors: Pick<VendorsApi, 'page'>;
  /** Applies a page. @returns a verdict for each vendor. */
  readonly apply: (page: VendorPage) => Promise<ReadonlyMap<number, Verdict>>;
  readonly onRequest: () => void;
  /** The most requests under way at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  /** Called where the service declines a page of another size than the usual. */
  readonly onSizeDeclined?: (error: MirrorError) => Promise<void>;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
  /** What is remembered of the pages of this service; without it, they count from 1. */
  readonly pages?: PageMemory | undefined;
}

/** The service's own number of the error that there is no such page. */
const noSuchPage = 1014;

/** Rows that are applied together: a page may hold the whole list. */
const mostApplied = 1_000;

/** Reads the pages of one list during a sweep: fetches and applies each, and watches the order of the list and vendors that enter it. */
export class ListReader {
  /** Every vendor that any page showed. */
  readonly seen = new IdSet();
  /** Why records cannot be used, each once on whichever pages it was shown, but as often as one page shows it. */
  readonly rejected = new Set<string>();
  readonly #rejectedRecords = new Set<string>();
  readonly order: ObservedOrder;
  readonly #source: ListSource;
  readonly #visState: 1 | 2 | undefined;
  #entries: { readonly first: VendorPage; readonly watch: EntryWatch; readonly known: IdSet } | undefined;
  #moved = false;
  #begins = true;
  #pass = 0;
  #rowsSeen = 0;
  /** The number that the service gives to the first page. */
  #firstPage = 1;
  /** Whether that is known, or 0 only because it may be. */
  #isDecided = true;
  #largestPage = 0;
  #countsLists = false;
  #mustAsk = false;
  #hasRows = false;

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

  /** The most rows that a page of this service ever had. */
  get largestPage(): number {
    return this.#largestPage;
  }

  /** Whether `total` is known to count lists, not pages. */
  get countsLists(): boolean {
    return this.#countsLists;
  }

  /** Whether any answer had vendors, be it one that only said where pages count from. */
  get hasRows(): boolean {
    return this.#hasRows;
  }

  /** Whether the second page may be the first one again: a service may show page 1 for page 0. */
  get mayBeginTwice(): boolean {
    return this.#firstPage === 0;
  }

  /** Whether it is known which rows a page has, so that windows may be joined. */
  get isNumbered(): boolean {
    return this.#isDecided;
  }

  /** Learns whether `total` counts lists from a walk that saw the end of one. */
  learnCounts({ isWhole, beyond }: { readonly isWhole: boolean; readonly beyond: boolean }): void {
    if (beyond) this.#countsLists = false;
    else if (isWhole) this.#countsLists = true;
  }

  async rememberPages(): Promise<void> {
    await this.#source.pages?.learn({ largestPage: this.#largestPage, countsLists: this.#countsLists });
  }

  /** Learns what is remembered of the service's pages. */
  async learnPages(): Promise<void> {
    const known = await this.#source.pages?.read();
    if (!known) return;
    this.#firstPage = known.firstPage ?? 0;
    this.#isDecided = known.firstPage !== undefined;
    this.#largestPage = known.largestPage;
    this.#countsLists = known.countsLists;
    this.#mustAsk = known.mayAsk;
  }

  /** Fetches the first page, and asks which one that is if nobody did within a day. */
  async first(retryLimits?: RetryLimits): Promise<VendorPage> {
    if (!this.#mustAsk) return this.fetch(1, undefined, retryLimits);
    this.#mustAsk = false;
    let refusal: unknown;
    let onStamp = (): void => undefined;
    const sent = new Promise<true>((resolve) => (onStamp = () => resolve(true)));
    const asked = this.#fetch(1, { retryLimits, onStamp: () => onStamp() });
    const isSent = await Promise.race([sent, Promise.allSettled([asked]).then(() => false)]);
    const numbers = isSent ? [0, 2].slice(0, this.#source.concurrency - 1) : [];
    const beside = new Map(numbers.map((page) => [page, this.#tryOnce(page)]));
    try {
      const one = await asked.catch((error: unknown) => {
        if (!isNoSuchPage(error)) throw error;
        refusal = error;
        return undefined;
      });
      if (!this.#isDecided) this.#firstPage = 1;
      const { latest } = await this.#askFirstPage(one, beside);
      if (this.#firstPage === 0) return await this.fetch(1, undefined, retryLimits);
      if (!latest) throw refusal;
      return latest;
    } finally {
      await Promise.all(beside.values());
    }
  }

  /** A page that is asked for right behind page 1; undefined where it is not answered: then it is asked for again, once page 1 was. */
  #tryOnce(page: number): Promise<VendorPage | undefined> {
    return this.#fetch(page, { retryLimits: { ...optionalRetryLimits, attempts: 1 } }).catch(() => undefined);
  }

  /** Asks where the pages count from. @returns whether that is elsewhere than was believed. */
  async askFirstPageAgain(): Promise<boolean> {
    return this.#source.pages !== undefined && (await this.#askFirstPage()).isElsewhere;
  }

  /**
   * @param beside pages that were asked for right behind page 1, to be used once
   * @returns also the latest answer to page 1: the one before may have come without rows by a fault
   */
  async #askFirstPage(
    one?: VendorPage,
    beside = new Map<number, Promise<VendorPage | undefined>>(),
  ): Promise<{ isElsewhere: boolean; latest: VendorPage | undefined }> {
    let latest = one;
    const ask = async (number: number): Promise<VendorPage> => {
      const asked = await beside.get(number);
      beside.delete(number);
      if (asked) return asked;
      // Where page 1 is refused it may be for its size, and page 0 for the same.
      const page = await this.#fetch(number, { retryLimits: optionalRetryLimits, isFirst: number === 1 || !one });
      if (number === 1) latest = page;
      return page;
    };
    const before = this.#firstPage;
    const told = await numberOfFirstPage(ask, one);
    // Where page 1 was answered and nobody knows whether there is a page 0, the list begins with it: it is no list without.
    if (told === undefined && !this.#isDecided && latest) this.#firstPage = 0;
    if (told === undefined) return { isElsewhere: false, latest };
    const found = told !== 'failing' ? told : this.#isDecided && before === 0 ? 0 : 1;
    this.#isDecided = found !== 'undecided';
    this.#firstPage = found === 'undecided' ? 0 : found;
    await this.#source.pages?.learnFirstPage(found === 'undecided' ? undefined : found);
    return { isElsewhere: this.#firstPage !== before, latest };
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
  fetch(
    page: number,
    size?: number,
    retryLimits = size === undefined ? undefined : optionalRetryLimits,
  ): Promise<VendorPage> {
    const number = page - 1 + this.#firstPage;
    return this.#fetch(number, { size, retryLimits, isFirst: number === 1 || page === 1 });
  }

  /** Fetches a page by the number that the service gives it. */
  async #fetch(
    page: number,
    options: Pick<ListOptions, 'size' | 'retryLimits' | 'isFirst' | 'onStamp'> = {},
  ): Promise<VendorPage> {
    const { signal, onRequest, vendors } = this.#source;
    signal.throwIfAborted();
    onRequest();
    const answer = await vendors.page(page, { ...options, visState: this.#visState, signal });
    this.#hasRows ||= answer.rows.length > 0;
    return answer;
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
    const verdicts = await this.#apply(page);
    this.#largestPage = Math.max(this.#largestPage, page.rows.length);
    this.#moved ||= page.total !== first.total;
    const onPage = new Map<string, number>();
    for (const { reason, digest } of page.rejected ?? []) {
      const nth = (onPage.get(digest) ?? 0) + 1;
      onPage.set(digest, nth);
      const record = `${digest} ${nth}`;
      if (!this.#rejectedRecords.has(record)) this.rejected.add(reason);
      this.#rejectedRecords.add(record);
    }
    for (const row of page.rows) {
      const verdict = verdicts.get(row.vendorid);
      if (verdict && watch.concerns(verdict) && !known.has(row.vendorid)) watch.see(row, verdict, page);
    }
    const window = windowOf(page, requested, this.order.observe(page.rows, observeTimes));
    if (known !== this.seen) known.addAll(window.ids);
    this.seen.addAll(window.ids);
    this.#rowsSeen += window.ids.length;
    const { pages, total } = page;
    // Windows overlap, so some rows are counted twice.
    const seen = Math.min(this.#rowsSeen, total);
    this.#source.onProgress?.({ pass: this.#pass, page: requested.page, pages, seen, total });
    return window;
  }

  async #apply(page: VendorPage): Promise<ReadonlyMap<number, Verdict>> {
    if (page.rows.length <= mostApplied) return this.#source.apply(page);
    const verdicts = new Map<number, Verdict>();
    for (let from = 0; from < page.rows.length; from += mostApplied) {
      const applied = await this.#source.apply({ ...page, rows: page.rows.slice(from, from + mostApplied) });
      for (const [vendorid, verdict] of applied) verdicts.set(vendorid, verdict);
    }
    return verdicts;
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
      if (isBeyond && (error.code === 'not_found' || error.errno === noSuchPage)) return 'no_such_page';
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

/** Timestamps are whole seconds, in milliseconds. */
const grain = 1_000;

/** How far the service's clocks may differ, and timestamps are rounded, in milliseconds. */
const clockError = 3_000;

/** A timestamp of a vendor, and the date of the answer that showed it, both Unix ms. */
interface Written {
  readonly column: TimeKey;
  readonly stamp: number;
  readonly shownAt: number;
}

/**
 * Detects vendors that may have entered the list since its walk began: created, or restored from a hidden state. Doubt counts as yes; that
 * costs only another walk, but no vendor may be in doubt for ever.
 *
 * When a vendor was written is known only from its timestamps, and how they relate to the clock of the answers is not known: they may be in
 * another time zone, a multiple of 15 minutes away, each column in one of its own, and off by a few seconds. No timestamp is in the future, so
 * the youngest one seen in a column bounds how far its timestamps are ahead. A vendor may have entered if, in any remaining zone, its timestamp lies between the start of the
 * walk and now.
 */
export class EntryWatch {
  readonly #first: VendorPage;
  readonly #lag: number;
  readonly #written: Written[] = [];
  /** The largest known lead of each column's timestamps over the dates of answers, in milliseconds. */
  readonly #ahead: Record<TimeKey, number> = { created_at: -Infinity, updated_at: -Infinity };
  #entered = false;

  /** `first` is the page with which the walk began; `lag` is how long the service may answer from an old copy, in milliseconds. */
  constructor(first: VendorPage, lag: number) {
    this.#first = first;
    this.#lag = lag;
  }

  /** Whether a vendor with this verdict may have entered the list. Most were stored as shown long before. */
  concerns(verdict: Verdict): boolean {
    return verdict.kind !== 'unchanged' || verdict.heldSince > this.#first.stamp.begun - this.#lag;
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
        else if (!this.#stoodStill(verdict)) this.#note(row.vendor(), servedAt);
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

  /**
   * Whether a vendor was not edited since before the walk, whatever else of it is shown otherwise than it is stored: a restoration is an edit.
   * The edit that is stored may have another one in the same second, so it must have been stored for as long.
   */
  #stoodStill(difference: Difference): boolean {
    return !isEdited(difference) && difference.before.held_since_ms <= this.#first.stamp.begun - this.#lag - grain;
  }

  #note(vendor: Vendor, shownAt: number): void {
    for (const column of timeKeys) {
      const stamp = instant(kept(vendor[column]));
      if (stamp - shownAt > this.#ahead[column]) this.#ahead[column] = stamp - shownAt;
      const written = { column, stamp, shownAt };
      if (Number.isNaN(stamp - shownAt)) this.#entered = true;
      // More timestamps only narrow the zones: a vendor that is not new now never is.
      else if (this.#mayBeNew(written)) this.#written.push(written);
    }
  }

  #mayBeNew({ column, stamp, shownAt }: Written): boolean {
    const begun = (this.#first.servedAt ?? NaN) - this.#lag - clockError;
    const least = Math.max(-farthestZone, this.#ahead[column] - zoneChange - clockError);
    // Zones in which the timestamp is not after the answer that showed it, and not before the start of the walk.
    const lowest = Math.ceil(Math.max(least, stamp - shownAt - clockError) / zoneStep) * zoneStep;
    return !(lowest > stamp - begun);
  }
}

function instant(text: string | null | undefined): number {
  return (text == null ? undefined : parseInstant(text)) ?? NaN;
}
