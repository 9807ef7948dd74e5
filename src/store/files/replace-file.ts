/** Replaces a file atomically with a copy or an export, which is first written beside it under a draft name. */
import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Random } from '../../domain/clock.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { withoutCompanions } from './copy-state.ts';
import { syncInBackground, copyModeAndOwner } from './durable.ts';
import type { Database } from '../sqlite/database.ts';
import { isNotRegularFile, ownFileAt, resolvedPath, type OwnFiles } from './own-files.ts';
import { isDatabase, isMirror } from './quarantine.ts';

/** Permissions of a new copy, before the umask. */
const copyMode = 0o640;

/** A draft that was not written for this long, in milliseconds, is from a killed process. */
const abandoned = 3_600_000;

/** What a copy needs besides the mirror. */
export interface CopyOptions {
  readonly random: Random;
  /** Files that a copy must not replace, besides the mirror. */
  readonly own: Pick<OwnFiles, 'secrets' | 'readFrom'>;
}

/**
 * Lets `write` fill a draft, and replaces `target` with it once it is complete and on disk; where anything fails, `target` stays as it was and no
 * draft is left. A symbolic link is followed. The new file gets the mode and owner of the replaced one.
 * @throws MirrorError `file_unwritable`, `usage` where `target` cannot be replaced, `database_locked` where another program uses the
 * copy that is there; whatever `write` throws.
 */
export async function replaceFile(
  mirror: Pick<Database, 'path'>,
  target: string,
  { random, own }: CopyOptions,
  write: (path: string) => void | Promise<void>,
): Promise<void> {
  const refuse = (): void => refuseOthers(target, { ...own, database: mirror.path });
  const place = resolvedPath(target);
  const folder = dirname(place);
  const draft = join(folder, `.${basename(place)}.${Buffer.from(random.bytes(6)).toString('hex')}`);
  try {
    refuse();
    const before = statSync(place, { throwIfNoEntry: false });
    closeSync(openSync(draft, 'wx', before ? 0o600 : copyMode));
    sweepUp(draft, place);
    await write(draft);
    if (before) copyModeAndOwner(draft, before);
    await syncInBackground(draft);
    refuse();
    withoutCompanions(place, () => renameSync(draft, place));
    await syncInBackground(folder);
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('file_unwritable', `${target} cannot be written: ${asMirrorError(error).message}.`, {
      cause: error,
    });
  } finally {
    for (const left of [draft, `${draft}-journal`]) rmSync(left, { force: true });
  }
}

/** Removes drafts for `target` that killed processes left; ages are compared with the new draft's. */
function sweepUp(draft: string, target: string): void {
  const folder = dirname(target);
  const now = statSync(draft).mtimeMs;
  const start = `.${basename(target)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !/^[0-9a-f]{12}(-journal)?$/.test(name.slice(start.length))) continue;
    const path = join(folder, name);
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - written > abandoned) rmSync(path, { force: true });
  }
}

/** Refuses targets that a copy must not replace: our own files, other databases, and anything but a regular file. */
function refuseOthers(target: string, own: OwnFiles): void {
  const no = (what: string): never => {
    throw new MirrorError('usage', `${target} ${what}; name another file.`);
  };
  const ours = ownFileAt(target, own);
  if (ours !== undefined) no(`is ${ours}`);
  if (isNotRegularFile(target)) no('is not a regular file');
  if (!existsSync(target) || !isDatabase(target)) return;
  if (!isMirror(target)) no('is a database of another program');
  if (existsSync(`${resolvedPath(target)}.lock`)) no('is a mirror that a daemon uses');
}
