/** L33: what looks like a path and would be a file of that very name, or of another one, is refused; a leading `~/` is the home folder. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { packageRoot } from '../../support/mirror-file.ts';

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');
const read: string[] = [];

const parse = (text: string): Settings =>
  parseSettings({
    ...{
      defaults,
      name: 'mirror.yaml',
      env: { DATA: '/srv/data', BLANK: '/srv/a.db ' },
      text: `accounts: [6BApk]\n${text}`,
    },
    readFile(path) {
      read.push(path);
      return 'secret';
    },
  });
const service = (auth: string): string => `service: { baseUrl: https://api.example.com, auth: ${auth} }\n`;
const token = service('{ accessToken: t }');

/** Where a path may stand. */
const places: readonly [key: string, settings: (path: string) => string, found: (settings: Settings) => unknown][] = [
  ['database', (path) => `${token}database: ${path}`, ({ database }) => database],
  ['secrets', (path) => `${token}secrets: ${path}`, ({ secrets }) => secrets],
  ['publish.0.path', (path) => `${token}publish: [{ path: ${path}, format: db }]`, ({ publish }) => publish[0]?.path],
  [
    'service.auth',
    (path) => service(`{ accessTokenFile: ${path} }`),
    ({ connections }) => (connections.get('default') as { accessTokenFile: string }).accessTokenFile,
  ],
  ['admin.tokenFile', (path) => `${token}admin: { tokenFile: ${path} }`, () => read.at(-1)],
];

describe.each(places)('L33 %s', (key, settings, found) => {
  it.each(['~/mirror/a.db', '"~/a b.db"'])('%s is in the home folder', (path) => {
    const [, rest = ''] = /~\/([^"]*)/.exec(path) ?? [];
    expect(found(parse(settings(path)))).toBe(join(homedir(), rest));
  });

  it.each(['', 'relative'])(
    '~/a.db is refused where HOME is "%s", and would be below the working directory',
    (home) => {
      onTestFinished(() => void vi.unstubAllEnvs());
      vi.stubEnv('HOME', home);
      expect(() => parse(settings('~/a.db'))).toThrow(key === 'service.auth' ? key : 'a path without ~/, because HOME');
    },
  );

  it.each(['data/a.db', '/srv/a.db', './~/a.db', 'a~b.db', 'a$b.db', 'c:d.db', '${DATA}/a.db'])(
    '%s is a path',
    (path) => {
      expect(found(parse(settings(`"${path}"`)))).toBe(path.replace('${DATA}', '/srv/data'));
    },
  );

  it.each([
    '~',
    '~bob/a.db',
    '$HOME/a.db',
    '/srv/$USER/a.db',
    ':memory:',
    'file:a.db',
    'FILE:///srv/a.db?mode=ro',
    'sqlite:///a.db',
    'mysql://h/db',
    'a.db ',
    ' a.db',
    '${BLANK}',
  ])('%s is refused with what would be right, and nothing of it is shown', (path) => {
    const refused = (): unknown => parse(settings(`"${path}"`));
    expect(refused).toThrow(expect.objectContaining({ code: 'settings_invalid', exit: 78 }));
    expect(refused).toThrow(key.split('.')[0]);
    if (key !== 'service.auth') expect(refused).toThrow(/a path: |the path of a file/);
  });
});

it.each(places.filter(([key]) => key !== 'database'))('L33 %s is no PostgreSQL', (key, settings) => {
  expect(() => parse(settings('postgres://user@host/db'))).toThrow(key === 'service.auth' ? key : 'the path of a file');
});
