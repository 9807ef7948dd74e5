/** One pass over all pages of a list, several pages concurrently, each applied when it arrives. */
import { eachBounded } from '../../domain/concurrency.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorPage } from '../../domain/reading.ts';
import { IdSet } from './id-set.ts';
import { few, type Pass } from './passes.ts';
import { holdsEnd, type Window } from './window-chain.ts';

export interface Walk {
  readonly concurrency: number;
  /** Page 1, read before all others. */
  readonly first: VendorPage;
  /** Fetches one page. */
  readonly fetch: (page: number) => Promise<VendorPage>;
  /** Applies one page. @returns its window, and whether a vendor of it may have entered the list since the sweep began. */
  readonly apply: (page: VendorPage, requested: number) => Promise<{ window: Window; entered: boolean }>;
  /** Where `apply` collects the vendors, if no other walk did so before: it need not be done twice. */
  readonly seen?: IdSet | undefined;
  /** Called when the list is seen to change; true ends the walk, because another proof takes over. */
  readonly onMove?: () => boolean;
}

/** The windows of the list, the first page first; and the pass, unless another proof took over. */
export interface Walked {
  readonly windows: readonly Window[];
  readonly pass: Omit<Pass, 'splitsTimes'> | undefined;
}

/** More pages than any account has; larger values are ignored. */
const mostPages = 200_000;

/**
 * Walks from page 1 to the last, never beyond the `pages` of the latest answer.
 * @throws MirrorError `paging_ignored` where the service answers other pages as the first; whatever `fetch` and `apply` throw.
 */
export async function walk({ concurrency, first, fetch, apply, seen, onMove }: Walk): Promise<Walked> {
  const ids = seen ?? new IdSet();
  const windows: Window[] = [];
  const met = { rows: 0, order: 0, pages: 1, steady: true, whole: true, entered: false, cutShort: false };

  const take = async (page: VendorPage, requested: number): Promise<void> => {
    met.steady &&= page.total === first.total;
    met.pages = Math.min(page.pages, mostPages);
    met.rows += page.rows.length;
    met.order = (met.order + orderOn(page, requested)) | 0;
    const { window, entered } = await apply(page, requested);
    if (!seen) ids.addAll(window.ids);
    windows.push(window);
    met.entered ||= entered;
    if (!met.steady || met.entered) met.cutShort ||= onMove?.() ?? false;
  };

  /** Whether page 1 still equals this page; short pages are checked three times. */
  const standsStill = async (page: VendorPage): Promise<boolean> => {
    for (let times = first.rows.length < few ? 3 : 1; times > 0; times--)
      if (!isFirstAgain(page, await fetch(1))) return false;
    return true;
  };

  await take(first, 1);
  // Some services return everything on page 1, whatever page size was requested.
  if (met.rows === first.total && ids.size === met.rows) met.pages = 1;
  await eachBounded(
    pagesFrom(2, () => (met.cutShort ? 0 : met.pages)),
    concurrency,
    async (requested) => {
      try {
        const page = await fetch(requested);
        if (isFirstAgain(page, first) && (await standsStill(page))) throw pagingIgnored(requested, first);
        await take(page, requested);
      } catch (error) {
        if (!(error instanceof MirrorError && error.code === 'not_found')) throw error;
        // The list became shorter during the walk.
        met.whole = false;
      }
    },
  );
  if (met.cutShort) return { windows, pass: undefined };
  const { order, pages, whole, entered } = met;
  const last = windows.findLast(({ page }) => page === pages);
  const pass = {
    ids: new IdSet(ids),
    order,
    total: met.steady ? first.total : undefined,
    pages,
    whole,
    repeated: ids.size < met.rows,
    entered,
    full: last !== undefined && last.ids.length >= last.size,
    atOnce: windows[0] !== undefined && holdsEnd(windows[0]),
  };
  return { windows, pass };
}

function pagingIgnored(requested: number, first: VendorPage): MirrorError {
  const { pages, total, rows } = first;
  return new MirrorError(
    'paging_ignored',
    `The service ignores the page parameter: page ${requested} of ${pages} was answered with page 1 again, so only ${rows.length} of ${total} vendors can be read.`,
  );
}

function* pagesFrom(start: number, last: () => number): Generator<number> {
  for (let page = start; page <= last(); page++) yield page;
}

/** Whether a later page shows the same rows as the first. Only rows count: the page number of an answer may be wrong. */
function isFirstAgain(page: VendorPage, first: VendorPage): boolean {
  const [row] = page.rows;
  if (!row || page.rows.length !== first.rows.length) return false;
  // Nearly all pages begin with a vendor that is not on the first one.
  if (!first.rows.some(({ vendorid }) => vendorid === row.vendorid)) return false;
  return idsOf(page).equals(idsOf(first));
}

/** A hash of the vendors of a page and their order (FNV-1a). */
function orderOn({ rows }: VendorPage, requested: number): number {
  return rows.reduce((order, { vendorid }) => Math.imul(order ^ vendorid, 0x01000193), 0x811c9dc5 ^ requested);
}

function idsOf(page: VendorPage): IdSet {
  return new IdSet(page.rows.map(({ vendorid }) => vendorid));
}
