/** Whether a reading that differs from what we hold may be believed. */
import type { ReadStamp, Source } from '../../domain/reading.ts';
import type { Confirmations } from '../rows/confirmations.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

type LagVerdict = 'stale' | 'guarded' | 'believed';

type LagGuard = (
  held: VendorTable,
  stamp: ReadStamp,
  context: { readonly source: Source; readonly lag: number },
) => LagVerdict;

/** What is not believed now, and may be later, is marked to be read again. */
export function lagGuard(counter: Counter, marks: Marks, confirmations: Confirmations): LagGuard {
  return (held, stamp, { source, lag }) => {
    if (stamp.readSeq <= held.read_seq || confirmations.passed(held, stamp.readSeq)) {
      // The service's answer to our own write is news even where a reading overtook it.
      if (source === 'write') marks.add([held], 'retry', 0);
      return 'stale';
    }
    const wait = held.held_since_ms + lag - stamp.begun;
    if (wait <= 0 || source === 'write') return 'believed';
    marks.add([held], 'guarded', Math.max(0, held.held_since_ms + lag - counter.moment()));
    return 'guarded';
  };
}
