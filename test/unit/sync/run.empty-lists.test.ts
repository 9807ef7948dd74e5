/** A list that is empty by a fault, while reads by id show the vendors: nothing is concluded from it, and a person is told what it is. */
import { expect, it } from 'vitest';
import type { SandboxRequest } from '../../../src/sandbox/endpoints/sandbox-call.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const isList = ({ query }: SandboxRequest): boolean => query.has('page');
const absent = "SELECT vendorid FROM vendors WHERE presence IN ('missing', 'gone')";

/** A mirrored account, whose lists are empty from now on, in a new process. */
async function emptied(world: readonly string[], vanished: number): Promise<Testbed<'account'>> {
  const at = await testbed({ level: 'account', vendors: 40, world: ['records=plain', ...world] });
  await at.pull();
  const vendors = at.sandbox.vendors(account);
  const active = vendors.all().filter(({ vis_state }) => vis_state === 0);
  for (const { vendorid } of active.slice(0, vanished)) vendors.vanish(Number(vendorid));
  at.sandbox.onRequest((request) => {
    if (isList(request)) at.sandbox.faults.next({ kind: 'empty_list', match: (other) => other === request });
  });
  await at.reopen();
  await at.clock.advance(60_000);
  return at;
}

const active = (at: Testbed<'account'>): number => at.query('SELECT vendorid FROM active_vendors').length;

const verified = (at: Testbed<'account'>, isFull = false) =>
  at.installation.verify(account, { trigger: 'command', isFull, signal: new AbortController().signal });

it.each([0, 5])(
  'A10 an empty list is refuted by what reads by id show, where %i vendors are gone',
  async (vanished) => {
    const at = await emptied([], vanished);
    const before = active(at);
    const run = await at.pull();
    expect(run.error?.message).toBe('The service returned an empty list, but reads by id show active vendors.');
    expect(run.error?.code).toBe('sweep_incomplete');
    expect(at.query(absent)).toEqual([]);
    expect(active(at)).toBe(before);
  },
);

it.each([0, 5])('A10 no approval makes vendors absent that reads by id show, where %i are gone', async (vanished) => {
  const at = await emptied([], vanished);
  const before = active(at);
  const run = await at.pull({ kind: 'reconcile', approved: before });
  expect(run).toMatchObject({ outcome: 'incomplete' });
  expect(active(at)).toBe(before - vanished);
  expect(at.query(absent)).toHaveLength(vanished);
});

it('A10 says of an empty list that none of those that were read by id is found, and reads all with an approval', async () => {
  const at = await emptied([], 40);
  const before = active(at);
  const run = await at.pull();
  expect(run.error?.code).toBe('breaker_tripped');
  expect(run.error?.message).toMatch(
    /^\d+ of \d+ vendors are not listed, and none of the \d+ that were read is found/u,
  );
  await at.pull({ kind: 'reconcile', approved: before });
  expect(active(at)).toBe(0);
  expect(at.query("SELECT vendorid FROM vendors WHERE presence = 'gone'").length).toBe(before);
});

it.each(['readOne=404', 'readOne=405'])(
  'A10 without reads by id, an empty list is all that is known: %s',
  async (world) => {
    const at = await emptied([world], 0);
    const before = active(at);
    const run = await at.pull();
    expect(run.error?.code).toBe('breaker_tripped');
    expect(run.error?.message).toContain(`${before} of ${before} vendors are not listed, and no read by id says more.`);
    expect(active(at)).toBe(before);
  },
);

it('A10 verify reads by id what an empty list does not show', async () => {
  const at = await emptied([], 0);
  const before = active(at);
  expect(await verified(at)).toMatchObject({
    outcome: 'incomplete',
    error: { message: `The service returned an empty list, but reads by id show ${before} vendors.` },
  });
});

it('A10 verify finds vendors by id that the mirror takes for missing, where the list is empty', async () => {
  const at = await emptied([], 0);
  await at.reopen({ service: { ...at.settings.service, readOne: 'sweep' } });
  const before = active(at);
  await at.pull({ kind: 'reconcile', approved: before });
  expect(active(at)).toBe(0);
  await at.reopen();
  const report = await verified(at, true);
  expect(report).toMatchObject({ outcome: 'different', sourceTotal: before });
  expect(report.differences).toHaveLength(before);
});

it.each(['paging=zero', 'pageZero=first'])(
  'L1 a run that was shown vendors, if only while it asked where pages count from, does not take an answer that came empty for the list: %s',
  async (world) => {
    const shown: number[] = [];
    for (const spoiled of [2, 3, 4, 5]) {
      const at = await testbed({ level: 'account', vendors: 0, world: ['records=plain', world] });
      await at.pull();
      at.sandbox.vendors(account).create({ vendor_name: 'Anew' });
      await at.clock.advance(25 * 3_600_000);
      let lists = 0;
      at.sandbox.onRequest((request) => {
        if (isList(request) && ++lists === spoiled)
          at.sandbox.faults.next({ kind: 'empty_list', match: (other) => other === request });
      });
      const { outcome } = await at.pull();
      if (outcome === 'complete') shown.push(active(at));
    }
    expect(shown).toEqual([1, 1, 1, 1]);
  },
);
