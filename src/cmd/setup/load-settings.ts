/** Which settings are in force: those of -c, of VENDOR_MIRROR_CONFIG, of this machine, or the built-in sandbox. */
import { accessSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { withKept } from '../../settings/kept-accounts.ts';
import { parseSettings, type Settings } from '../../settings/parse.ts';
import { MirrorError } from '../../domain/errors.ts';
import { knownConnection, keptAccountsAt } from '../../store/reports/known-accounts.ts';
import { isNotRegularFile, ownFileAt } from '../../store/files/own-files.ts';
import type { Call, CommonOptions } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { printNotice } from '../terminal/print.ts';
import { readSecretFile, readSettingsFile } from '../../settings/file.ts';
import { refuseWrongFolder } from './wrong-folder.ts';

/**
 * The settings of this call, with the accounts that were added and paused by command, restricted to `--account` where that is given.
 * @throws MirrorError `settings_unreadable`, `settings_invalid`, `usage` for an account that neither the settings nor the mirror know,
 * `database_locked`.
 */
export function loadSettings(call: Call): Settings {
  const { account } = call.options;
  const inFile = settingsOfFile(call);
  const settings = withKept(inFile, keptAccountsAt(inFile.database));
  if (account !== undefined) return restricted(settings, account);
  refuseNoAccounts(settings);
  return settings;
}

/** What the settings file says, alone. @throws MirrorError `settings_unreadable`, `settings_invalid`. */
export function settingsOfFile({ context, options }: Call): Settings {
  const name = settingsFile(context, options);
  const settings = parseSettings({
    defaults: readSettingsFile(join(context.packageRoot, 'config/default.yaml')),
    text: readSettingsFile(name),
    name,
    env: context.env,
    readFile: readSecretFile,
    absolutePaths: name === context.machineSettings,
  });
  refuseWrongFolder(name, settings.database, process.cwd());
  refuseClashes(name, settings);
  return settings;
}

function refuseNoAccounts({ accounts, database }: Settings): void {
  if (accounts.length > 0) return;
  throw new MirrorError(
    'settings_invalid',
    `There is no account to mirror: \`accounts\` in the settings names none, and none was added to ${database}. List them there, such as ["6BApk"], or run \`vendor-mirror accounts add ID\`.`,
  );
}

function settingsFile(context: ProcessContext, { config, sandbox }: CommonOptions): string {
  if (config !== undefined && sandbox) throw new MirrorError('usage', '-c and --sandbox cannot be used together.');
  const named = config ?? (sandbox ? undefined : context.env['VENDOR_MIRROR_CONFIG'] || machineSettings(context));
  if (named !== undefined) return named;
  if (!sandbox)
    printNotice(
      context,
      `No settings file is named (-c FILE), so the built-in sandbox stands in for the service.${existsSync('mirror.yaml') ? ' To use mirror.yaml of this folder, add -c mirror.yaml.' : ''}`,
    );
  return join(context.packageRoot, 'config/sandbox.yaml');
}

/** The settings of this machine; undefined where it has none. What is there and cannot be read is reported when it is read. */
function machineSettings({ machineSettings: path }: ProcessContext): string | undefined {
  try {
    accessSync(path);
    return path;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : path;
  }
}

/** Each file of an installation is one of its own. Nothing is said of a file but the setting that names it. */
function refuseClashes(name: string, { database, secrets, publish, readFrom }: Settings): void {
  const named = [
    { key: 'database', path: database, own: { readFrom } },
    { key: 'secrets', path: secrets, own: { readFrom, database } },
    { key: 'database', path: database, own: { secrets } },
    ...publish.map(({ path }, index) => ({
      key: `publish.${index}.path`,
      path,
      own: { readFrom, database, secrets },
    })),
  ];
  const problems = named.flatMap(({ key, path, own }) => {
    const what = ownFileAt(path, own);
    if (what !== undefined) return [`${key}: is ${what}; it should be another file`];
    return isNotRegularFile(path) ? [`${key}: is not a regular file`] : [];
  });
  if (problems.length > 0)
    throw new MirrorError(
      'settings_invalid',
      [`${name} names files that cannot be used:`, ...new Set(problems)].join('\n  '),
    );
}

/** The mirror may hold an account that was removed from the settings: it can still be read, and its callbacks deleted. */
function restricted(settings: Settings, wanted: string): Settings {
  const { accounts, database, connectionOf } = settings;
  if (accounts.includes(wanted)) return { ...settings, accounts: [wanted], isRestricted: true };
  const connection = knownConnection(database, wanted);
  if (connection !== undefined)
    return {
      ...settings,
      accounts: [wanted],
      isRestricted: true,
      connectionOf: new Map([...connectionOf, [wanted, connection]]),
    };
  refuseNoAccounts(settings);
  throw new MirrorError('usage', `The settings do not name the account ${wanted}; they name ${accounts.join(', ')}.`);
}
