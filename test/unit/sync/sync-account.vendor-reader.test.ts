/** The number of a read by id, and how it is found out that there are such reads. */
import { describe, expect, it } from 'vitest';
import type { ReadResult } from '../../../src/sync/sync-account.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

function read(at: Testbed<'account'>, vendorid: number): Promise<ReadResult> {
  const { reader, sync } = at.installation.account(account);
  const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag } as const;
  return reader.read(vendorid, { context, signal: new AbortController().signal });
}

function lastTaken(at: Testbed<'account'>): number {
  const [row] = at.query<{ read_seq: number }>('SELECT read_seq FROM reading_counter');
  return row!.read_seq;
}

it('a read takes one number', async () => {
  const at = await pulledAccount();
  const [vendorid] = activeIds(at, 1);
  const before = lastTaken(at);
  expect(await read(at, vendorid!)).toMatchObject({ kind: 'record' });
  expect(lastTaken(at)).toBe(before + 1);
});

it('an absence has the number of the request that was answered, not of one that failed before', async () => {
  const at = await pulledAccount();
  const [vendorid] = activeIds(at, 1);
  at.sandbox.vendors(account).vanish(vendorid!);
  const before = lastTaken(at);
  at.sandbox.faults.next({ kind: '500' });
  const reading = read(at, vendorid!);
  await at.clock.advance(60_000);
  expect(await reading).toMatchObject({ kind: 'absent', isProven: true, stamp: { readSeq: before + 2 } });
});

describe('where lists show no vendor, a delivery names one that only a read by id shows', () => {
  const world = ['listDeleted=hidden', 'visStateFilter=ignored'];

  /** Deleted before anything of it was read: announced by its second event alone. */
  function announce(at: Testbed<'daemon'>): number {
    const vendors = at.sandbox.vendors(account);
    const vendorid = Number(vendors.create({ vendor_name: 'Short', language: 'en' })['vendorid']);
    vendors.delete(vendorid);
    return vendorid;
  }

  const rowOf = (at: Testbed<'daemon'>, vendorid: number): unknown[] =>
    at.query('SELECT presence, vis_state FROM vendors WHERE vendorid = ?', vendorid);

  it.each([0, 1])('it is mirrored as deleted, beside %i others that lists hide', async (others) => {
    const at = await testbed({ level: 'daemon', vendors: 0, world });
    for (let hidden = 0; hidden < others; hidden++) announce(at);
    const vendorid = announce(at);
    await at.clock.pass(60_000);
    expect(rowOf(at, vendorid)).toEqual([{ presence: 'present', vis_state: 1 }]);
    expect(at.query("SELECT 1 FROM deliveries WHERE outcome IN ('parked', 'not_found')")).toEqual([]);
  });

  it('where there are no such reads, it is parked, and nothing is learned from it about others', async () => {
    const at = await testbed({ level: 'daemon', vendors: 0, world: [...world, 'readOne=405'] });
    const vendorid = announce(at);
    await at.clock.until(
      'it is given up',
      () => at.query('SELECT 1 FROM dirty_vendors WHERE due_at IS NULL').length > 0,
    );
    expect(rowOf(at, vendorid)).toEqual([]);
  });
});
