/**
 * `export FILE`: writes a copy of the mirror, or rows of it in another format.
 *
 * It exits with 1 if nothing is mirrored; other reading commands say so and exit with 0.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import type { ExportFormat } from '../settings/export-format.ts';
import { loadSettings } from './load-settings.ts';
import { noticeNothingMirrored, openMirror } from './open-mirror.ts';
import type { CommandHandler } from './process/command.ts';
import { printJson, printNotice } from './terminal/print.ts';
import { visibleOn } from './terminal/text.ts';

interface ExportOptions {
  readonly view?: string;
  readonly query?: string;
  readonly format?: ExportFormat;
}

export const exportTo: CommandHandler<ExportOptions> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const { view, query, format } = options;
  const toStdout = file === '-';
  if (toStdout && options.json)
    throw new MirrorError('usage', 'With -, the rows go to standard output: use --format json for rows in JSON.');
  const isTerminal = toStdout && context.stdout.isTTY === true;
  if (isTerminal && format === 'parquet')
    throw new MirrorError('usage', 'A .parquet is not text for a terminal: name a file, or pipe it to a program.');
  const settings = await loadSettings(call);
  const mirror = await openMirror(context, settings);
  if (!mirror) {
    noticeNothingMirrored(context);
    if (options.json) printJson(context, { ok: false, file: null, bytes: 0 });
    return exitStatus.incomplete;
  }
  const what = { view, query, format, account: options.account };
  const { clock, random, interrupted: signal } = context;
  const program = join(context.packageRoot, 'dist/cmd/exports.js');
  const terminal = isTerminal ? visibleOn(context.stdout) : undefined;
  try {
    const { noTimes } = toStdout
      ? await mirror.exportToStream(terminal ?? context.stdout, what, {
          clock,
          signal,
          program,
        })
      : await mirror.exportToFile(file, what, { random, own: settings, signal, program });
    if (noTimes > 0) printNotice(context, leftEmpty(noTimes));
  } catch (error) {
    // A closed pipe or Ctrl-C needs no message; a full disk was reported already.
    if (context.interrupted.aborted) return exitStatus.incomplete;
    throw error;
  } finally {
    // An export that failed has said why.
    if (terminal) await finished(terminal.end()).catch(() => undefined);
    await mirror.close();
  }
  if (toStdout) return exitStatus.done;
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes === undefined)
    throw new MirrorError('file_unwritable', `${file} was written, and then taken away by another user or program.`);
  if (options.json) printJson(context, { ok: true, file, bytes });
  else printNotice(context, `${file} is written: ${bytes.toLocaleString('en')} bytes.`);
  return exitStatus.done;
};

function leftEmpty(noTimes: number): string {
  return noTimes === 1
    ? 'One text in a time column is not a time; it is left empty.'
    : `${counted(noTimes, 'text')} in time columns are not times; they are left empty.`;
}
