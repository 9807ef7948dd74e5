/** Runs of an account in which a field differs in every answer (L19), or between lists and reads by id (L14). */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import type { Testbed } from '../../support/testbed.ts';
import { activeIds, pulledAccount } from '../../support/testbed/pulled-account.ts';

interface Wire {
  readonly vendorid: number;
  [field: string]: unknown;
}
interface Answer {
  readonly response?: { readonly result?: { bill_vendors?: Wire[]; bill_vendor?: Wire } };
}

/** How a field is shown: `nth` counts the answers, `by` says in which kind. */
type Shows = (vendor: Wire, at: { readonly nth: number; readonly by: 'list' | 'id' }) => Record<string, unknown>;

/** An account whose answers show vendors so from the beginning. */
function showing(shows: Shows, vendors = 20, world: readonly string[] = []): Promise<Testbed<'account'>> {
  let nth = 0;
  return pulledAccount({
    vendors,
    world: ['noteInList=yes', ...world],
    rewrite: (text, { pathname }) => {
      if (!pathname.includes('/bill_vendors')) return text;
      const answer = JSON.parse(text) as Answer;
      const result = answer.response?.result;
      nth += 1;
      for (const vendor of result?.bill_vendors ?? []) Object.assign(vendor, shows(vendor, { nth, by: 'list' }));
      if (result?.bill_vendor) Object.assign(result.bill_vendor, shows(result.bill_vendor, { nth, by: 'id' }));
      return text === '' ? text : JSON.stringify(answer);
    },
  });
}

const later = (at: Testbed<'account'>): Promise<void> => at.clock.advance(3_600_000);

function count(at: Testbed<'account'>, from: string): number {
  return at.query<{ n: number }>(`SELECT count(*) AS n FROM ${from}`)[0]!.n;
}
const changes = (at: Testbed<'account'>): number => count(at, 'vendor_changes');

function unsteady(at: Testbed<'account'>): unknown[] {
  return at
    .query<{ fields: string }>("SELECT fields FROM findings WHERE kind = 'unsteady_field' ORDER BY id")
    .map(({ fields }) => (JSON.parse(fields) as { field: string }).field);
}

/** Pulls once an hour; each time these vendors are read by id, too. */
async function rounds(at: Testbed<'account'>, many: number, marked: readonly number[] = []): Promise<string[]> {
  const notes: string[] = [];
  for (let round = 0; round < many; round += 1) {
    await later(at);
    await at.installation.mirror.queue.markVendors(account, marked, 'asked', 0);
    const run = await at.pull();
    expect(run).toMatchObject({ outcome: 'complete' });
    notes.push(...run.notes);
  }
  return notes;
}

const flips = new Map<number, boolean>();
function flip({ vendorid }: Wire): boolean {
  flips.set(vendorid, flips.get(vendorid) !== true);
  return flips.get(vendorid) === true;
}

const everyAnswer: readonly (readonly [string, string, Shows])[] = [
  ['a signed address', 'logo', (_, { nth }) => ({ logo: `https://cdn.example/1.png?signature=${nth}` })],
  ['an address of the vendor', 'website', (_, { nth }) => ({ website: `https://example.com/?session=${nth}` })],
  ['an object of links', '_links', (_, { nth }) => ({ _links: { self: { href: `/v/${nth}`, expires: nth } } })],
  ['a field that is empty every other time', 'phone', (vendor) => ({ phone: flip(vendor) ? '555 0100' : null })],
  ['a time of the answer', 'served_at', (_, { nth }) => ({ served_at: 1_700_000_000 + nth })],
];

describe.each(everyAnswer)('L19 %s that differs in every answer', (_, field, shows) => {
  it.each(field === 'phone' ? [20, 1] : [20])(
    'is noticed, found once with advice, and no change from then on (of %i vendors)',
    async (many) => {
      const at = await showing((vendor, where) => (vendor.vendorid % 20 < many ? shows(vendor, where) : {}));
      const [edited] = activeIds(at, 1) as [number];
      const notes = await rounds(at, 6);
      expect(unsteady(at)).toEqual([field]);
      expect(notes.filter((note) => note.includes('vendors.exclude') && note.includes(field))).toHaveLength(1);
      const before = changes(at);
      await rounds(at, 4, [edited]);
      expect(changes(at)).toBe(before);
      expect(unsteady(at)).toEqual([field]);
      // What is edited is found all the same.
      at.sandbox.vendors(account).edit(edited, { city: 'Elsewhere' });
      await rounds(at, 2);
      expect(at.query('SELECT city FROM vendors WHERE vendorid = ?', edited)).toEqual([{ city: 'Elsewhere' }]);
      const { outcome } = await at.installation.verify(account, {
        trigger: 'command',
        signal: new AbortController().signal,
      });
      expect(outcome).toBe('equal');
    },
  );
});

const betweenKinds: readonly (readonly [string, string, Shows])[] = [
  ['a phone number', 'phone', (_, { by }) => ({ phone: by === 'list' ? '5550100' : '+1 555 0100' })],
  ['a text that lists cut', 'street', (_, { by }) => ({ street: by === 'list' ? 'Long La' : 'Long Lane 1' })],
  ['a field of another form', 'kind', (_, { by }) => ({ kind: by === 'list' ? 1 : { id: 1, name: 'Company' } })],
  [
    'a field that reads by id leave empty',
    'website',
    (_, { by }) => ({ website: by === 'list' ? 'https://a.example' : null }),
  ],
];

describe.each(betweenKinds)('L14 %s that differs between lists and reads by id', (_, field, shows) => {
  it.each(field === 'phone' ? [1, 5] : [5])(
    'is one that lists leave out, and no change from then on (%i vendors read in each run)',
    async (many) => {
      const at = await showing(shows);
      const marked = activeIds(at, many);
      const notes = await rounds(at, 6, marked);
      expect(unsteady(at)).toEqual([]);
      expect(notes).toEqual([]);
      expect(at.query('SELECT field, is_shown FROM _detail_fields')).toEqual([{ field, is_shown: 1 }]);
      const before = changes(at);
      await later(at);
      const usual = await at.pull();
      await rounds(at, 5, marked);
      expect(changes(at)).toBe(before);
      // No vendor waits to be read because of it.
      await later(at);
      expect((await at.pull()).requests).toBeLessThanOrEqual(usual.requests);
      // The read by id counts.
      const [first] = marked as [number];
      const shown = shows({ vendorid: first }, { nth: 0, by: 'id' })[field];
      const [stored] = at.query<{ raw: string }>('SELECT raw FROM vendors WHERE vendorid = ?', first);
      expect((JSON.parse(stored!.raw) as Wire)[field]).toEqual(shown);
    },
  );
});

describe('L19 a field is not called unsteady', () => {
  it('that changes once for all vendors without an edit', async () => {
    const at = await showing((_, { nth }) => ({ country: nth < 8 ? 'USA' : 'United States' }));
    await rounds(at, 8);
    expect(unsteady(at)).toEqual([]);
    expect(at.query('SELECT DISTINCT country FROM vendors')).toEqual([{ country: 'United States' }]);
  });

  it('that stays in some answers as it is', async () => {
    let run = 0;
    const at = await showing(() => ({ bills: Math.floor(run / 2) }));
    for (run = 1; run < 20; run += 1) await rounds(at, 1);
    expect(unsteady(at)).toEqual([]);
    expect(JSON.parse(at.query<{ raw: string }>('SELECT raw FROM vendors')[0]!.raw)).toMatchObject({ bills: 9 });
  });

  it('of vendors that are edited before each run', async () => {
    const at = await showing(() => ({}));
    for (let nth = 0; nth < 10; nth += 1) {
      for (const vendorid of activeIds(at, 5)) at.sandbox.vendors(account).edit(vendorid, { city: `City ${nth}` });
      await rounds(at, 1);
      expect(count(at, `active_vendors WHERE city = 'City ${nth}'`)).toBe(5);
    }
    expect(unsteady(at)).toEqual([]);
  });

  it('of balances that move without an edit', async () => {
    const at = await showing(() => ({}));
    for (let nth = 1; nth < 10; nth += 1) {
      for (const vendorid of activeIds(at, 5))
        at.sandbox.vendors(account).setBalance(vendorid, 'outstanding', [{ amount: `${nth}.00`, code: 'USD' }]);
      await rounds(at, 1);
      expect(count(at, `payables WHERE outstanding = ${nth}`)).toBeGreaterThanOrEqual(5);
    }
    expect(unsteady(at)).toEqual([]);
  });
});
