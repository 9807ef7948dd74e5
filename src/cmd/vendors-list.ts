/** `vendors list`: the vendors of the mirror, a line each. */
import { age } from '../domain/clock.ts';
import { exitStatus, type ExitStatus } from '../domain/errors.ts';
import { stateWord } from '../domain/vendor.ts';
import type { Settings } from '../settings/parse.ts';
import type { Reader } from '../store/reader.ts';
import {
  following,
  inState,
  isAmountUnread,
  listVendors,
  vendorKey,
  vendorsWith,
  vendorTotals,
  type ListedVendor,
  type VendorFilter,
  type VendorOrder,
  type VendorTotals,
  type WantedState,
} from '../store/reports/vendor-list.ts';
import type { Presence } from '../domain/presence.ts';
import { counted } from '../domain/size.ts';
import { loadSettings } from './load-settings.ts';
import { noticeNothingMirrored, openMirror, queryMirror } from './open-mirror.ts';
import { shellWord, type CommandHandler, type CommonOptions } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printJson, printNotice, printPart } from './terminal/print.ts';
import { Table, table, type Column } from './terminal/table.ts';
import { amounts } from './terminal/text.ts';

interface ListOptions {
  readonly state?: WantedState;
  readonly presence?: Presence;
  readonly search?: string;
  readonly sort?: VendorOrder;
  readonly limit?: number;
  readonly all?: boolean;
}

/** How many are shown on a terminal by default. */
const screenful = 100;
/** How many are read, and shown, at once where they are many. */
const batch = 5_000;

export const vendorsList: CommandHandler<ListOptions> = async (call) => {
  const { context, options } = call;
  const mirror = await openMirror(context, await loadSettings(call));
  if (!mirror) {
    noticeNothingMirrored(context);
    if (options.json) printJson(context, { ok: true, total: 0, vendors: [] });
    return exitStatus.done;
  }
  try {
    if (!options.json) return await printTable(context, mirror, filterOf(options, context));
    const filter = filterOf({ ...options, all: true }, context);
    printJson(context, { ok: true, ...(await mirror.query((snapshot) => listVendors(snapshot, filter))) });
    return exitStatus.done;
  } finally {
    await mirror.close();
  }
};

function filterOf(options: CommonOptions & ListOptions, { stdout }: Pick<ProcessContext, 'stdout'>): VendorFilter {
  const { account, state, presence, search, sort, all } = options;
  const limit = options.limit ?? (stdout.isTTY && !all ? screenful : undefined);
  return { account, ...inState(state, presence), search, sort, limit };
}

async function printTable(context: ProcessContext, mirror: Reader, filter: VendorFilter): Promise<ExitStatus> {
  const alike = await mirror.query((snapshot) => vendorTotals(snapshot, filter));
  const vendors = new Table(context, vendorColumns(context, alike));
  let shown = 0;
  for await (const some of batches(mirror, filter)) {
    if (some.length > 0) await printPart(context, await vendors.lines(some));
    // Writing to a terminal is synchronous, so Ctrl-C would not be noticed without this pause.
    await context.clock.yield();
    if (context.interrupted.aborted) return exitStatus.incomplete;
    shown += some.length;
  }
  printNotice(context, countOf(alike.total, shown));
  return exitStatus.done;
}

/** By account and number. Each batch is read when the previous one is written, so that a slow reader keeps no transaction open. */
async function* batches(mirror: Reader, filter: VendorFilter): AsyncGenerator<ListedVendor[]> {
  if (filter.sort !== undefined && filter.sort !== 'number') {
    yield await mirror.query((snapshot) => vendorsWith(snapshot, filter));
    return;
  }
  let after = { account_id: filter.account ?? '', vendorid: 0 };
  for (let left = filter.limit ?? Infinity; left > 0;) {
    const limit = Math.min(left, batch);
    const from = after;
    const found = await mirror.query((snapshot) =>
      vendorsWith(snapshot, { ...filter, limit }, following(filter, from)),
    );
    yield found;
    const last = found.at(-1);
    if (!last || found.length < limit) return;
    after = vendorKey(last);
    left -= found.length;
  }
}

function countOf(total: number, shown: number): string {
  if (total === 0) return 'No vendors.';
  if (shown >= total) return `${counted(total, 'vendor')}.`;
  return `${shown.toLocaleString('en')} of ${counted(total, 'vendor')}; --all lists them all.`;
}

/** What is shown of vendors; what is alike for all of them has no column. */
function vendorColumns(
  { clock }: Pick<ProcessContext, 'clock'>,
  { oneAccount, allActive, allPresent }: Omit<VendorTotals, 'total'>,
): Column<ListedVendor>[] {
  const unless = (isAlike: boolean, column: Column<ListedVendor>): Column<ListedVendor>[] => (isAlike ? [] : [column]);
  return [
    ...unless(oneAccount, { title: 'account', cell: (vendor) => vendor.account_id }),
    { title: 'vendorid', right: true, cell: (vendor) => vendor.vendorid },
    { title: 'name', cell: (vendor) => vendor.vendor_name },
    ...unless(allActive, { title: 'state', dropOrder: 5, cell: (vendor) => stateWord(vendor.vis_state) }),
    ...unless(allPresent, { title: 'presence', dropOrder: 6, cell: (vendor) => vendor.presence }),
    { title: 'country', dropOrder: 2, cell: (vendor) => vendor.country },
    { title: 'outstanding', dropOrder: 4, right: true, cell: (vendor) => owed(vendor, 'outstanding') },
    { title: 'overdue', dropOrder: 3, right: true, cell: (vendor) => owed(vendor, 'overdue') },
    { title: 'changed', dropOrder: 1, cell: (vendor) => age(clock, vendor.changed_at) },
  ];
}

function owed(vendor: ListedVendor, kind: 'outstanding' | 'overdue'): string | null {
  return isAmountUnread(vendor, kind) ? 'unreadable' : amounts(vendor[kind]);
}

const firstRows = 5;

/** Prints a first query; and what it answers, where the `rows` are wanted. */
export async function printFirstQuery(
  context: ProcessContext,
  settings: Settings,
  show: { rows: boolean },
): Promise<void> {
  const { accounts, database, postgres } = settings;
  const account = accounts.length === 1 ? accounts[0] : undefined;
  const found = await queryMirror(context, settings, (snapshot) =>
    listVendors(snapshot, { account, ...inState('active', undefined), limit: firstRows }),
  );
  if (!found) return;
  const order = account === undefined ? 'account_id, vendorid' : 'vendorid';
  const query = `select vendorid, vendor_name, country from ${postgres ? `${postgres.schema}.` : ''}active_vendors order by ${order} limit ${firstRows}`;
  const program = postgres ? `psql ${shellWord(postgres.to.name)} -c` : `sqlite3 ${shellWord(database)}`;
  print(context, `\n${database} holds ${counted(found.total, 'active vendor')}. Query it:`);
  print(context, `\n  ${program} "${query}"`);
  const oneAccount = new Set(found.vendors.map(({ account_id }) => account_id)).size < 2;
  const columns = vendorColumns(context, { oneAccount, allActive: true, allPresent: true });
  if (show.rows && found.vendors.length > 0) print(context, `\n${await table(context, columns, found.vendors)}`);
}
