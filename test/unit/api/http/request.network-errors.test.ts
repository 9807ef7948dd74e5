/** What becomes of a request that got no answer: whether it arrived, and what to do. */
import { expect, it } from 'vitest';
import { neverArrived, ProxyFault, TunnelRefused, unreachable } from '../../../../src/api/http/request.ts';

const coded = (code: string): Error => Object.assign(new Error('It failed.'), { code });

it.each<[string, boolean, Error]>([
  ['was refused', true, coded('ECONNREFUSED')],
  ['was reset', false, coded('ECONNRESET')],
  ['got no tunnel through a proxy', true, new ProxyFault('proxy.example.com', new TunnelRefused(503))],
  ['did not reach the proxy', true, new ProxyFault('proxy.example.com', coded('ENOTFOUND'))],
  ['was reset behind a proxy', false, new ProxyFault('proxy.example.com', coded('ECONNRESET'))],
])('K55 a creation whose connection %s: that it never arrived is %s', (_, expected, error) => {
  expect(neverArrived(unreachable('api.example.com', error))).toBe(expected);
});

it.each<[string, RegExp]>([
  ['ENOTFOUND', /spelling of the name/],
  ['ECONNREFUSED', /firewall or proxy/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['CERT_NOT_YET_VALID', /clock of this machine/],
  ['EWHATEVER', /^Check service.baseUrl/],
])('L40 a connection that failed with %s: every command names its remedy', (code, remedy) => {
  expect(unreachable('api.example.com', coded(code)).hint).toMatch(remedy);
});

it('L37 a name whose addresses all failed: each is named with its cause, and a creation never arrived', () => {
  const failed = (address: string, code: string): Error => Object.assign(coded(code), { address, port: 443 });
  const attempts = [failed('192.0.2.1', 'ETIMEDOUT'), failed('2001:db8::1', 'ENETUNREACH')];
  const error = unreachable('api.example.com', Object.assign(new AggregateError(attempts), { code: 'ETIMEDOUT' }));
  expect(error.message).toBe(
    'Could not reach api.example.com: 192.0.2.1: the connection timed out; 2001:db8::1: there is no network.',
  );
  expect(neverArrived(error)).toBe(true);
  expect(neverArrived(unreachable('api.example.com', coded('ETIMEDOUT')))).toBe(false);
});
