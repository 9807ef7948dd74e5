import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { sandboxCommand } from '../../../src/cmd/sandbox.ts';
import { allScopes } from '../../../src/sandbox/core/access.ts';
import { faultKinds, worldAxes } from '../../../src/sandbox/core/worlds.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { listen } from '../../support/network/listen.ts';
import { callbacksPath, vendorsPath, type Body } from '../../support/testbed/service.ts';

function terminal(fetch: ProcessContext['fetch'] = globalThis.fetch) {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const interrupt = new AbortController();
  const context = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    clock: systemClock,
    random: systemRandom,
    fetch,
    proxyOf: () => Promise.resolve(undefined),
    certificateTimes: () => Promise.resolve(undefined),
    interrupted: interrupt.signal,
    packageRoot: '',
    machineSettings: '',
  };
  const command = sandboxCommand(context)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const run = (...flags: string[]) => command.parseAsync(['--port', '0', ...flags], { from: 'user' });
  const firstWords = () => new Promise<string>((resolve) => stdout.once('data', resolve));
  const notice = () => new Promise<string>((resolve) => stderr.once('data', resolve));
  return { command, run, firstWords, notice, interrupt: () => interrupt.abort() };
}

describe('the sandbox command', () => {
  it('says how to reach it, and runs until it is interrupted', async () => {
    const { run, firstWords, interrupt } = terminal();
    const ended = run('--vendors', '7', '--token', 'mine', '--world', 'order=newest', '--no-rate-limit');
    const words = await firstWords();
    const baseUrl = /base URL {2}(\S+)/.exec(words)?.[1] ?? '';
    expect(words.replaceAll(baseUrl, 'BASE')).toMatchInlineSnapshot(`
      "The sandbox is ready. Ctrl-C stops it.

        base URL  BASE
        token     mine
        account   6BApk, 7 vendors
        world     order=newest

        curl -H 'Authorization: Bearer mine' 'BASE/accounting/account/6BApk/bill_vendors/bill_vendors?per_page=3'
      "
    `);
    const answer = await fetch(baseUrl + vendorsPath, { headers: { authorization: 'Bearer mine' } });
    const { result } = ((await answer.json()) as Body).response;
    expect(result.total).toBeGreaterThan(4);
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull();
    interrupt();
    await ended;
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  it('says it as one JSON object', async () => {
    const { run, firstWords, interrupt } = terminal();
    const ended = run('--json', '--account', 'one', '--account', 'two', '--fault', '500=0.5', '--seed', 'x');
    expect(JSON.parse(await firstWords())).toMatchObject({
      base_url: expect.stringMatching(/^http:\/\/127.0.0.1:\d+$/) as string,
      token: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      accounts: ['one', 'two'],
      vendors: 500,
      seed: 'x',
      world: { order: 'id' },
    });
    interrupt();
    await ended;
  });

  it('keeps its world in a file, for one process at a time', async () => {
    const file = join(temporaryFolder(), 'world');
    const counts: unknown[] = [];
    for (const vendors of ['7', '99']) {
      const { run, firstWords, interrupt } = terminal();
      const ended = run('--json', '--vendors', vendors, '--file', file);
      const { base_url, token } = JSON.parse(await firstWords()) as { base_url: string; token: string };
      await expect(terminal().run('--file', file)).rejects.toMatchObject({ code: 'database_locked' });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ bill_vendor: { vendor_name: 'New', language: 'en' } });
      await fetch(base_url + vendorsPath, { method: 'POST', headers, body });
      const { response } = (await (await fetch(base_url + vendorsPath, { headers })).json()) as Body;
      counts.push(response.result.total);
      interrupt();
      await ended;
    }
    expect(counts).toEqual([Number(counts[0]), Number(counts[0]) + 1]);
  });

  describe('L57 and web pages', () => {
    /** A sandbox that runs until the test ends. */
    async function started(flags: readonly string[] = [], fetch?: ProcessContext['fetch']) {
      const { run, firstWords, notice, interrupt } = terminal(fetch);
      const ended = run('--json', ...flags);
      onTestFinished(async () => {
        interrupt();
        await ended;
      });
      const { base_url: baseUrl, token } = JSON.parse(await firstWords()) as { base_url: string; token: string };
      const ask = async (method: string, path: string, more: Record<string, string> = {}, body = '') => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
        const sent = request(baseUrl + path, { method, headers }).end(body);
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
      };
      return { baseUrl, token, ask, notice, port: new URL(baseUrl).port };
    }

    const elsewhere = [
      ['Host', { host: 'evil.example' }, 421],
      ['Host', { host: '127.0.0.1.evil.example:8790' }, 421],
      ['Host', { host: 'localhost.evil.example' }, 421],
      ['Host', { host: 'sandbox' }, 421],
      ['Host', { host: '10.0.0.7' }, 421],
      ['Origin', { origin: 'https://evil.example' }, 403],
      ['Origin', { origin: 'null' }, 403],
      ['Origin', { origin: 'http://localhost:1' }, 403],
    ] as const;

    it.each(elsewhere)('a foreign %s is refused: %j', async (_, headers, status) => {
      const { ask } = await started();
      for (const path of [vendorsPath, '/auth/oauth/token', '/auth/oauth/authorize', '/sandbox/account/6BApk/events']) {
        const answer = await ask('POST', path, headers);
        expect([answer.status, answer.text]).toEqual([status, expect.stringContaining('--cors')]);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect((await ask('OPTIONS', path, headers)).status).toBe(status);
      }
    });

    it('a second Host beside its own is refused', async () => {
      const { token, port } = await started();
      const headers = ['host', 'localhost', 'host', 'evil.example', 'authorization', `Bearer ${token}`];
      const [answer] = (await once(
        request({ port, path: vendorsPath, setHost: false, headers }).end(),
        'response',
      )) as [IncomingMessage];
      expect(answer.statusCode).toBe(421);
    });

    it('its own names and pages are answered, and no header opens them to others', async () => {
      const { ask, baseUrl, port } = await started();
      for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `127.8.8.8`, `[::1]:${port}`])
        expect((await ask('GET', vendorsPath, { host })).status).toBe(200);
      const own = await ask('GET', vendorsPath, { origin: baseUrl });
      expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    });

    it('where it is open to others, addresses and names without a dot are its own too', async () => {
      const { ask } = await started(['--host', '0.0.0.0']);
      for (const host of ['10.0.0.7', 'sandbox:8790', '[fd00::1]', 'localhost'])
        expect((await ask('GET', vendorsPath, { host })).status).toBe(200);
      for (const host of ['evil.example', '10.0.0.7.evil.example'])
        expect((await ask('GET', vendorsPath, { host })).status).toBe(421);
    });

    it('--cors lets every page ask, for tokens too', async () => {
      const { ask } = await started(['--cors']);
      for (const [, headers] of elsewhere) {
        const answer = await ask('GET', vendorsPath, headers);
        expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*']);
      }
      const asked = await ask('OPTIONS', '/auth/oauth/token', { origin: 'https://evil.example' });
      expect([asked.status, asked.headers['access-control-allow-methods']]).toEqual([204, 'POST']);
      expect((await ask('GET', vendorsPath, { authorization: 'Bearer sandbox-token' })).status).toBe(401);
    });

    it('its token is another each time, and the same again for a world that is kept', async () => {
      const file = join(temporaryFolder(), 'world');
      const tokens: string[] = [];
      for (const flags of [
        [],
        [],
        ['--file', file],
        ['--file', file],
        ['--file', file, '--token', 'mine'],
        ['--file', file],
      ]) {
        const { run, firstWords, interrupt } = terminal();
        const ended = run('--json', ...flags);
        tokens.push((JSON.parse(await firstWords()) as { token: string }).token);
        interrupt();
        await ended;
      }
      const [, , kept] = tokens;
      expect(new Set(tokens.slice(0, 3)).size).toBe(3);
      expect(tokens.slice(3)).toEqual([kept, 'mine', 'mine']);
      const { ask } = await started(['--file', file]);
      const read = async (token: string) =>
        (await ask('GET', vendorsPath, { authorization: `Bearer ${token}` })).status;
      expect([await read('mine'), await read(kept!)]).toEqual([200, 401]);
    });

    it('a world of an older version forgets the token that everybody knows, and keeps those that it gave', async () => {
      const file = join(temporaryFolder(), 'world');
      const lines = [
        { sandbox: 1, id: 'a1', seed: 'x', records: 'plain', life: 1 },
        { kind: 'token', key: 'sandbox-token', value: { scopes: allScopes } },
        { kind: 'token', key: 'given', value: { scopes: allScopes, expires: Date.UTC(2100, 0) } },
      ];
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const { ask } = await started(['--file', file]);
      const read = async (token: string) =>
        (await ask('GET', vendorsPath, { authorization: `Bearer ${token}` })).status;
      expect([await read('sandbox-token'), await read('given')]).toEqual([401, 200]);
    });

    it.each(['http://10.0.0.7/', 'http://192.0.2.1:8080/x', 'http://[fe80::1]/', 'https://169.254.169.254/latest'])(
      'nothing is delivered to %s, which is told, unless it may deliver anywhere',
      async (uri) => {
        const posted: string[] = [];
        const post: ProcessContext['fetch'] = (url) => {
          posted.push(url.href);
          return Promise.resolve(new Response());
        };
        const body = JSON.stringify({ callback: { event: 'bill_vendor', uri } });
        const { ask, notice } = await started([], post);
        const told = notice();
        expect((await ask('POST', callbacksPath, {}, body)).status).toBe(200);
        expect(await told).toMatch(
          /^Callback 2001 of account 6BApk did not take callback\.verify: .+ does not resolve to this machine; to others, the sandbox delivers only with --deliver-anywhere\.\n$/,
        );
        expect(posted).toEqual([]);

        const open = await started(['--deliver-anywhere', '--world', 'handshakeWhen=before'], post);
        expect((await open.ask('POST', callbacksPath, {}, body)).status).toBe(200);
        expect(posted).toEqual([new URL(uri).href]);
      },
    );

    it('deliveries reach this machine, and an answer that is none of 2xx is told once', async () => {
      let came = 0;
      const hook = createServer((_, response) => {
        came += 1;
        response.writeHead(came === 1 ? 410 : 200).end();
      });
      const uri = `http://localhost:${await listen(hook)}/hook`;
      const { ask, notice } = await started(['--world', 'handshakeWhen=before', '--world', 'retryAfter=0']);
      const told = notice();
      await ask('POST', callbacksPath, {}, JSON.stringify({ callback: { event: 'bill_vendor', uri } }));
      expect(await told).toBe('Callback 2001 of account 6BApk did not take callback.verify: it answered 410.\n');
    });
  });

  it.each([
    [['--world', 'order=random'], 'order is one of'],
    [['--fault', 'fire=0.5'], 'Unknown fault “fire”. Known faults: 401, 403'],
    [['--fault', '500=2'], '500 takes a rate from 0 to 1, not “2”.'],
    [['--vendors', 'many'], 'It must be a whole number from 0 to 9999999.'],
    [['--churn', '-1'], 'It must be a number from 0.'],
    [['--lose', '1.5'], 'It must be a rate from 0 to 1'],
    [['--port', '65536'], 'It must be a port from 0 to 65535.'],
    [['--port', '-1'], 'It must be a port from 0 to 65535.'],
    [['--scope', 'everything'], 'Unknown scope “everything”. Known scopes: user:profile:read, user:bill_vendors:read,'],
    [['--token-lifetime', 'long'], 'It must be a whole number from 0 to 9999999.'],
  ])('refuses %j', async (flags, message) => {
    await expect(terminal().run(...flags)).rejects.toThrow(message);
  });

  it('lists every axis with its values, and every fault, in its help', () => {
    const { command } = terminal();
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    for (const { key, values } of worldAxes) {
      expect(help).toContain(`\n  ${key} `);
      expect(help).toContain(values.join(' | '));
    }
    for (const kind of Object.keys(faultKinds)) expect(help).toContain(`  ${kind} `);
  });
});
