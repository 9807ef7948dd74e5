/** A window: what one page of a list showed at one moment, kept without its records. */
import type { VendorPage } from '../../domain/reading.ts';
import type { TimeEdges } from './list-order.ts';

export interface Window {
  /** The page that was asked for, from 1, and how many rows it may hold: it begins at row `(page - 1) * size`. */
  readonly page: number;
  readonly size: number;
  /** Vendors in the order of the page. */
  readonly ids: Float64Array;
  /** The times at both ends; undefined where nobody looked at them. */
  readonly times: TimeEdges | undefined;
  /** What the page itself says of the list. */
  readonly total: number;
  readonly pages: number;
}

export function windowOf(page: VendorPage, requested: { page: number; size: number }, times?: TimeEdges): Window {
  const { rows, total, pages } = page;
  return { ...requested, total, pages, times, ids: Float64Array.from(rows, ({ vendorid }) => vendorid) };
}

/** The row at which a window begins, and the first after it, counted from 0, when it was read. */
export function beginOf({ page, size }: Window): number {
  return (page - 1) * size;
}
export function endOf({ page, size }: Window): number {
  return page * size;
}

/**
 * Whether the list ends inside the window. A short page proves nothing, because rows may be counted and not shown: the window
 * must be the last page by its own `pages`, at least half of it must be free by its own `total`, because both may have been
 * counted at another moment than the rows, and it may show no more rows than `total` leaves for it.
 */
export function holdsEnd(window: Window): boolean {
  const left = window.total - beginOf(window);
  return window.pages === window.page && left <= window.size / 2 && window.ids.length <= left;
}
