import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { sandboxCommand } from '../../../src/cmd/sandbox.ts';
import { faultKinds, worldAxes } from '../../../src/sandbox/core/worlds.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { vendorsPath, type Body } from '../../support/testbed/service.ts';

function terminal() {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const interrupt = new AbortController();
  const context = {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
    env: {},
    clock: systemClock,
    random: systemRandom,
    fetch,
    proxyOf: () => Promise.resolve(undefined),
    certificateEnd: () => Promise.resolve(undefined),
    interrupted: interrupt.signal,
    packageRoot: '',
    machineSettings: '',
  };
  const command = sandboxCommand(context)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const run = (...flags: string[]) => command.parseAsync(['--port', '0', ...flags], { from: 'user' });
  const firstWords = () => new Promise<string>((resolve) => stdout.once('data', resolve));
  return { command, run, firstWords, interrupt: () => interrupt.abort() };
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
      token: 'sandbox-token',
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
