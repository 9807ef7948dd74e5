/**
 * Notes of a move. One beside each moved file says where it went. It is written when the copies are complete and on disk, and from then on the
 * copies count. It stays, so that settings which name the old place do not create a new mirror there.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MirrorError } from '../../domain/errors.ts';
import type { FilePaths } from '../files/daemon-files.ts';
import { rename, writePrivately } from '../files/durable.ts';
import { resolvedPath } from '../files/own-files.ts';

export interface MovedFile {
  readonly from: string;
  readonly to: string;
  /** The old file when it was copied: one that differs later is another file. */
  readonly size: number;
  readonly mtimeMs: number;
}

export interface MovedNote {
  readonly folder: string;
  readonly files: readonly MovedFile[];
}

/** The path at which a copy is made before it gets its name. */
export function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.moving`);
}

export function noteOf(path: string): string {
  return `${resolvedPath(path)}.moved`;
}

/** The note of a file at this path; undefined where there is none. @throws MirrorError `move_unfinished` where it cannot be read. */
export function readNote(path: string): MovedNote | undefined {
  const note = noteOf(path);
  if (!existsSync(note)) return undefined;
  try {
    return JSON.parse(readFileSync(note, 'utf8')) as MovedNote;
  } catch (cause) {
    throw new MirrorError('move_unfinished', `${note} cannot be read, so it is not known where ${path} was moved.`, {
      cause,
    });
  }
}

/** Writes the note; on disk when this returns. */
export function writeNote(path: string, note: MovedNote): void {
  const draft = draftOf(noteOf(path));
  rmSync(draft, { force: true });
  writePrivately(draft, `${JSON.stringify(note, undefined, 2)}\n`);
  rename(draft, noteOf(path));
}

/**
 * Refuses to work with files that were moved away, or whose move is not finished.
 * @throws MirrorError `settings_invalid` that names the new place, `move_unfinished`.
 */
export function refuseMoved(settingsFile: string, paths: FilePaths): void {
  const places = (['database', 'secrets'] as const).map((key) => ({
    key,
    path: paths[key],
    note: readNote(paths[key]),
  }));
  for (const { path, note } of places) {
    if (existsSync(draftOf(resolvedPath(path))))
      throw new MirrorError('move_unfinished', `A move to ${path} was interrupted.`);
    if (note && existsSync(path))
      throw new MirrorError(
        'move_unfinished',
        `A move of ${path} to ${note.folder} was interrupted. If somebody put this file back on purpose, delete ${noteOf(path)}.`,
      );
  }
  const moved = places.flatMap(({ key, path, note }) => {
    return note ? [`${key}: was moved to ${join(note.folder, basename(resolvedPath(path)))}`] : [];
  });
  if (moved.length > 0)
    throw new MirrorError('settings_invalid', [`${settingsFile} names an old place:`, ...moved].join('\n  '));
}
