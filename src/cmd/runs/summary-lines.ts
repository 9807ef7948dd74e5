/** The lines of the live summary: the verdict, a row for each account, what the log said last, and where to look. */
import { sentenceOf, type AccountHealth, type Health } from '../../health/judge.ts';
import { vendorCounts } from '../../health/status-document.ts';
import { age } from '../../domain/age.ts';
import { agoInWords } from '../../domain/duration.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { counted } from '../terminal/counted.ts';
import { facts, paragraph } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';
import { table } from '../terminal/table.ts';
import { verdictLine } from '../terminal/verdict-line.ts';

export interface SummaryPlace {
  /** The address of the operator's page. */
  readonly dashboard: string;
}

export interface SummaryOptions extends SummaryPlace {
  /** What the log said last, oldest first: a line each, without a line break. */
  readonly entries: readonly string[];
  /** How many lines have room. */
  readonly room: number;
}

type Terminal = Pick<ProcessContext, 'stdout' | 'env'>;

/** Lines that stand around the accounts: the title of the table, and empty ones. */
const frame = 4;

export async function summaryLines(context: Terminal, health: Health, options: SummaryOptions): Promise<string[]> {
  const accounts = health.bySeverity;
  const head = await verdict(context, health);
  const foot = (await facts(context, footer(health, options))).split('\n');
  const entries = await Promise.all(options.entries.map((entry) => firstLine(context, entry)));
  const room = Math.max(1, options.room - frame - head.length - foot.length - entries.length);
  const listed = accounts.slice(0, accounts.length > room ? Math.max(1, room - 1) : room);
  const left = accounts.length - listed.length;
  const rows = listed.length === 0 ? [] : (await accountTable(context, health, listed)).split('\n');
  return [
    ...head,
    '',
    ...rows,
    ...(left === 0 ? [] : [`and ${counted(left, 'account')} more`]),
    '',
    ...entries,
    ...(entries.length === 0 ? [] : ['']),
    ...foot,
  ];
}

/** How fresh the mirror is, as the last line after a stop. */
export function asOfText(health: Health | undefined): string {
  const served = (health?.accounts ?? []).filter(({ isServed }) => isServed);
  const moments = served.map(({ facts: { freshness } }) => freshness.safe_as_of);
  const [first] = [...moments].sort();
  if (first === undefined || moments.includes(null)) return 'The mirror keeps what was read.';
  return `The mirror holds every change up to ${first?.slice(0, 19)} UTC.`;
}

async function verdict(context: Terminal, health: Health): Promise<string[]> {
  const { process, installation, bySeverity } = health;
  const line = await verdictLine(context, health, (moment) => moment.slice(11, 19));
  const details = [...process, ...(bySeverity[0]?.problems ?? []), ...installation].map(sentenceOf);
  const more = await Promise.all(details.map((detail) => paragraph(context, '  ', visible(detail))));
  return [...line.split('\n'), ...more.flatMap((one) => one.split('\n'))];
}

function accountTable(context: Terminal, { now }: Health, accounts: readonly AccountHealth[]): Promise<string> {
  const ago = (moment: string | null): string => age({ now: () => now }, moment);
  return table<AccountHealth>(
    context,
    [
      { title: 'account', cell: ({ facts: { account } }) => account },
      {
        title: 'active',
        right: true,
        dropOrder: 3,
        cell: (one) => vendorCounts(one.facts.counts).active.toLocaleString('en'),
      },
      { title: 'as of', dropOrder: 4, cell: ({ facts: { freshness } }) => ago(freshness.safe_as_of) },
      { title: 'queue', right: true, dropOrder: 2, cell: ({ facts: { queue } }) => queue.waiting.toLocaleString('en') },
      { title: 'last delivery', dropOrder: 1, cell: ({ facts: { lastDelivery } }) => ago(lastDelivery) },
      { title: 'now', cell: doing },
    ],
    accounts,
  );
}

/** What is done for an account now. */
function doing({ isServed, verdict, deliveries, facts: { runs, progress, queue } }: AccountHealth): string {
  if (!isServed) return verdict.words.toLowerCase();
  const run = runs.find(({ outcome }) => outcome === 'running');
  if (run) return `${run.kind}: ${pageText(progress)}`;
  if (queue.waiting > 0) return 'reads changed vendors';
  return deliveries.state === 'off' ? 'waits for the next sweep' : 'listens';
}

function pageText(progress: AccountHealth['facts']['progress']): string {
  if (progress === null) return 'page 1';
  const { page, pages, pass } = progress;
  return `page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}${pass > 1 ? `, walk ${pass}` : ''}`;
}

function footer({ facts: { next, database }, now }: Health, place: SummaryPlace): [string, string][] {
  const sweep = Math.min(next.reconcile ?? Infinity, next.pull ?? Infinity);
  return [
    ...(Number.isFinite(sweep) ? [['next sweep', agoInWords(now - sweep)] satisfies [string, string]] : []),
    ['dashboard', place.dashboard],
    ['mirror', visible(database)],
    ['stop', 'Ctrl-C'],
  ];
}

/** An entry of the log in one line; the log of a service has all of it. */
async function firstLine(context: Terminal, entry: string): Promise<string> {
  const [line = ''] = (await paragraph(context, '', entry.split('\n')[0] ?? '')).split('\n');
  return line;
}
