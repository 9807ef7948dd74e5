/** Addresses of PostgreSQL servers. */
import { expect, it } from 'vitest';
import { postgresAddress } from '../../../src/settings/addresses.ts';

it.each([
  [
    'postgres://u@db.example.com/d',
    { host: 'db.example.com', port: 5432, tls: 'verify-full', name: 'postgres://u@db.example.com/d' },
  ],
  [
    'postgresql://u@db.example.com:6432/d?sslmode=require',
    { port: 6432, tls: 'require', name: 'postgres://u@db.example.com:6432/d' },
  ],
  ['postgres://u@127.0.0.1/d', { host: '127.0.0.1', tls: 'disable' }],
  ['postgres://u@[::1]/d?sslmode=verify-full', { host: '::1', tls: 'verify-full', name: 'postgres://u@[::1]/d' }],
  ['postgres://a%40b@/d?host=/run/postgresql', { host: '/run/postgresql', user: 'a@b', tls: 'disable' }],
  ['postgres://u@db/d?sslrootcert=/etc/ca.pem', { rootCertificate: '/etc/ca.pem', tls: 'verify-full' }],
])('%s is taken apart', (text, parts) => {
  expect(postgresAddress(text)).toMatchObject(parts);
});

it.each([
  'postgres://u@one,two/d',
  'postgres://u@/d',
  'postgres://u@h/',
  'postgres://u@h/d?host=other',
  'postgres://u%@h/d',
  'd',
])('%s is refused with what it should be', (text) => {
  expect(postgresAddress(text)).toMatch(/^an address /);
});
