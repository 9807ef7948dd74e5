/** `vendors list`: the vendors of the mirror, a line each. */
import { exitStatus } from '../../domain/errors.ts';
import {
  inState,
  listVendors,
  type ListedVendor,
  type VendorFilter,
  type WantedState,
} from '../../store/reports/vendor-list.ts';
import type { Presence } from '../../store/tables/vendor-tables.ts';
import type { VisState } from '../../domain/vendor.ts';
import { age } from '../../domain/age.ts';
import type { CommonOptions, Run } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { amounts } from '../terminal/money.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { table, type Column } from '../terminal/table.ts';

interface ListOptions {
  readonly state?: WantedState;
  readonly presence?: Presence;
  readonly search?: string;
  readonly limit?: number;
}

export const vendorsList: Run<ListOptions> = async (call) => {
  const { context, options } = call;
  const found = await queryMirror(context, loadSettings(call), (sqlite) => listVendors(sqlite, filterOf(options)));
  const { total, vendors } = found ?? { total: 0, vendors: [] };
  if (options.json) printJson(context, { ok: true, total, vendors });
  else if (vendors.length > 0) print(context, await vendorTable(context, vendors));
  if (found && !options.json) printNotice(context, countOf(total, vendors.length));
  return exitStatus.done;
};

function filterOf({ account, state, presence, search, limit }: CommonOptions & ListOptions): VendorFilter {
  return { account, ...inState(state, presence), search, limit };
}

function countOf(total: number, shown: number): string {
  const vendors = total === 1 ? 'vendor' : 'vendors';
  if (total === 0) return 'No vendors are like that.';
  return shown < total ? `${shown} of ${total} ${vendors}; all of them without --limit.` : `${total} ${vendors}.`;
}

export type StateName = 'active' | 'deleted' | 'archived' | 'unknown';

/** The word for a vis_state. */
export function stateName(state: VisState | null): StateName {
  return state === null ? 'unknown' : (['active', 'deleted', 'archived'] as const)[state];
}

/** The vendors as lines; what is alike for all of them has no column. */
export function vendorTable(
  context: Pick<ProcessContext, 'stdout' | 'env' | 'clock'>,
  vendors: readonly ListedVendor[],
): Promise<string> {
  const several = (of: (vendor: ListedVendor) => unknown): boolean => new Set(vendors.map(of)).size > 1;
  const when = (condition: boolean, column: Column<ListedVendor>): Column<ListedVendor>[] =>
    condition ? [column] : [];
  return table(
    context,
    [
      ...when(
        several((vendor) => vendor.account_id),
        { title: 'account', cell: (vendor) => vendor.account_id },
      ),
      { title: 'vendorid', right: true, cell: (vendor) => vendor.vendorid },
      { title: 'name', cell: (vendor) => vendor.vendor_name },
      ...when(
        vendors.some((vendor) => vendor.vis_state !== 0),
        { title: 'state', cell: (vendor) => stateName(vendor.vis_state) },
      ),
      ...when(
        vendors.some((vendor) => vendor.presence !== 'present'),
        { title: 'presence', cell: (vendor) => vendor.presence },
      ),
      { title: 'country', cell: (vendor) => vendor.country },
      { title: 'outstanding', right: true, cell: (vendor) => amounts(vendor.outstanding) },
      { title: 'overdue', right: true, cell: (vendor) => amounts(vendor.overdue) },
      { title: 'changed', cell: (vendor) => age(context.clock, vendor.changed_at) },
    ],
    vendors,
  );
}
