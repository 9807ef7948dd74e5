/** Runs of an account whose last deleted vendors leave the list that alone shows them. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import type { Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

/** An account with so many deleted vendors, which only a list of their own shows. */
async function withDeleted(
  many: number,
  world: readonly string[] = [],
): Promise<{ at: Testbed<'account'>; ids: readonly number[] }> {
  const at = await pulledAccount({ world: ['listDeleted=hidden', 'visStateFilter=honoured', ...world] });
  const vendors = at.sandbox.vendors(account);
  for (const { vendorid, vis_state } of vendors.all()) if (vis_state === 1) vendors.restore(Number(vendorid));
  await at.pull();
  const ids = activeIds(at, many);
  for (const vendorid of ids) vendors.delete(vendorid);
  await at.clock.advance(600_000);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  await at.clock.advance(600_000);
  return { at, ids };
}

function states(at: Testbed<'account'>, ids: readonly number[]): unknown[] {
  return ids.map((id) => at.query('SELECT vis_state, presence FROM vendors WHERE vendorid = ?', id)[0]);
}

function safeAsOf(at: Testbed<'account'>): string {
  return at.query<{ safe_as_of: string }>('SELECT safe_as_of FROM freshness')[0]!.safe_as_of;
}

// From three on, it is learned that the list shows them.
describe.each([1, 3, 6])('the last %i deleted vendors', (many) => {
  it('L22 are gone once no read by id finds them, though their list is empty', async () => {
    const { at, ids } = await withDeleted(many);
    for (const id of ids) at.sandbox.vendors(account).vanish(id);
    expect(await at.pull({ approved: many })).toMatchObject({ outcome: 'complete' });
    expect(states(at, ids)).toEqual(ids.map(() => ({ vis_state: 1, presence: 'gone' })));
    const before = safeAsOf(at);
    await at.clock.advance(3_600_000);
    await at.pull();
    expect(safeAsOf(at) > before).toBe(true);
  });

  it('L22 stay without reads by id, because an empty list proves nothing, and nothing later is claimed', async () => {
    const { at, ids } = await withDeleted(many, ['readOne=405']);
    const before = safeAsOf(at);
    for (const id of ids) at.sandbox.vendors(account).vanish(id);
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(states(at, ids)).toEqual(ids.map(() => ({ vis_state: 1, presence: 'present' })));
      expect(safeAsOf(at)).toBe(before);
      await at.clock.advance(3_600_000);
    }
  });

  it.each([[[]], [['readOne=405']]])('L22 are active again once they are restored: %j', async (world) => {
    const { at, ids } = await withDeleted(many, world);
    for (const id of ids) at.sandbox.vendors(account).restore(id);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(states(at, ids)).toEqual(ids.map(() => ({ vis_state: 0, presence: 'present' })));
  });
});
