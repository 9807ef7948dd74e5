import { describe, expect, it } from 'vitest';
import type { Ability, AccountFacts } from '../../../src/health/judge.ts';
import { catalogue, MirrorError } from '../../../src/domain/errors.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import { able, account, before, days, facts, newAccount, run } from '../../support/admin/sample.ts';

interface Status {
  ready: boolean;
  fresh: boolean;
  accounts_stale: number;
  accounts: {
    account: string;
    ready: boolean;
    reasons: string[];
    last_error: { code: string | null; message: string | null; what_to_do: string } | null;
    staleness_seconds: number | null;
    watchdog: string;
  }[];
}

/** What `/api/status` says of these accounts. */
async function statusOf(accounts: readonly AccountFacts[], more: { maxStaleness?: number } = {}): Promise<Status> {
  const { ask } = await startAdmin({}, () => Promise.resolve({ ...facts(accounts), ...more }));
  const { status, body } = await ask('/api/status');
  expect(status).toBe(200);
  return JSON.parse(body) as Status;
}

it('each command on the pages and in /api/status names the settings file of the daemon, as a shell takes it', async () => {
  const many = [
    account({ account: '6BApk', freshness: { ...account().freshness, paused_since: before(60_000) } }),
    account({
      account: 'other',
      queue: { waiting: 0, parked: 2 },
      runs: [{ ...run(1), outcome: 'failed', error: 'Run `vendor-mirror doctor`.' }],
    }),
  ];
  const settingsOption = `-c '/etc/a "b".yaml'`;
  const { ask } = await startAdmin({ settingsOption }, () => Promise.resolve(facts(many)));
  const commands = [...(await ask('/api/status')).body.matchAll(/`vendor-mirror ((?:[^`\\]|\\.)*)`/g)].map(
    ([, command]) => command!,
  );
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.filter((command) => command.split(String.raw` -c '/etc/a \"b\".yaml'`).length !== 2)).toEqual([]);
  for (const path of ['/', '/?account=6BApk', '/?account=other']) {
    const { body } = await ask(path);
    const shown = [...body.matchAll(/<code>vendor-mirror ([^<]*)<\/code>/g)].map(([, command]) => command!);
    expect([path, shown.length > 0]).toEqual([path, true]);
    expect(shown.filter((command) => command.split(' -c &#39;/etc/a &#34;b&#34;.yaml&#39;').length !== 2)).toEqual([]);
  }
});

describe('/healthz', () => {
  it('answers 200 without examining anything', async () => {
    const { ask } = await startAdmin({}, () => Promise.reject(new Error('the file is locked')));
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: 'alive\n' });
  });
});

describe('/readyz', () => {
  const ready = async (ability: Partial<Ability>): Promise<{ status: number; body: unknown }> => {
    const { ask } = await startAdmin({}, () => Promise.reject(new Error('nobody asks')), undefined, {
      ...able,
      ...ability,
    });
    const { status, body } = await ask('/readyz');
    return { status, body: JSON.parse(body) as unknown };
  };

  it('K19 answers 200 while this process can accept and store deliveries, without examining any account', async () => {
    expect(await ready({})).toEqual({
      status: 200,
      body: { ready: true, reasons: [], listener_open: true, file_writable: true, disk_free_bytes: 91_000_000_000 },
    });
  });

  it.each<[string, Partial<Ability>, string]>([
    ['the listener is closed', { listening: false }, 'The listener is not open.'],
    [
      'the file cannot be written',
      { trouble: { code: 'file_unwritable', message: '/m.db is not writable.' } },
      `/m.db is not writable. ${catalogue.file_unwritable.hint}`,
    ],
  ])('K19 answers 503 while %s, and says so', async (_, ability, reason) => {
    expect(await ready(ability)).toMatchObject({ status: 503, body: { ready: false, reasons: [reason] } });
  });

  it('K19 one refused account of many leaves the process ready, and is named with what to do', async () => {
    const refused = account({
      account: 'refused',
      runs: [
        run(9, { outcome: 'running', finished_at: null }),
        run(8, { outcome: 'failed', error: 'The service answered 403.', error_code: 'access_denied' }),
      ],
    });
    const many = [account(), refused, account({ account: 'third' })];
    const { ask } = await startAdmin({}, () => Promise.resolve(facts(many)));
    expect((await ask('/readyz')).status).toBe(200);
    const status = JSON.parse((await ask('/api/status')).body) as Status;
    expect(status).toMatchObject({ ready: true, fresh: true, accounts_stale: 0, verdict: { code: 'access_refused' } });
    expect(status.accounts.map(({ account: name, ready: fine }) => [name, fine])).toEqual([
      ['6BApk', true],
      ['refused', false],
      ['third', true],
    ]);
    expect(status.accounts[1]?.last_error).toEqual({
      code: 'access_denied',
      message: 'The service answered 403.',
      run: 8,
      at: before(106_000),
      what_to_do: catalogue.access_denied.hint,
    });
  });
});

describe('/api/status', () => {
  it('calls no account fresh before its first complete sweep', async () => {
    const status = await statusOf([account(), newAccount('9aaZq')]);
    expect(status).toMatchObject({ ready: true, fresh: false, accounts_stale: 1 });
    expect(status.accounts[1]).toMatchObject({
      reasons: ['No sweep was complete yet. The first run is about to begin.'],
      staleness_seconds: null,
    });
  });

  it('K19 calls an account stale by what lists show: beyond admin.maxStaleness, not at it', async () => {
    const behind = account({ freshness: { ...account().freshness, safe_as_of: before(86_400_000) } });
    expect(await statusOf([behind], { maxStaleness: 140_000 })).toMatchObject({ fresh: true, accounts_stale: 0 });
    const over = await statusOf([behind], { maxStaleness: 139_999 });
    expect(over).toMatchObject({ fresh: false, accounts_stale: 1 });
    expect(over.accounts[0]?.reasons).toEqual([
      'Changes of the last 2 min may be missing; admin.maxStaleness allows 2 min. Run `vendor-mirror sync`.',
    ]);
  });

  it('B6 calls nothing fresh after a machine slept, until a reconciliation is complete', async () => {
    const doubt = 'The machine slept for 6 h; a reconciliation is under way.';
    const status = await statusOf([account({ doubt })]);
    expect(status).toMatchObject({ fresh: false, accounts_stale: 1 });
    expect(status.accounts[0]?.reasons).toEqual([doubt]);
  });

  it.each([
    ['by as little as two clocks differ is no staleness', 4_000, 0],
    ['by a day says that the staleness is unknown', 86_400_000, null],
  ])('B4 a moment that a clock set back has put into the future %s', async (_, ahead, staleness) => {
    const future = account({ freshness: { ...account().freshness, listed_as_of: before(-ahead) } });
    expect((await statusOf([future])).accounts[0]?.staleness_seconds).toBe(staleness);
  });

  it('shows that the watchdog is silent', async () => {
    expect((await statusOf([account({ missedSince: 3, lastDelivery: before(3_600_000) })])).accounts[0]?.watchdog).toBe(
      'silent',
    );
  });

  it('returns the whole state, with the names of the data model', async () => {
    const { ask } = await startAdmin();
    const { status, headers, body } = await ask('/api/status');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(body)).toMatchObject({
      version: '0.1.0',
      ready: true,
      at: '2026-11-20 12:00:00.000',
      started_at: '2026-11-08 12:00:00.000',
      next: { pull: '2026-11-21 03:00:00.000', reconcile: '2026-11-20 12:11:00.000' },
      database_bytes: 18_432_000,
      wal_bytes: 412_000,
      accounts: [
        {
          account: '6BApk',
          ready: true,
          vendors: { present: 1_684, active: 1_602, deleted: 51, archived: 31, unknown: 0, gone: 4 },
          freshness: { callback_verified: 1 },
          queue: { waiting: 3, parked: 0, oldest: before(9_000) },
          callbacks: [{ callbackid: 2001, verified: true }],
          last_delivery: before(5_000),
          webhook_health: days,
          watchdog: 'receiving',
          findings: [{ kind: 'balance_only', count: 14 }, {}, {}],
        },
      ],
    });
  });

  it('returns null as the end of a run that is under way', async () => {
    const { ask } = await startAdmin({}, () =>
      Promise.resolve({ ...facts(), next: { pull: undefined, reconcile: undefined } }),
    );
    expect(JSON.parse((await ask('/api/status')).body)).toMatchObject({ next: { pull: null, reconcile: null } });
  });
});

describe('the admin server', () => {
  it('gathers the facts once a second, however many readers ask', async () => {
    let asked = 0;
    const clock = virtualClock();
    const count = (): Promise<ReturnType<typeof facts>> => {
      asked += 1;
      return Promise.resolve(facts());
    };
    const { ask } = await startAdmin({}, count, clock);
    await Promise.all(['/', '/metrics', '/api/status'].map((path) => ask(path)));
    expect(asked).toBe(1);
    await clock.advance(1_000);
    await ask('/');
    expect(asked).toBe(2);
  });

  it('H11 answers a bug with a bare 500, and logs it', async () => {
    const { ask, faults } = await startAdmin({}, () => Promise.reject(new Error('at /secret/path line 7')));
    for (const path of ['/', '/metrics', '/api/status']) {
      const { status, body, headers } = await ask(path);
      expect([status, body]).toEqual([500, '']);
      expect(headers['server']).toBeUndefined();
    }
    expect(faults).toHaveLength(3);
  });

  it('says to people and programs what is wrong where the mirror cannot be asked', async () => {
    const away = new MirrorError('postgres_failed', 'postgres://db/mirror cannot be reached.', {
      remedy: 'Start `vendor-mirror serve`.',
    });
    const { ask, faults } = await startAdmin({ settingsOption: '-c it.yaml' }, () => Promise.reject(away));
    const page = await ask('/');
    expect([page.status, page.headers['refresh'], page.headers['cache-control']]).toEqual([503, '10', 'no-store']);
    expect(page.body).toBe('postgres://db/mirror cannot be reached.\nStart `vendor-mirror serve -c it.yaml`.\n');
    const api = await ask('/api/status');
    expect([api.status, JSON.parse(api.body)]).toEqual([
      503,
      { error: 'postgres_failed', message: away.message, what_to_do: 'Start `vendor-mirror serve -c it.yaml`.' },
    ]);
    expect(faults).toEqual([away, away]);
  });

  it('has a page with a way back for a path that is unknown, at any depth, with the policy of all pages, and JSON below /api', async () => {
    const { ask } = await startAdmin();
    for (const [path, root] of [
      ['/nosuchpage', './'],
      ['/vendors/6BApk', '../'],
      ['/vendors/6BApk/1/', '../../../'],
      ['/one/two/three/four/five?six=/7', '../../../../'],
      ['//evil.example/page', '../../'],
    ] as const) {
      const { status, headers, body } = await ask(path);
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).toContain(`default-src 'none'`);
      expect(body).toContain('<h1>There is no such page.</h1>');
      const links = [...body.matchAll(/(?:href|src|action)="([^"#][^"]*)"/g)].map(([, link = '']) => link);
      expect(links.filter((link) => !link.startsWith(root))).toEqual([]);
      expect(links.map((link) => new URL(link, `http://127.0.0.1${path}`).href)).toContain('http://127.0.0.1/');
    }
    for (const path of ['/api/nosuch', '/api/vendors/6BApk/1/more', '/api/'])
      expect(await ask(path)).toMatchObject({
        status: 404,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: expect.stringContaining('"unknown_path"') as string,
      });
  });

  it('only reads: every other method is refused', async () => {
    const { ask } = await startAdmin();
    for (const path of ['/', '/metrics', '/api/status', '/healthz', '/readyz'])
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
        expect([path, method, (await ask(path, {}, method)).status]).toEqual([path, method, 405]);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      for (const path of ['/elsewhere', '/api/elsewhere'])
        expect([path, method, await ask(path, {}, method)]).toMatchObject([path, method, { status: 404, body: '' }]);
  });
});
