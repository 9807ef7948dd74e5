import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVendorPage } from '../../../../src/api/wire/vendor-pages.ts';
import type { KnownPage, VendorPage } from '../../../../src/domain/reading.ts';
import { cases } from '../../../support/test-size.ts';

const place = { visState: undefined, page: 1 } as const;
const nothing: KnownPage = { place, readSeq: 0, stretches: [] };

const record = (vendorid: number, name: string): string => JSON.stringify({ vendorid, vendor_name: name, lines: [{}] });

function read(
  records: readonly string[],
  known?: KnownPage,
  excluded?: ReadonlySet<string>,
  between = ',',
): VendorPage {
  const paging = `"page":1,"pages":1,"per_page":100,"total":${records.length}`;
  const bytes = Buffer.from(`{"response":{"result":{"bill_vendors":[${records.join(between)}],${paging}}}}`);
  return readVendorPage({ bytes, stamp: { readSeq: 2, begun: 0 }, servedAt: undefined }, 1, { known, excluded });
}

/** What is known after a page was shown. */
function knownAfter({ digests }: VendorPage, readSeq = 1): KnownPage {
  if (!digests) throw new Error('The page has no digests.');
  return { place, readSeq, stretches: digests.stretches };
}

const shownBy = ({ rows }: VendorPage) =>
  rows.map((row) => ({
    id: row.vendorid,
    raw: row.raw,
    bytes: Buffer.from(row.bytes!).toString(),
    vendor: row.vendor(),
  }));

const page = Array.from({ length: 25 }, (_, index) => record(index + 1, `vendor ${index + 1}`));

describe('the digests of a page', () => {
  it('cover all records, ten neighbours at a time', () => {
    const { digests } = read(page, nothing);
    expect(digests?.stretches.map(({ vendorids }) => vendorids.length)).toEqual([10, 10, 5]);
    expect(digests).toMatchObject({ place, isKnown: false, known: { vendorids: [] } });
  });

  it('identify a page that is the same as before', () => {
    const { digests } = read(page, knownAfter(read(page, nothing)));
    expect(digests?.isKnown).toBe(true);
    expect(digests?.known).toEqual({ readSeq: 1, vendorids: page.map((_, index) => index + 1) });
  });

  it('identify unchanged stretches of records at any position', () => {
    const known = knownAfter(read(page, nothing));
    const { digests } = read(
      [record(100, 'new'), ...page.slice(0, 12), record(13, 'edited'), ...page.slice(13)],
      known,
    );
    expect(digests?.isKnown).toBe(false);
    expect(digests?.known.vendorids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21, 22, 23, 24, 25]);
    expect(digests?.stretches.map(({ vendorids }) => vendorids.length)).toEqual([1, 10, 10, 5]);
  });

  it('do not identify a stretch whose records are in another order or inside a record', () => {
    const known = knownAfter(read(page, nothing));
    const turned = [...page.slice(10), ...page.slice(0, 10)];
    expect(read(turned, known).digests?.known.vendorids).toEqual(page.slice(10).map((_, index) => index + 11));
    const within = [`{"vendorid":7,"vendor_name":"all of them","others":[${page.slice(0, 10).join()}]}`];
    expect(read(within, known).digests?.known.vendorids).toEqual([]);
  });

  it('are made anew when inserted and removed rows have left short stretches', () => {
    const short = page.map((text, index) => knownAfter(read([text], nothing), index).stretches[0]!);
    const { digests } = read(page, { place, readSeq: 1, stretches: short });
    expect(digests?.stretches.map(({ vendorids }) => vendorids.length)).toEqual([10, 10, 5]);
  });

  it('are made for records with white space between them', () => {
    const known = knownAfter(read(page, nothing, undefined, '\n ,\n '));
    expect(read(page, known, undefined, '\n ,\n ').digests?.isKnown).toBe(true);
  });

  it('are not made if nobody wants them, if a vendor occurs twice, or if a record has no usable id', () => {
    expect(read(page).digests).toBeUndefined();
    expect(read([...page, page[0]!], nothing).digests).toBeUndefined();
    expect(read([...page, '{"vendorid":null}'], nothing).digests).toBeUndefined();
  });

  it('are neither made nor trusted if fields are excluded', () => {
    const known = knownAfter(read(page, nothing));
    const cut = read(page, known, new Set(['vendor_name']));
    expect(cut.digests).toBeUndefined();
    expect(cut.rows[3]?.raw).toBe('{"vendorid":4,"lines":[{}]}');
  });

  it('do not change what a page shows, whatever was inserted, removed, moved or edited', () => {
    const change = fc.record({
      at: fc.nat(30),
      as: fc.constantFrom('edit', 'remove', 'insert', 'move'),
      to: fc.nat(30),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let records = page;
        let known = knownAfter(read(records, nothing));
        for (const [index, { at, as, to }] of changes.entries()) {
          const text = records[at];
          if (as === 'insert') records = records.toSpliced(at, 0, record(100 + index, 'new'));
          else if (text !== undefined && as === 'edit')
            records = records.with(at, text.replace('vendor ', `vendor, ${index} times edited, `));
          else if (text !== undefined) records = records.toSpliced(at, 1);
          if (text !== undefined && as === 'move') records = records.toSpliced(to, 0, text);
          const again = read(records, known);
          expect(shownBy(again)).toEqual(shownBy(read(records)));
          known = knownAfter(again);
          expect(known.stretches.flatMap(({ vendorids }) => vendorids)).toEqual(
            again.rows.map(({ vendorid }) => vendorid),
          );
          expect(read(records, known).digests?.stretches.length).toBeLessThanOrEqual(known.stretches.length);
        }
      }),
      { numRuns: cases(200) },
    );
  });
});
