/** An installation as the program opens it, on this machine's own clock, beside the bench's service. */
import { readFileSync } from 'node:fs';
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
}

/** Settings that let nothing wait: no rate that is ever reached, and no old copies at the service to guard against. */
export function settingsText({ baseUrl, folder, perPage, accounts = [account] }: Place): string {
  return JSON.stringify({
    accounts,
    database: join(folder, 'vendors.db'),
    secrets: join(folder, 'secrets.db'),
    service: {
      baseUrl,
      auth: { accessToken: token },
      paging: { perPage, concurrency },
      readOne: 'get',
      rateLimit: { all: '1000000/1s', post: '1000000/1s', callbacks: '1000000/1s' },
    },
    sync: { lag: '0ms', secondLook: '1h' },
  });
}

export function settingsOf(place: Place): Settings {
  return parseSettings({
    defaults: readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8'),
    name: 'settings',
    text: settingsText(place),
    env: {},
    readFile: String,
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
