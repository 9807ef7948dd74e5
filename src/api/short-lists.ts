/** Lists that are always read completely: gateways and callbacks. */
import { MirrorError } from '../domain/errors.ts';
import type { RetryLimits } from '../domain/retry.ts';
import type { OptionalRequests } from './optional-requests.ts';
import type { CallOptions } from './vendors.ts';
import type { Listing } from './wire/resources.ts';

export interface ListingOptions extends CallOptions {
  /** Called with why each row that cannot be used is set aside. */
  readonly onRejected?: ((reason: string) => void) | undefined;
}

/** More pages than any account has of gateways or callbacks. */
const mostPages = 100;

/**
 * All usable items of a list, page by page, without duplicate ids, and without `per_page` where the service does not honour it. `onRejected`
 * is called with why each other item is not usable.
 * @throws MirrorError `paging_ignored` where another page is returned or a further page has nothing new; `answer_too_large` beyond a
 * hundred pages.
 */
export async function wholeList<T>(
  optional: OptionalRequests,
  readPage: (page: number, sized: boolean, limits?: RetryLimits) => Promise<Listing<T>>,
  idOf: (item: T) => number,
  onRejected: ((reason: string) => void) | undefined,
): Promise<T[]> {
  const items = new Map<number, T>();
  const { page: first, sized } = await optional.firstPage((asked, limits) => readPage(1, asked, limits));
  for (let page = 1, last = 1; page <= last; page += 1) {
    if (page > mostPages) throw new MirrorError('answer_too_large', `The list has more than ${mostPages} pages.`);
    const { paging, items: found, rejected } = page === 1 ? first : await readPage(page, sized);
    if (onRejected) for (const reason of rejected) onRejected(reason);
    const before = items.size;
    for (const item of found) items.set(idOf(item), item);
    last = paging.pages;
    const stuck = paging.page !== page || (page > 1 && found.length > 0 && items.size === before);
    if (stuck)
      throw new MirrorError('paging_ignored', `Asked for page ${page} of a list, the service answered with another.`);
  }
  return [...items.values()];
}
