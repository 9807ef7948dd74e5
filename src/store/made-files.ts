/**
 * The files that a start makes. Where it is refused they are removed again, so that nobody takes an empty mirror for one, and the next start is
 * a first one, too. What somebody else has open, or has filled meanwhile, stays.
 */
import { existsSync, lstatSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isUnused } from './runs.ts';
import type { FilePaths } from './files/identity.ts';

export class MadeFiles {
  readonly #database: string;
  /** Nothing where there is a mirror already: what is beside it belongs to it. */
  readonly #missing: readonly string[];
  /** The innermost first. */
  readonly #missingFolders: readonly string[];

  /** Before anything is made. */
  constructor({ database, secrets }: FilePaths) {
    this.#database = resolve(database);
    const isNew = isMissing(this.#database);
    this.#missing = isNew ? [this.#database, resolve(secrets)].filter(isMissing) : [];
    this.#missingFolders = this.#missing.flatMap((path) => missingFoldersOf(path));
  }

  /** After all of them were closed. */
  remove(): void {
    if (this.#missing.length === 0 || this.#missing.some((path) => existsSync(`${path}-wal`))) return;
    const size = lstatSync(this.#database, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 0 && !isUnused(this.#database)) return;
    for (const path of this.#missing)
      for (const name of [path, `${path}-wal`, `${path}-shm`]) rmSync(name, { force: true });
  }

  /** Those folders that are empty again. */
  removeFolders(): void {
    for (const folder of this.#missingFolders)
      try {
        rmdirSync(folder);
      } catch {
        // It holds something else, or was never made.
      }
  }
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

function missingFoldersOf(path: string): string[] {
  const folder = dirname(path);
  return isMissing(folder) && folder !== path ? [folder, ...missingFoldersOf(folder)] : [];
}
