/** An installation as the program opens it, on this machine's own clock, beside the bench's service. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFetch } from '../../../src/api/http/node-fetch.ts';
import { systemClock, systemRandom, type Clock } from '../../../src/domain/clock.ts';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { openInstallation, type Installation } from '../../../src/app/installation.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { lockProcess } from '../../../src/store/files/locks.ts';

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url));
/** The compiled program. */
export const program = join(packageRoot, 'dist/cmd/main.js');
export const migrations = join(packageRoot, 'migrations');
export const account = '6BApk';
export const token = 'bench-token';
/** Pages under way at once. */
export const concurrency = 4;

export interface Place {
  readonly baseUrl: string;
  readonly folder: string;
  readonly perPage: number;
  /** The accounts; default: one. */
  readonly accounts?: readonly string[];
  /** Whether each account has a connection of its own; default: one that all share. */
  readonly apart?: boolean;
  /** The address of a database of PostgreSQL that holds the mirror, in place of a file in the folder. */
  readonly postgres?: string;
}

/** Settings that let nothing wait: no rate that is ever reached, and no old copies at the service to guard against. */
export function settingsText({ baseUrl, folder, perPage, accounts = [account], apart, postgres }: Place): string {
  const inFiles = { database: join(folder, 'vendors.db'), secrets: join(folder, 'secrets.db') };
  const ofAccount = (id: string): string => `of-${id}`;
  const connections = accounts.map((id) => [ofAccount(id), { auth: { accessToken: `${token}-${id}` } }] as const);
  return JSON.stringify({
    accounts: apart === true ? accounts.map((id) => ({ id, connection: ofAccount(id) })) : accounts,
    ...(apart === true && { connections: Object.fromEntries(connections) }),
    ...(postgres === undefined ? inFiles : { database: postgres, secretsKeyFile: keyIn(folder) }),
    service: {
      baseUrl,
      auth: { accessToken: token },
      paging: { perPage, concurrency },
      readOne: 'get',
      rateLimit: { all: '1000000/1s', post: '1000000/1s', callbacks: '1000000/1s' },
    },
    // Without webhooks, a daemon of these accounts has nothing to do.
    ...(apart === true && { schedule: { reconcile: '0 0 1 1 *' } }),
    sync: { lag: '0ms', secondLook: '1h' },
  });
}

/** The file with the key of secrets in PostgreSQL, made where it is not there yet. */
function keyIn(folder: string): string {
  const file = join(folder, 'key');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  return file;
}

export function settingsOf(place: Place): Settings {
  return parseSettings({
    defaults: readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8'),
    name: 'settings',
    text: settingsText(place),
    env: {},
    readFile: (path) => readFileSync(path, 'utf8'),
  });
}

export function open(place: Place, clock: Clock = systemClock): Promise<Installation> {
  return openInstallation(settingsOf(place), {
    clock,
    random: systemRandom,
    fetch: nodeFetch(),
    log: silentLog,
    lockProcess,
    migrations,
  });
}
