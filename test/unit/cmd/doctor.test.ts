import { readFileSync, writeFileSync } from 'node:fs';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { describe, expect, it } from 'vitest';
import { systemClock, timestamp } from '../../../src/domain/clock.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];
const freePorts = 'listener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }';

interface Check {
  readonly account: string | null;
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly remedy: string | null;
}

interface Diagnosis {
  readonly status: number;
  readonly ok: boolean;
  readonly of: (check: string) => Check | undefined;
}

async function diagnose(line: Testbed<'command'>): Promise<Diagnosis> {
  const { status, stdout } = await line.run('doctor', '--json', ...account);
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(checks.filter(({ result, remedy }) => (result === 'ok') !== (remedy === null))).toEqual([]);
  return { status, ok, of: (name) => checks.find(({ check }) => check === name) };
}

describe('doctor', () => {
  it('prints a line for each check', async () => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    await line.run('sync', ...account);
    const { status, stdout, stderr } = await line.run('doctor', ...account);
    expect([status, stderr]).toEqual([0, '']);
    const steady = stdout
      .replaceAll(line.folder, '.')
      .replaceAll(/[\d.]+ [kMGT]B/g, 'N MB')
      .replaceAll(/read (just now|\d+ s ago)/g, 'read N s ago')
      .replaceAll(/is \d+ years? old/g, 'is N years old');
    expect(steady).toMatchInlineSnapshot(`
      "ok       settings: The settings name one account.
      ok       database: ./vendors.db is in order, N MB.
      ok       secrets: ./secrets.db can be read only by its owner.
      ok       disk: N MB are free beside the database.
      ok       privacy: No field is excluded.
      ok       6BApk access: The token can read 30 vendors, on 6 pages of 5.
      ok       6BApk clock: The clocks of this machine and of the service agree.
      ok       6BApk paging: The second page differs from the first.
      ok       6BApk reads by number: The service answers for vendor 1006.
      ok       6BApk gateways: The token can read 2 gateways.
      ok       6BApk callbacks: The token can read 0 callbacks.
      ok       6BApk page size: The service sends pages of the size that is requested.
      ok       6BApk filter by state: The service lists vendors of one state when asked.
      ok       6BApk deleted vendors: The first page shows no deleted vendor. When asked for deleted vendors, the service lists none.
      ok       6BApk order of lists: The first page is sorted by number, ascending.
      ok       6BApk past the last page: The service answers with an empty page.
      ok       6BApk total: The service counts 30 vendors on 6 pages.
      ok       6BApk time stamps: The newest one on the first page is N years old by the service's own clock.
      ok       6BApk fields: Lists carry every field that reads by number of 5 vendors showed.
      ok       6BApk freshness: The lists were read N s ago.
      ok       6BApk refused deliveries: None was refused within a day and after the last that was accepted.
      ok       6BApk queue: No changed vendor was given up.
      ok       6BApk values: Every value that the service sent could be read.
      ok       ports: The daemon can listen on 0 and 0.
      ok       public address: listener.publicUrl is not set: no webhooks, only sweeps.
      "
    `);
  });

  it('names schedules that never fire, with which no daemon starts', async () => {
    const settings = `${freePorts}\nschedule: { pull: "0 0 30 2 *" }`;
    const line = await testbed({ level: 'command', service: {}, settings });
    const { status, of } = await diagnose(line);
    expect([status, of('schedules')]).toMatchObject([
      78,
      { result: 'problem', message: 'The schedules cannot be used:\n  schedule.pull: an impossible day of the month' },
    ]);
  });

  it.each([
    [0, 'The service answers for vendor 1007.'],
    [1, 'The service answers for vendor 1006.'],
  ])(
    'L48 judges from several vendors: one that was deleted since, one without a time, one with a field (place %i)',
    async (place, answers) => {
      const world = await testbed({ level: 'sandbox', vendors: 30 });
      const ids = world.sandbox
        .vendors('6BApk')
        .listed()
        .slice(0, 5)
        .map(({ vendorid }) => Number(vendorid));
      const one = ids[place]!;
      type Vendor = Record<string, unknown>;
      const line = await testbed({
        level: 'command',
        service: world,
        settings: freePorts,
        fetch: async (input, init) => {
          const answer = await fetch(input, init);
          const path = new URL(String(input)).pathname;
          if (path.endsWith(`/${one}`))
            return new Response('{"response":{"errors":[{"errno":1012,"message":"not found"}]}}', {
              status: 404,
              headers: answer.headers,
            });
          if (!path.includes('bill_vendors')) return answer;
          const document = (await answer.json()) as {
            response: { result: { bill_vendors?: Vendor[]; bill_vendor?: Vendor } };
          };
          const { result } = document.response;
          for (const vendor of result.bill_vendors ?? []) {
            vendor['phone'] = '****';
            if (vendor['vendorid'] === one) delete vendor['updated_at'];
          }
          const { bill_vendor: single } = result;
          if (single && single['vendorid'] === ids[3]) single['rare'] = 'x';
          return Response.json(document, { headers: { date: answer.headers.get('date') ?? '' } });
        },
      });
      const { stdout } = await line.run('doctor', ...account);
      expect(stdout).toContain(answers);
      expect(stdout).toContain('1 vendor of it does not say when changed.');
      expect(stdout).toMatch(
        /Lists lack rare, which reads by number of 4 vendors showed, and show phone otherwise than reads by number of 4 vendors\./,
      );
    },
  );

  it('does not migrate a mirror of an older version, and checks the rest without it', async () => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    await line.run('sync', ...account);
    const sqlite = new Driver(line.database);
    sqlite.exec('DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)');
    const applied = sqlite.prepare('SELECT max(number) FROM migrations').pluck();
    const before = applied.get();
    const { status, of } = await diagnose(line);
    expect([status, applied.get()]).toEqual([74, before]);
    sqlite.close();
    expect(of('database')).toMatchObject({
      result: 'problem',
      remedy: expect.stringContaining('Run `vendor-mirror sync` once') as unknown,
    });
    expect([of('accounts')?.result, of('access'), of('ports')?.result]).toEqual(['warning', undefined, 'ok']);
  });

  it('requests nothing about an account that is paused, and says since when it is', async () => {
    const requests: unknown[] = [];
    const line = await testbed({
      level: 'command',
      service: {},
      fetch: (input, init) => {
        requests.push(input);
        return globalThis.fetch(input, init);
      },
    });
    await line.run('sync', ...account);
    await line.runBare('accounts', 'pause', '6BApk', '-c', line.settings);
    requests.length = 0;
    const { status, of } = await diagnose(line);
    expect([status, requests, of('access')]).toEqual([0, [], undefined]);
    expect(of('paused')).toMatchObject({
      account: '6BApk',
      result: 'warning',
      remedy: '`vendor-mirror accounts resume 6BApk` resumes it.',
    });
  });

  it.each([
    ['11 h of 12', 11 / 24, 0.5, 'ok'],
    ['2 h of 12', 2 / 24, 0.5, 'warning'],
    ['15 days of 45', 15, 45, 'ok'],
    ['20 days of 90', 20, 90, 'warning'],
    ['22 days of a year', 22, 365, 'ok'],
  ])('judges a certificate by its own time: of %s', async (_, left, days, result) => {
    const until = systemClock.now() + left * 86_400_000;
    const certificateTimes = () => Promise.resolve({ from: until - days * 86_400_000, until });
    const line = await testbed({ level: 'command', service: { vendors: 5 }, settings: freePorts, certificateTimes });
    expect((await diagnose(line)).of('certificate')?.result).toBe(result);
  });

  it('K55 names the proxy, through which no certificate can be seen', async () => {
    const line = await testbed({
      level: 'command',
      service: { vendors: 5 },
      proxyOf: () => Promise.resolve(new URL('http://ann:secret@proxy.example.com:3128')),
      certificateTimes: () => Promise.resolve({ from: 0, until: 0 }),
    });
    const { stdout } = await line.run('doctor');
    expect(stdout).toMatch(
      /ok +6BApk proxy: +Requests to 127\.0\.0\.1:\d+ go through the proxy proxy\.example\.com:3128\./,
    );
    expect(stdout).not.toMatch(/secret@|certificate/);
  });

  it('K38 waits as long as the service asks, says so, and finds nothing wrong', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: sandbox });
    await line.run('sync', ...account);
    sandbox.sandbox.faults.next({ kind: '429_date', retryAfter: '3' });
    const { status, stderr } = await line.run('doctor', ...account);
    expect(status).toBe(0);
    expect(stderr).toMatch(/the service asks for a wait of [23] s/);
  });

  it('A4 finds pages that call themselves by another number', async () => {
    const line = await testbed({
      level: 'command',
      service: {},
      async fetch(input, init) {
        const answer = await globalThis.fetch(input, init);
        if (!(input instanceof URL && input.searchParams.get('page') === '2')) return answer;
        return Response.json(JSON.parse((await answer.text()).replace(/"page": ?2\b/, '"page": 1')));
      },
    });
    const { status, of } = await diagnose(line);
    expect([status, of('paging')?.result]).toEqual([1, 'problem']);
  });

  it.each([
    [
      'unsigned',
      'x-other came instead',
      /60 requests to the callback address were refused: without a signature.*x-other came/,
      'signatureHeader',
    ],
    ['too_large', null, /60 requests to the callback address were refused: larger than any delivery/, 'the proxy'],
  ])('L23 reports refused deliveries, such as %s ones, and what to do', async (outcome, detail, message, remedy) => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    const [first_at, last_at] = [3_630_000, 61_000].map((ms) => timestamp(line.clock.now() - ms)) as [string, string];
    await line.fill({
      _accounts: [{ account_id: '6BApk', added_at: first_at }],
      _refusals: [
        { account_id: '6BApk', outcome, detail, refused: 70, recent: 60, first_at, recent_at: first_at, last_at },
      ],
    });
    const { of } = await diagnose(line);
    expect(of('refused deliveries')).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(message) as unknown,
      remedy: expect.stringContaining(remedy) as unknown,
    });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toMatch(/refused +70 requests .*, the first 1 h ago, the last 1 min ago/);
  });

  it('L79 reports copies for readers that cannot be written, and what to do; the others are in order', async () => {
    const settings = `${freePorts}\npublish: [{ path: a.csv }, { path: b.csv, when: "0 6 * * *" }]`;
    const line = await testbed({ level: 'command', service: {}, settings });
    await line.run('sync', ...account);
    expect((await diagnose(line)).of('copies for readers')).toMatchObject({ result: 'ok' });
    const failed = { failing_since: '2026-11-20 11:00:00.000', failed_at: '2026-11-20 11:59:00.000', failures: 7 };
    await line.fill({ _publications: [{ path: 'b.csv', ...failed, code: 'disk_full', error: 'The disk is full.' }] });
    expect((await diagnose(line)).of('copies for readers')).toMatchObject({
      result: 'warning',
      message: 'b.csv could not be published since 2026-11-20 11:00:00 UTC: The disk is full.',
      remedy: expect.stringContaining('Free space') as unknown,
    });
    const { stdout } = await line.run('status', ...account);
    expect(stdout).toMatch(/Copies for readers\n.*a\.csv +not written yet; written after changes, last never/);
    expect(stdout).toMatch(/b\.csv +failing; written at 0 6 \* \* \*, last never; failed 7 times since/);
  });

  it('L79 reports, before a daemon has tried, that the folder of a copy for readers is missing, and how to make it', async () => {
    const settings = `${freePorts}\npublish: [{ path: a.csv }, { path: no/where/b.csv }]`;
    const line = await testbed({ level: 'command', service: {}, settings });
    await line.run('sync', ...account);
    expect((await diagnose(line)).of('copies for readers')).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(/b\.csv cannot be written: there is no folder .*no\/where\.$/) as unknown,
      remedy: expect.stringMatching(/mkdir -p .*no\/where$/) as unknown,
    });
  });

  it('reports a PostgreSQL that rows are published to and that cannot be used, and why they were not written', async () => {
    const path = 'postgres://mirror@127.0.0.1:1/reports#vendors';
    const settings = `${freePorts}\npublish: [{ to: "postgres://mirror@127.0.0.1:1/reports", schema: vendors }]`;
    const line = await testbed({ level: 'command', service: {}, settings });
    await line.run('sync', ...account);
    const failed = { failing_since: '2026-11-20 11:00:00.000', failed_at: '2026-11-20 11:59:00.000', failures: 7 };
    await line.fill({ _publications: [{ path, ...failed, code: 'postgres_taken', error: 'Another keeps them.' }] });
    const { of } = await diagnose(line);
    expect(of('rows in PostgreSQL')).toMatchObject({
      result: 'warning',
      message: 'postgres://mirror@127.0.0.1:1/reports cannot be reached, or ended the connection (ECONNREFUSED).',
      remedy: expect.stringContaining('it is tried again') as unknown,
    });
    expect(of('copies for readers')).toMatchObject({
      result: 'warning',
      message: `${path} could not be published since 2026-11-20 11:00:00 UTC: Another keeps them.`,
      remedy: expect.stringContaining('Stop the other installation') as unknown,
    });
    const { stdout } = await line.run('status', ...account);
    expect(stdout).toMatch(/reports#vendors +failing; written after changes, last never; failed 7 times since/);
  });

  it('K33, K34 reports an event that could not be registered, and deliveries that name our callback', async () => {
    const address = 'http://127.0.0.1:1';
    const listener = `listener: { host: 127.0.0.1, port: 1, publicUrl: "${address}" }`;
    const line = await testbed({ level: 'command', service: {}, settings: listener });
    await line.fill({
      _accounts: [{ account_id: '6BApk', added_at: '2026-11-20 11:00:00.000' }],
      callbacks: [
        {
          account_id: '6BApk',
          callbackid: 7,
          event: 'bill_vendor',
          uri: `${address}/webhooks/6BApk/`,
          verified: 1,
          checked_at: '2026-11-20 11:59:00.000',
        },
      ],
      _registration_refusals: [
        {
          account_id: '6BApk',
          event: 'invoice',
          refused_at: '2026-11-20 11:00:00.000',
          code: 'access_denied',
          message: 'The token lacks user:invoices:read.',
        },
      ],
      deliveries: [
        {
          account_id: '6BApk',
          received_at: '2026-11-20 11:58:00.000',
          name: 'bill_vendor.update',
          object_id: 7,
          outcome: 'unchanged',
          settled_at: '2026-11-20 11:59:00.000',
        },
      ],
      _sweep_requests: [
        {
          account_id: '6BApk',
          generation: 3,
          last_ms: 0,
          callback_ids: 3,
          callback_id_at: '2026-11-20 11:58:00.000',
        },
      ],
    });
    const { of } = await diagnose(line);
    expect(of('callbacks')).toMatchObject({
      result: 'warning',
      message: 'invoice could not be registered: The token lacks user:invoices:read.',
      remedy: expect.stringContaining('listener.events') as string,
    });
    expect(of('deliveries')).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('The object_id of 3 deliveries was the id of one of our callbacks') as string,
    });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain('invoice could not be registered, since');
    expect(stdout).toContain('The token lacks user:invoices:read.');
    expect(stdout).toContain('the object_id of 3 was the id of one of our callbacks');
  });

  it('L104 names callbacks of lost secrets, and requests to an address that none of ours has', async () => {
    const settings = 'listener: { host: 127.0.0.1, port: 1, publicUrl: "http://127.0.0.1:1" }';
    const sandbox = await testbed({
      level: 'sandbox',
      fetch: () => Promise.resolve(new Response(null, { status: 500 })),
    });
    const line = await testbed({ level: 'command', service: sandbox, settings });
    sandbox.sandbox.callbacks('6BApk').add(0, 'bill_vendor', 'http://127.0.0.1:1/webhooks/6BApk/lost-token');
    const now = timestamp(line.clock.now());
    await line.fill({
      _accounts: [{ account_id: '6BApk', added_at: now }],
      callbacks: [
        {
          ...{ account_id: '6BApk', callbackid: 9, event: 'bill_vendor', uri: 'http://127.0.0.1:1/webhooks/6BApk/' },
          ...{ verified: 1, checked_at: now },
        },
      ],
      _unknown_callbacks: [{ account_id: '6BApk', callbackid: 2001, found_at: now }],
      _refusals: [
        {
          ...{ account_id: '6BApk', outcome: 'unknown_path', refused: 1788, first_at: now, last_at: now },
          ...{ recent: 1, recent_at: now, detail: null },
        },
      ],
    });
    const { of } = await diagnose(line);
    expect(of('unknown callbacks')).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('The callback 2001 at the service leads to this installation') as string,
      remedy: expect.stringContaining('`vendor-mirror callbacks delete 2001 --account 6BApk`') as string,
    });
    expect(of('refused deliveries')).toMatchObject({
      result: 'ok',
      message: expect.stringContaining('1,788 requests to an address that no callback of this installation') as string,
    });
    const problems = async () => {
      const { stdout } = await line.run('status', '--json', ...account);
      return (JSON.parse(stdout) as { accounts: { problems: { code: string }[] }[] }).accounts[0]?.problems.map(
        ({ code }) => code,
      );
    };
    expect(await problems()).toContain('callbacks_unknown');
    await line.run('callbacks', 'delete', '2001', ...account);
    expect(await problems()).not.toContain('callbacks_unknown');
    const after = await diagnose(line);
    expect([after.of('unknown callbacks'), after.of('refused deliveries')?.result]).toEqual([undefined, 'ok']);
    // Without a public address nobody knows which callbacks lead here.
    const text = readFileSync(line.settings, 'utf8').replace(', publicUrl: "http://127.0.0.1:1"', '');
    writeFileSync(line.settings, text, { mode: 0o600 });
    expect((await diagnose(line)).of('refused deliveries')).toMatchObject({
      result: 'warning',
      remedy: expect.stringContaining('callbacks list --account 6BApk') as string,
    });
  });

  it('L44 says once why a mirror became old, where it is refused', async () => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    await line.run('sync', ...account);
    const mirror = new Driver(line.database);
    const at = timestamp(line.clock.now() - 5 * 3_600_000);
    mirror.prepare('UPDATE runs SET started_at = ?, finished_at = ?, listed_as_of = ?').run(at, at, at);
    mirror.close();
    const text = readFileSync(line.settings, 'utf8').replace(/accessToken: \S+?([ ,}])/, 'accessToken: revoked$1');
    writeFileSync(line.settings, text, { mode: 0o600 });
    await line.run('sync', ...account);
    const { of } = await diagnose(line);
    expect(of('access')).toMatchObject({ result: 'problem', remedy: expect.stringContaining('new token') as string });
    expect(of('freshness')).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(/^Changes of the last 5 h may be missing; .* allows [^.]*\.$/) as string,
      remedy: 'See "access".',
    });
  });
});

it('L54 doctor and status say that the listener is open to this machine alone since an upgrade', async () => {
  const settings = 'listener: { port: 0, publicUrl: "https://mirror.example" }\nadmin: { port: 0 }';
  const line = await testbed({ level: 'command', service: {}, settings });
  await line.run('sync', ...account);
  const moved = new Driver(line.database);
  moved.exec(`UPDATE mirror_identity SET listener_moved_at = '2026-11-20 12:00:00.000'`);
  moved.close();
  const said = 'only this machine reaches the listener, which took deliveries on all interfaces before. No delivery';
  const check = (await diagnose(line)).of('listener');
  expect(check).toMatchObject({
    result: 'warning',
    remedy: expect.stringContaining('listener.host: 0.0.0.0') as string,
  });
  expect(check?.message).toContain(said);
  expect((await line.run('status')).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
});

it('L58 doctor warns of a token of the admin port that is soon guessed, and not of another', async () => {
  const check = async (token: string): Promise<Check | undefined> => {
    const settings = `listener: { port: 0 }\nadmin: { port: 0, token: ${token} }`;
    return (await diagnose(await testbed({ level: 'command', service: {}, settings }))).of('admin token');
  };
  expect(await check('a')).toMatchObject({
    result: 'warning',
    remedy: expect.stringContaining('at least 16') as string,
  });
  expect(await check('a-long-and-random-one')).toBeUndefined();
});

it('L44 doctor says how far it is with many accounts, and asks for the callbacks of each only where some are wanted', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `A${index}`);
  const service = await testbed({ level: 'sandbox', account: ids, vendors: 2 });
  let asked = 0;
  let waited = 0;
  service.sandbox.onRequest(({ path }) => {
    if (path.includes('/events/callbacks')) asked += 1;
    if (path.includes('/A6/')) waited = 11_000;
  });
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + waited };
  const line = await testbed({
    ...{ level: 'command', service, clock },
    settings: `accounts: [${ids.join(', ')}]\n${freePorts}`,
  });
  const { status, stderr } = await line.run('doctor');
  expect([status, asked, stderr]).toEqual([0, 1, '7 of 12 accounts are checked.\n']);
});
