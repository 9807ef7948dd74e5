/** Whether a reading that differs from what we hold may be believed (DESIGN 2, rules 3 and 4). */
import type { ReadStamp, Road } from '../../domain/reading.ts';
import type { Confirmations } from '../rows/confirmations.ts';
import type { Counter } from '../rows/reading-counter.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorTable } from '../sqlite/tables.ts';

type Judgement = 'stale' | 'guarded' | 'believed';

type Judge = (held: VendorTable, stamp: ReadStamp, context: { readonly road: Road; readonly lag: number }) => Judgement;

/** What is not believed now, and may be later, is marked to be read again. */
export function judgement(counter: Counter, marks: Marks, confirmations: Confirmations): Judge {
  return (held, stamp, { road, lag }) => {
    if (stamp.readSeq <= held.read_seq || confirmations.passed(held, stamp.readSeq)) {
      // The service's answer to our own write is news even where a reading overtook it.
      if (road === 'write') marks.add([held], 'retry', 0);
      return 'stale';
    }
    const wait = held.held_since_ms + lag - stamp.begun;
    if (wait <= 0 || road === 'write') return 'believed';
    marks.add([held], 'guarded', Math.max(0, held.held_since_ms + lag - counter.moment()));
    return 'guarded';
  };
}
