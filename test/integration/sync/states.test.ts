/** Deleted, archived and restored vendors, in all worlds of what the service says about it. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';

const worlds = ['update', 'delete', 'both', 'none'].flatMap((deleted) =>
  ['update', 'delete', 'none'].flatMap((archived) =>
    ['update', 'create', 'none'].map((restored) => [deleted, archived, restored] as const),
  ),
);

const pause = 20 * 60_000;

it.each(worlds)(
  'B7 B9 each change of state is in vis_state_changes once (events of deleting: %s, archiving: %s, restoring: %s)',
  async (deleted, archived, restored) => {
    const at = await testbed({
      level: 'daemon',
      vendors: 12,
      world: [`deleteEvent=${deleted}`, `archiveEvent=${archived}`, `restoreEvent=${restored}`],
    });
    const id = someVendor(at);
    const supervisor = at.sandbox.vendors(account);
    for (const move of ['archive', 'restore', 'delete', 'restore'] as const) {
      supervisor[move](id);
      await at.clock.pass(pause);
    }
    const learned = (said: string): object =>
      said === 'none'
        ? { source: 'reconcile', delivery_id: null, run_id: expect.any(Number) as number }
        : { source: 'delivery', delivery_id: expect.any(Number) as number, run_id: null };
    const moves = at.query(
      'SELECT old_vis_state, new_vis_state, vis_state_source, source, delivery_id, run_id FROM vis_state_changes WHERE vendorid = ? ORDER BY seq',
      id,
    );
    const reported = { vis_state_source: 'reported' };
    expect(moves).toEqual([
      { ...reported, old_vis_state: 0, new_vis_state: 2, ...learned(archived) },
      { ...reported, old_vis_state: 2, new_vis_state: 0, ...learned(restored) },
      { ...reported, old_vis_state: 0, new_vis_state: 1, ...learned(deleted) },
      { ...reported, old_vis_state: 1, new_vis_state: 0, ...learned(restored) },
    ]);
  },
);

it('B7 B9 without reads by id a vendor that is no longer listed counts as deleted, and comes back', async () => {
  const at = await testbed({
    level: 'daemon',
    vendors: 12,
    world: ['readOne=404', 'visStateFilter=ignored', 'deleteEvent=none', 'restoreEvent=none'],
  });
  const id = someVendor(at);
  at.sandbox.vendors(account).delete(id);
  await at.clock.pass(pause);
  at.sandbox.vendors(account).restore(id);
  await at.clock.pass(pause);
  expect(
    at.query(
      'SELECT new_vis_state, new_presence, vis_state_source, source FROM vis_state_changes WHERE vendorid = ? ORDER BY seq',
      id,
    ),
  ).toEqual([
    { new_vis_state: 1, new_presence: 'missing', vis_state_source: 'inferred', source: 'reconcile' },
    { new_vis_state: 0, new_presence: 'present', vis_state_source: 'reported', source: 'reconcile' },
  ]);
});
