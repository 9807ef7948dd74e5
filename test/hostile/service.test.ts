import { describe, expect, it } from 'vitest';
import type { VendorPage } from '../../src/domain/reading.ts';
import { walk } from '../../src/sync/sweep/walk.ts';
import { windowOf } from '../../src/sync/sweep/window-chain.ts';
import { account } from '../support/names.ts';
import { testbed, type Testbed, type TestbedOptions } from '../support/testbed.ts';

/** An answer of the service, as it may be bent. */
interface List {
  response: {
    result: { bill_vendors: Record<string, unknown>[]; page: number; pages: number; per_page: number; total: number };
  };
}

/** A bench whose lists of vendors are bent; everything else comes as it was. */
function bentLists(
  bend: (list: List['response']['result'], asked: number) => unknown,
  options: TestbedOptions<'account'> = {},
): Promise<Testbed<'account'>> {
  return testbed({
    level: 'account',
    ...options,
    rewrite(text, url) {
      const answer = JSON.parse(text) as Partial<List>;
      const result = answer.response?.result;
      if (!result || !Array.isArray(result.bill_vendors)) return text;
      return JSON.stringify(bend(result, Number(url.searchParams.get('page') ?? 1)) ?? answer);
    },
  });
}

const held = (at: Testbed<'account'>) => at.query<{ count: number }>('SELECT count(*) AS count FROM vendors')[0]!.count;

const stamp = (readSeq: number) => ({ stamp: { readSeq, begun: 0 }, servedAt: undefined });

/** A rough bound: what honest lists of this size never need. */
const tooMany = 5_000;

describe('P8 a service whose list never ends', () => {
  it('with a list that grows by a page with every page: each pass ends, and so does the run', async () => {
    const at = await bentLists(
      (list, page) => {
        for (const row of list.bill_vendors) row['vendorid'] = page * 1_000 + (Number(row['vendorid']) % 1_000);
        Object.assign(list, { page, pages: page + 1, total: (page + 1) * 40 });
        if (page > tooMany) throw new Error('It never ends.');
      },
      { world: ['pastEnd=last'] },
    );
    const run = await at.pull();
    expect([run.outcome, run.error?.code]).toEqual(['incomplete', 'sweep_incomplete']);
    expect(run.requests).toBeLessThan(tooMany);
  });

  it('L20 with a thousand million empty pages: the walk ends after a hundred', async () => {
    let asked = 0;
    const nothing = { rows: [], pages: 1e9, perPage: 15, total: 1e11 };
    const fetch = (page: number): VendorPage => ({ ...nothing, page, ...stamp(++asked) });
    const { pass } = await walk({
      concurrency: 4,
      first: fetch(1),
      fetch: (page) => Promise.resolve(fetch(page)),
      fullPage: () => 0,
      countsLists: false,
      miscounted: false,
      mayBeginTwice: false,
      apply: (page, number) => Promise.resolve({ window: windowOf(page, { page: number, size: 15 }), entered: false }),
    });
    expect([asked < 120, pass?.ids.size]).toEqual([true, 0]);
  });

  it('L2 with pages of which most are empty: a hundred are requested twice, a hundred of each state once, and the shortfall is named', async () => {
    const at = await bentLists((list, page) => {
      Object.assign(list, { page, pages: 300, total: 1e11 }, page > 1 && { bill_vendors: [] });
    });
    const run = await at.pull();
    expect([run.outcome, run.error?.code, run.requests < 450]).toEqual(['incomplete', 'too_many_unreadable', true]);
    expect(run.notes.join()).toContain('more vendors than it shows');
  });

  it.each([-1, 1.5, 1e300, '1e9', 'many', null, true, [3], { pages: 3 }])('with %j pages', async (pages) => {
    const at = await bentLists((list) => void Object.assign(list, { pages }));
    const run = await at.pull();
    expect(['failed', 'incomplete', 'complete']).toContain(run.outcome);
    expect(run.requests).toBeLessThan(500);
    if (run.outcome !== 'complete') expect([1, 69]).toContain(run.error?.exit);
  });
});

describe('A26 a service whose records are too large', () => {
  it.each([
    [
      '64 levels deep',
      (row: Record<string, unknown>) => (row['note'] = JSON.parse('['.repeat(64) + ']'.repeat(64)) as unknown),
    ],
    ['a text of nine megabytes', (row: Record<string, unknown>) => (row['note'] = 'x'.repeat(9 * 2 ** 20))],
  ])('with a record that is %s: the page fails, the mirror stays', async (_, bend) => {
    let hostile = false;
    const at = await bentLists((list) => {
      if (hostile) bend(list.bill_vendors[0]!);
    });
    expect((await at.pull()).outcome).toBe('complete');
    const before = held(at);
    hostile = true;
    const run = await at.pull();
    expect([run.outcome, run.error?.exit]).toEqual(['failed', 69]);
    expect([held(at), before]).toEqual([before, before]);
  });

  it('with 100,000 keys in a record: it is accepted or refused, and the next pull works as before', async () => {
    let hostile = true;
    const at = await bentLists((list) => {
      if (!hostile) return;
      for (let key = 0; key < 100_000; key++) list.bill_vendors[0]![`key_${key}`] = key;
    });
    await at.pull();
    hostile = false;
    expect((await at.pull()).outcome).toBe('complete');
  });
});

describe('L14 a service whose lists show fields otherwise than its reads by id', () => {
  let answers = 0;
  it.each<[string, (row: Record<string, unknown>) => object]>([
    ['masked anew in each answer', () => ({ account_number: `****${(answers += 1)}` })],
    ['true in every second answer', ({ vendorid }) => (Number(vendorid) % 2 === answers % 2 ? { phone: null } : {})],
    ['of another vendor', ({ vendorid }) => ({ account_number: `AN${Number(vendorid) - 1}` })],
    ['of another type', () => ({ phone: { number: 7 }, tax_defaults: 'on request' })],
    ['that every vendor has', () => ({ website: 'https://example.com', outstanding_balance: [] })],
  ])('with values %s: the mirror shows those of the reads by id, and verify agrees', async (_, lie) => {
    const at = await bentLists(
      (list) => {
        answers += 1;
        for (const row of list.bill_vendors) Object.assign(row, lie(row));
      },
      { vendors: 60, world: ['noteInList=yes'], settings: { service: { paging: { perPage: 100 } } } },
    );
    const vendors = at.sandbox.vendors(account);
    for (const { vendorid } of vendors.all()) {
      vendors.edit(Number(vendorid), { account_number: `AN${Number(vendorid)}`, phone: `555 ${Number(vendorid)}` });
      vendors.setBalance(Number(vendorid), 'outstanding', [{ amount: `${Number(vendorid)}.50`, code: 'EUR' }]);
    }
    const told = ['account_number', 'phone', 'website', 'tax_defaults', 'outstanding_balance'];
    const wrong = (): number[] =>
      vendors.all().flatMap((wire) => {
        const [stored] = at.query<{ raw: string }>('SELECT raw FROM vendors WHERE vendorid = ?', wire['vendorid']);
        const held = JSON.parse(stored?.raw ?? '{}') as Record<string, unknown>;
        const isTrue = told.every((field) => JSON.stringify(held[field]) === JSON.stringify(wire[field]));
        return isTrue || wire['vis_state'] === 1 ? [] : [Number(wire['vendorid'])];
      });
    for (let runs = 0; runs < 8; runs += 1) {
      expect((await at.pull()).outcome).toBe('complete');
      if (runs > 1) expect([runs, wrong()]).toEqual([runs, []]);
      await at.clock.advance(3_600_000);
    }
    const verified = { trigger: 'command', signal: new AbortController().signal, isFull: true } as const;
    expect(await at.installation.verify(account, verified)).toMatchObject({ outcome: 'equal' });
  });
});

describe('A29 a service whose keys are names such as __proto__', () => {
  it('changes no object, and finds its keys in raw', async () => {
    const at = await testbed({
      level: 'account',
      rewrite: (text) =>
        text.replace(
          /"vendor_name":/,
          '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","vendor_name":',
        ),
    });
    expect((await at.pull()).outcome).toBe('complete');
    expect((await at.pull()).outcome).toBe('complete');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const [row] = at.query<{ raw: string }>(`SELECT raw FROM vendors WHERE raw LIKE '%polluted%'`);
    expect(row?.raw).toContain('"__proto__"');
  });
});
