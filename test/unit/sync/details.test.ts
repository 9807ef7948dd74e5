/** Lists that leave fields out which reads by id carry; what is compared is the service's own record, as a read by id shows it. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

type Wire = Record<string, unknown>;

/** Forty vendors whose lists lack some fields, and each request for a single vendor. */
async function leavingOut(fields: readonly string[], isLeft = { out: true }) {
  const read: number[] = [];
  const at = await testbed({
    level: 'account',
    vendors: 40,
    world: ['noteInList=yes'],
    settings: { service: { readOne: 'get', paging: { perPage: 100 } } },
    rewrite: (text, url) => {
      const single = /bill_vendors\/(\d+)$/.exec(url.pathname);
      if (single) read.push(Number(single[1]));
      const answer = JSON.parse(text) as { response?: { result?: { bill_vendors?: Wire[] } } };
      const result = answer.response?.result;
      if (result?.bill_vendors && isLeft.out)
        result.bill_vendors = result.bill_vendors.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name))),
        );
      return JSON.stringify(answer);
    },
  });
  const vendors = at.sandbox.vendors(account);
  for (const wire of vendors.all()) {
    const vendorid = Number(wire['vendorid']);
    vendors.edit(vendorid, { vis_state: 0 });
    vendors.edit(vendorid, { note: `Note of ${vendorid}`, is_1099: true });
  }
  return { at, read, vendors };
}

/** What the mirror holds otherwise than a read by id shows it. */
function wrong(at: Testbed<'account'>, fields: readonly string[]): string[] {
  const held = new Map(at.query<Wire>('SELECT * FROM vendors').map((row) => [row['vendorid'], row]));
  return at.sandbox
    .vendors(account)
    .all()
    .flatMap((wire) =>
      fields.filter((field) => {
        const now = wire[field] ?? null;
        return held.get(wire['vendorid'])?.[field] !== (typeof now === 'boolean' ? Number(now) : now);
      }),
    );
}

const freshness = 'SELECT details_as_of FROM freshness';

describe('fields that lists leave out', () => {
  it.each([['note'], ['is_1099'], ['phone'], ['note', 'city']])(
    'L14 %s %s are learned from several vendors, and read by id for all',
    async (...fields) => {
      const { at } = await leavingOut(fields);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(wrong(at, fields)).toEqual([]);
      expect(at.query(`SELECT field FROM _detail_fields WHERE learned_at IS NOT NULL ORDER BY field`)).toEqual(
        [...fields].sort().map((field) => ({ field })),
      );
      const [fresh] = at.query<{ details_as_of: string }>(freshness);
      expect(Date.parse(`${fresh!.details_as_of}Z`)).toBeGreaterThan(at.clock.now() - 60_000);
      expect(at.query(`SELECT count(*) AS n FROM findings WHERE kind = 'field_drift'`)).toEqual([{ n: 1 }]);
    },
  );

  it('L14 an edit of one is found at the next run, and a new vendor is read at once', async () => {
    const { at, vendors } = await leavingOut(['note']);
    await at.pull();
    await at.clock.advance(60_000);
    const [first] = vendors.all();
    vendors.edit(Number(first!['vendorid']), { note: 'Pay late' });
    vendors.create({ vendor_name: 'New', language: 'en', note: 'Net 7' });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(wrong(at, ['note', 'vendor_name'])).toEqual([]);
  });

  it('L14 an hour later are as old as that, and details_as_of says so until all were read again', async () => {
    const { at, vendors } = await leavingOut(['note']);
    await at.pull();
    await at.clock.advance(3_600_000);
    const began = at.clock.now();
    const [before] = at.query<{ details_as_of: string }>(freshness);
    expect(Date.parse(`${before!.details_as_of}Z`)).toBeLessThan(began - 3_000_000);
    vendors.edit(Number(vendors.all()[0]!['vendorid']), { note: 'x' });
    await at.pull();
    expect(at.query('SELECT 1 FROM vendors WHERE detail_seq = 0 OR detail_seq IS NULL')).toEqual([]);
    const [after] = at.query<{ details_as_of: string }>(freshness);
    expect(Date.parse(`${after!.details_as_of}Z`)).toBeGreaterThanOrEqual(began);
  });

  it('L14 cost one request a run where there are none, and end where lists carry them again', async () => {
    const isLeft = { out: false };
    const { at, read, vendors } = await leavingOut(['note'], isLeft);
    await at.pull();
    expect(at.query(freshness)).toEqual([{ details_as_of: null }]);
    read.length = 0;
    await at.pull();
    expect(read).toHaveLength(1);
    isLeft.out = true;
    await at.clock.advance(60_000);
    for (const wire of vendors.all()) vendors.edit(Number(wire['vendorid']), { phone: '1' });
    await at.pull();
    isLeft.out = false;
    for (const wire of vendors.all()) vendors.edit(Number(wire['vendorid']), { phone: '2' });
    await at.clock.advance(60_000);
    await at.pull();
    expect(at.query(freshness)).toEqual([{ details_as_of: null }]);
    expect(wrong(at, ['note', 'phone'])).toEqual([]);
  });
});
