import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { failureOf } from '../../support/failure.ts';
import { packageRoot } from '../../support/mirror-file.ts';

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');
const connections = { main: { auth: { accessToken: 'one' } }, other: { auth: { accessTokenFile: '/run/two' } } };

function read(given: object, more: { readonly absolutePaths?: boolean } = {}): Settings {
  const text = JSON.stringify({ service: { baseUrl: 'https://service.example' }, ...given });
  return parseSettings({ defaults, text, name: 'mirror.yaml', env: {}, readFile: () => 'read', ...more });
}

const problemsOf = async (given: object, more?: { readonly absolutePaths?: boolean }): Promise<string> =>
  (await failureOf(Promise.resolve().then(() => read(given, more)))).message;

it('settings whose accounts all name connections need no service.auth, and say which account has which', () => {
  const settings = read({
    accounts: [
      { id: 'A', connection: 'main' },
      { id: 'B', connection: 'other' },
    ],
    connections,
  });
  expect(settings.accounts).toEqual(['A', 'B']);
  expect([...settings.connectionOf]).toEqual([
    ['A', 'main'],
    ['B', 'other'],
  ]);
  expect([...settings.connections.keys()]).toEqual(['main', 'other']);
  expect(settings.readFrom).toContain('/run/two');
});

it('service.auth is the connection `default`, of every account that names none', () => {
  const service = { baseUrl: 'https://service.example', auth: { accessToken: 'three' } };
  const settings = read({ accounts: ['A', { id: 'B', connection: 'main' }], connections, service });
  expect([settings.connectionOf.get('A'), [...settings.connections.keys()]]).toEqual([
    'default',
    ['default', 'main', 'other'],
  ]);
});

it.each([
  [
    'an account without a connection where there is no service.auth',
    { accounts: ['A'], connections },
    'service.auth: ',
  ],
  [
    'an account of a connection that is not there',
    { accounts: [{ id: 'A', connection: 'mian' }], connections },
    'accounts.0.connection: should be one of connections: main, other',
  ],
  [
    'L22 an account in another case',
    { accounts: ['6BApk', { id: '6bapk', connection: 'main' }], connections },
    'each account once',
  ],
  ['an account twice', { accounts: [{ id: 'A', connection: 'main' }, 'A'], connections }, 'each account once'],
  [
    'a connection of the name default',
    { accounts: [{ id: 'A', connection: 'main' }], connections: { ...connections, default: connections.main } },
    'connections.default: should have another name',
  ],
  [
    'a command without words',
    { accounts: ['A'], service: { baseUrl: 'https://service.example', auth: { accessTokenCommand: [] } } },
    'service.auth.accessTokenCommand: should be a command that prints a token',
  ],
  [
    'a misspelt key of oauth',
    {
      accounts: ['A'],
      service: { baseUrl: 'https://service.example', auth: { oauth: { clientID: 'mirror', clientSecret: 'hush' } } },
    },
    'service.auth.oauth.clientID: unknown key; remove it or fix its spelling',
  ],
  [
    'a key of oauth that is missing',
    { accounts: [{ id: 'A', connection: 'main' }], connections: { main: { auth: { oauth: { clientId: 'mirror' } } } } },
    'connections.main.auth.oauth.clientSecret: is missing; it should be text',
  ],
  ['a connection without auth', { accounts: ['A'], connections: { main: {} } }, 'connections.main.auth: '],
])('settings with %s are refused by name and line', async (_, given, problem) => {
  expect(await problemsOf(given)).toContain(problem);
});

it('the settings of a machine name the token file of a connection by an absolute path', async () => {
  const given = {
    accounts: [{ id: 'A', connection: 'main' }],
    connections: { main: { auth: { accessTokenFile: 'token' } } },
    database: '/var/a.db',
    secrets: '/var/b.db',
  };
  expect(await problemsOf(given, { absolutePaths: true })).toContain(
    'connections.main.auth.accessTokenFile: should be an absolute path',
  );
});
