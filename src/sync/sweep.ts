/** A sweep: the list is walked until it is proven that nothing was missed, or its passes are used up. */
import type { VendorsApi } from '../api/vendors.ts';
import { parseInstant } from '../clock.ts';
import type { VendorPage } from '../reading.ts';
import type { Verdict } from '../store/readings.ts';
import { IdSet } from './id-set.ts';
import { Proof, type Conclusion } from './proof.ts';
import { walk } from './walk.ts';

/** How far a sweep has come. */
export interface SweepProgress {
  readonly pass: number;
  readonly page: number;
  readonly pages: number;
  readonly seen: number;
  readonly total: number;
}

export interface Sweep {
  readonly vendors: VendorsApi;
  /** Takes a page in, and tells what its rows mean for what we hold. */
  readonly apply: (page: VendorPage) => Promise<ReadonlyMap<number, Verdict>>;
  readonly onRequest: () => void;
  readonly passes: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export interface SweepResult {
  readonly conclusion: Conclusion;
  /** Every vendor that any pass showed. */
  readonly seen: IdSet;
}

/** Walks the default list, or the list of one state, until it is proven complete. */
export async function sweep(plan: Sweep, visState?: 1 | 2): Promise<SweepResult> {
  const proof = new Proof();
  const seen = new IdSet();
  let conclusion: Conclusion = { complete: false, why: 'nothing was walked', anew: true };
  let gathering: { since: number | undefined } | undefined;
  for (let pass = 1; pass <= plan.passes && !conclusion.complete; pass++) {
    if (conclusion.anew) gathering = undefined;
    let shown = 0;
    const result = await walk({
      concurrency: plan.concurrency,
      fetch: (page) => {
        plan.signal.throwIfAborted();
        plan.onRequest();
        return plan.vendors.page(page, { visState, signal: plan.signal });
      },
      apply: async (page) => {
        gathering ??= { since: page.servedAt };
        const { since } = gathering;
        const verdicts = await plan.apply(page);
        shown += page.rows.length;
        plan.onProgress?.({ pass, page: page.page, pages: page.pages, seen: shown, total: page.total });
        return { entered: [...verdicts.values()].some((verdict) => hasEntered(verdict, since)) };
      },
    });
    seen.addAll(result.ids);
    conclusion = proof.add(result);
  }
  return { conclusion, seen };
}

/**
 * Whether a vendor has entered the list since the walk began: it is new to us and no older than the walk, or it came back
 * from a state in which lists may hide it.
 */
function hasEntered(verdict: Verdict, since: number | undefined): boolean {
  if (verdict.kind === 'updated' || verdict.kind === 'guarded')
    return verdict.before.vis_state !== verdict.after.vis_state || verdict.after.presence !== verdict.before.presence;
  if (verdict.kind !== 'created' || since === undefined) return false;
  const { created_at, updated_at } = verdict.vendor;
  return [created_at, updated_at].some((text) => text != null && (parseInstant(text) ?? 0) >= since);
}

/** Whether the service honours `search[vis_state]`: it is asked for page 1, and every row obeys. */
export async function honoursState(plan: Sweep, visState: 1 | 2): Promise<boolean> {
  plan.onRequest();
  const page = await plan.vendors.page(1, { visState, signal: plan.signal });
  return page.rows.length > 0 && page.rows.every((row) => row.vendor().vis_state === visState);
}
