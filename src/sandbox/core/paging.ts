/** Pages of a list. */
import { invalid, unknownResource } from './refusal.ts';
import type { World } from './worlds.ts';

/** Which rows to show, and the numbers that stand beside them. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
  readonly numbers: {
    readonly page: number;
    readonly pages: number;
    readonly per_page: number;
    readonly total: number;
  };
}

const defaultPerPage = 15;
const largestPerPage = 100;

/** The page of `total` rows that the query asks for, as this world understands it. Refuses numbers that are none. */
export function pageOf(query: URLSearchParams, total: number, world: World): Page {
  const requested = world.paging === 'ignored' ? 1 : positive(query, 'page', 1, 1014);
  const perPage = perPageOf(query, total, world);
  const pages = Math.ceil(total / perPage);
  if (requested > Math.max(pages, 1) && world.pastEnd === '404')
    throw unknownResource('page', 'page', String(requested));
  const page = requested > pages && world.pastEnd === 'last' ? Math.max(pages, 1) : requested;
  const shown = world.paging === 'echoed' ? 1 : page;
  return {
    offset: (shown - 1) * perPage,
    limit: perPage,
    numbers: { page, pages, per_page: perPage, total },
  };
}

function perPageOf(query: URLSearchParams, total: number, world: World): number {
  switch (world.perPage) {
    case 'ignored':
      return defaultPerPage;
    case 'all':
      return Math.max(total, defaultPerPage);
    case 'honoured':
      return positive(query, 'per_page', defaultPerPage, 1013);
    case 'capped':
      return Math.min(positive(query, 'per_page', defaultPerPage, 1013), largestPerPage);
  }
}

function positive(query: URLSearchParams, name: string, initial: number, errno: number): number {
  const text = query.get(name);
  if (text === null) return initial;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalid(errno, 'page', name, `Invalid value for ${name}.`, text);
}

/** One page of rows that are all at hand. */
export function pageOfRows<T>(
  rows: readonly T[],
  query: URLSearchParams,
  world: World,
): { rows: T[]; numbers: Page['numbers'] } {
  const { offset, limit, numbers } = pageOf(query, rows.length, world);
  return { rows: rows.slice(offset, offset + limit), numbers };
}
