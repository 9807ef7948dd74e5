import { Driver } from '../../src/store/sqlite/driver-package.ts';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artefacts, leaks, type NamedText } from '../support/secret-probe.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { testbed, type Testbed } from '../support/testbed.ts';

/** Each with characters that look otherwise in an address. */
const token = 'canary/access+5d1c0b';
const adminToken = 'canary/admin+77e2f4';
const clientSecret = 'canary/client+c3a9d8';
const refreshToken = 'canary/refresh+41f6e0';

/** Runs a command with everything logged that can be. @returns what it said, under its own name. */
async function say(at: Testbed<'program'>, ...argv: string[]): Promise<NamedText> {
  const { status, stdout, stderr } = await at.run(...argv, '--log-level', 'trace');
  return { name: `${argv.join(' ')} (${status})`, text: stdout + stderr };
}

function reword(at: Testbed<'program'>, from: string, to: string): void {
  const settings = join(at.folder, 'mirror.yaml');
  writeFileSync(settings, readFileSync(settings, 'utf8').replace(from, to));
}

/** A column of the file of secrets. */
function secretsOf(at: Testbed<'program'>, sql: string): string[] {
  const sqlite = new Driver(join(at.folder, 'secrets.db'), { readonly: true });
  try {
    return sqlite.prepare<[], string>(sql).pluck().all();
  } finally {
    sqlite.close();
  }
}

/** A service that answers everything with a refusal, in which it repeats what it was sent. */
async function parrot(): Promise<string> {
  const server = createServer((request, response) => {
    const message = `refused: ${request.url ?? ''} ${JSON.stringify(request.headers)}`;
    response.writeHead(403, { 'content-type': 'application/json', 'x-echo': request.headers.authorization ?? '' });
    response.end(JSON.stringify({ response: { errors: [{ errno: 1003, message }] }, message, error: message }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('no process reveals a secret', () => {
  it('F18 H10 the daemon and the commands beside it, to its end and after a kill', async () => {
    const signatures: string[] = [];
    const sandbox = await testbed({
      level: 'sandbox',
      vendors: 20,
      token,
      fetch: (to, init) => {
        signatures.push(new Headers(init.headers).get('x-service-hmac-sha256') ?? '');
        return globalThis.fetch(to, init);
      },
    });
    const at = await testbed({ level: 'program', service: sandbox, listens: true });
    reword(at, 'admin: { port', `admin: { token: ${adminToken}, port`);
    const daemon = at.start('serve', '--log-level', 'trace');
    const spoken = Promise.all([text(daemon.stdout!), text(daemon.stderr!)]);
    const callbacks = sandbox.sandbox.callbacks(sandbox.account);
    await until(() => callbacks.all().some(({ verified }) => verified));

    const [pathToken] = secretsOf(at, 'SELECT path_token FROM path_tokens');
    const vendors = sandbox.sandbox.vendors(sandbox.account);
    vendors.edit(Number(vendors.all()[3]!['vendorid']), { city: 'Oslo' });
    await until(() =>
      sandbox.sandbox.deliveries().some((attempt) => attempt.kind === 'event' && attempt.status === 200),
    );
    const address = `http://127.0.0.1:${at.listenerPort}/webhooks/${sandbox.account}`;
    const forged = { method: 'POST', headers: { 'x-service-hmac-sha256': signatures.at(-1)! }, body: 'name=x' };
    const admin = `http://127.0.0.1:${at.adminPort}`;
    const authorization = `Bearer ${adminToken}`;
    const pages = await Promise.all([
      ...['/metrics', '/api/status', '/', '/readyz', '/nothing'].map((path) =>
        fetch(admin + path, { headers: { authorization } }),
      ),
      fetch(admin),
      fetch(`${address}/${pathToken!}`, forged),
      fetch(`${address}/${pathToken!}x`, forged),
    ]);

    const told: NamedText[] = await Promise.all(
      pages.map(async (page) => ({
        name: page.url.slice(0, 30),
        text: JSON.stringify([...page.headers]) + (await page.text()),
      })),
    );
    for (const argv of [
      ['sync', '--verbose'],
      ['verify', '--json'],
      ['status', '--json'],
      ['doctor'],
      ['callbacks', 'list', '--json'],
      ['deliveries', 'list'],
      ['vendors', 'show', String(vendors.all()[3]!['vendorid']), '--json'],
      ['export', 'copy.db'],
      ['export', 'copy.csv'],
    ])
      told.push(await say(at, ...argv));
    told.push(...artefacts(at.folder));
    daemon.kill('SIGKILL');
    told.push(...artefacts(at.folder), { name: 'serve', text: (await spoken).join('') });

    const verifiers = secretsOf(at, 'SELECT verifier FROM verifiers');
    const secrets = {
      token,
      adminToken,
      pathToken: pathToken!,
      ...Object.fromEntries(verifiers.map((verifier, nth) => [`verifier ${nth}`, verifier])),
      ...Object.fromEntries(signatures.filter(Boolean).map((signature, nth) => [`signature ${nth}`, signature])),
    };
    expect(told.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['vendors.db', 'vendors.db-wal', 'copy.db', 'copy.csv']),
    );
    expect(verifiers.length).toBeGreaterThan(0);
    expect(leaks(told, secrets)).toEqual([]);
    const kept = { name: 'secrets.db', text: readFileSync(join(at.folder, 'secrets.db'), 'latin1') };
    expect(leaks([kept], secrets)).toEqual(expect.arrayContaining(['pathToken in secrets.db']));
  });

  it('F18 H10 commands that fail at a service that echoes what it was sent', async () => {
    const sandbox = await testbed({ level: 'sandbox', vendors: 20, token });
    const at = await testbed({ level: 'program', service: sandbox });
    const told = [await say(at, 'sync')];
    sandbox.sandbox.access.revoke(token);
    told.push(await say(at, 'sync', '--json'), await say(at, 'doctor'));
    const repeating = await testbed({ level: 'program', service: { ...sandbox, baseUrl: await parrot() } });
    for (const argv of [
      ['sync', '--verbose'],
      ['sync', '--json'],
      ['verify', '--verbose'],
      ['doctor'],
      ['callbacks', 'list'],
      ['gateways', 'list'],
    ])
      told.push(await say(repeating, ...argv));
    reword(repeating, `accessToken: ${token}`, `accessToken: "${token}\\u00e9"`);
    told.push(await say(repeating, 'sync'), await say(repeating, 'status', '--json'));
    expect(told.map(({ name }) => /\d+(?=\)$)/.exec(name)?.[0])).toEqual([
      '0',
      '77',
      '77',
      '77',
      '77',
      '77',
      '77',
      '77',
      '0',
      '78',
      '78',
    ]);
    expect(leaks([...told, ...artefacts(at.folder), ...artefacts(repeating.folder)], { token })).toEqual([]);
  });

  it('F18 H10 tokens that are exchanged for new ones, and refused', async () => {
    const sandbox = await testbed({ level: 'sandbox', vendors: 20 });
    sandbox.sandbox.access.allowRefresh(refreshToken);
    const at = await testbed({ level: 'program', service: sandbox });
    reword(
      at,
      `accessToken: ${sandbox.token}`,
      `oauth: { tokenUrl: "${sandbox.baseUrl}/auth/oauth/token", clientId: me, clientSecret: ${clientSecret},
        redirectUri: "https://localhost/", refreshToken: ${refreshToken} }`,
    );
    const told = [await say(at, 'sync')];
    const [access, refresh] = [
      ...secretsOf(at, 'SELECT access_token FROM oauth_tokens'),
      ...secretsOf(at, 'SELECT refresh_token FROM oauth_tokens'),
    ];
    sandbox.sandbox.access.revoke(access!);
    sandbox.sandbox.access.takeRefresh(refresh!);
    told.push(await say(at, 'sync', '--json'), await say(at, 'doctor'));
    expect(told.map(({ name }) => /\d+(?=\)$)/.exec(name)?.[0])).toEqual(['0', '77', '77']);
    const secrets = { clientSecret, refreshToken, access: access!, refresh: refresh! };
    expect(leaks([...told, ...artefacts(at.folder)], secrets)).toEqual([]);
  });
});
