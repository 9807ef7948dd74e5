/** `export FILE`: a copy of the mirror, or rows of it in another form, that nobody writes to any more. */
import { statSync } from 'node:fs';
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import type { ExportFormat } from '../../settings/export-format.ts';
import type { Run } from '../process/command.ts';
import { openMirror, noticeNothingMirrored } from '../setup/open-mirror.ts';
import { printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';

interface ExportOptions {
  readonly view?: string;
  readonly query?: string;
  readonly format?: ExportFormat;
}

export const exportTo: Run<ExportOptions> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const { view, query, format } = options;
  const toStdout = file === '-';
  if (toStdout && options.json)
    throw new MirrorError('usage', 'With - standard output holds the rows: say --format json for rows in JSON.');
  const settings = loadSettings(call);
  const mirror = openMirror(context, settings);
  if (!mirror) {
    noticeNothingMirrored(context);
    if (options.json) printJson(context, { ok: false, file: null, bytes: 0 });
    return exitStatus.notWhole;
  }
  const what = { view, query, format };
  try {
    if (toStdout)
      await mirror.exportToStream(context.stdout, what, { clock: context.clock, signal: context.interrupted });
    else await mirror.exportToFile(file, what, { random: context.random, own: settings, signal: context.interrupted });
  } catch (error) {
    // Whoever closed the pipe, or pressed Ctrl-C, knows; a full disk was reported.
    if (context.interrupted.aborted) return exitStatus.notWhole;
    throw error;
  } finally {
    await mirror.close();
  }
  if (toStdout) return exitStatus.done;
  const bytes = statSync(file).size;
  if (options.json) printJson(context, { ok: true, file, bytes });
  else printNotice(context, `${file} is written: ${bytes.toLocaleString('en')} bytes.`);
  return exitStatus.done;
};
