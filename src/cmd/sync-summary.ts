/** What `sync` says when it is done. */
import type { Settings } from '../config.ts';
import type { MirrorError } from '../errors.ts';
import type { GatewaySummary, RunSummary } from '../installation.ts';
import { listVendors } from '../store/vendor-list.ts';
import { seconds } from '../age.ts';
import type { Edge } from './edge.ts';
import { askMirror } from './mirror.ts';
import { complain, errorReport, print, printJson, remark, type ErrorReport } from './say.ts';
import { table, type Column } from './table.ts';
import { vendorTable } from './vendors-list.ts';

export interface AccountSync {
  readonly run: RunSummary;
  /** Left out where the gateways were not asked for. */
  readonly gateways?: GatewaySummary;
}

export function errorsOf({ run, gateways }: AccountSync): MirrorError[] {
  return [run.error, gateways?.error].filter((error) => error !== undefined);
}

function isWhole(synced: readonly AccountSync[]): boolean {
  return synced.length > 0 && synced.every((one) => one.run.outcome === 'complete' && errorsOf(one).length === 0);
}

/** The document that `--json` prints; what failed has its error beside it. */
export function printDocument(edge: Edge, synced: readonly AccountSync[]): void {
  const gateways = synced.map((one) => one.gateways).filter((found) => found !== undefined);
  printJson(edge, {
    ok: isWhole(synced),
    runs: synced.map(({ run }) => ({
      ...Object.fromEntries(runFacts.map((name) => [name, run[name]])),
      ...errorBeside(run.error),
    })),
    gateways: gateways.map(({ account, seen, error }) => ({ account, seen, ...errorBeside(error) })),
  });
}

const runFacts = [
  'account',
  'run_id',
  'kind',
  'outcome',
  'pages',
  'requests',
  'seen',
  'created',
  'updated',
  'unchanged',
  'suspects',
  'seconds',
] as const satisfies (keyof RunSummary)[];

function errorBeside(error: MirrorError | undefined): { error?: ErrorReport } {
  return error ? { error: errorReport(error) } : {};
}

const columns: readonly Column<AccountSync>[] = [
  { title: 'account', cell: ({ run }) => run.account },
  { title: 'outcome', cell: ({ run }) => run.outcome },
  { title: 'seen', right: true, cell: ({ run }) => run.seen },
  { title: 'created', right: true, cell: ({ run }) => run.created },
  { title: 'updated', right: true, cell: ({ run }) => run.updated },
  { title: 'unchanged', right: true, cell: ({ run }) => run.unchanged },
  { title: 'suspects', right: true, cell: ({ run }) => run.suspects },
  { title: 'gateways', right: true, cell: ({ gateways }) => (gateways?.error ? null : (gateways?.seen ?? null)) },
  { title: 'requests', right: true, cell: ({ run }) => run.requests },
  { title: 'took', right: true, cell: ({ run }) => seconds(run.seconds) },
];

/** A line for each account, what went wrong, and, where all is whole, where to go from here. */
export async function printSummary(edge: Edge, settings: Settings, synced: readonly AccountSync[]): Promise<void> {
  if (synced.length > 0) print(edge, table(edge, columns, synced));
  for (const one of synced) {
    for (const note of one.run.notes) remark(edge, `${one.run.account}: ${note}`);
    for (const error of errorsOf(one)) complain(edge, error, one.run.account);
  }
  const unbegun = settings.accounts.length - synced.length;
  if (unbegun > 0) remark(edge, `Accounts that were not begun: ${settings.accounts.slice(-unbegun).join(', ')}.`);
  if (unbegun === 0 && isWhole(synced)) await printFirstQuery(edge, settings, synced.every(isFirst));
}

function isFirst({ run }: AccountSync): boolean {
  return run.updated + run.unchanged === 0;
}

const firstRows = 5;

/** Where the mirror is and how to ask it; after a first sync, with what it answers. */
async function printFirstQuery(edge: Edge, settings: Settings, first: boolean): Promise<void> {
  const { accounts, database } = settings;
  const account = accounts.length === 1 ? accounts[0] : undefined;
  const found = await askMirror(edge, settings, (sqlite) =>
    listVendors(sqlite, { account, visState: 0, presence: 'present', limit: firstRows }),
  );
  if (!found) return;
  const order = account === undefined ? 'account_id, vendorid' : 'vendorid';
  const query = `select vendorid, vendor_name, country from active_vendors order by ${order} limit ${firstRows}`;
  print(edge, `\n${database} holds ${found.total} active vendors. Ask it:`);
  print(edge, `\n  sqlite3 ${shellWord(database)} "${query}"`);
  if (first && found.vendors.length > 0) print(edge, `\n${vendorTable(edge, found.vendors)}`);
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
