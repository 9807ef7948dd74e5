/** What proves an absence (L8 to L12): which list or read could have shown the vendor, and when it was asked. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount, shortPages } from '../../support/testbed/pulled-account.ts';
import { row } from '../../support/testbed/store.ts';

type Presences = Readonly<Record<string, number>>;

/** How many vendors there are of each presence. */
function presences(at: Testbed<'account'>): Presences {
  const rows = at.query<{ presence: string; n: number }>('SELECT presence, count(*) AS n FROM vendors GROUP BY 1');
  return Object.fromEntries(rows.map(({ presence, n }) => [presence, n]));
}

async function later(at: Testbed<'account'>, ms = 60_000): Promise<void> {
  await at.clock.advance(ms);
}

describe('L9 a list of one state that is refused for a while', () => {
  it.each([
    [
      1,
      'an error in HTTP 200',
      () => ({ status: 200, body: '{"response":{"errors":[{"errno":1003,"message":"No."}]}}' }),
    ],
    [5, 'a 422', () => ({ status: 422, body: '{"response":{"errors":[{"errno":1004,"message":"No."}]}}' })],
    [2, 'a page of a proxy', () => ({ status: 501, body: '<html></html>' })],
  ] as const)('is no proof without reads by id: of %i archived vendors, after %s', async (many, _, refusal) => {
    let isRefused = false;
    const at = await pulledAccount({
      world: ['readOne=405', 'listArchived=hidden', 'listDeleted=hidden'],
      vendors: 60,
      answer: (url) => {
        if (!isRefused || !url.searchParams.has('search[vis_state]')) return undefined;
        const { status, body } = refusal();
        const type = body.startsWith('<') ? 'text/html' : 'application/json';
        return new Response(body, { status, headers: { 'content-type': type } });
      },
    });
    const vendorService = at.sandbox.vendors(account);
    const [first, ...others] = activeIds(at, many + 1);
    vendorService.archive(first!);
    await at.pull();
    await later(at);
    isRefused = true;
    // From now on only the lists of single states show them.
    for (const vendorid of others) vendorService.archive(vendorid);
    for (let nth = 0; nth < 4; nth += 1) {
      await later(at);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
      expect(presences(at)['missing']).toBeUndefined();
    }
    expect(at.query('SELECT safe_as_of FROM freshness')).not.toEqual([{ safe_as_of: null }]);
    isRefused = false;
    await later(at, 86_400_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(
      at.query('SELECT 1 FROM vendors WHERE vis_state = 2 AND presence = ?', 'present').length,
    ).toBeGreaterThanOrEqual(many + 1);
  });
});

describe('L8 a service whose lists hide a state', () => {
  const hidden = ['visStateFilter=ignored'];

  it.each([
    ['archived', 'listArchived=hidden', 'archive'],
    ['deleted', 'listDeleted=hidden', 'delete'],
  ] as const)('keeps %s vendors, however many, and finds their changes', async (_, world, move) => {
    const at = await pulledAccount({ world: [...hidden, world], vendors: 60 });
    const vendorService = at.sandbox.vendors(account);
    const moved = activeIds(at, 25);
    const known = presences(at)['present'];
    for (const vendorid of moved) vendorService[move](vendorid);
    // As many are unlisted as no breaker allows, and every one is found by its id.
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 25 });
    for (let nth = 0; nth < 3; nth += 1) {
      await later(at);
      vendorService.edit(moved[nth]!, { city: `Elsewhere ${nth}` });
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0, updated: 1 });
    }
    expect(presences(at)).toEqual({ present: known });
    expect(at.query('SELECT * FROM _shown_states')).toEqual([]);
  });

  it('keeps vendors that lists show only for a while after they were deleted', async () => {
    const at = await pulledAccount({ world: [...hidden, 'listDeleted=recent'], vendors: 60 });
    const vendorService = at.sandbox.vendors(account);
    const old = activeIds(at, 12);
    const known = presences(at)['present'];
    for (const vendorid of old.slice(0, 6)) vendorService.delete(vendorid);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(at.query('SELECT vis_state, shown_by FROM _shown_states')).toContainEqual({
      vis_state: 1,
      shown_by: 'list',
    });
    await later(at, 500_000);
    for (const vendorid of old.slice(6)) vendorService.delete(vendorid);
    await at.pull();
    await later(at, 200_000);
    // The first six are shown no more, and reads find them: so what lists do not show of this state says nothing.
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 6 });
    expect(at.query('SELECT vis_state FROM _shown_states WHERE vis_state = 1')).toEqual([]);
    for (let nth = 0; nth < 2; nth += 1) {
      await later(at, 250_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    }
    expect(presences(at)).toEqual({ present: known });
  });

  it('without reads by id, calls none of them missing, and does not claim that they are as they were', async () => {
    const at = await pulledAccount({ world: [...hidden, 'listDeleted=hidden'], vendors: 30 });
    const vendorService = at.sandbox.vendors(account);
    const deleted = activeIds(at, 4);
    for (const vendorid of deleted) vendorService.delete(vendorid);
    await at.pull();
    const [{ safe }] = at.query<{ safe: string }>('SELECT safe_as_of AS safe FROM freshness') as [{ safe: string }];
    await at.reopen({ service: { ...at.settings.service, readOne: 'sweep' } });
    for (let nth = 0; nth < 3; nth += 1) {
      await later(at, 600_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    }
    expect(presences(at)).toEqual({ present: 30 });
    const [now] = at.query<{ safe: string }>('SELECT safe_as_of AS safe FROM freshness');
    expect(Date.parse(now!.safe) - Date.parse(safe)).toBeLessThan(600_000);
  });
});

describe('L9 no second proof is', () => {
  const noReads = ['readOne=405'];

  it('a sweep that could not have shown the vendor: of a state that only its own list shows', async () => {
    const at = await pulledAccount({ world: [...noReads, 'listArchived=hidden'], vendors: 40 });
    const vendorService = at.sandbox.vendors(account);
    const archived = activeIds(at, 8);
    for (const vendorid of archived) vendorService.archive(vendorid);
    await at.pull();
    await later(at);
    await at.pull();
    const shownBy = at.query('SELECT shown_by FROM _shown_states WHERE vis_state = 2');
    expect(shownBy).toEqual([{ shown_by: 'filter' }]);
    // From now on, the list of archived vendors lacks one for a while: a second look at the default list cannot show it.
    let lists = 0;
    at.sandbox.onRequest(({ query }) => {
      if (query.get('search[vis_state]') !== '2') return;
      lists += 1;
      if (lists === 1) vendorService.withhold(archived[0]!);
      if (lists === 3) vendorService.release(archived[0]!);
    });
    await later(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(presences(at)['missing'] ?? 0).toBe(0);
  });

  it.each([
    ['archived', '2', 'listArchived=hidden', 'archive', 8, 1],
    ['archived', '2', 'listArchived=hidden', 'archive', 8, 2],
    ['deleted', '1', 'listDeleted=hidden', 'delete', 15, 1],
    ['deleted', '1', 'listDeleted=hidden', 'delete', 15, 2],
  ] as const)('an empty answer of the list of %s vendors (%#)', async (_, state, world, move, count, every) => {
    const at = await pulledAccount({ world: [...noReads, world], vendors: 60 });
    const moved = activeIds(at, count);
    for (const vendorid of moved) at.sandbox.vendors(account)[move](vendorid);
    await at.pull();
    await later(at);
    await at.pull();
    let isEmpty = true;
    let asked = 0;
    at.sandbox.onRequest(({ query }) => {
      if (!isEmpty || query.get('search[vis_state]') !== state) return;
      asked += 1;
      // Each answer; or only the one after that from which the filter is seen to be honoured.
      if (asked % every === 0) at.sandbox.faults.next({ kind: 'empty_list' });
    });
    for (let nth = 0; nth < 2; nth += 1) {
      await later(at);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    }
    isEmpty = false;
    await later(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect(presences(at)).toEqual({ present: 60 });
  });

  it.each([
    ['archived', '2', 'archive'],
    ['deleted', '1', 'delete'],
  ] as const)('one empty answer of the list of %s vendors, where none was ever shown by it', async (_, state, move) => {
    const world = [...noReads, 'listArchived=hidden', 'listDeleted=hidden'];
    const at = await testbed({ level: 'account', vendors: 40, world });
    const vendorService = at.sandbox.vendors(account);
    for (const { vis_state, vendorid } of vendorService.all())
      if (vis_state !== 0) vendorService.vanish(Number(vendorid));
    await at.pull();
    await later(at);
    const [vendorid] = activeIds(at, 1);
    vendorService[move](vendorid!);
    let answers = 0;
    at.sandbox.onRequest(({ query }) => {
      if (query.get('search[vis_state]') !== state) return;
      answers += 1;
      if (answers === 1) at.sandbox.faults.next({ kind: 'empty_list' });
    });
    await later(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(presences(at)['missing'] ?? 0).toBe(0);
  });

  it('a list that nobody wants: no list of a state is asked for', async () => {
    const at = await pulledAccount({
      world: noReads,
      vendors: 40,
      settings: { service: { paging: shortPages, extraWalks: 'never' } },
    });
    const filtered: string[] = [];
    at.sandbox.onRequest(({ query }) => {
      if (query.has('search[vis_state]')) filtered.push(query.get('search[vis_state]')!);
    });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(presences(at)).toMatchObject({ missing: 1 });
    expect(filtered).toEqual([]);
  });

  it.each([1, 2])('a list that shows %i deleted vendors: they do not teach that it shows all', async (shown) => {
    const at = await pulledAccount({
      world: ['visStateFilter=ignored', 'listDeleted=recent', 'readOne=yes'],
      vendors: 40,
    });
    const vendorService = at.sandbox.vendors(account);
    const deleted = activeIds(at, 5 + shown);
    for (const vendorid of deleted.slice(0, 5)) vendorService.delete(vendorid);
    await at.clock.advance(700_000);
    await at.pull();
    for (const vendorid of deleted.slice(5)) vendorService.delete(vendorid);
    await later(at);
    await at.reopen({ service: { ...at.settings.service, readOne: 'sweep' } });
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
      await later(at);
    }
    expect(presences(at)).toEqual({ present: 40 });
  });

  it('a single 404 for what lists hide anyway: it takes another one, sync.lag later', async () => {
    const at = await pulledAccount({ world: ['visStateFilter=ignored', 'readUnlisted=404'], vendors: 40 });
    const known = presences(at)['present'];
    const deleted = activeIds(at, 3);
    for (const vendorid of deleted) at.sandbox.vendors(account).delete(vendorid);
    await at.pull();
    await later(at);
    let answers = 0;
    for (const vendorid of deleted) at.sandbox.vendors(account).withhold(vendorid);
    at.sandbox.onRequest(({ path }) => {
      if (!deleted.some((vendorid) => path.endsWith(`/${vendorid}`))) return;
      answers += 1;
      // Denied in the service's own form, once for each; then there again.
      if (answers > deleted.length) for (const vendorid of deleted) at.sandbox.vendors(account).release(vendorid);
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(answers).toBe(2 * deleted.length);
    expect(presences(at)).toEqual({ present: known });
  });

  it('two reads at once: the second begins sync.lag after the first ended', async () => {
    const at = await pulledAccount({ vendors: 40, latency: 700 });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    const begun: number[] = [];
    at.sandbox.onRequest(({ path }) => {
      if (path.endsWith(`/${vanished}`)) begun.push(at.clock.monotonic());
    });
    await at.pull();
    expect(presences(at)).toEqual({ present: 39, gone: 1 });
    expect(begun).toHaveLength(2);
    expect(begun[1]! - begun[0]!).toBeGreaterThanOrEqual(at.settings.sync.lag);
  });
});

describe('L12 a token that may see less', () => {
  const answersTo = { 404: 'readUnlisted=404', denied: 'readUnlisted=denied' } as const;

  it.each([
    ['404', 1, [answersTo[404]]],
    ['404', 3, [answersTo[404], 'visStateFilter=ignored', 'order=newest']],
    ['denial', 3, [answersTo.denied]],
    ['404, without reads by id', 2, ['readOne=405', 'visStateFilter=ignored']],
  ])('loses no vendor where reads answer %s (%i vendors)', async (_, count, world) => {
    const at = await pulledAccount({ world, vendors: 60 });
    const vendorService = at.sandbox.vendors(account);
    const lost = activeIds(at, count);
    const known = presences(at)['present']!;
    const owed = (): unknown[] => at.query('SELECT count(*) AS n, sum(outstanding_minor) AS sum FROM payables');
    const before = owed();
    for (const vendorid of lost) vendorService.withhold(vendorid);
    for (let nth = 0; nth < 4; nth += 1) {
      await later(at, 900_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: count });
      expect(presences(at)).toEqual({ present: known - count, suspect: count });
    }
    expect(owed()).toEqual(before);
    for (const vendorid of lost) vendorService.release(vendorid);
    await later(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect(presences(at)).toEqual({ present: known });
    expect(at.query('SELECT withheld_absences AS n FROM _accounts')).toEqual([{ n: 0 }]);
  });

  it('says so, and a person may approve that they are gone', async () => {
    const at = await pulledAccount({ world: ['readUnlisted=404'], vendors: 60 });
    for (const vendorid of activeIds(at, 5)) at.sandbox.vendors(account).withhold(vendorid);
    await later(at);
    const run = await at.pull();
    expect(run.notes).toContain(
      '5 vendors can no longer be read, and the service counts more than it shows: the token may see less than before, so nothing is concluded.',
    );
    expect((await at.installation.mirror.accountStates.of([account])).get(account)!.withheldAbsences).toBe(5);
    await later(at);
    expect(await at.pull({ kind: 'reconcile', approved: 5 })).toMatchObject({ outcome: 'complete' });
    expect(presences(at)).toEqual({ present: 55, gone: 5 });
    await later(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
    expect((await at.installation.mirror.accountStates.of([account])).get(account)!.withheldAbsences).toBe(0);
  });

  it('is not suspected where the count always included what is not shown', async () => {
    const at = await pulledAccount({ world: ['unlistedIds=4'], vendors: 60 });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    await at.pull();
    expect(presences(at)).toMatchObject({ gone: 1 });
  });
});

describe('L11 the breaker of a day', () => {
  const hour = 3_600_000;

  /** So many vanish, and a run looks for them. @returns whether it tripped. */
  async function lose(at: Testbed<'account'>, count: number): Promise<boolean> {
    for (const vendorid of activeIds(at, count)) at.sandbox.vendors(account).vanish(vendorid);
    return (await at.pull()).error?.code === 'breaker_tripped';
  }
  const isGone = (at: Testbed<'account'>): number => presences(at)['gone'] ?? 0;

  it('counts what became absent in 24 hours, across restarts and prunings', async () => {
    const at = await pulledAccount({ vendors: 60, settings: { service: { paging: shortPages } } });
    const bound = 6;
    for (let nth = 0; nth < bound; nth += 1) {
      expect(await lose(at, 1), String(nth)).toBe(false);
      await later(at, hour);
      if (nth === 2) await at.reopen();
    }
    const now = at.clock.now();
    const limits = { deliveriesSince: now, runsSince: now, versionsSince: now };
    let pruned = 0;
    for await (const rows of at.installation.mirror.prune(limits)) pruned += rows;
    expect(pruned).toBeGreaterThan(0);
    await at.reopen();
    expect(await lose(at, 1)).toBe(true);
    expect(isGone(at)).toBe(bound);
    // The first two of them were more than 24 hours ago.
    await later(at, 25.5 * hour - bound * hour);
    expect(await lose(at, 0)).toBe(false);
    expect(isGone(at)).toBe(bound + 1);
  });

  it('lets a small account lose three', async () => {
    const at = await pulledAccount({ vendors: 20, settings: { service: { paging: shortPages } } });
    expect(await lose(at, 3)).toBe(false);
    await later(at, hour);
    expect(await lose(at, 1)).toBe(true);
    expect(isGone(at)).toBe(3);
  });

  it('never loses a large account little by little without a person', async () => {
    const at = await pulledAccount({ vendors: 260, settings: { service: { paging: { perPage: 100 } } } });
    for (let nth = 0; nth < 12; nth += 1) {
      await later(at, 20 * 60_000);
      await lose(at, 15);
    }
    expect(isGone(at)).toBeLessThanOrEqual(20);
  });

  it('does not count those that came back, nor those that a person approved', async () => {
    const at = await pulledAccount({ vendors: 30, world: ['visStateFilter=ignored', 'readDeleted=404'] });
    const vendorService = at.sandbox.vendors(account);
    const away = activeIds(at, 3);
    for (const vendorid of away) vendorService.delete(vendorid);
    expect((await at.pull()).error).toBeUndefined();
    await later(at, hour);
    expect(await lose(at, 3)).toBe(true);
    for (const vendorid of away) vendorService.restore(vendorid);
    await later(at, hour);
    // Those that came back make room for those that are lost.
    expect((await at.pull()).error).toBeUndefined();
    expect(isGone(at)).toBe(3);
    await later(at, hour);
    expect(await lose(at, 9)).toBe(true);
    expect((await at.pull({ approved: 9 })).error).toBeUndefined();
    expect(isGone(at)).toBe(12);
    expect(at.query('SELECT count(*) AS n FROM vendors WHERE presence_ms > 0')).toEqual([{ n: 3 }]);
  });

  it('is not passed by two processes together', async () => {
    const at = await testbed({ level: 'store' });
    const run = await at.mirror.runs.beginRun({ accountId: 'one', kind: 'pull', trigger: 'command' });
    const context = {
      ...({ accountId: 'one', source: 'pull', readsById: true } as const),
      ...{ runId: run.id, deliveryId: null, lag: 0, run },
      changeClassifier: undefined,
    } as const;
    for (let vendorid = 1; vendorid <= 4; vendorid += 1) await at.page(await at.ask(), row(vendorid, 'A'));
    const absences = await Promise.all(
      [1, 2, 3, 4].map(async (vendorid) => {
        await at.suspect(await at.ask(), vendorid);
        at.clocks.running += 10;
        const stamp = await at.ask();
        return { vendorid, stamp, evidence: { kind: 'not_found', begun: stamp.begun, ended: stamp.begun } as const };
      }),
    );
    const allowance = { bound: 3, since: 0, approved: 0 };
    const store = (...some: typeof absences): Promise<unknown> =>
      at.mirror.readings.applyAbsences(some, allowance, context);
    expect(await store(absences[0]!, absences[1]!)).toHaveLength(2);
    // Another process counted none when it decided, as this one did.
    expect(await store(absences[2]!, absences[3]!)).toBeUndefined();
    expect(at.query("SELECT vendorid FROM vendors WHERE presence = 'gone'")).toHaveLength(2);
    expect(await store(absences[3]!)).toHaveLength(1);
  });
});

describe('L9 a second sweep of a run', () => {
  it('proves the absence of a vendor that only the list of its state showed', async () => {
    const at = await pulledAccount({ world: ['readOne=405', 'listArchived=hidden'], vendors: 60 });
    const archived = activeIds(at, 8);
    for (const vendorid of archived) at.sandbox.vendors(account).archive(vendorid);
    await at.pull();
    await later(at);
    at.sandbox.vendors(account).vanish(archived[0]!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(at.query("SELECT vendorid FROM vendors WHERE presence = 'missing'")).toEqual([{ vendorid: archived[0] }]);
  });

  it('may be as empty as the first, where a person approved that', async () => {
    const at = await pulledAccount({ world: ['readOne=405', 'listDeleted=hidden'], vendors: 20 });
    const all = at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map(({ vendorid }) => vendorid);
    for (const vendorid of all) at.sandbox.vendors(account).vanish(vendorid);
    expect((await at.pull()).outcome).toBe('incomplete');
    await later(at);
    expect(await at.pull({ kind: 'reconcile', approved: all.length })).toMatchObject({ outcome: 'complete' });
    expect(presences(at)).toEqual({ missing: all.length });
  });
});

describe('L10 sweeps of several processes at once', () => {
  it.each([
    ['missing in lists', ['readOne=405']],
    ['denied by id too', ['readDeleted=404']],
  ])('do not confirm each other: vendors that were %s for two seconds are there', async (_, world) => {
    const at = await pulledAccount({ world: [...world, 'visStateFilter=ignored'], vendors: 30, latency: 300 });
    const vendorService = at.sandbox.vendors(account);
    const lacked = activeIds(at, 3);
    const known = presences(at)['present'];
    for (const vendorid of lacked) vendorService.delete(vendorid);
    const begun = at.clock.monotonic();
    const stop = at.sandbox.onRequest(() => {
      if (at.clock.monotonic() - begun < 1_900) return;
      for (const vendorid of lacked) vendorService.restore(vendorid);
      stop();
    });
    // Another process shares nothing but the file: each begins while the sweep of the one before is under way.
    const first = at.pull();
    await at.clock.advance(400);
    const second = at.pull();
    await at.clock.advance(400);
    for (const run of await Promise.all([first, second, at.pull()])) expect(run.outcome).toBe('complete');
    expect(presences(at)).toEqual({ present: known });
    expect(at.query("SELECT vendorid FROM vis_state_changes WHERE new_presence <> 'present'")).toEqual([]);
  });
});
