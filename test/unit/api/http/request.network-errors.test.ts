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
