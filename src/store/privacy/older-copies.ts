/** Files that a mirror was copied or moved to before something was forgotten, and that hold it still. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { resolvedPath } from '../files/own-files.ts';

/** Those that are known: damaged mirrors that were moved aside, and files for readers at these paths. */
export function olderCopies(database: string, published: readonly string[]): string[] {
  const path = resolvedPath(database);
  const moved = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.corrupt-`));
  return [...moved.map((name) => join(dirname(path), name)), ...published.filter((file) => existsSync(file))];
}
