/** Connections, each with its own grant, and the connection of each account. */
import { z } from 'zod';
import { path, secret, serviceUrl, text } from './values.ts';

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
export const auth = z.union(
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
const accountId = z.string({ error: accountForm }).regex(/^[A-Za-z0-9_-]{1,64}$/, accountForm);

/** What an account id should be; undefined where the text is one. */
export function accountIdInstead(text: string): string | undefined {
  return accountId.safeParse(text).success ? undefined : idForm;
}

const connectionForm = 'the name of a connection: up to 32 letters, digits, - and _';
const connectionName = z.string({ error: connectionForm }).regex(/^[A-Za-z0-9_-]{1,32}$/, connectionForm);

/** An account, and the connection that gives access to it. */
export interface AccountOfConnection {
  readonly id: string;
  readonly connection: string;
}

const account = z
  .union([accountId, z.strictObject({ id: accountId, connection: connectionName })], { error: accountForm })
  .transform((given): AccountOfConnection =>
    typeof given === 'string' ? { id: given, connection: defaultConnection } : given,
  );

export const accountList = z
  .array(account)
  .refine((accounts) => new Set(accounts.map(({ id }) => id)).size === accounts.length, 'each account once');

export const connectionMap = z.record(connectionName, z.strictObject({ auth }), {
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

/** Where the settings of a connection stand. */
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
