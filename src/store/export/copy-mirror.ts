/** Copies the whole mirror to another file. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { replaceFile, type CopyOptions } from '../files/replace-file.ts';
import type { Database } from '../sqlite/database.ts';
import { isFailedSync } from '../sqlite/sqlite-errors.ts';
import { ExportProcess } from './export-process.ts';

export interface ProcessOptions extends CopyOptions {
  /** The compiled process that copies and exports. */
  readonly program: string;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Puts a consistent, self-contained copy of the mirror (one file, no WAL beside it) at `target`, and reads it back.
 * @throws MirrorError `file_unwritable`, `disk_full`; `database_locked` where another program holds the mirror, or uses the copy that
 * is at `target`; `usage` where `target` cannot be replaced; `interrupted` by the signal.
 */
export async function copyMirror(mirror: Database, target: string, options: ProcessOptions): Promise<void> {
  const { program, signal } = options;
  await replaceFile(mirror, target, options, async (draft) => {
    try {
      await new ExportProcess(program, { do: 'copy', path: mirror.path, to: draft }, signal).done();
    } catch (error) {
      // The copy was not synced; the mirror itself is sound.
      if (isFailedSync(error)) throw new MirrorError('file_unwritable', `${draft}: ${asMirrorError(error).message}.`);
      throw mirror.reportError(error);
    }
  });
  await new ExportProcess(program, { do: 'read back', path: target }, signal).done();
}
