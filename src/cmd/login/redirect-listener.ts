/** Waits on this machine for the browser that comes back from the service's page. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { MirrorError } from '../../domain/errors.ts';

const page = (text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>vendor-mirror</title><p>${text}</p></html>\n`;

/**
 * The query of the first request to `redirectUri`, whose host is this machine. @param ready is called once it listens.
 * @throws MirrorError `port_taken`, and what the signal's reason is.
 */
export async function awaitRedirect(
  redirectUri: URL,
  signal: AbortSignal,
  ready: () => void,
): Promise<URLSearchParams> {
  const server = createServer();
  try {
    const arrived = new Promise<URLSearchParams>((resolve) => {
      server.on('request', (request, response) => {
        const url = new URL(request.url ?? '', redirectUri);
        const wanted = request.method === 'GET' && url.pathname === redirectUri.pathname;
        response.writeHead(wanted ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', connection: 'close' });
        response.end(wanted ? page('Go back to the terminal: vendor-mirror has its answer.') : '');
        if (wanted) response.once('finish', () => resolve(url.searchParams));
      });
    });
    server.listen(Number(redirectUri.port || 80), redirectUri.hostname.replace(/^\[|\]$/g, ''));
    await once(server, 'listening', { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new MirrorError('port_taken', `Nothing can listen at ${redirectUri.origin} (${code}).`);
    });
    ready();
    return await Promise.race([
      arrived,
      once(signal, 'abort').then(() => {
        throw signal.reason;
      }),
    ]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
