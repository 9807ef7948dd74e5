/** SIGHUP: a request to read the settings again, or the terminal of the process was closed. */
import { closeSync, openSync } from 'node:fs';
import type { ProcessContext } from './process-context.ts';

export interface Hangups {
  /** Aborted when the terminal is gone. */
  readonly gone: AbortSignal;
  /** If the terminal is gone, ends the process, as the signal does by default. */
  reRaise(): void;
}

/** Handles SIGHUP from now on. A process that nohup or a supervisor started has no terminal to lose. */
export function watchHangups({ stdin }: Pick<ProcessContext, 'stdin'>, readAgain: () => void): Hangups {
  const fromTerminal = stdin.isTTY === true;
  const terminal = new AbortController();
  const onHangup = (): void => {
    if (terminal.signal.aborted) return;
    if (fromTerminal && !hasTerminal()) terminal.abort();
    else readAgain();
  };
  process.on('SIGHUP', onHangup);
  return {
    gone: terminal.signal,
    reRaise() {
      if (!terminal.signal.aborted) return;
      // Node cannot exit in any other way: it would set a terminal back that is not there, and abort.
      process.off('SIGHUP', onHangup);
      process.kill(process.pid, 'SIGHUP');
    },
  };
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
