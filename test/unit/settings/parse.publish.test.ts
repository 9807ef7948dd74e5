/** Rows in PostgreSQL among the publications of the settings. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { settingsIn } from '../../support/settings.ts';

const to = 'postgres://mirror@db.example.com/reports';
const publish = (...publications: object[]) => settingsIn('/tmp', { publish: publications }).publish;
const problem = (...publications: object[]): string => {
  try {
    publish(...publications);
  } catch (error) {
    return String(error);
  }
  return 'nothing';
};

describe('publications', () => {
  it('may be rows in a PostgreSQL beside files; a certificate is checked unless it is this machine', () => {
    expect(publish({ path: '/tmp/copy.db' }, { to })).toMatchObject([
      { path: '/tmp/copy.db', when: 'change' },
      {
        path: 'postgres://mirror@db.example.com/reports#vendor_mirror',
        to: {
          hosts: [{ host: 'db.example.com', port: 5432 }],
          database: 'reports',
          user: 'mirror',
          tls: 'verify-full',
        },
        schema: 'vendor_mirror',
        when: 'change',
      },
    ]);
  });

  it('take the password from a file, and never print it', () => {
    const password = 'kept-out-of-sight';
    const passwordFile = '/run/secrets/reports';
    const { publish: publications } = settingsIn('/tmp', { publish: [{ to, passwordFile }] }, () => `${password}\n`);
    expect(publications[0]).toMatchObject({ password: new Secret(password), passwordFile });
    expect(inspect(publications, { depth: 9 }) + JSON.stringify(publications)).not.toContain(password);
  });

  it('are refused with a password in the address, which is not repeated, and what to write instead', () => {
    for (const address of [
      'postgres://mirror:h1dden@db.example.com/r',
      'postgres://mirror@db.example.com/r?password=h1dden',
    ]) {
      const said = problem({ to: address });
      expect(said).toContain(
        'publish.0.to: should be an address without a password: name a file with it as passwordFile',
      );
      expect(said).not.toContain('h1dden');
    }
  });

  it.each([
    [{ to: 'mysql://user@host/db' }, 'publish.0.to: should be an address such as postgres://'],
    [
      { to: 'postgres://host/db' },
      'publish.0.to: should be an address such as postgres://user@db.example.com/database, with user',
    ],
    [{ to: `${to}?sslmode=prefer` }, 'sslmode is one of disable, require, verify-full'],
    [{ to: `${to}?options=-c` }, 'no other parameters than host, sslmode, sslrootcert'],
    [{ to: `${to}?sslrootcert=ca.pem` }, 'sslrootcert is an absolute path'],
    [{ to, schema: 'Vendors' }, 'publish.0.schema: should be the name of a schema'],
    [{ to, schema: 'pg_catalog' }, 'publish.0.schema: should be the name of a schema'],
    [{ to, when: 'daily' }, 'publish.0.when: should be change, or a cron schedule'],
    [{ to, format: 'csv' }, 'publish.0.format: unknown key'],
    [{ path: 'copy.db', schema: 'vendors' }, 'publish.0.schema: unknown key'],
    [{ path: to }, 'publish.0.path: should be the path of a file'],
  ])('%j: %s', (publication, said) => {
    expect(problem(publication)).toContain(said);
  });

  it('are refused where two fill the same schema', () => {
    expect(problem({ to }, { to })).toContain('publish.1.schema: should be another schema: it is named twice');
    expect(problem({ to }, { to, schema: 'other' })).toBe('nothing');
  });
});
