import { describe, expect, it } from 'vitest';
import { otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type TestbedOptions } from '../../support/testbed.ts';
import { activeDifferences, differences } from '../../support/mirror/differences.ts';

const settings = { service: { paging: { perPage: 15, concurrency: 1 } } };

type Wire = Record<string, unknown>;

/** Changes the records of lists, and of reads by number, on their way. */
function records(change: (record: Wire) => unknown): NonNullable<TestbedOptions<'account'>['rewrite']> {
  return (text) => {
    const document = JSON.parse(text) as {
      response?: { result?: { bill_vendors?: unknown[]; bill_vendor?: unknown } };
    };
    const result = document.response?.result;
    if (result?.bill_vendors) result.bill_vendors = result.bill_vendors.map((record) => change(record as Wire));
    if (result?.bill_vendor) result.bill_vendor = change(result.bill_vendor as Wire);
    return JSON.stringify(document);
  };
}

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
      rewrite: records((record) => spell(record)),
    });
    await at.pull();
    const drift = (): unknown[] => at.query("SELECT fields FROM findings WHERE kind = 'field_drift' ORDER BY id");
    expect(drift()).toEqual([]);

    spell = (record) => ({ ...without(record, 'city'), shoe_size: { eu: 43 } });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    expect(drift()).toEqual([{ fields: '{"appeared":["shoe_size"],"disappeared":["city"]}' }]);
    const truth = at.sandbox.vendors(account).listed();
    const cities = at.query<Wire>('SELECT vendorid, city FROM vendors ORDER BY vendorid');
    expect(cities).toEqual(
      truth.filter((row) => row['vis_state'] !== 1).map(({ vendorid, city }) => ({ vendorid, city })),
    );
    expect(at.query("SELECT count(*) AS n FROM vendors WHERE raw ->> '$.shoe_size.eu' = 43")).toEqual([
      { n: cities.length },
    ]);
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
      rewrite: records((record) => ({ ...record, is_1099: record['is_1099'] === true ? 'true' : 0 })),
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('records that cannot be used', () => {
  it.each([
    ['missing', (record: Wire): unknown => without(record, 'vendorid')],
    ['in a list', (record: Wire) => [record]],
    ['nowhere, because it is null', () => null],
    ['nowhere, because it is text', () => 'vendorid'],
    ['nowhere, because it is a number', () => 7],
    ['negative', (record: Wire) => ({ ...record, vendorid: -1 })],
    ['a word', (record: Wire) => ({ ...record, vendorid: 'twelve' })],
    ['beyond 2^53', (record: Wire) => ({ ...record, vendorid: 2 ** 60 })],
  ])(
    'K3 L5 A19 A28 a record with vendorid %s is set aside, the other records are applied, and no vendor becomes absent',
    async (_, spoil) => {
      let victim = 0;
      const at = await testbed({
        level: 'account',
        vendors: 40,
        settings,
        rewrite: records((record) => (record['vendorid'] === victim ? spoil(record) : record)),
      });
      await at.pull();
      await at.clock.advance(60_000);
      [victim = 0] = at
        .query<{ vendorid: number }>('SELECT vendorid FROM active_vendors LIMIT 1 OFFSET 20')
        .map(({ vendorid }) => vendorid);
      const edited = at.query<{ vendorid: number }>('SELECT vendorid FROM active_vendors LIMIT 1 OFFSET 21')[0]!
        .vendorid;
      at.sandbox.vendors(account).edit(edited, { city: 'Elsewhere' });
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'record_rejected', exit: 1 } });
      expect(at.query("SELECT * FROM vendors WHERE presence <> 'present'")).toEqual([]);
      expect(at.query('SELECT city FROM vendors WHERE vendorid = ?', edited)).toEqual([{ city: 'Elsewhere' }]);
      expect(at.query("SELECT fields FROM findings WHERE kind = 'record_rejected'")).toEqual([
        { fields: expect.stringContaining('has no usable vendorid') as string },
      ]);
    },
  );

  it.each([
    ['2 MB of text', (record: Wire) => ({ ...record, note: 'x'.repeat(2 ** 21) })],
    [
      '6,000 fields',
      (record: Wire) => ({ ...Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`f${n}`, n])), ...record }),
    ],
  ])(
    'L65 a record of %s is set aside, the other records are applied, and no vendor becomes absent',
    async (_, spoil) => {
      let victim = 0;
      const at = await testbed({
        level: 'account',
        vendors: 40,
        settings,
        rewrite: records((record) => (record['vendorid'] === victim ? spoil(record) : record)),
      });
      await at.pull();
      await at.clock.advance(60_000);
      const ids = at.query<{ vendorid: number }>('SELECT vendorid FROM active_vendors LIMIT 2 OFFSET 20');
      const edited = ids[1]!.vendorid;
      victim = ids[0]!.vendorid;
      at.sandbox.vendors(account).edit(edited, { city: 'Elsewhere' });
      expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'record_rejected', exit: 1 } });
      expect(at.query("SELECT * FROM vendors WHERE presence <> 'present'")).toEqual([]);
      expect(at.query('SELECT city FROM vendors WHERE vendorid = ?', edited)).toEqual([{ city: 'Elsewhere' }]);
      expect(at.query("SELECT fields FROM findings WHERE kind = 'record_rejected'")).toEqual([
        { fields: expect.stringContaining(`vendor ${victim}, is larger than`) as string },
      ]);
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
      rewrite: records((record) => ({ ...record, overdue_balance: [], [field]: twice })),
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

  it('K3 a record that cannot be stored is set aside and reported, the others are applied, and the next run is complete', async () => {
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
  });

  it('A19 a vendor that occurs twice on a page is one vendor', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 10,
      rewrite: (text, url) => {
        const document = JSON.parse(text) as { response: { result: { bill_vendors?: unknown[] } } };
        const { result } = document.response;
        if (url.searchParams.get('page') === '1' && result.bill_vendors?.length)
          result.bill_vendors = [...result.bill_vendors, result.bill_vendors[0]];
        return JSON.stringify(document);
      },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(activeDifferences(at)).toEqual([]);
  });
});

describe('text that breaks readers of the file', () => {
  it('A27 with a lone surrogate and NUL causes no change from pull to pull', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 5,
      rewrite: (text) => text.replaceAll(/"city":(?:null|"[^"]*")/g, String.raw`"city":"A\u0000B\ud800C"`),
    });
    await at.pull();
    await at.clock.advance(60_000);
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
      rewrite: (text, url) => {
        if (!url.pathname.includes('/other/')) return text;
        const document = JSON.parse(text) as { response: { result: { bill_vendors: Wire[] } } };
        const { result } = document.response;
        result.bill_vendors = result.bill_vendors.map((record, index) => ({
          ...record,
          vendorid: ids[index],
          vendor_name: 'There',
        }));
        return JSON.stringify(document);
      },
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
    expect(
      differences(
        at,
        at.sandbox
          .vendors(account)
          .listed()
          .filter((row) => row['vis_state'] !== 1),
      ),
    ).toEqual([]);
  });
});
