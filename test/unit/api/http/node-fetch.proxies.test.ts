import { expect, it, onTestFinished, vi } from 'vitest';
import { environmentProxy } from '../../../../src/api/http/node-fetch.ts';

/** The proxy for an address, by an environment of these variables alone. */
function proxyFor(address: string, environment: Readonly<Record<string, string>>): string | undefined {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'])
    for (const variable of [name, name.toLowerCase()]) vi.stubEnv(variable, environment[variable]);
  return environmentProxy(new URL(address))?.href;
}

const service = 'https://api.example.com/accounting';
const proxy = 'http://proxy.example.com:3128/';

it.each<[string, string, Readonly<Record<string, string>>, string | undefined]>([
  ['HTTPS_PROXY', service, { HTTPS_PROXY: proxy }, proxy],
  ['https_proxy before HTTPS_PROXY', service, { HTTPS_PROXY: 'http://other.example.com', https_proxy: proxy }, proxy],
  ['an address without http://', service, { HTTPS_PROXY: 'proxy.example.com:3128' }, proxy],
  ['ALL_PROXY', service, { ALL_PROXY: proxy }, proxy],
  [
    'a proxy that is reached by TLS',
    service,
    { HTTPS_PROXY: 'https://proxy.example.com' },
    'https://proxy.example.com/',
  ],
  ['none without a variable', service, {}, undefined],
  ['none where it is empty', service, { HTTPS_PROXY: '' }, undefined],
  ['none for http by HTTPS_PROXY', 'http://api.example.com/', { HTTPS_PROXY: proxy }, undefined],
  ['none for a host of NO_PROXY', service, { HTTPS_PROXY: proxy, NO_PROXY: 'a.example,api.example.com' }, undefined],
  ['none for a domain of NO_PROXY', service, { HTTPS_PROXY: proxy, no_proxy: '.example.com' }, undefined],
  ['none for this machine', 'https://127.0.0.1:8443/', { HTTPS_PROXY: proxy }, undefined],
  ['none for localhost', 'https://localhost:8443/', { ALL_PROXY: proxy }, undefined],
])('K55 is named by %s', (_, address, environment, expected) => {
  expect(proxyFor(address, environment)).toBe(expected);
});

it.each(['socks5://u:secret@proxy.example.com', 'http://', '://secret'])(
  'is refused if it is no HTTP proxy: %s',
  (named) => {
    const refused = (): unknown => proxyFor(service, { HTTPS_PROXY: named });
    expect(refused).toThrow('The environment variable HTTPS_PROXY names no HTTP proxy');
    expect(refused).not.toThrow('secret');
  },
);
