/** Lists that show a field otherwise than reads by id do, of so few vendors that nothing is learned of all (L14). */
import { describe, expect, it } from 'vitest';
import { differences } from '../../support/mirror/differences.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';
import { account } from '../../support/names.ts';
import { changingResults, type Wire } from '../../support/network/service-answers.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

type Vendors = ReturnType<Testbed<'account'>['sandbox']['vendors']>;

interface Field {
  readonly name: string;
  /** How a vendor gets the nth value; the value 0 is none. */
  readonly set: (vendors: Vendors, vendorid: number, nth: number) => void;
}

const owed: Field = {
  name: 'outstanding_balance',
  set: (vendors, vendorid, nth) =>
    vendors.setBalance(vendorid, 'outstanding', nth === 0 ? [] : [{ amount: `${nth}17.50`, code: 'EUR' }]),
};
const taxes: Field = {
  name: 'tax_defaults',
  set: (vendors, vendorid, nth) =>
    void vendors.edit(vendorid, { tax_defaults: nth === 0 ? [] : [{ system_taxid: [36859, 37696, 37701][nth - 1] }] }),
};
const numbers: Field = {
  name: 'account_number',
  set: (vendors, vendorid, nth) => void vendors.edit(vendorid, { account_number: nth === 0 ? null : `AN ${nth}` }),
};

const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

const mask = (value: unknown): unknown => (value === null ? null : '****');

const forms: readonly (readonly [string, Field, (value: unknown) => unknown])[] = [
  ['none', owed, () => []],
  ['null', owed, () => null],
  ['rounded amounts', owed, (value) => JSON.parse(JSON.stringify(value).replaceAll('17.50', '00.00')) as unknown],
  ['a constant', owed, (value) => (isEmpty(value) ? [] : [{ amount: { amount: '1.00', code: 'USD' } }])],
  ['none', taxes, () => []],
  ['null', taxes, () => null],
  ['a mask', numbers, mask],
];

/** Vendors of which the first few have a value, and the numbers of those that are read by id. */
async function showing(
  { name, set }: Field,
  form: (value: unknown) => unknown,
  { holders, vendors: many = 8, noteInList = 'no' }: { holders: number; vendors?: number; noteInList?: 'yes' | 'no' },
) {
  const read: number[] = [];
  const at = await testbed({
    level: 'account',
    vendors: many,
    world: [`noteInList=${noteInList}`],
    settings: { service: { paging: { perPage: 100 } } },
    rewrite: changingResults(({ bill_vendors: rows, bill_vendor: single }) => {
      if (single) read.push(Number(single['vendorid']));
      for (const row of rows ?? []) Object.assign(row, { [name]: form(row[name] ?? null) });
    }),
  });
  const vendors = at.sandbox.vendors(account);
  const ids = vendors.listed().map(({ vendorid }) => Number(vendorid));
  for (const [index, vendorid] of ids.entries()) set(vendors, vendorid, index < holders ? 1 : 0);
  const runs = async (count: number, onPages: () => void = () => undefined): Promise<void> => {
    for (let run = 0; run < count; run += 1) {
      await at.clock.advance(300_000);
      expect(await at.pull({ onPages })).toMatchObject({ outcome: 'complete' });
    }
  };
  const versions = (): number => at.query<{ n: number }>('SELECT count(*) AS n FROM vendor_versions')[0]!.n;
  /** What the mirror holds otherwise than reads by id show it, of this field. */
  const wrong = (): string[] =>
    differences(at, vendors.all() as Wire[]).filter((difference) => difference.includes(`.${name} `));
  return { at, vendors, ids, read, runs, versions, wrong };
}

const shown = (at: Testbed<'account'>): unknown[] =>
  at.query('SELECT field FROM _detail_fields WHERE is_shown = 1 AND learned_at IS NOT NULL');

describe.each(forms)('lists that show %s for what reads by id show', (_, field, form) => {
  it.each([
    [1, 'yes'],
    [2, 'no'],
  ] as const)(
    `L14 of ${field.name}: %i vendors that hold one stand still (notes in lists: %s)`,
    async (holders, noteInList) => {
      const { at, runs, versions, wrong, read, vendors, ids } = await showing(field, form, { holders, noteInList });
      await runs(5);
      const [before, readBefore] = [versions(), read.length];
      await runs(3);
      expect(versions()).toBe(before);
      expect(wrong()).toEqual([]);
      // One looks whether lists still leave nothing out, and one is that vendor's.
      expect(read.length - readBefore).toBeLessThanOrEqual(3 * 2);
      const { signal } = new AbortController();
      expect(await at.installation.verify(account, { trigger: 'command', signal })).toMatchObject({ differences: [] });
      if (holders !== 1) return;
      for (const nth of [2, 3]) {
        field.set(vendors, ids[0]!, nth);
        await runs(1);
        expect(wrong()).toEqual([]);
      }
    },
  );
});

describe('lists that show no balance of vendors that have one', () => {
  it('L14 are learned from few of many once two lists, ten minutes apart, were contradicted', async () => {
    const { at, vendors, ids, runs, wrong, read } = await showing(owed, () => [], { holders: 0, vendors: 400 });
    await runs(2);
    const holders = ids.slice(100, 105);
    for (const vendorid of holders) owed.set(vendors, vendorid, 1);
    await at.installation.mirror.queue.markVendors(account, holders, 'asked', 0);
    await runs(2);
    expect(shown(at)).toEqual([]);
    await runs(2);
    expect(shown(at)).toEqual([{ field: 'outstanding_balance' }]);
    expect(wrong()).toEqual([]);
    await runs(1);
    read.length = 0;
    await runs(3);
    expect(read).toEqual([]);
  });

  it('L14 are not learned from balances that were paid when the list was read, and are again', async () => {
    const { at, vendors, ids, runs, wrong } = await showing(owed, (value) => value, { holders: 8 });
    await runs(3);
    for (let nth = 0; nth < 4; nth += 1) {
      for (const vendorid of ids) owed.set(vendors, vendorid, nth % 2 === 0 ? 0 : 1);
      await runs(1);
      expect(wrong()).toEqual([]);
    }
    expect(shown(at)).toEqual([]);
  });
});

const told = "SELECT old, new FROM vendor_changes WHERE field = 'account_number' AND vendorid = ? ORDER BY seq";

describe('lists that mask the account number of one vendor', () => {
  it('L14 answer none of its deliveries, and those of others', async () => {
    const { at, ids, runs } = await showing(numbers, mask, { holders: 1, noteInList: 'yes' });
    await runs(5);
    const { mirror, clock } = at.installation.account(account);
    const deliveries = ids.slice(0, 2).map((vendorid) => newDelivery(vendorid, { receivedAt: clock.now() }));
    await mirror.deliveries.acceptDeliveries(deliveries);
    // Due long after the run: nobody reads the vendors meanwhile.
    for (const mark of await mirror.queue.dueMarks(account, 2))
      await mirror.queue.defer(mark, { delay: 7_200_000, reason: 'delivery', attempts: 1, error: null });
    await at.clock.advance(600_000);
    const stop = new AbortController();
    await at.pull({ signal: stop.signal, onPages: () => stop.abort() });
    expect(at.query('SELECT vendorid FROM dirty_vendors')).toEqual([{ vendorid: ids[0] }]);
  });

  it('L14 L19 hide none of its edits from the change feed', async () => {
    const { at, vendors, ids, runs, wrong } = await showing(numbers, mask, { holders: 1 });
    await runs(5);
    const toldWhenListed: unknown[] = [];
    for (const nth of [2, 3]) {
      numbers.set(vendors, ids[0]!, nth);
      await runs(2, () => toldWhenListed.push(...at.query(told, ids[0]!).slice(1)));
      expect(wrong()).toEqual([]);
    }
    const edits = [
      { old: 'AN 1', new: 'AN 2' },
      { old: 'AN 2', new: 'AN 3' },
    ];
    expect(at.query(told, ids[0]!)).toEqual([{ old: '****', new: 'AN 1' }, ...edits]);
    expect(edits).toEqual(expect.arrayContaining(toldWhenListed));
  });

  it('L14 L19 are learned when a second one has a number', async () => {
    const { at, vendors, ids, runs, wrong } = await showing(numbers, mask, { holders: 1 });
    await runs(5);
    expect(shown(at)).toEqual([]);
    numbers.set(vendors, ids[1]!, 2);
    await runs(3);
    expect(shown(at)).toEqual([{ field: 'account_number' }]);
    expect(at.query('SELECT * FROM _unsteady_fields')).toEqual([]);
    expect(wrong()).toEqual([]);
  });
});
