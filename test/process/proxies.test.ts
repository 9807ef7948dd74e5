/** A machine that reaches the service through a proxy alone. */
import { describe, expect, it } from 'vitest';
import { certificatePath, httpProxy } from '../support/network/http-proxy.ts';
import { freePort } from '../support/network/free-port.ts';
import { hurried } from '../support/testbed/program.ts';
import { tunnelProxy, type TunnelProxyOptions } from '../support/network/tunnel-proxy.ts';
import { testbed } from '../support/testbed.ts';

/** A service by a name that only the proxy knows, and what the environment says of the proxy. */
async function behind(proxyUrl: string, env: Readonly<Record<string, string>> = {}) {
  const world = await testbed({ level: 'sandbox', vendors: 40 });
  const service = await httpProxy(world.baseUrl, { certificate: 'elsewhere' });
  const { port } = new URL(service.baseUrl);
  const at = await testbed({
    level: 'program',
    service: { baseUrl: `https://elsewhere.example:${port}`, token: world.token },
    env: { ...hurried, NODE_EXTRA_CA_CERTS: certificatePath('authority'), HTTPS_PROXY: proxyUrl, ...env },
  });
  return { at, host: `elsewhere.example:${port}`, service };
}

async function through(options: TunnelProxyOptions, login = '', env: Readonly<Record<string, string>> = {}) {
  const proxy = await tunnelProxy(options);
  return { proxy, ...(await behind(`http://${login}127.0.0.1:${proxy.port}`, env)) };
}

describe('K55 a proxy on the way to the service', () => {
  it('is used for every request, through a few tunnels, with its user and password; doctor says so', async () => {
    const { at, proxy, host, service } = await through({ login: 'ann:p@ss' }, 'ann:p%40ss@');
    const run = await at.run('sync');
    expect([run.status, run.stderr]).toEqual([0, expect.not.stringContaining('p@ss')]);
    expect(at.query('SELECT count(*) AS n FROM vendors')).toEqual([{ n: 40 }]);
    expect(new Set(proxy.asked)).toEqual(new Set([host]));
    expect(proxy.asked.length).toBeLessThan(service.asked());
    const [{ vendorid } = { vendorid: 0 }] = at.query<{ vendorid: number }>('SELECT vendorid FROM active_vendors');
    expect(await at.run('vendors', 'archive', String(vendorid))).toMatchObject({ status: 0 });
    const { stdout } = await at.run('doctor');
    expect(stdout).toContain(`Requests to ${host} go through the proxy 127.0.0.1:${proxy.port}.`);
    expect(stdout).not.toContain('p@ss');
  });

  it.each<[string, TunnelProxyOptions, string]>([
    ['wants a login', { login: 'ann:p@ss' }, 'the proxy requires a user name and a password (407)'],
    ['refuses the address', { status: 403 }, 'the proxy made no connection to it and answered 403'],
    ['cannot reach it', { status: 502 }, 'the proxy made no connection to it and answered 502'],
  ])('is named if it %s: its answer is not taken for one of the service', async (_, options, words) => {
    const { at, proxy, host, service } = await through(options);
    const said = `Could not reach ${host} through the proxy 127.0.0.1:${proxy.port}: ${words}.`;
    expect(await at.run('sync')).toMatchObject({ status: 69, stderr: expect.stringContaining(said) as string });
    expect(service.asked()).toBe(0);
    const { status, stdout } = await at.run('doctor');
    expect([status, stdout]).toEqual([69, expect.stringContaining(said)]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Check the proxy in the environment variable HTTPS_PROXY');
  });

  it('is named if nobody is there', async () => {
    const port = await freePort();
    const { at, host } = await behind(`http://127.0.0.1:${port}`);
    const said = `Could not reach ${host} through the proxy 127.0.0.1:${port}: the connection was refused.`;
    expect(await at.run('sync')).toMatchObject({ status: 69, stderr: expect.stringContaining(said) as string });
  });

  it('that is of another kind ends a command with 78, and its password is not shown', async () => {
    const { at } = await behind('socks5://ann:hunter2@127.0.0.1:1080');
    const { status, stderr } = await at.run('sync');
    expect([status, stderr]).toEqual([78, expect.stringContaining('HTTPS_PROXY names no HTTP proxy')]);
    expect(stderr).not.toContain('hunter2');
  });

  it('is not shown with its password where a package logs what it does; a bare % needs no escape', async () => {
    const { at } = await through({ login: 'ann:100%' }, 'ann:100%@', { DEBUG: '*' });
    const { status, stderr } = await at.run('sync');
    expect([status, stderr]).toEqual([0, expect.not.stringMatching(/ann|YW5uOjEwMCU=/)]);
    expect(stderr).toContain('https-proxy-agent');
  });
});
