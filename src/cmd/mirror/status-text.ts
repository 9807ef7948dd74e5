/** An account's report, for a person's eye. */
import type {
  CurrencyTotal,
  ReportedCallback,
  ReportedRefusal,
  ReportedRun,
  RequestFailureReport,
} from '../../store/reports/account-reports.ts';
import { age, took } from '../../domain/age.ts';
import type { AccountFacts } from '../../health/judge.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { heading } from '../terminal/heading.ts';
import { facts } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';
import { owedTable } from './owed-table.ts';
import { table } from '../terminal/table.ts';
import { vendorCounts, type VendorCounts } from '../../health/status-document.ts';

/** Says how long ago a moment was. */
type Ago = (moment: string | null) => string;

/** How many runs of an account are listed. */
const latestRuns = 5;

export async function reportText(
  context: ProcessContext,
  report: AccountFacts,
  totals: readonly CurrencyTotal[],
): Promise<string> {
  const { account, runs: all } = report;
  const ago: Ago = (moment) => age(context.clock, moment);
  const title = heading(context, `Account ${account}`);
  const entries = factsOf(report, ago).map(([name, text]) => [name, visible(text)] as const);
  const runs = all.length === 0 ? [] : ['', await runTable(context, all.slice(0, latestRuns))];
  return [title, await owedTable(context, totals), '', await facts(context, entries), ...runs].join('\n');
}

function factsOf(status: AccountFacts, ago: Ago): [string, string][] {
  const { counts, freshness, findings, callbacks, refusals, failing } = status;
  const met = findings.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return [
    ['vendors', vendorsText(vendorCounts(counts))],
    ['freshness', freshnessText(freshness, ago)],
    ...(failing === null ? [] : [['requests', failingText(failing, ago)] satisfies [string, string]]),
    ['queue', queueText(status, ago)],
    ['deliveries', deliveriesText(status, ago)],
    ['findings', met === '' ? 'none in the last run' : `${met} in the last run`],
    [
      'callbacks',
      [
        ...callbacks.map((callback) => callbackText(callback, ago)),
        ...refusals.map((refusal) => refusalText(refusal, ago)),
      ].join('; ') || 'none',
    ],
  ];
}

function vendorsText({ active, archived, deleted, unknown, suspect, missing, gone }: VendorCounts): string {
  const usual = `${active} active, ${archived} archived, ${deleted} deleted`;
  const others = Object.entries({ unknown, suspect, missing, gone }).filter(([, count]) => count > 0);
  return [usual, ...others.map(([name, count]) => `${count} ${name}`)].join(', ');
}

function freshnessText({ safe_as_of, last_complete_sweep }: AccountFacts['freshness'], ago: Ago): string {
  if (last_complete_sweep === null) return 'unknown: no complete sweep yet';
  if (safe_as_of === null) return 'unknown until the next complete sweep: the clock was set back';
  const held = `holds everything up to ${safe_as_of.slice(0, 19)} UTC (${ago(safe_as_of)})`;
  return `${held}; last complete sweep ${ago(last_complete_sweep)}`;
}

function failingText({ requests, first_at, last_at, message }: RequestFailureReport, ago: Ago): string {
  const which =
    requests === 1 ? `the last one failed ${ago(last_at)}` : `the last ${requests} failed, since ${ago(first_at)}`;
  return `${which}: ${message}`;
}

function queueText({ queue, oldestMark, parkedFor }: AccountFacts, ago: Ago): string {
  if (queue.waiting + queue.parked === 0) return 'empty';
  const why = parkedFor.map(({ error, vendors }) => `${vendors} for: ${error ?? 'no cause was recorded'}`).join('; ');
  const parked = queue.parked === 0 ? 'none parked' : `${queue.parked} parked (${why})`;
  return `${queue.waiting} waiting, ${parked}; the oldest since ${ago(oldestMark)}`;
}

function deliveriesText({ freshness, lastDelivery, missedSince, sweepRequest }: AccountFacts, ago: Ago): string {
  const { oldest_unsettled_delivery: open } = freshness;
  const found = missedSince === 1 ? '1 change' : `${missedSince} changes`;
  const missed = missedSince === 0 ? '' : `; since then sweeps found ${found} that none announced`;
  if (lastDelivery === null) return `none ever arrived${missed.replace('since then ', '')}`;
  const unsettled = open === null ? 'none unsettled' : `the oldest unsettled one arrived ${ago(open)}`;
  const requested = sweepRequest.asked_at === null ? '' : `; a sweep was requested ${ago(sweepRequest.asked_at)}`;
  const ids = sweepRequest.callback_ids;
  const named =
    ids === 0
      ? ''
      : `; the object_id of ${ids} was the id of one of our callbacks, the last ${ago(sweepRequest.callback_id_at)}: each requests a sweep`;
  return `the last arrived ${ago(lastDelivery)}${missed}; ${unsettled}${requested}${named}`;
}

function callbackText({ event, uri, verified, checked_at }: ReportedCallback, ago: Ago): string {
  return `${event} to ${uri}, ${verified === 1 ? 'verified' : 'not verified'}, checked ${ago(checked_at)}`;
}

function refusalText({ event, refused_at, message }: ReportedRefusal, ago: Ago): string {
  return `${event} could not be registered, since ${ago(refused_at)}: ${message}`;
}

function runTable(context: ProcessContext, runs: readonly ReportedRun[]): Promise<string> {
  return table(
    context,
    [
      { title: 'run', right: true, dropOrder: 3, cell: ({ id }) => id },
      { title: 'kind', cell: ({ kind }) => kind },
      { title: 'by', dropOrder: 2, cell: ({ trigger }) => trigger },
      { title: 'outcome', cell: ({ outcome }) => outcome },
      { title: 'begun', cell: ({ started_at }) => age(context.clock, started_at) },
      {
        title: 'took',
        right: true,
        dropOrder: 6,
        cell: ({ started_at, finished_at }) => took(context.clock, started_at, finished_at),
      },
      { title: 'seen', right: true, dropOrder: 7, cell: ({ seen }) => seen },
      { title: 'created', right: true, dropOrder: 5, cell: ({ created }) => created },
      { title: 'updated', right: true, dropOrder: 5, cell: ({ updated }) => updated },
      { title: 'suspects', right: true, dropOrder: 4, cell: ({ suspects }) => suspects },
      { title: 'error', dropOrder: 1, cell: ({ error }) => error },
    ],
    runs,
  );
}
