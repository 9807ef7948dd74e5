/** What is odd in the lists of a record: it is applied all the same, and told as a finding. */
import { unreadableBalances } from '../../domain/amounts.ts';
import type { Vendor } from '../../domain/vendor.ts';

/** Names of fields by what is odd in them. */
export interface Oddities {
  /** Lists in which the record named something twice; the first of each counts. */
  readonly repeated?: readonly string[];
  /** Balances in which an amount is no decimal number. */
  readonly unreadable?: readonly string[];
}

/** What is odd in a record, as far as balances are among the fields that `changed`; undefined where nothing is. */
export function odditiesOf(vendor: Vendor, changed?: readonly string[]): Oddities | undefined {
  const { repeated } = vendor;
  const unreadable = unreadableBalances(vendor).filter((field) => changed?.includes(field) ?? true);
  if (!repeated && unreadable.length === 0) return undefined;
  return { ...(repeated && { repeated }), ...(unreadable.length > 0 && { unreadable }) };
}
