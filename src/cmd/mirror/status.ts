/** `status`: what the mirror holds, how fresh it is, and what went on lately. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { connectionNameOf } from '../../settings/account-connections.ts';
import { type Settings } from '../../settings/parse.ts';
import { exitStatus } from '../../domain/errors.ts';
import {
  advice,
  connectionFacts,
  judge,
  problemsOf,
  targetStatuses,
  type AccountFacts,
  type Health,
  type HealthFacts,
} from '../../health/judge.ts';
import { statusDocument } from '../../health/status-document.ts';
import { accountStates, unknownState } from '../../store/reports/account-state.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { packageVersion } from '../process/package-version.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { settingsFileOf } from '../../store/files/own-files.ts';
import { accountIds, accountsNotServed } from '../../store/reports/known-accounts.ts';
import { openMirror, noticeNothingMirrored } from '../setup/open-mirror.ts';
import { withSettings } from '../process/settings-option.ts';
import { daemonSince } from '../../store/files/side-lock.ts';
import { freeBytes, noSpaceForDelivery } from '../../store/sqlite/file-systems.ts';
import type { Snapshot } from '../../store/sqlite/query.ts';
import { agoInWords } from '../../domain/duration.ts';
import { timestamp } from '../../domain/clock.ts';
import { paragraph } from '../terminal/paragraphs.ts';
import { print, printJson } from '../terminal/print.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { targetReports } from '../../store/outbox/outbox-report.ts';
import { targetsText } from '../notify/target-text.ts';
import { connectionFailures, currencyTotals, type CurrencyTotal } from '../../store/reports/account-reports.ts';
import { connectionsText } from './connections-text.ts';
import { reportText } from './status-text.ts';

/** What the accounts of the mirror owe. */
type Totals = ReadonlyMap<string, readonly CurrencyTotal[]>;

export const status: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const mirror = openMirror(context, settings);
  if (!mirror) noticeNothingMirrored(context);
  try {
    const now = context.clock.now();
    const health = judge(await mirrorFacts(call, settings, mirror), now);
    if (options.json)
      printJson(
        context,
        statusDocument(health, (text) => withSettings(context, text)),
      );
    else if (mirror) await printText(context, health, await mirror.query((snapshot) => totalsOf(snapshot, health)));
  } finally {
    await mirror?.close();
  }
  return exitStatus.done;
};

type Mirror = NonNullable<ReturnType<typeof openMirror>>;

/** As far as the files tell: what a running daemon alone knows is left open. */
async function mirrorFacts(
  { context, options }: Call,
  settings: Settings,
  mirror: Mirror | undefined,
): Promise<HealthFacts> {
  const { database, admin, connections, listener, namedAccounts, notify, sandbox } = settings;
  const startedAt = daemonSince(database) ?? null;
  const found = await mirror?.query((snapshot) => {
    const state = accountStates(snapshot, context.clock);
    const left = accountsNotServed(snapshot, { accounts: namedAccounts, settingsFile: settingsFileOf(settings) });
    const ids = accountIds(snapshot).filter((id) => options.account === undefined || id === options.account);
    return {
      accounts: ids.flatMap((id) => state(id) ?? []).map((known) => ({ ...known, isLeft: left.has(known.account) })),
      failures: connectionFailures(snapshot),
      targets: targetReports(snapshot),
    };
  });
  const { accounts = [], failures = [], targets = [] } = found ?? {};
  const named = new Set(namedAccounts);
  const unknown = settings.accounts
    .filter((id) => named.has(id) && accounts.every(({ account }) => account !== id))
    .map((id) => ({ ...unknownState(id), isLeft: false }));
  const isAwaited = startedAt !== null && (listener.publicUrl !== null || sandbox !== null);
  const connectionOf = (id: string): string => connectionNameOf(settings, id);
  const free = freeBytes(existing(dirname(resolve(database))));
  const targetNames = notify.map(({ name }) => name);
  return {
    version: packageVersion(context.packageRoot),
    ...{ database, startedAt },
    maxStaleness: admin.maxStaleness,
    accounts: [...accounts, ...unknown].map((account): AccountFacts => ({
      ...account,
      awaitsDeliveries: isAwaited || account.callbacks.length > 0,
      progress: null,
      doubt: null,
    })),
    connections: connectionFacts([...connections.keys()], connectionOf, namedAccounts, failures),
    ability: { listening: null, trouble: noSpaceForDelivery(free) ?? null, diskFreeBytes: free },
    targets: targetStatuses(targetNames, targets, context.clock.now()),
    files: mirror?.sizes ?? { databaseBytes: 0, walBytes: 0 },
    process: null,
    next: { pull: undefined, reconcile: undefined },
  };
}

/** The folder, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}

function totalsOf(snapshot: Snapshot, { accounts }: Health): Totals {
  const known = new Set(accountIds(snapshot));
  const totals = currencyTotals(snapshot);
  const shown = accounts.map(({ facts: { account } }) => account).filter((account) => known.has(account));
  return new Map(shown.map((account) => [account, totals(account)]));
}

/** @param totals of the accounts that the mirror knows */
export async function printText(context: ProcessContext, health: Health, totals: Totals): Promise<void> {
  const { facts, accounts, now } = health;
  const problems = problemsOf(health).map((line) => paragraph(context, '  ', withSettings(context, line)));
  const head = [
    await verdictLine(context, health, (moment) => moment.slice(0, 19), `; ${further(advice(health))}`),
    ...(await Promise.all(problems)),
    await paragraph(context, '', daemonText(facts, now)),
  ];
  const reports = accounts.flatMap(({ facts: report }) => {
    const owed = totals.get(report.account);
    return owed ? [reportText(context, report, owed)] : [];
  });
  print(
    context,
    [
      head.join('\n'),
      ...(await Promise.all(reports)),
      ...(await connectionsText(context, facts.connections)),
      ...(await targetsText(context, facts.targets)),
      facts.database,
    ].join('\n\n'),
  );
}

function further(toDo: readonly string[]): string {
  if (toDo.length === 0) return 'nothing to do';
  return toDo.length === 1 ? 'one thing to do' : `${toDo.length} things to do`;
}

function daemonText({ startedAt }: HealthFacts, now: number): string {
  return startedAt === null
    ? 'No daemon runs: the mirror is as fresh as the last sync made it.'
    : `A daemon has been running since ${timestamp(startedAt).slice(0, 19)} UTC (${agoInWords(now - startedAt)}).`;
}
