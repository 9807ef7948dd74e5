/** `status`: what the mirror holds, how fresh it is, and what went on lately. */
import { advice } from '../../admin/health/advice.ts';
import {
  connectionAdvice,
  connectionDocument,
  connectionFacts,
  type ConnectionFacts,
} from '../../admin/health/connection-health.ts';
import { vendorCounts } from '../../admin/health/vendor-counts.ts';
import { connectionNameOf } from '../../settings/account-connections.ts';
import { type Settings } from '../../settings/parse.ts';
import { exitStatus } from '../../domain/errors.ts';
import { webhookDays, type WebhookDays } from '../../store/reports/webhook-days.ts';
import { accountStatuses, type AccountStatus } from './account-status.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { settingsFileOf } from '../../store/files/own-files.ts';
import { accountsNotServed } from '../../store/reports/known-accounts.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { withSettings } from '../process/settings-option.ts';
import { daemonSince } from '../../store/files/side-lock.ts';
import { agoInWords } from '../../domain/duration.ts';
import { timestamp } from '../../domain/clock.ts';
import { paragraph } from '../terminal/paragraphs.ts';
import { print, printJson } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { targetReports } from '../../store/outbox/outbox-report.ts';
import { targetStatuses, type TargetStatus } from '../notify/target-status.ts';
import { adviceForTargets, targetsText } from '../notify/target-text.ts';
import { connectionFailures, type ConnectionFailure } from '../../store/reports/account-reports.ts';
import { connectionsText } from './connections-text.ts';
import { silence } from './delivery-silence.ts';
import { reportText } from './status-text.ts';
import { styled, verdictOf } from './status-verdict.ts';

/** How many runs of an account are shown. */
const latestRuns = 5;

export const status: CommandHandler = async (call) => {
  const settings = loadSettings(call);
  const now = call.context.clock.now();
  const { account, json } = call.options;
  const found = await queryMirror(call.context, settings, (snapshot) => {
    const days = webhookDays(snapshot);
    const left = accountsNotServed(snapshot, {
      accounts: settings.namedAccounts,
      settingsFile: settingsFileOf(settings),
    });
    const accounts = accountStatuses(snapshot, account, latestRuns).map((report) => ({
      report,
      isLeft: left.has(report.account),
      days: json ? days(report.account, now) : [],
    }));
    return {
      accounts,
      targets: targetStatuses(settings, targetReports(snapshot), now),
      connections: connectionsOf(settings, connectionFailures(snapshot)),
    };
  });
  const { accounts = [], targets = [], connections = connectionsOf(settings, []) } = found ?? {};
  const reports = accounts.map(({ report }) => report);
  const left = accounts.flatMap(({ report, isLeft }) => (isLeft ? [adviceOfLeft(report)] : []));
  const toDo = [
    ...adviceForConnections(connections, now),
    ...adviceFor(settings, reports, now),
    ...left,
    ...adviceForTargets(targets, now),
  ].map((line) => withSettings(call.context, line));
  if (json) printDocument(call, settings, { accounts, targets, connections }, toDo);
  else if (found) await printText(call, settings, { reports, targets, connections }, toDo);
  return exitStatus.done;
};

/** What to do about each account of the settings, including those that the mirror does not know yet. */
function adviceFor(settings: Settings, reports: readonly AccountStatus[], now: number): string[] {
  return accountsOf(settings).flatMap((account) => {
    const report = reports.find((candidate) => candidate.account === account);
    if (settings.paused.has(account)) return [];
    const toDo = advice(account, report, now, settings.admin.maxStaleness);
    const silent = report && silence(report, now);
    return silent === undefined ? toDo : [...toDo, silent];
  });
}

function connectionsOf(settings: Settings, failures: readonly ConnectionFailure[]): ConnectionFacts[] {
  const { connections, namedAccounts } = settings;
  const of = (account: string): string => connectionNameOf(settings, account);
  return connectionFacts([...connections.keys()], of, namedAccounts, failures);
}

/** Of a single connection its accounts say it all. */
function adviceForConnections(connections: readonly ConnectionFacts[], now: number): string[] {
  return connections.length < 2 ? [] : connections.flatMap((facts) => connectionAdvice(facts, now) ?? []);
}

/** Those of the settings that the command is about. */
function accountsOf(settings: Settings): string[] {
  const named = new Set(settings.namedAccounts);
  return settings.accounts.filter((account) => named.has(account));
}

/** What is said of an account that the mirror holds and no settings name any more. */
function adviceOfLeft({ account, callbacks }: AccountStatus): string {
  const [callback] = callbacks;
  const what = `${account} is no longer in the settings, so nothing keeps it fresh`;
  return callback
    ? `${what}, and its callback is still registered: run \`vendor-mirror callbacks delete ${callback.callbackid} --account ${account}\`.`
    : `${what}.`;
}

function printDocument(
  { context }: Call,
  settings: Settings,
  told: {
    readonly accounts: readonly { readonly report: AccountStatus; readonly days: WebhookDays }[];
    readonly targets: readonly TargetStatus[];
    readonly connections: readonly ConnectionFacts[];
  },
  toDo: readonly string[],
): void {
  const accounts = told.accounts.map(
    ({
      report: { counts, totals, callbacks, queue, receivedDeliveries, parkedFor, sweepRequest, failing, ...report },
      days,
    }) => ({
      ...report,
      sweep_request: sweepRequest,
      request_failures: failing,
      queue: { ...queue, oldest: receivedDeliveries.oldestMark, parked_for: parkedFor },
      last_delivery: receivedDeliveries.lastDelivery,
      webhook_health: days,
      vendors: vendorCounts(counts),
      owed: totals.map(({ minor, ...total }) => ({ ...total, minor: String(minor) })),
      callbacks: callbacks.map((callback) => ({ ...callback, verified: callback.verified === 1 })),
    }),
  );
  const since = daemonSince(settings.database);
  const daemon_since = since === undefined ? null : timestamp(since);
  printJson(context, {
    ok: true,
    database: settings.database,
    daemon_since,
    accounts,
    connections: told.connections.map(connectionDocument),
    notify: told.targets,
    advice: toDo,
  });
}

async function printText(
  { context }: Call,
  settings: Settings,
  {
    reports,
    targets,
    connections,
  }: {
    readonly reports: readonly AccountStatus[];
    readonly targets: readonly TargetStatus[];
    readonly connections: readonly ConnectionFacts[];
  },
  toDo: readonly string[],
): Promise<void> {
  const now = context.clock.now();
  const { maxStaleness } = settings.admin;
  const unknown = accountsOf(settings).filter(
    (id) => !settings.paused.has(id) && reports.every(({ account }) => account !== id),
  );
  const verdict = verdictOf(reports, { now, maxStaleness, toDo, unknown });
  const advised = toDo.map((line) => paragraph(context, '  ', line));
  const head = [
    styled(context, verdict, await paragraph(context, '', verdict.words)),
    ...(await Promise.all(advised)),
    await paragraph(context, '', daemonText(settings.database, now)),
  ];
  const told = await Promise.all(reports.map((report) => reportText(context, report)));
  print(
    context,
    [
      head.join('\n'),
      ...told,
      ...(await connectionsText(context, connections)),
      ...(await targetsText(context, targets)),
      settings.database,
    ].join('\n\n'),
  );
}

function daemonText(database: string, now: number): string {
  const since = daemonSince(database);
  return since === undefined
    ? 'No daemon runs: the mirror is as fresh as the last sync made it.'
    : `A daemon has been running since ${timestamp(since).slice(0, 19)} UTC (${agoInWords(now - since)}).`;
}
