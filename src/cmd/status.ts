/** `status`: what the mirror holds, how fresh it is, and what went on lately. */
import { timestamp } from '../domain/clock.ts';
import { agoInWords } from '../domain/duration.ts';
import { exitStatus } from '../domain/errors.ts';
import { advice, judge, problemsOf, type Health, type HealthFacts } from '../health/judge.ts';
import { statusDocument } from '../health/status-document.ts';
import { currencyTotals, type CurrencyTotal } from '../store/reports/account-reports.ts';
import { accountIds } from '../store/reports/known-accounts.ts';
import type { Snapshot } from '../store/sqlite/plain-statement.ts';
import { loadSettings } from './load-settings.ts';
import { mirrorFacts } from './mirror-facts.ts';
import { noticeNothingMirrored, openMirror } from './open-mirror.ts';
import { withSettings, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { connectionsText, reportText, targetsText } from './status-text.ts';
import { print, printJson } from './terminal/print.ts';
import { paragraph } from './terminal/text.ts';
import { verdictLine } from './terminal/verdict-line.ts';

/** What the accounts of the mirror owe. */
type Totals = ReadonlyMap<string, readonly CurrencyTotal[]>;

export const status: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const mirror = openMirror(context, settings);
  if (!mirror) noticeNothingMirrored(context);
  try {
    const now = context.clock.now();
    const health = judge(await mirrorFacts(context, settings, mirror, options.account), now);
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
