/** Reads the pages of one list during a sweep: fetches and applies each, and watches the order of the list and vendors that enter it. */
import type { VendorsApi } from '../../api/vendors.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorPage } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import { EntryWatch } from './entry-watch.ts';
import { IdSet } from './id-set.ts';
import type { ObservedOrder } from './list-order.ts';
import { windowOf, type Window } from './window.ts';
import type { PageRequest } from './window-plan.ts';

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
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export class ListReader {
  /** Every vendor that any page showed. */
  readonly seen = new IdSet();
  /** Reasons why records cannot be used, without duplicates. */
  readonly rejected = new Set<string>();
  readonly order: ObservedOrder;
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
    return vendors.page(page, { visState: this.#visState, size, signal });
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
      if (error instanceof MirrorError && error.code === 'not_found') return 'no_such_page';
      throw error;
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
