/** A window: what one page showed of the list at one moment, without its records. */
import type { VendorPage } from '../../domain/reading.ts';
import type { TimeEdges } from './list-order.ts';

export interface Window {
  /** The requested page, from 1, and its size: the window begins at row `(page - 1) * size`. */
  readonly page: number;
  readonly size: number;
  /** Vendor ids in the order of the page. */
  readonly ids: readonly number[];
  /** The times at both ends; undefined where they were not read. */
  readonly times: TimeEdges | undefined;
  /** `total` and `pages` of the answer. */
  readonly total: number;
  readonly pages: number;
}

export function windowOf(page: VendorPage, requested: { page: number; size: number }, times?: TimeEdges): Window {
  const { rows, total, pages } = page;
  return { ...requested, total, pages, times, ids: rows.map(({ vendorid }) => vendorid) };
}

/** The first row of a window, counted from 0 when it was read. */
export function beginOf({ page, size }: Window): number {
  return (page - 1) * size;
}
export function endOf({ page, size }: Window): number {
  return page * size;
}

/**
 * Whether the list ends inside the window. A short page alone proves nothing, because rows may be counted and not shown. The window must be
 * the last page by its own `pages`; at least half of it must be empty by its own `total`, because both may have been counted at another
 * moment than the rows; and it may not show more rows than `total` leaves.
 */
export function holdsEnd(window: Window): boolean {
  const left = window.total - beginOf(window);
  return window.pages === window.page && left <= window.size / 2 && window.ids.length <= left;
}
