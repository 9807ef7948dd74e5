import { describe, expect, it } from 'vitest';
import { virtualClock } from '../virtual-clock.ts';
import { startAdmin } from './asking.ts';
import { account, before, days, facts, newAccount } from './sample.ts';

interface Readiness {
  ready: boolean;
  accounts: {
    account: string;
    ready: boolean;
    reasons: string[];
    staleness_seconds: number | null;
    watchdog: string;
  }[];
}

const parse = (body: string): Readiness => JSON.parse(body) as Readiness;

describe('/healthz', () => {
  it('answers 200 without looking at anything', async () => {
    const { ask } = await startAdmin({}, () => Promise.reject(new Error('the file is locked')));
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: 'alive\n' });
  });
});

describe('/readyz', () => {
  it('answers 200 while every account is fresh', async () => {
    const { ask } = await startAdmin();
    const { status, body } = await ask('/readyz');
    expect(status).toBe(200);
    expect(parse(body)).toEqual({
      ready: true,
      accounts: [
        {
          account: '6BApk',
          ready: true,
          reasons: [],
          safe_as_of: before(140_000),
          staleness_seconds: 140,
          watchdog: 'hearing',
        },
      ],
    });
  });

  it('answers 503 until the first complete sweep of every account, and names the one', async () => {
    const { ask } = await startAdmin({}, () => Promise.resolve(facts([account(), newAccount('9aaZq')])));
    const { status, body } = await ask('/readyz');
    expect(status).toBe(503);
    expect(parse(body).accounts.map(({ account: name, ready }) => [name, ready])).toEqual([
      ['6BApk', true],
      ['9aaZq', false],
    ]);
    expect(parse(body).accounts[1]).toMatchObject({ reasons: ['No sweep was complete yet.'], staleness_seconds: null });
  });

  it('answers 503 while the mirror is older than admin.maxStaleness, not at it', async () => {
    const at = await startAdmin({ maxStaleness: 140_000 });
    expect((await at.ask('/readyz')).status).toBe(200);
    const over = await startAdmin({ maxStaleness: 139_999 });
    const { status, body } = await over.ask('/readyz');
    expect(status).toBe(503);
    expect(parse(body).accounts[0]?.reasons).toEqual([
      'Changes of the last 2 min may be missing; admin.maxStaleness allows 2 min.',
    ]);
  });

  it('B6 answers 503 after a machine slept, until a reconciliation has caught up', async () => {
    const doubt = 'The machine slept for 6 h; a reconciliation is under way.';
    const { ask } = await startAdmin({}, () => Promise.resolve(facts([account({ doubt })])));
    const { status, body } = await ask('/readyz');
    expect(status).toBe(503);
    expect(parse(body).accounts[0]?.reasons).toEqual([doubt]);
  });

  it('B4 a moment that a clock set back has put into the future is no staleness', async () => {
    const future = account({ freshness: { ...account().freshness, safe_as_of: before(-86_400_000) } });
    const { ask } = await startAdmin({}, () => Promise.resolve(facts([future])));
    expect(parse((await ask('/readyz')).body).accounts[0]?.staleness_seconds).toBe(0);
  });

  it('says that the watchdog hears nothing', async () => {
    const { ask } = await startAdmin({}, () => Promise.resolve(facts([account({ watchdog: 'silent' })])));
    expect(parse((await ask('/readyz')).body).accounts[0]?.watchdog).toBe('silent');
  });
});

describe('/api/status', () => {
  it('is the whole state in the names of the data model', async () => {
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
          watchdog: 'hearing',
          findings: [{ kind: 'balance_only', count: 14 }, {}, {}],
        },
      ],
    });
  });

  it('says null for a run that is under way', async () => {
    const { ask } = await startAdmin({}, () =>
      Promise.resolve({ ...facts(), next: { pull: undefined, reconcile: undefined } }),
    );
    expect(JSON.parse((await ask('/api/status')).body)).toMatchObject({ next: { pull: null, reconcile: null } });
  });
});

describe('the admin server', () => {
  it('asks for the facts once a second, however many look', async () => {
    let asked = 0;
    const clock = virtualClock();
    const count = (): Promise<ReturnType<typeof facts>> => {
      asked += 1;
      return Promise.resolve(facts());
    };
    const { ask } = await startAdmin({}, count, clock);
    await Promise.all(['/', '/metrics', '/api/status', '/readyz'].map((path) => ask(path)));
    expect(asked).toBe(1);
    await clock.advance(1_000);
    await ask('/');
    expect(asked).toBe(2);
  });

  it('H11 answers a fault of ours with a bare 500, and tells the log', async () => {
    const { ask, faults } = await startAdmin({}, () => Promise.reject(new Error('at /secret/path line 7')));
    for (const path of ['/', '/metrics', '/api/status', '/readyz']) {
      const { status, body, headers } = await ask(path);
      expect([status, body]).toEqual([500, '']);
      expect(headers['server']).toBeUndefined();
    }
    expect(faults).toHaveLength(4);
  });

  it('only shows: every other method is refused', async () => {
    const { ask } = await startAdmin();
    for (const path of ['/', '/metrics', '/api/status', '/healthz', '/readyz'])
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
        expect([path, method, (await ask(path, {}, method)).status]).toEqual([path, method, 405]);
    expect((await ask('/elsewhere')).status).toBe(404);
  });
});
