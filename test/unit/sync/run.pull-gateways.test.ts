import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const signal = new AbortController().signal;

function rows(at: Testbed<'account'>): Record<string, unknown>[] {
  return at.query('SELECT sgid, gateway_name, connectionid, first_seen_at, removed_at FROM gateways ORDER BY sgid');
}

describe('the gateways of an account', () => {
  it('are stored as the service lists them', async () => {
    const at = await testbed({ level: 'account' });
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ seen: 2, removed: 0 });
    const listed = at.sandbox.gateways(account).all();
    expect(at.query('SELECT sgid, id, connectionid, gateway_name FROM gateways ORDER BY sgid')).toEqual(
      [...listed].sort((a, b) => Number(a['sgid']) - Number(b['sgid'])),
    );
  });

  it('L27 are stored beside a row that cannot be used, which is logged, and may be of one that is not listed', async () => {
    const at = await testbed({ level: 'account', world: ['brokenRows=one'] });
    expect(await at.installation.pullGateways(account, { signal })).toEqual({ account, seen: 2, removed: 0 });
    expect(rows(at)).toHaveLength(2);
    at.sandbox.gateways(account).remove(Number(rows(at)[0]!['sgid']));
    expect(await at.installation.pullGateways(account, { signal })).toEqual({ account, seen: 1, removed: 0 });
    expect(rows(at).map(({ removed_at }) => removed_at)).toEqual([null, null]);
  });

  it('keep their time of removal, and return', async () => {
    const at = await testbed({ level: 'account' });
    await at.installation.pullGateways(account, { signal });
    const [first] = rows(at);
    const book = at.sandbox.gateways(account);
    book.remove(Number(first!['sgid']));
    await at.clock.advance(60_000);
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ seen: 1, removed: 1 });
    expect(rows(at)[0]).toEqual({ ...first, removed_at: '2026-11-20 12:01:00.000' });
    book.enable({ sgid: Number(first!['sgid']), connectionid: 'ff', gateway_name: 'stripe' });
    await at.installation.pullGateways(account, { signal });
    expect(rows(at)[0]).toMatchObject({ removed_at: null, connectionid: 'ff', first_seen_at: first!['first_seen_at'] });
  });

  it('A11 are not removed because one list was empty', async () => {
    const at = await testbed({ level: 'account' });
    await at.installation.pullGateways(account, { signal });
    at.sandbox.faults.next({ kind: 'empty_list' });
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ seen: 2, removed: 0 });
  });

  it.each([
    ['A22 403', { declined: { code: 'access_denied' } }],
    ['A11 errors_in_200', { declined: { code: 'access_denied' } }],
    ['A21 401', { error: { code: 'unauthenticated', exit: 77 } }],
  ] as const)('%s leaves them unchanged', async (title, summary) => {
    const at = await testbed({ level: 'account' });
    await at.installation.pullGateways(account, { signal });
    const before = rows(at);
    at.sandbox.faults.next({ kind: title.split(' ')[1] as '403' | '401' | 'errors_in_200' });
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject(summary);
    expect(rows(at)).toEqual(before);
  });
});
