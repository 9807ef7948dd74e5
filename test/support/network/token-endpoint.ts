/** A token endpoint on a local port that leaves the first requests without an answer. */
import { createServer } from 'node:http';
import { listen } from './listen.ts';
import { until } from '../testbed/daemon-process.ts';

export interface TokenEndpoint {
  /** `service.auth` of settings that renew their token here, as YAML. */
  readonly auth: string;
  /** Resolves once it was asked that often. */
  asked(times: number): Promise<void>;
}

export async function tokenEndpoint(token: string, { hanging }: { readonly hanging: number }): Promise<TokenEndpoint> {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    if (asked <= hanging) return;
    const pair = { access_token: token, token_type: 'Bearer', expires_in: 43_200, refresh_token: `refresh-${asked}` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(pair));
  });
  const port = await listen(server);
  const redirectUri = 'https://example.com/authorized';
  return {
    auth: `{ oauth: { tokenUrl: "http://127.0.0.1:${port}/token", clientId: c, clientSecret: s, redirectUri: "${redirectUri}", refreshToken: r } }`,
    asked: (times) => until(() => asked >= times),
  };
}
