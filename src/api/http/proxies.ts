/** Proxies between this machine and the service. */
import { getProxyForUrl } from 'proxy-from-env';
import { MirrorError } from '../../domain/errors.ts';
import { isLoopback } from '../../settings/values.ts';

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
