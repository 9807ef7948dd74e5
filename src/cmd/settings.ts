/** Which settings are in force: those of -c, of VENDOR_MIRROR_CONFIG, or the built-in sandbox. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings, type Settings } from '../config.ts';
import { MirrorError } from '../errors.ts';
import type { Call } from './command.ts';
import { remark } from './say.ts';

/**
 * The settings of this call, restricted to `--account` where that is given.
 * @throws MirrorError `settings_unreadable`, `settings_invalid`, `usage` for an account that the settings do not name.
 */
export function loadSettings({ edge, options }: Call): Settings {
  const named = options.config ?? (edge.env['VENDOR_MIRROR_CONFIG'] || undefined);
  if (named === undefined)
    remark(edge, 'No settings are named (-c FILE): the built-in sandbox stands in for the service.');
  const name = named ?? join(edge.packageRoot, 'config/sandbox.yaml');
  const settings = parseSettings({
    defaults: readSettingsFile(join(edge.packageRoot, 'config/default.yaml')),
    text: readSettingsFile(name),
    name,
    env: edge.env,
    readFile: (path) => readFileSync(path, 'utf8'),
  });
  return { ...settings, accounts: wantedAccounts(settings.accounts, options.account) };
}

function readSettingsFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new MirrorError('settings_unreadable', `The settings file ${path} cannot be read${reason}.`, {
      cause: error,
    });
  }
}

function wantedAccounts(accounts: string[], wanted: string | undefined): string[] {
  if (wanted === undefined) return accounts;
  if (accounts.includes(wanted)) return [wanted];
  throw new MirrorError('usage', `The settings do not name the account ${wanted}; they name ${accounts.join(', ')}.`);
}
