/** `export FILE`: a copy of the mirror, or a spreadsheet of it, that nobody writes to any more. */
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { exitStatus } from '../../domain/errors.ts';
import { writeOverview } from '../../store/files/csv.ts';
import { copyMirror, swapIn } from '../../store/files/export.ts';
import type { Run } from '../process/command.ts';
import { openMirror, noticeNothingMirrored } from '../setup/open-mirror.ts';
import { printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';

export const exportTo: Run = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const settings = loadSettings(call);
  const mirror = openMirror(context, settings);
  if (!mirror) {
    noticeNothingMirrored(context);
    if (options.json) printJson(context, { ok: false, file: null, bytes: 0 });
    return exitStatus.notWhole;
  }
  const copyOptions = { random: context.random, own: settings };
  try {
    if (extname(file).toLowerCase() === '.csv')
      await swapIn(mirror, file, copyOptions, (path) => writeOverview(mirror.sqlite, path));
    else await copyMirror(mirror, file, copyOptions);
  } finally {
    await mirror.close();
  }
  const bytes = statSync(file).size;
  if (options.json) printJson(context, { ok: true, file, bytes });
  else printNotice(context, `${file} is written: ${bytes.toLocaleString('en')} bytes.`);
  return exitStatus.done;
};
