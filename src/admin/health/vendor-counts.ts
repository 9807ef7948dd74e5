/** How many vendors there are of each sort. */
import type { VendorCount } from '../../store/reports/account-reports.ts';
import type { Presence } from '../../store/tables/vendor-tables.ts';

/** Those that are present, by state; and the others, by presence. */
export type VendorCounts = Readonly<Record<'active' | 'archived' | 'deleted' | 'unknown' | Presence, number>>;

const states = ['active', 'deleted', 'archived'] as const;

export function vendorCounts(counts: readonly VendorCount[]): VendorCounts {
  const total = { present: 0, active: 0, archived: 0, deleted: 0, unknown: 0, suspect: 0, missing: 0, gone: 0 };
  for (const { vis_state, presence, vendors } of counts) {
    total[presence] += vendors;
    if (presence === 'present') total[vis_state === null ? 'unknown' : states[vis_state]] += vendors;
  }
  return total;
}
