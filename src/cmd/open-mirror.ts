/** The mirror, opened by a command that does not speak with the service. */
import { join } from 'node:path';
import type { Settings } from '../settings/parse.ts';
import { isDaemonAt, lockProcess } from '../store/files/locks.ts';
import type { Store } from '../store/mirror.ts';
import { mirrorOptions, Reader } from '../store/reader.ts';
import type { Snapshot } from '../store/sql/statement.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printNotice } from './terminal/print.ts';

/** Calls that were told where the mirror went: several of their parts may read it. */
const toldOf = new WeakSet<ProcessContext>();

/**
 * Opens the mirror of these settings to read it; the caller closes it.
 * @returns undefined where there is no mirror yet.
 * @throws MirrorError as `Reader.open`.
 */
export async function openMirror(context: ProcessContext, settings: Settings): Promise<Reader | undefined> {
  const { packageRoot, clock, random } = context;
  const migrations = join(packageRoot, 'migrations');
  if (settings.postgres) return Reader.openPostgres(settings.postgres, { migrations, clock });
  const reader = await Reader.open(mirrorOptions({ path: settings.database, migrations, clock, random }));
  // What is wrong with the file, whoever reads it says.
  const move = toldOf.has(context) ? undefined : await reader?.place.moved().catch(() => undefined);
  if (move) {
    toldOf.add(context);
    printNotice(
      context,
      `${settings.database} was moved to ${move.place} at ${move.moved_at.slice(0, 19)} UTC; this is what it held then. Name that as \`database\` in the settings.`,
    );
  }
  return reader;
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
  const mirror = await openMirror(context, settings);
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

/** Whether a daemon uses the mirror of these settings. @throws MirrorError as `openMirror`. */
export async function isDaemonThere(context: ProcessContext, settings: Settings): Promise<boolean> {
  if (!settings.postgres) return isDaemonAt(settings.database);
  const mirror = await openMirror(context, settings);
  try {
    return (await mirror?.place.processes())?.daemonSince !== undefined;
  } finally {
    await mirror?.close();
  }
}

/** Changes the mirror, beside a running daemon too. @throws MirrorError as `openMirror` of the store. */
export async function changeMirror<T>(
  context: ProcessContext,
  settings: Settings,
  change: (mirror: Store) => Promise<T>,
): Promise<T> {
  const mirror = await openToChange(context, settings);
  try {
    return await change(mirror);
  } finally {
    await mirror.close();
  }
}

async function openToChange(context: ProcessContext, { database, postgres }: Settings): Promise<Store> {
  const { packageRoot, clock, random } = context;
  const shared = { migrations: join(packageRoot, 'migrations'), clock, random };
  const { openMirror, openPostgresMirror } = await import('../store/mirror.ts');
  if (postgres) return await openPostgresMirror({ ...shared, store: postgres });
  const { migrationProgress } = await import('./terminal/progress.ts');
  const onMigration = migrationProgress(context);
  return await openMirror({ ...shared, path: database, lockProcess, onMigration });
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
