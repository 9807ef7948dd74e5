/** Settings as the program reads them: the defaults, with files in a folder, and whatever a test lays over them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings, type Settings } from '../../src/settings/parse.ts';
import { packageRoot } from './mirror-file.ts';
import { account, token } from './names.ts';

export type SettingsOver = Readonly<Record<string, unknown>>;

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');

export function settingsIn(
  folder: string,
  over: SettingsOver = {},
  readFile: (path: string) => string = String,
): Settings {
  const { service, ...rest } = over;
  const text = JSON.stringify({
    accounts: [account],
    database: join(folder, 'vendors.db'),
    secrets: join(folder, 'secrets.db'),
    service: { baseUrl: 'https://service.example', auth: { accessToken: token }, ...(service as object | undefined) },
    ...rest,
  });
  return parseSettings({ defaults, name: 'settings', env: {}, readFile, text });
}

/** What is set where a test sets nothing. */
export const defaultSettings = settingsIn('.');
