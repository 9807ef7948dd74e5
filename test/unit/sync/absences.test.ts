import { describe, expect, it, vi } from 'vitest';
import { editVendor } from '../../../src/sync/write/edit.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount, shortPages } from '../../support/testbed/pulled-account.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';

function stateOf(at: Testbed<'account'>, vendorid: number): Record<string, unknown> {
  return at.query('SELECT presence, vis_state, vis_state_source FROM vendors WHERE vendorid = ?', vendorid)[0]!;
}

/** How a vendor moved between states, in the words of the view. */
function movesOf(at: Testbed<'account'>, vendorid: number): Record<string, unknown>[] {
  return at.query(
    `SELECT old_vis_state, new_vis_state, old_presence, new_presence, vis_state_source
     FROM vis_state_changes WHERE vendorid = ? ORDER BY seq`,
    vendorid,
  );
}

describe('where the service reads vendors by id', () => {
  it('A10 an unlisted vendor is read by id, and is gone if the service does not find it', async () => {
    const at = await pulledAccount();
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'gone', vis_state: 0 });
    expect(movesOf(at, vanished!)).toMatchObject([{ old_presence: 'present', new_presence: 'gone' }]);
  });

  it('an unlisted vendor that was deleted is stored as deleted', async () => {
    const at = await pulledAccount({ world: ['visStateFilter=ignored'] });
    const [deleted] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(deleted!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1, updated: 1 });
    expect(stateOf(at, deleted!)).toEqual({ presence: 'present', vis_state: 1, vis_state_source: 'reported' });
  });

  it.each([0, 2] as const)(
    'L9 a vendor of state %i is gone though nearly all that lists show are deleted, which no read by id finds, and no 404 has the form of the service',
    async (state) => {
      const at = await pulledAccount({
        world: ['listDeleted=shown', 'readDeleted=404', 'errorForm=html', 'visStateFilter=ignored'],
      });
      const [vanished, active, ...others] = activeIds(at, 100);
      const vendors = at.sandbox.vendors(account);
      for (const vendorid of others) vendors.delete(vendorid);
      vendors.edit(vanished!, { vis_state: state });
      await at.pull();
      await at.clock.advance(60_000);
      vendors.vanish(vanished!);
      await at.pull();
      expect([stateOf(at, vanished!), stateOf(at, active!)]).toMatchObject([
        { presence: 'gone', vis_state: state },
        { presence: 'present', vis_state: 0 },
      ]);
    },
  );

  it('A22 a refused read proves nothing: the vendor stays a suspect, with a finding', async () => {
    const at = await pulledAccount();
    const [hidden] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(hidden!);
    at.sandbox.onRequest((request) => {
      if (request.path.endsWith(`/${hidden}`)) at.sandbox.faults.next({ kind: '403' });
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(stateOf(at, hidden!)).toMatchObject({ presence: 'suspect', vis_state: 0 });
    expect(at.query('SELECT open_suspects FROM freshness')).toEqual([{ open_suspects: 1 }]);
    expect(at.query('SELECT vendorid, fields FROM findings WHERE kind = ?', 'unreadable')).toEqual([
      { vendorid: hidden, fields: '{"refused":"access_denied"}' },
    ]);
  });

  it('B7 a vendor that was gone is present again when it returns, and its history has both changes', async () => {
    const at = await pulledAccount({ world: ['readDeleted=404'] });
    const [one] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(one!);
    await at.pull();
    expect(stateOf(at, one!)).toMatchObject({ presence: 'present', vis_state: 1 });
    await at.clock.advance(60_000);
    at.sandbox.vendors(account).restore(one!);
    await at.pull();
    expect(stateOf(at, one!)).toEqual({ presence: 'present', vis_state: 0, vis_state_source: 'reported' });
    expect(movesOf(at, one!)).toMatchObject([
      { old_vis_state: 0, new_vis_state: 1 },
      { old_vis_state: 1, new_vis_state: 0 },
    ]);
  });

  it('changes of a deleted vendor that lists hide are found', async () => {
    const at = await pulledAccount({ world: ['visStateFilter=ignored'] });
    const [deleted] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(deleted!);
    await at.pull();
    await at.clock.advance(60_000);
    at.sandbox.vendors(account).edit(deleted!, { city: 'Elsewhere' });
    await at.pull();
    expect(at.query('SELECT city, vis_state FROM vendors WHERE vendorid = ?', deleted)).toEqual([
      { city: 'Elsewhere', vis_state: 1 },
    ]);
  });
});

describe('where the service does not read vendors by id', () => {
  const world = ['readOne=405', 'visStateFilter=ignored'];

  it('a vendor is missing, and counts as deleted, once a second complete sweep agrees', async () => {
    const at = await pulledAccount({ world });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1, pages: 8 });
    expect(stateOf(at, vanished!)).toEqual({ presence: 'missing', vis_state: 1, vis_state_source: 'inferred' });
    expect(movesOf(at, vanished!)).toMatchObject([{ new_presence: 'missing', vis_state_source: 'inferred' }]);
  });

  it('A22 a refused read does not prove that reads by id are supported', async () => {
    const at = await pulledAccount({ world: ['readOne=404', 'visStateFilter=ignored'] });
    const [first, second] = activeIds(at, 2);
    at.sandbox.vendors(account).vanish(first!);
    const heal = at.sandbox.onRequest(({ path }) => {
      if (/\d$/.test(path)) at.sandbox.faults.next({ kind: '403' });
    });
    await at.pull();
    heal();
    at.sandbox.vendors(account).vanish(second!);
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    for (const vendorid of [first!, second!]) expect(stateOf(at, vendorid)).toMatchObject({ presence: 'missing' });
  });

  it('A10 a suspect stays a suspect while the second sweep is incomplete; the next run decides', async () => {
    // Where the size of a page is ignored, a list that moves cannot be proven by windows.
    const at = await pulledAccount({ world: [...world, 'perPage=ignored'] });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    let pages = 0;
    const stop = at.sandbox.onRequest(() => {
      // The first sweep takes four pages; what follows never holds still.
      if (++pages > 4) at.sandbox.vendors(account).create({ vendor_name: 'Another', language: 'en' });
    });
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(run.notes).toEqual(['1 suspect stays undecided: the second sweep could not be proven complete.']);
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'suspect', vis_state: 0 });
    stop();
    await at.clock.advance(60_000);
    await at.pull();
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'missing', vis_state: 1 });
  });

  it('A10 an empty list does not count as the first of two sweeps', async () => {
    const at = await pulledAccount({ world, vendors: 12 });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    at.sandbox.faults.next({ kind: 'empty_list' });
    expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'breaker_tripped' } });
    expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
    await at.clock.advance(60_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1, pages: 2 });
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'missing', vis_state: 1 });
  });

  it('L9 L16 a suspect that only the list of its state would show is undecided where that list came empty the second time', async () => {
    const at = await pulledAccount({ world: ['readOne=405', 'listArchived=hidden'] });
    const [vanished, ...others] = activeIds(at, 5);
    for (const vendorid of [vanished!, ...others]) at.sandbox.vendors(account).edit(vendorid, { vis_state: 2 });
    await at.pull();
    await at.clock.advance(60_000);
    at.sandbox.vendors(account).vanish(vanished!);
    let lists = 0;
    const stop = at.sandbox.onRequest(({ query }) => {
      const state = query.get('search[vis_state]');
      if (state === null && query.get('page') === '1') lists += 1;
      if (lists > 1 && state === '2') at.sandbox.faults.next({ kind: 'empty_list' });
    });
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(run.notes).toEqual(['1 suspect stays undecided: no list that would show it was proven complete.']);
    expect(at.query('SELECT undecided FROM freshness')).toEqual([{ undecided: 1 }]);
    stop();
    await at.clock.advance(60_000);
    await at.pull();
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'missing', vis_state: 1 });
  });

  it('A10 an empty second list confirms nothing', async () => {
    const at = await pulledAccount({ world });
    const [vanished] = activeIds(at, 1);
    at.sandbox.vendors(account).vanish(vanished!);
    let lists = 0;
    const stop = at.sandbox.onRequest(({ query }) => {
      const begins = query.get('page') === '1' && !query.has('search[vis_state]');
      if (begins && ++lists === 2) at.sandbox.faults.next({ kind: 'empty_list' });
    });
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(run.notes).toEqual(['1 suspect stays undecided: the second list was empty.']);
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'suspect', vis_state: 0 });
    stop();
    await at.clock.advance(60_000);
    await at.pull();
    expect(stateOf(at, vanished!)).toMatchObject({ presence: 'missing', vis_state: 1 });
  });

  it('a suspect that is listed again was never absent', async () => {
    const at = await pulledAccount({ world });
    const [one] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(one!);
    let pages = 0;
    at.sandbox.onRequest(() => {
      if (++pages === 5) at.sandbox.vendors(account).restore(one!);
    });
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
    expect(stateOf(at, one!)).toMatchObject({ presence: 'present', vis_state: 0 });
    expect(movesOf(at, one!)).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'P4 a suspect that is read between two sweeps, %s it was marked as one, is not missing: it may be in a state that lists hide',
    async (when) => {
      const at = await pulledAccount({ world });
      const [one] = activeIds(at, 1);
      at.sandbox.vendors(account).delete(one!);
      const { vendors } = at.installation.mirror;
      const markSuspects = vendors.markSuspects.bind(vendors);
      const options = { again: false, by: null, tell: () => Promise.resolve(), signal: new AbortController().signal };
      const edit = (): Promise<void> =>
        editVendor(at.installation.account(account), one!, { city: 'Elsewhere' }, options);
      vi.spyOn(vendors, 'markSuspects').mockImplementationOnce(async (...suspects) => {
        if (when === 'before') await edit();
        await markSuspects(...suspects);
        if (when === 'after') await edit();
      });
      expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 1 });
      expect(stateOf(at, one!)).toEqual({ presence: 'present', vis_state: 1, vis_state_source: 'reported' });
    },
  );

  it('B7 a missing vendor that is listed again is present again', async () => {
    const at = await pulledAccount({ world });
    const [one] = activeIds(at, 1);
    at.sandbox.vendors(account).delete(one!);
    await at.pull();
    expect(stateOf(at, one!)).toMatchObject({ presence: 'missing' });
    await at.clock.advance(60_000);
    at.sandbox.vendors(account).restore(one!);
    await at.pull();
    expect(stateOf(at, one!)).toEqual({ presence: 'present', vis_state: 0, vis_state_source: 'reported' });
    expect(movesOf(at, one!)).toMatchObject([
      { old_presence: 'present', new_presence: 'missing', vis_state_source: 'inferred' },
      { old_presence: 'missing', new_presence: 'present', vis_state_source: 'reported' },
    ]);
  });
});

describe('no absence is concluded', () => {
  it('A1 A10 from an incomplete sweep', async () => {
    const at = await pulledAccount({
      world: ['perPage=ignored'],
      settings: { service: { paging: shortPages }, sync: { sweepPasses: 1 } },
    });
    const [onPageOne] = activeIds(at, 1);
    at.sandbox.onRequest(({ query }) => {
      if (query.get('page') === '2') at.sandbox.vendors(account).vanish(onPageOne!);
    });
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'incomplete', suspects: 0, error: { code: 'sweep_incomplete', exit: 1 } });
    expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
  });

  it('A14 from a sweep that a newer reading has overtaken', async () => {
    const at = await pulledAccount();
    const syncAccount = at.installation.account(account);
    let created = 0;
    let told: Promise<unknown> | undefined;
    at.sandbox.onRequest(({ query, path }) => {
      if (query.get('page') !== '4' || told) return;
      created = Number(at.sandbox.vendors(account).create({ vendor_name: 'New', language: 'en' })['vendorid']);
      const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 5_000 } as const;
      told = syncAccount.reader.read(created, { context, signal: new AbortController().signal });
      at.sandbox.faults.next({ kind: '500', match: (request) => request.path === path });
    });
    await at.pull();
    await told;
    expect(stateOf(at, created)).toMatchObject({ presence: 'present' });
    expect(at.query('SELECT presence FROM vendor_versions WHERE vendorid = ?', created)).toEqual([
      { presence: 'present' },
    ]);
  });
});

describe('the breaker', () => {
  it("A11 refuses many absences, applies everything else, and accepts them with a person's approval", async () => {
    const at = await pulledAccount();
    const vendorService = at.sandbox.vendors(account);
    const [renamed, ...vanished] = activeIds(at, 26);
    for (const vendorid of vanished) vendorService.vanish(vendorid);
    vendorService.edit(renamed!, { vendor_name: 'Renamed' });
    const run = await at.pull();
    expect(run).toMatchObject({
      outcome: 'incomplete',
      suspects: 25,
      updated: 1,
      error: { code: 'breaker_tripped', exit: 1 },
    });
    expect(run.error!.message).toContain('25 of 60 vendors are not listed, and none of the 7 that were read is found.');
    expect(at.query("SELECT vendorid FROM vendors WHERE presence <> 'present'")).toEqual([]);
    expect(at.query('SELECT fields FROM findings WHERE kind = ?', 'breaker')).toEqual([
      { fields: '{"suspects":25,"present":60}' },
    ]);
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', renamed)).toEqual([
      { vendor_name: 'Renamed' },
    ]);

    await at.clock.advance(60_000);
    expect(await at.pull({ kind: 'reconcile', approved: 24 })).toMatchObject({ outcome: 'incomplete' });
    expect(await at.pull({ kind: 'reconcile', approved: 25 })).toMatchObject({ outcome: 'complete', suspects: 25 });
    expect(at.query("SELECT vendorid FROM vendors WHERE presence = 'gone'")).toHaveLength(25);
    expect(activeDifferences(at)).toEqual([]);
  });

  const world = ['total=counts_hidden', 'visStateFilter=ignored', 'readOne=405'];

  it('A11 uses a limit that is a share of the present vendors, without those that a person approved just before', async () => {
    const at = await pulledAccount({
      settings: { service: { paging: shortPages }, sync: { breaker: { vendors: 20, percent: 20 } } },
    });
    const vendorService = at.sandbox.vendors(account);
    for (const vendorid of activeIds(at, 40)) vendorService.vanish(vendorid);
    expect(await at.pull({ approved: 40 })).toMatchObject({ outcome: 'complete', suspects: 40 });
    await at.clock.advance(60_000);
    expect(at.query("SELECT 1 FROM vendors WHERE presence = 'present'")).toHaveLength(20);
    for (const vendorid of activeIds(at, 4)) vendorService.vanish(vendorid);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 4 });
    await at.clock.advance(60_000);
    const left = at.query('SELECT 1 FROM active_vendors').length;
    for (const vendorid of activeIds(at, 1)) vendorService.vanish(vendorid);
    expect((await at.pull()).error).toMatchObject({ code: 'breaker_tripped' });
    expect(at.query('SELECT 1 FROM active_vendors')).toHaveLength(left);
  });

  it('A4 A9 L2 is not complete when a list counts many vendors and all its pages are empty', async () => {
    const at = await testbed({
      level: 'account',
      vendors: 20,
      world: [...world, 'paging=echoed'],
      settings: { service: { paging: shortPages } },
    });
    const vendorService = at.sandbox.vendors(account);
    const listed = vendorService.all().map(({ vendorid }) => Number(vendorid));
    // The oldest stand on the first page, which comes again and again.
    for (const vendorid of listed.sort((a, b) => a - b).slice(0, 15)) vendorService.delete(vendorid);
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'incomplete', seen: 0, error: { code: 'too_many_unreadable' } });
    expect(run.error!.message).toContain('counts 20 vendors and shows 0');
    expect(at.query('SELECT safe_as_of FROM freshness')).toEqual([{ safe_as_of: null }]);
    expect(at.query('SELECT fields FROM findings WHERE kind = ?', 'unreadable')).toEqual([{ fields: '{"rows":20}' }]);
    const compared = await at.installation.verify(account, {
      trigger: 'command',
      signal: new AbortController().signal,
    });
    expect(compared).toMatchObject({ outcome: 'incomplete', error: { code: 'too_many_unreadable' } });
  });

  it('A9 L2 accepts with a word that all vendors are hidden, until it is taken back', async () => {
    const at = await testbed({ level: 'account', vendors: 20, world, settings: { service: { paging: shortPages } } });
    const vendorService = at.sandbox.vendors(account);
    for (const { vendorid } of vendorService.all()) vendorService.delete(Number(vendorid));
    const refused = { outcome: 'incomplete', error: { code: 'too_many_unreadable', exit: 1 } };
    expect(await at.pull()).toMatchObject(refused);
    const accept = (count: number): Promise<void> =>
      at.installation.mirror.accountRegister.acceptUnreadable(account, count);
    await accept(16);
    expect(await at.pull()).toMatchObject(refused);
    await accept(17);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', seen: 0 });
    await accept(0);
    expect(await at.pull()).toMatchObject(refused);
  });

  it.each([
    ['the mirror holds as many, deleted', 20, ['total=counts_hidden'], 20],
    ['no more than the bound are hidden', 15, world, 3],
  ])('A9 does not trip where %s', async (_, vendors, where, deleted) => {
    const at = await testbed({
      level: 'account',
      vendors,
      world: where,
      settings: { service: { paging: shortPages } },
    });
    const vendorService = at.sandbox.vendors(account);
    for (const { vendorid } of vendorService.all().slice(0, deleted)) vendorService.delete(Number(vendorid));
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  });
});
