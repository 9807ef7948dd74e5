/** Rules on readings that differ from what we hold; what is not believed now, and may be later, is marked to be read again. */
import type { ReadStamp, Source } from '../../domain/reading.ts';
import { ruling, type Ruling } from '../decide/ruling.ts';
import type { Difference } from '../decide/verdict.ts';
import type { Confirmations } from '../rows/confirmations.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

type LagGuard = (
  held: VendorTable,
  difference: Difference,
  stamp: ReadStamp,
  context: { readonly source: Source; readonly lag: number },
) => Ruling;

export function lagGuard(counter: Counter, marks: Marks, confirmations: Confirmations): LagGuard {
  return (held, difference, { readSeq, begun }, { source, lag }) => {
    const isOvertaken = readSeq <= held.read_seq || confirmations.passed(held, readSeq);
    const heldSince = held.held_since_ms;
    const ruled = ruling({ difference, isOvertaken, begun, heldSince, source, lag });
    // The service's answer to our own write is news even where a reading overtook it.
    if (ruled === 'stale' && source === 'write') marks.add([held], 'retry', 0);
    if (ruled === 'guarded') marks.add([held], 'guarded', Math.max(0, heldSince + lag - counter.moment()));
    return ruled;
  };
}
