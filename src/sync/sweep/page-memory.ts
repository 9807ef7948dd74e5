/**
 * What is remembered of the pages of a service, whatever account they are of: the number of the first page, the most rows that any page had, and
 * whether `total` was ever seen to count a list of several pages. Until then it may be the number of rows of the page.
 *
 * Where pages count from is asked by page 0 beside page 1, once a day, and in each sweep that lacks a page of rows or is answered with page 1
 * again. They count from 0 if page 0 shows other vendors than page 1, which has some or is refused, and the same ones when it is asked again. An
 * error in the service's own words where page 1 is answered, no rows twice beside a page 1 with rows, or the vendors of page 1 mean 1; the
 * vendors of page 1 do so unless page 2 shows them, too: then page 1 may be past the end, and answered with the page before. Any other answer
 * that cannot be used may be an accident: if page 0 fails three times and page 1 is answered in between, they count as they did, and from 1 where
 * that is unknown. Where nothing is decided, as in a list whose order changes with each request, or beside a page 1 that came empty, walks begin
 * at 0: that only shows a page twice. What these requests show is not applied and takes no part in a proof; vendors that they show refute a walk
 * that shows none.
 */
import { MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { isDeclined } from '../../domain/optional-requests.ts';
import type { VendorPage } from '../../domain/reading.ts';
import { few } from './passes.ts';

/**
 * The number of the first page, or that it cannot be told, or that page 0 alone keeps failing; undefined where a failure says nothing. `one` is
 * page 1, if it was just read.
 */
export async function numberOfFirstPage(
  fetch: (number: number) => Promise<VendorPage>,
  one?: VendorPage,
): Promise<0 | 1 | 'undecided' | 'failing' | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const isOneRead = one !== undefined && tries === 0;
    const zeroth = await idsOnZeroth(fetch);
    if (zeroth === 'failing' || zeroth === undefined) return zeroth;
    const first = isOneRead ? idsOf(one) : await idsOn(fetch, 1);
    if (first === undefined) return undefined;
    // What refuses both refuses something else.
    if (zeroth === 'refused') return first === 'refused' ? undefined : 1;
    const shown = first === 'refused' ? [] : first;
    // A list without rows says nothing: its rows may be hidden, or missing by a fault.
    if (zeroth.length + shown.length === 0) return 'undecided';
    if (isSame(zeroth, shown)) {
      const second = await idsOn(fetch, 2);
      if (second === undefined) return undefined;
      // A list that moved by just one page between the two, which needs few changes where pages are short, shows the same only once.
      const again = shown.length < few ? await idsOn(fetch, isOneRead ? 1 : 0) : shown;
      if (again === undefined) return undefined;
      if (again === 'refused' || !isSame(shown, again)) continue;
      return second !== 'refused' && isSame(shown, second) ? 'undecided' : 1;
    }
    if (shown.some((vendorid) => zeroth.includes(vendorid))) continue;
    const again = await idsOn(fetch, 0);
    if (again === undefined) return undefined;
    if (again === 'refused' || !isSame(zeroth, again)) continue;
    if (zeroth.length === 0) return 1;
    // A page 1 without rows may be past the end, or have come so by a fault.
    return shown.length === 0 && first !== 'refused' ? 'undecided' : 0;
  }
  return 'undecided';
}

const maxTries = 3;

/** Whether two answers show the same page of a list that may have changed a little: half of the vendors stand within two places. */
function isSame(one: readonly number[], other: readonly number[]): boolean {
  if (Math.min(one.length, other.length) < few) return one.join() === other.join();
  const near = one.filter((vendorid, index) => other.slice(Math.max(0, index - 2), index + 3).includes(vendorid));
  return near.length >= Math.max(one.length, other.length) / 2;
}

/** Errors by which a service may say that there is no such page. */
const refusals: ReadonlySet<ErrorCode> = new Set(['not_found', 'rejected', 'not_supported', 'answer_unreadable']);

async function idsOn(
  fetch: (number: number) => Promise<VendorPage>,
  number: number,
): Promise<number[] | 'refused' | undefined> {
  try {
    return idsOf(await fetch(number));
  } catch (error) {
    // Nothing depends on this page: a failure must not end the run.
    if (!(error instanceof MirrorError) || error.code === 'bug') throw error;
    return refusals.has(error.code) ? 'refused' : undefined;
  }
}

/** How often page 0 must fail, where page 1 does not, for that to be no accident. */
const fewestFailures = 3;

/** Page 0 refused in the service's own words, or `failing` while page 1 is answered. */
async function idsOnZeroth(
  fetch: (number: number) => Promise<VendorPage>,
): Promise<number[] | 'refused' | 'failing' | undefined> {
  for (let failures = 1; ; failures++) {
    try {
      return idsOf(await fetch(0));
    } catch (error) {
      if (!(error instanceof MirrorError) || error.code === 'bug') throw error;
      if (refusals.has(error.code) && error.errno !== undefined) return 'refused';
      if (!isDeclined(error)) return undefined;
      if (failures === fewestFailures) return 'failing';
      if (!Array.isArray(await idsOn(fetch, 1))) return undefined;
    }
  }
}

function idsOf({ rows }: VendorPage): number[] {
  return rows.map(({ vendorid }) => vendorid);
}
