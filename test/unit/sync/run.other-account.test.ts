/** Runs of an account whose requests are answered with the vendors of another. */
import { describe, expect, it } from 'vitest';
import { whatIsNotEqual } from '../../../src/sync/compare.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Page {
  readonly response: {
    readonly result: { bill_vendors?: Record<string, unknown>[]; bill_vendor?: Record<string, unknown> };
  };
}

/** What another account holds under the numbers of this one. */
function ofOther(rows: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return rows.map((row) => ({
    ...row,
    vendor_name: `Other ${String(row['vendorid'])}`,
    created_at: '2019-01-02 03:04:05',
    updated_at: '2025-06-07 08:09:10',
  }));
}

/** An account of which these pages are of another one while `isWrong`. */
async function mixed(
  pages: readonly number[],
  bend = ofOther,
  world: readonly string[] = [],
): Promise<{ at: Testbed<'account'>; begin: (on: boolean) => void }> {
  let isWrong = false;
  const at = await testbed({
    level: 'account',
    vendors: 60,
    world: [...world],
    settings: { service: { paging: { perPage: 15, concurrency: 1 } } },
    rewrite: (text, { pathname, searchParams }) => {
      if (!isWrong || !pathname.endsWith('/bill_vendors') || !pages.includes(Number(searchParams.get('page'))))
        return text;
      const answer = JSON.parse(text) as Page;
      const { result } = answer.response;
      result.bill_vendors = bend(result.bill_vendors ?? []);
      return JSON.stringify(answer);
    },
  });
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  await at.clock.advance(3_600_000);
  return { at, begin: (on) => void (isWrong = on) };
}

/** What `verify` says, with what to do. */
async function verdictOf(at: Testbed<'account'>): Promise<string> {
  const report = await at.installation.verify(account, { signal: new AbortController().signal, trigger: 'command' });
  const error = whatIsNotEqual(report);
  return `${error?.message} ${error?.hint}`;
}

const held = (at: Testbed<'account'>): unknown[] =>
  at.query('SELECT vendorid, vendor_name, created_at, presence FROM vendors ORDER BY 1');

describe.each([[[2]], [[1]], [[1, 2, 3, 4]]])('pages %j of another account', (pages) => {
  it('L22 change nothing, and the run fails', async () => {
    const { at, begin } = await mixed(pages);
    const before = held(at);
    begin(true);
    const run = await at.pull();
    expect([run.outcome, run.error?.code]).toEqual(['failed', 'answer_unreadable']);
    expect(run.error?.message).toContain('another account');
    expect(held(at)).toEqual(before);
    begin(false);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    expect(held(at)).toEqual(before);
  });
});

it.each<[string, typeof ofOther, RegExp]>([
  ['others', ofOther, /other vendors than the mirror holds.*`vendor-mirror reconcile --accept-account`\.$/],
  [
    'the same ones, of which almost half are edited',
    (rows) => [...rows.slice(0, 8), ...ofOther(rows.slice(8))],
    /7 vendors differ\. Run `vendor-mirror reconcile`\.$/,
  ],
])('verify of a page that shows %s names the run that is not refused', async (_, bend, said) => {
  const { at, begin } = await mixed([2], bend, ['readOne=405']);
  begin(true);
  expect(await verdictOf(at)).toMatch(said);
});

describe('a read by id that is answered with the vendor of another account', () => {
  /** An account of which the vendors `isOther` names are answered, by id and in lists, with those of another account. */
  async function answeredFor(
    isOther: (vendorid: number) => boolean,
    { vendors = 60, world = [] }: { vendors?: number; world?: readonly string[] } = {},
  ): Promise<{ at: Testbed<'account'>; begin: (on: boolean) => void; read: (vendorid: number) => Promise<unknown> }> {
    let isWrong = false;
    const bend = (row: Record<string, unknown>): Record<string, unknown> =>
      isOther(Number(row['vendorid'])) ? ofOther([row])[0]! : row;
    const at = await testbed({
      level: 'account',
      vendors,
      world: [...world],
      settings: { service: { paging: { perPage: 15, concurrency: 1 }, readOne: 'get' } },
      rewrite: (text, { pathname }) => {
        if (!isWrong || !pathname.includes('/bill_vendors')) return text;
        const answer = JSON.parse(text) as Page;
        const { result } = answer.response;
        if (result.bill_vendors) result.bill_vendors = result.bill_vendors.map(bend);
        if (result.bill_vendor) result.bill_vendor = bend(result.bill_vendor);
        return JSON.stringify(answer);
      },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(3_600_000);
    const { reader, sync } = at.installation.account(account);
    const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag } as const;
    const read = (vendorid: number): Promise<unknown> =>
      reader.read(vendorid, { context, signal: new AbortController().signal });
    return { at, begin: (on) => void (isWrong = on), read };
  }
  const lastOf = (at: Testbed<'account'>): number =>
    at.query<{ vendorid: number }>('SELECT max(vendorid) AS vendorid FROM vendors')[0]!.vendorid;

  it('changes nothing, and leads to no change by a list', async () => {
    const { at, begin, read } = await answeredFor(() => true);
    const before = held(at);
    begin(true);
    expect(await read(lastOf(at))).toMatchObject({
      kind: 'refused',
      error: { code: 'answer_unreadable', message: expect.stringContaining('may be of another account') as string },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'failed', updated: 0 });
    expect(held(at)).toEqual(before);
    begin(false);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
  });

  it('is stored if it is new, and proves no list to be of this account', async () => {
    const { at, begin, read } = await answeredFor(() => true, { world: ['order=newest'] });
    const { vendorid } = at.sandbox.vendors(account).create({ vendor_name: 'New', language: 'en' });
    begin(true);
    expect(await read(Number(vendorid))).toMatchObject({ kind: 'record', verdict: { kind: 'created' } });
    const before = held(at);
    await at.clock.advance(3_600_000);
    expect(await at.pull()).toMatchObject({ outcome: 'failed', updated: 0 });
    expect(held(at)).toEqual(before);
  });

  it.each([
    ['others are shown as they are: the number was given away', 60],
    ['there are too few others to tell', 3],
  ])('is believed where %s', async (_, vendors) => {
    let given = 0;
    const { at, begin, read } = await answeredFor((vendorid) => vendorid === given, { vendors });
    given = lastOf(at);
    begin(true);
    expect(await read(given)).toMatchObject({ kind: 'record', verdict: { kind: 'updated' } });
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', given)).toEqual([
      { vendor_name: `Other ${given}` },
    ]);
  });
});

describe('a page is not called that of another account', () => {
  it.each<[string, (rows: readonly Record<string, unknown>[]) => Record<string, unknown>[]]>([
    [
      'all names',
      (rows) =>
        rows.map((row) => ({
          ...row,
          vendor_name: `${String(row['vendor_name'])} Inc.`,
          updated_at: '2031-01-01 00:00:00',
        })),
    ],
    ['the form of all times', (rows) => rows.map((row) => ({ ...row, created_at: '2019-01-02 03:04:05' }))],
  ])('L22 because %s changed', async (_, bend) => {
    const { at, begin } = await mixed([1, 2, 3, 4], bend);
    begin(true);
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete' });
    expect(run.updated).toBeGreaterThan(50);
  });

  it('L22 of which almost half of the vendors were replaced', async () => {
    const { at, begin } = await mixed([2], (rows) => [...rows.slice(0, 8), ...ofOther(rows.slice(8))]);
    begin(true);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(at.sandbox.vendors(account).all().length).toBe(60);
  });
});

describe('an account that shows none of its vendors any more', () => {
  /** An account whose vendors are all replaced by others, with other numbers. */
  async function replaced(
    options: Partial<Parameters<typeof testbed<'account'>>[0]> = {},
  ): Promise<Testbed<'account'>> {
    const at = await testbed({
      vendors: 60,
      settings: { service: { paging: { perPage: 15, concurrency: 1 } } },
      ...options,
      level: 'account',
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(3_600_000);
    const vendors = at.sandbox.vendors(account);
    for (const { vendorid } of vendors.all()) vendors.vanish(Number(vendorid));
    for (let nth = 1; nth <= 40; nth += 1) vendors.create({ vendor_name: `Other ${nth}`, language: 'en' });
    return at;
  }

  it('changes nothing, time and again, until a person says that it is the same account', async () => {
    const at = await replaced();
    const before = held(at);
    expect(await verdictOf(at)).toMatch(
      /^The service shows other vendors than the mirror holds\. .*`vendor-mirror reconcile --accept-account`\.$/,
    );
    for (const kind of ['pull', 'reconcile'] as const) {
      const run = await at.pull({ kind });
      expect([run.outcome, run.error?.code]).toEqual(['failed', 'answer_unreadable']);
      expect(run.error?.message).toContain('only vendors that are new');
      expect(run.error?.hint).toContain('`vendor-mirror reconcile --accept-account`');
      expect(held(at)).toEqual(before);
    }
    await at.pull({ kind: 'reconcile', isAccountAccepted: true, approved: 60 });
    expect(at.query('SELECT count(*) AS n FROM active_vendors')).toEqual([{ n: 40 }]);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', created: 0 });
  });

  it('is believed where known vendors are found by their numbers: its list begins with those that are new', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 60,
      world: ['order=newest'],
      settings: { service: { paging: { perPage: 15, concurrency: 1 } } },
    });
    await at.pull();
    await at.clock.advance(3_600_000);
    const vendors = at.sandbox.vendors(account);
    for (let nth = 1; nth <= 40; nth += 1) vendors.create({ vendor_name: `New ${nth}`, language: 'en' });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', created: 40 });
  });

  it.each<[string, (ids: readonly number[]) => readonly number[]]>([
    ['an active one', (ids) => [...ids.slice(0, 6), ...ids.slice(-3)]],
    ['a deleted one', (ids) => ids.slice(3)],
  ])('is believed where the newest and the oldest are gone, and %s is found that was read last', async (_, gone) => {
    const at = await testbed({
      level: 'account',
      vendors: 60,
      world: ['order=newest', 'listDeleted=hidden'],
      settings: { service: { paging: { perPage: 15, concurrency: 1 } } },
    });
    await at.pull();
    const vendors = at.sandbox.vendors(account);
    const ids = vendors.all().map(({ vendorid }) => Number(vendorid));
    for (const vendorid of ids.slice(0, 3)) vendors.delete(vendorid);
    await at.clock.advance(3_600_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(3_600_000);
    for (const vendorid of gone(ids)) vendors.vanish(vendorid);
    for (let nth = 1; nth <= 40; nth += 1) vendors.create({ vendor_name: `New ${nth}`, language: 'en' });
    expect(await at.pull({ kind: 'reconcile', approved: 60 })).toMatchObject({ outcome: 'complete', created: 40 });
  });

  it('is walked as before where the service reads no vendor by its number', async () => {
    const at = await replaced({ world: ['readOne=405'] });
    expect(await at.pull()).toMatchObject({ created: 40 });
  });
});

describe('a service that rewrites all names and the form of all times', () => {
  it('is the same account where names are alike and times are the same moments', async () => {
    const { at, begin } = await mixed([1, 2, 3, 4], (rows) =>
      rows.map((row) => ({
        ...row,
        vendor_name: ` ${String(row['vendor_name']).toUpperCase()} `,
        created_at: '2019-01-02 03:04:05',
      })),
    );
    begin(true);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  });

  it('is the same account where names are others and times are the same moments in another form', async () => {
    const { at, begin } = await mixed([1, 2, 3, 4], (rows) =>
      ofOther(rows).map((row, nth) => ({
        ...row,
        created_at: `${String(rows[nth]!['created_at']).replace(' ', 'T')}+00:00`,
      })),
    );
    begin(true);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  });

  it('is the same account where a person says so', async () => {
    const { at, begin } = await mixed([1, 2, 3, 4], (rows) =>
      ofOther(rows).map((row) => ({ ...row, updated_at: '2031-01-01 00:00:00' })),
    );
    begin(true);
    expect((await at.pull()).error?.hint).toContain('`vendor-mirror reconcile --accept-account`');
    const accepted = await at.pull({ kind: 'reconcile', isAccountAccepted: true });
    expect(accepted).toMatchObject({ outcome: 'complete' });
    expect(accepted.updated).toBeGreaterThan(50);
  });
});
