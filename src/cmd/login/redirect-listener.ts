/** Waits on this machine for the browser that comes back from the service's page. */
import { HttpServer } from '../../http/server.ts';
import type { ProcessContext } from '../process/process-context.ts';

const page = (text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>vendor-mirror</title><p>${text}</p></html>\n`;

/**
 * The query with which the browser comes to `redirectUri`, an address of this machine. One of another state belongs to another login, and is
 * not waited for.
 * @param ready is called once it listens
 * @throws MirrorError `port_taken`, and the reason of the interruption.
 */
export async function awaitRedirect(
  redirectUri: URL,
  state: string,
  { clock, interrupted }: Pick<ProcessContext, 'clock' | 'interrupted'>,
  ready: () => void,
): Promise<URLSearchParams> {
  let arrived: (query: URLSearchParams) => void = () => undefined;
  const answer = new Promise<URLSearchParams>((resolve) => (arrived = resolve));
  const headers = { 'content-type': 'text/html; charset=utf-8', connection: 'close' };
  const server = new HttpServer({
    name: 'login',
    host: redirectUri.hostname.replace(/^\[|\]$/g, ''),
    port: Number(redirectUri.port || 80),
    clock,
    onFault: () => undefined,
    routes: [
      {
        method: 'GET',
        path: redirectUri.pathname,
        handle({ query }) {
          const isOurs = query.get('state') === state;
          if (isOurs) arrived(query);
          const text = isOurs
            ? 'Done. Return to the terminal.'
            : 'This answer belongs to another login. Open the address that the terminal shows.';
          return Promise.resolve({ status: isOurs ? 200 : 400, headers, body: page(text) });
        },
      },
    ],
  });
  interrupted.throwIfAborted();
  await server.start();
  let leave: () => void = () => undefined;
  const interruption = new Promise<never>((_, reject) => {
    leave = () => reject(interrupted.reason as Error);
    interrupted.addEventListener('abort', leave, { once: true });
  });
  try {
    ready();
    return await Promise.race([answer, interruption]);
  } finally {
    interrupted.removeEventListener('abort', leave);
    await server.stop();
  }
}
