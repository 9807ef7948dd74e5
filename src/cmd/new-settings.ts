/** The settings file that `login` writes where there is none: for the service that its options name. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorSentence, MirrorError } from '../domain/errors.ts';
import { readSecretFile, readSettingsFile } from '../settings/file.ts';
import { parseSettings, type Settings } from '../settings/parse.ts';
import { giveToFolderOwner } from '../store/sqlite/file-systems.ts';
import type { Call } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { isInteractive, prompt } from './terminal/prompt.ts';

/** What names a service that no settings file names yet. */
export interface NewServiceOptions {
  readonly baseUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  readonly redirectUri?: string;
  readonly publicUrl?: string;
}

interface NewSettings {
  readonly settings: Settings;
  /** By which other commands find them. */
  readonly name: string;
  /** Writes what is not there yet, never over anything. @returns paths. @throws MirrorError `file_unwritable`. */
  write(): readonly string[];
}

const usualName = 'mirror.yaml';
const optionNames = {
  baseUrl: '--base-url',
  clientId: '--client-id',
  clientSecretFile: '--client-secret-file',
  authorizeUrl: '--authorize-url',
  tokenUrl: '--token-url',
  redirectUri: '--redirect-uri',
  publicUrl: '--public-url',
} as const satisfies Record<keyof NewServiceOptions, string>;

/**
 * The settings for a new file, asked for by options; undefined where the call means a file that is there.
 * @throws MirrorError `usage` where the file is there and the options would change it, or where something is missing; `settings_invalid`.
 */
export async function newSettings({
  context,
  options,
  args,
}: Call<NewServiceOptions>): Promise<NewSettings | undefined> {
  const given = Object.entries(optionNames).filter(([key]) => options[key as keyof NewServiceOptions] !== undefined);
  const name = options.config ?? (context.env['VENDOR_MIRROR_CONFIG'] || usualName);
  const file = resolve(name);
  const [first] = given;
  if (!first) {
    refuseNone(context, options);
    return undefined;
  }
  const [, option] = first;
  if (options.sandbox) throw new MirrorError('usage', `${option} and --sandbox cannot be used together.`);
  if (existsSync(file))
    throw new MirrorError(
      'usage',
      `${name} exists, and login never changes a settings file: change it there, or leave ${option} out.`,
    );
  if (args[0] !== undefined)
    throw new MirrorError('usage', `A new settings file has one connection, service.auth: leave ${args[0]} out.`);
  const { baseUrl, clientId } = options;
  const { account } = options;
  const missing = [
    ...(baseUrl === undefined ? ['--base-url'] : []),
    ...(clientId === undefined ? ['--client-id'] : []),
  ];
  if (baseUrl === undefined || clientId === undefined)
    throw new MirrorError('usage', `For a new settings file, ${missing.join(' and ')} must be given too.`);
  const secret = await clientSecret(context, file, options.clientSecretFile);
  const text = settingsText(file, secret.path, { ...options, baseUrl, clientId, account });
  const settings = parseSettings({
    defaults: readSettingsFile(join(context.packageRoot, 'config/default.yaml')),
    text,
    name: file,
    env: {},
    readFile: (path) => (path === secret.path ? (secret.typed ?? readSecretFile(path)) : readSecretFile(path)),
  });
  const write = (): string[] =>
    written([...(secret.typed === undefined ? [] : [[secret.path, `${secret.typed}\n`] as const]), [file, text]]);
  return { settings, name, write };
}

/** @throws MirrorError `usage` where there are no settings at all: nobody logs in to the built-in sandbox. */
function refuseNone({ env, machineSettings }: ProcessContext, { config, sandbox }: Call['options']): void {
  if (config !== undefined || sandbox || env['VENDOR_MIRROR_CONFIG'] || existsSync(machineSettings)) return;
  throw new MirrorError(
    'usage',
    `No settings file is named (-c FILE). With --base-url and --client-id, login writes a new one, ${usualName}.`,
  );
}

interface ClientSecret {
  readonly path: string;
  /** Undefined where the file is there already. */
  readonly typed: string | undefined;
}

/** Never an argument: whoever lists the processes of the machine would see it. */
async function clientSecret(context: ProcessContext, file: string, given: string | undefined): Promise<ClientSecret> {
  if (given !== undefined) return { path: resolve(given), typed: undefined };
  const path = `${file.replace(/\.ya?ml$/, '')}.client-secret`;
  if (existsSync(path)) return { path, typed: undefined };
  if (!isInteractive(context))
    throw new MirrorError('usage', 'There is no terminal to type the client secret on: use --client-secret-file FILE.');
  const typed = (await prompt(context, 'The client secret, as the service shows it:', { hidden: true })).trim();
  if (typed === '') throw new MirrorError('usage', 'The client secret is empty.');
  return { path, typed };
}

type Named = NewServiceOptions & {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly account: string | undefined;
};

/** Paths are whole, so that they mean the same wherever a command is run. */
function settingsText(file: string, secretPath: string, options: Named): string {
  const folder = dirname(file);
  const base = options.baseUrl.replace(/\/+$/, '');
  const {
    authorizeUrl = `${base}/auth/oauth/authorize`,
    tokenUrl = `${base}/auth/oauth/token`,
    redirectUri = 'http://127.0.0.1:8789/callback',
    publicUrl,
  } = options;
  const quoted = (text: string): string => JSON.stringify(text);
  return `# Written by \`vendor-mirror login\`. Everything else has a default.
accounts: [${options.account === undefined ? '' : quoted(options.account)}]
database: ${quoted(join(folder, 'vendors.db'))}
secrets: ${quoted(join(folder, 'secrets.db'))}
service:
  baseUrl: ${quoted(options.baseUrl)}
  auth:
    oauth:
      authorizeUrl: ${quoted(authorizeUrl)}
      tokenUrl: ${quoted(tokenUrl)}
      clientId: ${quoted(options.clientId)}
      clientSecretFile: ${quoted(secretPath)}
      redirectUri: ${quoted(redirectUri)}
${publicUrl === undefined ? '# Where the service reaches port 8787 of this machine. Without it there are no webhooks: changes arrive with the next sweep.\n# listener:\n#   publicUrl: https://mirror.example.com\n' : `listener:\n  publicUrl: ${quoted(publicUrl)}\n`}`;
}

/** Writes all of the files, or none. */
function written(files: readonly (readonly [path: string, text: string])[]): string[] {
  const done: string[] = [];
  try {
    for (const [path, text] of files) {
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
      done.push(path);
      giveToFolderOwner(path);
    }
  } catch (error) {
    for (const path of done) rmSync(path, { force: true });
    const [path] = files[done.length] ?? [''];
    throw new MirrorError('file_unwritable', `${path} cannot be written: ${errorSentence(error)}`, {
      cause: error,
    });
  }
  return done;
}
