/**
 * `sync` and `reconcile`: every account walked once, its vendors and its gateways; and what they print when they are done.
 */
import type { GatewaySummary, Installation, RunSummary } from '../app/installation.ts';
import { seconds } from '../domain/duration.ts';
import { exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { manyAccounts, together, whoseText } from '../health/causes.ts';
import { judge, type ProblemCode } from '../health/judge.ts';
import type { Settings } from '../settings/parse.ts';
import type { FindingKind } from '../store/sql/schema.ts';
import { loadSettings, withoutPaused } from './load-settings.ts';
import { mirrorFacts } from './mirror-facts.ts';
import { openMirror } from './open-mirror.ts';
import { highestExit, type Call, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { errorReport, print, printError, printJson, printNotice, type ErrorReport } from './terminal/print.ts';
import { accountOf, eachWithVerbose, isQuiet, progressOf } from './terminal/progress.ts';
import { printTable, type Column } from './terminal/table.ts';
import { printFirstQuery } from './vendors-list.ts';
import { withInstallation } from './with-installation.ts';

interface SyncOptions {
  /** Print what was done also where no terminal is. */
  readonly verbose?: boolean;
}

interface ReconcileOptions extends SyncOptions {
  /** How many absences a person has allowed. */
  readonly approveAbsences?: number;
  /** How many vendors that the service counts and does not show a person has accepted. */
  readonly acceptUnreadable?: number;
  /** A person said that what the service shows is of this account. */
  readonly acceptAccount?: boolean;
}

interface Walk {
  readonly kind: RunSummary['kind'];
  readonly approved?: number;
  readonly accepted?: number | undefined;
  readonly isAccountAccepted?: boolean;
}

interface AccountSync {
  readonly run: RunSummary;
  /** What a reconciliation wrote into its ledger. */
  readonly findings: readonly { readonly kind: FindingKind; readonly count: number }[];
  /** Left out where the gateways were not asked for. */
  readonly gateways?: GatewaySummary;
}

export const sync: CommandHandler<SyncOptions> = (call) => walkAll(call, { kind: 'pull' });

export const reconcile: CommandHandler<ReconcileOptions> = (call) =>
  walkAll(call, {
    kind: 'reconcile',
    approved: call.options.approveAbsences ?? 0,
    accepted: call.options.acceptUnreadable,
    isAccountAccepted: call.options.acceptAccount === true,
  });

async function walkAll(call: Call<SyncOptions>, walk: Walk): Promise<ExitStatus> {
  const { context, options } = call;
  const settings = withoutPaused(context, await loadSettings(call));
  if ((walk.accepted !== undefined || walk.isAccountAccepted === true) && settings.accounts.length > 1)
    throw new MirrorError('usage', 'Name the account whose vendors are accepted with --account.');
  const synced = await withInstallation(call, settings, async (installation) => {
    const ended: AccountSync[] = [];
    for (const account of installation.accounts) {
      if (context.interrupted.aborted) break;
      ended.push(await walkAccount(call, installation, account, walk));
    }
    return ended;
  });
  if (options.json) printDocument(context, settings, synced);
  else if (!isWhole(settings, synced) || !isQuiet(context, options))
    await printSummary(context, settings, synced, options.verbose === true);
  if (isWhole(settings, synced)) await noticeClock(call, settings);
  return statusOf(synced, settings.accounts.length);
}

/** Problems that a whole run may leave behind: by the clock of this machine, nobody can tell how old it is. */
const ofClock: ReadonlySet<ProblemCode> = new Set(['clock_wrong', 'clock_set_back']);

/**
 * Says what `status` would say of the clock, also where all is quiet otherwise. The work is done: what cannot be read now is for the next
 * command to tell.
 */
async function noticeClock(call: Call<SyncOptions>, settings: Settings): Promise<void> {
  const found = await clockProblems(call, settings).catch(() => []);
  for (const { whose, first } of together(found)) printNotice(call.context, `${whose}: ${first.message}`);
}

async function clockProblems(
  { context, options }: Call,
  settings: Settings,
): Promise<{ readonly account: string; readonly message: string }[]> {
  const mirror = await openMirror(context, settings);
  try {
    const { accounts } = judge(await mirrorFacts(context, settings, mirror, options.account), context.clock.now());
    return accounts.flatMap(({ facts: { account }, problems }) =>
      problems
        .filter(({ code }) => ofClock.has(code))
        .map(({ message, remedy }) => ({ account, message: remedy === null ? message : `${message} ${remedy}` })),
    );
  } finally {
    await mirror?.close();
  }
}

/** Vendors, and then gateways, unless the service could not be worked with at all. */
async function walkAccount(
  { context, options }: Call<SyncOptions>,
  installation: Installation,
  account: string,
  { accepted, ...walk }: Walk,
): Promise<AccountSync> {
  if (accepted !== undefined) await installation.mirror.accountRegister.acceptUnreadable(account, accepted);
  const signal = context.interrupted;
  const progress = progressOf(accountOf(account, installation.accounts), context, isQuiet(context, options));
  const run = await installation
    .pull(account, { ...walk, trigger: 'command', signal, onProgress: (report) => progress.show(report) })
    .finally(() => progress.end());
  const findings =
    walk.kind === 'reconcile' ? await installation.mirror.findings.countFindings({ id: run.run_id }) : [];
  if (run.outcome === 'failed' || signal.aborted) return { run, findings };
  return { run, findings, gateways: await installation.pullGateways(account, { signal }) };
}

/** The worst that happened; an account that was not begun is not whole. */
function statusOf(synced: readonly AccountSync[], accounts: number): ExitStatus {
  const statuses = synced.flatMap((one) => [
    one.run.outcome === 'complete' ? exitStatus.done : exitStatus.incomplete,
    ...errorsOf(one).map(({ exit }) => exit),
  ]);
  return highestExit(synced.length < accounts ? [...statuses, exitStatus.incomplete] : statuses);
}

function errorsOf({ run, gateways }: AccountSync): MirrorError[] {
  return [run.error, gateways?.error].filter((error) => error !== undefined);
}

function isWhole({ accounts }: Pick<Settings, 'accounts'>, synced: readonly AccountSync[]): boolean {
  return (
    synced.length === accounts.length &&
    synced.every((one) => one.run.outcome === 'complete' && errorsOf(one).length === 0)
  );
}

/** The document that `--json` prints; what failed has its error beside it. */
function printDocument(
  context: ProcessContext,
  settings: Pick<Settings, 'accounts'>,
  synced: readonly AccountSync[],
): void {
  const gateways = synced.map((one) => one.gateways).filter((found) => found !== undefined);
  printJson(context, {
    ok: isWhole(settings, synced),
    runs: synced.map(({ run, findings }) => ({
      ...Object.fromEntries(runFacts.map((name) => [name, run[name]])),
      ...(run.kind === 'reconcile' && {
        findings: Object.fromEntries(findings.map(({ kind, count }) => [kind, count])),
      }),
      ...errorBeside(context, run.error),
    })),
    gateways: gateways.map((found) => ({
      account: found.account,
      seen: found.error ? found.seen : seenGateways(found),
      ...(found.declined && { declined: errorReport(context, found.declined) }),
      ...errorBeside(context, found.error),
    })),
  });
}

const runFacts = [
  'account',
  'run_id',
  'kind',
  'outcome',
  'proof',
  'pages',
  'requests',
  'seen',
  'created',
  'updated',
  'unchanged',
  'suspects',
  'seconds',
] as const satisfies (keyof RunSummary)[];

function errorBeside(context: ProcessContext, error: MirrorError | undefined): { error?: ErrorReport } {
  return error ? { error: errorReport(context, error) } : {};
}

/** Null where the gateways are not known. */
function seenGateways({ seen, error, declined }: GatewaySummary): number | null {
  return error || declined !== undefined ? null : seen;
}

const sums = ['seen', 'created', 'updated', 'unchanged', 'suspects', 'requests', 'seconds'] as const;

interface Line extends Readonly<Record<(typeof sums)[number], number>> {
  readonly account: string;
  readonly outcome: string;
  readonly gateways: number | null;
  readonly findings: AccountSync['findings'];
}

function lineOf({ run, gateways, findings }: AccountSync): Line {
  return { ...run, gateways: gateways ? seenGateways(gateways) : null, findings };
}

function sumOf(lines: readonly Line[]): Line {
  const add = (of: (line: Line) => number): number => lines.reduce((sum, line) => sum + of(line), 0);
  const complete = add(({ outcome }) => (outcome === 'complete' ? 1 : 0));
  const findings = new Map<FindingKind, number>();
  for (const { kind, count } of lines.flatMap((line) => line.findings))
    findings.set(kind, (findings.get(kind) ?? 0) + count);
  return {
    ...(Object.fromEntries(sums.map((name) => [name, add((line) => line[name])])) as Record<
      (typeof sums)[number],
      number
    >),
    account: counted(lines.length, 'account'),
    outcome: complete === lines.length ? 'complete' : `${complete.toLocaleString('en')} complete`,
    gateways: add((line) => line.gateways ?? 0),
    findings: [...findings].map(([kind, count]) => ({ kind, count })),
  };
}

const columns: readonly Column<Line>[] = [
  { title: 'account', cell: ({ account }) => account },
  { title: 'outcome', cell: ({ outcome }) => outcome },
  { title: 'seen', right: true, cell: ({ seen }) => seen },
  { title: 'created', right: true, dropOrder: 7, cell: ({ created }) => created },
  { title: 'updated', right: true, dropOrder: 6, cell: ({ updated }) => updated },
  { title: 'unchanged', right: true, dropOrder: 3, cell: ({ unchanged }) => unchanged },
  { title: 'suspects', right: true, dropOrder: 5, cell: ({ suspects }) => suspects },
  { title: 'gateways', right: true, dropOrder: 2, cell: ({ gateways }) => gateways },
  { title: 'requests', right: true, dropOrder: 1, cell: ({ requests }) => requests },
  { title: 'took', right: true, dropOrder: 4, cell: (line) => seconds(line.seconds) },
];

const findingsColumn: Column<Line> = {
  title: 'findings',
  cell: ({ findings }) => findings.map(({ kind, count }) => `${count} ${kind}`).join(', ') || null,
};

/** A line for each account, or of many for those that are not whole and for all together; what went wrong; and, where a sync was whole, where to go from here. */
async function printSummary(
  context: ProcessContext,
  settings: Settings,
  synced: readonly AccountSync[],
  isVerbose: boolean,
): Promise<void> {
  const reconciled = synced.some(({ run }) => run.kind === 'reconcile');
  const isMany = synced.length > manyAccounts;
  const isShort = isMany && !isVerbose;
  const shown = isShort ? synced.filter((one) => !isWhole({ accounts: [one.run.account] }, [one])) : synced;
  const lines = [...shown.map(lineOf), ...(isMany ? [sumOf(synced.map(lineOf))] : [])];
  if (lines.length > 0) await printTable(context, reconciled ? [...columns, findingsColumn] : columns, lines);
  if (isShort) print(context, eachWithVerbose);
  const remarks = synced.flatMap(({ run: { account, notes }, gateways }) => [
    ...notes.map((message) => ({ account, message })),
    ...(gateways?.declined ? [{ account, message: `No gateways are mirrored: ${gateways.declined.message}` }] : []),
  ]);
  for (const { whose, first } of together(remarks)) printNotice(context, `${whose}: ${first.message}`);
  const errors = synced.flatMap((one) =>
    errorsOf(one).map((error) => ({ account: one.run.account, message: `${error.message} ${error.hint}`, error })),
  );
  for (const { whose, first } of together(errors)) printError(context, first.error, whose);
  const unbegun = settings.accounts.slice(synced.length);
  if (unbegun.length > 0)
    printNotice(
      context,
      `Accounts that were not begun: ${unbegun.length > manyAccounts ? whoseText({ accounts: unbegun, isAlike: true }) : unbegun.join(', ')}.`,
    );
  if (synced.length > 0 && isWhole(settings, synced) && !reconciled)
    await printFirstQuery(context, settings, { rows: synced.every(isFirst) });
}

function isFirst({ run }: AccountSync): boolean {
  return run.updated + run.unchanged === 0;
}
