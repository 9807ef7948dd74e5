/** Until when the certificate of an https address is valid. */
import { connect, type ConnectionOptions } from 'node:tls';
import { parseInstant } from '../../domain/clock.ts';

/** Milliseconds for a connection and its handshake. */
const handshakeTimeout = 5_000;

/**
 * Until when the certificate at an address is valid, in milliseconds since 1970; undefined where the address is not https, or no trusted
 * connection can be made; a request to the address then says why. `options` are for tests.
 */
export function certificateEnd(url: URL, options: ConnectionOptions = {}): Promise<number | undefined> {
  if (url.protocol !== 'https:') return Promise.resolve(undefined);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      servername: /[^\d.:]/.test(host) ? host : '',
      ...options,
    });
    const end = (moment?: number): void => {
      socket.destroy();
      resolve(moment);
    };
    socket.setTimeout(handshakeTimeout, () => end());
    socket.once('error', () => end());
    socket.once('secureConnect', () => {
      end(parseInstant(socket.getPeerCertificate().valid_to));
    });
  });
}
