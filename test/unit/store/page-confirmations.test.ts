/** Pages that show vendors as they are stored. */
import { SqliteConnection } from '../../../src/store/sqlite/connection.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { readVendorPage } from '../../../src/api/wire/vendor-pages.ts';
import type { ReadStamp } from '../../../src/domain/reading.ts';
import type { Verdict } from '../../../src/store/acceptance.ts';
import { PageConfirmations } from '../../../src/store/page-confirmations.ts';
import { noCounts } from '../../../src/store/runs.ts';
import { ForgottenVendors, VendorRows } from '../../../src/store/vendors.ts';
import { newPath, openDatabase } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { lag, row } from '../../support/testbed/store.ts';

let at: Testbed<'store'>;

beforeEach(async () => {
  at = await testbed({ level: 'store' });
});

/** Applies a page as the service sends it, the only one of its list; tells what became of each record. */
async function verdictsOf(accountId: string, records: readonly string[], stamp?: ReadStamp): Promise<Verdict[]> {
  const { readings, runs } = at.mirror;
  const run = await runs.beginRun({ accountId, kind: 'pull', trigger: 'command' });
  const context = { accountId, source: 'pull', runId: run.id, deliveryId: null, lag, run } as const;
  const paging = `"page":1,"pages":1,"per_page":100,"total":${records.length}`;
  const bytes = Buffer.from(`{"response":{"result":{"bill_vendors":[${records.join()}],${paging}}}}`);
  const read = readVendorPage({ bytes, stamp: stamp ?? (await at.ask()), servedAt: undefined }, 1);
  const [verdicts] = await readings.applyPages(
    [read],
    { ...context, changeClassifier: undefined, readsById: false },
    () => noCounts,
  );
  return read.rows.map(({ vendorid }) => verdicts!.get(vendorid)!);
}

async function answerOf(...asked: Parameters<typeof verdictsOf>): Promise<Verdict['kind'][]> {
  return (await verdictsOf(...asked)).map(({ kind }) => kind);
}

const answer = (records: readonly string[], stamp?: ReadStamp) => answerOf('one', records, stamp);

const record = (vendorid: number, name = `vendor ${vendorid}`): string =>
  JSON.stringify({ vendorid, vendor_name: name, updated_at: '2026-11-20 12:00:00', vis_state: 0 });
const records = Array.from({ length: 25 }, (_, index) => record(index + 1));
const all = (kind: string): string[] => records.map(() => kind);

function age(): void {
  at.clocks.running += lag;
  at.clocks.wall += lag;
}

/** The page was shown, and all of its vendors are stored. */
async function shown(): Promise<void> {
  expect(await answer(records)).toEqual(all('created'));
}

describe('a page that is read again', () => {
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
    await at.suspect(await at.ask(), 3);
    await answer(records);
    expect(at.query('SELECT presence FROM vendors WHERE vendorid = 3')).toEqual([{ presence: 'present' }]);
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
});

describe('a page that shows nothing new', () => {
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
    expect(await answer(records, older)).toEqual(all('unchanged').with(2, 'stale'));
    age();
    expect(await answer(records)).toEqual(all('unchanged').with(2, 'updated'));
  });
});

it('K24 what pages confirmed is removed once there are 10,000 later readings, for many readings at a time', async () => {
  const { sqlite } = await openDatabase(newPath());
  const confirmations = new PageConfirmations(
    new SqliteConnection(sqlite),
    new VendorRows(new SqliteConnection(sqlite)),
    new ForgottenVendors(new SqliteConnection(sqlite)),
  );
  const kept = (): unknown[] => sqlite.prepare('SELECT read_seq FROM _page_confirmations').pluck().all();
  for (const readSeq of [1, 400, 10_400, 11_399]) confirmations.add('one', readSeq, [7]);
  expect(kept()).toEqual([400, 10_400, 11_399]);
  expect(await confirmations.hasLater({ account_id: 'one', vendorid: 7 }, 10_400)).toBe(true);
  confirmations.add('one', 11_400, [8]);
  expect(kept()).toEqual([10_400, 11_399, 11_400]);
});
