/**
 * Chooses the SQLite driver. better-sqlite3 13 comes compiled, in one form for all versions of Node.js, and needs 22 or newer; on Node.js 20 it
 * crashes the process. Version 12 is compiled for the Node.js that installs it, and ends processes of 24.19 and newer at random. So each
 * Node.js has one version that is safe: it is looked up here, and any other is refused before any of it is loaded.
 *
 * In a checkout, where one lock file serves every Node.js, version 12 stands under a name of its own. As a package, npm chooses the
 * version that fits.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { MirrorError } from '../../domain/errors.ts';

/** The first Node.js that version 13 runs on. */
const firstWithPrebuilt = 22;

/** A driver as npm installed it: the folder of its package, and its version. */
export interface InstalledDriver {
  readonly folder: string;
  readonly version: string;
}

/** Either the folder of the driver to load, or why there is none, as a sentence with what to do. */
export type DriverChoice = { readonly folder: string } | { readonly refusal: string };

/**
 * The driver for a version of Node.js (such as `v24.21.0`), of those that are installed by the names `better-sqlite3` and
 * `better-sqlite3-node20`.
 */
export function chooseDriver(
  nodeVersion: string,
  find: (name: string) => InstalledDriver | undefined,
  isCompiled = (folder: string): boolean => existsSync(join(folder, 'build/Release/better_sqlite3.node')),
): DriverChoice {
  const node = Number.parseInt(nodeVersion.slice(1), 10);
  const isPrebuilt = node >= firstWithPrebuilt;
  const wanted = isPrebuilt ? 13 : 12;
  const installed = (isPrebuilt ? ['better-sqlite3'] : ['better-sqlite3-node20', 'better-sqlite3'])
    .map(find)
    .filter((driver) => driver !== undefined);
  const fitting = installed.find(({ version }) => Number.parseInt(version, 10) === wanted);
  const here = `Node.js ${nodeVersion} needs the SQLite driver better-sqlite3 ${wanted}`;
  if (fitting === undefined) {
    const other = installed[0] ?? find('better-sqlite3');
    if (other === undefined)
      return { refusal: `${here}, which is not installed: it was left out, or its installation failed.` };
    return { refusal: `${here}, and ${other.version} is installed, which ends such a process without warning.` };
  }
  if (!isPrebuilt && !isCompiled(fitting.folder)) {
    const remedy = fitting.folder.endsWith('-node20')
      ? '`npm run build` in the folder of the program'
      : '`npm rebuild better-sqlite3` where the program was installed (with `--global` if it was so)';
    return {
      refusal: `${here}, which was not compiled: run ${remedy}, or use Node.js 22 or newer, where nothing is compiled.`,
    };
  }
  return { folder: fitting.folder };
}

const require = createRequire(import.meta.url);

/** Found without loading it. */
function installedAs(name: string): InstalledDriver | undefined {
  for (const folder of require.resolve.paths(name) ?? []) {
    const manifest = join(folder, name, 'package.json');
    if (!existsSync(manifest)) continue;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { folder: dirname(manifest), version };
  }
  return undefined;
}

const choice = chooseDriver(process.version, installedAs);

/** The folder of the driver, for processes that load it by themselves; empty where there is none. */
export const driverFolder = 'folder' in choice ? choice.folder : '';

/** better-sqlite3. Where it is refused, opening a connection throws MirrorError `driver_unusable`. */
export const Driver = 'folder' in choice ? (require(choice.folder) as typeof BetterSqlite3) : refusing(choice.refusal);

function refusing(refusal: string): typeof BetterSqlite3 {
  class SqliteError extends Error {
    readonly code: string;
    constructor(message: string, code: string) {
      super(message);
      this.code = code;
    }
  }
  function connect(): never {
    throw new MirrorError('driver_unusable', refusal);
  }
  return Object.assign(connect, { SqliteError }) as unknown as typeof BetterSqlite3;
}
