/** The number of a read by id. */
import { expect, it } from 'vitest';
import type { ReadResult } from '../../../src/sync/sync-account.ts';
import { account } from '../../support/names.ts';
import type { Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

function read(at: Testbed<'account'>, vendorid: number): Promise<ReadResult> {
  const { reader, sync } = at.installation.account(account);
  const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag } as const;
  return reader.read(vendorid, { context, signal: new AbortController().signal });
}

function lastTaken(at: Testbed<'account'>): number {
  const [row] = at.query<{ read_seq: number }>('SELECT read_seq FROM _reading_counter');
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
