/** Proxies between this machine and the service: which one the environment names, and tunnels through it. */
import type { Agent, AgentOptions, ClientRequest, IncomingMessage } from 'node:http';
import { getProxyForUrl } from 'proxy-from-env';
import { MirrorError } from '../../domain/errors.ts';
import { isLoopback } from '../../settings/values.ts';
import { TunnelRefused } from './network-errors.ts';

/** The proxy through which requests to an address go; undefined for none. */
export type ProxyOf = (url: URL) => URL | undefined;

/** The variables that name a proxy for https, in the order of their precedence. */
const variables = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/**
 * The proxy that the environment names for an address, as other programs read it: `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` lists the
 * host. This machine is reached without one.
 * @throws MirrorError `settings_invalid` where the variable names no HTTP proxy.
 */
export const environmentProxy: ProxyOf = (url) => {
  if (url.protocol !== 'https:' || isLoopback(url.hostname) || getProxyForUrl(url.href) === '') return undefined;
  const variable = variables.find((name) => process.env[name]) ?? '';
  const named = process.env[variable] ?? '';
  const address = named.includes('://') ? named : `http://${named}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  // The value is not repeated: it may hold a password.
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:')
    throw new MirrorError(
      'settings_invalid',
      `The environment variable ${variable} names no HTTP proxy; it should be like http://proxy.example.com:3128.`,
    );
  return proxy;
};

/**
 * Agents that connect through a proxy: one that keeps its connections as `pool` says, and one that does not. User and password of the proxy
 * become a header alone, because the package may log its address.
 */
export async function tunnelsThrough(proxy: URL, pool: AgentOptions): Promise<{ kept: Agent; single: Agent }> {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  const address = new URL(proxy);
  address.username = address.password = '';
  const login = [proxy.username, proxy.password].map(unescaped).join(':');
  const headers = login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  return {
    kept: new HttpsProxyAgent(address, { ...pool, headers }),
    single: new HttpsProxyAgent(address, { headers }),
  };
}

/** Without its escapes; a text with a bare % has none. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ends a request for which a proxy gives no tunnel: the proxy's answer would be taken for one of the service. */
export function needTunnel(request: ClientRequest): void {
  request.once('proxyConnect', ({ statusCode }: IncomingMessage) => {
    if (statusCode !== 200) request.destroy(new TunnelRefused(statusCode));
  });
}
