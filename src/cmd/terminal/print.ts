/** What commands print: results to standard output, everything else to standard error. */
import { exitStatus, type ExitStatus, type MirrorError } from '../../domain/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { jsonText } from '../../domain/steering.ts';
import { withSettings, type Call } from '../process/command.ts';
import { wrappedLines, visibleLines } from './text.ts';

/** One line, or several, of a result. */
export function print({ stdout }: Pick<ProcessContext, 'stdout'>, text: string): void {
  stdout.write(`${text}\n`);
}

/** Sentences that are a result, wrapped where a terminal shows them. */
export function printText(streams: Pick<ProcessContext, 'stdout'>, text: string): void {
  print(streams, wrappedLines(streams.stdout, text));
}

/** Part of a long result; waits until it is written, or until the command is interrupted. */
export async function printPart(
  { stdout, interrupted }: Pick<ProcessContext, 'stdout' | 'interrupted'>,
  text: string,
): Promise<void> {
  if (interrupted.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      interrupted.removeEventListener('abort', done);
      resolve();
    };
    interrupted.addEventListener('abort', done);
    stdout.write(`${text}\n`, done);
  });
}

/** One JSON document, on one line. */
export function printJson(context: Pick<ProcessContext, 'stdout' | 'inEveryDocument'>, document: object): void {
  print(context, jsonText({ ...document, ...context.inEveryDocument }));
}

/** The answer of a command: a document with `--json`, otherwise sentences. */
export function answered({ context, options }: Call, document: object, text: string): ExitStatus {
  if (options.json) printJson(context, { ok: true, ...document });
  else printText(context, withSettings(context, text));
  return exitStatus.done;
}

/** Something that a person should know, but that is not a result. Part of it may come from outside. */
export function printNotice(context: Pick<ProcessContext, 'stderr' | 'settingsOption'>, text: string): void {
  context.stderr.write(`${wrappedLines(context.stderr, visibleLines(withSettings(context, text)))}\n`);
}

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** An error as `--json` shows it. */
export function errorReport(
  context: Pick<ProcessContext, 'settingsOption'>,
  { code, message, hint }: MirrorError,
): ErrorReport {
  return { code, message: withSettings(context, message), hint: withSettings(context, hint) };
}

/** An error for a person: what happened, in which account if that matters, and below it what to do. */
export function printError(
  context: Pick<ProcessContext, 'stderr' | 'settingsOption'>,
  error: MirrorError,
  account?: string,
): void {
  const whose = account === undefined ? '' : `${account}: `;
  printNotice(context, `vendor-mirror: ${whose}${error.message}\n  ${error.hint}`);
}
