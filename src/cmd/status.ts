/** `status`: what the mirror holds, how fresh it is, and what went on lately. */
import { tally } from '../admin/tally.ts';
import type { Settings } from '../config.ts';
import { exitStatus } from '../errors.ts';
import { accountStatuses, type AccountStatus } from './account-status.ts';
import { advice } from './advice.ts';
import type { Call, Run } from './command.ts';
import { askMirror } from './mirror.ts';
import { print, printJson } from './say.ts';
import { loadSettings } from './settings.ts';
import { reportText } from './status-text.ts';

/** How many runs of an account are shown. */
const latestRuns = 5;

export const status: Run = async (call) => {
  const settings = loadSettings(call);
  const reports = await askMirror(call.edge, settings, (sqlite) =>
    accountStatuses(sqlite, call.options.account, latestRuns),
  );
  const toDo = adviceFor(settings, reports ?? [], call.edge.clock.now());
  if (call.options.json) printDocument(call, settings, reports ?? [], toDo);
  else if (reports) await printText(call, settings, reports, toDo);
  return exitStatus.done;
};

/** What to do about each account of the settings, those that the mirror has never heard of included. */
function adviceFor(settings: Settings, reports: readonly AccountStatus[], now: number): string[] {
  return settings.accounts.flatMap((account) => {
    const report = reports.find((candidate) => candidate.account === account);
    return advice(account, report, now, settings.admin.maxStaleness);
  });
}

function printDocument(
  { edge }: Call,
  settings: Settings,
  reports: readonly AccountStatus[],
  toDo: readonly string[],
): void {
  const accounts = reports.map(({ counts, totals, callbacks, queue, hearing, parkedFor, ...report }) => ({
    ...report,
    queue: { ...queue, oldest: hearing.oldestMark, parked_for: parkedFor },
    last_delivery: hearing.lastDelivery,
    webhook_health: hearing.days,
    vendors: tally(counts),
    owed: totals.map(({ minor, ...total }) => ({ ...total, minor: String(minor) })),
    callbacks: callbacks.map((callback) => ({ ...callback, verified: callback.verified === 1 })),
  }));
  printJson(edge, { ok: true, database: settings.database, accounts, advice: toDo });
}

async function printText(
  { edge }: Call,
  settings: Settings,
  reports: readonly AccountStatus[],
  toDo: readonly string[],
): Promise<void> {
  const advised = toDo.length === 0 ? [] : [['What to do', ...toDo.map((line) => `  ${line}`)].join('\n')];
  const told = await Promise.all(reports.map((report) => reportText(edge, report)));
  print(edge, [settings.database, ...told, ...advised].join('\n\n'));
}
