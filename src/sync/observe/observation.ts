/** What one sweep of the default list showed of an account, besides what it changed in the mirror. */
import type { VendorPage } from '../../domain/reading.ts';
import type { SweepContext } from '../../store/transactions/apply-reading.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import type { Engine } from '../account/engine.ts';
import { FieldWatch } from './field-watch.ts';
import { isNews } from './accountant.ts';
import { extraWalks, sweep, type Sweep, type SweepProgress, type SweepResult } from '../sweep/sweep.ts';
import type { RunCounter } from './run-counter.ts';
import { inBatches } from './batches.ts';

export interface Observation extends SweepResult {
  /** Vendors that were seen otherwise than they are stored, and not believed yet. */
  readonly guarded: ReadonlySet<number>;
  /** Of the vendors that were asked for, those of which a page showed something that an event tells of. */
  readonly news: ReadonlySet<number>;
  /** Whether a page of this list showed a deleted vendor. What is stored of a vendor by now says nothing about that. */
  readonly showsDeleted: boolean;
  /** Records that could not be applied, and why, by vendor. */
  readonly unusable: ReadonlyMap<number, string>;
  readonly fields: FieldWatch;
}

export interface ObservationOptions {
  readonly context: SweepContext;
  readonly counter: RunCounter;
  readonly signal: AbortSignal;
  /** Vendors of which it matters whether there is something new. */
  readonly asked: Pick<ReadonlySet<number>, 'has'>;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** Sweeps the default list of an account, and applies what it shows. */
export async function observe(engine: Engine, options: ObservationOptions): Promise<Observation> {
  const { asked } = options;
  const guarded = new Set<number>();
  const news = new Set<number>();
  const unusable = new Map<number, string>();
  const fields = new FieldWatch();
  let showsDeleted = false;
  const see = (vendorid: number, verdict: Verdict): void => {
    const isGuarded = verdict.kind === 'guarded';
    if (isGuarded) guarded.add(vendorid);
    // What came too late to be believed, and what no event tells of, answers no delivery.
    if (asked.has(vendorid) && (isGuarded || isNews(verdict))) news.add(vendorid);
    if (verdict.kind === 'rejected') unusable.set(vendorid, verdict.reason);
    showsDeleted ||= stateShown(verdict) === 1;
  };
  const { moved, walked } = await engine.mirror.listMoves(engine.accountId);
  const result = await sweep({ ...sweepPlan(engine, options, fields, see), moves: movesOften(moved, walked) });
  return {
    ...result,
    guarded,
    news,
    unusable,
    fields,
    get showsDeleted() {
      return showsDeleted;
    },
  };
}

/** Sweeps the lists of deleted and archived vendors, where the service has them. @returns whom they showed, and whether the first was whole. */
export function observeHidden(engine: Engine, options: ObservationOptions): ReturnType<typeof extraWalks> {
  return extraWalks(sweepPlan(engine, options, new FieldWatch(), () => undefined));
}

function sweepPlan(
  { vendors, mirror, clock, sync, concurrency }: Engine,
  { context, counter, signal, onProgress }: ObservationOptions,
  fields: FieldWatch,
  see: (vendorid: number, verdict: Verdict) => void,
): Sweep {
  return {
    vendors,
    apply: inBatches(clock, async (pages: readonly VendorPage[]) => {
      const watched = pages.map((page) => ({ ...page, rows: fields.through(page.rows) }));
      const applied = await mirror.applyPages(watched, context, (verdicts) => counter.withPages(verdicts));
      counter.set(counter.withPages(applied));
      for (const [vendorid, verdict] of applied.flatMap((verdicts) => [...verdicts])) see(vendorid, verdict);
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
export function stateShown(verdict: Verdict): number | null | undefined {
  switch (verdict.kind) {
    case 'created':
      return verdict.vendor.vis_state;
    case 'unchanged':
      return verdict.visState;
    case 'updated':
    case 'guarded':
      return verdict.after.vis_state;
    case 'stale':
    case 'rejected':
      return undefined;
  }
}
