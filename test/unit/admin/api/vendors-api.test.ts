import { describe, expect, it } from 'vitest';
import type { Admin } from '../../../support/admin/admin-requests.ts';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { balance, vendor, version, type Rows } from '../../../support/mirror-file.ts';

interface Page {
  vendors: { account_id: string; vendorid: number }[];
  total: number | null;
  next: string | null;
}

async function over(
  rows: Rows,
): Promise<{ get: <T>(path: string) => Promise<T>; ask: Admin['ask']; asked: () => number }> {
  const { ask, turns } = await adminOverMirror(rows);
  return {
    ask,
    asked: turns,
    async get<T>(path: string) {
      const { status, body } = await ask(path);
      expect(status, body).toBe(200);
      return JSON.parse(body) as T;
    },
  };
}

const numbered = (count: number, told = {}): Rows => ({
  vendors: Array.from({ length: count }, (_, index) => vendor(index + 1, told)),
});
const numbers = ({ vendors }: Page): number[] => vendors.map(({ vendorid }) => vendorid);

describe('/api/vendors', () => {
  it('lists the active vendors page by page, with what is owed, and how many there are', async () => {
    const { get } = await over({
      vendors: [vendor(1), vendor(2, { vis_state: 1 }), vendor(3), vendor(4)],
      vendor_balances: [balance(1, 'outstanding', '12.50', 'USD')],
    });
    const first = await get<Page>('/api/vendors?limit=2');
    expect(first).toMatchObject({
      total: 3,
      next: '6BApk:3',
      vendors: [
        { vendorid: 1, vendor_name: 'Vendor 1', outstanding: [{ amount: '12.50', code: 'USD' }], overdue: [] },
        { vendorid: 3 },
      ],
    });
    expect(await get<Page>(`/api/vendors?limit=2&after=${String(first.next)}`)).toMatchObject({
      vendors: [{ vendorid: 4 }],
      total: 3,
      next: null,
    });
  });

  it('lists several accounts by account and number, or only the named one', async () => {
    const { get } = await over({
      vendors: [vendor(7, { account_id: 'two' }), vendor(9, { account_id: 'one' }), vendor(1, { account_id: 'two' })],
    });
    const first = await get<Page>('/api/vendors?limit=1');
    const second = await get<Page>(`/api/vendors?limit=1&after=${String(first.next)}`);
    const third = await get<Page>(`/api/vendors?limit=1&after=${String(second.next)}`);
    expect([first, second, third].flatMap(({ vendors }) => vendors)).toMatchObject([
      { account_id: 'one', vendorid: 9 },
      { account_id: 'two', vendorid: 1 },
      { account_id: 'two', vendorid: 7 },
    ]);
    expect(await get<Page>('/api/vendors?account=two')).toMatchObject({ total: 2, next: null });
  });

  it('filters by state and presence as `vendors list` does', async () => {
    const { get } = await over({
      vendors: [vendor(1), vendor(2, { vis_state: 1 }), vendor(3, { vis_state: 2 }), vendor(4, { presence: 'gone' })],
    });
    const found = async (query: string): Promise<number[]> => numbers(await get<Page>(`/api/vendors${query}`));
    expect(await found('')).toEqual([1]);
    expect(await found('?state=deleted')).toEqual([2]);
    expect(await found('?state=archived')).toEqual([3]);
    expect(await found('?state=all')).toEqual([1, 2, 3, 4]);
    expect(await found('?presence=gone')).toEqual([4]);
  });

  it('finds a part of a name whatever its case and accents, far behind others, a few rows in each turn', async () => {
    const { vendors = [] } = numbered(2_000);
    const { get, asked } = await over({ vendors: [...vendors, vendor(2_001, { vendor_name: 'Café Möller' })] });
    expect(await get<Page>('/api/vendors?search=cafe%20moll')).toMatchObject({
      vendors: [{ vendorid: 2_001 }],
      total: 1,
      next: null,
    });
    expect(asked()).toBeGreaterThan(2);
  });

  it('says how many a search matches, on each of its pages', async () => {
    const { get } = await over(numbered(2_500));
    const first = await get<Page>('/api/vendors?search=vendor%201&limit=3');
    // 1, 10 to 19, 100 to 199, 1000 to 1999.
    expect(first).toMatchObject({ total: 1_111, next: expect.any(String) as string });
    expect(await get<Page>(`/api/vendors?search=vendor%201&after=${String(first.next)}`)).toMatchObject({
      total: 1_111,
    });
    expect(await get<Page>('/api/vendors?search=vendor%201&account=other')).toMatchObject({ total: 0 });
  });

  it('says where to continue if a search has examined enough vendors for one answer', async () => {
    const { get } = await over(numbered(50_300));
    const first = await get<Page>('/api/vendors?search=Vendor%2050299');
    expect(first).toEqual({ vendors: [], total: null, next: '6BApk:50000' });
    expect(numbers(await get<Page>(`/api/vendors?search=Vendor%2050299&after=${String(first.next)}`))).toEqual([
      50_299,
    ]);
  });

  it.each([
    ['?limit=0', 'limit should be a whole number from 1 to 200.'],
    ['?limit=1000', 'limit should be a whole number from 1 to 200.'],
    ['?state=unknown', 'state should be one of active, deleted, archived, all.'],
    ['?after=7', 'after should be the next of the page before.'],
    ['?sort=name', 'Unknown parameter; known are search, account, state, presence, limit, after.'],
    ['?limit=1&limit=2', 'limit may be given once.'],
  ])('refuses %s', async (query, message) => {
    const { ask } = await over({});
    const { status, body } = await ask(`/api/vendors${query}`);
    expect([status, JSON.parse(body)]).toEqual([400, { error: 'bad_request', message }]);
  });

  it('requires the token, and has the security headers of every page', async () => {
    const { ask } = await over({});
    expect((await ask('/api/vendors')).headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect((await ask('/api/vendors', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});

describe('/api/vendors/{account}/{id}', () => {
  const rows: Rows = {
    vendors: [vendor(11, { note: 'new' }), vendor(11, { account_id: 'other' })],
    vendor_versions: [
      version(11, []),
      version(11, [], { account_id: 'other' }),
      version(11, ['phone']),
      version(11, ['note'], { source: 'delivery' }),
    ],
    deliveries: [
      {
        account_id: '6BApk',
        received_at: '2026-11-20 10:00:00.000',
        name: 'bill_vendor.update',
        object_id: 11,
        outcome: 'applied',
      },
    ],
  };

  it('returns the record, its latest deliveries and its timeline, the latest change first', async () => {
    const { get } = await over(rows);
    expect(await get('/api/vendors/6BApk/11')).toMatchObject({
      account_id: '6BApk',
      presence: 'present',
      record: { vendorid: 11, note: 'new', vis_state: 0 },
      timeline: [
        { seq: 4, kind: 'updated', changed_fields: ['note'], source: 'delivery' },
        { seq: 3, kind: 'updated', changed_fields: ['phone'] },
        { seq: 1, kind: 'created' },
      ],
      older: null,
      deliveries: [{ name: 'bill_vendor.update', outcome: 'applied' }],
    });
  });

  it('pages the timeline', async () => {
    const { get } = await over(rows);
    const first = await get<{ older: number }>('/api/vendors/6BApk/11?limit=2');
    expect(first).toMatchObject({ timeline: [{ seq: 4 }, { seq: 3 }], older: 3 });
    expect(await get(`/api/vendors/6BApk/11?limit=2&before=${first.older}`)).toMatchObject({
      timeline: [{ seq: 1 }],
      older: null,
    });
  });

  it.each(['/api/vendors/6BApk/12', '/api/vendors/nobody/11', '/api/vendors/6BApk/x'])(
    'answers 404 to %s',
    async (path) => {
      const { ask } = await over(rows);
      const { status, body } = await ask(path);
      expect([status, JSON.parse(body)]).toEqual([
        404,
        { error: 'unknown_vendor', message: 'The mirror holds no such vendor.' },
      ]);
    },
  );
});
