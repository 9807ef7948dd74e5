/** Addresses of PostgreSQL servers. */
import { expect, it } from 'vitest';
import { postgresAddress } from '../../../src/settings/addresses.ts';

it.each([
  [
    'postgres://u@db.example.com/d',
    {
      hosts: [{ host: 'db.example.com', port: 5432, name: 'postgres://u@db.example.com/d' }],
      target: 'any',
      tls: 'verify-full',
      name: 'postgres://u@db.example.com/d',
    },
  ],
  [
    'postgresql://u@db.example.com:6432/d?sslmode=require',
    { hosts: [{ port: 6432 }], tls: 'require', name: 'postgres://u@db.example.com:6432/d' },
  ],
  ['postgres://u@127.0.0.1/d', { hosts: [{ host: '127.0.0.1' }], tls: 'disable' }],
  [
    'postgres://u@[::1]/d?sslmode=verify-full',
    { hosts: [{ host: '::1' }], tls: 'verify-full', name: 'postgres://u@[::1]/d' },
  ],
  [
    'postgres://a%40b@/d?host=/run/postgresql',
    {
      hosts: [{ host: '/run/postgresql', port: 5432 }],
      user: 'a@b',
      tls: 'disable',
      name: 'postgres://a@b@/d?host=/run/postgresql',
    },
  ],
  [
    'postgres://u@a:6432,[::1],b/d',
    {
      hosts: [
        { host: 'a', port: 6432, name: 'postgres://u@a:6432/d' },
        { host: '::1', port: 5432, name: 'postgres://u@[::1]/d' },
        { host: 'b', port: 5432, name: 'postgres://u@b/d' },
      ],
      target: 'read-write',
      tls: 'verify-full',
      name: 'postgres://u@a:6432,[::1],b/d',
    },
  ],
  ['postgres://u@127.0.0.1,localhost/d?target_session_attrs=any', { target: 'any', tls: 'disable' }],
  ['postgres://u@a/d?target_session_attrs=primary', { target: 'primary' }],
  ['postgres://u@db/d?sslrootcert=/etc/ca.pem', { rootCertificate: '/etc/ca.pem', tls: 'verify-full' }],
])('%s is taken apart', (text, parts) => {
  expect(postgresAddress(text)).toMatchObject(parts);
});

it.each([
  'postgres://u@one,/d',
  'postgres://u@,/d',
  'postgres://u@one%2Ctwo/d',
  'postgres://u@one,two:x/d',
  'postgres://u@1,2,3,4,5,6/d',
  'postgres://u@one,two/d?host=/run/postgresql',
  'postgres://u:password@one,two/d',
  'postgres://u@one,two/d?target_session_attrs=standby',
  'postgres://u@/d',
  'postgres://u@h/',
  'postgres://u@h/d?host=other',
  'postgres://u%@h/d',
  'd',
])('%s is refused with what it should be', (text) => {
  expect(postgresAddress(text)).toMatch(/^an address /);
});
