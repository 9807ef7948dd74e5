/** A server before the service, by HTTP or by HTTPS: it passes questions on, and may change the bytes of answers. */
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { listen } from './listen.ts';

export interface HttpProxy {
  readonly baseUrl: string;
  /** Requests that came, each with its whole head; a connection that was given up before counts nothing. */
  asked(): number;
}

export interface HttpProxyOptions {
  /** The name of a certificate in test/fixtures/tls; plain HTTP without. */
  readonly certificate?: string;
  readonly change?: (bytes: Buffer) => Uint8Array;
  /** What is answered in place of the service; undefined where it is asked. */
  readonly instead?: (request: { readonly method: string; readonly path: string }) => ProxyAnswer | undefined;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** The path of a certificate; all are valid from 2020 to 2120, for localhost and 127.0.0.1, unless their name says otherwise. */
export function certificatePath(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
}

/** A proxy for the service at `service`, closed with the test. */
export async function httpProxy(
  service: string,
  { certificate, change, instead }: HttpProxyOptions = {},
): Promise<HttpProxy> {
  let asked = 0;
  const listener: RequestListener = (request, response) => {
    asked += 1;
    void (async () => {
      const { method = 'GET', headers, url = '/' } = request;
      const body = method === 'GET' ? undefined : await buffer(request);
      const own = instead?.({ method, path: url.split('?', 1)[0] ?? '' });
      if (own) {
        response.writeHead(own.status, { 'content-type': own.type }).end(own.body);
        return;
      }
      const { authorization = '', 'content-type': type = 'application/json' } = headers;
      const answer = await fetch(service + url, {
        method,
        headers: { authorization, 'content-type': type },
        ...(body && { body: new Uint8Array(body) }),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(change?.(bytes) ?? bytes);
    })();
  };
  const server =
    certificate === undefined
      ? createPlainServer(listener)
      : createTlsServer(
          { key: readFileSync(certificatePath('key')), cert: readFileSync(certificatePath(certificate)) },
          listener,
        );
  const port = await listen(server);
  const host = certificate === undefined ? 'http://127.0.0.1' : 'https://localhost';
  return { baseUrl: `${host}:${port}`, asked: () => asked };
}
