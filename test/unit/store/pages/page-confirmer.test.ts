/**
 * Pages that are known again by their digests. Whether a page was compared record by record shows where what is stored was changed past all
 * readings: a page that is known does not notice, and one that is compared does.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { readVendorPage } from '../../../../src/api/wire/vendor-pages.ts';
import type { ReadStamp } from '../../../../src/domain/reading.ts';
import type { Verdict } from '../../../../src/store/decide/verdict.ts';
import { noCounts } from '../../../../src/store/records/run-record.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { lag, row } from '../../../support/testbed/store.ts';

let at: Testbed<'store'>;

beforeEach(async () => {
  at = await testbed({ level: 'store' });
});

/** Applies a page as the service sends it, the only one of its list unless told; tells what became of each record. */
async function verdictsOf(
  accountId: string,
  records: readonly string[],
  { page, pages, stamp }: { page: number; pages: number; stamp?: ReadStamp } = { page: 1, pages: 1 },
): Promise<Verdict[]> {
  const { readings, runs } = at.mirror;
  const run = await runs.beginRun({ accountId, kind: 'pull', trigger: 'command' });
  const context = { accountId, source: 'pull', runId: run.id, deliveryId: null, lag, run } as const;
  const known = await readings.knownPage(accountId, { visState: undefined, page });
  const paging = `"page":${page},"pages":${pages},"per_page":100,"total":${records.length}`;
  const bytes = Buffer.from(`{"response":{"result":{"bill_vendors":[${records.join()}],${paging}}}}`);
  const read = readVendorPage({ bytes, stamp: stamp ?? (await at.ask()), servedAt: undefined }, page, { known });
  const [verdicts] = await readings.applyPages([read], { ...context, changeClassifier: undefined }, () => noCounts);
  return read.rows.map(({ vendorid }) => verdicts!.get(vendorid)!);
}

async function answerOf(...asked: Parameters<typeof verdictsOf>): Promise<Verdict['kind'][]> {
  return (await verdictsOf(...asked)).map(({ kind }) => kind);
}

const answer = (records: readonly string[], numbers?: { page: number; pages: number; stamp?: ReadStamp }) =>
  answerOf('one', records, numbers);

const record = (vendorid: number, name = `vendor ${vendorid}`): string =>
  JSON.stringify({ vendorid, vendor_name: name, updated_at: '2026-11-20 12:00:00', vis_state: 0 });
const records = Array.from({ length: 25 }, (_, index) => record(index + 1));
const all = (kind: string): string[] => records.map(() => kind);

function age(): void {
  at.clocks.running += lag;
  at.clocks.wall += lag;
}

/** Changes what is stored of a vendor, and nothing that says so. */
function changeBehind(vendorid: number): void {
  at.damage(
    `UPDATE vendors SET vendor_name = 'x', raw = json_set(raw, '$.vendor_name', 'x') WHERE vendorid = ${vendorid}`,
  );
}

/** Which vendors a page is compared with, record by record, when it comes once more. */
async function compared(page: readonly string[] = records): Promise<number[]> {
  for (const { vendorid } of at.query<{ vendorid: number }>('SELECT vendorid FROM vendors')) changeBehind(vendorid);
  age();
  const kinds = await answer(page);
  return kinds.flatMap((kind, index) => (kind === 'unchanged' ? [] : [index + 1]));
}

/** The page was shown, and all of its vendors are stored. */
async function shown(): Promise<void> {
  expect(await answer(records)).toEqual(all('created'));
}

describe('a page that is read again', () => {
  it('with the same bytes is neither compared record by record nor stored again', async () => {
    await shown();
    const before = at.query('SELECT * FROM _page_digests');
    expect(await compared()).toEqual([]);
    expect(at.query('SELECT * FROM _page_digests')).toEqual(before);
  });

  it('with one changed record is compared around it only, and is known from then on', async () => {
    await shown();
    age();
    const edited = records.with(12, record(13, 'edited'));
    expect(await answer(edited)).toEqual(all('unchanged').with(12, 'updated'));
    expect(await compared(edited)).toEqual([]);
  });

  it('with one more record at its start and one less at its end is compared at its ends only', async () => {
    await shown();
    const moved = [record(100), ...records.slice(0, -1)];
    for (const { vendorid } of at.query<{ vendorid: number }>('SELECT vendorid FROM vendors')) changeBehind(vendorid);
    age();
    const kinds = ['created', ...all('unchanged').slice(5), ...all('updated').slice(21)];
    expect(await answer(moved)).toEqual(kinds);
  });

  it('with its fields in another order is compared, and is known from then on', async () => {
    await shown();
    const turned = records.map((text) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())),
    );
    age();
    expect(await answer(turned)).toEqual(all('unchanged'));
    expect(await compared(turned)).toEqual([]);
  });

  it('is applied if what is stored has changed since', async () => {
    await shown();
    age();
    expect(await at.record(await at.ask(), row(3, 'read by its number'))).toBe('updated');
    age();
    expect(await answer(records)).toEqual(all('unchanged').with(2, 'updated'));
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = 3')).toEqual([{ vendor_name: 'vendor 3' }]);
  });

  it('brings back a vendor that is gone', async () => {
    await shown();
    age();
    expect(await at.absence(await at.ask(), 3)).toBe('updated');
    age();
    expect(await answer(records)).toEqual(all('unchanged').with(2, 'updated'));
    expect(at.query('SELECT presence FROM vendors WHERE vendorid = 3')).toEqual([{ presence: 'present' }]);
  });

  it('makes a vendor present again that a sweep had not seen', async () => {
    await shown();
    await at.mirror.vendors.markSuspects('one', [3], await at.ask());
    await answer(records);
    expect(at.query('SELECT presence FROM vendors WHERE vendorid = 3')).toEqual([{ presence: 'present' }]);
  });

  it('is compared if a vendor is marked to be read again', async () => {
    await shown();
    await at.mirror.queue.markVendors('one', [3], 'delivery', 0);
    expect(await compared()).toEqual([3]);
  });

  it('does not bring back a vendor that was forgotten', async () => {
    await shown();
    at.damage(
      `DELETE FROM vendors WHERE vendorid = 3; INSERT INTO _forgotten_vendors VALUES ('one', 3, '2026-11-20 12:00:00.000')`,
    );
    expect(await answer(records)).toEqual(all('unchanged').with(2, 'forgotten'));
    expect(at.query('SELECT 1 FROM vendors WHERE vendorid = 3')).toEqual([]);
  });

  it('does not bring back a vendor that was forgotten, behind a new one', async () => {
    await shown();
    at.damage(
      `DELETE FROM vendors WHERE vendorid = 3; INSERT INTO _forgotten_vendors VALUES ('one', 3, '2026-11-20 12:00:00.000')`,
    );
    expect(await answer([record(100), record(3)])).toEqual(['created', 'forgotten']);
    expect(at.query('SELECT 1 FROM vendors WHERE vendorid = 3')).toEqual([]);
  });

  it('is compared if a vendor occurs on it twice', async () => {
    const twice = [record(1), record(2), record(1, 'another')];
    await answer(twice);
    expect(at.query('SELECT 1 FROM _page_digests')).toEqual([]);
  });

  it('is known for its own account only', async () => {
    await shown();
    await answerOf('two', records.with(2, record(3, 'otherwise')));
    age();
    expect(await answerOf('two', records)).toEqual(all('unchanged').with(2, 'updated'));
    expect(at.query('SELECT account_id, page FROM _page_digests ORDER BY 1')).toEqual([
      { account_id: 'one', page: 1 },
      { account_id: 'two', page: 1 },
    ]);
  });

  it('is compared if the account has a newer version, although another account shows the same page', async () => {
    await shown();
    const other = await at.open('two');
    await answerOf('two', records);
    age();
    expect(await other.record(await at.ask(), row(3, 'read by its number'))).toBe('updated');
    age();
    expect(await answerOf('two', records)).toEqual(all('unchanged').with(2, 'updated'));
    expect(await answer(records)).toEqual(all('unchanged'));
  });
});

describe('a known page', () => {
  it('P3 counts as a reading of each of its vendors: no older reading replaces them', async () => {
    await shown();
    age();
    const older = await at.ask();
    expect(await answer(records)).toEqual(all('unchanged'));
    expect(await at.record(older, row(3, 'older'))).toBe('stale');
  });

  it('P3 is not replaced by the page before it', async () => {
    await shown();
    age();
    const [older, newer] = [await at.ask(), await at.ask()];
    expect(await at.record(newer, row(3, 'newer'))).toBe('updated');
    expect(await answer(records, { page: 1, pages: 1, stamp: older })).toEqual(all('unchanged').with(2, 'stale'));
    age();
    expect(await answer(records)).toEqual(all('unchanged').with(2, 'updated'));
  });

  it.each([
    ['one state', [0, 0, 0]],
    ['several states', [0, 2, 1]],
    ['no state', [null, null, null]],
    ['a state of some only', [0, null, 0]],
  ])('tells the states of its vendors, and since when the youngest is stored so: %s', async (_, states) => {
    const shownIn = (vis_state: number | null, index: number): string =>
      JSON.stringify({ vendorid: index + 1, vis_state });
    await answer(states.slice(0, 2).map(shownIn));
    age();
    await answer(states.map(shownIn));
    age();
    const verdicts = await verdictsOf('one', states.map(shownIn));
    expect(verdicts.map((verdict) => verdict.kind === 'unchanged' && verdict.visState)).toEqual(states);
    const heldSince = verdicts.map((verdict) => (verdict.kind === 'unchanged' ? verdict.heldSince : NaN));
    const [{ first, last } = { first: NaN, last: NaN }] = at.query<{ first: number; last: number }>(
      'SELECT min(held_since_ms) AS first, max(held_since_ms) AS last FROM vendors',
    );
    expect(last).toBeGreaterThan(first);
    expect(heldSince).toEqual([last, last, last]);
  });

  it('is not stored while one of its records is not accepted', async () => {
    await shown();
    const before = at.query('SELECT * FROM _page_digests');
    expect(await answer(records.with(2, record(3, 'too young')))).toEqual(all('unchanged').with(2, 'guarded'));
    expect(at.query('SELECT * FROM _page_digests')).toEqual(before);
  });

  it('is replaced by the next page at its position, and removed when its list ends before it', async () => {
    const [first, second] = [records.slice(0, 10), records.slice(10)];
    await answer(first, { page: 1, pages: 2 });
    await answer(second, { page: 2, pages: 2 });
    expect(at.query('SELECT page FROM _page_digests')).toEqual([{ page: 1 }, { page: 2 }]);
    await answer(records.slice(0, 9), { page: 1, pages: 1 });
    expect(at.query('SELECT page FROM _page_digests')).toEqual([{ page: 1 }]);
  });
});
