import { describe, expect, it } from 'vitest';
import { account } from '../../../support/names.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { idsOf, vendorsPath, walk, type Result } from '../../../support/testbed/service.ts';

type Wire = Readonly<Record<string, unknown>>;

const vendors = 230;

const states = ({ sandbox }: Testbed<'service'>, ...wanted: number[]): number[] =>
  sandbox
    .vendors(account)
    .all()
    .filter(({ vis_state }) => wanted.includes(Number(vis_state)))
    .map(({ vendorid }) => vendorid as number);

const page = async ({ get }: Testbed<'service'>, query: string): Promise<Result> =>
  (await get(`${vendorsPath}?${query}`)).json.response.result;

describe('pages of the vendor list', () => {
  it('show every vendor that is not deleted, once', async () => {
    const service = await testbed({ level: 'service', vendors });
    const walked = await walk(service);
    expect(walked.ids).toEqual(states(service, 0, 2));
    expect(walked.pages[0]!.total).toBe(walked.ids.length);
    expect(states(service, 1).length).toBeGreaterThan(0);
  });

  it('have 15 rows by default and at most 100', async () => {
    const service = await testbed({ level: 'service', vendors });
    expect(await page(service, '')).toMatchObject({ per_page: 15, page: 1 });
    expect(await page(service, 'per_page=1000')).toMatchObject({ per_page: 100 });
    expect(idsOf(await page(service, 'per_page=7'))).toHaveLength(7);
  });

  it('an empty list has no pages', async () => {
    expect(await page(await testbed({ level: 'service' }), '')).toMatchObject({
      bill_vendors: [],
      page: 1,
      pages: 0,
      total: 0,
    });
  });

  it.each([
    ['page=0', 1014],
    ['page=x', 1014],
    ['per_page=-5', 1013],
    ['per_page=1.5', 1013],
  ])('%s is refused', async (query, errno) => {
    const told = await (await testbed({ level: 'service', world: ['pageZero=422'] })).get(`${vendorsPath}?${query}`);
    expect([told.status, told.json.response.errors[0].errno]).toEqual([422, errno]);
  });
});

describe('worlds of paging', () => {
  it('A4 paging=ignored answers every page as the first', async () => {
    const service = await testbed({ level: 'service', world: ['paging=ignored'], vendors });
    expect(await page(service, 'page=2')).toEqual(await page(service, 'page=1'));
  });

  it('A4 paging=echoed shows the first page under the asked number', async () => {
    const service = await testbed({ level: 'service', world: ['paging=echoed'], vendors });
    const second = await page(service, 'page=2');
    expect(second.page).toBe(2);
    expect(idsOf(second)).toEqual(idsOf(await page(service, 'page=1')));
  });

  it('A5 perPage=honoured, ignored', async () => {
    expect(
      await page(await testbed({ level: 'service', world: ['perPage=honoured'], vendors }), 'per_page=200'),
    ).toMatchObject({ per_page: 200 });
    expect(
      await page(await testbed({ level: 'service', world: ['perPage=ignored'], vendors }), 'per_page=200'),
    ).toMatchObject({ per_page: 15 });
  });

  it('A6 perPage=all shows everything at once', async () => {
    const service = await testbed({ level: 'service', world: ['perPage=all'], vendors });
    const result = await page(service, 'per_page=10');
    expect(idsOf(result)).toEqual(states(service, 0, 2));
    expect(result.pages).toBe(1);
  });

  it('A7 pastEnd=empty, 404, last', async () => {
    const past = 'per_page=100&page=9';
    expect(await page(await testbed({ level: 'service', vendors }), past)).toMatchObject({ bill_vendors: [], page: 9 });
    expect(
      (await (await testbed({ level: 'service', world: ['pastEnd=404'], vendors })).get(`${vendorsPath}?${past}`))
        .status,
    ).toBe(404);
    const service = await testbed({ level: 'service', world: ['pastEnd=last'], vendors });
    const last = await page(service, past);
    expect(last.page).toBe(last.pages);
    expect(idsOf(last)).toEqual(idsOf(await page(service, `per_page=100&page=${last.pages}`)));
  });
});

describe('worlds of order', () => {
  it('id and newest', async () => {
    const service = await testbed({ level: 'service', world: ['order=newest'], vendors });
    expect((await walk(service)).ids).toEqual(states(service, 0, 2).reverse());
  });

  it('updated moves what is edited to the end, and what has only a new balance not at all', async () => {
    const service = await testbed({ level: 'service', world: ['order=updated'], vendors });
    const vendorService = service.sandbox.vendors(account);
    const before = (await walk(service)).ids;
    const times = new Map(vendorService.all().map((row) => [row['vendorid'], row['updated_at'] as string]));
    expect(before.map((id) => times.get(id))).toEqual(before.map((id) => times.get(id)).sort());
    const [first, second] = before as [number, number];
    vendorService.edit(first, { city: 'Boise' });
    vendorService.setBalance(second, 'overdue', []);
    const created = vendorService.create({ vendor_name: 'New' })['vendorid'];
    expect((await walk(service)).ids).toEqual([...before.slice(1), first, created]);
  });

  it('updated stays whole however often vendors are edited', async () => {
    const service = await testbed({ level: 'service', world: ['order=updated_newest'], vendors: 20 });
    const vendorService = service.sandbox.vendors(account);
    const [first = 0, second = 0] = states(service, 0);
    for (let round = 0; round < 300; round += 1)
      vendorService.edit(round % 2 ? first : second, { city: String(round) });
    const { ids: shown } = await walk(service);
    expect(shown.slice(0, 2)).toEqual([first, second]);
    expect(shown.toSorted((a, b) => a - b)).toEqual(states(service, 0, 2));
  });

  it('A3 shuffled is another order each time, of the same rows', async () => {
    const service = await testbed({ level: 'service', world: ['order=shuffled', 'perPage=all'], vendors });
    const [one, two] = [idsOf(await page(service, '')), idsOf(await page(service, ''))];
    expect(one).not.toEqual(two);
    expect(one.toSorted((a, b) => a - b)).toEqual(two.toSorted((a, b) => a - b));
  });
});

describe('worlds of what a list shows', () => {
  it('listDeleted=shown', async () => {
    const service = await testbed({ level: 'service', world: ['listDeleted=shown'], vendors });
    expect((await walk(service)).ids).toEqual(states(service, 0, 1, 2));
  });

  it('visStateFilter=honoured, ignored; unknown filters are always ignored', async () => {
    const service = await testbed({ level: 'service', vendors });
    for (const state of [0, 1, 2])
      expect((await walk(service, `per_page=100&search[vis_state]=${state}`)).ids).toEqual(states(service, state));
    expect((await walk(service, 'per_page=100&search[updated_since]=2026-01-01')).ids).toEqual(states(service, 0, 2));
    const withoutFilter = await testbed({ level: 'service', world: ['visStateFilter=ignored'], vendors });
    expect((await walk(withoutFilter, 'per_page=100&search[vis_state]=1')).ids).toEqual(states(withoutFilter, 0, 2));
  });

  it('A9 total=counts_hidden counts deleted rows and leaves holes', async () => {
    const service = await testbed({ level: 'service', world: ['total=counts_hidden'], vendors });
    const walked = await walk(service, 'per_page=10');
    expect(walked.pages[0]!.total).toBe(vendors);
    expect(walked.ids).toEqual(states(service, 0, 2));
    expect(walked.pages.some(({ bill_vendors }) => bill_vendors.length < 10)).toBe(true);
  });

  it('A9 unlistedIds are counted, never shown, and refused by id', async () => {
    const service = await testbed({ level: 'service', world: ['unlistedIds=5'], vendors });
    const walked = await walk(service);
    expect(walked.pages[0]!.total).toBe(walked.ids.length + 5);
    expect(walked.ids).toEqual(states(service, 0, 2));
    const known = (await testbed({ level: 'service', vendors })).sandbox.vendors(account).all();
    const hidden = known
      .map(({ vendorid }) => vendorid as number)
      .filter((id) => !states(service, 0, 1, 2).includes(id));
    expect(hidden).toHaveLength(5);
    const told = await service.get(`${vendorsPath}/${hidden[0]}`);
    expect([told.status, told.json.response.errors[0].errno]).toEqual([403, 1003]);
  });

  it('A17 noteInList decides whether lists carry notes', async () => {
    const withNotes = async (world: string) =>
      (await page(await testbed({ level: 'service', world: [world, 'perPage=all'], vendors }), '')).bill_vendors.filter(
        (row: object) => 'note' in row,
      );
    expect(await withNotes('noteInList=no')).toHaveLength(0);
    expect((await withNotes('noteInList=yes')).length).toBeGreaterThan(5);
  });

  it.each([
    ['blank', 'account_number', null],
    ['masked', 'account_number', '****7788'],
    ['cut', 'account_number', '556677'],
    ['constant', 'account_number', 'on file'],
    ['blank', 'outstanding_balance', []],
    ['cut', 'note', 'Pays a'],
  ])('L14 listedAs=%s: lists show %s so, and reads by id as it is', async (listedAs, listedField, expected) => {
    const world = [`listedAs=${listedAs}`, `listedField=${listedField}`, 'noteInList=yes', 'perPage=all'];
    const service = await testbed({ level: 'service', world, vendors });
    const [first = 0] = states(service, 0);
    const vendorService = service.sandbox.vendors(account);
    vendorService.edit(first, { account_number: '55667788', note: 'Pays at the end of the month' });
    vendorService.setBalance(first, 'outstanding', [{ amount: '12.00', code: 'USD' }]);
    const listed = (await page(service, '')).bill_vendors.find(({ vendorid }) => vendorid === first);
    const single = { ...(await service.get(`${vendorsPath}/${first}`)).json.response.result.bill_vendor } as Wire;
    expect(listed).toEqual({ ...single, [listedField]: expected });
    expect(single[listedField]).toEqual(vendorService.all().find((row) => row['vendorid'] === first)?.[listedField]);
    expect(single[listedField]).not.toEqual(expected);
  });

  it('L14 listedAs=some masks two vendors in three, and listedAs=older shows what was four seconds before', async () => {
    const numbers = async (listedAs: string) => {
      const service = await testbed({ level: 'service', world: [`listedAs=${listedAs}`, 'perPage=all'], vendors });
      const vendorService = service.sandbox.vendors(account);
      for (const id of states(service, 0, 2)) vendorService.edit(id, { account_number: `5566${id}` });
      await service.clock.advance(4_001);
      for (const id of states(service, 0, 2)) vendorService.edit(id, { account_number: `7788${id}` });
      return (await page(service, '')).bill_vendors.map((row) => String(row.account_number).slice(0, 4));
    };
    const some = await numbers('some');
    expect(some.filter((start: string) => start === '7788').length * 3).toBeLessThan(some.length * 1.5);
    expect(new Set(some)).toEqual(new Set(['7788', '****']));
    expect((await numbers('older')).filter((start: string) => start === '7788')).toEqual([]);
  });

  it('the truth as lists word it is what a list shows', async () => {
    const service = await testbed({ level: 'service', world: ['perPage=all', 'listDeleted=shown'], vendors });
    expect((await page(service, '')).bill_vendors).toEqual(service.sandbox.vendors(account).listed());
  });

  it('B2 listLag: a list may be behind by so many seconds, and not longer', async () => {
    const service = await testbed({ level: 'service', world: ['listLag=4', 'perPage=all'], vendors });
    const vendorService = service.sandbox.vendors(account);
    await service.clock.advance(60_000);
    const created = vendorService.create({ vendor_name: 'New' })['vendorid'] as number;
    const [deleted = 0, edited = 0] = states(service, 0);
    vendorService.delete(deleted);
    vendorService.edit(edited, { city: 'Newtown' });
    const seen = async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => page(service, '')));
      return new Set(
        answers.map((result) => {
          const row = result.bill_vendors.find(({ vendorid }) => vendorid === edited);
          return `${idsOf(result).includes(created)} ${idsOf(result).includes(deleted)} ${row?.city === 'Newtown'}`;
        }),
      );
    };
    expect(await seen()).toEqual(new Set(['true false true', 'false true false']));
    await service.clock.advance(2_000);
    expect(await seen()).toEqual(new Set(['true false true', 'false true false']));
    await service.clock.advance(2_000);
    expect(await seen()).toEqual(new Set(['true false true']));
  });

  it('rows can move between two pages', async () => {
    const service = await testbed({ level: 'service', vendors });
    const vendorService = service.sandbox.vendors(account);
    const all = states(service, 0, 2);
    let asked = 0;
    const stop = service.sandbox.onRequest(() => {
      asked += 1;
      if (asked === 2) vendorService.delete(all[0]!);
    });
    expect((await walk(service)).ids).toEqual(all.filter((id) => id !== all[100]));
    stop();
    expect((await walk(service)).ids).toEqual(all.slice(1));
    expect(asked).toBe(3);
  });
});
