#!/usr/bin/env node
/** The process edge: arguments, signals, broken pipes, exit status. */
import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { processContext, withNodeOptions } from './process/process-context.ts';
import { runProgram } from './program.ts';

// Left to itself, V8 looks for garbage when the heap has grown to up to four times what is alive, by how fast the machine was just now: the
// same work then takes 165 MB, or 240.
setFlagsFromString('--heap-growing-percent=100');

/** From `src/cmd` and from the compiled `dist/cmd` alike. */
const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

const interruption = new AbortController();
const context = processContext(interruption.signal, packageRoot);
// Everything that waits listens to it.
setMaxListeners(0, interruption.signal);

function interrupt(signal: NodeJS.Signals): void {
  if (interruption.signal.aborted) process.exit(exitStatus.incomplete);
  interruption.abort(new MirrorError('interrupted', `Interrupted by ${signal}.`));
}
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// Node.js would open its debugger, to every user of this machine; and be ended by the other one, without a word.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined);

let status: ExitStatus = exitStatus.done;
/** Why results were lost. */
let resultsError: MirrorError | undefined;

/** Ends with the status of the work. Results that were lost are an error by themselves, whether the work noticed it or not. */
function exitWith(worked: ExitStatus): void {
  status = worked;
  process.exitCode = resultsError && worked <= exitStatus.incomplete ? resultsError.exit : worked;
}

/** Makes a stream report all errors as events; by default, errors of files are thrown by the write. */
function emitErrors(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (...given: unknown[]) => {
    try {
      return write(...given);
    } catch (error) {
      stream.emit('error', error);
      return false;
    }
  };
}
emitErrors(process.stdout);
emitErrors(process.stderr);

/** A closed pipe or terminal ends the command without a message. */
process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  if (resultsError) return;
  if (code === 'EPIPE' || code === 'EIO') {
    resultsError = new MirrorError('interrupted', 'The reader of the results is gone.');
  } else {
    resultsError = new MirrorError('file_unwritable', `The results cannot be written to standard output (${code}).`, {
      remedy: 'Free space on the disk that they are written to, or write them elsewhere.',
    });
    process.stderr.write(`vendor-mirror: ${resultsError.message}\n  ${resultsError.hint}\n`);
  }
  interruption.abort(resultsError);
  exitWith(status);
});
/** A closed standard error does not stop the work. */
process.stderr.on('error', () => undefined);

process.on('uncaughtException', (error: Error) => {
  const { message, hint } = withNodeOptions(new MirrorError('bug', error.message), context);
  process.stderr.write(`${error.stack ?? ''}\nvendor-mirror: ${message}\n  ${hint}\n`);
  process.exit(exitStatus.bug);
});

exitWith(await runProgram(process.argv.slice(2), context));

// Whatever still waits somewhere, a hung request or a timer, must not keep a process whose work is done. Results that
// nobody has read yet may; a log may for a second.
let patience = 10;
const leave = (): void => {
  const isRead = process.stdout.writableLength === 0 && (process.stderr.writableLength === 0 || patience === 0);
  if (resultsError || isRead) process.exit();
  patience = Math.max(0, patience - 1);
};
// eslint-disable-next-line no-restricted-globals -- a Clock has no timers that let the process end
setInterval(leave, 100).unref();
