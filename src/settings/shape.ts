/**
 * The shape of the settings: every key with its form, each rule worded as what would be right; connections, accounts and copies for
 * readers among them.
 */
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';
import { eventsInstead } from '../domain/events.ts';
import { isMap } from '../domain/json-cursor.ts';
import { limits } from '../domain/limits.ts';
import { Secret } from '../domain/secret.ts';
import { neededFields } from '../domain/vendor.ts';
import { isLoopback, postgresAddress, type PostgresAddress } from './addresses.ts';
import { hasAllRoles, roleNames, rolesOfFile } from '../domain/processes.ts';
import { exportFormats, formatByEnding, type Publication } from './export-format.ts';

/** What should stand in place of a text that looks like a path and would be a file of that very name; undefined where it is a path. */
export function pathInstead(value: string): string | undefined {
  if (value.trim() !== value) return 'a path: without blanks at its beginning and its end';
  if (/(^|\/)\.{0,2}$/.test(value)) return 'a path of a file: without a slash or dots at its end';
  if (value.startsWith('~/') && !isAbsolute(homedir()))
    return 'a path without ~/, because HOME in the environment of this process is no absolute path';
  if (value === '~' || /^~[^/]/.test(value)) return 'a path: only a leading ~/ means a home folder, that of this user';
  if (/(^|\/)\$/.test(value)) return 'a path: an environment variable is written ${NAME}';
  if (/^:|^file:|^[a-z][a-z\d+.-]+:\/\//i.test(value))
    return 'the path of a file: neither an address nor a name such as :memory:';
  return undefined;
}

/** The path with the home folder of this user in place of a leading `~/`. */
export function withHome(value: string): string {
  return value.startsWith('~/') ? join(homedir(), value.slice(2)) : value;
}

/** The forms of single values that several parts of the settings share. Each rule is worded as what would be right. */

const text = z.string({ error: 'text' }).regex(/^\P{Cc}+$/u, 'text of one line, not empty');
const path = text.transform(pathIn);
function pathIn(value: string, context: z.RefinementCtx): string {
  const instead = pathInstead(value);
  if (instead !== undefined) context.addIssue(instead);
  return withHome(value);
}

/** @param passwordKey the key beside it that names a file with the password */
const addressIn =
  (passwordKey: string) =>
  (value: string, context: z.RefinementCtx): PostgresAddress => {
    const address = postgresAddress(value, passwordKey);
    if (typeof address !== 'string') return address;
    context.addIssue(address);
    return z.NEVER;
  };
const secret = text
  .regex(/^[\x21-\x7e]+$/, 'one line of visible ASCII without blanks')
  .transform((value) => new Secret(value));

const serviceUrl = text.transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!url || !secure) context.addIssue('an https address (http only for this machine)');
  else if (url.username || url.password || url.search || url.hash)
    context.addIssue('an address without user, query or fragment');
  else if (url.port === '0') context.addIssue('an address with a port other than 0, which nobody reaches');
  return value.replace(/\/+$/, '');
});

/** Connections, each with its own grant, and the connection of each account. */

/** The connection of `service.auth`, and of accounts that name none. */
export const defaultConnection = 'default';

const oauth = z.strictObject({
  tokenUrl: serviceUrl,
  authorizeUrl: serviceUrl.optional(),
  clientId: text,
  clientSecret: secret,
  redirectUri: text.refine((address) => URL.canParse(address), 'an address, such as http://127.0.0.1:8789/callback'),
  refreshToken: secret.optional(),
  scopes: z.array(text).min(1).optional(),
});

const commandForm = 'a command that prints a token: a text for the shell, or a list of its words';
const auth = z.union(
  [
    z.strictObject({ accessToken: secret }),
    z.strictObject({ accessTokenFile: path }),
    z.strictObject({ accessTokenCommand: z.union([text, z.array(text).min(1, commandForm)], { error: commandForm }) }),
    z.strictObject({ oauth }),
  ],
  {
    error:
      'exactly one of accessToken, accessTokenFile, accessTokenCommand or oauth {tokenUrl, clientId, clientSecret, redirectUri, authorizeUrl or refreshToken}',
  },
);

export type AuthSettings = z.infer<typeof auth>;

const idForm = 'an account id: up to 64 letters, digits, - and _';
const accountForm = `${idForm}; or {id, connection}`;
/** YAML reads digits alone as a number, which is another text: 0123, 1e3, and any beyond 2^53. */
function accountInstead({ input }: { readonly input?: unknown }): string {
  const id = typeof input === 'object' && input !== null && 'id' in input ? input.id : input;
  return typeof id === 'number' ? 'an account id in quotes: without them it is a number in YAML' : accountForm;
}
const placeholder = /^(?:your|my|the)?[_-]?account[_-]?(?:id)?$/i;
const accountId = z
  .string({ error: accountInstead })
  .regex(/^[A-Za-z0-9_-]{1,64}$/, accountForm)
  .refine(
    (id) => !placeholder.test(id),
    'the id of your account instead of this placeholder; `vendor-mirror login` lists those that a token sees, where `accounts` is []',
  );

/** What an account id should be; undefined where the text is one. */
export function accountIdInstead(text: string): string | undefined {
  const problem = accountId.safeParse(text).error?.issues[0]?.message;
  return problem === accountForm ? idForm : problem;
}

const connectionForm = 'the name of a connection: up to 32 letters, digits, - and _';
const connectionName = z.string({ error: connectionForm }).regex(/^[A-Za-z0-9_-]{1,32}$/, connectionForm);

/** An account, and the connection that gives access to it. */
export interface AccountOfConnection {
  readonly id: string;
  readonly connection: string;
}

const account = z
  .union([accountId, z.strictObject({ id: accountId, connection: connectionName })], { error: accountInstead })
  .transform((given): AccountOfConnection =>
    typeof given === 'string' ? { id: given, connection: defaultConnection } : given,
  );

const accountList = z.array(account).refine(
  // One whose form is refused has none.
  (accounts) => new Set(accounts.map(({ id }) => (id as string | undefined)?.toLowerCase())).size === accounts.length,
  'each account once, in whatever case its letters are',
);

const connectionMap = z.record(connectionName, z.strictObject({ auth }), {
  error: 'a map of names to {auth: …}, such as main: {auth: {accessTokenFile: /run/token}}',
});

interface Given {
  readonly accounts: readonly AccountOfConnection[];
  readonly connections: Readonly<Record<string, { readonly auth: AuthSettings }>>;
  readonly service: { readonly auth: AuthSettings | null };
}

/** Every connection by its name, the default one included where there is one. */
export function allConnections({ connections, service: { auth } }: Omit<Given, 'accounts'>): Map<string, AuthSettings> {
  const named = Object.entries(connections).map(([name, { auth: own }]) => [name, own] as const);
  return new Map([...(auth === null ? [] : [[defaultConnection, auth] as const]), ...named]);
}

/** The name of the connection that gives access to an account; the default one for accounts that the settings do not name. */
export function connectionNameOf(
  { connectionOf }: { readonly connectionOf: ReadonlyMap<string, string> },
  account: string,
): string {
  return connectionOf.get(account) ?? defaultConnection;
}

export function pathOfConnection(name: string): readonly string[] {
  return name === defaultConnection ? ['service', 'auth'] : ['connections', name, 'auth'];
}

/** What no single key shows. */
export function connectionProblems(given: Given): { readonly path: readonly PropertyKey[]; readonly remedy: string }[] {
  const known = allConnections(given);
  const problems = given.accounts.flatMap(({ connection }, index) =>
    known.has(connection) || connection === defaultConnection
      ? []
      : [{ path: ['accounts', index, 'connection'], remedy: `should be one of connections: ${named(known)}` }],
  );
  if (Object.hasOwn(given.connections, defaultConnection))
    return [
      ...problems,
      { path: ['connections', defaultConnection], remedy: 'should have another name: service.auth is the default one' },
    ];
  return problems;
}

function named(known: ReadonlyMap<string, unknown>): string {
  return [...known.keys()].join(', ') || 'there is none';
}

const durationForm = 'a duration such as 500ms, 30s, 15m, 12h or 90d, at most 36500d';
/** In milliseconds. A moment that is further away may be beyond all dates. */
const longest = 36_500 * 86_400_000;

/** A duration in human form, as milliseconds. */
const duration = z.string({ error: durationForm }).transform((text, context) => {
  const ms = parseDuration(text) ?? Infinity;
  if (ms <= longest) return ms;
  context.addIssue(durationForm);
  return 0;
});

/** An event of the service. */
const event = z.string({ error: 'an event such as bill_vendor' }).superRefine((name, context) => {
  const instead = eventsInstead(name);
  if (instead !== undefined) context.addIssue(`an event of the service: ${instead}`);
});

/** A number of requests in a number of milliseconds. */
export interface Rate {
  readonly requests: number;
  readonly per: number;
}

const rate = z.string({ error: 'a rate such as 600/60s' }).transform((text, context): Rate => {
  const match = /^([1-9]\d*)\/(.+)$/.exec(text);
  const per = parseDuration(match?.[2] ?? '');
  if (!match || !per) context.addIssue('a rate such as 600/60s');
  return { requests: Number(match?.[1] ?? 1), per: per ?? 1 };
});

const whole = (least: number, most: number): z.ZodInt =>
  z
    .int({ error: `a whole number from ${least} to ${most}` })
    .min(least, `a whole number from ${least} to ${most}`)
    .max(most, `a whole number from ${least} to ${most}`);
const port = whole(0, 65_535);

/** An IP address, or a network as `address/bits`. */
const network = z.string({ error: 'text' }).refine(
  (given) => {
    const [address = '', bits = '0', ...more] = given.split('/');
    const family = isIP(address);
    return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  },
  { error: 'an IP address or a network, such as 10.1.0.0/16' },
);
const timezone = text.refine(isTimezone, 'a time zone such as UTC or Europe/Berlin');
const cron = text.regex(/^\S+(\s+\S+){4,5}$/, 'a cron schedule in quotes, such as "*/15 * * * *"');
const headerName = text.regex(/^[A-Za-z0-9-]+$/, 'auto, or the name of a header');

/** A receiver of outgoing webhooks. Its path may be a secret of its own. */
const hookUrl = text.superRefine((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!url || !secure) context.addIssue('an https address (http only for this machine)');
  else if (url.username || url.password || url.hash) context.addIssue('an address without user or fragment');
});

/** As the Standard Webhooks specification writes one. While it is replaced, the new one and the old one, separated by white space. */
const hookSecretForm =
  'a secret of Standard Webhooks: whsec_ and 24 to 64 bytes in base64, or two of them; or secretFile';
const hookSecret = z.string({ error: hookSecretForm }).transform((value, context) => {
  const secrets = value.trim().split(/\s+/);
  if (secrets.length > 2 || !secrets.every(isHookSecret)) context.addIssue(hookSecretForm);
  return new Secret(secrets.join(' '));
});

function isHookSecret(value: string): boolean {
  const [, base64 = ''] = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(value) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}

const notifyTarget = z
  .strictObject({
    name: text.regex(/^[A-Za-z0-9._:[\]-]{1,64}$/, 'up to 64 letters, digits, dots, - and _').optional(),
    url: hookUrl,
    secret: hookSecret,
    timeout: duration.refine((ms) => ms >= 100 && ms <= 60_000, 'a duration from 100ms to 60s').prefault('15s'),
  })
  .transform((target) => ({
    ...target,
    name: target.name ?? (URL.canParse(target.url) ? new URL(target.url).host : ''),
  }));

/** Unknown names are taken too: the service may send fields that have no name here. */
const excludable = z
  .string({ error: 'the name of a field' })
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'the name of a field, such as phone')
  .refine(
    (name) => !neededFields.some((needed) => needed === name),
    `another field: ${neededFields.join(', ')} are needed to keep the mirror correct`,
  );

const when = text
  .regex(/^change$|^\S+(\s+\S+){4,5}$/, 'change, or a cron schedule in quotes, such as "0 6 * * *"')
  .default('change');

const filePublication = z.strictObject({
  path,
  when,
  format: z.enum(exportFormats, { error: `one of ${exportFormats.join(', ')}` }).optional(),
  view: text.optional(),
  query: z.string({ error: 'one SELECT' }).min(1, 'one SELECT').optional(),
});

/** Names that need no quotes. Those of schemas that begin so are PostgreSQL's own. */
const schemaName = (characters: number) =>
  text.regex(
    new RegExp(`^(?!pg_)[a-z_][a-z0-9_]{0,${characters - 1}}$`),
    `the name of a schema: up to ${characters} lower-case letters, digits and _, not beginning with pg_`,
  );

/** The longest name of PostgreSQL, in bytes. */
const maxSchemaName = 63;

const postgresPublication = z
  .strictObject({
    to: text.transform(addressIn('passwordFile')),
    schema: schemaName(maxSchemaName).default('vendor_mirror'),
    when,
    password: secret.optional(),
    passwordFile: text.optional(),
  })
  .transform((given) => ({ ...given, path: `${given.to.name}#${given.schema}` }));

/** Which of the two it is follows from what it names, so that what is wrong is said of that one. */
const publication = z.unknown().transform((value, context): FilePublication | PostgresPublication => {
  const result = (isMap(value) && 'to' in value ? postgresPublication : filePublication).safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
  return z.NEVER;
});

/** A file for readers. */
export type FilePublication = z.infer<typeof filePublication>;

/** A schema of somebody's PostgreSQL that holds the mirror's rows; `path` is what status, metrics and messages call it. */
export type PostgresPublication = z.infer<typeof postgresPublication>;

export function publishedFiles(publish: readonly (FilePublication | PostgresPublication)[]): FilePublication[] {
  return publish.filter((one): one is FilePublication => !('to' in one));
}

/** The schemas of PostgreSQL among them. */
export function publishedSchemas(publish: readonly (FilePublication | PostgresPublication)[]): PostgresPublication[] {
  return publish.filter((one): one is PostgresPublication => 'to' in one);
}

/** A PostgreSQL that holds the mirror in one schema, and its secrets in another. */
export interface PostgresStore {
  readonly to: PostgresAddress;
  readonly schema: string;
  readonly secretsSchema: string;
  readonly password: Secret | undefined;
  /** Where the password came from: it is read again for each connection, because it may be replaced. */
  readonly passwordFile: string | undefined;
  /** The key that secrets are sealed with; undefined where none is named. */
  readonly secretsKeyFile: string | undefined;
}

/** What the name of the schema with the secrets has after that of the mirror. */
const ofSecrets = '_secrets';

const mirrorSchema = schemaName(maxSchemaName - ofSecrets.length).refine(
  (name) => !name.endsWith(ofSecrets),
  `another name than one that ends in ${ofSecrets}: so ends that of the schema with its secrets`,
);

/**
 * The mirror in PostgreSQL that the settings describe; undefined where it is a file.
 * @param otherKeyFile the file of the key where the settings name none
 */
export function postgresStore(shaped: Shaped, otherKeyFile: () => string | undefined): PostgresStore | undefined {
  const { database: to, databaseSchema: schema, databasePassword, databasePasswordFile: passwordFile } = shaped;
  if (typeof to === 'string') return undefined;
  const secretsSchema = `${schema}${ofSecrets}`;
  return {
    ...{ to, schema, secretsSchema, passwordFile },
    password: databasePassword ?? undefined,
    secretsKeyFile: shaped.secretsKeyFile ?? otherKeyFile(),
  };
}

/** What options of a command name; each is called as there in messages. */
export interface PostgresOptions {
  readonly to: string;
  readonly schema: string;
  readonly passwordFile?: string | undefined;
  readonly secretsKeyFile?: string | undefined;
}

/** A mirror in PostgreSQL as options of a command name it; or what is wrong with them. */
export function postgresStoreOf({ to, schema, passwordFile, secretsKeyFile }: PostgresOptions): PostgresStore | string {
  const address = postgresAddress(to, '--password-file');
  if (typeof address === 'string') return `--to should be ${address}.`;
  const { error } = mirrorSchema.safeParse(schema);
  if (error) return `--schema should be ${error.issues[0]?.message ?? ''}.`;
  const secretsSchema = `${schema}${ofSecrets}`;
  return { to: address, schema, secretsSchema, password: undefined, passwordFile, secretsKeyFile };
}

const roles = z
  .array(z.enum(roleNames), { error: `a list of ${roleNames.join(' and ')}` })
  .min(1, `at least one of ${roleNames.join(' and ')}`)
  .refine((names) => new Set(names).size === names.length, 'each role once');

export const settingsShape = z.strictObject({
  accounts: accountList,
  connections: connectionMap,
  database: text.transform((value, context) =>
    /^postgres(?:ql)?:/.test(value) ? addressIn('databasePasswordFile')(value, context) : pathIn(value, context),
  ),
  databaseSchema: mirrorSchema,
  databasePassword: secret.nullable(),
  databasePasswordFile: text.optional(),
  secrets: path,
  secretsKeyFile: path.nullable(),
  roles,
  service: z.strictObject({
    baseUrl: serviceUrl.nullable(),
    apiVersion: text.regex(/^[\x21-\x7e]+$/, 'one word').nullable(),
    auth: auth.nullable(),
    paging: z.strictObject({
      pageParam: text,
      perPageParam: text,
      perPage: whole(1, 1_000),
      concurrency: whole(1, 32),
    }),
    readOne: z.enum(['auto', 'get', 'sweep'], { error: 'auto, get or sweep' }),
    extraWalks: z.enum(['auto', 'never'], { error: 'auto or never' }),
    gateways: z.enum(['auto', 'never'], { error: 'auto or never' }),
    signatureHeader: headerName,
    timeout: duration.refine((ms) => ms >= 100 && ms <= 600_000, 'a duration from 100ms to 10m'),
    rateLimit: z.strictObject({
      all: rate,
      post: rate,
      callbacks: rate,
      vendors: z
        .never({
          error: 'written as `all`: one rate for all requests of a connection, whatever account and kind they are of',
        })
        .optional(),
    }),
  }),
  listener: z.strictObject({
    host: text,
    port,
    trustedProxies: z.union([z.literal('private'), z.array(network)], {
      error: 'private, or a list of addresses and networks, such as [10.1.0.0/16, 203.0.113.7]',
    }),
    publicUrl: serviceUrl.nullable(),
    events: z.array(event).min(1, 'at least one event'),
  }),
  admin: z.strictObject({
    host: text,
    port,
    publicUrl: serviceUrl.nullable(),
    token: secret.nullable(),
    maxStaleness: duration,
  }),
  schedule: z.strictObject({ pull: cron, reconcile: cron, timezone }),
  sync: z.strictObject({
    lag: duration,
    secondLook: duration,
    sweepPasses: whole(1, 1_000),
    breaker: z.strictObject({
      vendors: whole(0, 1_000_000),
      percent: z.number({ error: 'a number from 0 to 100' }).min(0).max(100),
    }),
  }),
  retention: z.strictObject({
    deliveries: duration.nullable(),
    runs: duration.nullable(),
    versions: duration.nullable(),
  }),
  publish: z.array(publication, {
    error:
      'a list of {path, when, format, view or query} or {to, schema, when, passwordFile}, such as [{ path: copy.db }]',
  }),
  notify: z
    .array(notifyTarget, { error: 'a list of {url, secretFile}' })
    .max(limits.targets, `at most ${limits.targets} targets`)
    .refine(
      (targets) => new Set(targets.map(({ name }) => name)).size === targets.length,
      'targets of different names: give two on one host a `name` each',
    ),
  vendors: z.strictObject({
    exclude: z
      .array(excludable, { error: 'a list of names of fields, such as [phone, note]' })
      .refine((names) => new Set(names).size === names.length, 'each field once'),
  }),
  shutdownTimeout: duration,
  sandbox: z
    .strictObject({
      vendors: whole(0, 10_000_000),
      seed: whole(0, 2 ** 31),
      churn: z.number().min(0).max(1_000),
      history: whole(0, 365).default(0),
      records: z.enum(['plain', 'odd'], { error: 'plain or odd' }).default('plain'),
    })
    .nullable(),
});

export type Shaped = z.infer<typeof settingsShape>;

type OfStore = 'database' | 'databaseSchema' | 'databasePassword' | 'databasePasswordFile' | 'secretsKeyFile';

export interface Settings extends Omit<Shaped, 'accounts' | 'connections' | 'service' | OfStore> {
  /** The path of the mirror. Of one in PostgreSQL, and of its secrets, only what messages call it. */
  readonly database: string;
  /** Where the mirror is, if it is no file. */
  readonly postgres: PostgresStore | undefined;
  readonly service: Omit<Shaped['service'], 'auth'>;
  /** What a command works on: all that are named, or the one to which it is restricted. */
  readonly accounts: readonly string[];
  readonly isRestricted: boolean;
  /** Whether `listener.host` is set, and not the default. */
  readonly namesListenerHost: boolean;
  /** Every account of the file, and those that were added by command. */
  readonly namedAccounts: readonly string[];
  /** Those of the file alone. */
  readonly accountsOfFile: readonly AccountOfConnection[];
  /** Paused accounts, whether they are named or not. */
  readonly paused: ReadonlySet<string>;
  /** The connections by name; `service.auth` is the one named `default`. */
  readonly connections: ReadonlyMap<string, AuthSettings>;
  /** The connection of each account that is named. */
  readonly connectionOf: ReadonlyMap<string, string>;
  /** The settings file, and every file that it takes a secret from. */
  readonly readFrom: readonly string[];
  /** Those of them that hold a secret. */
  readonly secretFiles: readonly string[];
}

export type ServiceSettings = Settings['service'];
export type SyncSettings = Settings['sync'];
export type NotifyTarget = Settings['notify'][number];

function isTimezone(name: string): boolean {
  // The default needs no look-up, which would load all zones at each start.
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Keys that say more of a mirror in PostgreSQL. */
const ofPostgres = ['databasePasswordFile', 'databasePassword', 'databaseSchema', 'secretsKeyFile'] as const;

/**
 * What does not go with a mirror in a file, or with one in PostgreSQL.
 * @param isWritten whether a settings file has a key, so that it is not the default
 */
export function storeProblems(
  shaped: Shaped,
  isWritten: (key: string) => boolean,
): { path: readonly PropertyKey[]; remedy: string }[] {
  const { publish } = shaped;
  const store = postgresStore(shaped, () => undefined);
  if (!store) {
    const problems = ofPostgres
      .filter(isWritten)
      .map((key) => ({ path: [key], remedy: 'should be left out, because database is a file' }));
    return hasAllRoles(shaped.roles) ? problems : [...problems, { path: ['roles'], remedy: rolesOfFile }];
  }
  const { to, schema, secretsSchema } = store;
  const problems = publish.flatMap((one, index) => {
    if (!('to' in one))
      return (one.format ?? formatByEnding(one.path)) === 'db'
        ? [
            {
              path: ['publish', index, one.format === undefined ? 'path' : 'format'],
              remedy: 'should be of another format, because a mirror in PostgreSQL is no file that can be copied',
            },
          ]
        : [];
    const isSame =
      one.to.database === to.database &&
      one.to.hosts.some(({ host, port }) => to.hosts.some((other) => other.host === host && other.port === port));
    return isSame && [schema, secretsSchema].includes(one.schema)
      ? [
          {
            path: ['publish', index, 'schema'],
            remedy: 'should be another schema: this one is the one of the mirror itself',
          },
        ]
      : [];
  });
  if (!isWritten('secrets')) return problems;
  const remedy = `should be left out, because the secrets are in the schema ${secretsSchema} of database`;
  return [{ path: ['secrets'], remedy }, ...problems];
}

export function publicationProblems(
  publish: readonly (FilePublication | PostgresPublication)[],
): { path: readonly PropertyKey[]; remedy: string }[] {
  return publish.flatMap((publication, index) => {
    const { path } = publication;
    const isTwice = publish.findIndex((other) => other.path === path) < index;
    if ('to' in publication)
      return isTwice
        ? [{ path: ['publish', index, 'schema'], remedy: 'should be another schema: it is named twice' }]
        : [];
    const { format, view, query } = publication;
    const problem = (key: keyof Publication, remedy: string) => [{ path: ['publish', index, key], remedy }];
    const form = format ?? formatByEnding(path);
    if (form === undefined) return problem('path', `should end in .${exportFormats.join(', .')}, or have a format`);
    if (form === 'db' && (view !== undefined || query !== undefined))
      return problem(
        view === undefined ? 'query' : 'view',
        'should be left out for a .db, which holds the whole mirror',
      );
    if (view !== undefined && query !== undefined) return problem('query', 'should be left out if a view is named');
    return isTwice ? problem('path', 'should be another file: it is named twice') : [];
  });
}
