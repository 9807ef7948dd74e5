/** The progress of a sweep: a bar on a terminal, a line now and then elsewhere. */
import cliProgress from 'cli-progress';
import type { SweepProgress } from '../../app/installation.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { SweepSpeed } from './sweep-speed.ts';
import { printNotice } from './print.ts';

export interface Progress {
  show(progress: SweepProgress): void;
  end(): void;
}

type ProgressContext = Pick<ProcessContext, 'stderr' | 'env' | 'clock'>;

/** Shows the progress of one account on standard error. */
export function progressOf(account: string, context: ProgressContext): Progress {
  return context.stderr.isTTY && context.env['TERM'] !== 'dumb'
    ? new ProgressBar(account, context)
    : new ProgressLines(account, context);
}

/** A bar on a terminal; `format` names what stands around it. */
export function barOn(stream: ProcessContext['stderr'], format: string): cliProgress.SingleBar {
  return new cliProgress.SingleBar({
    stream,
    format,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
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
    this.#bar = barOn(stderr, `${account} {bar} {percentage} %  {value} of {total} vendors{speed}{pass}`);
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
