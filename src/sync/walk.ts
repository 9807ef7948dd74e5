/** One pass over all pages of a list, several pages under way at once, each applied as it comes. */
import { eachBounded } from '../lifecycle.ts';
import { MirrorError } from '../errors.ts';
import type { VendorPage } from '../reading.ts';
import { IdSet } from './id-set.ts';
import { few, type Pass } from './proof.ts';

export interface Walk {
  readonly concurrency: number;
  /** Fetches one page. */
  readonly fetch: (page: number) => Promise<VendorPage>;
  /** Applies one page; tells whether it showed a vendor that entered the list since the sweep began. */
  readonly apply: (page: VendorPage) => Promise<{ entered: boolean }>;
}

/** More pages than any account has; a service that claims more is not believed. */
const mostPages = 200_000;

/**
 * Walks from page 1 to the last. Never asks past the `pages` of the latest answer.
 * @throws MirrorError `paging_ignored` where the service answers other pages as the first; whatever fetching and applying throw.
 */
export async function walk({ concurrency, fetch, apply }: Walk): Promise<Pass> {
  const first = await fetch(1);
  const ids = new IdSet();
  const met = { rows: 0, order: 0, pages: 1, steady: true, whole: true, entered: false };

  const take = async (page: VendorPage, asked: number): Promise<void> => {
    met.steady &&= page.total === first.total;
    met.whole &&= page.page === asked;
    met.pages = Math.min(page.pages, mostPages);
    met.rows += page.rows.length;
    met.order = (met.order + orderOn(page)) | 0;
    ids.addAll(idsOf(page));
    const { entered } = await apply(page);
    met.entered ||= entered;
  };

  /** Whether page 1 is what this page shows, however often it is asked for: a few must come again thrice. */
  const standsStill = async (page: VendorPage): Promise<boolean> => {
    for (let times = first.rows.length < few ? 3 : 1; times > 0; times--)
      if (!isFirstAgain(page, await fetch(1))) return false;
    return true;
  };

  await take(first, 1);
  // Some services put everything on page 1 whatever was asked.
  if (met.rows === first.total && ids.size === met.rows) met.pages = 1;
  await eachBounded(
    pagesFrom(2, () => met.pages),
    concurrency,
    async (asked) => {
      try {
        const page = await fetch(asked);
        if (isFirstAgain(page, first) && (page.page !== asked || (await standsStill(page))))
          throw pagingIgnored(asked, first);
        await take(page, asked);
      } catch (error) {
        if (!(error instanceof MirrorError && error.code === 'not_found')) throw error;
        // The list became shorter while it was walked.
        met.whole = false;
      }
    },
  );
  const { order, pages, whole, entered } = met;
  const total = met.steady ? first.total : undefined;
  return { ids, order, total, pages, whole, repeated: ids.size < met.rows, entered };
}

function pagingIgnored(asked: number, first: VendorPage): MirrorError {
  const { pages, total, rows } = first;
  return new MirrorError(
    'paging_ignored',
    `The service ignores the page parameter: page ${asked} of ${pages} was answered as page 1 again, so only ${rows.length} of ${total} vendors can be read.`,
  );
}

function* pagesFrom(start: number, last: () => number): Generator<number> {
  for (let page = start; page <= last(); page++) yield page;
}

/** Whether a later page shows what the first one showed. */
function isFirstAgain(page: VendorPage, first: VendorPage): boolean {
  if (page.rows.length === 0 || page.rows.length !== first.rows.length) return false;
  return page.page === 1 || idsOf(page).equals(idsOf(first));
}

/** Which vendors stand on a page, and in which order, in one number (FNV-1a). */
function orderOn({ page, rows }: VendorPage): number {
  return rows.reduce((order, { vendorid }) => Math.imul(order ^ vendorid, 0x01000193), 0x811c9dc5 ^ page);
}

function idsOf(page: VendorPage): IdSet {
  return new IdSet(page.rows.map(({ vendorid }) => vendorid));
}
