/** nock in place of a service: every request to it in this test is answered here. */
import { syncBuiltinESMExports } from 'node:module';
import nock from 'nock';
import { onTestFinished } from 'vitest';
import { nodeFetch } from '../../../src/api/http/node-fetch.ts';
import type { Fetch } from '../../../src/api/http/request.ts';

// Importing nock switches it on. What was imported from node:http by name meanwhile is nock's, until it is synced.
nock.restore();
syncBuiltinESMExports();

export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A body of JSON, read; a form as it came. */
  readonly body: unknown;
}

export type Answerer = (sent: Sent) => Response | Error | Promise<Response | Error>;

/** The network as the program has it. */
export const network: Fetch = nodeFetch();

/** Answers every request to the origin from now on, and to no other; an error breaks the connection. */
export function intercept(origin: string, answer: Answerer): void {
  nock.cleanAll();
  if (!nock.isActive()) nock.activate();
  onTestFinished(() => {
    nock.cleanAll();
    nock.restore();
  });
  const scope = nock(origin).persist();
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
    scope.intercept(/.*/, method).reply(async function (path, body) {
      const { headers } = this.req as unknown as { headers: Record<string, string> };
      const answered = await answer({ method, url: new URL(path, origin), headers, body: body || undefined });
      if (answered instanceof Error) throw answered;
      const bytes = Buffer.from(await answered.clone().arrayBuffer());
      return [answered.status, bytes, Object.fromEntries(answered.headers)];
    });
}
