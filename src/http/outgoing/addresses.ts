/** Which addresses an outgoing webhook may reach: public ones, never this machine or its network. */
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
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
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
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
