/** What is written down of a change beside what changed. */
import type { ReadStamp } from '../../domain/reading.ts';
import type { Cause } from '../rows/history.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

/** Who changes vendors, and at which mirror time. */
export interface ChangeContext extends Cause {
  readonly moment: number;
}

/** What a change leaves in a row beside its content. */
export function changeColumns(
  { at, moment, source }: ChangeContext,
  { readSeq }: ReadStamp,
): Pick<VendorTable, 'changed_at' | 'source' | 'read_seq' | 'held_since_ms'> {
  return { changed_at: at, source, read_seq: readSeq, held_since_ms: moment };
}
