/** Irregularities in the lists of a record: it is applied anyway, and reported as a finding. */
import { unreadableBalances } from '../../domain/amounts.ts';
import type { Vendor } from '../../domain/vendor.ts';

/** Names of fields by irregularity. */
export interface Irregularities {
  /** Lists with duplicates; the first of each counts. */
  readonly repeated?: readonly string[];
  /** Balances with an amount that is not a decimal number. */
  readonly unreadable?: readonly string[];
}

/** The irregularities of a record, or only those of the `changed` balances; undefined where there are none. */
export function irregularitiesOf(vendor: Vendor, changed?: readonly string[]): Irregularities | undefined {
  const { repeated } = vendor;
  const unreadable = unreadableBalances(vendor).filter((field) => changed?.includes(field) ?? true);
  if (!repeated && unreadable.length === 0) return undefined;
  return { ...(repeated && { repeated }), ...(unreadable.length > 0 && { unreadable }) };
}
