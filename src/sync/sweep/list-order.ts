/**
 * Detects the order of a list from its rows: by id, creation or last update, in either direction. A single pair of neighbours in the wrong
 * order refutes an order for good; many in the right order support it.
 */
import { parseInstant } from '../../domain/clock.ts';
import type { VendorRow } from '../../domain/reading.ts';
import { kept } from '../../domain/vendor.ts';

export const timeKeys = ['created_at', 'updated_at'] as const;
export type TimeKey = (typeof timeKeys)[number];
export type OrderKey = 'vendorid' | TimeKey;

export interface ListOrder {
  readonly key: OrderKey;
  readonly descending: boolean;
}

/** The times of the first and last row, Unix ms, and how many rows at the end have the last one. */
export interface Edge {
  readonly first: number;
  readonly last: number;
  readonly lastGroup: number;
}
export type TimeEdges = Readonly<Record<TimeKey, Edge>>;

/** Counts of neighbours that rise, fall or are equal. */
interface Pairs {
  rising: number;
  falling: number;
  equal: number;
}

/** This many neighbours in one direction are no coincidence: a random order has them once in 21! times. */
const enoughPairs = 20;

const noPairs = (): Pairs => ({ rising: 0, falling: 0, equal: 0 });

export class ObservedOrder {
  readonly #pairs: Readonly<Record<OrderKey, Pairs>> = {
    vendorid: noPairs(),
    created_at: noPairs(),
    updated_at: noPairs(),
  };
  readonly #enough: number;
  #pages = 0;

  constructor(enough = enoughPairs) {
    this.#enough = enough;
  }

  /**
   * Adds the rows of one page. Records are parsed only where times are needed.
   * @returns the times at both ends of the page; undefined where records were not parsed.
   */
  observe(rows: readonly VendorRow[], observeTimes = false): TimeEdges | undefined {
    this.#pages += 1;
    count(
      rows.map(({ vendorid }) => vendorid),
      this.#pairs.vendorid,
    );
    // The first page is always parsed: it costs little.
    if (!observeTimes && this.#pages > 1 && !isRefuted(this.#pairs.vendorid, 'vendorid')) return undefined;
    const times = rows.map(timesOf);
    return Object.fromEntries(
      timeKeys.map((key) => {
        const values = times.map((one) => one[key]);
        count(values, this.#pairs[key]);
        return [key, edgeOf(values)];
      }),
    ) as unknown as TimeEdges;
  }

  /** Orders that are not refuted and have enough support, the most reliable first. */
  candidates(): ListOrder[] {
    const keys = ['vendorid', ...timeKeys] as const;
    return keys.flatMap((key) => {
      const pairs = this.#pairs[key];
      return isKnown(pairs, key, this.#enough) ? [{ key, descending: pairs.falling > 0 }] : [];
    });
  }

  /** Whether all known orders are refuted. */
  isUnknown(): boolean {
    return (['vendorid', ...timeKeys] as const).every((key) => isRefuted(this.#pairs[key], key));
  }

  /** The direction in which the list may be ordered by last update; undefined where that is refuted. */
  byUpdate(): 'rising' | 'falling' | undefined {
    const pairs = this.#pairs.updated_at;
    if (isRefuted(pairs, 'updated_at')) return undefined;
    return pairs.falling > 0 ? 'falling' : 'rising';
  }

  /** Times by which the list may be ordered; none where it is ordered by id, or all are refuted. */
  possibleTimes(): TimeKey[] {
    if (!isRefuted(this.#pairs.vendorid, 'vendorid')) return [];
    return timeKeys.filter((key) => !isRefuted(this.#pairs[key], key));
  }
}

/** Whether an order is not refuted and has enough support. */
export function isKnown(pairs: Pairs, key: OrderKey, enough: number): boolean {
  return !isRefuted(pairs, key) && pairs.rising + pairs.falling >= enough;
}

/** Ids are unique, times are not. An invalid time refutes its order. */
function isRefuted({ rising, falling, equal }: Pairs, key: OrderKey): boolean {
  return (rising > 0 && falling > 0) || (key === 'vendorid' && equal > 0) || Number.isNaN(equal);
}

function count(values: readonly number[], pairs: Pairs): void {
  if (values.some(Number.isNaN)) pairs.equal = NaN;
  let [before] = values;
  for (const value of values.slice(1)) {
    if (before !== undefined && value > before) pairs.rising += 1;
    else if (before !== undefined && value < before) pairs.falling += 1;
    else pairs.equal += 1;
    before = value;
  }
}

function edgeOf(values: readonly number[]): Edge {
  const last = values.at(-1) ?? NaN;
  const other = values.findLastIndex((value) => value !== last);
  return { first: values[0] ?? NaN, last, lastGroup: values.length - 1 - other };
}

function timesOf(row: VendorRow): Record<TimeKey, number> {
  try {
    const { created_at, updated_at } = row.vendor();
    return { created_at: instant(kept(created_at)), updated_at: instant(kept(updated_at)) };
  } catch {
    // An unreadable record has no times; it is handled where it is applied.
    return { created_at: NaN, updated_at: NaN };
  }
}

function instant(text: string | null | undefined): number {
  return (text == null ? undefined : parseInstant(text)) ?? NaN;
}
