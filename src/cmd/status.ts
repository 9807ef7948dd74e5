/** `status`: what the mirror holds, how fresh it is, and what went on lately; for a program, or for a person's eye. */
import { inOrder } from '../domain/concurrency.ts';
import { owedText, type OwedAmount } from '../domain/amounts.ts';
import { age, timestamp, took } from '../domain/clock.ts';
import { withOptionInJson } from '../domain/commands.ts';
import { agoInWords, inWords } from '../domain/duration.ts';
import { exitStatus, withFullStop } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { jsonText } from '../domain/steering.ts';
import { insteadOf } from '../domain/optional-requests.ts';
import { advice, byTrouble, causeTexts, manyAccounts, stateOf } from '../health/causes.ts';
import {
  judge,
  lacksDetails,
  type AccountFacts,
  type AccountHealth,
  type ConnectionFacts,
  type Health,
  type HealthFacts,
  type PublicationStatus,
  type TargetStatus,
} from '../health/judge.ts';
import { daemonWords } from '../health/daemons.ts';
import { refusalWords } from '../health/callbacks.ts';
import { learnedText, statusDocument, vendorCounts, type VendorCounts } from '../health/status-document.ts';
import type { ReportedCallback, ReportedRefusal, RequestFailureReport } from '../store/account-reports.ts';
import { accountIds } from '../store/reports/known-accounts.ts';
import {
  owedByAccount,
  owedElsewhere,
  owedInAll,
  owedReport,
  type CurrencyOwed,
  type OwedReport,
} from '../store/reports/owed.ts';
import type { ReportedRun } from '../store/runs.ts';
import type { Snapshot } from '../store/sql/statement.ts';
import { lockHolder, lockRemedy } from '../store/sqlite/lock-holder.ts';
import { loadSettings } from './load-settings.ts';
import { mirrorFacts } from './mirror-facts.ts';
import { noticeNothingMirrored, openMirror } from './open-mirror.ts';
import { withSettings, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printNotice } from './terminal/print.ts';
import { table } from './terminal/table.ts';
import { facts as factLines, heading, paragraph, visible } from './terminal/text.ts';
import { verdictLine } from './terminal/verdict-line.ts';

/** What is owed: in each account of the mirror, or in all where they are many. */
interface Totals {
  readonly ofEach: ReadonlyMap<string, OwedReport>;
  readonly ofAll: readonly CurrencyOwed[];
}

export const status: CommandHandler<{ readonly all?: boolean }> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const mirror = await openMirror(context, settings);
  if (!mirror) noticeNothingMirrored(context);
  try {
    const now = context.clock.now();
    const health = judge(await mirrorFacts(context, settings, mirror, options.account), now);
    if (options.json)
      print(
        context,
        withOptionInJson(
          context.settingsOption ?? '',
          jsonText({ ...statusDocument(health), ...context.inEveryDocument }),
        ),
      );
    else if (mirror)
      await printText(
        context,
        health,
        await mirror.query((snapshot) => totalsOf(snapshot, health)),
        options.all === true,
      );
    // Beside a daemon, it is one of its problems.
    const isTold = health.facts.ability.trouble?.code === 'database_locked';
    const holder = mirror && !settings.postgres && !isTold ? lockHolder(settings.database) : undefined;
    if (holder && !holder.isOurs && !options.json)
      printNotice(
        context,
        `${holder.who} is writing to the mirror: until it ends, nothing else can. ${lockRemedy(holder)}`,
      );
  } finally {
    await mirror?.close();
  }
  return exitStatus.done;
};

async function totalsOf(snapshot: Snapshot, { accounts }: Health): Promise<Totals> {
  if (accounts.length > manyAccounts) return { ofEach: new Map(), ofAll: owedInAll(await owedByAccount(snapshot)()) };
  const known = new Set(await accountIds(snapshot));
  const totals = owedReport(snapshot);
  const shown = accounts.map(({ facts: { account } }) => account).filter((account) => known.has(account));
  const ofEach = new Map(await inOrder(shown, async (account) => [account, await totals(account)] as const));
  return { ofEach, ofAll: [] };
}

/** @param totals of the accounts that the mirror knows */
export async function printText(context: ProcessContext, health: Health, totals: Totals, isAll = false): Promise<void> {
  const { facts, accounts, now } = health;
  const problems = causeTexts(health).map((line) => paragraph(context, '  ', said(context, line)));
  const head = [
    await verdictLine(context, health, (moment) => moment.slice(0, 19), `; ${further(advice(health))}`),
    ...(await Promise.all(problems)),
    await paragraph(context, '', daemonText(facts, now)),
  ];
  const reports =
    accounts.length > manyAccounts
      ? [sumsText(context, health, totals.ofAll, isAll)]
      : accounts.flatMap(({ facts: report }) => {
          const owed = totals.ofEach.get(report.account);
          return owed ? [reportText(context, report, owed)] : [];
        });
  print(
    context,
    [
      head.join('\n'),
      ...(await Promise.all(reports)),
      ...(isAll ? [await accountTable(context, health)] : []),
      ...(await connectionsText(context, facts.connections)),
      ...(await sectionText(
        context,
        'Outgoing webhooks',
        facts.targets.map((target) => [target.target, targetLine(context, target)]),
      )),
      ...(await sectionText(
        context,
        'Copies for readers',
        facts.publications.map((publication) => [publication.path, publicationLine(context, publication)]),
      )),
      facts.database,
    ].join('\n\n'),
  );
}

function further(toDo: readonly string[]): string {
  if (toDo.length === 0) return 'nothing to do';
  return toDo.length === 1 ? 'one thing to do' : `${toDo.length} things to do`;
}

function daemonText({ startedAt, serving }: HealthFacts, now: number): string {
  const [one, ...others] = serving ?? [];
  if (one && (others.length > 0 || !one.works || !one.listens))
    return withFullStop(`Daemons: ${[one, ...others].map(daemonWords).join('; ')}`);
  return startedAt === null
    ? 'No daemon runs: the mirror is as fresh as the last sync made it.'
    : `A daemon has been running since ${timestamp(startedAt).slice(0, 19)} UTC (${agoInWords(now - startedAt)}).`;
}

/** As it is printed: what others sent is made visible, and commands meet the same mirror. */
function said(context: ProcessContext, text: string): string {
  return visible(withSettings(context, text));
}

/** All accounts together, where there are too many to show each. */
async function sumsText(
  context: ProcessContext,
  { accounts }: Health,
  owed: readonly CurrencyOwed[],
  isAll: boolean,
): Promise<string> {
  const ago: Ago = (moment) => age(context.clock, moment);
  const served = accounts.filter(({ isServed }) => isServed);
  const counts = vendorCounts(accounts.flatMap(({ facts }) => facts.counts));
  const sum = (of: (facts: AccountFacts) => number): number =>
    accounts.reduce((total, { facts }) => total + of(facts), 0);
  const last = accounts
    .flatMap(({ facts }) => facts.lastDelivery ?? [])
    .sort()
    .at(-1);
  const [waiting, parked] = [sum(({ queue }) => queue.waiting), sum(({ queue }) => queue.parked)];
  const callbacks = sum((facts) => facts.callbacks.length);
  const verified = sum((facts) => facts.callbacks.filter((callback) => callback.verified === 1).length);
  const entries: [string, string][] = [
    ['vendors', vendorsText(counts)],
    ['freshness', leastFreshText(served, ago)],
    ['queue', waiting + parked === 0 ? 'empty' : `${grouped(waiting)} waiting, ${grouped(parked)} parked`],
    ['deliveries', last === undefined ? 'none ever arrived' : `the last arrived ${ago(last)}`],
    ['callbacks', callbacks === 0 ? 'none' : `${grouped(callbacks)}, of which ${grouped(verified)} are verified`],
    ...(served.length === accounts.length
      ? []
      : [['not served', counted(accounts.length - served.length, 'account')] satisfies [string, string]]),
  ];
  const lists = isAll ? '' : '`vendor-mirror status --all` lists them, ';
  const more = `${lists}\`vendor-mirror status --account ID\` shows one of them.`;
  return [
    heading(context, counted(accounts.length, 'account')),
    ...(owed.length === 0 ? [] : [await sumsTable(context, owed), '']),
    await factLines(context, entries),
    '',
    await paragraph(context, '', withSettings(context, more)),
  ].join('\n');
}

const grouped = (count: number): string => count.toLocaleString('en');

function sumsTable(context: ProcessContext, owed: readonly CurrencyOwed[]): Promise<string> {
  return table(
    context,
    [
      { title: 'currency', dropOrder: 1, cell: ({ code }) => code },
      { title: 'outstanding', right: true, cell: ({ code, outstanding }) => text(outstanding, code) },
      { title: 'overdue', right: true, cell: ({ code, overdue }) => text(overdue, code) },
    ],
    owed,
  );
}

/** A line for each account, those in most need of a person first. */
function accountTable(context: ProcessContext, { accounts }: Health): Promise<string> {
  return table(
    context,
    [
      { title: 'account', cell: ({ facts }) => facts.account },
      { title: 'state', cell: (account) => withSettings(context, stateOf(account).words) },
      { title: 'active vendors', right: true, dropOrder: 1, cell: ({ facts }) => vendorCounts(facts.counts).active },
      { title: 'as of', dropOrder: 2, cell: ({ asOf }) => (asOf === null ? null : age(context.clock, asOf)) },
    ],
    byTrouble(accounts),
  );
}

function leastFreshText(served: readonly AccountHealth[], ago: Ago): string {
  const known = served.flatMap(({ facts: { account, freshness } }) =>
    freshness.safe_as_of === null ? [] : [{ account, moment: freshness.safe_as_of }],
  );
  const [oldest] = known.sort((a, b) => (a.moment < b.moment ? -1 : 1));
  const unknown = served.length - known.length;
  if (!oldest) return 'unknown';
  const which = unknown === 0 ? 'every account' : `${known.length.toLocaleString('en')} accounts`;
  const others = unknown === 0 ? '' : `; of ${counted(unknown, 'account')} that is unknown`;
  return `${which} up to ${oldest.moment.slice(0, 19)} UTC (${ago(oldest.moment)}, ${oldest.account}) or later${others}`;
}

/** Says how long ago a moment was. */
type Ago = (moment: string | null) => string;

/** How many runs of an account are listed. */
const latestRuns = 5;

async function reportText(context: ProcessContext, report: AccountFacts, owed: OwedReport): Promise<string> {
  const { account, runs: all } = report;
  const ago: Ago = (moment) => age(context.clock, moment);
  const title = heading(context, `Account ${account}`);
  const entries = factsOf(report, ago).map(([name, text]) => [name, said(context, text)] as const);
  const runs = all.length === 0 ? [] : ['', await runTable(context, all.slice(0, latestRuns))];
  return [title, await owedLines(context, report, owed), '', await factLines(context, entries), ...runs].join('\n');
}

function factsOf(status: AccountFacts, ago: Ago): [string, string][] {
  const { counts, freshness, findings, callbacks, refusals, failing, learnedFields, notHonoured } = status;
  const met = findings.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return [
    ['vendors', vendorsText(vendorCounts(counts))],
    ['freshness', freshnessText(freshness, ago)],
    ...(learnedFields.length === 0 ? [] : [['fields', learnedText(learnedFields)] satisfies [string, string]]),
    ...(notHonoured.length === 0
      ? []
      : [['not honoured', notHonouredText(notHonoured, ago)] satisfies [string, string]]),
    ...(failing === null ? [] : [['requests', failingText(failing, ago)] satisfies [string, string]]),
    ['queue', queueText(status, ago)],
    ...acceptedText(status),
    ...(freshness.undecided === 0 ? [] : [['undecided', undecidedText(status, ago)] satisfies [string, string]]),
    ['deliveries', deliveriesText(status, ago)],
    ...refusedText(status, ago),
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
  const others = Object.entries({ unknown, suspect, missing, gone }).filter(([, count]) => count > 0);
  return [...Object.entries({ active, archived, deleted }), ...others]
    .map(([name, count]) => `${grouped(count)} ${name}`)
    .join(', ');
}

function freshnessText(freshness: AccountFacts['freshness'], ago: Ago): string {
  const { safe_as_of, listed_as_of, last_complete_sweep, details_as_of } = freshness;
  if (last_complete_sweep === null) return 'unknown: no complete sweep yet';
  if (safe_as_of === null && listed_as_of !== null)
    return 'unknown while some vendors, or the list of archived or deleted ones, could not be read';
  if (safe_as_of === null) return 'unknown until the next complete sweep: the clock was set back';
  const held = `holds everything up to ${safe_as_of.slice(0, 19)} UTC (${ago(safe_as_of)})`;
  const details =
    details_as_of === null
      ? ''
      : lacksDetails(freshness)
        ? '; fields that lists leave out: not read of all vendors yet, each run reads more'
        : `; fields that lists leave out: up to ${details_as_of.slice(0, 19)} UTC`;
  return `${held}; last complete sweep ${ago(last_complete_sweep)}${details}`;
}

function failingText({ requests, first_at, last_at, message }: RequestFailureReport, ago: Ago): string {
  const which =
    requests === 1 ? `the last one failed ${ago(last_at)}` : `the last ${requests} failed, since ${ago(first_at)}`;
  return `${which}: ${message}`;
}

function acceptedText({ acceptedUnreadable: accepted }: AccountFacts): [string, string][] {
  if (accepted === 0) return [];
  const vendors = counted(accepted, 'vendor');
  return [['accepted', `${vendors} that the service counts and does not show`]];
}

function notHonouredText(declined: AccountFacts['notHonoured'], ago: Ago): string {
  return declined.map(({ request, since }) => `${request} since ${ago(since)}, so ${insteadOf[request]}`).join('; ');
}

function queueText({ queue, oldestMark, parkedFor }: AccountFacts, ago: Ago): string {
  if (queue.waiting + queue.parked === 0) return 'empty';
  const why = parkedFor.map(({ error, vendors }) => `${vendors} for: ${error ?? 'no cause was recorded'}`).join('; ');
  const parked = queue.parked === 0 ? 'none parked' : `${queue.parked} parked (${why})`;
  return `${grouped(queue.waiting)} waiting, ${parked}; the oldest since ${ago(oldestMark)}`;
}

function undecidedText({ freshness, undecided }: AccountFacts, ago: Ago): string {
  const vendors = undecided.map(({ vendorid, since, error }) => `${vendorid} since ${ago(since)}: ${error}`);
  const others = freshness.undecided - undecided.length;
  return [...vendors, ...(others > 0 ? [`${others} more`] : [])].join('; ');
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

function refusedText({ refused }: AccountFacts, ago: Ago): [string, string][] {
  if (refused.length === 0) return [];
  const texts = refused.map(({ outcome, refused: count, first_at, last_at, detail }) => {
    const when = count === 1 ? ago(last_at) : `the first ${ago(first_at)}, the last ${ago(last_at)}`;
    return `${counted(count, 'request')} ${refusalWords(outcome, detail)}, ${when}`;
  });
  return [['refused', texts.join('; ')]];
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
        cell: ({ started_at, finished_at, outcome }) =>
          finished_at === null && outcome !== 'running' ? null : took(context.clock, started_at, finished_at),
      },
      { title: 'seen', right: true, dropOrder: 7, cell: ({ seen }) => seen },
      { title: 'created', right: true, dropOrder: 5, cell: ({ created }) => created },
      { title: 'updated', right: true, dropOrder: 5, cell: ({ updated }) => updated },
      { title: 'suspects', right: true, dropOrder: 4, cell: ({ suspects }) => suspects },
      { title: 'error', dropOrder: 1, cell: ({ error }) => error && withSettings(context, error) },
    ],
    runs,
  );
}

/** What is owed to the active vendors of an account, one row for each currency, and to others in words. */
async function owedLines(context: ProcessContext, { freshness }: AccountFacts, owed: OwedReport): Promise<string> {
  const isWhole = freshness.last_complete_sweep !== null;
  const rows = owed.rows.filter(({ state }) => state === 'active');
  const unreadable = owed.rows.reduce((sum, row) => sum + row.unreadable, 0);
  const isKnown = isWhole && unreadable + owed.unknown === 0;
  const drawn =
    rows.length === 0
      ? isKnown
        ? 'Nothing is owed to active vendors.'
        : 'What is owed to active vendors is not known.'
      : await table(
          context,
          [
            { title: isWhole ? 'currency' : 'so far', dropOrder: 2, cell: ({ currency }) => currency },
            { title: 'vendors', right: true, dropOrder: 1, cell: ({ vendors }) => vendors },
            { title: 'outstanding', right: true, cell: ({ currency, outstanding }) => text(outstanding, currency) },
            { title: 'overdue', right: true, cell: ({ currency, overdue }) => text(overdue, currency) },
          ],
          rows,
        );
  const others = owedElsewhere(owed);
  return [
    drawn,
    ...(others.length === 0 ? [] : [await paragraph(context, '', `Also owed: ${others.join('; ')}.`)]),
    ...(unreadable === 0
      ? []
      : [`${counted(unreadable, 'amount')} that cannot be read ${unreadable === 1 ? 'is' : 'are'} left out.`]),
    ...(owed.unknown === 0
      ? []
      : [`The balances of ${counted(owed.unknown, 'vendor')} cannot be read whole; what cannot be read is left out.`]),
  ].join('\n');
}

const text = (amount: OwedAmount, currency: string): string => `${owedText(amount, currency)} ${currency}`;

/** A section; nothing where there is but one connection, of which its accounts say it all. */
async function connectionsText(context: ProcessContext, connections: readonly ConnectionFacts[]): Promise<string[]> {
  if (connections.length < 2) return [];
  const entries = connections.map(({ connection, accounts, failing }): [string, string] => {
    const whose = accounts === 1 ? '1 account' : `${accounts} accounts`;
    const state = failing
      ? `no access for ${took(context.clock, failing.first_at, null)}: ${said(context, failing.message)}`
      : 'no request was refused';
    return [connection, `${whose}; ${state}`];
  });
  return [[heading(context, 'Connections'), await factLines(context, entries)].join('\n')];
}

/** A section of a paragraph for each of them; nothing where there are none. */
async function sectionText(
  context: ProcessContext,
  title: string,
  entries: readonly (readonly [name: string, text: string])[],
): Promise<string[]> {
  if (entries.length === 0) return [];
  const lines = entries.map(([name, text]) => paragraph(context, `  ${visible(name)}  `, said(context, text)));
  return [[heading(context, title), ...(await Promise.all(lines))].join('\n')];
}

function publicationLine({ clock }: ProcessContext, publication: PublicationStatus): string {
  const { state, when, written_at, failing_since, failed_at, failures, error, behind_since } = publication;
  const failed =
    failing_since === null
      ? failed_at === null
        ? []
        : [`last failed ${age(clock, failed_at)}`]
      : [`failed ${counted(failures, 'time')} since ${age(clock, failing_since)}: ${error ?? ''}`];
  const behind = behind_since === null ? [] : [`lacks changes since ${age(clock, behind_since)}`];
  const rule = when === 'change' ? 'after changes' : `at ${when}`;
  return [state, `written ${rule}, last ${age(clock, written_at)}`, ...behind, ...failed].join('; ');
}

function targetLine({ clock }: ProcessContext, target: TargetStatus): string {
  const { state, waiting, parked, delivered_at, failing_since, last_error, lag_seconds } = target;
  const waits = waiting === 0 ? 'nothing waits' : `the oldest change has waited ${inWords(lag_seconds * 1_000)}`;
  const given = parked === 0 ? [] : [`${counted(parked, 'vendor')} given up`];
  const why = failing_since === null ? [] : [`failing since ${age(clock, failing_since)}: ${last_error ?? ''}`];
  return [state, waits, ...given, `last accepted ${age(clock, delivered_at)}`, ...why].join('; ');
}
