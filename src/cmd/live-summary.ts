/**
 * The live summary of `serve` in a terminal: the state of each account and the last events, in a few lines that stay in place, with other output
 * above them.
 */
import { age } from '../domain/clock.ts';
import { agoInWords } from '../domain/duration.ts';
import { errorSentence } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { causeTexts, manyAccounts } from '../health/causes.ts';
import { judge, sentenceOf, type AccountHealth, type Health, type HealthSource } from '../health/judge.ts';
import { vendorCounts } from '../health/status-document.ts';
import { withSettings, type CommonOptions } from './process/command.ts';
import { type ProcessContext, type Output, columnsOf, rowsOf } from './process/process-context.ts';
import { table } from './terminal/table.ts';
import { facts, paragraph, visible } from './terminal/text.ts';
import { verdictLine } from './terminal/verdict-line.ts';
import type { ReadableEntry } from './with-installation.ts';
import { stripVTControlCharacters } from 'node:util';

/** From here on (pino's `warn`) an entry of the log is written above the summary, and stays; others are shown until later ones come. */
const keptLevel = 40;
const entriesShown = 5;

/** Milliseconds between two looks, and how many times as long as a look took. */
const [shortest, restFactor] = [1_000, 9];

/** Whether a terminal is watched on which nothing else was asked for. */
export function wantsSummary({ stdout, stderr, env }: ProcessContext, options: CommonOptions): boolean {
  const isTerminal = stdout.isTTY === true && stderr.isTTY === true && env['TERM'] !== 'dumb';
  return isTerminal && options.logLevel === undefined && options.json !== true;
}

export class LiveSummary {
  readonly #context: ProcessContext;
  readonly #block: LiveBlock;
  readonly #entries: string[] = [];
  #cancel = (): void => undefined;
  #state: 'waiting' | 'watching' | 'stopping' | 'over' = 'waiting';
  #last: Health | undefined;

  constructor(context: ProcessContext) {
    this.#context = context;
    this.#block = new LiveBlock(context.stdout);
  }

  /** Takes an entry of the log, and all of it as text with a line break at its end. */
  entry({ level, time, msg, account }: ReadableEntry, text: string): void {
    if (level >= keptLevel) this.#block.above(text);
    else {
      const whose = account !== undefined && (this.#last?.accounts.length ?? 0) > 1 ? `${account}: ` : '';
      this.#entries.push(`${time.slice(11, 19)} ${whose}${msg}`);
      if (this.#entries.length > entriesShown) this.#entries.shift();
    }
  }

  /** Shows what there is to see from now on, until `end`. */
  watch(source: HealthSource, dashboard: string): void {
    this.#state = 'watching';
    void this.#refresh(source, dashboard);
  }

  /** Says that the end has begun. */
  stopping(): void {
    if (this.#state !== 'watching') return;
    this.#state = 'stopping';
    this.#cancel();
    this.#block.show(['Stopping. Press Ctrl-C again to stop at once.']);
  }

  /** Leaves one line, or none where something else says why it ended. */
  end(isGood: boolean): void {
    this.#state = 'over';
    this.#cancel();
    this.#block.clear();
    if (isGood) this.#block.above(`Stopped. ${asOfText(this.#last)}\n`);
  }

  async #refresh(source: HealthSource, dashboard: string): Promise<void> {
    const { clock } = this.#context;
    const begun = clock.monotonic();
    const lines = await this.#lines(source, dashboard).catch((error: unknown) => [
      `The mirror cannot be read now: ${errorSentence(error)}`,
    ]);
    if (this.#state !== 'watching') return;
    this.#block.show(lines);
    const rest = Math.max(shortest, restFactor * (clock.monotonic() - begun));
    this.#cancel = clock.timer(rest, () => void this.#refresh(source, dashboard));
  }

  async #lines(source: HealthSource, dashboard: string): Promise<string[]> {
    this.#last = judge(await source.facts(), this.#context.clock.now());
    return summaryLines(this.#context, this.#last, { dashboard, entries: this.#entries, room: this.#block.room });
  }
}

export interface SummaryOptions {
  readonly dashboard: string;
  /** What the log said last, oldest first: a line each, without a line break. */
  readonly entries: readonly string[];
  readonly room: number;
}

type Terminal = Pick<ProcessContext, 'stdout' | 'env' | 'settingsOption'>;

/** Lines that stand around the accounts: the title of the table, and empty ones. */
const frame = 4;

export async function summaryLines(context: Terminal, health: Health, options: SummaryOptions): Promise<string[]> {
  const accounts = health.bySeverity;
  const head = await verdict(context, health);
  const foot = (await facts(context, footer(health, options.dashboard))).split('\n');
  const entries = await Promise.all(options.entries.map((entry) => firstLine(context, entry)));
  const free = Math.max(1, options.room - frame - head.length - foot.length - entries.length);
  // Of many, those in most need of a person.
  const room = accounts.length > manyAccounts ? Math.min(free, manyAccounts + 1) : free;
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
function asOfText(health: Health | undefined): string {
  const served = (health?.accounts ?? []).filter(({ isServed }) => isServed);
  const moments = served.map(({ facts: { freshness } }) => freshness.safe_as_of);
  const [first] = [...moments].sort();
  if (first === undefined || moments.includes(null)) return 'The mirror keeps what was read.';
  return `The mirror holds every change up to ${first?.slice(0, 19)} UTC.`;
}

async function verdict(context: Terminal, health: Health): Promise<string[]> {
  const { process, installation, accounts, bySeverity } = health;
  const line = await verdictLine(context, health, (moment) => moment.slice(11, 19));
  const details =
    accounts.length > manyAccounts
      ? firstCauses(causeTexts(health))
      : [...process, ...(bySeverity[0]?.problems ?? []), ...installation].map(sentenceOf);
  const more = await Promise.all(
    details.map((detail) => paragraph(context, '  ', visible(withSettings(context, detail)))),
  );
  return [...line.split('\n'), ...more.flatMap((one) => one.split('\n'))];
}

const causesShown = 5;

function firstCauses(texts: readonly string[]): readonly string[] {
  const more = texts.length - causesShown;
  return more <= 0 ? texts : [...texts.slice(0, causesShown), `${more} more: \`vendor-mirror status\` has them.`];
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

function footer({ facts: { next, database }, now }: Health, dashboard: string): [string, string][] {
  const sweep = Math.min(next.reconcile ?? Infinity, next.pull ?? Infinity);
  return [
    ...(Number.isFinite(sweep) ? [['next sweep', agoInWords(now - sweep)] satisfies [string, string]] : []),
    ['dashboard', dashboard],
    ['mirror', visible(database)],
    ['stop', 'Ctrl-C'],
  ];
}

/** An entry of the log in one line; the log of a service has all of it. */
async function firstLine(context: Terminal, entry: string): Promise<string> {
  const [line = ''] = (await paragraph(context, '', entry.split('\n')[0] ?? '')).split('\n');
  return line;
}

/** Where a terminal does not say how high and wide it is. */
const [usualRows, usualColumns] = [24, 80];

const [toEndOfLine, toEndOfScreen] = ['\u001b[K', '\u001b[J'];

export class LiveBlock {
  readonly #stream: Output;
  #drawn: readonly string[] = [];
  #columns = 0;

  constructor(stream: Output) {
    this.#stream = stream;
  }

  /** How many lines have room at once; one is left for the cursor. */
  get room(): number {
    return Math.max(1, rowsOf(this.#stream, usualRows) - 1);
  }

  /** Puts these lines in the place of the last ones; nothing is written where they are the same. None is wider than the terminal. */
  show(lines: readonly string[]): void {
    const shown = lines.slice(0, this.room);
    const isSame = shown.length === this.#drawn.length && shown.every((line, at) => line === this.#drawn[at]);
    if (!isSame || this.#columns !== this.#width()) this.#draw('', shown);
  }

  /** Writes whole lines that stay, and the block again under them. */
  above(text: string): void {
    this.#draw(text, this.#drawn);
  }

  /** Takes the block away. What comes next begins in its place. */
  clear(): void {
    this.#draw('', []);
  }

  /** One write, each line over the old one, so that nothing is empty in between. */
  #draw(above: string, lines: readonly string[]): void {
    const height = this.#height();
    const up = height === 0 ? '' : `\u001b[${height}A`;
    const text = above + lines.map((line) => `${line}\n`).join('');
    this.#stream.write(`\r${up}${text.replaceAll('\n', `${toEndOfLine}\n`)}${toEndOfScreen}`);
    this.#drawn = lines;
    this.#columns = this.#width();
  }

  /** Rows that the block takes now: a terminal that has become narrower has broken its lines. */
  #height(): number {
    const columns = this.#width();
    return this.#drawn.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
  }

  #width(): number {
    return columnsOf(this.#stream, usualColumns);
  }
}
