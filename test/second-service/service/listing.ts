/**
 * The list of vendors: which of them it shows, in which order, on how many pages, and what it counts. It may tell of the account as it was
 * a moment ago, and nothing in it needs to fit together.
 */

import { type Answer, ok, refused, unknownVendor } from './answers.ts';
import { Chance, type Choices } from './choices.ts';
import type { Records, Vendor } from './records.ts';
import type { Rendering } from './rendering.ts';

/** Of a list that hides deleted vendors only after a while. */
const deletedShownMs = 3_600_000;

export class Listing {
  /** Set while the token's role shows less: vendors that neither the list nor a read shows, though they are counted. */
  unreadable: (vendor: Vendor) => boolean = () => false;
  /** False when copies no longer lag. */
  lags = true;
  readonly #choices: Choices;
  readonly #records: Records;
  readonly #rendering: Rendering;
  readonly #now: () => number;
  readonly #order: Chance;
  readonly #copies: { at: number; vendors: Vendor[] }[] = [];
  #countedBefore: number | undefined;

  constructor(choices: Choices, records: Records, rendering: Rendering, now: () => number) {
    this.#choices = choices;
    this.#records = records;
    this.#rendering = rendering;
    this.#now = now;
    this.#order = new Chance(choices.seed, 'order of this answer');
  }

  /** Whether the plain list shows vendors like this one, now. */
  shows(vendor: Vendor): boolean {
    const { hidden } = this.#choices;
    if (vendor.visState === 2) return !hidden.includes('archived');
    if (vendor.visState === 0 || hidden === 'nothing' || hidden === 'archived') return true;
    return hidden === 'deleted after a while' && this.#now() - (vendor.deletedAt ?? 0) < deletedShownMs;
  }

  answer(query: URLSearchParams): Answer {
    const choices = this.#choices;
    const filter = query.get('search[vis_state]');
    if (filter !== null && choices.stateFilter === 'refused')
      return refused(choices, { status: 400, errno: 1004, message: 'Invalid search.' });
    const size = this.#size(query.get('per_page'));
    if (size === undefined)
      return refused(choices, { status: 422, errno: 1013, message: 'Invalid per_page.', field: 'per_page' });

    const matching = this.#ordered(this.#copy().filter((vendor) => this.#matches(vendor, filter)));
    const rows = matching.filter((vendor) => !this.unreadable(vendor));
    const lastIndex = Math.max(0, Math.ceil(rows.length / size) - 1);
    const asked = Number(query.get('page') ?? choices.firstPage);
    let index = asked - choices.firstPage;
    if (!Number.isInteger(asked) || index < 0) {
      if (choices.pageBeforeFirst === 'refused')
        return refused(choices, { status: 422, errno: 1014, message: 'Invalid page.', field: 'page' });
      if (choices.pageBeforeFirst === 'empty') return this.#page([], asked, size, matching);
      index = 0;
    }
    if (index > lastIndex) {
      if (choices.pastEnd === '404') return refused(choices, { ...unknownVendor, message: 'No such page.' });
      if (choices.pastEnd === 'errno 1014')
        return refused(choices, { status: 422, errno: 1014, message: 'Invalid page.', field: 'page' });
      if (choices.pastEnd === 'the last page') index = lastIndex;
    }
    return this.#page(rows.slice(index * size, (index + 1) * size), index + choices.firstPage, size, matching);
  }

  /** Undefined for a size that is refused. */
  #size(asked: string | null): number | undefined {
    const { sizes, ownSize, largestSize } = this.#choices;
    if (asked === null || sizes === 'ignored') return ownSize;
    if (sizes === 'refused') return Number(asked) === ownSize ? ownSize : undefined;
    return Math.max(1, Math.min(Number(asked) || ownSize, sizes === 'capped' ? largestSize : 2000));
  }

  /** The account as this answer knows it. */
  #copy(): Vendor[] {
    const now = this.#now();
    const lag = this.lags ? this.#choices.copiesLag : 0;
    while (this.#copies[0] !== undefined && this.#copies[0].at < now - lag) this.#copies.shift();
    this.#copies.push({ at: now, vendors: this.#records.all() });
    return lag === 0 ? this.#records.all() : this.#copies[0]!.vendors;
  }

  #matches(vendor: Vendor, filter: string | null): boolean {
    const { stateFilter } = this.#choices;
    if (filter === null || stateFilter === 'ignored') return this.shows(vendor);
    return String(vendor.visState) === filter && (stateFilter === 'obeyed' || this.shows(vendor));
  }

  #ordered(vendors: Vendor[]): Vendor[] {
    switch (this.#choices.order) {
      case 'id':
        return vendors.sort((a, b) => a.id - b.id);
      case 'newest':
        return vendors.sort((a, b) => b.id - a.id);
      case 'updated':
        return vendors.sort((a, b) => b.updatedAt - a.updatedAt || a.id - b.id);
      case 'shuffled':
        return this.#order.shuffled(vendors);
    }
  }

  #page(rows: readonly Vendor[], number: number, size: number, counted: readonly Vendor[]): Answer {
    const total = this.#total(rows, counted);
    const pages = this.#pages(size, total, counted.length);
    this.#countedBefore = counted.length;
    return ok({
      bill_vendors: rows.map((vendor) => this.#rendering.answered(vendor, 'list')),
      page: number,
      pages,
      per_page: size,
      total,
    });
  }

  #total(rows: readonly Vendor[], { length }: readonly Vendor[]): number {
    switch (this.#choices.total) {
      case 'right':
        return length;
      case 'fewer':
        return Math.max(0, length - Math.ceil(length / 10));
      case 'more':
        return length + 3;
      case 'capped':
        return Math.min(length, 20);
      case 'this page':
        return rows.length;
      case 'zero':
        return 0;
    }
  }

  #pages(size: number, total: number, length: number): number {
    switch (this.#choices.pages) {
      case 'right':
        return Math.ceil(length / size);
      case 'of the total':
        return Math.ceil(total / size);
      case 'of another moment':
        return Math.ceil((this.#countedBefore ?? length) / size);
      case 'one':
        return 1;
    }
  }
}
