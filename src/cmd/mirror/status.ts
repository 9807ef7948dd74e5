/** `status`: what the mirror holds, how fresh it is, and what went on lately. */
import { advice } from '../../admin/health/advice.ts';
import { vendorCounts } from '../../admin/health/vendor-counts.ts';
import type { Settings } from '../../settings/parse.ts';
import { exitStatus } from '../../domain/errors.ts';
import { webhookDays, type WebhookDays } from '../../store/reports/webhook-days.ts';
import { accountStatuses, type AccountStatus } from './account-status.ts';
import type { Call, Run } from '../process/command.ts';
import { settingsFileOf } from '../../store/files/own-files.ts';
import { leftBehind } from '../../store/reports/known-accounts.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { withSettings } from '../process/settings-option.ts';
import { print, printJson } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { silence } from './silence.ts';
import { reportText } from './status-text.ts';

/** How many runs of an account are shown. */
const latestRuns = 5;

export const status: Run = async (call) => {
  const settings = loadSettings(call);
  const now = call.context.clock.now();
  const { account, json } = call.options;
  const told = await queryMirror(call.context, settings, (sqlite) => {
    const days = webhookDays(sqlite);
    const left = leftBehind(sqlite, { accounts: settings.namedAccounts, settingsFile: settingsFileOf(settings) });
    return accountStatuses(sqlite, account, latestRuns).map((report) => ({
      report,
      isLeft: left.has(report.account),
      days: json ? days(report.account, now) : [],
    }));
  });
  const reports = (told ?? []).map(({ report }) => report);
  const left = (told ?? []).flatMap(({ report, isLeft }) => (isLeft ? [adviceOfLeft(report)] : []));
  const toDo = [...adviceFor(settings, reports, now), ...left].map((line) => withSettings(call.context, line));
  if (json) printDocument(call, settings, told ?? [], toDo);
  else if (told) await printText(call, settings, reports, toDo);
  return exitStatus.done;
};

/** What to do about each account of the settings, those that the mirror has never heard of included. */
function adviceFor(settings: Settings, reports: readonly AccountStatus[], now: number): string[] {
  const named = new Set(settings.namedAccounts);
  return settings.accounts
    .filter((account) => named.has(account))
    .flatMap((account) => {
      const report = reports.find((candidate) => candidate.account === account);
      const toDo = advice(account, report, now, settings.admin.maxStaleness);
      const silent = report && silence(report, now);
      return silent === undefined ? toDo : [...toDo, silent];
    });
}

/** What is said of an account that the mirror holds and no settings name any more. */
function adviceOfLeft({ account, callbacks }: AccountStatus): string {
  const [callback] = callbacks;
  const what = `${account} is not in the settings any more: nothing keeps it fresh`;
  return callback
    ? `${what}, and its callback is still registered: run \`vendor-mirror callbacks delete ${callback.callbackid} --account ${account}\`.`
    : `${what}.`;
}

function printDocument(
  { context }: Call,
  settings: Settings,
  told: readonly { readonly report: AccountStatus; readonly days: WebhookDays }[],
  toDo: readonly string[],
): void {
  const accounts = told.map(
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
  printJson(context, { ok: true, database: settings.database, accounts, advice: toDo });
}

async function printText(
  { context }: Call,
  settings: Settings,
  reports: readonly AccountStatus[],
  toDo: readonly string[],
): Promise<void> {
  const advised = toDo.length === 0 ? [] : [['What to do', ...toDo.map((line) => `  ${line}`)].join('\n')];
  const told = await Promise.all(reports.map((report) => reportText(context, report)));
  print(context, [settings.database, ...told, ...advised].join('\n\n'));
}
