/**
 * One pass over all pages of a list, several pages concurrently, each applied when it arrives, until the end of the list is seen.
 *
 * `total` and `pages` are what the service says: they may lack rows that are listed, count others, be capped, or belong to one page. So they
 * say how many pages are worth requesting at once, never where the list ends. That is seen, in one of these ways:
 *
 *   counted    as many distinct vendors as `total`, and a last page, at or after `pages`, that is not full, while all before it are: there is room
 *              for more, and no more are counted, unless the list was seen to show more than it counts. A page is full if it has as many rows as
 *              any page of this service ever had, or as it says that a page may have.
 *              A single page counts so only once `total` was seen to count a list of several, because it may be the rows of the page.
 *   empty      a page without rows behind the last one that has some; where not all that are counted were shown, the last one that they fill, as
 *              services may leave the places of vendors empty that they hide
 *   refused    a page that the service refuses to show (404, an invalid page), while it answers page 1 right after
 *   repeated   a page past what is counted that shows only vendors of pages before. Some services answer the last page, or the first, for every page
 *              past the end; so does one that ignores the page parameter, which this is taken for where the next page repeats the only one
 *              before and more rows are counted than the service says to be on a page, whatever number of pages it tells. Worth less than the
 *              others: see passes.ts. In a walk that begins with page 0, the second page says nothing so: it may be the first one again, whatever
 *              was learned of the numbers of pages.
 *
 * A list that stands still costs one request more than `pages` if its last page is full, and none otherwise.
 */
import { eachGotAndUsed } from '../../domain/concurrency.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorPage } from '../../domain/reading.ts';
import { IdSet } from './id-set.ts';
import { few, type EndSeen, type Pass } from './passes.ts';
import { holdsEnd, type Window } from './window-chain.ts';

export interface Walk {
  readonly concurrency: number;
  /** Page 1, read before all others. */
  readonly first: VendorPage;
  readonly fetch: (page: number) => Promise<VendorPage>;
  /** Applies one page. @returns its window, and whether a vendor of it may have entered the list since the sweep began. */
  readonly apply: (page: VendorPage, requested: number) => Promise<{ window: Window; entered: boolean }>;
  /** How many rows make a page full, as far as is known by now. */
  readonly fullPage: () => number;
  /** Whether `total` is known to count lists, not pages. */
  readonly countsLists: boolean;
  /** Whether this list was seen to show more than `total` counts: then a count is no end. */
  readonly miscounted: boolean;
  /** Whether the second page may be the first one again: a service may show page 1 for page 0. */
  readonly mayBeginTwice: boolean;
  /** Where `apply` collects the vendors, if no other walk did so before: it need not be done twice. */
  readonly seen?: IdSet | undefined;
  /** Called when the list is seen to change; true ends the walk, because another proof takes over. */
  readonly onMove?: () => boolean;
}

/** The windows of the list, the first page first; and the pass, unless another proof took over. */
export interface Walked {
  readonly windows: readonly Window[];
  readonly pass: Omit<Pass, 'splitsTimes' | 'began' | 'ended'> | undefined;
}

/** More pages than any account has, and more rows than a service may show beyond its count. */
const mostPages = 200_000;
const mostUncounted = 200_000;

/** So many pages without rows in succession are the end, however many are counted. */
export const enoughWithoutRows = 100;

/**
 * Walks from page 1 to the end of the list.
 * @throws MirrorError `paging_ignored` where the service answers other pages as the first; `sweep_incomplete` where the list shows far more than
 * is counted; whatever `fetch` and `apply` throw.
 */
export async function walk({
  concurrency,
  first,
  fetch,
  apply,
  fullPage,
  countsLists,
  miscounted,
  mayBeginTwice,
  seen,
  onMove,
}: Walk): Promise<Walked> {
  const ids = seen ?? new IdSet();
  const windows: Window[] = [];
  /** Pages that showed no row of their own. */
  const without = new Map<number, Exclude<EndSeen, 'counted'>>();
  const met = {
    rows: 0,
    order: 0,
    pages: 1,
    total: first.total,
    mostCounted: first.total,
    steady: true,
    ofPages: true,
    entered: false,
    cutShort: false,
  };
  const last = { page: 1, rows: 0 };
  let requested = 1;
  const showsAllAtOnce = first.rows.length === first.total && idsOf(first).size === first.total;

  const count = ({ pages, total, rows }: VendorPage): void => {
    met.steady &&= total === first.total;
    met.ofPages &&= total === rows.length;
    met.pages = pages;
    met.total = total;
    met.mostCounted = Math.max(met.mostCounted, total);
  };

  const take = async (page: VendorPage, requested: number): Promise<void> => {
    count(page);
    met.rows += page.rows.length;
    met.order = (met.order + orderOn(page, requested)) | 0;
    if (requested >= last.page && hasRows(page)) Object.assign(last, { page: requested, rows: page.rows.length });
    const { window, entered } = await apply(page, requested);
    if (!seen) ids.addAll(window.ids);
    windows.push(window);
    met.entered ||= entered;
    if (!met.steady || met.entered) met.cutShort ||= onMove?.() ?? false;
    if (ids.size > met.mostCounted + mostUncounted)
      throw new MirrorError(
        'sweep_incomplete',
        `The service shows ${mostUncounted} vendors more than the ${met.mostCounted} that it counts, and no end.`,
      );
  };

  /** Whether page 1 still equals this page; short pages are checked three times. */
  const standsStill = async (page: VendorPage): Promise<boolean> => {
    for (let times = first.rows.length < few ? 3 : 1; times > 0; times--)
      if (!isFirstAgain(page, await fetch(1))) return false;
    return true;
  };

  /** Whether the walk shows that `total` counts no list: there are more vendors, or each page counts its own rows. */
  const isRefuted = (): boolean => ids.size > met.mostCounted || (met.ofPages && !met.steady);
  const full = (): number => Math.max(1, Math.min(first.perPage, Math.max(first.rows.length, fullPage())));
  const isAllShown = (): boolean => met.steady && ids.size === met.total;

  const fetchIfAny = (number: number): Promise<VendorPage | undefined> =>
    fetch(number).catch((error: unknown) => {
      if (isNoSuchPage(error)) return undefined;
      throw error;
    });

  const judge = async (page: VendorPage | undefined, requested: number): Promise<void> => {
    if (!page) without.set(requested, 'refused');
    else if (!hasRows(page) && requested > last.page) {
      // What an empty page past the end counts may be nothing.
      if (page.total > 0) count(page);
      without.set(requested, 'empty');
    } else if ((isAllShown() || requested > pagesToRepeat(requested)) && showsOnly(page, ids)) {
      count(page);
      if (requested > 2 || !mayBeginTwice) without.set(requested, 'repeated');
      // Unless it is a page before as a whole, these vendors came twice.
      const shown = idsOf(page);
      if (!windows.some((window) => shown.equals(new IdSet(window.ids)))) met.rows += page.rows.length;
    } else {
      if (isFirstAgain(page, first) && (await standsStill(page))) throw pagingIgnored(requested, first);
      await take(page, requested);
    }
  };

  /** The number of pages that are requested without looking for the end: no more than the rows that are counted fill. */
  const countedPages = (): number => {
    // Some services return everything on page 1, whatever page size was requested.
    if (showsAllAtOnce && last.page === 1) return 1;
    return Math.min(met.pages, Math.ceil(met.total / full()), mostPages);
  };

  /** A page past so many may be one before it. What rows of the only page are counted for, `pages` does not take back. */
  const pagesToRepeat = (requested: number): number => {
    if (last.page > 1 || (requested === 2 && mayBeginTwice)) return countedPages();
    return Math.max(countedPages(), Math.ceil(met.total / first.perPage) + Number(mayBeginTwice));
  };

  /**
   * Whether rows may stand behind pages whose rows are all hidden: more are counted, and the last page that they fill was not requested. `pages`
   * says nothing of it where rows past it refute it, nor where it is 1, which a service may say of every list.
   */
  const mayFollow = (): boolean => {
    const told = last.page > met.pages || met.pages === 1 ? Math.ceil(met.total / full()) : countedPages();
    return requested < Math.min(told + Number(mayBeginTwice), last.page + enoughWithoutRows) && !isAllShown();
  };

  const endSeen = (): EndSeen | undefined => {
    const mayCount = !miscounted && (countsLists || last.page > 1 || met.total === 0) && isAllShown();
    const leavesHoles = met.rows - last.rows < (last.page - 1) * full();
    if (mayCount && last.page >= met.pages && last.rows < full() && !leavesHoles) return 'counted';
    const [, end] = [...without].filter(([page]) => page > last.page).sort(([a], [b]) => a - b)[0] ?? [];
    return end === 'empty' && mayFollow() ? undefined : end;
  };

  /** Whether nothing more is worth requesting, although pages are counted. */
  const isOver = (): boolean =>
    met.cutShort ||
    without.size >= last.page + enoughWithoutRows ||
    (without.size > 0 && isAllShown() && endSeen() !== undefined);

  count(first);
  // The next pages are on their way while the first one is applied, and wait for that.
  const begun = take(first, 1);
  begun.catch(() => undefined);
  /** The page past the end, where the last one will be full if the list stands still: asked for with the last ones, and judged after them. */
  let pastEnd: number | undefined;
  const counted = function* (): Generator<number> {
    while (!isOver() && requested < countedPages()) yield ++requested;
    const isLastFull = met.steady && met.pages === countedPages() && met.total % full() === 0;
    if (requested > 1 && isLastFull && !isOver() && requested < mostPages) yield (pastEnd = ++requested);
  };
  let past: VendorPage | undefined;
  try {
    await eachGotAndUsed(counted(), concurrency, fetchIfAny, async (page, number) => {
      await begun;
      if (number === pastEnd) past = page;
      else await judge(page, number);
    });
  } finally {
    await begun;
  }
  if (pastEnd !== undefined) await judge(past, pastEnd);
  // A list that changed is walked again, whatever its end; unless its counts count nothing.
  const isWorthless = (): boolean => !met.steady && !miscounted && !isRefuted();
  while (!isOver() && !isWorthless() && endSeen() === undefined && requested < mostPages) {
    // The first page past the end is requested alone, others beyond a full one together.
    const ahead = requested > countedPages() && last.page === requested && last.rows >= full() ? concurrency : 1;
    // They are judged in sequence, because each may repeat the one before.
    const pages = Array.from({ length: ahead }, () => (requested += 1));
    const read = await Promise.all(pages.map(fetchIfAny));
    for (const [index, number] of pages.entries()) await judge(read[index], number);
  }
  if (met.cutShort) return { windows, pass: undefined };
  const end = endSeen();
  // What refuses a page may refuse everything.
  if (end === 'refused' && !isAllShown()) await fetch(1);
  const { order, entered, mostCounted } = met;
  const pass = {
    ids: new IdSet(ids),
    order,
    total: met.steady ? first.total : undefined,
    counted: mostCounted,
    beyond: isRefuted(),
    pages: countedPages() === 1 && windows.length === 1 ? 1 : Math.max(Math.min(met.pages, mostPages), windows.length),
    whole: ![...without].some(([page, kind]) => kind === 'refused' && page < last.page),
    repeated: ids.size < met.rows,
    entered,
    end,
    atOnce: windows[0] !== undefined && holdsEnd(windows[0]),
  };
  return { windows, pass };
}

/** Records without a usable id are rows, too. */
function hasRows({ rows, rejected = [] }: VendorPage): boolean {
  return rows.length > 0 || rejected.length > 0;
}

/** Whether a page has rows, all of them of these vendors. */
function showsOnly({ rows }: VendorPage, ids: IdSet): boolean {
  return rows.length > 0 && rows.every(({ vendorid }) => ids.has(vendorid));
}

/** Whether the service says that there is no page of that number; a proxy may say so, too. */
export function isNoSuchPage(error: unknown): boolean {
  return error instanceof MirrorError && (error.code === 'not_found' || error.code === 'rejected');
}

function pagingIgnored(requested: number, first: VendorPage): MirrorError {
  const { pages, total, rows } = first;
  return new MirrorError(
    'paging_ignored',
    `The service ignores the page parameter: page ${requested} of ${pages} was answered with page 1 again, so only ${rows.length} of ${total} vendors can be read.`,
  );
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
