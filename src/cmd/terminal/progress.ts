/** The progress of a sweep or of a migration: a bar on a terminal, a line now and then elsewhere. */
import cliProgress from 'cli-progress';
import type { SweepProgress } from '../../domain/run.ts';
import type { Clock } from '../../domain/clock.ts';
import { inWords } from '../../domain/duration.ts';
import { manyAccounts } from '../../health/causes.ts';
import { columnsOf, type ProcessContext } from '../process/process-context.ts';
import { printNotice } from './print.ts';

export interface Progress {
  show(progress: SweepProgress): void;
  end(): void;
}

type ProgressContext = Pick<ProcessContext, 'stderr' | 'env' | 'clock'>;

/** Whether a command that did what it should has nothing to say: nobody looks on, and nobody asked. */
export function isQuiet(context: Pick<ProcessContext, 'stdout'>, options: { readonly verbose?: boolean }): boolean {
  return options.verbose !== true && context.stdout.isTTY !== true;
}

/** Said where sums stand for many accounts. */
export const eachWithVerbose = 'With --verbose, each account has a line.';

/** An account, and how far it stands among many. */
export function accountOf(account: string, all: readonly string[]): string {
  return all.length > manyAccounts ? `${account} (${all.indexOf(account) + 1} of ${all.length})` : account;
}

/** Shows the progress of one account on standard error: on a terminal, or where somebody asked. */
export function progressOf(account: string, context: ProgressContext, quiet: boolean): Progress {
  if (context.stderr.isTTY && context.env['TERM'] !== 'dumb') return new ProgressBar(account, context);
  return quiet ? { show: () => undefined, end: () => undefined } : new ProgressLines(account, context);
}

/** Columns of a bar, at least and at most. */
const [narrowest, widest] = [6, 24];
/** Columns that numbers, rate and time left take beside a bar. */
const besideBar = 52;

/** A bar on a terminal, none where there is no room for one; `{bar}` and what stands after it follow the name. */
function barOn(stream: ProcessContext['stderr'], name: string, format: string): cliProgress.SingleBar {
  const room = columnsOf(stream, 80) - name.length - besideBar;
  return new cliProgress.SingleBar({
    stream,
    format: `${name} ${room < narrowest ? '' : '{bar} '}${format}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: Math.min(widest, Math.max(narrowest, room)),
    clearOnComplete: true,
    // Signals are handled in one place, and a forced end must not leave the terminal changed.
    gracefulExit: false,
    linewrap: true,
  });
}

class ProgressBar implements Progress {
  readonly #speed: SweepSpeed;
  readonly #bar: cliProgress.SingleBar;
  #isStarted = false;

  constructor(account: string, { clock, stderr }: ProgressContext) {
    this.#speed = new SweepSpeed(clock);
    this.#bar = barOn(stderr, account, '{percentage} %  {value} of {total} vendors{speed}{pass}');
  }

  show(progress: SweepProgress): void {
    const tokens = { speed: this.#speed.text(progress), pass: passText(progress) };
    if (this.#isStarted) this.#bar.setTotal(progress.total);
    else this.#bar.start(progress.total, progress.seen, tokens);
    this.#bar.update(progress.seen, tokens);
    this.#isStarted = true;
  }

  end(): void {
    this.#bar.stop();
  }
}

/** A line for every tenth part at most, and after every few seconds at least, in milliseconds. */
const [shortest, longest] = [1_000, 5_000];

class ProgressLines implements Progress {
  readonly #account: string;
  readonly #context: ProgressContext;
  readonly #speed: SweepSpeed;
  #last: { readonly at: number; readonly tenth: number };

  constructor(account: string, context: ProgressContext) {
    this.#account = account;
    this.#context = context;
    this.#speed = new SweepSpeed(context.clock);
    this.#last = { at: context.clock.monotonic(), tenth: 0 };
  }

  show(progress: SweepProgress): void {
    const { seen, total } = progress;
    const measured = this.#speed.text(progress);
    const share = total > 0 ? seen / total : 1;
    const now = { at: this.#context.clock.monotonic(), tenth: Math.floor(share * 10) };
    const quiet = now.at - this.#last.at;
    if (quiet < shortest || (now.tenth === this.#last.tenth && quiet < longest)) return;
    this.#last = now;
    printNotice(
      this.#context,
      `${this.#account}: ${seen} of ${total} vendors (${Math.floor(share * 100)} %)${measured}${passText(progress)}`,
    );
  }

  end(): void {
    // The lines stay as they are.
  }
}

function passText({ pass }: SweepProgress): string {
  return pass > 1 ? `, walk ${pass}: the list is changing` : '';
}

/** How fast a sweep goes, and how long the rest of it will take. */
class SweepSpeed {
  readonly #clock: Clock;
  #since: number;
  #begunAt = 0;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** `, 312/s, 18 s left`, or nothing before the first measurement; a new walk is measured from its own start. */
  text({ seen, total }: SweepProgress): string {
    const now = this.#clock.monotonic();
    if (seen < this.#last) [this.#since, this.#begunAt] = [now, seen];
    this.#last = seen;
    const seconds = (now - this.#since) / 1_000;
    const rate = seconds > 0 ? (seen - this.#begunAt) / seconds : 0;
    if (rate === 0) return '';
    const left = total > seen ? `, ${inWords((1_000 * (total - seen)) / rate)} left` : '';
    return `, ${Math.round(rate)}/s${left}`;
  }
}

type PercentContext = Pick<ProcessContext, 'stderr' | 'env'>;

/** Called at each percent of a migration, up to a hundred. */
export function migrationProgress(context: PercentContext): Show {
  return percentProgress(context, 'Migrating the mirror');
}

/** Shows each percent of some work, up to a hundred. */
export function percentProgress(context: PercentContext, what: string): Show {
  return context.stderr.isTTY && context.env['TERM'] !== 'dumb' ? bar(context, what) : lines(context, what);
}

type Show = (progress: { readonly percent: number }) => void;

function lines(context: PercentContext, what: string): Show {
  let reported = -10;
  return ({ percent }) => {
    if (percent < reported + 10) return;
    reported = percent - (percent % 10);
    printNotice(context, `${what}: ${percent} %`);
  };
}

function bar(context: PercentContext, what: string): Show {
  const single = barOn(context.stderr, what, '{percentage} %');
  return ({ percent }) => {
    if (!single.isActive) single.start(100, percent);
    single.update(percent);
    if (percent === 100) single.stop();
  };
}
