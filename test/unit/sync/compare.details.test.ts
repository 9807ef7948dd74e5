/** `verify` where lists leave out what reads by id show. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { changingResults, type Wire } from '../../support/network/service-answers.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const without = (row: Wire, field: string): Wire =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== field));

/** An account whose lists leave `field` out; `single` changes what a read by id shows. */
async function leavingOut(field: string, vendors: number, single: (vendor: Wire) => Wire, world: string[] = []) {
  const asked: string[] = [];
  const at = await testbed({
    level: 'account',
    vendors,
    world: ['noteInList=yes', 'listDeleted=shown', ...world],
    settings: { service: { paging: { perPage: 100 } } },
    rewrite: changingResults((result, { pathname }) => {
      if (/\/\d+$/.test(pathname)) asked.push(pathname);
      if (result.bill_vendors) result.bill_vendors = result.bill_vendors.map((row) => without(row, field));
      if (result.bill_vendor) result.bill_vendor = single(result.bill_vendor);
    }),
  });
  return { at, asked };
}

const verify = (at: Testbed<'account'>, isFull = false) =>
  at.installation.verify(account, { signal: new AbortController().signal, trigger: 'command', isFull });

describe('verify', () => {
  it.each([['note'], ['is_1099']])(
    'L14 calls nothing equal that it did not compare: the %s of vendors that it did not read by id',
    async (field) => {
      const { at } = await leavingOut(field, 230, (vendor) => ({ ...vendor, [field]: vendor[field] ?? 'Net 30' }));
      await at.pull();
      await at.clock.advance(60_000);
      await at.pull();
      expect(await verify(at)).toMatchObject({
        outcome: 'partial',
        differences: [],
        notCompared: { fields: [field], vendors: 30 },
      });
      expect(at.query('SELECT outcome, error FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
        { outcome: 'complete', error: `Not compared: ${field} of 30 vendors. All else is equal.` },
      ]);
      expect(await verify(at, true)).toMatchObject({ outcome: 'equal', notCompared: undefined });
    },
  );

  it('L14 reads each vendor by id in turn, also where runs of another kind, or account, lie between', async () => {
    const { at, asked } = await leavingOut('note', 400, (vendor) => vendor);
    await at.pull();
    const read = new Set<string>();
    for (let runs = 0; runs < 6 && read.size < 400; runs += 1) {
      await at.pull();
      asked.length = 0;
      await verify(at);
      for (const path of asked) read.add(path);
    }
    expect(read.size).toBe(400);
  });

  it.each([['note'], ['website']])('L14 finds a %s that no list shows and the mirror has otherwise', async (field) => {
    const odd = { id: 0, value: 'before' as string | null };
    const { at } = await leavingOut(field, 40, (vendor) =>
      odd.id === 0 || vendor['vendorid'] === odd.id ? { ...vendor, [field]: odd.value } : vendor,
    );
    await at.pull();
    // Changed without a word in any list.
    odd.id = Number(at.sandbox.vendors(account).all()[7]!['vendorid']);
    odd.value = 'after';
    const held = at.query('SELECT * FROM vendors');
    const { outcome, differences } = await verify(at);
    expect(outcome).toBe('different');
    expect(differences).toContainEqual({ vendorid: odd.id, kind: 'different', fields: [field] });
    expect(at.query('SELECT * FROM vendors')).toEqual(held);
  });

  it.each([
    ['404', 'equal', undefined],
    ['405', 'equal', undefined],
  ] as const)('L14 asks no more where reads by id are not offered (%s)', async (readOne, outcome, notCompared) => {
    const { at, asked } = await leavingOut('note', 40, (vendor) => vendor, [`readOne=${readOne}`]);
    await at.pull();
    asked.length = 0;
    expect(await verify(at)).toMatchObject({ outcome, notCompared });
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('L14 names all vendors where the service no longer reads any by id', async () => {
    let isRefused = false;
    const { at } = await leavingOut('note', 40, (vendor) => (isRefused ? {} : { ...vendor, note: 'Net 30' }));
    await at.pull();
    isRefused = true;
    expect(await verify(at)).toMatchObject({ outcome: 'partial', notCompared: { fields: ['note'], vendors: 40 } });
  });
});
