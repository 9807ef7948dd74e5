/** Which marks are due, what ends them, and vendors that are marked again while they are read. */
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import type { ReadStamp } from '../../../src/domain/reading.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account, row } from '../../support/testbed/store.ts';
import type { Mark } from '../../../src/store/queue.ts';

/** The mark of vendor 1, once it is due, and how long that took, in milliseconds. */
async function due({ mirror, clocks }: Testbed<'store'>): Promise<[mark: Mark, waited: number]> {
  const waited = (await mirror.queue.untilNextMark(account)) ?? Infinity;
  clocks.running += waited;
  clocks.wall += waited;
  const [mark] = await mirror.queue.dueMarks(account, 1);
  return [mark!, waited];
}

const secondLook = { delay: 60_000, reason: 'second_look', error: null } as const;

it('C15 E7 a vendor that is announced faster than it can be read is delayed longer each time a reading shows nothing new', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const pauses: number[] = [];
  for (let reading = 0; reading < 8; reading++) {
    const [mark, waited] = await due(at);
    pauses.push(waited);
    await at.told();
    const deferred = await at.mirror.queue.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
    expect(deferred).toBe(false);
    await at.told();
  }
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  const [mark, waited] = await due(at);
  expect([waited, await at.mirror.queue.settle(mark, 'unchanged')]).toEqual([30_000, true]);
  expect(at.query(`SELECT DISTINCT outcome FROM deliveries`)).toEqual([{ outcome: 'unchanged' }]);
});

it('C20 a vendor that is announced while it is being parked is not parked, and is delayed', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [first] = await due(at);
  await at.mirror.queue.defer(first, { delay: 5_000, reason: 'delivery', attempts: 12, error: 'It fails.' });
  const [mark] = await due(at);
  await at.told();
  await at.mirror.queue.park(mark, 'It fails.');
  expect(await due(at)).toMatchObject([{ attempts: 12, reason: 'delivery' }, 30_000]);
});

it('C4 a vendor whose reading brought something new is read again at once if it was announced meanwhile', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [mark] = await due(at);
  await at.told();
  expect(await at.mirror.queue.settle(mark, 'applied')).toBe(false);
  expect((await due(at))[1]).toBe(0);
});

it.each(['asked', 'retry'] as const)('a delayed vendor is read at once if a mark says %s', async (reason) => {
  const at = await testbed({ level: 'store' });
  await at.told();
  for (let reading = 0; reading < 7; reading++) {
    const [mark] = await due(at);
    await at.told();
    await at.mirror.queue.defer(mark, { ...secondLook, attempts: mark.attempts + 1 });
  }
  expect(await at.mirror.queue.untilNextMark(account)).toBe(30_000);
  await at.mirror.queue.markVendors(account, [1], reason, 0);
  expect(await at.mirror.queue.untilNextMark(account)).toBe(0);
  expect(await due(at)).toMatchObject([{ attempts: 0 }, 0]);
});

it.each([
  ['settled', (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.settle(mark, 'applied')],
  [
    'put off',
    (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.defer(mark, { ...secondLook, attempts: 0 }, 'applied'),
  ],
  ['parked', (at: Testbed<'store'>, mark: Mark) => at.mirror.queue.park(mark, 'It fails.')],
])('C4 C20 a mark that is %s and the journal change together: if one cannot be written, neither is', async (_, end) => {
  const at = await testbed({ level: 'store' });
  await at.told();
  const [mark] = await due(at);
  const allow = at.refuse('UPDATE', 'deliveries');
  await expect(end(at, mark)).rejects.toThrow('refused');
  expect(await due(at)).toEqual([mark, 0]);
  expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'pending' }]);
  allow();
  await end(at, mark);
  expect(await at.mirror.queue.dueMarks(account)).toEqual([]);
  expect(at.query('SELECT outcome FROM deliveries')).not.toEqual([{ outcome: 'pending' }]);
});

/** The moment by the wall clock, as it is stored. */
const moment = ({ clocks }: Testbed<'store'>, later = 0): string => timestamp(clocks.wall + later);

describe('the queue of an account', () => {
  it('gives the due marks out, first those that were not tried before, then the oldest, up to a limit', async () => {
    const at = await testbed({ level: 'store' });
    const { queue } = at.mirror;
    await at.open('two');
    for (const [vendorid, delay] of [
      [1, 3_000],
      [2, 1_000],
      [3, 2_000],
      [4, 9_000],
    ] as const)
      await queue.markVendors(account, [vendorid], 'guarded', delay);
    await queue.markVendors('two', [5, 6], 'asked', 0);
    expect([await queue.untilNextMark(account), await queue.untilNextMark('two')]).toEqual([1_000, 0]);
    at.clocks.running += 3_000;
    const due = async (limit?: number): Promise<number[]> =>
      (await queue.dueMarks(account, limit)).map(({ vendorid }) => vendorid);
    expect([await due(), await due(2), await due(0)]).toEqual([[2, 3, 1], [2, 3], []]);
    const [mark] = await queue.dueMarks(account, 1);
    expect(mark).toEqual({
      ...{ account_id: account, vendorid: 2, generation: expect.any(Number) as number, attempts: 0 },
      ...{ reason: 'guarded', marked_at: moment(at) },
    });
    await queue.defer(mark!, { delay: 0, reason: 'retry', attempts: 1, error: 'It fails.' });
    expect(await due()).toEqual([3, 1, 2]);
    expect([await queue.countMarks(account), await queue.countMarks('two')]).toEqual([4, 2]);
    // The next but those that are overdue; overdue ones are due now.
    expect([await queue.untilNextMark(account), await queue.untilNextMark(account, await at.mirror.moment())]).toEqual([
      0, 6_000,
    ]);
  });

  it('is empty where nothing is marked', async () => {
    const { queue } = (await testbed({ level: 'store' })).mirror;
    expect([
      await queue.dueMarks(account),
      await queue.untilNextMark(account),
      await queue.countMarks(account),
    ]).toEqual([[], undefined, 0]);
    expect([await queue.parkedMarks(account), await queue.parkedDeliveries(account)]).toEqual([[], []]);
  });

  it('keeps parked marks apart, with what failed, until a reconciliation marks their vendors again', async () => {
    const at = await testbed({ level: 'store' });
    const { queue } = at.mirror;
    await at.open('two');
    await at.told();
    await at.told();
    await queue.markVendors('two', [1], 'asked', 0);
    const [mark] = await queue.dueMarks(account);
    await queue.park(mark!, 'It fails.');
    expect([
      await queue.countMarks(account),
      await queue.untilNextMark(account),
      await queue.dueMarks(account),
    ]).toEqual([0, undefined, []]);
    expect([await queue.parkedMarks(account), await queue.parkedMarks('two')]).toEqual([[mark], []]);
    expect(at.query('SELECT last_error, due_at, due_ms FROM dirty_vendors WHERE account_id = ?', account)).toEqual([
      { last_error: 'It fails.', due_at: null, due_ms: null },
    ]);
    expect(at.query('SELECT outcome, settled_at FROM deliveries')).toEqual(
      Array(2).fill({ outcome: 'parked', settled_at: null }),
    );
    expect([await queue.parkedDeliveries(account), await queue.parkedDeliveries('two')]).toEqual([
      [{ vendorid: 1, upTo: 2 }],
      [],
    ]);
    await at.told();
    await queue.settleParkedDeliveries(account, { vendorid: 1, upTo: 2 });
    expect(at.query('SELECT outcome, settled_at FROM deliveries ORDER BY id')).toEqual([
      ...Array<unknown>(2).fill({ outcome: 'not_found', settled_at: moment(at) }),
      { outcome: 'pending', settled_at: null },
    ]);
  });

  it('says when a deferred mark is due, in both clocks, and what failed', async () => {
    const at = await testbed({ level: 'store' });
    await at.told();
    const [mark] = await at.mirror.queue.dueMarks(account);
    expect(
      await at.mirror.queue.defer(mark!, { delay: 5_000.5, reason: 'retry', attempts: 3, error: 'It fails.' }),
    ).toBe(true);
    expect(at.query('SELECT due_at, due_ms, reason, attempts, last_error FROM dirty_vendors')).toEqual([
      {
        due_at: moment(at, 5_000.5),
        due_ms: (await at.mirror.moment()) + 5_001,
        reason: 'retry',
        attempts: 3,
        last_error: 'It fails.',
      },
    ]);
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'pending' }]);
  });
});

describe('a mark that ends', () => {
  /** What a sweep had found for a vendor with two deliveries, once its mark ended: which of the findings are explained. */
  async function explained(
    end: (at: Testbed<'store'>, mark: Mark) => Promise<unknown>,
  ): Promise<[unknown[], unknown[]]> {
    const at = await testbed({ level: 'store' });
    const run = await at.mirror.runs.beginRun({ accountId: account, kind: 'reconcile', trigger: 'schedule' });
    const finding = { kind: 'missed_update', vendorid: 1, fields: ['city'] } as const;
    await at.mirror.findings.addFindings(run, [finding, finding]);
    at.clocks.wall += 60_000;
    await at.told();
    await at.told();
    const [mark] = await at.mirror.queue.dueMarks(account);
    await end(at, mark!);
    const values = (sql: string): unknown[] => at.query<{ it: unknown }>(sql).map(({ it }) => it);
    return [
      values('SELECT explained_at IS NOT NULL AS it FROM findings ORDER BY id'),
      values('SELECT outcome AS it FROM deliveries ORDER BY id'),
    ];
  }

  it.each<[string, (at: Testbed<'store'>, mark: Mark) => Promise<unknown>, number[], string[]]>([
    [
      'unchanged: each delivery explains a finding',
      ({ mirror }, mark) => mirror.queue.settle(mark, 'unchanged'),
      [1, 1],
      ['unchanged', 'unchanged'],
    ],
    [
      'applied: each but the last does',
      ({ mirror }, mark) => mirror.queue.settle(mark, 'applied'),
      [1, 0],
      ['applied', 'applied'],
    ],
    [
      'not found: none does',
      ({ mirror }, mark) => mirror.queue.settle(mark, 'not_found'),
      [0, 0],
      ['not_found', 'not_found'],
    ],
    ['parked: none does', ({ mirror }, mark) => mirror.queue.park(mark, 'It fails.'), [0, 0], ['parked', 'parked']],
    [
      'deferred, and its deliveries applied',
      ({ mirror }, mark) => mirror.queue.defer(mark, { ...secondLook, attempts: 0 }, 'applied'),
      [1, 0],
      ['applied', 'applied'],
    ],
    [
      'left, and the first of its deliveries answered',
      async ({ mirror }, mark) =>
        mirror.queue.settleDeliveries(mark, (await mirror.queue.openDeliveries(mark)).slice(0, 1)),
      [0, 0],
      ['applied', 'pending'],
    ],
  ])('%s', async (_, end, findings, deliveries) => {
    expect(await explained(end)).toEqual([findings, deliveries]);
  });

  it('changes nothing of another vendor or account, nor of the mark that came since', async () => {
    const at = await testbed({ level: 'store' });
    const { queue } = at.mirror;
    const other = await at.open('two');
    await at.told();
    await other.told();
    await queue.markVendors(account, [2], 'asked', 0);
    const [mark] = await queue.dueMarks(account);
    expect(await queue.settle({ ...mark!, generation: mark!.generation + 1 }, 'applied')).toBe(false);
    expect(at.query('SELECT outcome FROM deliveries')).toEqual([{ outcome: 'pending' }, { outcome: 'pending' }]);
    expect(await queue.settle(mark!, 'applied')).toBe(true);
    expect(at.query('SELECT account_id, outcome FROM deliveries ORDER BY id')).toEqual([
      { account_id: account, outcome: 'applied' },
      { account_id: 'two', outcome: 'pending' },
    ]);
    expect(at.query('SELECT account_id, vendorid FROM dirty_vendors ORDER BY account_id')).toEqual([
      { account_id: account, vendorid: 2 },
      { account_id: 'two', vendorid: 1 },
    ]);
  });
});

it('vendors are told that will be read, and of which no reading has failed', async () => {
  const at = await testbed({ level: 'store' });
  await at.told();
  expect(await at.mirror.queue.untried(account)).toEqual([1]);
  expect(await at.mirror.queue.untried('another')).toEqual([]);
  const [mark] = await due(at);
  await at.mirror.queue.defer(mark, { delay: 5_000, reason: 'delivery', attempts: 1, error: 'It fails.' });
  expect(await at.mirror.queue.untried(account)).toEqual([]);
});

it.each<[string, number, string[], number]>([
  ['before all deliveries answers none', 0, ['pending', 'pending'], 1],
  ['between two deliveries answers the first', 1, ['applied', 'pending'], 1],
  ['after all deliveries answers them and ends the mark', 2, ['applied', 'applied'], 0],
])('C4 a reading whose request began %s', async (_, begins, outcomes, open) => {
  const at = await testbed({ level: 'store' });
  const stamps = [await at.ask()];
  for (let delivery = 0; delivery < 2; delivery += 1) {
    for (const clock of ['running', 'wall'] as const) at.clocks[clock] += 1_000;
    await at.told();
    for (const clock of ['running', 'wall'] as const) at.clocks[clock] += 1_000;
    stamps.push(await at.ask());
  }
  const context = { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 0, rest: 0 } as const;
  await at.mirror.readings.applyReading({ stamp: stamps[begins]!, row: row(1, 'new') }, context);
  expect(at.query('SELECT outcome FROM deliveries ORDER BY id').map(({ outcome }) => outcome)).toEqual(outcomes);
  const marks = at.query<{ marked_ms: number }>('SELECT marked_ms FROM dirty_vendors');
  expect(marks).toHaveLength(open);
  // What stays open is no older than the request that answered the rest.
  if (begins === 1) expect(marks[0]!.marked_ms).toBe(stamps[1]!.begun);
});

describe('a reading whose request began between two deliveries', () => {
  it.each([-3_600_000, -5_000, -900, 0, 900, 5_000, 3_600_000])(
    'C4 does not answer the second, though the clock is set by %i ms before that',
    async (set) => {
      const at = await testbed({ level: 'store' });
      const pass = (): void => {
        for (const clock of ['running', 'wall'] as const) at.clocks[clock] += 500;
      };
      const settled = async (stamp: ReadStamp): Promise<boolean> => {
        const context = { accountId: account, source: 'pull', runId: null, deliveryId: null, lag: 0, rest: 0 } as const;
        await at.mirror.readings.applyReading({ stamp, row: row(1, 'new') }, context);
        return at.query(`SELECT id FROM deliveries WHERE id = 2 AND outcome <> 'pending'`).length > 0;
      };
      await at.told();
      pass();
      const between = await at.ask();
      pass();
      at.clocks.wall += set;
      await at.told();
      pass();
      expect(await settled(between)).toBe(false);
      expect(await settled(await at.ask())).toBe(true);
      expect(at.query('SELECT vendorid FROM dirty_vendors')).toEqual([]);
    },
  );
});
