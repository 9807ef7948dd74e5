/** Which addresses webhooks may be sent to, and which are those of trusted proxies. */
import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isPublicAddress, trustedBy } from '../../../src/http/networks.ts';

const open = [
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::5',
];
const closed = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::a00:1',
  'fe80::1',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '2001:db8::1',
  '2002:a00:1::1',
  '2001::1',
  'not an address',
  '',
];

describe('addresses of receivers', () => {
  it.each(open)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(closed)('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false));

  it('this machine is 127.0.0.0/8 and ::1, and nothing else', () => {
    const own = ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1'];
    expect(own.filter((address) => !isLoopbackAddress(address))).toEqual([]);
    expect(['128.0.0.1', '0.0.0.0', '::', '8.8.8.8', ''].filter(isLoopbackAddress)).toEqual([]);
  });
});

describe('L24 a trusted proxy', () => {
  const ownNetworks = ['127.0.0.1', '10.9.8.7', '100.64.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd12::1'];
  const others = ['172.32.0.1', '172.15.0.1', '100.128.0.1', '8.8.8.8', '2001:db8::1', '0.0.0.0', '', undefined];

  it('is by default at any private address', () => {
    const trusts = trustedBy('private');
    expect(ownNetworks.filter((address) => !trusts(address))).toEqual([]);
    expect(others.filter(trusts)).toEqual([]);
  });

  it('is at one of those that a list names, or on this machine, and nowhere else', () => {
    const trusts = trustedBy(['203.0.113.7', '10.1.0.0/16', '2001:db8:1::/48']);
    const named = ['203.0.113.7', '::ffff:203.0.113.7', '10.1.255.1', '2001:db8:1::9', '::1', '::ffff:127.0.0.1'];
    expect(named.filter((address) => !trusts(address))).toEqual([]);
    expect(['203.0.113.8', '10.2.0.1', '172.18.0.3', '2001:db8:2::9', ...others].filter(trusts)).toEqual([]);
  });
});
