/** A sweep: the list is walked until it is proven that nothing was missed, or its passes are used up. */
import type { VendorsApi } from '../api/vendors.ts';
import type { VendorPage } from '../reading.ts';
import type { Verdict } from '../store/readings.ts';
import { mayHaveEntered, type Beginning } from './entered.ts';
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
  readonly vendors: Pick<VendorsApi, 'page'>;
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
  let beginning: Beginning | undefined;
  for (let pass = 1; pass <= plan.passes && !conclusion.complete; pass++) {
    if (conclusion.anew) beginning = undefined;
    let shown = 0;
    const result = await walk({
      concurrency: plan.concurrency,
      fetch: (page) => {
        plan.signal.throwIfAborted();
        plan.onRequest();
        return plan.vendors.page(page, { visState, signal: plan.signal });
      },
      apply: async (page) => {
        const began = (beginning ??= page);
        const verdicts = await plan.apply(page);
        // Whoever stands on the page that began it all was there.
        const entered =
          page !== began &&
          page.rows.some((row) => {
            const verdict = verdicts.get(row.vendorid);
            return verdict !== undefined && mayHaveEntered(row, verdict, began) && !seen.has(row.vendorid);
          });
        seen.addAll(page.rows.map(({ vendorid }) => vendorid));
        shown += page.rows.length;
        plan.onProgress?.({ pass, page: page.page, pages: page.pages, seen: shown, total: page.total });
        return { entered };
      },
    });
    conclusion = proof.add(result);
  }
  return { conclusion, seen };
}

/** Walks the lists of the states that the default list may hide, where the service has them. @returns whom they showed. */
export async function extraWalks(plan: Sweep): Promise<IdSet> {
  const seen = new IdSet();
  for (const state of [1, 2] as const)
    if (await honoursState(plan, state)) seen.addAll((await sweep(plan, state)).seen);
  return seen;
}

/** Whether the service honours `search[vis_state]`: it is asked for page 1, and every row obeys. */
async function honoursState(plan: Sweep, visState: 1 | 2): Promise<boolean> {
  plan.onRequest();
  const page = await plan.vendors.page(1, { visState, signal: plan.signal });
  return page.rows.length > 0 && page.rows.every((row) => row.vendor().vis_state === visState);
}
