/** What one sweep of the default list showed of an account, besides what it changed in the mirror. */
import type { VendorPage } from '../../domain/reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Engine } from '../account/engine.ts';
import { FieldWatch } from './field-watch.ts';
import type { ObservedFields } from '../../store/records/finding-record.ts';
import { isNews } from './classify-change.ts';
import { IdSet } from '../sweep/id-set.ts';
import { extraWalks, sweep, type Sweep, type SweepProgress, type SweepResult } from '../sweep/sweep.ts';
import type { RunCounter } from './run-counter.ts';
import { inBatches } from '../../domain/async/in-batches.ts';
import type { SweepContext } from '../../store/records/reading-record.ts';

export interface Observation extends SweepResult {
  /** Vendors that were seen otherwise than they are stored, and not believed yet. */
  readonly guarded: ReadonlySet<number>;
  /** Vendors of which a page showed something that an event tells of, believed or not. */
  readonly news: Pick<ReadonlySet<number>, 'has'>;
  /** Whether a page of this list showed a deleted vendor. What is stored of a vendor by now says nothing about that. */
  readonly showsDeleted: boolean;
  /** Records that could not be applied, and why, by vendor. */
  readonly unusable: ReadonlyMap<number, string>;
  readonly fields: ObservedFields;
  /** Whether each vendor that a page showed is stored as it was shown there, and present. */
  readonly allStored: boolean;
}

export interface ObservationOptions {
  readonly context: SweepContext;
  /** Counts while the sweep goes on, for those who watch it. */
  readonly counter: RunCounter;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
  /** Told of the pages as they came, after they were applied. */
  readonly onPages?: ((pages: readonly VendorPage[]) => void) | undefined;
}

/** Sweeps the default list of an account, and applies what it shows. */
export async function observe(engine: Engine, options: ObservationOptions): Promise<Observation> {
  const { moved, walked } = await engine.mirror.runs.listMoves(engine.accountId);
  const observer = new PageObserver();
  const result = await sweep({ ...sweepPlan(engine, options, observer), moves: movesOften(moved, walked) });
  const { guarded, news, showsDeleted, unusable, fields, allStored } = observer;
  return { ...result, guarded, news, showsDeleted, unusable, fields: fields.observed, allStored };
}

/** Sweeps the lists of deleted and archived vendors, where the service has them. @returns whom they showed, and whether the first was whole. */
export async function observeHidden(
  engine: Engine,
  options: ObservationOptions,
): Promise<Awaited<ReturnType<typeof extraWalks>> & Pick<Observation, 'allStored'>> {
  const observer = new PageObserver();
  const walked = await extraWalks(sweepPlan(engine, options, observer));
  return { ...walked, allStored: observer.allStored };
}

/** What the pages of one sweep have shown so far. */
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
      // What came too late to be believed, and what no event tells of, answers no delivery.
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
  { vendors, mirror, clock, sync, concurrency }: Engine,
  { context, counter, signal, onProgress, onPages }: ObservationOptions,
  observer: PageObserver,
): Sweep {
  return {
    vendors,
    knownPage: (place) => mirror.readings.knownPage(context.accountId, place),
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

/** Windows cost about a fifth more requests than a plain walk, and save those of a walk that a moving list spoils. */
const costOfWindows = 0.2;

function movesOften(moved: number, walked: number): boolean {
  return walked > 0 && moved / walked > costOfWindows;
}

/** The state in which a reading showed a vendor; undefined where it does not tell. */
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
