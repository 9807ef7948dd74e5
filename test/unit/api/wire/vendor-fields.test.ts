import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { member } from '../../../../src/api/wire/document.ts';
import { vendorOf } from '../../../../src/api/wire/vendor-fields.ts';
import { readCallback, readCallbacks, readGateways, readRemoval } from '../../../../src/api/wire/resources.ts';
import {
  balanceFields,
  kept,
  textFields,
  Unreadable,
  unreadableFields,
  vendorFields,
  type Vendor,
} from '../../../../src/domain/vendor.ts';
import { fixture } from '../../../support/network/service-answers.ts';

const read = (record: object): Vendor => vendorOf(1, JSON.stringify(record));
const answered = (text: string) => ({ bytes: Buffer.from(text), stamp: { readSeq: 1, begun: 0 }, servedAt: undefined });

const specimen = (
  JSON.parse(fixture('vendors-list')) as { response: { result: { bill_vendors: Record<string, unknown>[] } } }
).response.result.bill_vendors[0]!;

describe('a vendor record', () => {
  it('distinguishes a missing field from null', () => {
    const vendor = read({ vendorid: 1, city: null, note: '' });
    expect(vendor.city).toBeNull();
    expect(vendor.note).toBe('');
    expect('street' in vendor).toBe(false);
    expect('tax_defaults' in vendor).toBe(false);
    expect(read({ vendorid: 1, tax_defaults: null, overdue_balance: null })).toMatchObject({
      tax_defaults: [],
      overdue_balance: [],
    });
  });

  it.each([
    [0, 0],
    ['1', 1],
    [2, 2],
  ])('A18 reads vis_state %j', (sent, read_) => {
    expect(read({ vis_state: sent }).vis_state).toBe(read_);
  });

  it.each([3, -1, '01', 'deleted', null, true, [], 1.5])(
    'L13 A18 calls a vis_state of %j unreadable, and keeps its text',
    (sent) => {
      const vendor = read({ vis_state: sent });
      expect(vendor.vis_state).toEqual(new Unreadable(JSON.stringify(sent), null));
      expect(vendor.unknown.size).toBe(0);
    },
  );

  it.each([
    [true, true],
    ['true', true],
    [1, true],
    [0, false],
    ['0', false],
    [null, null],
  ])('A18 reads is_1099 %j', (sent, expected) => {
    expect(read({ is_1099: sent }).is_1099).toBe(expected);
  });

  it('L13 A18 calls a known field of a wrong type unreadable: neither left out nor empty', () => {
    const vendor = read({
      vendor_name: { en: 'x' },
      phone: true,
      is_1099: 'ja',
      updated_at: 'yesterday',
      tax_defaults: 'none',
      outstanding_balance: [{ amount: 5 }],
    });
    const found = unreadableFields(vendor);
    expect(Object.fromEntries(found)).toEqual({
      vendor_name: '{"en":"x"}',
      phone: 'true',
      is_1099: '"ja"',
      updated_at: '"yesterday"',
      tax_defaults: '"none"',
      outstanding_balance: '[{"amount":5}]',
    });
    const held = [...found.keys()].map((field) => [field, kept(vendor[field])]);
    expect(Object.fromEntries(held)).toEqual({
      ...{ vendor_name: null, phone: null, is_1099: null, updated_at: null },
      ...{ tax_defaults: [], outstanding_balance: [] },
    });
    expect(vendor.unknown.size).toBe(0);
  });

  it.each<[keyof Vendor, string, string, unknown]>([
    ['phone', '"phone":"1","phone":"2"', '{"sent":["1","2"]}', null],
    ['phone', '"phone":"1","ph\\u006fne":"ü"', '{"sent":["1","ü"]}', null],
    ['vis_state', '"vis_state":0,"vis_state":1,"vis_state":0', '{"sent":[0,1,0]}', null],
    ['outstanding_balance', '"outstanding_balance":[],"outstanding_balance":null', '{"sent":[[],null]}', []],
    [
      'outstanding_balance',
      '"outstanding_balance":[{"amount":{"amount":"1.00","amount":"2.00","code":"EUR"}}]',
      '{"sent":[[{"amount":{"amount":"2.00","code":"EUR"}}]]}',
      [],
    ],
  ])('calls %s unreadable where it is %s: nobody knows which counts', (field, members, sent, held) => {
    const vendor = vendorOf(7, `{"vendorid":7,"vendor_name":"Süd",${members}}`);
    expect(Object.fromEntries(unreadableFields(vendor))).toEqual({ [field]: sent });
    expect(kept(vendor[field])).toEqual(held);
    expect(vendor.vendor_name).toBe('Süd');
  });

  it('reads a member that is repeated with the same value', () => {
    const vendor = vendorOf(7, '{"vendorid":7,"phone":"1","vendor_name":"Süd","phone":"1"}');
    expect([vendor.phone, unreadableFields(vendor).size]).toEqual(['1', 0]);
  });

  it.each<[unknown, readonly string[], boolean]>([
    [[], [], true],
    [null, [], true],
    [{}, [], false],
    [[{}], [], false],
    [{ amount: null }, [], false],
    [{ amount: null, code: 'USD' }, [], false],
    [{ amount: '5.00' }, [], false],
    [{ amount: '5.00', code: '' }, [], false],
    ['500', [], false],
    [false, [], false],
    [[{ amount: { amount: '5.00', code: 'USD' } }, { amount: null }], ['5.00 USD'], false],
    [[{ amount: '5.00', code: 'USD' }, 'EUR'], ['5.00 USD'], false],
    [{ amount: '1,234.50', code: 'USD' }, ['1,234.50 USD'], false],
    [{ amount: '1e400', code: 'USD' }, ['1e400 USD'], false],
    [[{ amount: '-0.10', code: 'USD' }], ['-0.10 USD'], true],
    [{ amount: '1.00', code: 'eur' }, ['1.00 EUR'], true],
    [{ amount: '1.00', code: ' Eur\n' }, ['1.00 EUR'], true],
    [{ amount: '1.00', code: 'Gutschein ' }, ['1.00 Gutschein '], true],
  ])('L13 keeps of the balance %j what can be read: %j, and says whether that is all', (sent, owed, isWhole) => {
    const { overdue_balance: said } = read({ overdue_balance: sent });
    expect((kept(said) ?? []).map(({ amount, code }) => `${amount} ${code}`)).toEqual(owed);
    expect(said instanceof Unreadable).toBe(!isWhole);
  });

  it.each<[unknown, unknown]>([
    ['2020-10-06 14:20:20', '2020-10-06 14:20:20'],
    ['2020-10-06T14:20:20Z', '2020-10-06T14:20:20Z'],
    ['2020-10-06', '2020-10-06'],
    [null, null],
    ['', null],
    ['0000-00-00 00:00:00', undefined],
    ['2020-13-06 14:20:20', undefined],
    ['6 Oct 2020', undefined],
    [1601994020, undefined],
    [true, undefined],
  ])('L13 reads the time %j as %j', (sent, expected) => {
    const { created_at: said } = read({ created_at: sent });
    expect(said).toEqual(expected === undefined ? new Unreadable(JSON.stringify(sent), null) : expected);
  });

  it('A30 reads balances in every form, with digits as sent, sorted by currency', () => {
    const usd = { amount: '0.10', code: 'USD' };
    const cad = { amount: '5.00', code: 'CAD' };
    expect(read({ overdue_balance: [{ amount: usd }, { amount: cad }] }).overdue_balance).toEqual([cad, usd]);
    expect(read({ overdue_balance: [usd, cad] }).overdue_balance).toEqual([cad, usd]);
    expect(read({ overdue_balance: usd }).overdue_balance).toEqual([usd]);
    expect(read({ overdue_balance: { amount: usd } }).overdue_balance).toEqual([usd]);
    const numeric =
      '{"overdue_balance":[{"amount":{"amount":12345678901234567890.10,"code":"USD"}}],"note":"7\\" 0.10","phone":0.10}';
    const vendor = vendorOf(1, numeric);
    expect(vendor.overdue_balance).toEqual([{ amount: '12345678901234567890.10', code: 'USD' }]);
    expect(vendor).toMatchObject({ note: '7" 0.10', phone: '0.10' });
  });

  it.each([
    ['outstanding_balance', ['1.00', 'EUR'], ['1.00', 'EUR'], true],
    ['outstanding_balance', ['1.00', 'EUR'], ['2.00', 'EUR'], false],
    ['overdue_balance', ['1.00', 'EUR'], ['1.0', 'EUR'], false],
  ] as const)('K3 L13 of %s with two entries of one currency: %s and %s', (field, one, other, isWhole) => {
    const entry = ([amount, code]: readonly [string, string]): object => ({ amount: { amount, code } });
    const vendor = read({ vendorid: 1, [field]: [entry(one), entry(other)] });
    expect(vendor.repeated).toEqual([field]);
    expect(kept(vendor[field])).toEqual([{ amount: one[0], code: one[1] }]);
    expect(vendor[field] instanceof Unreadable).toBe(!isWhole);
  });

  it('K3 L13 of tax defaults with two entries of one taxid that differ, not all is read', () => {
    const vendor = read({
      vendorid: 1,
      tax_defaults: [
        { taxid: 7, amount: '1' },
        { taxid: 7, amount: '2' },
      ],
    });
    expect(vendor.tax_defaults).toBeInstanceOf(Unreadable);
    expect(kept(vendor.tax_defaults)).toMatchObject([{ taxid: 7, amount: '1' }]);
  });

  it('sorts tax defaults by taxid, and keeps their amounts as text', () => {
    const vendor = read({
      tax_defaults: [
        { taxid: 3, amount: '13', enabled: 1 },
        { taxid: '1', amount: 13.56, system_taxid: 36859 },
      ],
    });
    expect(vendor.tax_defaults).toMatchObject([
      { taxid: 1, amount: '13.56', system_taxid: 36859, enabled: null, name: null },
      { taxid: 3, amount: '13', enabled: true },
    ]);
  });

  it.each<[object, number, object | undefined]>([
    [{ name: 'GST' }, 1, undefined],
    [{ taxid: 2, enabled: 'ja' }, 2, { enabled: null }],
    [{ taxid: 2, amount: { percent: 5 } }, 2, { amount: null }],
    [{ taxid: 2, system_taxid: -1 }, 2, { system_taxid: null }],
    [{ taxid: 2, updated_at: 'soon' }, 2, { updated_at: null }],
  ])('L13 keeps of two tax defaults what can be read, if one is %j', (odd, count, part) => {
    const { tax_defaults: said } = read({ tax_defaults: [{ taxid: 1, name: 'VAT' }, odd] });
    expect(said).toBeInstanceOf(Unreadable);
    expect(kept(said)).toHaveLength(count);
    expect(kept(said)?.[0]).toMatchObject({ taxid: 1, name: 'VAT' });
    if (part) expect(kept(said)?.[1]).toMatchObject(part);
  });

  it('reads a state and a flag as sent, whatever other fields are numbers', () => {
    const vendor = vendorOf(1, '{"vis_state":1.0,"is_1099":1.0,"phone":5}');
    expect(vendor).toMatchObject({ vis_state: 1, is_1099: true, phone: '5' });
  });

  it('writes unknown fields the same way whatever the order of their keys', () => {
    expect(read({ x: { b: 1, a: [{ d: 1, c: 2 }] } }).unknown.get('x')).toBe('{"a":[{"c":2,"d":1}],"b":1}');
  });

  it('A27 removes NUL from fields and replaces lone surrogates', () => {
    expect(vendorOf(1, String.raw`{"note":"a\u0000b\ud800"}`).note).toBe('ab�');
  });

  it('A29 treats keys such as __proto__ as ordinary fields', () => {
    const vendor = vendorOf(1, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
    expect([...vendor.unknown.keys()]).toEqual(['__proto__', 'constructor', 'toString']);
    expect(vendor.unknown.get('__proto__')).toBe('{"polluted":1}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(vendor)).toBe(Object.prototype);
    expect(member({}, 'constructor')).toBeUndefined();
  });

  it('A18 is read without an exception however it is mutated, with known fields of the right types', () => {
    const names = fc.constantFrom(...Object.keys(specimen), 'note', 'extra', '__proto__');
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(
        '1',
        'true',
        0,
        1,
        2,
        -1,
        0.1,
        [],
        {},
        null,
        [{ amount: { amount: '1', code: 'X' } }],
        [{ taxid: 1 }],
      ),
    );
    const change = fc.record({ name: names, as: fc.option(names), value: fc.option(value), drop: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const mutant = new Map(Object.entries(specimen));
        for (const { name, as, value: put, drop } of changes) {
          const moved = put ?? mutant.get(name);
          if (drop) mutant.delete(name);
          else mutant.set(as ?? name, moved);
        }
        const vendor = vendorOf(
          1,
          `{${[...mutant].map(([name, held]) => `${JSON.stringify(name)}:${JSON.stringify(held ?? null)}`).join()}}`,
        );
        expect(shapeFaults(vendor)).toEqual([]);
        for (const name of mutant.keys()) {
          const kept = name === 'vendorid' || vendor.unknown.has(name) || Object.hasOwn(vendor, name);
          expect(kept, name).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Fields of a vendor whose values are not of the types that `Vendor` declares. */
function shapeFaults(vendor: Vendor): string[] {
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
  const fits: Record<string, (value: unknown) => boolean> = {
    ...Object.fromEntries(textFields.map((field) => [field, isTextOrNull])),
    ...Object.fromEntries(
      balanceFields.map((field) => [
        field,
        (value: unknown) =>
          Array.isArray(value) &&
          value.every((one: Record<string, unknown>) => isText(one['amount']) && isText(one['code'])),
      ]),
    ),
    is_1099: (value) => value === null || typeof value === 'boolean',
    vis_state: (value) => value === null || value === 0 || value === 1 || value === 2,
    tax_defaults: (value) =>
      Array.isArray(value) &&
      value.every((one: Record<string, unknown>) => Number.isSafeInteger(one['taxid']) && isTextOrNull(one['amount'])),
  };
  return vendorFields.filter((field) => Object.hasOwn(vendor, field) && !fits[field]?.(kept<unknown>(vendor[field])));
}

describe('gateways and callbacks', () => {
  it('reads the gateways of the reference', () => {
    expect(readGateways(answered(fixture('gateways-list')), 1)).toEqual({
      paging: { page: 1, pages: 1, perPage: 15, total: 2 },
      items: [
        { sgid: 1598106, connectionid: '00000000000000000000000000000001', gateway_name: 'stripe' },
        { sgid: 1221100, connectionid: '00000000000000000000000000000002', gateway_name: 'servicepay' },
      ],
      rejected: [],
    });
  });

  it.each([
    ['an id that is null', { sgid: null, callbackid: null, id: null }],
    ['an id that is text', { sgid: 'x', callbackid: 'x', id: '-1' }],
    ['no id', { uri: 'https://other.example/' }],
    ['a number in place of the record', 7],
    ['nothing in place of the record', null],
    ['a list in place of the record', [[]]],
  ])('L27 sets a row aside with %s, and uses its neighbours', (_, row) => {
    const paging = { page: 1, pages: 1, per_page: 15, total: 2 };
    const good = { sgid: 5, callbackid: 5, id: 5 };
    const listed = (name: string) =>
      answered(JSON.stringify({ response: { result: { [name]: [row, good, row], ...paging } } }));
    const gateways = readGateways(listed('gateways'), 1);
    expect([gateways.items.map(({ sgid }) => sgid), gateways.rejected.length]).toEqual([[5], 2]);
    const callbacks = readCallbacks(listed('callbacks'), 1);
    expect(callbacks.items.map(({ callbackid }) => callbackid)).toEqual([5]);
    expect(callbacks.rejected[1]).toBe(
      'Row 3 of page 1 of the callbacks: The answer contains a record without a usable callbackid.',
    );
  });

  it('reads the callbacks of the reference, and an empty list of them', () => {
    const listing = readCallbacks(answered(fixture('callbacks-list')), 1);
    expect(listing.items).toHaveLength(3);
    expect(listing.items[2]).toEqual({
      callbackid: 125,
      event: 'estimate.delete',
      uri: 'http://service.example/hook/125',
      verified: false,
    });
    expect(readCallbacks(answered(fixture('callbacks-list-empty')), 1).items).toEqual([]);
    expect(readCallback(answered(fixture('callback-register-response')))).toMatchObject({
      callbackid: 2001,
      verified: false,
    });
  });

  it.each(['2017-08-23T11:45:09Z', '2021-10-17 05:48:42', 5, null])(
    "ignores a callback's updated_at of %j",
    (updated_at) => {
      const callback = { id: '9', event: 'bill_vendor', uri: 'https://x.example/', verified: 'true', updated_at };
      expect(readCallback(answered(JSON.stringify({ response: { result: { callback } } })))).toEqual({
        callbackid: 9,
        event: 'bill_vendor',
        uri: 'https://x.example/',
        verified: true,
      });
    },
  );

  it('accept an empty object or no body for a removal, and an error as an error', () => {
    expect(() => readRemoval(answered(fixture('gateway-delete-response')))).not.toThrow();
    expect(() => readRemoval(answered(''))).not.toThrow();
    expect(() => readRemoval(answered(fixture('error-accounting-not-found')))).toThrow('Client not found.');
  });

  it('A19 refuse an answer about one callback without an id', () => {
    const text = '{"response":{"result":{"callback":{"callbackid":-1}}}}';
    expect(() => readCallback(answered(text))).toThrow('without a usable callbackid');
  });
});
