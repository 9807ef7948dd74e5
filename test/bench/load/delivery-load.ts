/** Signed deliveries, ready to be written to a socket. */
import { sign, type Parameters } from '../../../src/sandbox/delivery/event-dispatcher.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';
import { account } from '../setup/installation.ts';
import { firstId } from '../setup/texts.ts';

export const verifier = 'bench-verifier-0123456789abcdef';

/** Where a listener waits for deliveries. */
export interface ListenerResult {
  readonly port: number;
  readonly path: string;
}

/** One POST about a vendor, from its request line to its last byte. */
export function delivery({ port, path }: ListenerResult, vendorid: number): Buffer {
  const parameters: Parameters = [
    ['user_id', '1'],
    ['name', 'bill_vendor.update'],
    ['object_id', String(vendorid)],
    ['account_id', account],
    ['business_id', '4242'],
    ['identity_id', '99'],
  ];
  const body = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
  const headers = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    `X-Service-Hmac-SHA256: ${sign(parameters, verifier, parseWorld([]))}`,
  ];
  return Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}`);
}

/** Deliveries about some thousand vendors, again and again. */
export function deliveries(to: ListenerResult, different: number): Buffer[] {
  return Array.from({ length: different }, (_, index) => delivery(to, firstId + index));
}
