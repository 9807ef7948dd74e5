/**
 * A sweep: walks the list until it is proven complete, or the allowed passes are used up.
 *
 * There are three proofs. A list that does not change is proven by one plain walk over its pages, with the fewest requests. A changing list
 * is proven by overlapping windows (window-chain.ts), which needs an order that can be read from the rows and a service that honours the
 * page size. Any other list is walked until the walks together show as many vendors as are counted (passes.ts).
 *
 * Which proof is tried first depends on the last five complete sweeps. If the list changed in more than one of them, windows are used, which
 * cost about a fifth more requests than a plain walk. Otherwise a plain walk is tried; it switches to windows as soon as the list is seen to
 * change, and keeps the pages it has. A list that is not proven complete within `sync.sweepPasses` walks is incomplete.
 */
import { optionalRetryLimits } from '../../api/optional-requests.ts';
import { sleep, type Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { kept } from '../../domain/vendor.ts';
import type { IdSet } from './id-set.ts';
import { ListReader, type ListSource } from './list-reader.ts';
import { ObservedOrder } from './list-order.ts';
import { Passes, type Conclusion } from './passes.ts';
import { enoughWithoutRows, walk, type Walk, type Walked } from './walk.ts';
import type { Window, PageRequest } from './window-chain.ts';
import { joinWindows, type Joined } from './windows.ts';

export interface SweepPlan extends ListSource {
  readonly clock: Clock;
  /** The most walks. */
  readonly sweepPasses: number;
  /** The list changed during the last sweeps: windows are tried first. */
  readonly moves?: boolean;
  /** Whether the service honours the sizes of windows, as far as is known; true by default. */
  readonly mayUseWindows?: boolean;
  /** An earlier sweep of the account's list showed more vendors than it counts. */
  readonly miscounted?: boolean;
  /** How many neighbouring rows must support an order before it is used. */
  readonly enoughPairs?: number;
}

export interface SweepResult {
  readonly conclusion: Conclusion;
  /** All vendors that any page showed. */
  readonly seen: IdSet;
  /** Whether the list was seen to change during the sweep. */
  readonly moved: boolean;
  /** Reasons why records cannot be used, without duplicates. */
  readonly rejected: readonly string[];
}

/** How often windows are tried; each time costs a few requests more than a walk. */
const mostJoins = 3;

/** Sweeps the default list, or the list of one state. */
export async function sweep(plan: SweepPlan, visState?: 1 | 2): Promise<SweepResult> {
  const list = new ListReader(plan, visState, new ObservedOrder(plan.enoughPairs));
  await list.learnPages();
  let passes = new Passes(plan.lag, plan.miscounted);
  let conclusion: Conclusion = { complete: false, why: 'no page was read', startsOver: true };
  let joins = plan.mayUseWindows === false ? 0 : mostJoins;
  let miscounted = plan.miscounted === true;
  let mayAskAgain = true;
  for (let walks = 1; walks <= plan.sweepPasses && !conclusion.complete; walks++) {
    // Waits until no copy of the list is older than the vendor that has just entered, or than the walk before.
    if (list.entered || conclusion.afterLag === true) await sleep(plan.clock, plan.lag, plan.signal);
    const began = plan.clock.monotonic();
    list.begin(conclusion.startsOver);
    const first = await list.first();
    // The last walk is judged without windows, even where they proved nothing before.
    const isLastOfSeveral = walks > 1 && walks === plan.sweepPasses;
    // Records without an id count as rows but show no vendor: no proof is possible. One walk over all pages applies everything else.
    const hasRejected = (): boolean => list.rejected.size > 0 || (first.rejected?.length ?? 0) > 0;
    const mayJoin = joins > 0 && !isLastOfSeveral && list.isNumbered && !hasRejected();
    const isLong = first.pages > 1 && first.rows.length < first.total;
    const takesWindows = mayJoin && isLong && walks === 1 && plan.moves === true;
    const onMove = (read: number): boolean =>
      mayJoin && !hasRejected() && (isLong || read > 1) && list.order.candidates().length > 0;
    const walked = takesWindows
      ? { windows: [await list.applyPage(first, { page: 1, size: first.perPage })], pass: undefined }
      : await walkPages(plan, list, { first, miscounted }, onMove).catch(async (error: unknown) => {
          if (!isPagingIgnored(error) || !mayAskAgain || !(await list.askFirstPageAgain())) throw error;
          return undefined;
        });
    if (!walked) {
      mayAskAgain = false;
      conclusion = renumbered;
      continue;
    }
    const { windows, pass } = walked;
    const isOnPages = isLong || windows.length > 1;
    const splitsTimes = mayJoin && isOnPages && list.splitsTimes(windows);
    conclusion = pass ? passes.add({ ...pass, splitsTimes, began, ended: plan.clock.monotonic() }) : moving;
    miscounted ||= pass?.beyond === true;
    if (pass) list.learnCounts({ isWhole: pass.ids.size === pass.total && windows.length > 1, beyond: pass.beyond });
    if (hasRejected()) {
      conclusion = { complete: false, why: [...list.rejected].join(' '), startsOver: true };
      if (pass) break;
      continue;
    }
    const lacksPage = pass && pass.counted - pass.ids.size >= Math.min(first.perPage, list.largestPage);
    if (lacksPage && mayAskAgain) {
      mayAskAgain = false;
      if (await list.askFirstPageAgain()) {
        passes = new Passes(plan.lag, plan.miscounted);
        conclusion = renumbered;
        continue;
      }
    }
    if (conclusion.complete && conclusion.shown === 0 && list.hasRows) conclusion = emptied;
    if (conclusion.complete || !mayJoin || !isOnPages) continue;
    // An unchanged list is walked once more, unless rows of the same time may be ordered differently on each page.
    const needsWindows = conclusion.startsOver || pass?.repeated === true || splitsTimes;
    if (!needsWindows || (pass && list.order.candidates().length === 0)) continue;
    const joined = await join(plan, list, windows, miscounted);
    joins = joined === 'impossible' ? 0 : joins - 1;
    if (joined === 'joined') {
      const shown = list.seen.size;
      const unreadable = Math.max(0, first.total - shown);
      conclusion = { complete: true, proof: 'windows', pages: first.pages, shown, unreadable };
    }
  }
  await list.rememberPages();
  return { conclusion, seen: list.seen, moved: list.moved, rejected: [...list.rejected] };
}

const moving: Conclusion = { complete: false, why: 'the list changed faster than it could be read', startsOver: true };

const renumbered: Conclusion = { complete: false, why: 'the pages count from another number', startsOver: true };

const emptied: Conclusion = {
  complete: false,
  why: 'the list has vendors, and came empty',
  startsOver: true,
  afterLag: true,
};

function isPagingIgnored(error: unknown): boolean {
  return error instanceof MirrorError && error.code === 'paging_ignored';
}

/** `onMove` gets the number of pages that were read. */
function walkPages(
  plan: SweepPlan,
  list: ListReader,
  { first, miscounted }: Pick<Walk, 'first' | 'miscounted'>,
  onMove: (read: number) => boolean,
): Promise<Walked> {
  let read = 0;
  return walk({
    concurrency: plan.concurrency,
    first,
    fetch: (page) => list.fetch(page),
    apply: async (page, requested) => {
      const window = await list.applyPage(page, { page: requested, size: first.perPage });
      if (window.ids.length > 0) read += 1;
      return { window, entered: list.entered };
    },
    seen: list.seen.size === 0 ? list.seen : undefined,
    fullPage: () => list.largestPage,
    countsLists: list.countsLists,
    miscounted,
    mayBeginTwice: list.mayBeginTwice,
    onMove: () => onMove(read),
  });
}

async function join(
  plan: SweepPlan,
  list: ListReader,
  windows: readonly Window[],
  miscounted: boolean,
): Promise<Joined> {
  const [first, ...others] = windows;
  if (!first) return 'impossible';
  const { order } = list;
  const read = (requested: PageRequest, observeTimes: boolean): ReturnType<ListReader['window']> =>
    list.window(requested, observeTimes);
  return joinWindows({ first, others, order, cap: first.size, concurrency: plan.concurrency, miscounted, read });
}

/**
 * Sweeps the list of one state; undefined where the service does not honour the filter, or has no such vendor.
 * @param first what `firstOfState` returned of it just now
 * @param onShown called with vendors that the list shows, before it is swept
 */
export async function sweepOfState(
  plan: SweepPlan,
  visState: 1 | 2,
  first: readonly number[],
  onShown?: (vendorids: readonly number[]) => void,
): Promise<SweepResult | undefined> {
  let swept: SweepResult | undefined;
  // A list that comes empty right after it had vendors is asked for once more.
  for (let tries = 0; tries < 2; tries++) {
    const shown = tries === 0 ? first : await firstOfState(plan, visState);
    if (shown.length === 0) break;
    onShown?.(shown);
    swept = await sweep(plan, visState);
    if (swept.seen.size > 0) return swept;
    swept = { ...swept, conclusion: emptied };
  }
  return swept;
}

/**
 * The vendors on the first page of a state's list that has any; none where the service does not honour `search[vis_state]`. It does where some of
 * these rows are of that state, and none is of another. What cannot be read is no state. A service that counts vendors of other states may leave
 * their places empty, on whole pages.
 */
export async function firstOfState(plan: SweepPlan, visState: 1 | 2): Promise<readonly number[]> {
  const list = new ListReader(plan, visState, new ObservedOrder());
  await list.learnPages();
  let page = await list.first(optionalRetryLimits);
  const counted = Math.min(page.pages, Math.ceil(page.total / page.perPage));
  for (let number = 2; number <= Math.min(counted, enoughWithoutRows) && page.rows.length === 0; number++)
    page = await list.fetch(number, undefined, optionalRetryLimits);
  const states = new Set(page.rows.map((row) => kept(row.vendor().vis_state)));
  const isHonoured =
    states.has(visState) && ![...states].some((state) => typeof state === 'number' && state !== visState);
  return isHonoured ? page.rows.map(({ vendorid }) => vendorid) : [];
}
