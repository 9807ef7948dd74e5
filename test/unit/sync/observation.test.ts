import { describe, expect, it } from 'vitest';
import { otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { changingRecords, changingResults, type Wire } from '../../support/network/service-answers.ts';
import { testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';

const settings = { service: { paging: { perPage: 15, concurrency: 1 } } };

function without(record: Wire, name: string): Wire {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
}

describe('fields that appear and disappear', () => {
  it('A18 are reported once, keep their values, and fail no run', async () => {
    let spell: (record: Wire) => Wire = (record) => record;
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings,
      world: ['noteInList=yes'],
      rewrite: changingRecords((record) => spell(record)),
    });
    await at.pull();
    const drift = (): unknown[] => at.query("SELECT fields FROM findings WHERE kind = 'field_drift' ORDER BY id");
    expect(drift()).toEqual([]);

    spell = (record) => ({ ...without(record, 'city'), shoe_size: { eu: 43 } });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    const told = [{ fields: '{"appeared":["shoe_size"],"disappeared":["city"]}' }, { fields: '{"unsent":"city"}' }];
    expect(drift()).toEqual(told);
    const truth = at.sandbox.vendors(account).listed();
    const cities = at.query<Wire>('SELECT vendorid, city FROM vendors ORDER BY vendorid');
    expect(cities).toEqual(
      truth.filter((row) => row['vis_state'] !== 1).map(({ vendorid, city }) => ({ vendorid, city })),
    );
    expect(at.query('SELECT count(*) AS n FROM vendors WHERE raw LIKE \'%"shoe_size":{"eu":43}%\'')).toEqual([
      { n: cities.length },
    ]);

    spell = (record) => ({ ...record, shoe_size: { eu: 43 } });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    expect(at.query("SELECT explanation FROM findings WHERE fields LIKE '%unsent%'")).toEqual([
      { explanation: 'Lists show it again.' },
    ]);
    expect(at.query('SELECT field FROM _detail_fields')).toEqual([]);
  });

  it('A17 do not alternate in a row when list and read by id have different fields', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings,
      world: ['noteInList=no', 'visStateFilter=ignored'],
    });
    await at.pull();
    const [one] = at.query<{ vendorid: number }>('SELECT vendorid FROM active_vendors');
    at.sandbox.vendors(account).edit(one!.vendorid, { note: 'Only reads by number show this.' });
    at.sandbox.vendors(account).delete(one!.vendorid);
    await at.clock.advance(60_000);
    await at.pull();
    at.sandbox.vendors(account).restore(one!.vendorid);
    for (let round = 0; round < 3; round++) {
      await at.clock.advance(60_000);
      await at.pull();
    }
    expect(at.query('SELECT note, vis_state FROM vendors WHERE vendorid = ?', one!.vendorid)).toEqual([
      { note: 'Only reads by number show this.', vis_state: 0 },
    ]);
    expect(at.query('SELECT seq FROM vendor_versions WHERE vendorid = ?', one!.vendorid)).toHaveLength(3);
  });

  it('A18 A30 are read by meaning when numbers are text and text is a number', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings,
      world: ['visState=text', 'balances=object'],
      rewrite: changingRecords((record) => ({ ...record, is_1099: record['is_1099'] === true ? 'true' : 0 })),
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('records that cannot be used', () => {
  const noId = 'has no usable vendorid';

  it.each<[id: string, what: string, reason: string, spoil: (record: Wire) => unknown]>([
    ['K3 L5 A19 A28', 'without vendorid', noId, (record) => without(record, 'vendorid')],
    ['K3 L5 A19 A28', 'in a list', noId, (record) => [record]],
    ['K3 L5 A19 A28', 'that is null', noId, () => null],
    ['K3 L5 A19 A28', 'that is text', noId, () => 'vendorid'],
    ['K3 L5 A19 A28', 'that is a number', noId, () => 7],
    ['K3 L5 A19 A28', 'whose vendorid is negative', noId, (record) => ({ ...record, vendorid: -1 })],
    ['K3 L5 A19 A28', 'whose vendorid is a word', noId, (record) => ({ ...record, vendorid: 'twelve' })],
    ['K3 L5 A19 A28', 'whose vendorid is beyond 2^53', noId, (record) => ({ ...record, vendorid: 2 ** 60 })],
    ['L65', 'with 2 MB of text', 'is larger than', (record) => ({ ...record, note: 'x'.repeat(2 ** 21) })],
    [
      'L65',
      'with 6,000 fields',
      'is larger than',
      (record) => ({ ...Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`f${n}`, n])), ...record }),
    ],
  ])(
    '%s a record %s is set aside, the other records are applied, and no vendor becomes absent',
    async (_id, _what, reason, spoil) => {
      let victim = 0;
      const at = await pulledAccount({
        vendors: 40,
        rewrite: changingRecords((record) => (record['vendorid'] === victim ? spoil(record) : record)),
      });
      const [spoiled, edited] = activeIds(at, 22).slice(20);
      victim = spoiled!;
      at.sandbox.vendors(account).edit(edited!, { city: 'Elsewhere' });
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'record_rejected', exit: 1 } });
      expect(at.query("SELECT * FROM vendors WHERE presence <> 'present'")).toEqual([]);
      expect(at.query('SELECT city FROM vendors WHERE vendorid = ?', edited)).toEqual([{ city: 'Elsewhere' }]);
      expect(at.query("SELECT fields FROM findings WHERE kind = 'record_rejected'")).toEqual([
        { fields: expect.stringContaining(reason === noId ? noId : `vendor ${victim}, ${reason}`) as string },
      ]);
    },
  );

  it.each([
    ['first', 5],
    ['third', 60],
  ])(
    'K3 a record that is set aside on the %s page of a list that seems to change: every other record of every page is applied',
    async (_, index) => {
      const unusable = new Set<unknown>();
      const at = await testbed({
        level: 'account',
        vendors: 110,
        settings: { service: { paging: { perPage: 25, concurrency: 1 } } },
        rewrite: changingResults(({ bill_vendors: rows = [] }) => {
          for (const [place, row] of rows.entries())
            if (unusable.has(row['vendorid'])) rows[place] = without(row, 'vendorid');
          // It may be a new one.
          for (const row of rows.slice(7, 8)) row['updated_at'] = null;
        }),
      });
      const listed = at.sandbox
        .vendors(account)
        .listed()
        .map(({ vendorid, vis_state }) => ({ vendorid, vis_state }))
        .filter(({ vis_state }) => vis_state !== 1);
      const [spoiled] = listed.splice(index, 1);
      unusable.add(spoiled?.vendorid);
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'record_rejected', exit: 1 } });
      const held = at.query('SELECT vendorid, vis_state FROM vendors WHERE vis_state <> 1 ORDER BY vendorid');
      expect(held).toEqual(listed.toSorted((a, b) => Number(a.vendorid) - Number(b.vendorid)));
    },
  );

  it.each([
    [
      'a currency',
      'outstanding_balance',
      [{ amount: { amount: '1.00', code: 'EUR' } }, { amount: { amount: '2.00', code: 'EUR' } }],
    ],
    [
      'a tax',
      'tax_defaults',
      [
        { taxid: 7, name: 'VAT' },
        { taxid: 7, name: 'GST' },
      ],
    ],
  ])('K3 of a record that has %s twice the first is kept, and one finding reports it', async (_, field, twice) => {
    const at = await testbed({
      level: 'account',
      vendors: 40,
      settings,
      world: ['noteInList=yes'],
      rewrite: changingRecords((record) => ({ ...record, overdue_balance: [], [field]: twice })),
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 40, created: 40 });
    const rows = at.query(
      field === 'tax_defaults' ? 'SELECT name FROM vendor_tax_defaults' : 'SELECT amount FROM vendor_balances',
    );
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(
      new Set([field === 'tax_defaults' ? '{"name":"VAT"}' : '{"amount":"1.00"}']),
    );
    const drifts = "SELECT count(*) AS n FROM findings WHERE kind = 'field_drift' AND fields LIKE '%repeated%'";
    expect(at.query(drifts)).toEqual([{ n: 40 }]);
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', unchanged: 40 });
    expect(at.query(drifts)).toEqual([{ n: 40 }]);
  });

  itInFiles?.(
    'K3 a record that cannot be stored is set aside and reported, the others are applied, and the next run is complete',
    async () => {
      const at = await testbed({ level: 'account', vendors: 40, settings });
      const victim = Number(at.sandbox.vendors(account).listed()[20]?.['vendorid']);
      const file = otherConnection(at.database);
      file.exec(
        `CREATE TRIGGER refused BEFORE INSERT ON vendors WHEN new.vendorid = ${victim} BEGIN SELECT raise(ABORT, 'refused'); END`,
      );
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'record_rejected', exit: 1 } });
      expect(at.query('SELECT count(*) AS n FROM vendors')).toEqual([{ n: 39 }]);
      expect(at.query('SELECT kind, fields FROM findings')).toEqual([
        { kind: 'record_rejected', fields: expect.stringContaining(`Vendor ${victim}`) as string },
      ]);
      file.exec('DROP TRIGGER refused');
      expect(await at.pull()).toMatchObject({ outcome: 'complete', created: 1 });
    },
  );

  it('A19 a vendor that occurs twice on a page is one vendor', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 10,
      rewrite: changingResults(({ bill_vendors: rows = [] }, url) => {
        if (url.searchParams.get('page') === '1') rows.push(...rows.slice(0, 1));
      }),
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('text that breaks readers of the file', () => {
  it('A27 with a lone surrogate and NUL causes no change from pull to pull', async () => {
    const at = await pulledAccount({
      vendors: 5,
      rewrite: (text) => text.replaceAll(/"city":(?:null|"[^"]*")/g, String.raw`"city":"A\u0000B\ud800C"`),
    });
    expect(await at.pull()).toMatchObject({ updated: 0 });
    expect(new Set(at.query<Wire>('SELECT city FROM vendors').map(({ city }) => city))).toEqual(new Set(['AB\ufffdC']));
  });
});

describe('two accounts', () => {
  it('A20 keep vendors with the same id apart', async () => {
    let ids: unknown[] = [];
    const at = await testbed({
      level: 'account',
      vendors: 8,
      accounts: [account, 'other'],
      settings: { service: { extraWalks: 'never' } },
      rewrite: changingResults(({ bill_vendors: rows = [] }, { pathname }) => {
        if (!pathname.includes('/other/')) return;
        for (const [index, row] of rows.entries()) Object.assign(row, { vendorid: ids[index], vendor_name: 'There' });
      }),
    });
    const listed = at.sandbox
      .vendors(account)
      .listed()
      .filter((row) => row['vis_state'] !== 1);
    ids = listed.map((row) => row['vendorid']);
    for (const id of ids) at.sandbox.vendors(account).edit(Number(id), { vendor_name: 'Here' });
    await at.pull();
    await at.pull({ of: 'other' });
    expect(await at.pull()).toMatchObject({ updated: 0, suspects: 0 });
    const named = 'SELECT vendorid FROM vendors WHERE account_id = ? AND vendor_name = ? ORDER BY vendorid';
    const both = ids.map((vendorid) => ({ vendorid }));
    expect(at.query(named, account, 'Here')).toEqual(both);
    expect(at.query(named, 'other', 'There').length).toBeGreaterThan(5);
    expect(activeDifferences(at)).toEqual([]);
  });
});
