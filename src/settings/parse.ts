/** The settings: read from YAML over the defaults, with every problem at once. */
import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { MirrorError } from '../domain/errors.ts';
import { isMap } from '../domain/json-cursor.ts';
import { isWeak, Secret } from '../domain/secret.ts';
import {
  allConnections,
  connectionProblems,
  defaultConnection,
  pathInstead,
  pathOfConnection,
  postgresStore,
  publicationProblems,
  settingsShape,
  storeProblems,
  withHome,
  type AccountOfConnection,
  type PostgresStore,
  type Settings,
  type Shaped,
} from './shape.ts';
import { isLoopback } from './addresses.ts';
import { place, problemsOf, readSettingsYaml, type Problem } from './yaml.ts';

export { defaultConnection, isLoopback };
export { postgresStoreOf, publishedFiles, publishedSchemas } from './shape.ts';
export type { AuthSettings, FilePublication, PostgresPublication, PostgresStore } from './shape.ts';
export type { NotifyTarget, Rate, ServiceSettings, Settings, SyncSettings } from './shape.ts';

/** Where settings are read from. */
export interface SettingsSources {
  /** config/default.yaml, as text. */
  readonly defaults: string;
  /** The settings file, as text, and the name it goes by in messages. */
  readonly text: string;
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a secret's file; throws where it cannot. */
  readonly readFile: (path: string) => string;
  /** Settings that are found wherever a command is run can only mean the same files by absolute paths. */
  readonly absolutePaths?: boolean;
}

/**
 * The settings of a file, laid over the defaults.
 * @throws MirrorError `settings_invalid` whose message lists every problem, each with its line, path and remedy.
 */
export function parseSettings(sources: SettingsSources): Settings {
  const yaml = readSettingsYaml(sources.text);
  if (yaml.problems.length > 0) throw invalid(sources.name, yaml.problems);
  const problems: Problem[] = [];
  const readFrom = [sources.name];
  const readFile = (path: string): string => {
    readFrom.push(path);
    return sources.readFile(path);
  };
  const given = resolved(yaml.value ?? {}, [], { ...sources, readFile }, problems);
  const merged = withTypes(overlay(defaultsOf(sources), given), yaml.value);
  const result = settingsShape.safeParse(merged);
  if (!result.success) problems.push(...result.error.issues.flatMap((issue) => problemsOf(issue, merged)));
  else {
    const isWritten = (key: string): boolean => isMap(yaml.value) && (yaml.value[key] ?? null) !== null;
    problems.push(...combinedProblems(result.data), ...storeProblems(result.data, isWritten));
    if (sources.absolutePaths) problems.push(...relativePaths(result.data));
  }
  if (problems.length > 0 || !result.success) {
    throw invalid(
      sources.name,
      problems.map((problem) => place(problem, yaml) + problem.remedy),
    );
  }
  const namesListenerHost = isMap(given) && isMap(given['listener']) && 'host' in given['listener'];
  const postgres = postgresStore(result.data, () => secretsKeyCredential(sources));
  const keyFiles = postgres?.secretsKeyFile === undefined ? [] : [postgres.secretsKeyFile];
  const read = [...readFrom, ...tokenFiles(result.data).map(({ file }) => file), ...keyFiles];
  const secretFiles = holdsSecret(yaml.value) ? read : read.slice(1);
  return settingsOf(result.data, postgres, { readFrom: read, secretFiles, namesListenerHost });
}

/** The key that systemd hands to the service (`LoadCredential=`), where the settings name none; undefined where there is none. */
function secretsKeyCredential({ env, readFile }: SettingsSources): string | undefined {
  const folder = env['CREDENTIALS_DIRECTORY'];
  if (!folder) return undefined;
  const file = join(folder, 'vendor-mirror-secrets-key');
  try {
    readFile(file);
    return file;
  } catch {
    // The service has other credentials.
    return undefined;
  }
}

/** A container has a network of its own, from which nobody else reaches it: its image names the host to listen on. */
function defaultsOf({ defaults, env }: SettingsSources): unknown {
  const host = env['VENDOR_MIRROR_LISTENER_HOST'];
  return overlay(parse(defaults), host ? { listener: { host } } : {});
}

type Origin = Pick<Settings, 'readFrom' | 'secretFiles' | 'namesListenerHost'>;

function settingsOf(shaped: Shaped, postgres: PostgresStore | undefined, origin: Origin): Settings {
  const { database } = shaped;
  const ofFile = {
    ...shaped,
    database: typeof database === 'string' ? database : `${database.name}, schema ${shaped.databaseSchema}`,
    secrets: postgres ? `${postgres.to.name}, schema ${postgres.secretsSchema}` : shaped.secrets,
    postgres,
    ...origin,
    accounts: [],
    accountsOfFile: shaped.accounts,
    isRestricted: false,
    namedAccounts: [],
    connections: allConnections(shaped),
    connectionOf: new Map<string, string>(),
    paused: new Set<string>(),
  };
  return withKept(ofFile, { added: [], paused: new Set() });
}

function invalid(name: string, problems: readonly string[]): MirrorError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new MirrorError(
    'settings_invalid',
    `${name} has ${count}:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
}

/** Files that access tokens are read from, and the settings that name them. */
function tokenFiles(shaped: Shaped): { readonly file: string; readonly path: readonly string[] }[] {
  return [...allConnections(shaped)].flatMap(([name, auth]) =>
    'accessTokenFile' in auth
      ? [{ file: auth.accessTokenFile, path: [...pathOfConnection(name), 'accessTokenFile'] }]
      : [],
  );
}

/** Problems of several keys together. */
function combinedProblems(settings: Shaped): Problem[] {
  const problems: Problem[] = [];
  const { service, admin, sandbox } = settings;
  if (!sandbox && service.baseUrl === null)
    problems.push({ path: ['service', 'baseUrl'], remedy: 'should be the https address of the service' });
  const needsDefault = settings.accounts.some(({ connection }) => connection === defaultConnection);
  if (!sandbox && service.auth === null && needsDefault)
    problems.push({
      path: ['service', 'auth'],
      remedy: 'should hold accessToken, accessTokenFile, accessTokenCommand or oauth',
    });
  const isReal = service.baseUrl !== null || allConnections(settings).size > 0;
  if (sandbox && isReal)
    problems.push({
      path: ['sandbox'],
      remedy: 'should be null if service.baseUrl, service.auth or connections is set',
    });
  if (!isLoopback(admin.host) && admin.token === null)
    problems.push({ path: ['admin', 'token'], remedy: 'should be set if admin.host is not this machine' });
  if (!isLoopback(admin.host) && hasWeakToken(admin))
    problems.push({ path: ['admin', 'token'], remedy: `${strongToken}, if admin.host is not this machine` });
  const { listener } = settings;
  if (settings.roles.includes('listen') && isSameAddress(listener, admin))
    problems.push({ path: ['admin', 'port'], remedy: 'should be another port than listener.port' });
  return [...problems, ...connectionProblems(settings), ...publicationProblems(settings.publish)];
}

/** Whether two servers cannot both listen. Port 0 is any that is free. */
function isSameAddress(one: Address, other: Address): boolean {
  const isShared =
    one.host === other.host || [one.host, other.host].some((host) => host === '0.0.0.0' || host === '::');
  return one.port !== 0 && one.port === other.port && isShared;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What `admin.token` should be; where only this machine reaches the port, it need not. */
export const strongToken =
  'should have at least 16 characters, six of them different, without repetitions and sequences, such as `openssl rand -base64 24` prints';

/** Whether `admin.token` is soon guessed. */
export function hasWeakToken({ token }: Pick<Shaped['admin'], 'token'>): boolean {
  return token !== null && isWeak(token.reveal(), 16);
}

/** Paths of the settings that depend on where the command is run. */
function relativePaths(shaped: Shaped): Problem[] {
  const { database, secrets, secretsKeyFile, publish } = shaped;
  const files = {
    ...(typeof database === 'string' && { database, secrets }),
    ...(secretsKeyFile !== null && { secretsKeyFile }),
  };
  const paths: readonly (readonly [readonly PropertyKey[], string])[] = [
    ...Object.entries(files).map(([key, path]) => [[key], path] as const),
    ...publish.flatMap((one, index) => ('to' in one ? [] : [[['publish', index, 'path'], one.path] as const])),
    ...tokenFiles(shaped).map(({ path, file }) => [path, file] as const),
  ];
  return paths.filter(([, path]) => !isAbsolute(path)).map(([path]) => ({ path, remedy: absoluteWanted }));
}

const absoluteWanted = 'should be an absolute path in this file, because commands may run in any folder';

/** Of a server, which may get another one at any time: where one is from a file, that is kept, because it is read again. */
const passwords = ['databasePassword', 'password'];
const secretNames = new Set([...passwords, 'clientSecret', 'refreshToken', 'secret', 'token']);

/** Whether a secret stands in the settings themselves, and not in a variable or a file. */
function holdsSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  if (!isMap(value)) return false;
  return Object.entries(value).some(([key, inner]) => {
    const isSecret = secretNames.has(key) || key === 'accessToken';
    return isSecret && typeof inner === 'string' ? !inner.includes('${') : holdsSecret(inner);
  });
}

/** Puts environment variables and the contents of secrets' files in their places. */
function resolved(value: unknown, at: readonly PropertyKey[], sources: SettingsSources, problems: Problem[]): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const found = sources.env[name];
      if (found === undefined || found === '')
        problems.push({
          path: at,
          remedy: `the environment variable ${/^[A-Z][A-Z0-9_]*$/.test(name) ? name : 'named here'} is not set`,
        });
      return found ?? 'unset';
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => resolved(item, [...at, index], sources, problems));
  if (!isMap(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const content = resolved(inner, [...at, key], sources, problems);
    const name = key.endsWith('File') ? key.slice(0, -'File'.length) : key;
    if (name === key || !secretNames.has(name) || typeof content !== 'string') return [[key, content]];
    const file = withHome(content);
    const instead = pathInstead(content);
    if (instead !== undefined) {
      problems.push({ path: [...at, key], remedy: `should be ${instead}` });
      return [[name, 'unread']];
    }
    if (sources.absolutePaths && !isAbsolute(file)) problems.push({ path: [...at, key], remedy: absoluteWanted });
    try {
      const read: [string, unknown][] = [[name, sources.readFile(file).trim()]];
      return passwords.includes(name) ? [...read, [key, file]] : read;
    } catch {
      // Not by its name: the secret itself may have been put where its file should be named.
      problems.push({ path: [...at, key], remedy: 'cannot read the file that is named here' });
      return [[name, 'unread']];
    }
  });
  return Object.fromEntries(entries);
}

/** The settings, with each value that is one variable and nothing else as the type that its key takes. */
function withTypes(merged: unknown, written: unknown): unknown {
  const { error } = settingsShape.safeParse(merged);
  const wanted = new Map(error?.issues.map((issue) => [issue.path.join('.'), expectedType(issue)]));
  const convert = (value: unknown, source: unknown, at: readonly PropertyKey[]): unknown => {
    if (isMap(value) && isMap(source))
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, convert(inner, source[key], [...at, key])]),
      );
    const isVariable = typeof value === 'string' && typeof source === 'string' && oneVariable.test(source);
    return isVariable ? asType(wanted.get(at.join('.')), value) : value;
  };
  return convert(merged, written, []);
}

const oneVariable = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

function expectedType(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'invalid_type' ? issue.expected : undefined;
}

/** Numbers are all that is not text. */
function asType(expected: string | undefined, text: string): unknown {
  const isNumber = expected === 'number' || expected === 'int';
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function overlay(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over;
  const laid = Object.entries(over).map(([key, value]) => [
    key,
    Object.hasOwn(base, key) ? overlay(base[key], value) : value,
  ]);
  return Object.fromEntries([...Object.entries(base), ...laid]) as unknown;
}

/** Accounts that were added or paused by command. */
export interface KeptAccounts {
  /** Added to those of the settings, in the order of their ids. */
  readonly added: readonly AccountOfConnection[];
  readonly paused: ReadonlySet<string>;
}

/** The settings with these accounts, instead of those kept earlier. Where both name an account, the file wins. */
export function withKept(settings: Settings, { added, paused }: KeptAccounts): Settings {
  const { accountsOfFile, isRestricted } = settings;
  const inFile = new Set(accountsOfFile.map(({ id }) => id));
  const all = [...accountsOfFile, ...added.filter(({ id }) => !inFile.has(id))];
  const namedAccounts = all.map(({ id }) => id);
  return {
    ...settings,
    accounts: isRestricted ? settings.accounts : namedAccounts,
    namedAccounts,
    connectionOf: new Map(all.map(({ id, connection }) => [id, connection])),
    paused,
  };
}

/** Which keys of two settings differ, so that a running daemon can name those that need a restart. */

/** Keys that are derived from others, and those that a running daemon applies. */
const ignored: Readonly<Record<string, true>> = {
  accounts: true,
  isRestricted: true,
  namesListenerHost: true,
  namedAccounts: true,
  accountsOfFile: true,
  connections: true,
  connectionOf: true,
  paused: true,
  postgres: true,
  readFrom: true,
  secretFiles: true,
  'service.auth': true,
} satisfies Partial<Record<keyof Settings | 'service.auth', true>>;

/** Keys that need a restart, as a person writes them, such as `listener.port`. Values are compared and never shown. */
export function changedKeys(before: Settings, after: Settings): string[] {
  const keys = new Set(differing(before, after, ''));
  const { postgres } = after;
  // What messages call them.
  if (postgres) for (const key of ['database', 'secrets']) keys.delete(key);
  if (!isSame(before.postgres?.to, postgres?.to)) keys.add('database');
  // It is read again by itself.
  if (postgres?.passwordFile !== undefined) keys.delete('databasePassword');
  return [...keys].sort();
}

function differing(before: unknown, after: unknown, key: string): string[] {
  if (key in ignored) return [];
  if (!hasKeys(before) || !hasKeys(after)) return isSame(before, after) ? [] : [key];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => differing(before[name], after[name], key === '' ? name : `${key}.${name}`));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Secret || other instanceof Secret)
    return one instanceof Secret && other instanceof Secret && one.reveal() === other.reveal();
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  if (hasKeys(one) && hasKeys(other)) return differing(one, other, '').length === 0;
  return one === other;
}

function hasKeys(value: unknown): value is Readonly<Record<string, unknown>> {
  return isMap(value) && !(value instanceof Secret);
}
