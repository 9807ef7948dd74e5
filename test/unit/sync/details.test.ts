/** Lists that leave fields out which reads by id carry; what is compared is the service's own record, as a read by id shows it. */
import { describe, expect, it } from 'vitest';
import { differences } from '../../support/mirror/differences.ts';
import { account } from '../../support/names.ts';
import { changingResults, type Wire } from '../../support/network/service-answers.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import type { AccountOptions } from '../../support/testbed/account.ts';

/** Forty vendors whose lists lack some fields, and each request for a single vendor. */
async function leavingOut(
  fields: readonly string[],
  isLeft = { out: true },
  { service, world = [], noted = () => true, hides = () => false, ...options }: LeavingOut = {},
) {
  const read: number[] = [];
  const at = await testbed({
    level: 'account',
    vendors: 40,
    world: ['noteInList=yes', ...world],
    settings: { service: { paging: { perPage: 100 }, ...service } },
    ...options,
    rewrite: (text, url) => {
      const single = /bill_vendors\/(\d+)$/.exec(url.pathname);
      if (single) read.push(Number(single[1]));
      const answer = JSON.parse(text) as { response?: { result?: { bill_vendors?: Wire[] } } };
      const result = answer.response?.result;
      if (result?.bill_vendors && isLeft.out)
        result.bill_vendors = result.bill_vendors
          .filter((row) => !hides(Number(row['vendorid'])))
          .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name))));
      return JSON.stringify(answer);
    },
  });
  const vendors = at.sandbox.vendors(account);
  for (const [index, wire] of vendors.all().entries()) {
    const vendorid = Number(wire['vendorid']);
    vendors.edit(vendorid, { vis_state: 0 });
    if (noted(index)) vendors.edit(vendorid, { note: `Note of ${vendorid}`, is_1099: true });
  }
  return { at, read, vendors };
}

/** Forty vendors whose rows in lists are changed on their way. */
async function listsChanged(change: (row: Wire) => unknown): Promise<{ at: Testbed<'account'> }> {
  const at = await testbed({
    level: 'account',
    vendors: 40,
    world: ['noteInList=yes'],
    settings: { service: { paging: { perPage: 100 } } },
    rewrite: changingResults((result) => result.bill_vendors?.forEach(change)),
  });
  return { at };
}

interface LeavingOut extends Pick<AccountOptions, 'vendors' | 'answer' | 'onRequest' | 'world' | 'latency'> {
  /** Settings. */
  readonly service?: object;
  /** Which vendors have a note. */
  readonly noted?: (index: number) => boolean;
  /** Which vendors lists lack. */
  readonly hides?: (vendorid: number) => boolean;
}

/** What the mirror holds otherwise than reads by id show it. */
const wrong = (at: Testbed<'account'>): string[] => differences(at, at.sandbox.vendors(account).all());

const freshness = 'SELECT details_as_of FROM freshness';
const fieldsKnown = 'SELECT field FROM _detail_fields WHERE learned_at IS NOT NULL ORDER BY field';

describe('fields that lists leave out', () => {
  it.each([[['note']], [['is_1099']], [['phone']], [['note', 'city']], [['tax_defaults']], [['outstanding_balance']]])(
    'L14 %j are learned from several vendors, and read by id for all',
    async (fields) => {
      const { at } = await leavingOut(fields);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(wrong(at)).toEqual([]);
      expect(at.query(fieldsKnown)).toEqual([...fields].sort().map((field) => ({ field })));
      const [fresh] = at.query<{ details_as_of: string }>(freshness);
      expect(Date.parse(`${fresh!.details_as_of}Z`)).toBeGreaterThan(at.clock.now() - 60_000);
      expect(at.query(`SELECT count(*) AS n FROM findings WHERE kind = 'field_drift'`)).toEqual([{ n: 1 }]);
    },
  );

  it.each([1, 3])(
    'L14 are learned from %s vendors where all others that lists show are deleted, which no read by id finds',
    async (active) => {
      const { at, vendors } = await leavingOut(['note'], undefined, {
        world: ['listDeleted=shown', 'readDeleted=404'],
      });
      const [kept, others] = [vendors.all().slice(-active), vendors.all().slice(0, -active)];
      for (const { vendorid } of others) vendors.delete(Number(vendorid));
      for (const outcome of ['complete', 'complete']) {
        expect(await at.pull()).toMatchObject({ outcome });
        await at.clock.advance(3_600_000);
      }
      expect(at.query('SELECT vendorid, note FROM active_vendors ORDER BY vendorid')).toEqual(
        kept.map(({ vendorid, note }) => ({ vendorid, note })),
      );
    },
  );

  it('L14 are learned by the run in which lists stop to carry them, whether or not their values changed', async () => {
    const isLeft = { out: false };
    const { at, vendors } = await leavingOut(['city'], isLeft);
    await at.pull();
    isLeft.out = true;
    await at.clock.advance(3_600_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(at.query(fieldsKnown)).toEqual([{ field: 'city' }]);
    expect(at.query("SELECT explanation FROM findings WHERE fields LIKE '%unsent%'")).toEqual([
      { explanation: 'Reads by id show it.' },
    ]);
    vendors.edit(Number(vendors.all()[7]!['vendorid']), { city: 'Oslo' });
    await at.clock.advance(25 * 3_600_000);
    await at.pull();
    expect(wrong(at)).toEqual([]);
  });

  it('L14 an edit of one is found at the next run, and a new vendor is read at once', async () => {
    const { at, vendors } = await leavingOut(['note']);
    await at.pull();
    await at.clock.advance(60_000);
    const [first] = vendors.all();
    vendors.edit(Number(first!['vendorid']), { note: 'Pay late' });
    vendors.create({ vendor_name: 'New', language: 'en', note: 'Net 7' });
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(wrong(at)).toEqual([]);
  });

  it('L14 are read again once a day, and within the day only of vendors that changed', async () => {
    const { at, read, vendors } = await leavingOut(['note']);
    await at.pull();
    const changed = Number(vendors.all()[1]!['vendorid']);
    for (let hour = 0; hour < 20; hour += 1) {
      await at.clock.advance(3_600_000);
      read.length = 0;
      if (hour === 10) vendors.edit(changed, { city: 'Oslo' });
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(read).toEqual(hour === 10 ? [changed] : []);
    }
    await at.clock.advance(5 * 3_600_000);
    read.length = 0;
    await at.pull();
    expect(new Set(read).size).toBe(39);
  });

  it('L14 a day later are as old as that, and details_as_of says so until all were read again', async () => {
    const { at, vendors } = await leavingOut(['note']);
    await at.pull();
    await at.clock.advance(25 * 3_600_000);
    const began = at.clock.now();
    const [before] = at.query<{ details_as_of: string }>(freshness);
    expect(Date.parse(`${before!.details_as_of}Z`)).toBeLessThan(began - 24 * 3_600_000);
    vendors.edit(Number(vendors.all()[0]!['vendorid']), { note: 'x' });
    await at.pull();
    expect(at.query('SELECT 1 FROM vendors WHERE detail_seq = 0 OR detail_seq IS NULL')).toEqual([]);
    const [after] = at.query<{ details_as_of: string }>(freshness);
    // An old copy may have answered.
    expect(Date.parse(`${after!.details_as_of}Z`)).toBeGreaterThanOrEqual(began - 5_000);
    expect(Date.parse(`${after!.details_as_of}Z`)).toBeLessThanOrEqual(at.clock.now() - 5_000);
  });

  it('L14 cost one request a run where there are none, and end where lists carry them again', async () => {
    const isLeft = { out: false };
    const { at, read, vendors } = await leavingOut(['note'], isLeft);
    await at.pull();
    expect(new Set(read).size).toBe(40);
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
    expect(wrong(at)).toEqual([]);
  });

  it('L14 are looked for in each vendor in turn, also where runs of another kind, or account, lie between', async () => {
    const { at, read } = await leavingOut([], undefined, { vendors: 12 });
    await at.pull();
    read.length = 0;
    const signal = AbortSignal.abort();
    for (let runs = 0; runs < 40 && new Set(read).size < 12; runs += 1) {
      await at.installation.verify(account, { trigger: 'command', signal });
      await at.pull();
    }
    expect(new Set(read).size).toBe(12);
  });

  it.each([1, 4])(
    'L14 are found where %i of 100 vendors have one, by an account that never had to read by id',
    async (count) => {
      const { at } = await leavingOut(['note'], undefined, {
        vendors: 100,
        noted: (index) => index % Math.floor(100 / count) === 7,
      });
      await at.pull();
      expect(at.query(fieldsKnown)).toEqual([{ field: 'note' }]);
      expect(wrong(at)).toEqual([]);
    },
  );

  it('L14 are found where lists leave out when a vendor was changed', async () => {
    const { at } = await leavingOut(['updated_at', 'note']);
    await at.pull();
    expect(at.query(fieldsKnown)).toEqual([{ field: 'note' }, { field: 'updated_at' }]);
    expect(wrong(at)).toEqual([]);
  });

  it('L14 are found where lists say null of when a vendor was changed: none is changed to and fro', async () => {
    const { at } = await listsChanged((row) => (row['updated_at'] = null));
    await at.pull();
    const versions = (): unknown => at.query('SELECT count(*) AS versions FROM vendor_versions');
    await at.clock.advance(60_000);
    await at.pull();
    expect(at.query(fieldsKnown)).toEqual([{ field: 'updated_at' }]);
    expect(at.query('SELECT vendorid FROM vendors WHERE updated_at IS NULL')).toEqual([]);
    const before = versions();
    for (let run = 0; run < 3; run += 1) {
      await at.clock.advance(60_000);
      expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    }
    expect([versions(), wrong(at)]).toEqual([before, []]);
  });

  it('L14 are none where the service reads no vendor by id, or refuses it: no run fails', async () => {
    for (const status of [404, 405, 403, 500]) {
      const answer = ({ pathname }: URL): Response | undefined =>
        /\d$/.test(pathname) ? Response.json({}, { status }) : undefined;
      const { at } = await leavingOut(['note'], undefined, { answer });
      expect(await at.pull()).toMatchObject({ outcome: 'complete', notes: [] });
      expect(at.query(freshness)).toEqual([{ details_as_of: null }]);
    }
  });

  it.each([true, false])(
    'L14 leave marks of deliveries to reads by id until it is learned whether there are any (%s)',
    async (isOut) => {
      const isLeft = { out: isOut };
      let isCut = true;
      const { at, read, vendors } = await leavingOut(['note'], isLeft, {
        service: { paging: { perPage: 15, concurrency: 1 } },
        answer: ({ pathname, searchParams }) =>
          isCut && pathname.endsWith('bill_vendors') && searchParams.get('page') === '2'
            ? Response.json({}, { status: 500 })
            : undefined,
      });
      const marked = Number(vendors.all().find(({ vis_state }) => vis_state === 0)!['vendorid']);
      const { mirror } = at.installation.account(account);
      const deliver = async (): Promise<void> => {
        await mirror.deliveries.acceptDeliveries([newDelivery(marked, { receivedAt: at.clock.now() })]);
        await at.clock.advance(120_000);
      };
      const noted = { vendorid: marked, note: `Note of ${marked}` };
      await deliver();
      expect(await at.pull()).toMatchObject({ outcome: 'failed' });
      // Its page was applied, and nothing is known about what pages lack.
      expect(at.query('SELECT vendorid FROM active_vendors WHERE vendorid = ?', marked)).toHaveLength(1);
      expect(at.query('SELECT vendorid FROM dirty_vendors')).toEqual([{ vendorid: marked }]);
      isCut = false;
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      await at.clock.advance(120_000);
      await at.pull();
      expect(at.query('SELECT outcome FROM deliveries')).not.toContainEqual({ outcome: 'pending' });
      expect(at.query('SELECT vendorid, note FROM vendors WHERE vendorid = ?', marked)).toEqual([noted]);
      await deliver();
      read.length = 0;
      await at.pull();
      // Where lists leave nothing out, their pages answer, and one read by id looks whether that is still so.
      expect(read.length > 1 || read.includes(marked)).toBe(isOut);
    },
  );

  it('L14 stay known while a list carries them for some vendors alone', async () => {
    const isLeft = { out: true };
    const { at, vendors } = await leavingOut(['is_1099'], isLeft);
    await at.pull();
    const [first, second] = vendors.all().map(({ vendorid }) => Number(vendorid)) as [number, number];
    await at.clock.advance(60_000);
    vendors.create({ vendor_name: 'New', language: 'en' });
    isLeft.out = false;
    vendors.edit(second, { city: 'Oslo' });
    await at.pull();
    isLeft.out = true;
    await at.clock.advance(60_000);
    vendors.edit(first, { is_1099: false });
    await at.pull();
    expect(wrong(at)).toEqual([]);
  });

  it('L14 a vendor that no read by id shows holds up no other, and details_as_of says since when it was not read', async () => {
    let broken = 0;
    const answer = ({ pathname }: URL): Response | undefined =>
      pathname.endsWith(`/${broken}`) ? Response.json({}, { status: 403 }) : undefined;
    const { at, read, vendors } = await leavingOut(['note'], undefined, { answer });
    await at.pull();
    const [before] = at.query<{ details_as_of: string }>(freshness);
    await at.clock.advance(600_000);
    broken = Number(vendors.all()[3]!['vendorid']);
    vendors.edit(broken, { note: 'Unread' });
    await at.pull();
    const own = (): unknown[] =>
      at.query('SELECT detail_seq > 0 AS waits, details_at FROM vendors WHERE vendorid = ?', broken);
    expect(own()).toEqual([
      { waits: 1, details_at: expect.stringMatching(before!.details_as_of.slice(0, 13)) as string },
    ]);
    expect(at.query(freshness)).toEqual([{ details_as_of: (own()[0] as { details_at: string }).details_at }]);
    expect(wrong(at)).toEqual([`${broken}.note is "Note of ${broken}", should be "Unread"`]);
    expect(new Set(read).size).toBe(40);
  });

  it.each([
    ['500', () => Response.json({}, { status: 500 })],
    ['401', () => Response.json({}, { status: 401 })],
    ['a page of a proxy', () => new Response('<p>Later.')],
  ])('L14 a changed vendor whose read fails for now is read with the next run, after %s', async (_, failing) => {
    let broken = 0;
    const answer = ({ pathname }: URL): Response | undefined =>
      pathname.endsWith(`/${broken}`) ? failing() : undefined;
    const { at, vendors } = await leavingOut(['note'], undefined, { answer });
    await at.pull();
    await at.clock.advance(600_000);
    broken = Number(vendors.all()[3]!['vendorid']);
    vendors.edit(broken, { note: 'Unread' });
    await at.pull();
    expect(wrong(at)).toHaveLength(1);
    broken = 0;
    await at.clock.advance(600_000);
    await at.pull();
    expect(wrong(at)).toEqual([]);
  });

  it('L14 a changed vendor that one list hides, and whose read fails then, is read with the run that sees it again', async () => {
    let [broken, hidden] = [0, 0];
    const answer = ({ pathname }: URL): Response | undefined =>
      pathname.endsWith(`/${broken}`) ? Response.json({}, { status: 500 }) : undefined;
    const { at, vendors } = await leavingOut(['note'], undefined, { answer, hides: (vendorid) => vendorid === hidden });
    await at.pull();
    await at.clock.advance(600_000);
    broken = Number(vendors.all()[3]!['vendorid']);
    vendors.edit(broken, { note: 'Unread' });
    await at.pull();
    hidden = broken;
    await at.clock.advance(600_000);
    await at.pull();
    expect(wrong(at)).toHaveLength(2);
    [broken, hidden] = [0, 0];
    await at.clock.advance(600_000);
    await at.pull();
    expect(wrong(at)).toEqual([]);
  });

  it('L14 more than a hundred changed vendors whose reads fail do not stand before the others', async () => {
    const noAnswer = new Set<string>();
    const answer = ({ pathname }: URL): Response | undefined =>
      noAnswer.has(pathname.split('/').at(-1)!) ? Response.json({}, { status: 401 }) : undefined;
    const { at, vendors } = await leavingOut(['note'], undefined, { answer, vendors: 130 });
    await at.pull();
    await at.clock.advance(600_000);
    for (const wire of vendors.all().slice(0, 101)) {
      vendors.edit(Number(wire['vendorid']), { note: 'Unread' });
      noAnswer.add(String(wire['vendorid']));
    }
    await at.pull();
    expect(at.query('SELECT count(*) AS n FROM vendors WHERE detail_seq = 0')).toEqual([{ n: 0 }]);
  });

  it.each<[string, string, readonly string[]]>([
    ['breaker_tripped', 'of absences', ['readDeleted=404', 'visStateFilter=ignored']],
    [
      'too_many_unreadable',
      'of vendors that are counted and not shown',
      ['readDeleted=404', 'visStateFilter=ignored', 'total=counts_hidden'],
    ],
  ])('L5 L14 are read although a run ends with %s and a person must decide %s', async (code, _, world) => {
    const { at, vendors } = await leavingOut(['note'], undefined, { world });
    await at.pull();
    await at.clock.advance(60_000);
    const [kept, ...others] = vendors.all().map((wire) => Number(wire['vendorid']));
    for (const vendorid of others.slice(0, 20)) vendors.edit(vendorid, { vis_state: 1 });
    vendors.edit(kept!, { note: 'Pay late' });
    for (let hours = 0; hours < 2; hours += 1) {
      await at.clock.advance(3_600_000);
      expect((await at.pull()).error?.code).toBe(code);
    }
    expect(at.query(`SELECT note FROM vendors WHERE vendorid = ${kept}`)).toEqual([{ note: 'Pay late' }]);
  });

  it.each([false, true])(
    'L14 of a marked vendor are read by id: no list answers for them, unless that failed (%s)',
    async (hasFailed) => {
      const { at, vendors } = await leavingOut(['note']);
      await at.pull();
      const { mirror, clock } = at.installation.account(account);
      const [first] = vendors.all().map(({ vendorid }) => Number(vendorid)) as [number];
      await mirror.deliveries.acceptDeliveries([newDelivery(first, { receivedAt: clock.now() })]);
      const [mark] = await mirror.queue.dueMarks(account, 1);
      // Due long after the run: nobody reads the vendor meanwhile.
      const deferral = {
        delay: 7_200_000,
        reason: 'delivery',
        attempts: 1,
        error: hasFailed ? 'It failed.' : null,
      } as const;
      await mirror.queue.defer(mark!, deferral);
      await at.clock.advance(600_000);
      const stop = new AbortController();
      const begun = at.clock.now();
      // Only the list is read.
      await at.pull({ signal: stop.signal, onPages: () => stop.abort() });
      expect(at.query('SELECT vendorid FROM dirty_vendors')).toEqual(hasFailed ? [] : [{ vendorid: first }]);
      expect(at.query('SELECT detail_seq = 0 AS due FROM vendors WHERE vendorid = ?', first)).toEqual([
        { due: Number(hasFailed) },
      ]);
      const [fresh] = at.query<{ details_as_of: string }>(freshness);
      expect(Date.parse(`${fresh!.details_as_of}Z`)).toBeLessThan(begun - 500_000);
    },
  );

  it.each([
    [800, 'one process'],
    [3_600, 'one process'],
    [3_600, 'a process for each run'],
    [4_800, 'a process for each run'],
  ])('L14 are read in the end where each answer takes %i ms, and a person waits, by %s', async (latency, processes) => {
    const { at } = await leavingOut(['note'], undefined, { vendors: 12, latency });
    for (let runs = 0; runs < 5; runs += 1) {
      expect(at.query('SELECT vendorid FROM vendors WHERE note IS NOT NULL').length).toBeGreaterThanOrEqual(
        Math.min(12, runs * 3),
      );
      expect(await at.pull({ trigger: 'command' })).toMatchObject({ outcome: 'complete' });
      if (processes !== 'one process') await at.reopen();
    }
    expect(wrong(at)).toEqual([]);
  });

  it('L14 that have no place in the rate hold up a person no longer than any others, and are read with the next run', async () => {
    const { at } = await leavingOut(['note'], undefined, {
      vendors: 60,
      service: { rateLimit: { all: '60/1m' }, paging: { perPage: 100 } },
    });
    const notes = (): number => at.query('SELECT vendorid FROM vendors WHERE note IS NOT NULL').length;
    const began = at.clock.monotonic();
    expect(await at.pull({ trigger: 'command' })).toMatchObject({ outcome: 'complete' });
    expect(at.clock.monotonic() - began).toBeLessThanOrEqual(4_000);
    const first = notes();
    expect(first).toBeGreaterThan(10);
    await at.clock.advance(60_000);
    expect(await at.pull({ trigger: 'command' })).toMatchObject({ outcome: 'complete' });
    expect(notes()).toBeGreaterThan(first + 10);
  });

  it('L14 are read with at most half of the rate that others leave, and for two minutes a run', async () => {
    const asked: { at: number; single: boolean }[] = [];
    const { at } = await leavingOut(['note'], undefined, {
      vendors: 300,
      service: { rateLimit: { all: '60/1m' }, paging: { perPage: 100 } },
      onRequest: ({ clock }) => void asked.push({ at: clock.monotonic(), single: false }),
    });
    const began = at.clock.monotonic();
    await at.pull({ trigger: 'schedule' });
    expect(asked.length).toBeGreaterThan(50);
    for (const { at: from } of asked)
      expect(asked.filter(({ at: moment }) => moment >= from && moment < from + 60_000).length).toBeLessThanOrEqual(27);
    expect(at.clock.monotonic() - began).toBeLessThanOrEqual(130_000);
    expect(at.query(freshness)).toEqual([{ details_as_of: '1970-01-01 00:00:00.000' }]);
    const again = at.clock.monotonic();
    await at.pull({ trigger: 'command' });
    // A person waits.
    expect(at.clock.monotonic() - again).toBeLessThanOrEqual(90_000);
  });
});

/** How lists show a vendor of which reads by id show the record. */
const shownOtherwise: readonly (readonly [string, string, (wire: Wire) => Wire])[] = [
  ['no balance', 'outstanding_balance', () => ({ outstanding_balance: [] })],
  ['no tax defaults', 'tax_defaults', () => ({ tax_defaults: [] })],
  ['no phone', 'phone', () => ({ phone: null })],
  ['a masked account number', 'account_number', () => ({ account_number: '****' })],
  ['a note that is cut', 'note', ({ note }) => ({ note: typeof note === 'string' ? note.slice(0, 100) : note })],
  [
    'another state',
    'vis_state',
    ({ vendorid, vis_state }) => ({ vis_state: Number(vendorid) % 7 === 0 ? 0 : vis_state }),
  ],
];

/** Vendors of which lists show something otherwise, and each request for a single one. */
async function showing(
  otherwise: (wire: Wire) => Wire,
  isTrue = { list: false },
  answer: NonNullable<AccountOptions['answer']> = () => undefined,
) {
  const read: number[] = [];
  const at = await testbed({
    level: 'account',
    answer,
    vendors: 40,
    world: ['noteInList=yes', 'listArchived=shown'],
    settings: { service: { paging: { perPage: 100 } } },
    rewrite: (text, url) => {
      const single = /bill_vendors\/(\d+)$/.exec(url.pathname);
      if (single) read.push(Number(single[1]));
      const answer = JSON.parse(text) as { response?: { result?: { bill_vendors?: Wire[] } } };
      const rows = answer.response?.result?.bill_vendors;
      if (!isTrue.list) for (const row of rows ?? []) Object.assign(row, otherwise(row));
      return JSON.stringify(answer);
    },
  });
  const vendors = at.sandbox.vendors(account);
  for (const wire of vendors.all()) {
    const vendorid = Number(wire['vendorid']);
    vendors.edit(vendorid, { vis_state: 0 });
    vendors.edit(vendorid, { phone: `555 ${vendorid}`, account_number: `AN${vendorid}` });
    vendors.edit(vendorid, { note: vendorid % 5 === 0 ? 'x'.repeat(200 + (vendorid % 9)) : 'short' });
    if (vendorid % 7 === 0) vendors.edit(vendorid, { vis_state: 2 });
    vendors.setBalance(vendorid, 'outstanding', [{ amount: `${vendorid}.50`, code: 'EUR' }]);
  }
  return { at, read, vendors, isTrue };
}

const verified = (at: Testbed<'account'>, isFull: boolean): Promise<{ outcome: string }> =>
  at.installation.verify(account, { trigger: 'command', signal: new AbortController().signal, isFull });

describe.each(shownOtherwise)('lists that show %s', (_, field, otherwise) => {
  it(`L14 leave ${field} out: it is read by id of each vendor, and no list takes it back`, async () => {
    const { at, read } = await showing(otherwise);
    for (let runs = 0; runs < 4; runs += 1) {
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(wrong(at)).toEqual([]);
      await at.clock.advance(3_600_000);
    }
    expect(at.query(fieldsKnown)).toEqual([{ field }]);
    expect(at.query("SELECT fields FROM findings WHERE kind = 'field_drift'")).toEqual([
      { fields: `{"only_by_id":["${field}"]}` },
    ]);
    expect(at.query('SELECT details_at FROM vendors WHERE details_at < ?', '1971')).toEqual([]);
    expect(await verified(at, true)).toMatchObject({ outcome: 'equal' });
    read.length = 0;
    await at.pull();
    expect(read).toEqual([]);
  });

  it(`L14 are forgotten where lists show ${field} as it is`, async () => {
    const { at, isTrue } = await showing(otherwise);
    await at.pull();
    isTrue.list = true;
    for (let runs = 0; runs < 2; runs += 1) {
      await at.clock.advance(3_600_000);
      await at.pull();
    }
    expect(at.query(fieldsKnown)).toEqual([]);
    expect(at.query(freshness)).toEqual([{ details_as_of: null }]);
    expect(wrong(at)).toEqual([]);
  });

  it(`L14 that once showed ${field}, are noticed`, async () => {
    const { at, isTrue } = await showing(otherwise, { list: true });
    for (let runs = 0; runs < 3; runs += 1) {
      await at.pull();
      await at.clock.advance(3_600_000);
    }
    expect(at.query(fieldsKnown)).toEqual([]);
    isTrue.list = false;
    for (let runs = 0; runs < 3; runs += 1) {
      await at.pull();
      await at.clock.advance(3_600_000);
    }
    expect(at.query(fieldsKnown)).toEqual([{ field }]);
    expect(wrong(at)).toEqual([]);
  });
});

describe('lists that show a masked account number', () => {
  it.each([
    ['is not found', () => Response.json({}, { status: 404 })],
    ['is refused', () => Response.json({}, { status: 403 })],
  ])('L14 are learned although one of the vendors that is read again %s', async (_, refusal) => {
    const asked = new Set<string>();
    let lost: string | undefined;
    const { at } = await showing(
      () => ({ account_number: '****' }),
      { list: false },
      ({ pathname }) => {
        if (!/\d$/.test(pathname)) return undefined;
        // The first was read to find out whether reads by id are offered.
        if (asked.has(pathname) && [...asked][0] !== pathname) lost ??= pathname;
        asked.add(pathname);
        return pathname === lost ? refusal() : undefined;
      },
    );
    await at.pull();
    expect(lost).toBeDefined();
    expect(at.query(fieldsKnown)).toEqual([{ field: 'account_number' }]);
  });

  it('L14 are learned although the field of one vendor differs in every answer', async () => {
    let answers = 0;
    const asked = new Set<string>();
    let odd: string | undefined;
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings: { service: { paging: { perPage: 100 } } },
      rewrite: (text, url) => {
        const answer = JSON.parse(text) as { response?: { result?: { bill_vendors?: Wire[]; bill_vendor?: Wire } } };
        const { bill_vendors: rows = [], bill_vendor: single } = answer.response?.result ?? {};
        for (const row of rows) Object.assign(row, { account_number: '****' });
        if (single && asked.size > 10 && asked.has(url.pathname)) odd ??= url.pathname;
        asked.add(url.pathname);
        if (single && url.pathname === odd) Object.assign(single, { account_number: `${(answers += 1)}` });
        return JSON.stringify(answer);
      },
    });
    const vendors = at.sandbox.vendors(account);
    for (const { vendorid } of vendors.all())
      vendors.edit(Number(vendorid), { account_number: `AN${Number(vendorid)}` });
    await at.pull();
    expect(answers).toBeGreaterThan(1);
    expect(at.query(fieldsKnown)).toEqual([{ field: 'account_number' }]);
  });
});

describe('lists that show what reads by id do', () => {
  it('L14 are believed where balances move while vendors are read', async () => {
    const { at, vendors, read } = await showing(() => ({}));
    const ids = vendors.all().map(({ vendorid }) => Number(vendorid));
    for (let runs = 0; runs < 5; runs += 1) {
      await at.pull({
        onPages: () => {
          for (const vendorid of ids.slice(runs, runs + 8))
            vendors.setBalance(vendorid, 'outstanding', [{ amount: `${runs}.25`, code: 'EUR' }]);
        },
      });
      await at.clock.advance(3_600_000);
    }
    expect(at.query('SELECT field FROM _detail_fields')).toEqual([]);
    read.length = 0;
    await at.pull();
    expect(read.length).toBeLessThanOrEqual(1);
  });

  it('L14 an account number that was masked in lists and is changed is in the change feed, of any vendor', async () => {
    const { at, vendors } = await showing(() => ({ account_number: '****' }));
    for (let runs = 0; runs < 6; runs += 1) {
      await at.pull();
      await at.clock.advance(3_600_000);
    }
    const ids = vendors
      .all()
      .map(({ vendorid }) => Number(vendorid))
      .slice(0, 5);
    for (const vendorid of ids) vendors.edit(vendorid, { account_number: `REAL ${vendorid}` });
    await at.pull();
    expect(
      at.query(
        "SELECT vendorid, old, new FROM vendor_changes WHERE field = 'account_number' AND new LIKE '%REAL%' ORDER BY vendorid",
      ),
    ).toEqual(ids.map((vendorid) => ({ vendorid, old: `AN${vendorid}`, new: `REAL ${vendorid}` })));
  });
});

describe('a vendor that one page shows twice, and not alike', () => {
  it.each(['before', 'after'])('A2 is read by id, and neither row is believed (the other stands %s)', async (place) => {
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings: { service: { paging: { perPage: 100 } } },
      rewrite: changingResults(({ bill_vendors: rows }) => {
        const row = rows?.[3];
        if (row) rows.splice(place === 'before' ? 3 : 4, 0, { ...row, vendor_name: 'Another name' });
      }),
    });
    const vendors = at.sandbox.vendors(account);
    const third = at.query.bind(at, 'SELECT vendorid, vendor_name FROM vendors WHERE vendor_name = ?', 'Another name');
    for (let runs = 0; runs < 3; runs += 1) {
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      await at.clock.advance(3_600_000);
    }
    expect(third()).toEqual([]);
    const [{ vendorid }] = at.query<{ vendorid: number }>(
      `SELECT vendorid FROM findings WHERE kind = 'field_drift' AND fields = '{"repeated":["vendorid"]}' LIMIT 1`,
    ) as [{ vendorid: number }];
    vendors.edit(vendorid, { vendor_name: 'Renamed' });
    await at.pull();
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', vendorid)).toEqual([
      { vendor_name: 'Renamed' },
    ]);
    expect(at.query('SELECT * FROM dirty_vendors')).toEqual([]);
    expect(await verified(at, true)).toMatchObject({ outcome: 'equal' });
  });
});

describe('a vendor that two pages of a list show, and not alike', () => {
  it.each([1, 2])('A2 is read by id, and the other row is not believed (on page %i)', async (other) => {
    let first: Wire | undefined;
    const at = await testbed({
      level: 'account',
      vendors: 20,
      settings: { service: { paging: { perPage: 10 } } },
      rewrite: (text, url) => {
        const answer = JSON.parse(text) as { response?: { result?: { bill_vendors?: Wire[] } } };
        const { bill_vendors: rows = [] } = answer.response?.result ?? {};
        const page = Number(url.searchParams.get('page'));
        first ??= page === 1 ? rows[3] : undefined;
        if (!first || rows.length === 0 || url.searchParams.has('search[vis_state]')) return text;
        const bent = { ...first, vendor_name: 'Another name' };
        if (page === 1) rows.splice(3, 1, other === 1 ? bent : first);
        if (page === 2) rows.splice(2, 0, other === 2 ? bent : first);
        return JSON.stringify(answer);
      },
    });
    const named = at.query.bind(at, 'SELECT vendorid FROM vendors WHERE vendor_name = ?', 'Another name');
    for (let runs = 0; runs < 3; runs += 1) {
      await at.pull();
      expect(named()).toEqual([]);
      await at.clock.advance(3_600_000);
    }
    expect(at.query('SELECT * FROM dirty_vendors')).toEqual([]);
  });
});
