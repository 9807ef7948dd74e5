/** How far a sweep has come: a bar on a terminal, now and then a line elsewhere. */
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
  return context.stderr.isTTY && context.env['TERM'] !== 'dumb' ? bar(account, context) : lines(account, context);
}

function bar(account: string, context: ProgressContext): Progress {
  const speed = new SweepSpeed(context.clock);
  const single = new cliProgress.SingleBar({
    stream: context.stderr,
    format: `${account} {bar} {percentage} %  {value} of {total} vendors{speed}{pass}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    clearOnComplete: true,
    // Signals are the process edge's, and a forced end must not leave the terminal changed.
    gracefulExit: false,
    linewrap: true,
  });
  let started = false;
  return {
    show(progress) {
      const tokens = { speed: speed.text(progress), pass: passText(progress) };
      if (started) single.setTotal(progress.total);
      else single.start(progress.total, progress.seen, tokens);
      single.update(progress.seen, tokens);
      started = true;
    },
    end: () => single.stop(),
  };
}

/** A line for every tenth part at most, and after every few seconds at least. */
const [shortest, longest] = [1_000, 5_000];

function lines(account: string, context: ProgressContext): Progress {
  const speed = new SweepSpeed(context.clock);
  let last = { at: context.clock.monotonic(), tenth: 0 };
  return {
    show(progress) {
      const { seen, total } = progress;
      const measured = speed.text(progress);
      const share = total > 0 ? seen / total : 1;
      const now = { at: context.clock.monotonic(), tenth: Math.floor(share * 10) };
      const quiet = now.at - last.at;
      if (quiet < shortest || (now.tenth === last.tenth && quiet < longest)) return;
      last = now;
      printNotice(
        context,
        `${account}: ${seen} of ${total} vendors (${Math.floor(share * 100)} %)${measured}${passText(progress)}`,
      );
    },
    end: () => undefined,
  };
}

function passText({ pass }: SweepProgress): string {
  return pass > 1 ? `, walk ${pass}: the list is changing` : '';
}
