/** The mirror, opened by a command that does not speak with the service. */
import { join } from 'node:path';
import type { Settings } from '../settings/parse.ts';
import { lockProcess } from '../store/files/locks.ts';
import type { Store } from '../store/mirror.ts';
import { mirrorOptions, Reader } from '../store/reader.ts';
import type { Snapshot } from '../store/sql/statement.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printNotice } from './terminal/print.ts';

/**
 * Opens the mirror of these settings to read it; the caller closes it.
 * @returns undefined where there is no mirror yet.
 * @throws MirrorError as `Reader.open`.
 */
export function openMirror(context: ProcessContext, settings: Settings): Reader | undefined {
  const { packageRoot, clock, random } = context;
  const migrations = join(packageRoot, 'migrations');
  return Reader.open(mirrorOptions({ path: settings.database, migrations, clock, random }));
}

/**
 * Asks the mirror, against one consistent state. Where there is no mirror yet, a notice says so.
 * @returns undefined where there is no mirror yet.
 * @throws MirrorError as `openMirror`.
 */
export async function queryMirror<T>(
  context: ProcessContext,
  settings: Settings,
  report: (snapshot: Snapshot) => T,
): Promise<T | undefined> {
  const mirror = openMirror(context, settings);
  if (!mirror) {
    noticeNothingMirrored(context);
    return undefined;
  }
  try {
    return await mirror.query(report);
  } finally {
    await mirror.close();
  }
}

/** Changes the mirror, beside a running daemon too. @throws MirrorError as `openMirror` of the store. */
export async function changeMirror<T>(
  context: ProcessContext,
  { database }: Settings,
  change: (mirror: Store) => Promise<T>,
): Promise<T> {
  const { packageRoot, clock, random } = context;
  const migrations = join(packageRoot, 'migrations');
  const { openMirror: openToChange } = await import('../store/mirror.ts');
  const { migrationProgress } = await import('./terminal/progress.ts');
  const onMigration = migrationProgress(context);
  const mirror = await openToChange({ path: database, migrations, clock, random, lockProcess, onMigration });
  try {
    return await change(mirror);
  } finally {
    await mirror.close();
  }
}

/**
 * The same where a mirror is; where there is none yet, a notice says so.
 * @returns undefined where there is no mirror yet.
 */
export async function changeExisting<T>(
  context: ProcessContext,
  settings: Settings,
  change: (mirror: Store) => Promise<T>,
): Promise<T | undefined> {
  const isThere = await queryMirror(context, settings, () => true);
  return isThere ? changeMirror(context, settings, change) : undefined;
}

export function noticeNothingMirrored(context: ProcessContext): void {
  printNotice(context, 'Nothing is mirrored yet. Run `vendor-mirror sync`.');
}
