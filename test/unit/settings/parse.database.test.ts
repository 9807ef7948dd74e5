/** A mirror in PostgreSQL, by its settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { changedKeys, parseSettings, type Settings, type SettingsSources } from '../../../src/settings/parse.ts';
import { packageRoot } from '../../support/mirror-file.ts';

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');
const to = 'postgres://mirror@db.example.com/mirror';

function parse(over: Readonly<Record<string, unknown>>, sources: Partial<SettingsSources> = {}): Settings {
  const service = { baseUrl: 'https://service.example', auth: { accessToken: 'token' } };
  const text = JSON.stringify({ accounts: ['6BApk'], service, ...over });
  return parseSettings({ defaults, name: 'mirror.yaml', env: {}, readFile: String, text, ...sources });
}

function problem(over: Readonly<Record<string, unknown>>, sources?: Partial<SettingsSources>): string {
  try {
    parse(over, sources);
  } catch (error) {
    return String(error);
  }
  return 'nothing';
}

describe('a mirror in PostgreSQL', () => {
  it('is at an address, with a schema of its own, and another one for its secrets', () => {
    const settings = parse({ database: `${to}?sslmode=verify-full` });
    expect(settings).toMatchObject({
      database: `${to}, schema vendor_mirror`,
      secrets: `${to}, schema vendor_mirror_secrets`,
    });
    expect(settings.postgres?.to).toMatchObject({
      hosts: [{ host: 'db.example.com' }],
      database: 'mirror',
      user: 'mirror',
      tls: 'verify-full',
    });
    expect(settings.postgres).toMatchObject({
      schema: 'vendor_mirror',
      secretsSchema: 'vendor_mirror_secrets',
      password: undefined,
      passwordFile: undefined,
      secretsKeyFile: undefined,
    });
    expect(parse({ database: to, databaseSchema: 'books' }).postgres).toMatchObject({
      schema: 'books',
      secretsSchema: 'books_secrets',
    });
  });

  it('may be served by daemons that do only a part; a file has one, which does both', () => {
    expect(parse({ database: to }).roles).toEqual(['listen', 'work']);
    expect(parse({ database: to, roles: ['listen'] }).roles).toEqual(['listen']);
    expect(problem({ roles: ['listen'] })).toContain('should be [listen, work], because database is a file');
    expect(problem({ database: to, roles: [] })).toContain('at least one of listen and work');
    expect(problem({ database: to, roles: ['work', 'work'] })).toContain('each role once');
    expect(problem({ database: to, roles: ['rest'] })).toContain('roles');
  });

  it('may be named by a variable, as the platform calls it', () => {
    const settings = parse(
      { database: '${DATABASE_URL}' },
      { env: { DATABASE_URL: 'postgresql://mirror@/m?host=/run/pg' } },
    );
    expect(settings.postgres?.to).toMatchObject({ hosts: [{ host: '/run/pg' }], tls: 'disable' });
  });

  it('is a file where nothing else is said, of which nothing in PostgreSQL is known', () => {
    expect(parse({}).postgres).toBeUndefined();
    expect(parse({ database: '/srv/vendors.db', secrets: '/srv/secrets.db' })).toMatchObject({
      database: '/srv/vendors.db',
      secrets: '/srv/secrets.db',
    });
    expect(parse({}, { env: { CREDENTIALS_DIRECTORY: '/run/credentials' } }).readFrom).toEqual(['mirror.yaml']);
  });

  it('takes the password from a file, which is kept to be read again, and never prints it', () => {
    const password = 'kept-out-of-sight';
    const databasePasswordFile = '/run/secrets/database';
    const settings = parse({ database: to, databasePasswordFile }, { readFile: () => `${password}\n` });
    expect(settings.postgres).toMatchObject({ password: new Secret(password), passwordFile: databasePasswordFile });
    expect(settings.secretFiles).toContain(databasePasswordFile);
    expect(inspect(settings, { depth: 9 }) + JSON.stringify(settings)).not.toContain(password);
    expect(parse({ database: to, databasePassword: password }).postgres?.password?.reveal()).toBe(password);
  });

  it('says which file holds the key: that of the settings, or else the credential of systemd', () => {
    const env = { CREDENTIALS_DIRECTORY: '/run/credentials/vendor-mirror' };
    const credential = '/run/credentials/vendor-mirror/vendor-mirror-secrets-key';
    const missing = (): never => {
      throw new Error('ENOENT');
    };
    const named = parse({ database: to, secretsKeyFile: '/run/secrets/key' }, { env, readFile: missing });
    expect(named.postgres?.secretsKeyFile).toBe('/run/secrets/key');
    expect(named.secretFiles).toContain('/run/secrets/key');
    const handed = parse({ database: to }, { env });
    expect([handed.postgres?.secretsKeyFile, handed.secretFiles]).toEqual([
      credential,
      expect.arrayContaining([credential]),
    ]);
    expect(parse({ database: to }, { env, readFile: missing }).postgres?.secretsKeyFile).toBeUndefined();
  });

  it.each([
    [{ database: 'mysql://user@host/db' }, 'database: should be the path of a file: neither an address'],
    [{ database: 'postgres://host/db' }, 'database: should be an address such as postgres://'],
    [{ database: `${to}?sslmode=prefer` }, 'sslmode is one of disable, require, verify-full'],
    [{ database: to, databaseSchema: 'Books' }, 'databaseSchema: should be the name of a schema: up to 55'],
    [
      { database: to, databaseSchema: 'books_secrets' },
      'databaseSchema: should be another name than one that ends in _secrets',
    ],
    [{ database: to, databaseSchema: 'pg_books' }, 'databaseSchema: should be the name of a schema'],
    [{ database: to, databaseSchema: 'b'.repeat(56) }, 'databaseSchema: should be the name of a schema'],
    [{ database: to, databaseSchema: 'b"; --' }, 'databaseSchema: should be the name of a schema'],
    [{ database: to, secretsKeyFile: '$HOME/key' }, 'secretsKeyFile: should be a path: an environment variable'],
    [
      { database: to, secrets: 'data/secrets.db' },
      'secrets: should be left out, because the secrets are in the schema vendor_mirror_secrets',
    ],
    [{ database: to, publish: [{ path: 'copy.db' }] }, 'publish.0.path: should be of another format'],
    [{ database: to, publish: [{ path: 'copy', format: 'db' }] }, 'publish.0.format: should be of another format'],
    [{ database: to, publish: [{ to }] }, 'publish.0.schema: should be another schema'],
    [
      { database: 'postgres://mirror@other,db.example.com/mirror', publish: [{ to }] },
      'publish.0.schema: should be another schema',
    ],
    [
      { database: to, publish: [{ to, schema: 'vendor_mirror_secrets' }] },
      'publish.0.schema: should be another schema',
    ],
    [{ databaseSchema: 'books' }, 'databaseSchema: should be left out, because database is a file'],
    [{ databasePassword: 'p' }, 'databasePassword: should be left out, because database is a file'],
    [{ databasePasswordFile: '/run/p' }, 'databasePasswordFile: should be left out, because database is a file'],
    [{ secretsKeyFile: '/run/key' }, 'secretsKeyFile: should be left out, because database is a file'],
  ])('%j is refused: %s', (over, said) => {
    expect(problem(over)).toContain(said);
  });

  it.each([
    {
      database: to,
      publish: [
        { path: 'owed.csv', view: 'owed' },
        { to, schema: 'reports' },
        { to: 'postgres://mirror@other/mirror' },
      ],
    },
    { database: to, databaseSchema: 'b'.repeat(55), secrets: null, secretsKeyFile: null },
  ])('%j is not refused for what it is beside', (over) => {
    expect(problem(over)).not.toContain('should be another schema');
    expect(problem(over)).not.toContain('should be of another format');
    expect(problem(over)).not.toContain('databaseSchema');
  });

  it('is refused with a password in its address, which is not repeated, and what to write instead', () => {
    const said = problem({ database: 'postgres://mirror:h1dden@db.example.com/mirror' });
    expect(said).toContain(
      'database: should be an address without a password: name a file with it as databasePasswordFile',
    );
    expect(said).not.toContain('h1dden');
  });

  it('is refused where the file of the password cannot be read', () => {
    const readFile = (): never => {
      throw new Error('EACCES');
    };
    expect(problem({ database: to, databasePasswordFile: '/run/p' }, { readFile })).toContain(
      'databasePasswordFile: cannot read the file',
    );
  });

  it('is where it is in whatever folder a command runs, but not its key', () => {
    const absolutePaths = true;
    expect(problem({ database: to }, { absolutePaths })).toBe('nothing');
    const said = problem({ database: to, secretsKeyFile: 'key', databasePasswordFile: 'password' }, { absolutePaths });
    expect(said.match(/\w+: should be an absolute path/g)).toEqual([
      'databasePasswordFile: should be an absolute path',
      'secretsKeyFile: should be an absolute path',
    ]);
  });

  it('needs a restart where the settings name another one, and not for another password in its file', () => {
    const own = { database: to, databasePasswordFile: '/run/p', secretsKeyFile: '/run/key' };
    const before = parse(own);
    const changed = (over: object, readFile?: () => string) =>
      changedKeys(before, parse({ ...own, ...over }, readFile && { readFile }));
    expect(changed({})).toEqual([]);
    expect(changed({}, () => 'another')).toEqual([]);
    expect(changed({ database: `${to}?sslmode=require` })).toEqual(['database']);
    expect(changed({ database: `${to}_2` })).toEqual(['database']);
    expect(changed({ databaseSchema: 'books' })).toEqual(['databaseSchema']);
    expect(changed({ databasePasswordFile: '/run/other', secretsKeyFile: '/run/next' })).toEqual([
      'databasePasswordFile',
      'secretsKeyFile',
    ]);
    expect(changedKeys(parse({}), parse({ database: to }))).toEqual(['database']);
  });
});
