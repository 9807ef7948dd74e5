/** A PostgreSQL of the programs of this machine, in a folder that is removed afterwards; or the one that VENDOR_MIRROR_TEST_POSTGRES names. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const given = process.env['VENDOR_MIRROR_TEST_POSTGRES'];

/** The folder of the server's programs; undefined where there is none. */
function programs(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

const found = programs();

/** What is missing for such tests; undefined where a server is given, or can be started. */
export const missingPostgres =
  given === undefined && found === undefined
    ? 'the programs initdb and postgres are not there, and VENDOR_MIRROR_TEST_POSTGRES names no server'
    : undefined;

/** Whether the server is one of ours: it speaks TLS, with a certificate for 127.0.0.1, and asks one user for a password. */
export const isOwnServer = given === undefined;

/** The server asks this user for a password, and no other. */
export const askedForPassword = 'asked_for_password';

/** As whom such programs run, which refuse to run as root. */
export function asOther(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const user = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const number = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

export interface StartedServer {
  /** As a superuser. */
  readonly address: string;
  /** Ends it at once; nothing of it is kept. */
  readonly stop: () => Promise<void>;
}

/** Starts a server, unless one is given. @throws Error where `missingPostgres` says why not. */
export async function startServer(): Promise<StartedServer> {
  return given === undefined ? startOwnServer() : { address: given, stop: () => Promise.resolve() };
}

export interface OwnServer extends StartedServer {
  /** Ends it as the loss of its machine does. */
  readonly lose: () => Promise<void>;
}

/** Starts a server of the programs of this machine. @param primary whose standby it is @param more settings */
export async function startOwnServer(primary?: StartedServer, more: readonly string[] = []): Promise<OwnServer> {
  if (found === undefined) throw new Error(missingPostgres);
  const user = asOther();
  const folder = mkdtempSync(join(tmpdir(), 'vendor-mirror-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const made = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
  if (primary)
    execFileSync(join(found, 'pg_basebackup'), ['-D', data, '-R', '-d', primary.address], {
      ...options,
      stdio: 'pipe',
    });
  else {
    execFileSync(join(found, 'initdb'), made, { ...options, stdio: 'pipe' });
    const hba = join(data, 'pg_hba.conf');
    writeFileSync(hba, `host all ${askedForPassword} all scram-sha-256\n${readFileSync(hba, 'utf8')}`);
  }
  for (const name of ['valid.pem', 'key.pem']) {
    copyFileSync(join(import.meta.dirname, '../fixtures/tls', name), join(folder, name));
    chmodSync(join(folder, name), 0o600);
    if (user.uid !== undefined && user.gid !== undefined) chownSync(join(folder, name), user.uid, user.gid);
  }
  const port = await freePort();
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'synchronous_commit=off',
    'listen_addresses=127.0.0.1,127.0.0.2',
    'ssl=on',
    ...more,
  ];
  const tls = [`ssl_cert_file=${join(folder, 'valid.pem')}`, `ssl_key_file=${join(folder, 'key.pem')}`];
  const flags = [...settings, ...tls, `port=${port}`, `unix_socket_directories=${folder}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const server = spawn(join(found, 'postgres'), ['-D', data, ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await isReady(server);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  return {
    address: `postgres://tester@127.0.0.1:${port}/postgres`,
    lose: () => end('SIGKILL'),
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function isReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (/ready to accept (read-only )?connections/.test(log)) resolve();
    });
    server.once('exit', () => reject(new Error(`The server ended: ${log}`)));
  });
}
