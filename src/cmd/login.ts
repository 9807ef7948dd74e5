/**
 * `login` and `logout`: a person authorizes vendor-mirror in a browser, and the tokens are kept with the secrets until they are forgotten. Where
 * no settings file is there, `login` writes one for the service that its options name.
 */
import {
  type AuthorizationRequest,
  type Authorized,
  accountsSeen,
  type SeenAccount,
} from '../api/auth/authorization.ts';
import type { OAuthSettings } from '../api/auth/oauth-tokens.ts';
import type { Installation } from '../app/installation.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { asMirrorError, exitStatus, MirrorError, errorSentence } from '../domain/errors.ts';
import { defaultConnection, isLoopback, type Settings, parseSettings } from '../settings/parse.ts';
import { connectionNameOf, pathOfConnection } from '../settings/shape.ts';
import { settingsOfLogin } from './load-settings.ts';
import { highestExit, shellWord, withSettings, type Call, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printError, printJson, printNotice, printText } from './terminal/print.ts';
import { isInteractive, prompt, readInput, type PromptContext } from './terminal/prompt.ts';
import { visible } from './terminal/text.ts';
import { withInstallation } from './with-installation.ts';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSecretFile, readSettingsFile } from '../settings/file.ts';
import { giveToFolderOwner } from '../store/sqlite/file-systems.ts';

/** An account of the settings, and why the new token does not open it. */
interface Access {
  readonly account: string;
  readonly error: MirrorError | undefined;
}

export const login: CommandHandler<NewServiceOptions> = async (call) => {
  const { context, options } = call;
  const created = await newSettings(call);
  const settings = created?.settings ?? (await settingsOfLogin(call));
  const { name, oauth } = oauthConnection(settings, call.args[0]);
  // `logout` needs none of it.
  const { authorizationRequest, redeem } = await import('../api/auth/authorization.ts');
  const request = await authorizationRequest(oauth, context.random);
  const answer = await answerOf(context, oauth, request);
  const { clock, fetch } = context;
  const redeemed = (): Promise<Authorized> =>
    redeem(oauth, request, answer, { clock, fetch, timeout: settings.service.timeout });
  // New files are begun once there is access. Those that are there are opened before: a service may end the earlier grant with a new one.
  const first = created && (await redeemed());
  return withInstallation(call, settings, async (installation) => {
    const authorized = first ?? (await redeemed());
    await installation.connections.keepGrant(name, authorized.pair);
    const wrote = created?.write() ?? [];
    const access = await accessOf(installation, accountsOf(settings, name), call);
    const seen = settings.accounts.length === 0 ? await seenBy(settings, authorized, context) : undefined;
    if (options.json) printJson(context, { ...document(name, authorized, access), ...seenDocument(seen), wrote });
    else {
      for (const path of wrote) printText(context, `Wrote ${visible(path)}.`);
      report(context, name, authorized, access);
      if (seen) offer(context, name, seen, created?.name);
      else if (access.length === 0) printText(context, 'No account uses this connection yet.');
      if (created) printText(context, nextSteps(created.name));
    }
    return highestExit(access.map(({ error }) => error?.exit ?? exitStatus.done));
  });
};

/** Where somebody goes from here who has just begun. */
function nextSteps(name: string): string {
  const option = `-c ${shellWord(name)}`;
  return `Next, \`vendor-mirror doctor ${option}\` checks everything, and \`vendor-mirror serve ${option}\` mirrors it.`;
}

/** The accounts that the new token sees, or why they are not known. */
function seenBy(
  { service }: Settings,
  { pair }: Authorized,
  { clock, fetch }: ProcessContext,
): Promise<readonly SeenAccount[] | MirrorError> {
  return accountsSeen(service.baseUrl ?? '', pair.access, { clock, fetch, timeout: service.timeout }).catch(
    asMirrorError,
  );
}

function seenDocument(seen: readonly SeenAccount[] | MirrorError | undefined): object {
  if (seen === undefined) return {};
  return seen instanceof MirrorError ? { seen: null, seen_error: seen.message } : { seen };
}

/** What to mirror, where nothing is mirrored yet. */
function offer(
  context: ProcessContext,
  connection: string,
  seen: readonly SeenAccount[] | MirrorError,
  settingsName: string | undefined,
): void {
  const option = connection === defaultConnection ? '' : ` --connection ${connection}`;
  const command = (id: string): string =>
    settingsName === undefined
      ? withSettings(context, `\`vendor-mirror accounts add ${id}${option}\``)
      : `\`vendor-mirror accounts add ${id}${option} -c ${shellWord(settingsName)}\``;
  if (!(seen instanceof MirrorError) && seen.length > 0) {
    printText(context, 'The settings name no account. The token sees:');
    for (const { account, business } of seen)
      printText(context, `  ${visible(account)}${business === null ? '' : `  ${visible(business)}`}`);
    printText(context, `Mirror one with ${command(visible(seen[0]?.account ?? 'ID'))}.`);
    return;
  }
  const why = seen instanceof MirrorError ? seen.message : 'The service names none.';
  printText(
    context,
    `The settings name no account, and which the token sees is not known: ${why} Asking needs the scope user:profile:read. If you know the id of the account, mirror it with ${command('ID')}.`,
  );
}

function accountsOf(settings: Settings, name: string): string[] {
  return settings.accounts.filter((account) => connectionNameOf(settings, account) === name);
}

/** What the browser was sent back with: to an address of this machine, or in the address that the person pastes, wherever their browser is. */
async function answerOf(
  context: ProcessContext,
  { redirectUri }: OAuthSettings,
  { address, state }: AuthorizationRequest,
): Promise<URLSearchParams> {
  const redirect = new URL(redirectUri);
  printNotice(context, `Open this address in a browser and allow access:\n\n  ${address.href}\n`);
  if (redirect.protocol !== 'http:' || !isLoopback(redirect.hostname)) return pasted(context, state);
  const over = new AbortController();
  const { stdin, stderr, interrupted } = context;
  const asked = { stdin, stderr, interrupted: AbortSignal.any([interrupted, over.signal]) };
  const port = redirect.port || '80';
  try {
    return await awaitRedirect(redirect, state, context, async () => {
      printNotice(
        context,
        `Waiting for the browser to come back to ${redirectUri} …\nIf it is on another machine, connect from there with \`ssh -L ${port}:127.0.0.1:${port}\`, or paste its address here.\n`,
      );
      const answer = await pasted(asked, state);
      // Where nothing is piped in, only the browser answers.
      return answer.get('code') === '' ? new Promise<never>(() => undefined) : answer;
    });
  } finally {
    over.abort();
  }
}

async function pasted(context: PromptContext, state: string): Promise<URLSearchParams> {
  const question = 'Then paste the address to which the browser was sent (or the code from it):';
  const text = isInteractive(context) ? await prompt(context, question, { hidden: true }) : await readInput(context);
  return queryOf(text.trim(), state);
}

/** A whole address, its query, or the code alone, which a person reads off the page. */
function queryOf(text: string, state: string): URLSearchParams {
  if (URL.canParse(text)) return new URL(text).searchParams;
  if (text.includes('code=')) return new URLSearchParams(text);
  return new URLSearchParams({ code: text, state });
}

async function accessOf(installation: Installation, accounts: readonly string[], { context }: Call): Promise<Access[]> {
  const access: Access[] = [];
  for (const account of accounts) {
    const { vendors } = installation.account(account).client;
    access.push(
      await vendors.page(1, { size: 1, signal: context.interrupted }).then(
        () => ({ account, error: undefined }),
        (error: unknown) => ({ account, error: asMirrorError(error) }),
      ),
    );
  }
  return access;
}

function document(connection: string, { scopes }: Authorized, access: readonly Access[]): object {
  return {
    ok: access.every(({ error }) => !error),
    connection,
    scopes: scopes ?? null,
    accounts: access.map(({ account, error }) => ({ account, access: !error, ...(error && { error: error.message }) })),
  };
}

function report(context: ProcessContext, connection: string, { scopes }: Authorized, access: readonly Access[]): void {
  const where = connection === defaultConnection ? '' : ` for the connection ${connection}`;
  printText(
    context,
    `Logged in${where}. ${scopes ? `Scopes: ${scopes.join(', ')}.` : 'The service did not report the scopes.'}`,
  );
  for (const { account, error } of access)
    if (error) printError(context, error, `the account ${account} cannot be read`);
    else printText(context, `The account ${account} can be read.`);
}

export const logout: CommandHandler = async (call) => {
  const settings = await settingsOfLogin(call);
  const { name } = oauthConnection(settings, call.args[0]);
  const forgotten = await withInstallation(call, settings, ({ connections }) => connections.forgetGrant(name));
  if (call.options.json) printJson(call.context, { ok: true, connection: name, forgotten });
  else
    printText(
      call.context,
      forgotten
        ? 'Logged out: the stored tokens are deleted. They stay valid in the service until they expire; revoke them there.'
        : 'There was no login.',
    );
  return exitStatus.done;
};

/**
 * The connection that `login` and `logout` are about: that of the name; where none is named, the only one that is got by logging in, or
 * that of `service.auth`.
 * @throws MirrorError `usage` for a name that the settings do not have, or where one must be named; `settings_invalid` where access is got in
 * another way.
 */
function oauthConnection(
  { connections }: Settings,
  named: string | undefined,
): { readonly name: string; readonly oauth: OAuthSettings } {
  const all = [...connections].flatMap(([name, auth]) => ('oauth' in auth ? [{ name, oauth: auth.oauth }] : []));
  const names = all.map(({ name }) => name).join(', ');
  if (named !== undefined && !connections.has(named))
    throw new MirrorError(
      'usage',
      `The settings name no connection ${named}; ${names === '' ? 'none of them uses a login' : `those that use a login are ${names}`}.`,
    );
  const wanted = named ?? (all.length === 1 ? all[0]?.name : defaultConnection);
  const found = all.find(({ name }) => name === wanted);
  if (found) return found;
  if (named === undefined && all.length > 1)
    throw new MirrorError('usage', `The settings have several connections: name one of ${names}.`);
  throw new MirrorError(
    'settings_invalid',
    `${pathOfConnection(wanted ?? defaultConnection).join('.')}.oauth is not set. Only OAuth needs a login; an access token works without one.`,
  );
}

const page = (text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>vendor-mirror</title><p>${text}</p></html>\n`;

/**
 * The query with which the browser comes to `redirectUri`, an address of this machine. One of another state belongs to another login, and is
 * not waited for.
 * @param others is called once it listens, and resolves with the query where it comes in another way
 * @throws MirrorError `port_taken`, and the reason of the interruption.
 */
async function awaitRedirect(
  redirectUri: URL,
  state: string,
  { clock, interrupted }: Pick<ProcessContext, 'clock' | 'interrupted'>,
  others: () => Promise<URLSearchParams>,
): Promise<URLSearchParams> {
  const { HttpServer } = await import('../http/server.ts');
  let arrived: (query: URLSearchParams) => void = () => undefined;
  const answer = new Promise<URLSearchParams>((resolve) => (arrived = resolve));
  const headers = { 'content-type': 'text/html; charset=utf-8', connection: 'close' };
  const server = new HttpServer({
    name: 'login',
    host: redirectUri.hostname.replace(/^\[|\]$/g, ''),
    port: Number(redirectUri.port || 80),
    portSetting: 'redirectUri in the settings, which the service has to know',
    clock,
    onFault: () => undefined,
    routes: [
      {
        method: 'GET',
        path: redirectUri.pathname,
        handle({ query }) {
          const isOurs = query.get('state') === state;
          if (isOurs) arrived(query);
          const text = isOurs
            ? 'Return to the terminal: it says what came of it.'
            : 'This answer belongs to another login. Open the address that the terminal shows.';
          return Promise.resolve({ status: isOurs ? 200 : 400, headers, body: page(text) });
        },
      },
    ],
  });
  interrupted.throwIfAborted();
  await server.start();
  try {
    return await unlessAborted(Promise.race([answer, others()]), interrupted);
  } finally {
    await server.stop();
  }
}

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
