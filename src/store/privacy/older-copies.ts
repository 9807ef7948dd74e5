/** Finds copies of the mirror that may still contain what was forgotten. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { resolvedPath } from '../files/own-files.ts';

/** The known ones: damaged mirrors that were moved aside, and existing files at the published paths. */
export function olderCopies(database: string, published: readonly string[]): string[] {
  const path = resolvedPath(database);
  const moved = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.corrupt-`));
  return [...moved.map((name) => join(dirname(path), name)), ...published.filter((file) => existsSync(file))];
}
