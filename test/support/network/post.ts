import { request, type Agent } from 'node:http';

/** What a service posts to a callback. */
export interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends it over a real socket. @returns the status of the answer. */
export function post(
  url: string,
  { headers, body }: Pick<Posted, 'headers'> & { readonly body: string | Uint8Array },
  agent?: Agent,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: 'POST',
      headers: { 'content-length': Buffer.byteLength(body), ...headers },
    });
    sent.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
