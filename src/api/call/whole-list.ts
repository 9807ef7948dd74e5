/** Lists that are always read completely: gateways and callbacks. */
import { MirrorError } from '../../domain/errors.ts';
import type { Listing } from '../wire/resources.ts';

/** More pages than any account has of gateways or callbacks. */
const mostPages = 100;

/**
 * All items of a list, page by page, without duplicate ids.
 * @throws MirrorError `paging_ignored` where another page is returned or a further page has nothing new; `answer_too_large` beyond a
 * hundred pages.
 */
export async function wholeList<T>(
  readPage: (page: number) => Promise<Listing<T>>,
  idOf: (item: T) => number,
): Promise<T[]> {
  const items = new Map<number, T>();
  for (let page = 1, last = 1; page <= last; page += 1) {
    if (page > mostPages) throw new MirrorError('answer_too_large', `The list has more than ${mostPages} pages.`);
    const { paging, items: found } = await readPage(page);
    const before = items.size;
    for (const item of found) items.set(idOf(item), item);
    last = paging.pages;
    const stuck = paging.page !== page || (page > 1 && found.length > 0 && items.size === before);
    if (stuck)
      throw new MirrorError('paging_ignored', `Asked for page ${page} of a list, the service answered with another.`);
  }
  return [...items.values()];
}
