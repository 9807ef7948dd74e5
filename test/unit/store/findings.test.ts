/** Findings that late deliveries explain. */
import { describe, expect, it } from 'vitest';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account, row } from '../../support/testbed/store.ts';

/** A sweep finds that vendor 1 changed, and a delivery that was received `later` milliseconds after that brings nothing new. */
async function foundAndTold(at: Testbed<'store'>, later: number): Promise<Record<string, unknown>> {
  const { mirror, clocks } = at;
  const run = await mirror.runs.beginRun({ accountId: account, kind: 'reconcile', trigger: 'schedule' });
  await mirror.findings.addFindings(run, [{ kind: 'missed_update', vendorid: 1, fields: ['city'] }]);
  await at.told(clocks.wall + later);
  const [mark] = await mirror.queue.dueMarks(account, 1);
  await mirror.queue.settle(mark!, 'unchanged');
  return at.query('SELECT found_at, explained_at, explanation FROM findings')[0]!;
}

describe('a finding', () => {
  it('is explained by a late delivery, with how late it was', async () => {
    expect(await foundAndTold(await testbed({ level: 'store' }), 90_500)).toMatchObject({
      explained_at: '2026-11-20 12:01:30.500',
      explanation: 'A delivery came 90.5 s after the sweep found the change.',
    });
  });

  it('is explained by a delivery that waited for its commit during the sweep', async () => {
    expect(await foundAndTold(await testbed({ level: 'store' }), -1)).toMatchObject({
      explained_at: '2026-11-20 12:00:00.000',
      explanation: 'A delivery came 0.0 s after the sweep found the change.',
    });
  });

  it('is not explained by a delivery of long before, which was about another change', async () => {
    expect(await foundAndTold(await testbed({ level: 'store' }), -60_000)).toMatchObject({ explained_at: null });
  });
});

it('a field of which values are held, and that lists stop to show, is told until it is sent again, and kept so long', async () => {
  const at = await testbed({ level: 'store' });
  const { mirror } = at;
  await at.page(await at.ask(), row(1, 'Northwind'));
  const shown = async (...names: string[]): Promise<unknown> => {
    const run = await mirror.runs.beginRun({ accountId: account, kind: 'pull', trigger: 'schedule' });
    await mirror.findings.reportFields(run, { names, whole: true, excluded: [] });
    return mirror.findings.unsent(account);
  };
  expect(await shown('vendorid', 'vendor_name', 'phone')).toEqual([]);
  const told = [{ field: 'vendor_name', since: expect.any(String) as string }];
  expect(await shown('vendorid')).toEqual(told);
  expect(await shown('vendorid')).toEqual(told);
  const later = at.clocks.wall + 90 * 86_400_000;
  let removed = 0;
  for await (const some of mirror.prune({ deliveriesSince: later, runsSince: undefined, versionsSince: undefined }))
    removed += some;
  expect(removed).toBe(1);
  expect(await mirror.findings.unsent(account)).toEqual(told);
  expect(await shown('vendorid', 'vendor_name')).toEqual([]);
});
