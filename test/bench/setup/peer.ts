/**
 * The nearest peer of this program that npm has: it copies the objects of a payment service into PostgreSQL. It and a database of
 * its own are set up here and removed afterwards; nothing else of this repository needs them.
 */
import { spawn, spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { withFolder } from './folder.ts';

export const peerPackage = '@supabase/stripe-sync-engine';
export const peerVersion = '0.48.5';

export interface Peer {
  /** The folder in which the package is installed. */
  readonly folder: string;
  /** The folder of the socket of PostgreSQL, which listens nowhere else. */
  readonly socket: string;
  readonly user: string;
}

/** @throws Error where npm or the programs of PostgreSQL cannot be had. */
export function withPeer<T>(work: (peer: Peer) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    succeed('npm', ['install', '--silent', '--no-audit', '--no-fund', `${peerPackage}@${peerVersion}`], {
      cwd: folder,
    });
    // PostgreSQL refuses to run as root.
    const owner = process.getuid?.() === 0 ? accountOf('postgres') : undefined;
    const socket = join(folder, 'socket');
    chmodSync(folder, 0o711);
    mkdirSync(socket);
    if (owner) chownSync(socket, owner.uid, owner.gid);
    const data = join(socket, 'data');
    const programs = postgresPrograms();
    const user = 'peer';
    succeed(join(programs, 'initdb'), ['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8'], { ...owner, cwd: socket });
    const server = spawn(join(programs, 'postgres'), ['-D', data, '-k', socket, '-c', 'listen_addresses='], {
      ...owner,
      cwd: socket,
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => server.once('exit', resolve));
    try {
      succeed(join(programs, 'pg_isready'), ['-q', '-h', socket, '-t', '30'], {}, 60);
      return await work({ folder, socket, user });
    } finally {
      server.kill('SIGINT');
      await ended;
    }
  });
}

/** Runs a program to its end, again after half a second where it fails, at most so often. */
function succeed(program: string, args: readonly string[], options: SpawnSyncOptions, times = 1): void {
  const { status, error, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (status === 0) return;
  if (times <= 1) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  succeed(program, args, options, times - 1);
}

function accountOf(name: string): { readonly uid: number; readonly gid: number } {
  const of = (which: '-u' | '-g'): number => Number(spawnSync('id', [which, name], { encoding: 'utf8' }).stdout.trim());
  return { uid: of('-u'), gid: of('-g') };
}

/** Where Debian puts the programs of its newest version. */
function postgresPrograms(): string {
  const versions = '/usr/lib/postgresql';
  let newest: string | undefined;
  try {
    newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0];
  } catch {
    // None is installed.
  }
  if (newest === undefined) throw new Error(`PostgreSQL is not in ${versions}: install Debian's package postgresql.`);
  return join(versions, newest, 'bin');
}
