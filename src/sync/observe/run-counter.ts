import type { Verdict } from '../../store/decide/verdict.ts';
import { noCounts, type RunCounts } from '../../store/records/run-record.ts';

/** The counts of one run. */
export class RunCounter {
  counts: RunCounts = noCounts;

  /** The counts including these pages; a page counts once it is applied. */
  withPages(pages: readonly ReadonlyMap<number, Verdict>[]): RunCounts {
    const counts = { ...this.counts, pages: this.counts.pages + pages.length };
    return pages.reduce((sum, verdicts) => withVerdicts(sum, verdicts.values()), counts);
  }

  addVerdict(verdict: Verdict): void {
    const { seen } = this.counts;
    this.counts = { ...withVerdicts(this.counts, [verdict]), seen };
  }

  addRequest(): void {
    this.counts = { ...this.counts, requests: this.counts.requests + 1 };
  }

  /** Sets the number of vendors that all sweeps of the run showed; a vendor of several walks counts once. */
  setSeen(seen: number): void {
    const { created, updated } = this.counts;
    this.set({ seen, unchanged: Math.max(0, seen - created - updated) });
  }

  set(counts: Partial<RunCounts>): void {
    this.counts = { ...this.counts, ...counts };
  }
}

function withVerdicts(counts: RunCounts, verdicts: Iterable<Verdict>): RunCounts {
  let { seen, created, updated, unchanged } = counts;
  for (const { kind } of verdicts) {
    seen += 1;
    if (kind === 'created') created += 1;
    else if (kind === 'updated') updated += 1;
    else if (kind === 'unchanged' || kind === 'forgotten') unchanged += 1;
  }
  return { ...counts, seen, created, updated, unchanged };
}
