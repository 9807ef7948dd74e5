import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answered } from '../../../../src/api/wire/document.ts';
import { readVendor, readVendorPage } from '../../../../src/api/wire/vendor-pages.ts';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { fixture } from '../../../support/network/service-answers.ts';

const stamp = { readSeq: 7, begun: 70 };

const answered = (text: string | Uint8Array): Answered => ({ bytes: Buffer.from(text), stamp, servedAt: undefined });
const envelope = (rows: string, paging = '"page":1,"pages":1,"per_page":15,"total":1'): string =>
  `{"response":{"result":{"bill_vendors":${rows},${paging}}}}`;
const pageOf = (rows: string, paging?: string) => readVendorPage(answered(envelope(rows, paging)), 1);

function failure(run: () => unknown): MirrorError {
  try {
    run();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
  throw new Error('It was expected to fail.');
}

describe('a page of vendors', () => {
  it('is read from the reference fixture, with the bytes of each row unchanged', () => {
    const text = fixture('vendors-list');
    const page = readVendorPage(answered(text), 1);
    expect(page).toMatchObject({ stamp, page: 1, pages: 1, perPage: 15, total: 1 });
    const [row] = page.rows;
    expect(row?.vendorid).toBe(1);
    expect(text).toContain(row?.raw);
    expect(row?.vendor()).toMatchObject({
      vendor_name: 'Staples',
      vis_state: 0,
      outstanding_balance: [{ amount: '5.00', code: 'CAD' }],
    });
  });

  it('has the time at which it was served', () => {
    const page = readVendorPage({ ...answered(fixture('vendors-list')), servedAt: 5 }, 1);
    expect(page.servedAt).toBe(5);
  });

  it('accepts its envelope in any order, and numbers as text', () => {
    const text =
      '{"response":{"result":{"total":"2","per_page":"2","bill_vendors":[{"vendorid":1},{"vendorid":"2"}],"pages":"1","page":"1"},"meta":[1]}}';
    const page = readVendorPage(answered(text), 1);
    expect(page).toMatchObject({ page: 1, pages: 1, perPage: 2, total: 2 });
    expect(page.rows.map((row) => row.vendorid)).toEqual([1, 2]);
  });

  it('keeps a repeated vendorid as two rows; the sweep decides about them', () => {
    expect(pageOf('[{"vendorid":5},{"vendorid":5}]').rows).toHaveLength(2);
  });

  it('takes the requested number if the answer has none, and the number of rows if per_page is missing', () => {
    const page = readVendorPage(answered(envelope('[{"vendorid":5}]', '"pages":4,"total":4')), 3);
    expect(page).toMatchObject({ page: 3, perPage: 1 });
  });

  it.each([
    ['no total', '"page":1,"pages":1'],
    ['no pages', '"page":1,"total":1'],
    ['a negative total', '"page":1,"pages":1,"total":-1'],
    ['pages with a fraction', '"page":1,"pages":1.5,"total":1'],
    ['a page that is no number', '"page":"one","pages":1,"total":1'],
    ['null pages', '"page":1,"pages":null,"total":1'],
  ])('A12 fails as a page with %s', (_, paging) => {
    expect(failure(() => pageOf('[]', paging)).code).toBe('answer_unreadable');
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<html></html>'],
    ['null', 'null'],
    ['a bare list', '[]'],
    ['an empty object', '{}'],
    ['no list', '{"response":{"result":{"page":1,"pages":1,"total":0}}}'],
    ['a null list', envelope('null')],
    ['one object for a list', envelope('{"vendorid":1}')],
    ['numbers for rows', envelope('[1]')],
    ['something after its end', `${envelope('[]')} x`],
    ['two lists', '{"response":{"result":{"bill_vendors":[],"bill_vendors":[],"page":1,"pages":1,"total":0}}}'],
    ['rows without commas', envelope('[{"vendorid":1}{"vendorid":2}]')],
    ['a broken envelope', envelope('[]', '"page":1,,"pages":1')],
  ])('A12 never treats %s as an empty page', (_, text) => {
    expect(failure(() => readVendorPage(answered(text), 1)).code).toBe('answer_unreadable');
  });

  it('finds errors before results, whatever the list contains', () => {
    const text =
      '{"response":{"errors":[{"errno":12001,"message":"No."}],"result":{"bill_vendors":[],"page":1,"pages":0,"total":0}}}';
    expect(failure(() => readVendorPage(answered(text), 1)).code).toBe('access_denied');
    expect(failure(() => readVendorPage(answered(fixture('error-accounting-no-access-http200')), 1))).toMatchObject({
      code: 'access_denied',
      errno: 12001,
    });
  });

  it('A25 fails when it is cut anywhere', () => {
    const text = Buffer.from(fixture('vendors-list').trim());
    for (let length = 0; length < text.length; length += 1)
      expect(failure(() => readVendorPage(answered(text.subarray(0, length)), 1)).code).toBe('answer_unreadable');
  });

  it.each([
    '0',
    '-1',
    '1.0',
    '1e3',
    '9007199254740992',
    '18446744073709551617',
    '"x"',
    '""',
    '"01"',
    'null',
    'true',
    '[1]',
    '{"a":1}',
  ])('A19 A28 K3 rejects a record with vendorid %s, names page and row, and keeps the other records', (id) => {
    const page = readVendorPage(answered(envelope(`[{"vendorid":1},{"vendorid":${id}},{"vendorid":3}]`)), 3);
    expect(page.rows.map((row) => row.vendorid)).toEqual([1, 3]);
    expect(page.rejected).toMatchObject([{ reason: expect.stringContaining('Row 2 of page 3') as string }]);
  });

  it.each(['[{"id":1,"inner":{"vendorid":1}}]', '[{"vendorid":1,"vendorid":2}]'])(
    'A19 rejects a record that has no vendorid, or two of them: %s',
    (rows) => {
      const page = pageOf(rows);
      expect(page.rows).toEqual([]);
      expect(page.rejected).toMatchObject([{ reason: 'Row 1 of page 1 has no usable vendorid.' }]);
    },
  );

  it('A28 accepts the largest exact number', () => {
    expect(pageOf('[{"vendorid":9007199254740991}]').rows[0]?.vendorid).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['1 MB', (over: number) => `{"vendorid":1,"note":"${'x'.repeat(1024 * 1024 - 24 + over)}"}`],
    [
      '5,000 fields',
      (over: number) => `{"vendorid":1,${Array.from({ length: 4_999 + over }, (_, at) => `"f${at}":0`).join()}}`,
    ],
    [
      '5,000 members of its lists',
      (over: number) =>
        `{"vendorid":1,"outstanding_balance":[${'{"a":0,"b":0},'.repeat(2_498)}{"a":0${',"c":0'.repeat(1 + over)}}]}`,
    ],
  ])('L65 sets aside a record of more than %s, and no other', (_, sized) => {
    expect(pageOf(`[${sized(0)},{"vendorid":2}]`).rows.map((row) => row.vendorid)).toEqual([1, 2]);
    const page = pageOf(`[${sized(1)},{"vendorid":2}]`);
    expect(page.rows.map((row) => row.vendorid)).toEqual([2]);
    expect(page.rejected).toMatchObject([
      { reason: expect.stringContaining('Row 1 of page 1, vendor 1, is larger than') as string },
    ]);
    const single = (record: string): Uint8Array => Buffer.from(`{"response":{"result":{"bill_vendor":${record}}}}`);
    expect(readVendor({ ...answered('[]'), bytes: single(sized(0)) }).row.vendorid).toBe(1);
    expect(failure(() => readVendor({ ...answered('[]'), bytes: single(sized(1)) })).code).toBe('row_unusable');
  });

  it('L65 sets aside vendors of many members from where a page has more than 100,000, and none of usual size', () => {
    const record = (id: number, members: number): string =>
      `{"vendorid":${id},${Array.from({ length: members - 1 }, (_, at) => `"f${at}":0`).join()}}`;
    const large = Array.from({ length: 30 }, (_, at) => record(at + 1, 4_000));
    const page = pageOf(`[${[...large, record(31, 500), record(32, 501), '{"vendorid":33}'].join()}]`);
    expect(page.rows.map((row) => row.vendorid)).toEqual([...Array.from({ length: 25 }, (_, at) => at + 1), 31, 33]);
    const rejected = page.rejected?.map(({ reason }) => Number(/vendor (\d+)/.exec(reason)?.[1]));
    expect(rejected).toEqual([26, 27, 28, 29, 30, 32]);
    const usual = Array.from({ length: 3_000 }, (_, at) => record(at + 1, 50));
    expect(pageOf(`[${usual.join()}]`).rows).toHaveLength(3_000);
  });

  it('A26 L20 refuses more than 250,000 rows, and more than 32 levels', () => {
    const rows = (count: number): string =>
      `[${Array.from({ length: count }, (_, at) => `{"vendorid":${at + 1}}`).join()}]`;
    expect(pageOf(rows(250_000)).rows).toHaveLength(250_000);
    expect(failure(() => pageOf(rows(250_001))).code).toBe('answer_too_large');
    const nested = (depth: number): string => `[{"vendorid":1,"x":${'['.repeat(depth)}${']'.repeat(depth)}}]`;
    expect(pageOf(nested(27)).rows).toHaveLength(1);
    expect(failure(() => pageOf(nested(28))).code).toBe('answer_unreadable');
    const closed = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(failure(() => readVendor(answered(closed))).message).toContain('more than 32 levels deep');
  });

  it('A27 skips a byte order mark and refuses bytes that are not UTF-8', () => {
    const text = envelope('[{"vendorid":1,"vendor_name":"Ä"}]');
    expect(readVendorPage(answered(`\ufeff${text}`), 1).rows[0]?.vendor().vendor_name).toBe('Ä');
    expect(failure(() => readVendorPage(answered(Buffer.from(text, 'latin1')), 1)).code).toBe('answer_unreadable');
  });

  it('A27 replaces lone surrogates in raw, and keeps pairs, NUL and escaped backslashes', () => {
    const [row] = pageOf(String.raw`[{"vendorid":1,"note":"\ud83d\ude00 \ud800 \\ud800 \uDFFF\u0000 \\\udc00"}]`).rows;
    expect(row?.raw).toBe(String.raw`{"vendorid":1,"note":"\ud83d\ude00 \ufffd \\ud800 \ufffd\u0000 \\\ufffd"}`);
    expect(row?.vendor().note).toBe('😀 � \\ud800 � \\�');
  });

  it('refuses a row that is not JSON inside when it is parsed', () => {
    const [row] = pageOf('[{"vendorid":1,"a":[}}]').rows;
    expect(failure(() => row?.vendor()).code).toBe('answer_unreadable');
  });

  it('is not misled by quotes and brackets within text', () => {
    const rows = [
      { vendorid: 1, note: '"}]{' },
      { '"vendorid': '\\', vendorid: 2, phone: '\\"' },
    ];
    const page = pageOf(JSON.stringify(rows));
    expect(page.rows.map((row) => JSON.parse(row.raw) as unknown)).toEqual(rows);
  });

  it('slices exactly what JSON.parse finds, whatever the spacing, nesting and escaping', () => {
    const records = fc.array(
      fc.tuple(
        fc.nat({ max: 1e9 }),
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4, noUnicodeString: false })),
      ),
      { maxLength: 8 },
    );
    const space = fc.constantFrom('', ' ', '\n', '\t\r\n ');
    fc.assert(
      fc.property(records, space, fc.boolean(), (rows, gap, last) => {
        const values = rows.map(([id, extra]) => {
          const rest = Object.entries(extra).filter(([name]) => name !== 'vendorid');
          const own = ['vendorid', id + 1] as const;
          return Object.fromEntries(last ? [...rest, own] : [own, ...rest]);
        });
        const spaced = JSON.stringify(values, null, gap.includes('\n') ? '\t' : 0).replace(/^/, gap);
        const text = `{${gap}"x"${gap}:${gap}{"bill_vendors":[{}]},"response":${gap}{"result":{"total":1,"bill_vendors"${gap}:${gap}${spaced}${gap},"page":1,"pages":1}${gap}}}${gap}`;
        const page = readVendorPage(answered(text), 1);
        expect(page.rows.map((row) => JSON.parse(row.raw) as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
        expect(page.rows.map((row) => row.vendorid)).toEqual(values.map((value) => value['vendorid']));
      }),
      { numRuns: 500 },
    );
  });
});

describe('one vendor', () => {
  it.each(['vendor-create-response', 'vendor-edit-response', 'vendor-delete-response'])('is read from %s', (name) => {
    const { stamp: taken, row } = readVendor(answered(fixture(name)));
    const { bill_vendor } = (
      JSON.parse(fixture(name)) as { response: { result: { bill_vendor: Record<string, unknown> } } }
    ).response.result;
    expect(taken).toBe(stamp);
    expect(row.vendorid).toBe(bill_vendor['vendorid']);
    expect(JSON.parse(row.raw)).toEqual(bill_vendor);
    expect(row.vendor().vendor_name).toBe(bill_vendor['vendor_name']);
  });

  it.each(['{"bill_vendor":[VENDOR]}', '{"bill_vendors":[VENDOR],"total":1}', '[VENDOR]'])(
    'L5 is read from a list of it alone: %s',
    (result) => {
      const text = `{"response":{"result":${result.replace('VENDOR', '{"vendorid":1,"note":"x"}')}}}`;
      const { row } = readVendor(answered(text));
      expect([row.vendorid, row.raw]).toEqual([1, '{"vendorid":1,"note":"x"}']);
    },
  );

  it.each([
    ['an error', fixture('error-accounting-not-found'), 'not_found'],
    ['an error beside null', '{"response":{"errors":[{"errno":1003}],"result":{"bill_vendor":null}}}', 'access_denied'],
    ['a list of two', '{"response":{"result":{"bill_vendors":[{"vendorid":1},{"vendorid":2}]}}}', 'answer_unreadable'],
    ['an empty list', '{"response":{"result":{"bill_vendors":[]}}}', 'answer_unreadable'],
    ['nothing', '{"response":{"result":{}}}', 'answer_unreadable'],
    ['null', '{"response":{"result":{"bill_vendor":null}}}', 'answer_unreadable'],
    ['a record that is cut', '{"response":{"result":{"bill_vendor":{"vendorid":1,"ven', 'answer_unreadable'],
    ['no id', '{"response":{"result":{"bill_vendor":{"vendor_name":"x"}}}}', 'row_unusable'],
  ])('is not read from %s', (_, text, code) => {
    expect(failure(() => readVendor(answered(text))).code).toBe(code);
  });
});

it.each([
  ['{"response":{"result":{}}}', 'it has no response.result.bill_vendors.'],
  ['{"response":{"result":{"bill_vendors":null}}}', 'its response.result.bill_vendors is null.'],
  ['{"response":{"result":{"bill_vendors":{}}}}', 'its response.result.bill_vendors is no list.'],
  ['{"response":{"result":{"bill_vendors":"none"}}}', 'its response.result.bill_vendors is no list.'],
])('L13 a page %s is refused with what is wrong with its list', (text, lack) => {
  const message = `The answer is not a page of vendors: ${lack}`;
  expect(failure(() => readVendorPage(answered(Buffer.from(text)), 1)).message).toBe(message);
});
