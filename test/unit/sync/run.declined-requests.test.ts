/** Services that decline what a run need not have: filters, page sizes, gateways. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';

const statuses = ['400', '403', '404', '405', '410', '422', '500', '501', 'html'] as const;
const day = 86_400_000;
const signal = new AbortController().signal;

/** An account whose every request is recorded, as its query. */
async function openAt(world: readonly string[], onRequest?: (at: Pick<Testbed<'account'>, 'sandbox'>) => void) {
  const queries: URLSearchParams[] = [];
  const at = await testbed({
    level: 'account',
    vendors: 40,
    world,
    settings: { service: { paging: { perPage: 10 } }, sync: { sweepPasses: 24 } },
    ...(onRequest && { onRequest }),
  });
  at.sandbox.onRequest(({ query, path }) => path.endsWith('/bill_vendors') && queries.push(query));
  return { at, queries };
}

const found = (at: Testbed<'account'>): unknown[] =>
  at
    .query<{ fields: string }>("SELECT fields FROM findings WHERE kind = 'not_honoured' ORDER BY id")
    .map(({ fields }) => (JSON.parse(fields) as { request: string }).request);

const stored = (at: Testbed<'account'>): number => at.query("SELECT 1 FROM vendors WHERE presence = 'present'").length;

describe('L16 the moment up to which the mirror holds everything', () => {
  const claimed = (at: Testbed<'account'>): unknown =>
    at.query('SELECT listed_as_of IS NOT NULL AS listed, safe_as_of IS NOT NULL AS safe FROM freshness')[0];

  it('is not told while the filter by state was declined once, which may be an accident', async () => {
    const { at } = await openAt(['refuses=state', 'listArchived=hidden']);
    await at.pull();
    expect(claimed(at)).toEqual({ listed: 1, safe: 0 });
    await at.clock.pass(day / 24);
    await at.pull();
    expect(claimed(at)).toEqual({ listed: 1, safe: 1 });
  });

  it('is not told before the filter has been declined for an hour: accidents happen in succession', async () => {
    const { at } = await openAt(['refuses=state', 'listArchived=hidden']);
    for (const minutes of [0, 1, 58]) {
      await at.clock.pass(minutes * 60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(claimed(at)).toEqual({ listed: 1, safe: 0 });
    }
    await at.clock.pass(60_000);
    await at.pull();
    expect(claimed(at)).toEqual({ listed: 1, safe: 1 });
  });

  it('is not told while a list is declined that was once seen to begin with vendors that no other list shows', async () => {
    let isShown = false;
    const { at } = await openAt(['listArchived=hidden']);
    const [archived] = at.sandbox.vendors(account).all();
    at.sandbox.vendors(account).archive(Number(archived!['vendorid']));
    at.sandbox.onRequest((request) => {
      const state = request.query.get('search[vis_state]');
      if (state !== null && isShown) at.sandbox.faults.next({ kind: '403', match: (one) => one === request });
      isShown ||= state === '2';
    });
    for (const days of [0, 1, 1]) {
      await at.clock.pass(days * day);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(claimed(at)).toEqual({ listed: 1, safe: 0 });
    }
  });

  it('stays where it was when the filter is declined for the first time', async () => {
    const { at } = await openAt(['listArchived=hidden']);
    await at.pull();
    const moment = (): unknown => at.query('SELECT safe_as_of FROM freshness')[0];
    const before = moment();
    at.sandbox.onRequest((request) => {
      if (request.query.has('search[vis_state]'))
        at.sandbox.faults.next({ kind: '403', match: (one) => one === request });
    });
    await at.clock.pass(day);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(moment()).toEqual(before);
  });
});

describe.each(statuses)('L4 a service that answers %s', (status) => {
  it('to the filter by state: runs are complete, one finding, and it is tried again within the day', async () => {
    const { at, queries } = await openAt(['refuses=state', `refusal=${status}`]);
    const [first] = at.sandbox.vendors(account).all();
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete', proof: 'plain' });
    expect(run.notes.join()).toContain('does not honour search[vis_state]');
    expect(found(at)).toEqual(['search[vis_state]']);
    const filtered = (): number => queries.filter((query) => query.has('search[vis_state]')).length;
    // One answer may be an accident, and so may those of the first hour.
    const once = filtered();
    await at.clock.pass(day / 24);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', notes: [] });
    expect(filtered()).toBeGreaterThan(once);
    const before = filtered();
    at.sandbox.vendors(account).delete(Number(first!['vendorid']));
    await at.clock.pass(day / 48);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', notes: [] });
    expect(filtered()).toBe(before);
    expect(at.query('SELECT vis_state FROM vendors WHERE vendorid = ?', first!['vendorid'])).toEqual([
      { vis_state: 1 },
    ]);
    await at.clock.pass(day);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(filtered()).toBeGreaterThan(before);
    expect(found(at)).toEqual(['search[vis_state]']);
  });

  it.each([
    ['pages count from 1', []],
    ['pages count from 0', ['paging=zero']],
    ['the number of an error repeats its status', ['errorForm=events']],
  ])('to every page size: lists are read as the service sends them, where %s', async (_, world) => {
    const { at, queries } = await openAt(['refuses=per_page', `refusal=${status}`, ...world]);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 40 });
    expect(found(at)).toEqual(['per_page']);
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ seen: 2 });
    queries.length = 0;
    // A process that knows where pages count from, and has asked for none yet.
    await at.reopen();
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(queries.filter((query) => query.has('per_page'))).toEqual([]);
    await at.clock.pass(day);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(queries.filter((query) => query.has('per_page')).length).toBeGreaterThan(0);
  });

  it('to the sizes of windows: a list that moves is read again until it is proven complete', async () => {
    let moves = 0;
    const { at } = await openAt(['refuses=sizes', `refusal=${status}`, 'order=id'], ({ sandbox }) => {
      if (moves === 0) return;
      moves -= 1;
      const vendorService = sandbox.vendors(account);
      const [vendor] = vendorService.all().filter((wire) => wire['vis_state'] === 0);
      if (moves % 3 === 0) vendorService.create({ vendor_name: `New ${moves}`, language: 'en', currency_code: 'EUR' });
      else if (moves % 3 === 1) vendorService.delete(Number(vendor!['vendorid']));
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    for (let runs = 0; runs < 4; runs += 1) {
      moves = 12;
      await at.clock.pass(60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', proof: 'passes' });
    }
    expect(found(at)).toEqual(['window_size']);
    expect(stored(at)).toBe(at.sandbox.vendors(account).all().length);
  });

  it('to gateways: nothing fails, and they are not asked for again for a day', async () => {
    const { at } = await openAt(['refuses=gateways', `refusal=${status}`]);
    await at.pull();
    let asked = 0;
    at.sandbox.onRequest(({ path }) => (asked += path.endsWith('/gateways') ? 1 : 0));
    const first = await at.installation.pullGateways(account, { signal });
    expect([first.error, first.declined?.message]).toEqual([undefined, expect.any(String)]);
    const before = asked;
    expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ declined: null });
    expect(asked).toBe(before);
    expect((await at.pull()).notes.join()).toContain('does not honour gateways');
    expect(found(at)).toEqual(['gateways']);
    await at.clock.pass(day);
    await at.installation.pullGateways(account, { signal });
    expect(asked).toBeGreaterThan(before);
  });

  it('to all of them: the mirror is complete', async () => {
    const { at } = await openAt(['refuses=all', `refusal=${status}`]);
    expect(await at.pull({ kind: 'reconcile' })).toMatchObject({ outcome: 'complete', seen: 40 });
    expect(await at.pull({ kind: 'reconcile' })).toMatchObject({ outcome: 'complete', seen: 40 });
    expect(found(at)).toEqual(['per_page', 'search[vis_state]']);
  });
});

describe('L4 what is not honoured', () => {
  it('is forgotten when it is honoured again', async () => {
    let refuses = true;
    const at = await testbed({
      level: 'account',
      vendors: 10,
      answer: (url) => (refuses && url.search.includes('vis_state') ? new Response(null, { status: 422 }) : undefined),
    });
    await at.pull();
    expect(at.query('SELECT request, failures, code FROM _not_honoured')).toEqual([
      { request: 'search[vis_state]', failures: 1, code: 'rejected' },
    ]);
    await at.clock.pass(day);
    await at.pull();
    expect(at.query('SELECT failures FROM _not_honoured')).toEqual([{ failures: 2 }]);
    refuses = false;
    await at.clock.pass(day);
    await at.pull();
    expect(at.query('SELECT * FROM _not_honoured')).toEqual([]);
    // Refused once more, it is a finding once more.
    refuses = true;
    await at.pull();
    expect(found(at)).toHaveLength(2);
  });

  it('is tried again with each run in the first hour, then after as long as it was declined, at most a day', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 10,
      answer: (url) => (url.search.includes('vis_state') ? new Response(null, { status: 422 }) : undefined),
    });
    const failures = (): unknown => at.query<{ failures: number }>('SELECT failures FROM _not_honoured')[0]?.failures;
    for (const [wait, expected] of [
      [0, 1],
      [0, 2],
      [3_500_000, 3],
      [100_000, 4],
      [3_500_000, 4],
      [100_000, 5],
      [7_100_000, 5],
      [100_000, 6],
      [2 * day, 7],
      [day - 100_000, 7],
      [100_000, 8],
    ] as const) {
      await at.clock.pass(wait);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(failures()).toBe(expected);
    }
  });

  itInFiles?.('is found with the end of a run, or not at all', async () => {
    const { at } = await openAt(['refuses=state']);
    const other = otherConnection(at.database);
    onTestFinished(() => void other.close());
    other.exec(`CREATE TRIGGER no_end BEFORE UPDATE OF outcome ON runs WHEN NEW.outcome = 'complete'
      BEGIN SELECT RAISE(ABORT, 'It cannot be stored.'); END`);
    await expect(at.pull()).rejects.toThrow('It cannot be stored.');
    expect(found(at)).toEqual([]);
    other.exec('DROP TRIGGER no_end');
    expect((await at.pull()).notes.join()).toContain('does not honour search[vis_state]');
    expect(found(at)).toEqual(['search[vis_state]']);
  });

  it('is not believed of a service that is down, or that refuses the token or the account', async () => {
    for (const status of [401, 403, 503]) {
      const body = status === 403 ? { response: { errors: [{ errno: 1003, message: 'No.' }] } } : {};
      const at = await testbed({
        level: 'account',
        vendors: 10,
        answer: (url) => (url.pathname.includes('bill_vendors') ? Response.json(body, { status }) : undefined),
      });
      expect((await at.pull()).outcome).toBe('failed');
      expect(at.query('SELECT * FROM _not_honoured')).toEqual([]);
    }
  });

  it('a page size that is declined once is a failure of the moment', async () => {
    let declined = 0;
    const queries: URLSearchParams[] = [];
    const at = await testbed({
      level: 'account',
      vendors: 10,
      answer: (url) => {
        if (url.pathname.includes('bill_vendors')) queries.push(url.searchParams);
        return queries.length === 1 && declined++ === 0 ? Response.json({}, { status: 422 }) : undefined;
      },
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 10 });
    const sizes = queries.filter((query) => query.get('page') === '1').map((query) => query.has('per_page'));
    expect(sizes.slice(0, 3)).toEqual([true, false, true]);
    expect(at.query('SELECT * FROM _not_honoured')).toEqual([]);
  });

  it('a list that is declined with and without a size fails by its own error', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 10,
      answer: (url) =>
        url.pathname.includes('bill_vendors')
          ? Response.json({}, { status: url.searchParams.has('per_page') ? 422 : 500 })
          : undefined,
    });
    expect(await at.pull()).toMatchObject({ outcome: 'failed', error: { code: 'rejected' } });
    expect(at.query('SELECT * FROM _not_honoured')).toEqual([]);
  });
});

it('L41 gateways that the settings do without are not asked for', async () => {
  const at = await testbed({ level: 'account', settings: { service: { gateways: 'never' } } });
  const paths: string[] = [];
  at.sandbox.onRequest(({ path }) => paths.push(path));
  expect(await at.installation.pullGateways(account, { signal })).toMatchObject({ declined: null });
  expect(paths).toEqual([]);
});
