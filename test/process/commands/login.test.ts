/** A person logs in with a browser: the page of the sandbox, the redirect, the tokens that follow, and what may go wrong on the way. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until, watched, type DaemonProcess } from '../../support/testbed/daemon-process.ts';
import { program } from '../../support/testbed/build.ts';
import { freePort } from '../../support/network/free-port.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import type { SandboxTestbedOptions } from '../../support/testbed/sandbox.ts';

const authOf = (baseUrl: string, redirectUri: string): string =>
  `{ oauth: { authorizeUrl: "${baseUrl}/auth/oauth/authorize", tokenUrl: "${baseUrl}/auth/oauth/token", clientId: mirror, clientSecret: hush, redirectUri: "${redirectUri}" } }`;

async function place(redirect?: string) {
  const sandbox = await testbed({ level: 'sandbox', vendors: 5 });
  const redirectUri = redirect ?? `http://127.0.0.1:${await freePort()}/callback`;
  const at = await testbed({ level: 'program', service: sandbox, auth: authOf(sandbox.baseUrl, redirectUri) });
  return { ...at, sandbox };
}

/** A folder without settings, beside a service that has somebody to log in. */
async function nothing(options: SandboxTestbedOptions = {}) {
  const sandbox = await testbed({ level: 'sandbox', vendors: 5, ...options });
  const at = await testbed({ level: 'program', service: sandbox });
  const secret = join(at.folder, 'client-secret');
  writeFileSync(secret, 'hush\n');
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const client = ['--client-id', 'mirror', '--client-secret-file', secret, '--redirect-uri', redirectUri];
  const file = join(at.folder, 'new.yaml');
  const named = ['--base-url', sandbox.baseUrl, ...client];
  return { ...at, sandbox, file, named, ofOne: ['-c', file, '--account', '6BApk', ...named] };
}

/** The address that login asks to open. */
function addressIn(login: DaemonProcess): URL {
  const [, address = ''] = /^ {2}(http\S+)$/m.exec(login.stderr()) ?? [];
  return new URL(address);
}

/** What a browser does in which somebody presses a button of the page. @returns where it is sent. */
async function press(address: URL, decision: 'allow' | 'deny'): Promise<string> {
  const shown = await (await fetch(address)).text();
  const body = new URLSearchParams();
  for (const [, name = '', value = ''] of shown.matchAll(/name="([^"]+)" value="([^"]*)">/g))
    body.set(name, unescaped(value));
  body.set('decision', decision);
  const answer = await fetch(new URL('/auth/oauth/authorize', address), { method: 'POST', body, redirect: 'manual' });
  expect(answer.status).toBe(302);
  return answer.headers.get('location') ?? '';
}

const unescaped = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

async function started(at: Pick<Testbed<'program'>, 'start'>, until: string, ...more: string[]) {
  const child = at.start('login', ...more);
  const end = ended(child);
  const login = watched(child);
  await login.logged(until);
  return { child, end, login };
}

describe('login', () => {
  it('waits for the browser, stores the tokens, and says which accounts they can read; then every command has access', async () => {
    const at = await place();
    const before = await at.run('sync');
    expect([before.status, before.stderr]).toEqual([77, expect.stringContaining('Run `vendor-mirror login')]);

    const { end, login } = await started(at, 'Waiting for the browser');
    const answer = await fetch(await press(addressIn(login), 'allow'));
    expect(await answer.text()).toContain('Return to the terminal');
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Logged in\. Scopes: .*\nThe account 6BApk can be read\.\n/),
    ]);
    expect((await at.run('sync')).status).toBe(0);

    const out = await at.run('logout');
    expect([out.status, out.stdout]).toEqual([0, expect.stringMatching(/^Logged out/)]);
    expect((await at.run('sync')).status).toBe(77);
    expect((await at.run('logout')).stdout).toBe('There was no login.\n');
  });

  it('writes a settings file if there is none, with which doctor, sync and serve lead to a verified webhook', async () => {
    const at = await nothing();
    const publicUrl = 'http://127.0.0.1:8787';
    const before = readdirSync(at.folder);
    const { end, login } = await started(at, 'Waiting for the browser', ...at.ofOne, '--public-url', publicUrl);
    expect(readdirSync(at.folder)).toEqual(before);
    await fetch(await press(addressIn(login), 'allow'));
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Wrote \S+new\.yaml\.\nLogged in\. Scopes: .*\nThe account 6BApk can be read\.\nNext, `vendor-mirror doctor -c \S+new\.yaml`/,
      ),
    ]);
    expect(readFileSync(at.file, 'utf8')).not.toContain('hush');
    expect(statSync(at.file).mode & 0o777).toBe(0o600);
    // Other tests may listen on the usual ports.
    const [listener, admin] = [await freePort(), await freePort()];
    const text = readFileSync(at.file, 'utf8').replace('127.0.0.1:8787', `127.0.0.1:${listener}`);
    writeFileSync(at.file, `${text.replace('listener:', `listener:\n  port: ${listener}`)}admin: { port: ${admin} }\n`);
    const doctor = await at.run('doctor', '-c', at.file, '--json');
    const { checks } = JSON.parse(doctor.stdout) as { checks: { check: string; result: string }[] };
    expect(checks.filter(({ result }) => result === 'failure')).toEqual([]);
    expect(await at.run('sync', '-c', at.file)).toMatchObject({ status: 0 });
    const serving = at.start('serve', '-c', at.file);
    const daemon = watched(serving);
    await daemon.logged('"msg":"reconcile complete"');
    await until(() => at.sandbox.sandbox.callbacks('6BApk').all()[0]?.verified === true);
    expect(await daemon.end('SIGTERM')).toBe(0);
  });

  it('changes no settings file that is there, and says what a new one needs', async () => {
    const at = await nothing();
    for (const [argv, said] of [
      [
        ['-c', join(at.folder, 'mirror.yaml'), ...at.named, '--account', '6BApk'],
        'exists, and login never changes a settings file',
      ],
      [['-c', at.file, '--client-id', 'mirror'], 'For a new settings file, --base-url must be given too.'],
      [['-c', at.file, ...at.named.slice(0, 4), '--account', '6BApk'], 'use --client-secret-file FILE'],
      [['main', '-c', at.file, ...at.named, '--account', '6BApk'], 'leave main out'],
      [['--sandbox', ...at.named, '--account', '6BApk'], '--base-url and --sandbox cannot be used together'],
    ] as const)
      expect([argv, await at.run('login', ...argv)]).toMatchObject([
        argv,
        { status: 64, stderr: expect.stringContaining(said) as string },
      ]);
    expect(existsSync(at.file)).toBe(false);
    const bare = spawnSync(process.execPath, [program, 'login'], { cwd: at.folder, encoding: 'utf8', env: {} });
    expect([bare.status, bare.stderr]).toEqual([64, expect.stringContaining('login writes a new one, mirror.yaml')]);
  });

  it.each(['businesses', 'roles'] as const)(
    'L43 without an account lists those that the token sees (told by %s), and the command that adds one, after which doctor is content',
    async (accountIds) => {
      const at = await nothing({ world: { accountIds } });
      const { end, login } = await started(at, 'Waiting for the browser', '-c', at.file, ...at.named);
      await fetch(await press(addressIn(login), 'allow'));
      const { status, stdout } = await end;
      expect([status, stdout]).toEqual([
        0,
        expect.stringContaining(
          `The settings name no account. The token sees:\n  6BApk${accountIds === 'roles' ? '' : '  Business 6BApk'}\n`,
        ),
      ]);
      const [, command = ''] = /Mirror one with `vendor-mirror (accounts add 6BApk -c \S+)`/.exec(stdout) ?? [];
      expect(await at.run(...command.split(' '))).toMatchObject({ status: 0 });
      const doctor = await at.run('doctor', '-c', at.file, '--json');
      const { checks } = JSON.parse(doctor.stdout) as { checks: { check: string; result: string }[] };
      expect(checks.filter(({ result }) => result === 'failure')).toEqual([]);
    },
  );

  it('L43 without an account and the scope to list them says which scope that is, and how to go on', async () => {
    const at = await nothing({ scopes: ['user:bill_vendors:read'] });
    const { end, login } = await started(at, 'Waiting for the browser', '-c', at.file, ...at.named);
    await fetch(await press(addressIn(login), 'allow'));
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([0, expect.stringContaining('needs the scope user:profile:read')]);
    expect(stdout).toContain('`vendor-mirror accounts add ID -c');
  });

  it('writes nothing if the person refuses', async () => {
    const at = await nothing();
    const before = readdirSync(at.folder);
    const { end, login } = await started(at, 'Waiting for the browser', ...at.ofOne);
    const page = await fetch(await press(addressIn(login), 'deny'));
    expect(await page.text()).not.toContain('Done');
    expect((await end).status).toBe(77);
    expect(readdirSync(at.folder)).toEqual(before);
  });

  it('accepts the pasted address if the browser returns elsewhere', async () => {
    const at = await place('https://mirror.example.com/oauth');
    const { child, end, login } = await started(at, 'allow access');
    child.stdin?.end(`${await press(addressIn(login), 'allow')}\n`);
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([0, expect.stringContaining('can be read')]);
  });

  it.each([
    ['the whole address', (address: string) => address],
    ['its query', (address: string) => new URL(address).search],
    ['the code alone', (address: string) => new URL(address).searchParams.get('code') ?? ''],
  ])('L100 accepts %s where the browser is on another machine, and cannot come back', async (_, taken) => {
    const at = await place();
    const { child, end, login } = await started(at, 'Waiting for the browser');
    expect(login.stderr()).toMatch(/`ssh -L (\d+):127\.0\.0\.1:\1`/);
    child.stdin?.end(`${taken(await press(addressIn(login), 'allow'))}\n`);
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([0, expect.stringContaining('can be read')]);
  });

  it('L100 waits for the browser where standard input is empty', async () => {
    const at = await place();
    const { child, end, login } = await started(at, 'Waiting for the browser');
    child.stdin?.end();
    await fetch(await press(addressIn(login), 'allow'));
    expect((await end).status).toBe(0);
  });

  it('gets one of two grants of the same client, and leaves the other one alone', async () => {
    const redirect = 'https://mirror.example.com/oauth';
    const sandbox = await testbed({ level: 'sandbox', vendors: 5 });
    const auth = authOf(sandbox.baseUrl, redirect);
    const settings = `connections: { main: { auth: ${auth} } }`;
    const at = await testbed({
      level: 'program',
      service: sandbox,
      auth,
      accounts: ['{ id: 6BApk, connection: main }'],
      settings,
    });
    const unnamed = await at.run('logout', 'nobody');
    expect([unnamed.status, unnamed.stderr]).toEqual([64, expect.stringContaining('default, main')]);

    const { child, end, login } = await started(at, 'allow access', 'main');
    child.stdin?.end(`${await press(addressIn(login), 'allow')}\n`);
    const { status, stdout } = await end;
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Logged in for the connection main\. Scopes: .*\nThe account 6BApk can be read\.\n/),
    ]);
    expect((await at.run('sync')).status).toBe(0);
    expect((await at.run('logout')).stdout).toBe('There was no login.\n');
    expect((await at.run('logout', 'main')).stdout).toMatch(/^Logged out/);
    const after = await at.run('sync');
    expect([after.status, after.stderr]).toEqual([
      77,
      expect.stringContaining('Connection main: Nobody has logged in'),
    ]);
  });

  it('prints one document with --json, and no token anywhere', async () => {
    const at = await place();
    const { end, login } = await started(at, 'Waiting for the browser', '--json');
    await fetch(await press(addressIn(login), 'allow'));
    const { status, stdout, stderr } = await end;
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, accounts: [{ account: '6BApk', access: true }] });
    expect(stdout + stderr).not.toMatch(/[0-9a-f]{64}/);
  });

  it('ends with 77 where the person refuses', async () => {
    const at = await place();
    const { end, login } = await started(at, 'Waiting for the browser');
    await fetch(await press(addressIn(login), 'deny'));
    const { status, stderr } = await end;
    expect([status, stderr]).toEqual([77, expect.stringContaining('did not authorize vendor-mirror: access_denied')]);
  });

  it('refuses the answer to another login, and keeps waiting for its own', async () => {
    const at = await place();
    const { end, login } = await started(at, 'Waiting for the browser');
    const back = new URL(await press(addressIn(login), 'allow'));
    const strange = new URL(back);
    strange.searchParams.set('state', 'of-somebody-else');
    expect((await fetch(strange)).status).toBe(400);
    expect((await at.run('sync')).status).toBe(77);
    await fetch(back);
    expect((await end).status).toBe(0);
    expect((await at.run('sync')).status).toBe(0);
  });

  it('refuses a pasted address of another login', async () => {
    const at = await place('https://mirror.example.com/oauth');
    const { child, end, login } = await started(at, 'allow access');
    const back = new URL(await press(addressIn(login), 'allow'));
    back.searchParams.set('state', 'of-somebody-else');
    child.stdin?.end(`${back.href}\n`);
    const { status, stderr } = await end;
    expect([status, stderr]).toEqual([64, expect.stringContaining('not the answer to this login')]);
    expect((await at.run('sync')).status).toBe(77);
  });

  it('accepts an answer in which the service names itself', async () => {
    const at = await place();
    const { end, login } = await started(at, 'Waiting for the browser');
    const back = new URL(await press(addressIn(login), 'allow'));
    back.searchParams.set('iss', 'https://issuer.example/of/its/own');
    await fetch(back);
    expect((await end).status).toBe(0);
  });

  it('ends when it is interrupted while it waits', async () => {
    const at = await place();
    const { end, login } = await started(at, 'Waiting for the browser');
    expect(await login.end('SIGINT')).toBe(1);
    expect((await end).stderr).toContain('Interrupted by SIGINT');
  });

  it('reports an invalid redirect address', async () => {
    const at = await place('not an address');
    const { status, stderr } = await at.run('login');
    expect([status, stderr]).toEqual([78, expect.stringContaining('redirectUri')]);
  });

  it('is refused if the settings contain a token', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 } });
    const { status, stderr } = await at.run('login');
    expect([status, stderr]).toEqual([78, expect.stringContaining('service.auth.oauth is not set')]);
  });
});
