/**
 * Which settings are in force, those of -c, of VENDOR_MIRROR_CONFIG, of this machine, or the built-in sandbox; and which of their accounts
 * a command is about. Beside a settings file that nothing names, the sandbox has to be named.
 *
 * Commands that write, and all `callbacks` commands, need `--account` if there are several. A command that finds no mirror at a relative
 * path, but one beside the settings file, exits with 78 and names both, instead of beginning a second mirror.
 */
import { accessSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { hasCode, MirrorError } from '../domain/errors.ts';
import { readSecretFile, readSettingsFile } from '../settings/file.ts';
import { writableByOthers } from '../settings/permissions.ts';
import { parseSettings, withKept, type Settings } from '../settings/parse.ts';
import {
  fileAbove,
  impossiblePath,
  isMadeByOthers,
  isNotRegularFile,
  ownFileAt,
  placeToWrite,
} from '../store/files/own-files.ts';
import { keptAccountsOf, knownConnectionsOf } from '../store/places/place.ts';
import { shellWord, type Call, type CommonOptions } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printNotice } from './terminal/print.ts';

/**
 * The settings of this call, with the accounts that were added and paused by command, restricted to `--account` where that is given.
 * @throws MirrorError `settings_unreadable`, `settings_invalid`, `usage` for an account that neither the settings nor the mirror know,
 * `database_locked`.
 */
export async function loadSettings(call: Call): Promise<Settings> {
  const settings = await settingsOfLogin(call);
  refuseNoAccounts(settings);
  return settings;
}

/** The same, also where there is no account yet. */
export async function settingsOfLogin(call: Call): Promise<Settings> {
  const { account } = call.options;
  const inFile = settingsOfFile(call);
  const settings = withKept(inFile, await keptAccountsOf(inFile));
  return account === undefined ? settings : await restricted(settings, account);
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
  if (settings.sandbox !== null) Object.assign(context.inEveryDocument ?? {}, { sandbox: true });
  // Only relative paths need a working directory, which may have been removed.
  if (!settings.postgres && !isAbsolute(settings.database)) refuseWrongFolder(name, settings.database, process.cwd());
  refuseClashes(name, settings);
  refuseOpenCommands(name, settings);
  return settings;
}

function refuseNoAccounts({ accounts, database }: Settings): void {
  if (accounts.length > 0) return;
  throw new MirrorError(
    'settings_invalid',
    `There is no account to mirror: \`accounts\` in the settings names none, and none was added to ${database}. List them there, such as ["6BApk"], or run \`vendor-mirror accounts add ID\`; where access is got by OAuth, \`vendor-mirror login\` lists those that the token sees.`,
  );
}

function settingsFile(context: ProcessContext, { config, sandbox }: CommonOptions): string {
  if (config !== undefined && sandbox) throw new MirrorError('usage', '-c and --sandbox cannot be used together.');
  const named = config ?? (sandbox ? undefined : context.env['VENDOR_MIRROR_CONFIG'] || machineSettings(context));
  if (named !== undefined) return named;
  if (!sandbox) {
    refuseUnnamed(settingsFilesHere());
    printNotice(context, 'No settings file is named (-c FILE), so the built-in sandbox stands in for the service.');
  }
  return join(context.packageRoot, 'config/sandbox.yaml');
}

/** Whoever runs a command beside a settings file means that file, and would take the sandbox's vendors for real ones. */
function refuseUnnamed(files: readonly string[]): void {
  const [file] = files;
  if (file === undefined) return;
  throw new MirrorError(
    'settings_invalid',
    `No settings file is named, but this folder holds ${files.join(', ')}. Add -c ${shellWord(file)} to use ${files.length === 1 ? 'it' : 'one of them'}, or --sandbox to use the built-in sandbox.`,
  );
}

/** Keys of which a settings file has several. */
const settingsKeys = /^(accounts|connections|database|secrets|service|listener|notify|publish|sandbox)[ ]*:/gm;
/** Larger files are no settings. */
const maxSettingsBytes = 65_536;

/** Names of files in this folder that are settings of this program by their ending and their keys, or are called mirror.yaml. */
function settingsFilesHere(): string[] {
  try {
    const folder = process.cwd();
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .filter((name) => name === 'mirror.yaml' || hasSettings(join(folder, name)))
      .sort();
  } catch {
    // It was removed, or may not be read.
    return [];
  }
}

function hasSettings(path: string): boolean {
  try {
    const { size } = statSync(path);
    if (size > maxSettingsBytes) return false;
    return new Set(readFileSync(path, 'utf8').match(settingsKeys)).size > 1;
  } catch {
    return false;
  }
}

/** The settings of this machine; undefined where it has none. What is there and cannot be read is reported when it is read. */
function machineSettings({ machineSettings: path }: ProcessContext): string | undefined {
  try {
    accessSync(path);
    return path;
  } catch (error) {
    return hasCode(error, 'ENOENT', 'ENOTDIR') ? undefined : path;
  }
}

/**
 * Each file of an installation is one of its own. Nothing is said of a file but the setting that names it. What another user put in the place of
 * a copy, or of its folder, stops its publication alone, or whoever may write there could stop everything.
 */
function refuseClashes(name: string, { database, secrets, postgres, publish, readFrom }: Settings): void {
  const files = [
    { key: 'database', path: database, own: { readFrom } },
    { key: 'secrets', path: secrets, own: { readFrom, database } },
    { key: 'database', path: database, own: { secrets } },
  ];
  const named = [
    ...(postgres ? [] : files),
    ...publish.flatMap((one, index) =>
      'to' in one || isMadeByOthers(one.path)
        ? []
        : [
            {
              key: `publish.${index}.path`,
              path: one.path,
              own: { readFrom, ...(!postgres && { database, secrets }) },
            },
          ],
    ),
  ];
  const problems = named.flatMap(({ key, path, own }) => {
    const what = ownFileAt(path, own) ?? (key.startsWith('publish.') ? publishedTo(path, publish) : undefined);
    if (what !== undefined) return [`${key}: is ${what}; it should be another file`];
    const why = key.startsWith('publish.') ? undefined : impossiblePath(path);
    if (why !== undefined) return [`${key}: ${why}`];
    if (isNotRegularFile(path)) return [`${key}: is not a regular file`];
    const above = key.startsWith('publish.') ? undefined : fileAbove(path);
    return above === undefined ? [] : [`${key}: lies below ${above}, which is not a folder`];
  });
  if (problems.length > 0)
    throw new MirrorError(
      'settings_invalid',
      [`${name} names files that cannot be used:`, ...new Set(problems)].join('\n  '),
    );
}

/**
 * Which publication before that of this path is written to the same file, in words; undefined where none is. Each would take the other's for a
 * file that was replaced, and write its own again, for ever.
 */
function publishedTo(path: string, publish: Settings['publish']): string | undefined {
  const place = placeOf(path);
  const first = publish.findIndex((one) => !('to' in one) && placeOf(one.path) === place);
  const isEarlier = place !== undefined && publish[first] !== undefined && publish[first].path !== path;
  return isEarlier ? `the file of publish.${first}.path` : undefined;
}

/** Undefined where it cannot be written, which its publication reports. */
function placeOf(path: string): string | undefined {
  try {
    return placeToWrite(path);
  } catch {
    return undefined;
  }
}

/** Whoever may change a command, a script or file that it is given, or the settings that name it, may have everything that this user has. */
function refuseOpenCommands(name: string, { connections }: Settings): void {
  for (const auth of connections.values()) {
    if (!('accessTokenCommand' in auth)) continue;
    const { accessTokenCommand: command } = auth;
    const words = typeof command === 'string' ? command.split(/[\s"';|&<>()]+/) : command;
    for (const file of [name, ...words.filter((word) => word.includes('/'))]) {
      const open = writableByOthers(file);
      if (open)
        throw new MirrorError(
          'settings_invalid',
          `${name} names a command that prints a token (accessTokenCommand), and others could change what it does as this user: ${open.why}.`,
          { remedy: open.remedy },
        );
    }
  }
}

/** The mirror may hold an account that was removed from the settings: it can still be read, and its callbacks deleted. */
async function restricted(settings: Settings, wanted: string): Promise<Settings> {
  const { accounts, connectionOf } = settings;
  if (accounts.includes(wanted)) return { ...settings, accounts: [wanted], isRestricted: true };
  const known = await knownConnectionsOf(settings);
  const connection = known.find(({ id }) => id === wanted)?.connection;
  if (connection !== undefined)
    return {
      ...settings,
      accounts: [wanted],
      isRestricted: true,
      connectionOf: new Map([...connectionOf, [wanted, connection]]),
    };
  refuseNoAccounts(settings);
  const others = known.map(({ id }) => id).filter((id) => !accounts.includes(id));
  const held = others.length === 0 ? '' : `, and the mirror also holds ${others.join(', ')}`;
  throw new MirrorError(
    'usage',
    `The settings do not name the account ${wanted}; they name ${accounts.join(', ')}${held}.`,
  );
}

/**
 * A relative path starts at the working directory. Where no mirror is there, but one is at that path beside the settings file, the command
 * was meant for that one.
 * @param workingDirectory absolute
 * @throws MirrorError `settings_invalid`
 */
export function refuseWrongFolder(settingsFile: string, database: string, workingDirectory: string): void {
  if (isAbsolute(database)) return;
  const folder = dirname(resolve(workingDirectory, settingsFile));
  const [here, besideSettings] = [resolve(workingDirectory, database), resolve(folder, database)];
  if (relative(here, besideSettings) === '' || existsSync(here) || !existsSync(besideSettings)) return;
  throw new MirrorError(
    'settings_invalid',
    `There is no mirror ${here}, but there is one beside the settings file: ${besideSettings}. Relative paths start at the working directory: run the command in ${folder}, or name absolute paths in ${settingsFile}.`,
  );
}

/** The account of a command that works on one alone. @throws MirrorError `usage` where the settings name several and `--account` none. */
export function oneAccount({ accounts }: Settings): string {
  const [account, ...others] = accounts;
  if (account !== undefined && others.length === 0) return account;
  throw new MirrorError(
    'usage',
    `The settings name several accounts (${accounts.join(', ')}): choose one with --account ID.`,
  );
}

/** The settings without the accounts that are paused, which a notice names. @throws MirrorError `usage` where `--account` names such a one. */
export function withoutPaused(context: ProcessContext, settings: Settings): Settings {
  const { accounts, paused, isRestricted } = settings;
  const left = accounts.filter((account) => paused.has(account));
  const [first] = left;
  if (first === undefined) return settings;
  if (isRestricted)
    throw new MirrorError('usage', `${first} is paused: \`vendor-mirror accounts resume ${first}\` resumes it.`);
  printNotice(context, `Skipped because they are paused: ${left.join(', ')}.`);
  return { ...settings, accounts: accounts.filter((account) => !paused.has(account)) };
}
