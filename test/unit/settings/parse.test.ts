import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { packageRoot } from '../../support/mirror-file.ts';

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');

const usual = {
  accounts: ['6BApk'],
  service: { baseUrl: 'https://service.example', auth: { accessToken: 'a-token' } },
};

type Tree = Readonly<Record<string, unknown>>;

function read(
  given: unknown,
  files: Readonly<Record<string, string>> = {},
  env: Record<string, string> = {},
): Settings {
  const readFile = (path: string): string => {
    const content = files[path];
    if (content === undefined) throw new Error('There is no such file.');
    return content;
  };
  return parseSettings({ defaults, text: stringify(given), name: 'mirror.yaml', env, readFile });
}

/** What is said of settings that do not hold. */
function problems(given: unknown): string {
  try {
    read(given);
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'settings_invalid') return error.message;
    throw error;
  }
  return 'nothing';
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The usual settings with one value put at a path. */
function withValue(path: readonly string[], value: unknown, base: unknown = usual): Tree {
  const [key = '', ...rest] = path;
  const tree = isTree(base) ? base : {};
  return { ...tree, [key]: rest.length === 0 ? value : withValue(rest, value, tree[key] ?? {}) };
}

/** Paths of everything that can be set, branches too. */
function paths(value: unknown, above: readonly string[] = []): string[][] {
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...above, key], ...paths(inner, [...above, key])]);
}

const known = paths(parse(defaults));
/** No setting takes any of them. */
const senseless = [[[]], { odd: 1 }, -1, '\u0000'];

describe('settings', () => {
  it('are valid as documented', () => {
    expect(read(usual).schedule.reconcile).toBe('*/15 * * * *');
  });

  const misspelt = known.map((path) => [...path.slice(0, -1), `${path.at(-1)!}s`]);
  it.each(misspelt.map((path) => [path.join('.'), path] as const))(
    'J8 %s is no key: refused by its name',
    (name, path) => {
      expect(problems(withValue(path, 1))).toContain(`${name}: unknown key`);
    },
  );

  const wrong = known.flatMap((path) => senseless.map((value) => [path.join('.'), value, path] as const));
  it.each(wrong)('J8 %s cannot be %j, and the remedy stands beside its name', (name, value, path) => {
    expect(problems(withValue(path, value))).toMatch(
      new RegExp(`\\b${name.replaceAll('.', '\\.')}[.\\w]*: (should be|expected|unknown key)`),
    );
  });

  it('J8 report every problem at once, with its line', () => {
    const text = problems({
      ...usual,
      shutdownTimeout: 'soon',
      sync: { lag: 5, passes: 3 },
      schedule: { pull: 'often' },
    });
    expect(text).toContain('mirror.yaml has 4 problems:');
    for (const name of ['shutdownTimeout', 'sync\\.lag', 'sync\\.passes', 'schedule\\.pull'])
      expect(text).toMatch(new RegExp(`^  line \\d+, ${name}: `, 'm'));
  });

  it.each([
    ['sync.breaker', 5, 'keys with values below it'],
    ['service.paging', 'all', 'keys with values below it'],
    ['accounts', '6BApk', 'a list'],
    ['vendors.exclude', true, 'a list'],
  ])('%s cannot be %j, and what it should be is said in words', (name, value, words) => {
    expect(problems(withValue(name.split('.'), value))).toContain(`${name}: should be ${words}`);
  });

  it.each([
    ['bill_vendors', 'bill, bill_vendor, category'],
    ['bill_vendor.move', 'bill_vendor, bill_vendor.create, bill_vendor.update, bill_vendor.delete'],
    ['', 'bill, bill_vendor, category'],
  ])(
    'K34 listener.events cannot hold “%s”: the service has no such event, and those that it has are named',
    (name, named) => {
      const text = problems(withValue(['listener', 'events'], ['bill_vendor', name]));
      expect(text).toContain(`listener.events.1: should be an event of the service: ${named}`);
      expect(() => read({ ...usual, listener: { events: [name] } })).toThrow(expect.objectContaining({ exit: 78 }));
    },
  );

  it.each([
    'http://service.example',
    'ftp://service.example',
    'file:///etc/passwd',
    'https://user:word@service.example',
    'https://service.example/?to=elsewhere',
    'https://service.example/#x',
    'http://127.0.0.1:0',
    'http://127.0.0.1.service.example',
    'http://2130706433.example',
    'service.example',
    '',
  ])('H7 H15 J8 %j is no address to send a token to, nor to be called at', (address) => {
    expect(problems(withValue(['service', 'baseUrl'], address))).toContain('service.baseUrl: ');
    expect(problems(withValue(['listener', 'publicUrl'], address))).toContain('listener.publicUrl: ');
  });

  it.each(['../', '..', 'a/b', 'a b', '%2e%2e', '', 'x'.repeat(65)])(
    'H7 %j is refused as an account id: ids are part of addresses',
    (id) => {
      expect(problems(withValue(['accounts'], [id]))).toMatch(/accounts\.0: should be/);
    },
  );

  it.each([123, 1e3, Number.MAX_SAFE_INTEGER + 2])('L40 %d without quotes is refused as an account id', (id) => {
    for (const given of [id, { id, connection: 'default' }])
      expect(problems(withValue(['accounts'], [given]))).toMatch(/accounts\.0.*: should be an account id in quotes/);
  });

  it.each(['0.0.0.0', '::', '192.168.1.7', 'mirror.example'])(
    'H6 H15 %s shows the admin pages only for a token',
    (host) => {
      expect(problems(withValue(['admin', 'host'], host))).toContain('admin.token: should be set');
      expect(read({ ...usual, admin: { host, token: 'a-long-and-random-one' } }).admin.host).toBe(host);
    },
  );
});

it.each(['99999999999d', '36501d', '1e3d', `${'9'.repeat(400)}s`])(
  'L63 a duration of %s is refused: moments so far away may be beyond all dates',
  (duration) => {
    for (const path of [['retention', 'deliveries'], ['admin', 'maxStaleness'], ['sync', 'lag'], ['shutdownTimeout']])
      expect(problems(withValue(path, duration))).toContain(`${path.join('.')}: should be a duration such as`);
  },
);

describe('admin.port', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
  ])('is another one than that of the listener on %s where admin.host is %s', (host, adminHost) => {
    const ports = (listener: number, admin: number): object => ({
      ...usual,
      listener: { host, port: listener },
      admin: { host: adminHost, port: admin },
    });
    expect(problems(ports(8787, 8787))).toContain('admin.port: should be another port than listener.port');
    expect(problems(ports(8787, 8788))).toBe('nothing');
    expect(problems(ports(0, 0))).toBe('nothing');
  });

  it('may be the same on another address of this machine', () => {
    expect(problems({ ...usual, listener: { host: '192.0.2.7', port: 80 }, admin: { port: 80 } })).toBe('nothing');
  });
});

describe('L58 admin.token', () => {
  const guessed = [
    'a',
    'fifteen-letters',
    'aaaaaaaaaaaaaaaaaaaaaaaa',
    'abcdeabcdeabcdeabcde',
    'passwordpassword',
    'qwertyqwertyqwerty',
    '1234567890123456',
    'fedcba9876543210',
    'aaabbbcccdddeeefff',
  ];

  it.each(guessed)('%j is refused by its name if others reach the port', (token) => {
    for (const host of ['0.0.0.0', '192.168.1.7', '::'])
      expect(problems({ ...usual, admin: { host, token } })).toMatch(
        /admin\.token: should have at least 16 characters, six/,
      );
    expect(problems({ ...usual, admin: { host: '0.0.0.0', token } })).not.toContain(`"${token}"`);
  });

  it.each(guessed)('%j is taken if only this machine reaches the port, and sixteen characters everywhere', (token) => {
    expect(read({ ...usual, admin: { token } }).admin.token?.reveal()).toBe(token);
    expect(problems({ ...usual, admin: { host: '0.0.0.0', token: 'sixteen-letters!' } })).toBe('nothing');
  });
});

describe('L24 listener.trustedProxies', () => {
  it('is every private network, or a list of addresses and networks', () => {
    const of = (listener: object) => read({ ...usual, listener }).listener.trustedProxies;
    expect(of({})).toBe('private');
    expect(of({ trustedProxies: [] })).toEqual([]);
    const named = ['203.0.113.7', '10.1.0.0/16', 'fd00::/8'];
    expect(of({ trustedProxies: named })).toEqual(named);
  });

  it.each(['all', true, ['caddy'], ['10.0.0.0/33'], ['10.0.0.0/8/8'], ['10.0.0.0/'], ['fd00::/129'], ['private']])(
    'is refused as %j',
    (given) => expect(problems(withValue(['listener', 'trustedProxies'], given))).toContain('listener.trustedProxies'),
  );
});

describe('L54 listener.host', () => {
  it('is this machine alone, unless the settings or the image of the container say otherwise', () => {
    const place = (given: object, env = {}): [string, boolean] => {
      const { listener, namesListenerHost } = read({ ...usual, ...given }, {}, env);
      return [listener.host, namesListenerHost];
    };
    const container = { VENDOR_MIRROR_LISTENER_HOST: '0.0.0.0' };
    expect(place({})).toEqual(['127.0.0.1', false]);
    expect(place({ listener: { port: 1 } })).toEqual(['127.0.0.1', false]);
    expect(place({ listener: { host: '127.0.0.1' } })).toEqual(['127.0.0.1', true]);
    expect(place({}, container)).toEqual(['0.0.0.0', false]);
    expect(place({ listener: { host: '::1' } }, container)).toEqual(['::1', true]);
    expect(place({}, { VENDOR_MIRROR_LISTENER_HOST: '' })).toEqual(['127.0.0.1', false]);
  });

  it('is all interfaces in the container, whose proxy is another one', () => {
    const image = readFileSync(join(packageRoot, 'config/container/Containerfile'), 'utf8');
    expect(image).toContain('ENV VENDOR_MIRROR_LISTENER_HOST=0.0.0.0\n');
  });
});

describe('a secret in the settings', () => {
  const oauth = { tokenUrl: 'https://service.example/token', clientId: 'me', redirectUri: 'https://me.example' };
  const inFiles = {
    ...usual,
    service: {
      baseUrl: 'https://service.example',
      auth: { oauth: { ...oauth, clientSecretFile: '/run/client', refreshTokenFile: '/run/refresh' } },
    },
    admin: { tokenFile: '/run/admin' },
  };

  it('H13 may stand in a file of its own, out of the environment', () => {
    const { connections, admin } = read(inFiles, {
      '/run/client': 'one\n',
      '/run/refresh': 'two\n',
      '/run/admin': 'three\n',
    });
    const access = connections.get('default');
    const auth = access && 'oauth' in access ? access.oauth : undefined;
    expect([auth?.clientSecret, auth?.refreshToken, admin.token].map((secret) => secret?.reveal())).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(read(withValue(['service', 'auth'], { accessTokenFile: '/run/token' })).connections.get('default')).toEqual({
      accessTokenFile: '/run/token',
    });
  });

  it('H13 has no default, and a file that cannot be read is reported with its key', () => {
    expect(problems(withValue(['service', 'auth'], null))).toContain('service.auth: ');
    expect(problems(inFiles)).toMatch(/line \d+, service\.auth\.oauth\.clientSecretFile: cannot read the file/);
  });

  it('H13 from a variable of the environment is named where that is not set, and never shown', () => {
    const given = withValue(['service', 'auth', 'accessToken'], '${TOKEN}');
    const auth = read(given, {}, { TOKEN: 'canary' }).connections.get('default');
    expect(auth).toEqual({ accessToken: expect.any(Secret) as unknown });
    expect(JSON.stringify(auth)).not.toContain('canary');
    expect(problems(given)).toContain('the environment variable TOKEN is not set');
  });

  it.each(['two words', 'line\nbreak', 'ümlaut'])(
    'H8 H13 that no header can carry (%j) is refused without being shown',
    (secret) => {
      const text = problems(withValue(['service', 'auth', 'accessToken'], secret));
      expect(text).toContain('service.auth');
      expect(text).not.toContain(secret);
    },
  );
});

describe('vendors.exclude', () => {
  it('accepts fields that the program does not know, because the service may have them', () => {
    expect(read({ ...usual, vendors: { exclude: ['phone', 'custom_1'] } }).vendors.exclude).toEqual([
      'phone',
      'custom_1',
    ]);
  });

  it.each([
    [['vendorid'], 'should be another field: vendorid, vendor_name, vis_state, created_at, updated_at are needed'],
    [['note', 'updated_at'], 'vendors.exclude.1: should be another field'],
    [['phone', 'phone'], 'vendors.exclude: should be each field once'],
    [['two words'], 'vendors.exclude.0: should be the name of a field'],
  ])('does not take %j, and says why', (exclude, told) => {
    expect(problems({ ...usual, vendors: { exclude } })).toContain(told);
  });
});

describe('publish', () => {
  const publish = (text: string): unknown => read({ ...usual, publish: parse(text) as unknown }).publish;
  const one = { path: 'copy.db', when: 'change' };

  it.each([
    ['[]', []],
    ['[{ path: copy.db }]', [one]],
    [
      '[{ path: a.csv, view: payables, when: "0 6 * * *" }, { path: b, format: ndjson, query: SELECT 1 }]',
      [
        { path: 'a.csv', view: 'payables', when: '0 6 * * *' },
        { path: 'b', format: 'ndjson', query: 'SELECT 1', when: 'change' },
      ],
    ],
  ])('%s is a list of files', (text, expected) => {
    expect(publish(text)).toEqual(expected);
  });

  it.each([
    ['null', 'publish: should be a list of {path, when, format, view or query}'],
    [
      '{ path: copy.db }',
      'publish: should be a list of {path, when, format, view or query} or {to, schema, when, passwordFile}, such as [{ path: copy.db }]',
    ],
    ['[{ path: a.db }, { path: a.txt }]', 'publish.1.path: should end in .db'],
    ['[{ path: a.db, when: weekly }]', 'publish.0.when: should be change, or a cron schedule in quotes'],
    ['[{ path: a.db, form: csv }]', 'publish.0.form: unknown key'],
    ['[{ path: a.db, format: xls }]', 'publish.0.format: should be one of db, csv, json, ndjson'],
    ['[{ path: a.db, view: payables }]', 'publish.0.view: should be left out for a .db'],
    ['[{ path: a.csv, view: payables, query: SELECT 1 }]', 'publish.0.query: should be left out if a view is named'],
    ['[{ path: a.csv }, { path: a.csv }]', 'publish.1.path: should be another file: it is named twice'],
  ])('%s is refused', (text, problem) => {
    expect(() => publish(text)).toThrow(problem);
  });
});

it.each(['YOUR_ACCOUNT_ID', 'your-account', 'ACCOUNT_ID', 'AccountId'])(
  'L43 %s is a placeholder, and no account id',
  (id) => {
    expect(problems({ ...usual, accounts: [id] })).toContain('the id of your account instead of this placeholder');
    expect(problems({ ...usual, accounts: [`${id}7`] })).toBe('nothing');
  },
);

it('L99 the rate of before, for each account, is refused with the one that takes its place', () => {
  const { service } = usual;
  expect(problems({ ...usual, service: { ...service, rateLimit: { vendors: '300/60s', callbacks: '20/60s' } } })).toBe(
    'mirror.yaml has one problem:\n  line 8, service.rateLimit.vendors: should be written as `all`: one rate for all requests of a connection, whatever account and kind they are of',
  );
  expect(read({ ...usual, service: { ...service, rateLimit: { all: '300/60s' } } }).service.rateLimit).toEqual({
    all: { requests: 300, per: 60_000 },
    post: { requests: 225, per: 60_000 },
    callbacks: { requests: 20, per: 60_000 },
  });
});
