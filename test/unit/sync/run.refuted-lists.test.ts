/** Runs of an account whose list leaves out vendors that reads by id show. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import type { Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

interface VendorsPage {
  readonly response: { readonly result: { bill_vendors?: { vendorid: number }[]; total: number } };
}

/** Which vendors a list leaves out, in the page of each request. */
type LeavesOut = (at: { readonly walk: number; readonly visState: string | null }) => ReadonlySet<number>;

/** An account whose lists leave out vendors from now on; `walk` counts how often page 1 of the default list was requested since. */
async function leavingOut(
  leavesOut: LeavesOut,
  { counted = false, world = ['listArchived=shown'], vendors = 60 } = {},
): Promise<{ at: Testbed<'account'>; begin: () => void; walks: () => number }> {
  let walks = 0;
  let begun = false;
  const at = await pulledAccount({
    world,
    vendors,
    rewrite: (text, { pathname, searchParams }) => {
      if (!begun || !pathname.endsWith('/bill_vendors')) return text;
      const visState = searchParams.get('search[vis_state]');
      if (visState === null && searchParams.get('page') === '1') walks += 1;
      const hidden = leavesOut({ walk: walks, visState });
      const { response } = JSON.parse(text) as VendorsPage;
      const { result } = response;
      result.bill_vendors = (result.bill_vendors ?? []).filter(({ vendorid }) => !hidden.has(vendorid));
      if (!counted && visState === null) result.total -= hidden.size;
      return JSON.stringify({ response });
    },
  });
  return { at, begin: () => void (begun = true), walks: () => walks };
}

const later = (at: Testbed<'account'>): Promise<void> => at.clock.advance(3_600_000);

function unlisted(at: Testbed<'account'>): unknown[] {
  return at.query(
    "SELECT vendorid FROM findings WHERE kind = 'unlisted' AND run_id = (SELECT max(id) FROM runs) ORDER BY vendorid",
  );
}

const undecided = (at: Testbed<'account'>): unknown[] =>
  at.query('SELECT vendorid, code FROM undecided_vendors ORDER BY vendorid');

describe.each([
  ['one', 1],
  ['three', 3],
])('a list that leaves out %s of its active vendors', (_, many) => {
  it('L3 once is refuted, walked again, and believed then', async () => {
    const hidden = new Set<number>();
    const { at, begin, walks } = await leavingOut(({ walk }) => (walk === 1 ? hidden : new Set()));
    for (const vendorid of activeIds(at, many)) hidden.add(vendorid);
    begin();
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete' });
    expect(run.notes.join()).toContain('it was walked again');
    expect(walks()).toBeGreaterThanOrEqual(2);
    expect(unlisted(at)).toEqual([...hidden].map((vendorid) => ({ vendorid })));
    expect(undecided(at)).toEqual([]);
  });

  it.each([false, true])(
    'L3 for ever counts, with a finding for each, which is told (counted: %s)',
    async (counted) => {
      const hidden = new Set<number>();
      const { at, begin, walks } = await leavingOut(() => hidden, { counted });
      for (const vendorid of activeIds(at, many)) hidden.add(vendorid);
      begin();
      const each = Array.from(hidden, (vendorid) => ({ vendorid, code: 'list_refuted' }));
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(undecided(at)).toEqual(each);
      const once = walks();
      for (const city of ['Here', 'There']) {
        await later(at);
        at.sandbox
          .vendors(account)
          .setBalance([...hidden][0]!, 'outstanding', [{ amount: city === 'Here' ? '1.00' : '2.00', code: 'USD' }]);
        const begun = at.clock.now();
        const before = walks();
        expect(await at.pull()).toMatchObject({ outcome: 'complete' });
        // No walk more than a list needs that nothing refutes.
        expect(walks() - before).toBeLessThan(once);
        expect(undecided(at)).toEqual(each);
        expect(unlisted(at)).toEqual(each.map(({ vendorid }) => ({ vendorid })));
        const [fresh] = at.query<{ safe_as_of: string; undecided: number }>(
          'SELECT safe_as_of, undecided FROM freshness',
        );
        expect(fresh!.undecided).toBe(many);
        // What its read by id showed is claimed.
        expect(Date.parse(`${fresh!.safe_as_of}Z`)).toBeGreaterThan(begun - 60_000);
      }
      hidden.clear();
      await later(at);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(undecided(at)).toEqual([]);
    },
  );
});

it('L3 a list that leaves out other vendors at each walk proves nothing', async () => {
  let ids: number[] = [];
  const { at, begin } = await leavingOut(({ walk }) => new Set([ids[walk]!]));
  ids = activeIds(at, 40);
  begin();
  at.sandbox.vendors(account).vanish(ids[39]!);
  expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'list_refuted' } });
  expect(unlisted(at).length).toBeGreaterThanOrEqual(3);
  // Nothing was concluded from it.
  expect(at.query('SELECT presence FROM vendors WHERE vendorid = ?', ids[39]!)).toEqual([{ presence: 'present' }]);
});

it('L3 more vendors than may be absent are not left out without a person’s word', async () => {
  const hidden = new Set<number>();
  const { at, begin } = await leavingOut(() => hidden);
  for (const vendorid of activeIds(at, 9)) hidden.add(vendorid);
  begin();
  expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'list_refuted', exit: 1 } });
  await later(at);
  expect(await at.pull()).toMatchObject({ outcome: 'incomplete', error: { code: 'list_refuted' } });
  await at.installation.mirror.accountRegister.acceptUnreadable(account, 9);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(undecided(at)).toHaveLength(9);
});

it('L3 an archived vendor that a list of archived ones leaves out means that it does not show them all', async () => {
  const hidden = new Set<number>();
  const { at, begin } = await leavingOut(() => hidden, { world: ['listArchived=shown', 'visStateFilter=ignored'] });
  const archived = activeIds(at, 6);
  for (const vendorid of archived) at.sandbox.vendors(account).archive(vendorid);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  await later(at);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(at.query('SELECT vis_state FROM _shown_states')).toContainEqual({ vis_state: 2 });
  await later(at);
  hidden.add(archived[0]!);
  begin();
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(unlisted(at)).toEqual([{ vendorid: archived[0] }]);
  expect(at.query('SELECT vis_state FROM _shown_states')).not.toContainEqual({ vis_state: 2 });
  await later(at);
  expect(await at.pull()).toMatchObject({ outcome: 'complete', suspects: 0 });
  expect(undecided(at)).toEqual([]);
});

it('L3 a vendor that no list ever showed refutes the next one once a delivery names it', async () => {
  const at = await pulledAccount({ world: ['unlistedRows=2'] });
  const known = new Set(at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map(({ vendorid }) => vendorid));
  const all = at.sandbox.vendors(account).all() as { vendorid: number }[];
  const unknown = all.map(({ vendorid }) => vendorid).filter((vendorid) => !known.has(vendorid));
  expect(unknown).toHaveLength(2);
  await at.installation.mirror.queue.markVendors(account, unknown, 'asked', 0);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(undecided(at)).toEqual([]);
  await later(at);
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(undecided(at)).toEqual(unknown.map((vendorid) => ({ vendorid, code: 'list_refuted' })));
});

describe('L3 no list is refuted by a vendor', () => {
  /** An account of which `move` is called when page 3 is requested. */
  async function moving(
    world: readonly string[],
  ): Promise<{ at: Testbed<'account'>; during: (move: () => void) => void }> {
    let next: (() => void) | undefined;
    const at = await pulledAccount({
      world,
      answer: ({ pathname, searchParams }) => {
        if (!pathname.endsWith('/bill_vendors') || searchParams.get('page') !== '3') return undefined;
        next?.();
        next = undefined;
        return undefined;
      },
    });
    return { at, during: (move) => void (next = move) };
  }

  /** The vendor that the list shows last. */
  const last = (at: Testbed<'account'>): number =>
    at.query<{ vendorid: number }>('SELECT vendorid FROM vendors ORDER BY updated_at, vendorid LIMIT 1')[0]!.vendorid;

  it.each(['edit', 'delete', 'archive'] as const)(
    'that moves to its beginning by an %s while it is walked',
    async (how) => {
      const { at, during } = await moving(['order=updated_newest', 'listDeleted=shown', 'listArchived=shown']);
      const vendorid = last(at);
      const vendors = at.sandbox.vendors(account);
      during(() => (how === 'edit' ? vendors.edit(vendorid, { city: 'Elsewhere' }) : vendors[how](vendorid)));
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(unlisted(at)).toEqual([]);
    },
  );

  it('that is restored behind the walk', async () => {
    const { at, during } = await moving(['listDeleted=shown', 'order=updated_newest']);
    const vendors = at.sandbox.vendors(account);
    const vendorid = last(at);
    vendors.delete(vendorid);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await later(at);
    for (const other of activeIds(at, 59)) if (other !== vendorid) vendors.edit(other, { city: 'Elsewhere' });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await later(at);
    during(() => void vendors.restore(vendorid));
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(unlisted(at)).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'that was deleted %i s before, which copies that answer reads by id do not know yet',
    async (ago) => {
      const { at } = await moving(['listDeleted=hidden', 'visStateFilter=ignored', 'readLag=4']);
      for (const vendorid of activeIds(at, 3)) at.sandbox.vendors(account).delete(vendorid);
      await at.clock.advance(ago * 1_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect([unlisted(at), undecided(at)]).toEqual([[], []]);
    },
  );

  it.each([1, 4, 6, 30])(
    'that was created %i s before, which copies that answer lists do not know yet',
    async (ago) => {
      const { at } = await moving(['listLag=5', 'readLag=2']);
      const { vendorid } = at.sandbox.vendors(account).create({ vendor_name: 'New' }) as { vendorid: number };
      await at.installation.mirror.queue.markVendors(account, [vendorid], 'asked', 0);
      await at.clock.advance(ago * 1_000);
      for (let nth = 0; nth < 2; nth += 1) {
        expect(await at.pull()).toMatchObject({ outcome: 'complete' });
        expect([unlisted(at), undecided(at)]).toEqual([[], []]);
      }
    },
  );
});
