/**
 * Which network an address is in: an outgoing webhook may reach public ones, never this machine or its network; and a connection from a
 * trusted proxy is not that of one caller.
 */
import { BlockList, isIP } from 'node:net';

/** IPv4 networks that are not public: private, local, shared, documentation, multicast, reserved. */
const nonPublicV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The public range of IPv6, and what in it is not public: protocol assignments, documentation, and addresses that embed IPv4. */
const publicV6 = ['2000::/3'];
const nonPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const nonPublic = listOf([...nonPublicV4, ...nonPublicV6]);
const publicRange = listOf(publicV6);
const loopback = listOf(['127.0.0.0/8', '::1/128']);

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const isV6 = address.includes(':');
    list.addSubnet(address, Number(bits ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Whether an IP address, without brackets, is on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !nonPublic.check(address, 'ipv4');
  return isIP(address) === 6 && publicRange.check(address, 'ipv6') && !nonPublic.check(address, 'ipv6');
}

/** Whether an IP address, without brackets, is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return isIn(loopback, address);
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Networks that are one's own: a container's, a company's, a provider's for its customers, of a link. */
const privateNetworks = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  'fe80::/10',
];

/** Whose connections carry the requests of many: addresses and networks, or all that are private. This machine is always one. */
export type TrustedProxies = 'private' | readonly string[];

/** Tells whether the remote address of a connection is that of a trusted proxy. Nothing that a request says about itself counts. */
export function trustedBy(proxies: TrustedProxies): (address: string | undefined) => boolean {
  const trusted = listOf(proxies === 'private' ? privateNetworks : proxies);
  return (address = '') => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
    return isLoopbackAddress(plain) || isIn(trusted, plain);
  };
}
