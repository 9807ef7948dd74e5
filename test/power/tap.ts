/** The library between a program and the disk (tap.c): compiled where there is a compiler, and asked for by environment. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot, temporaryFolder } from '../support/mirror-file.ts';

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);

/** Why nothing can be tapped on this machine; undefined where it can. */
export const untappable =
  process.platform !== 'linux' ? 'only on Linux' : compiler === undefined ? 'there is no C compiler' : undefined;

/** Makes the library, in a folder that goes away with the test. */
export function compileTap(): string {
  // From shared memory, a container may load no library.
  const library = join(temporaryFolder(tmpdir()), 'tap.so');
  const source = join(packageRoot, 'test/power/tap.c');
  execFileSync(compiler ?? 'cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread']);
  if (!existsSync(library)) throw new Error(`${source} was not compiled.`);
  return library;
}

/** Kinds of operations, as tap.c names them: o made, w written, t truncated, s synced, u unlinked, r renamed, a answered. */
export interface Trap {
  readonly kinds: string;
  /** From 1. */
  readonly nth: number;
}

export interface Failure extends Trap {
  readonly errno: keyof typeof errnos;
  /** Every later one fails, too. */
  readonly on?: boolean;
}

const errnos = { EIO: 5, ENOSPC: 28, EDQUOT: 122 } as const;

export interface TapOptions {
  readonly library: string;
  readonly folder: string;
  readonly log: string;
  readonly fail?: Failure | undefined;
  readonly kill?: Trap | undefined;
}

/** The environment in which a program is tapped. What it asks for stands beside the library too: processes of the program are given less. */
export function tapEnvironment({ library, ...options }: TapOptions): Record<string, string> {
  const settings = settingsOf(options);
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(`${library}.settings`, lines.join(''));
  return { LD_PRELOAD: library, ...settings };
}

function settingsOf({ folder, log, fail, kill }: Omit<TapOptions, 'library'>): Record<string, string> {
  return {
    TAP_FOLDER: folder,
    TAP_LOG: log,
    ...(fail && { TAP_FAIL: `${fail.kinds}:${fail.nth}:${errnos[fail.errno]}${fail.on ? ':on' : ''}` }),
    ...(kill && { TAP_KILL: `${kill.kinds}:${kill.nth}` }),
  };
}
