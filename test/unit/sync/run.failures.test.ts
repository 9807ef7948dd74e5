import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxRequest } from '../../../src/sandbox/endpoints/sandbox-call.ts';
import type { FaultKind } from '../../../src/sandbox/core/worlds.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { noSpaceForSweep } from '../../../src/store/sqlite/file-systems.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { pulledAccount, shortPages } from '../../support/testbed/pulled-account.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';

const settings = { service: { paging: shortPages } };

const pageOf = ({ query }: SandboxRequest): number => Number(query.get('page'));
const isList = (request: SandboxRequest): boolean =>
  request.query.has('page') && !request.query.has('search[vis_state]');

/** From now on, every request that matches meets this fault. */
function always(at: Testbed<'account'>, kind: FaultKind, match: (request: SandboxRequest) => boolean): () => void {
  return at.sandbox.onRequest((request) => {
    if (match(request)) at.sandbox.faults.next({ kind, match: (other) => other === request });
  });
}

function requestsOf(at: Testbed<'account'>): SandboxRequest[] {
  const requests: SandboxRequest[] = [];
  at.sandbox.onRequest((request) => requests.push(request));
  return requests;
}

/** Everything that people may read of vendors. */
function contents(at: Testbed<'account'>): unknown {
  return ['vendors', 'vendor_balances', 'vendor_tax_defaults', 'vendor_versions', 'balance_history'].map((table) =>
    at.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`),
  );
}

function lastRun(at: Testbed<'account'>): Record<string, unknown> {
  return at.query('SELECT * FROM runs ORDER BY id DESC LIMIT 1')[0]!;
}

const absent = "SELECT vendorid FROM vendors WHERE presence <> 'present' ORDER BY vendorid";

describe('temporary faults', () => {
  it.each([
    'A23 429',
    'A23 429_date',
    'A23 503',
    '500',
    'A12 html',
    'A24 hang',
    'A24 stall',
    'A25 truncated',
    'A25 reset',
    'A25 reset_after',
    'A19 wrong_page',
  ])('%s does not fail a pull', async (title) => {
    const kind = title.split(' ').at(-1) as FaultKind;
    const at = await testbed({ level: 'account', vendors: 60, settings });
    at.sandbox.faults.next({ kind, match: (request) => pageOf(request) === 2 });
    at.sandbox.faults.next({ kind, match: (request) => pageOf(request) === 3 });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('permanent faults', () => {
  it.each([
    ['A23 429', 'rate_limited', 69],
    ['A23 503', 'service_unavailable', 69],
    ['J6 500', 'service_unavailable', 69],
    ['A12 html', 'answer_unreadable', 69],
    ['A24 hang', 'service_timeout', 69],
    ['A24 stall', 'service_timeout', 69],
    ['A25 truncated', 'answer_unreadable', 69],
    ['A25 reset', 'service_unreachable', 69],
    ['A31 redirect', 'redirected', 69],
    ['A21 401', 'unauthenticated', 77],
    ['A22 403', 'access_denied', 77],
    ['A11 errors_in_200', 'access_denied', 77],
  ] as const)('%s ends a pull with %s, with whole pages and no vendor marked', async (title, code, exit) => {
    const kind = title.split(' ').at(-1) as FaultKind;
    const at = await testbed({ level: 'account', vendors: 60, settings });
    const requests = requestsOf(at);
    always(at, kind, (request) => pageOf(request) >= 3);
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'failed', pages: 2, seen: 30, error: { code, exit } });
    expect(requests.filter((request) => pageOf(request) >= 3).length).toBeLessThanOrEqual(exit === 69 ? 6 : 1);
    expect(at.query('SELECT vendorid FROM vendors')).toHaveLength(30);
    expect(at.query(absent)).toEqual([]);
    expect(lastRun(at)).toMatchObject({ outcome: 'failed', pages: 2, error: run.error!.message, safe_as_of: null });
  });

  it.each(['errors_in_200', '403', '401', 'html', '500'] as const)(
    'A10 A22 %s on every request leaves a full mirror unchanged',
    async (kind) => {
      const at = await pulledAccount();
      const before = contents(at);
      always(at, kind, () => true);
      expect(await at.pull()).toMatchObject({ outcome: 'failed', pages: 0 });
      expect(contents(at)).toEqual(before);
    },
  );

  it('A10 a pull that fails halfway marks no vendor, and the next one completes', async () => {
    const at = await pulledAccount();
    const gone = at.query<{ vendorid: number }>('SELECT vendorid FROM active_vendors ORDER BY vendorid LIMIT 3');
    for (const { vendorid } of gone) at.sandbox.vendors(account).vanish(vendorid);
    const heal = always(at, '500', (request) => pageOf(request) === 4);
    expect(await at.pull()).toMatchObject({ outcome: 'failed', pages: 3, suspects: 0 });
    expect(at.query(absent)).toEqual([]);
    heal();
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 3 });
    expect(at.query(absent)).toEqual(gone);
  });

  it('A32 an unreachable service is reported as unreachable', async () => {
    const at = await testbed({ level: 'account', vendors: 20 });
    always(at, 'reset', () => true);
    const { error } = await at.pull();
    expect(error).toMatchObject({ code: 'service_unreachable', exit: 69 });
    expect(error!.message).toMatch(/service\.example.* Gave up after 6 attempts over \d+ s\./);
  });
});

describe('a token that expires during a pull', () => {
  it('A21 is read from its file again once, and the page is requested again', async () => {
    const tokenFile = join(temporaryFolder(), 'token');
    writeFileSync(tokenFile, 'first-token');
    const at = await testbed({
      level: 'account',
      vendors: 60,
      world: ['noteInList=yes'],
      token: 'first-token',
      settings: { service: { ...settings.service, auth: { accessTokenFile: tokenFile } } },
    });
    at.sandbox.onRequest((request) => {
      if (pageOf(request) !== 3) return;
      at.sandbox.access.revoke('first-token');
      at.sandbox.access.grant('second-token');
      writeFileSync(tokenFile, 'second-token');
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: expect.any(Number) as number });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('a nearly full disk', () => {
  it('F3 is reserved for deliveries: unattended sweeps wait and send no request', async () => {
    const at = await testbed({ level: 'account', settings });
    const requests = requestsOf(at);
    const enough = 64 * 1024 ** 2;
    Object.assign(at.installation.mirror.place, { noSpaceForSweep: () => noSpaceForSweep(enough - 1, '/m.db') });
    const run = await at.pull({ trigger: 'schedule' });
    expect(run).toMatchObject({ outcome: 'failed', error: { code: 'disk_full', exit: 74 } });
    expect(run.error?.message).toContain('Only 64 MB are free');
    expect(requests).toEqual([]);
    expect(await at.pull({ trigger: 'command' })).toMatchObject({ outcome: 'complete' });
    Object.assign(at.installation.mirror.place, { noSpaceForSweep: () => noSpaceForSweep(enough, '/m.db') });
    expect(await at.pull({ trigger: 'schedule' })).toMatchObject({ outcome: 'complete' });
  });
});

describe('an empty list', () => {
  it.each([60, 5])('A11 never empties a mirror of %i vendors', async (vendors) => {
    const at = await pulledAccount({ vendors, world: ['readOne=404'] });
    const before = contents(at);
    always(at, 'empty_list', isList);
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'incomplete', error: { code: 'breaker_tripped', exit: 1 } });
    expect(at.query("SELECT * FROM vendors WHERE presence IN ('missing', 'gone')")).toEqual([]);
    expect(at.query("SELECT kind FROM findings WHERE kind = 'breaker'")).toHaveLength(1);
    if (vendors === 60) expect(contents(at)).toEqual(before);
  });

  it.each([
    [60_000, '404', 'breaker_tripped'],
    [0, '404', 'sweep_incomplete'],
    // They are shown by id.
    [60_000, 'yes', 'sweep_incomplete'],
  ])(
    'A11 proves nothing while vendors are stored, %i ms after they were read (readOne=%s)',
    async (later, one, code) => {
      const at = await testbed({ level: 'account', vendors: 5, settings, world: [`readOne=${one}`] });
      await at.pull();
      await at.clock.advance(later);
      always(at, 'empty_list', isList);
      const run = await at.pull();
      expect(run).toMatchObject({ outcome: 'incomplete', error: { code } });
      expect(lastRun(at)).toMatchObject({ safe_as_of: null });
      expect(at.query("SELECT * FROM vendors WHERE presence IN ('missing', 'gone')")).toEqual([]);
    },
  );

  it('A11 is believed for an emptied account only with a person’s approval', async () => {
    const at = await pulledAccount({ vendors: 5 });
    for (const row of at.sandbox.vendors(account).all()) at.sandbox.vendors(account).vanish(Number(row['vendorid']));
    expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'breaker_tripped' } });
    expect(at.query("SELECT * FROM vendors WHERE presence IN ('missing', 'gone')")).toEqual([]);
    await at.clock.advance(60_000);
    expect(await at.pull({ kind: 'reconcile', approved: 5 })).toMatchObject({ outcome: 'complete' });
    expect(at.query('SELECT * FROM active_vendors')).toEqual([]);
  });

  it('A11 of an account without vendors is a complete and empty mirror', async () => {
    const at = await testbed({ level: 'account', vendors: 0 });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 0 });
  });
});
