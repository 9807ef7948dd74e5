/** What a sweep of the default list observed, besides the changes it made to the mirror. */
import type { VendorPage } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { FieldWatch } from './field-watch.ts';
import type { ObservedFields } from '../../store/records/finding-record.ts';
import { isNews } from './classify-change.ts';
import { IdSet } from '../sweep/id-set.ts';
import { extraWalks, sweep, type SweepPlan, type SweepProgress, type SweepResult } from '../sweep/sweep.ts';
import type { RunCounter } from './run-counter.ts';
import { inBatches } from '../../domain/async/in-batches.ts';
import type { SweepContext } from '../../store/records/reading-record.ts';

export interface Observation extends SweepResult {
  /** Vendors that were seen with other values than stored, which are not accepted yet. */
  readonly guarded: ReadonlySet<number>;
  /** Vendors with a change that an event announces, accepted or not. */
  readonly news: Pick<ReadonlySet<number>, 'has'>;
  /** Whether this list showed a deleted vendor. The stored state does not say that. */
  readonly showsDeleted: boolean;
  /** Reasons why records could not be applied, by vendor. */
  readonly unusable: ReadonlyMap<number, string>;
  readonly fields: ObservedFields;
  /** Whether all vendors of the list are stored as they were shown, and present. */
  readonly allStored: boolean;
}

export interface ObservationOptions {
  readonly context: SweepContext;
  /** Counts the progress of the run. */
  readonly counter: RunCounter;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
  /** Called with pages after they were applied. */
  readonly onPages?: ((pages: readonly VendorPage[]) => void) | undefined;
}

/** Sweeps the default list of an account, and applies what it shows. */
export async function observe(account: SyncAccount, options: ObservationOptions): Promise<Observation> {
  const { moved, walked } = await account.mirror.runs.listMoves(account.accountId);
  const observer = new PageObserver();
  const result = await sweep({ ...sweepPlan(account, options, observer), moves: movesOften(moved, walked) });
  const { guarded, news, showsDeleted, unusable, fields, allStored } = observer;
  return { ...result, guarded, news, showsDeleted, unusable, fields: fields.observed, allStored };
}

/**
 * Sweeps the lists of deleted and archived vendors, where the service has them.
 * @returns the vendors that they showed, and whether the list of deleted ones was complete.
 */
export async function observeHidden(
  account: SyncAccount,
  options: ObservationOptions,
): Promise<Awaited<ReturnType<typeof extraWalks>> & Pick<Observation, 'allStored'>> {
  const observer = new PageObserver();
  const walked = await extraWalks(sweepPlan(account, options, observer));
  return { ...walked, allStored: observer.allStored };
}

/** Collects what the pages of one sweep show. */
class PageObserver {
  readonly guarded = new Set<number>();
  readonly news = new IdSet();
  readonly unusable = new Map<number, string>();
  readonly fields = new FieldWatch();
  showsDeleted = false;
  allStored = true;

  add(verdicts: ReadonlyMap<number, Verdict>): void {
    const news: number[] = [];
    for (const [vendorid, verdict] of verdicts) {
      const isGuarded = verdict.kind === 'guarded';
      if (isGuarded) this.guarded.add(vendorid);
      // A guarded change counts as news; a change without an event answers no delivery.
      if (isGuarded || isNews(verdict)) news.push(vendorid);
      if (verdict.kind === 'rejected') this.unusable.set(vendorid, verdict.reason);
      const state = stateSeen(verdict);
      this.showsDeleted ||= state === 1;
      this.allStored &&= state !== undefined && !isGuarded;
    }
    this.news.addAll(news);
  }
}

function sweepPlan(
  { vendors, mirror, clock, sync, concurrency }: SyncAccount,
  { context, counter, signal, onProgress, onPages }: ObservationOptions,
  observer: PageObserver,
): SweepPlan {
  return {
    vendors,
    apply: inBatches(clock, async (pages: readonly VendorPage[]) => {
      const watched = pages.map((page) => ({ ...page, rows: observer.fields.watch(page.rows) }));
      const applied = await mirror.readings.applyPages(watched, context, (verdicts) => counter.withPages(verdicts));
      counter.set(counter.withPages(applied));
      for (const verdicts of applied) observer.add(verdicts);
      onPages?.(pages);
      return applied;
    }),
    onRequest: () => counter.addRequest(),
    clock,
    lag: sync.lag,
    passes: sync.sweepPasses,
    concurrency,
    signal,
    onProgress,
  };
}

/** Windows cost about a fifth more requests than a plain walk, but save a walk that a moving list spoils. */
const costOfWindows = 0.2;

function movesOften(moved: number, walked: number): boolean {
  return walked > 0 && moved / walked > costOfWindows;
}

/** The `vis_state` in a reading; undefined where the verdict does not contain it. */
export function stateSeen(verdict: Verdict): number | null | undefined {
  switch (verdict.kind) {
    case 'created':
      return verdict.vendor.vis_state;
    case 'unchanged':
      return verdict.visState;
    case 'updated':
    case 'guarded':
      return verdict.after.vis_state;
    case 'stale':
    case 'forgotten':
    case 'rejected':
      return undefined;
  }
}
