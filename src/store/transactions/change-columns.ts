/** The columns that record when and why a vendor changed. */
import type { ReadStamp } from '../../domain/reading.ts';
import type { Cause } from '../rows/history.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

/** Source and time of changes; `moment` is mirror time. */
export interface ChangeContext extends Cause {
  readonly moment: number;
}

/** The columns of a change besides the content. */
export function changeColumns(
  { at, moment, source }: ChangeContext,
  { readSeq }: ReadStamp,
): Pick<VendorTable, 'changed_at' | 'source' | 'read_seq' | 'held_since_ms'> {
  return { changed_at: at, source, read_seq: readSeq, held_since_ms: moment };
}
