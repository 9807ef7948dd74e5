import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** The output without what differs from run to run. */
function steady(line: Testbed<'command'>, text: string): string {
  return text
    .replaceAll(line.folder, '.')
    .replaceAll(/\d+ +\d+\.\d s$/gm, 'N  0.0 s')
    .replaceAll(/\d s ago$/gm, 'just now');
}

describe('sync', () => {
  it('says that the age of the mirror is unknown by the clock of this machine, as `status` does right after, where nothing else is said', async () => {
    const hour = 3_600_000;
    const line = await testbed({
      level: 'command',
      service: { vendors: 3, account: ['6BApk'] },
      settings: 'accounts: [6BApk]',
      clock: { ...systemClock, now: () => systemClock.now() + hour },
    });
    const { status, stdout, stderr } = await line.run('sync');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    const said = /The clock of this machine is 1 h ahead of the service's, so the age of the mirror is unknown/;
    expect(stderr).toMatch(said);
    expect((await line.run('status')).stdout.replaceAll(/\s+/g, ' ')).toMatch(said);
  });

  it('mirrors the built-in sandbox, and shows the first query with its real rows', async () => {
    const line = await testbed({ level: 'command', clock: systemClock });
    const { status, stdout, stderr } = await line.run('sync', '--verbose');
    expect(status).toBe(0);
    expect(stderr).toBe('');
    expect(steady(line, stdout)).toMatchInlineSnapshot(`
      "account  outcome   seen  created  updated  unchanged  suspects  gateways  requests   took
      6BApk    complete    30       30        0          0         0         2         N  0.0 s
      other    complete    30       30        0          0         0         2         N  0.0 s

      ./vendors.db holds 59 active vendors. Query it:

        sqlite3 ./vendors.db "select vendorid, vendor_name, country from active_vendors order by account_id, vendorid limit 5"

      vendorid  name                       country  outstanding     overdue  changed
          1006  קפה כהן                    Israel   9779.27 ILS           –  just now
          1013  (有)みどり 𠮷野            Japan     264.00 JPY  264.00 JPY  just now
          1014  Spedition „Zum Löwen“      –                  –           –  just now
          1024  Müller & Söhne Straßenbau  Germany            –           –  just now
          1028  50% Off Reed                                  –           –  just now
      "
    `);

    const query = /^ {2}sqlite3 \S+ "(.*)"$/m.exec(stdout)?.[1] ?? '';
    const mirror = new Driver(line.database, { readonly: true });
    const answered = mirror.prepare<[], number>(query).pluck().all();
    mirror.close();
    const shown = [...stdout.matchAll(/^ +(\d+) {2}/gm)].map(([, vendorid]) => Number(vendorid));
    expect(shown).toEqual(answered);
  });

  it.each(['sync', 'reconcile', 'verify'])(
    'L90 prints nothing where no terminal is and all is well, unless it is asked to: %s',
    async (command) => {
      const line = await testbed({ level: 'command', clock: systemClock });
      await line.run('sync');
      const only = ['--account', '6BApk'];
      expect(await line.run(command, ...only)).toEqual({ status: 0, stdout: '', stderr: '' });
      expect((await line.run(command, ...only, '--verbose')).stdout).toContain('6BApk');
      expect(JSON.parse((await line.run(command, ...only, '--json')).stdout)).toMatchObject({ ok: true });
      const seen = await testbed({ level: 'command', clock: systemClock, columns: 100 });
      await seen.run('sync', ...only);
      expect((await seen.run(command, ...only)).stdout).toContain('6BApk');
    },
  );

  it.each(['sync', 'reconcile', 'verify'])('L90 says where no terminal is what went wrong: %s', async (command) => {
    const service = await testbed({ level: 'sandbox', vendors: 30, world: { paging: 'ignored' } });
    const line = await testbed({ level: 'command', service });
    const { status, stdout, stderr } = await line.run(command, '--account', '6BApk');
    expect(status).toBe(1);
    expect(stdout).toContain('6BApk');
    expect(stderr).toContain('6BApk: ');
  });

  it('L90 a taken port names what chooses another one, and the built-in sandbox has an option for it', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const line = await testbed({ level: 'command', clock: systemClock });
    for (const [first, name, setting] of [
      [port, 'the listener', 'listener.port'],
      [port - 1, 'the admin page', 'admin.port'],
    ] as const) {
      const { status, stderr } = await line.run('serve', '--port', String(first));
      expect(status).toBe(69);
      expect(stderr).toContain(`${name} cannot listen on 127.0.0.1:${port}: another program listens there.`);
      expect(stderr).toContain(`${setting} in the settings; of the built-in sandbox, \`vendor-mirror serve --port N`);
    }
    const real = await testbed({
      level: 'command',
      settings: 'service: { baseUrl: "https://service.example", auth: { accessToken: t } }',
    });
    const part = await real.run('serve', '--role', 'listen');
    expect([part.status, part.stderr]).toEqual([64, expect.stringContaining('its one daemon does both')]);
    const unknown = await real.run('serve', '--role', 'rest');
    expect([unknown.status, unknown.stderr]).toEqual([64, expect.stringContaining('listen, work or listen,work')]);
    const refused = await real.run('serve', '--port', '9000');
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining('set listener.port and admin.port')]);
    const alone = await line.runBare('sandbox', '--port', String(port));
    expect([alone.status, alone.stderr]).toEqual([69, expect.stringContaining('vendor-mirror sandbox --port N')]);
  });

  it('shows no rows the second time, and says that nothing changed', async () => {
    const line = await testbed({ level: 'command', clock: systemClock });
    await line.run('sync', '--account', '6BApk', '--verbose');
    const { stdout } = await line.run('sync', '--account', '6BApk', '--verbose');
    expect(steady(line, stdout)).toMatchInlineSnapshot(`
      "account  outcome   seen  created  updated  unchanged  suspects  gateways  requests   took
      6BApk    complete    30        0        0         30         0         2         N  0.0 s

      ./vendors.db holds 29 active vendors. Query it:

        sqlite3 ./vendors.db "select vendorid, vendor_name, country from active_vendors order by vendorid limit 5"
      "
    `);
  });

  it('prints with --json exactly the documented document', async () => {
    const { status, stdout } = await (
      await testbed({ level: 'command', clock: systemClock })
    ).run('sync', '--json', '--account', '6BApk');
    expect(status).toBe(0);
    const document = JSON.parse(stdout) as { runs: { seconds: number; requests: number; pages: number }[] };
    expect(document).toEqual({
      ok: true,
      sandbox: true,
      runs: [
        {
          account: '6BApk',
          run_id: 1,
          kind: 'pull',
          outcome: 'complete',
          proof: 'plain',
          pages: expect.any(Number) as number,
          requests: expect.any(Number) as number,
          seen: 30,
          created: 30,
          updated: 0,
          unchanged: 0,
          suspects: 0,
          seconds: expect.any(Number) as number,
        },
      ],
      gateways: [{ account: '6BApk', seen: expect.any(Number) as number }],
    });
  });

  it('exits with 77 where the service refuses, with its reason and what to do', async () => {
    const { baseUrl } = await testbed({ level: 'sandbox' });
    const { status, stdout, stderr } = await (
      await testbed({ level: 'command', service: { baseUrl, token: 'not-it' } })
    ).run('sync', '--json');
    expect(status).toBe(77);
    expect(stderr).not.toContain('not-it');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      runs: [{ outcome: 'failed', error: { code: 'unauthenticated' } }, { outcome: 'failed' }],
      gateways: [],
    });
  });

  it('prints for each account what went wrong', async () => {
    const { baseUrl } = await testbed({ level: 'sandbox' });
    const { stdout, stderr } = await (
      await testbed({ level: 'command', service: { baseUrl, token: 'not-it' } })
    ).run('sync');
    expect(stdout).toMatch(/^6BApk +failed /m);
    expect(stdout).not.toContain('sqlite3');
    expect(stderr).toMatch(/^vendor-mirror: 6BApk: .+\n {2}Set a new token as service\.auth\.accessToken\./m);
    expect(stderr).toMatch(/^vendor-mirror: other: /m);
  });

  const many = Array.from({ length: 12 }, (_, index) => `ac${String(index).padStart(2, '0')}`);
  const settings = `accounts: [${many.join(', ')}]`;

  it.each(['sync', 'reconcile', 'verify'])(
    'L80 sums up many accounts, each named with --verbose: %s',
    async (command) => {
      const line = await testbed({
        level: 'command',
        settings: `${settings}\nsandbox: { vendors: 3, seed: 1, churn: 0 }`,
        columns: 100,
      });
      if (command === 'verify') await line.run('sync');
      const each = await line.run(command, '--verbose');
      expect(each.stdout.match(/^ac\d\d +(complete|equal) /gm)).toHaveLength(12);
      expect(each.stdout).toMatch(/^12 accounts +(complete|equal) /m);
      const whole = stripVTControlCharacters((await line.run(command)).stdout);
      expect(whole).toMatch(/^account +outcome .*\n12 accounts +(complete|equal) +\d+ .*\nWith --verbose,/);
      expect(whole).not.toMatch(/^ac\d\d/m);
    },
  );

  it.each(['sync', 'reconcile', 'verify'])('L80 says once what went wrong with many accounts: %s', async (command) => {
    const { baseUrl } = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: { baseUrl, token: 'not-it' }, settings });
    const { stdout, stderr } = await line.run(command);
    expect(stdout.match(/^ac\d\d/gm)).toHaveLength(12);
    expect(stdout).toMatch(/^12 accounts +0 (complete|equal) /m);
    expect(stderr.match(/^vendor-mirror: /gm)).toHaveLength(1);
    expect(stderr).toMatch(/^vendor-mirror: 12 accounts \(ac00, ac01, ac02 and 9 more\)/m);
  });

  it('L41 is whole without the scope of gateways, says so once, and does without them if told', async () => {
    const sandbox = await testbed({ level: 'sandbox', scopes: ['user:bill_vendors:read'] });
    const line = await testbed({ level: 'command', service: sandbox, settings: 'accounts: [6BApk]' });
    const first = await line.run('sync', '--verbose');
    expect(first.status).toBe(0);
    expect(first.stderr).toContain('6BApk: No gateways are mirrored: The service denied access');
    const { status, stdout } = await line.run('sync', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      runs: [{ outcome: 'complete' }],
      gateways: [{ account: '6BApk', seen: null }],
    });
    expect((await line.run('sync', '--verbose')).stderr).not.toContain('gateways');
    expect((await line.run('doctor')).stdout).toContain('set service.gateways to never');
  });

  it('exits with 1 where the page parameter is ignored, and names it', async () => {
    const sandbox = await testbed({ level: 'sandbox', world: { paging: 'ignored' } });
    const { status, stderr } = await (
      await testbed({ level: 'command', service: sandbox })
    ).run('sync', '--account', '6BApk');
    expect(status).toBe(1);
    expect(stderr).toContain('service.paging.pageParam');
  });

  it('keeps what it has read when interrupted, says so, and exits with 1', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const line = await testbed({
      level: 'command',
      service: sandbox,
      async fetch(input, init) {
        const answer = await globalThis.fetch(input, init);
        if (requestUrl(input).includes('page=3')) line.interruption.abort(new Error('Ctrl-C'));
        return answer;
      },
    });
    const { status, stdout, stderr } = await line.run('sync', '--verbose');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^6BApk +incomplete +\d+/m);
    expect(stderr).toMatch(/Interrupted after (one page|\d+ pages); what was read is kept\./);
    expect(stderr).toContain('Accounts that were not begun: other.');
    const { stdout: listed } = await line.run('vendors', 'list', '--state', 'all', '--json');
    expect((JSON.parse(listed) as { total: number }).total).toBeGreaterThanOrEqual(10);
  });
});

function requestUrl(input: Parameters<typeof globalThis.fetch>[0]): string {
  return input instanceof Request ? input.url : String(input);
}
