/** What counts as evidence of an absence: lists that could have shown a vendor, and reads by id that did not find it. */
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../src/domain/errors.ts';
import type { Verdict } from '../../../src/store/acceptance.ts';
import {
  absencesByReading,
  absencesBySweep,
  allSeen,
  confirmAbsences,
  describeUnresolved,
  isSecondProof,
  lacksLists,
  learnShown,
  notFoundBy,
  readById,
  readUnseen,
  ShownStates,
  unlearnShown,
  unlistedIn,
  type Unseen,
} from '../../../src/sync/absences.ts';
import type { ReadResult, SyncAccount } from '../../../src/sync/sync-account.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { account, lag, row } from '../../support/testbed/store.ts';

describe('the states that lists show', () => {
  const learned = new Map([
    [2, 'list'],
    [1, 'filter'],
    [null, 'list'],
  ] as const);

  it.each<[string, ShownStates, (number | null)[]]>([
    ['without lists of single states', new ShownStates(learned), [0, 2, null]],
    ['with the list of another state', new ShownStates(learned, new Set([2])), [0, 2, null]],
    ['with the list that alone shows deleted vendors', new ShownStates(learned, new Set([1])), [0, 1, 2, null]],
    ['where nothing was learned', new ShownStates(new Map(), new Set([1, 2])), [0]],
    ['where a list is lacking that may show any vendor', new ShownStates(learned, new Set([1]), true), []],
  ])('L8 L9 %s', (_, shown, expected) => {
    expect([0, 1, 2, null].filter((state) => shown.has(state))).toEqual(expected);
  });

  it.each<[string, boolean, Parameters<typeof lacksLists>[1], boolean]>([
    ['no list was asked for, and one showed something before', true, undefined, true],
    ['no list was asked for, and none ever showed anything', false, undefined, false],
    ['all lists were complete', true, { lacks: 'nothing' }, false],
    ['one was incomplete', false, { lacks: 'incomplete' }, true],
    ['the service declined one, which may be an accident', false, { lacks: 'once' }, true],
    ['the service declined one again, and one showed something before', true, { lacks: 'again' }, true],
    ['the service declined one again, and none ever showed anything', false, { lacks: 'again' }, false],
    ['the service declines them, and one showed something before', true, { lacks: 'settled' }, true],
    ['the service declines them, and none ever showed anything', false, { lacks: 'settled' }, false],
  ])('L9 lack lists where %s: %#', (_, filtersShow, hidden, expected) => {
    expect(lacksLists(filtersShow, hidden)).toBe(expected);
  });
});

describe('evidence', () => {
  const stamp = { readSeq: 9, begun: 2_000 };

  it('L10 is from the begin of the request, or of the sweep, to its end', () => {
    expect(unlistedIn({ began: stamp, ended: 2_700 })).toEqual({ kind: 'unlisted', begun: 2_000, ended: 2_700 });
    expect(notFoundBy({ stamp, ended: 2_700 })).toEqual({ kind: 'not_found', begun: 2_000, ended: 2_700 });
  });

  it.each([
    ['as long after the first as copies may be old', 1_500, 500, true],
    ['sooner', 1_501, 500, false],
    ['of which there was no first', undefined, 0, false],
  ])('L10 is a second proof %s', (_, since, lag, expected) => {
    for (const evidence of [unlistedIn({ began: stamp, ended: 9_000 }), notFoundBy({ stamp, ended: 9_000 })])
      expect(isSecondProof(since, evidence, lag)).toBe(expected);
  });

  it('becomes an absence with the number of the request that gave it', () => {
    const found = { stamp, ended: 2_700 };
    expect(absencesByReading([5, 7], new Map([[7, found]]))).toEqual([
      { vendorid: 7, stamp, evidence: { kind: 'not_found', begun: 2_000, ended: 2_700 } },
    ]);
    expect(absencesBySweep([5, 7], { began: stamp, ended: 2_700 })).toEqual(
      [5, 7].map((vendorid) => ({
        ...{ vendorid, stamp },
        evidence: { kind: 'unlisted', begun: 2_000, ended: 2_700 },
      })),
    );
  });

  it('L11 there is none where a sweep showed all vendors, and all are the measure of the breaker', () => {
    const none = { suspects: [], hidden: [], absent: [], recent: [], guardedSeq: undefined };
    const empty = { stateOf: new Map(), doubted: new Map(), listings: new Map() };
    expect(allSeen(12)).toEqual({ ...none, ...empty, present: 12, base: 12 });
    const listing = { shown: 5, leftOut: 0, found: 0 };
    expect(
      allSeen(
        12,
        new Map([
          [0, 7],
          [2, 5],
        ]),
      ).listings,
    ).toEqual(new Map([[2, { list: listing, filter: listing }]]));
  });
});

/** How the service answers a read by id. */
type Answer = 'same' | 'edited' | 'deleted' | 'rebalanced' | 'created' | 'gone' | 'proxy' | 'denied' | 'broken';

const before = { vis_state: 0, presence: 'present', updated_at: '2026-11-20 12:00:00', held_since_ms: 0 } as const;
const updated = (changed: readonly string[], vis_state: 0 | 1 = 0): Verdict => {
  return { kind: 'updated', before, after: { ...before, vis_state }, changed };
};
const shown: Partial<Record<Answer, Verdict>> = {
  same: { kind: 'unchanged', heldSince: 0, visState: 0 },
  edited: updated(['city', 'updated_at']),
  deleted: updated(['vis_state'], 1),
  rebalanced: updated(['outstanding_balance']),
  created: { kind: 'created', vendor: {} as never },
};

/** An account whose service answers reads as told, the last answer again and again, and which vendors were read. */
async function answering(answers: Readonly<Record<number, readonly Answer[]>>): Promise<{
  at: Testbed<'store'>;
  account: SyncAccount;
  asked: number[];
}> {
  const at = await testbed({ level: 'store' });
  const asked: number[] = [];
  const read = async (vendorid: number): Promise<ReadResult> => {
    const nth = asked.filter((id) => id === vendorid).length;
    asked.push(vendorid);
    const answer = answers[vendorid]?.[nth] ?? answers[vendorid]?.at(-1) ?? 'same';
    const verdict = shown[answer];
    if (verdict) return { kind: 'record', verdict };
    const stamp = await at.ask();
    at.clocks.running += 70;
    if (answer === 'gone' || answer === 'proxy') return { kind: 'absent', stamp, isProven: answer === 'gone' };
    const code = answer === 'denied' ? 'access_denied' : 'service_unavailable';
    return { kind: 'refused', error: new MirrorError(code, answer) };
  };
  const rest = { accountId: account, concurrency: 1, random: { fraction: () => 0.5 } };
  return { at, asked, account: { ...rest, mirror: at.mirror, reader: { read } } as unknown as SyncAccount };
}

const options = { signal: new AbortController().signal } as Parameters<typeof readById>[3];

describe('reads by id', () => {
  it('L10 of vendors that are not found say when they began and ended', async () => {
    const { account } = await answering({ 7: ['gone'] });
    const { notFound } = await readById(account, [7], { listed: [], enough: 9 }, options);
    const { stamp, ended } = notFound.get(7)!;
    expect(ended - stamp.begun).toBe(70);
  });

  it.each<[Answer, boolean]>([
    ['same', true],
    ['rebalanced', true],
    ['edited', false],
    ['deleted', false],
    ['created', false],
  ])('L8 of a vendor that is %s: whether it is as it was stored', async (answer, expected) => {
    const { account } = await answering({ 7: [answer] });
    const told: Verdict[] = [];
    const onVerdict = (verdict: Verdict): void => void told.push(verdict);
    const read = await readById(account, [7], { listed: [], enough: 9 }, { ...options, onVerdict });
    expect(read).toMatchObject({ notFound: new Map(), refused: new Map(), unread: new Set() });
    expect(read.unchanged.has(7)).toBe(expected);
    expect(told).toEqual([shown[answer]]);
  });

  it.each<
    [
      string,
      Readonly<Record<number, readonly Answer[]>>,
      readonly number[],
      number[],
      'not found' | 'unproven' | 'shown',
    ]
  >([
    ['once, and then found', { 7: ['proxy', 'same'] }, [1], [7, 1, 7, 1], 'shown'],
    ['twice, between reads that are answered', { 7: ['proxy'] }, [1], [7, 1, 7, 1], 'not found'],
    ['first so, then in its own form', { 7: ['proxy', 'gone'] }, [1], [7, 1, 7, 1], 'not found'],
    ['while no listed vendor is found either', { 1: ['proxy'], 7: ['proxy'] }, [1], [7, 1], 'unproven'],
    [
      'twice, and no listed vendor is found after that',
      { 1: ['same', 'proxy'], 7: ['proxy'] },
      [1],
      [7, 1, 7, 1],
      'unproven',
    ],
    [
      'twice, and another listed vendor is found',
      { 1: ['proxy'], 7: ['proxy'] },
      [1, 2],
      [7, 1, 2, 7, 1, 2],
      'not found',
    ],
    ['and nobody was listed', { 7: ['proxy'] }, [], [7], 'unproven'],
  ])('L10 of a vendor that a proxy may not have found %s', async (_, answers, listed, expected, result) => {
    const { account, asked } = await answering(answers);
    const read = await readById(account, [7], { listed, enough: 9 }, options);
    expect(asked).toEqual(expected);
    expect([read.notFound.has(7), read.unproven.has(7), read.unchanged.has(7)]).toEqual([
      result === 'not found',
      result === 'unproven',
      result === 'shown',
    ]);
  });

  it('L10 vendors that were just read confirm as listed ones do, three of them at most', async () => {
    const known = [1, 2, 3, 4];
    const found = await answering({ 7: ['proxy'] });
    const read = await readById(found.account, [...known, 7], { listed: [], enough: 9 }, options);
    expect(found.asked).toEqual([...known, 7, 1, 7, 1]);
    expect([...read.notFound.keys()]).toEqual([7]);
    const lost = await answering({ 1: ['same', 'proxy'], 2: ['same', 'proxy'], 3: ['same', 'proxy'], 7: ['proxy'] });
    const unproven = await readById(lost.account, [...known, 7], { listed: [], enough: 9 }, options);
    expect(lost.asked).toEqual([...known, 7, 1, 2, 3]);
    expect([...unproven.unproven]).toEqual([7]);
  });

  it('L11 end where as many were not found as are more than may be absent', async () => {
    const { account, asked } = await answering({ 5: ['gone'], 6: ['proxy'], 7: ['gone'] });
    const read = await readById(account, [4, 5, 6, 7, 8], { listed: [], enough: 2 }, options);
    expect(asked).toEqual([4, 5, 6, 4, 6, 4]);
    expect([...read.unread]).toEqual([7, 8]);
    expect([...read.notFound.keys()]).toEqual([5, 6]);
  });

  it.each<[string, Answer, Readonly<Record<number, readonly Answer[]>>, readonly number[], boolean]>([
    ['others are answered', 'broken', {}, [1], true],
    ['no other is answered', 'broken', { 1: ['broken'] }, [1], false],
    ['nobody else is known', 'broken', {}, [], true],
    ['it says so itself, whatever others would be answered', 'denied', { 1: ['broken'] }, [1], true],
  ])('L5 of a vendor that is refused are its own finding where %s', async (_, refusal, answers, listed, isOwn) => {
    const { account } = await answering({ 7: [refusal], ...answers });
    const failure = readById(account, [7, 8], { listed, enough: 9 }, options);
    if (!isOwn) return expect(failure).rejects.toMatchObject({ code: 'service_unavailable' });
    const read = await failure;
    expect([...read.refused.keys()]).toEqual([7]);
    expect([...read.unchanged]).toEqual([8]);
  });

  it('L5 are the findings of nobody where those that were answered before are no longer', async () => {
    const { account } = await answering({ 1: ['broken'], 7: ['broken'], 8: ['same', 'broken'] });
    const failure = readById(account, [8, 7], { listed: [1], enough: 9 }, options);
    await expect(failure).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('L5 are not tried after a hundred were refused', async () => {
    const vendorids = Array.from({ length: 102 }, (_, nth) => nth + 10);
    const { account, asked } = await answering(Object.fromEntries(vendorids.map((vendorid) => [vendorid, ['denied']])));
    const { refused } = await readById(account, vendorids, { listed: [], enough: 9 }, options);
    expect(asked).toHaveLength(100);
    expect([...refused.keys()]).toEqual(vendorids);
    expect(refused.get(111)).toMatchObject({
      code: 'service_unavailable',
      message: 'It was not read, because 100 others could not be.',
    });
  });
});

describe('unlisted vendors', () => {
  const unseen = (told: Partial<Unseen>): Unseen => ({ ...allSeen(0), ...told });
  const unlisted = (from: number, count: number): { vendorid: number; read_seq: number }[] =>
    Array.from({ length: count }, (_, nth) => ({ vendorid: from + nth, read_seq: from + nth }));
  const limits = { listed: [1], enough: 2 };

  it('L8 are read by portions: suspects, 200 hidden, 50 absent', async () => {
    const { account, asked } = await answering({});
    const all = unseen({ suspects: [9, 8], hidden: unlisted(1_000, 201), absent: unlisted(2_000, 51) });
    const read = await readUnseen(account, all, limits, options);
    const portions = [...unlisted(1_000, 200), ...unlisted(2_000, 50)].map(({ vendorid }) => vendorid);
    expect(asked).toEqual([9, 8, ...portions]);
    expect(read.unreadSeq).toBe(1_200);
    expect([...read.unchanged]).toEqual(asked);
    const few = await readUnseen(account, unseen({ hidden: unlisted(1_000, 200) }), limits, options);
    expect(few.unreadSeq).toBeUndefined();
  });

  it('L5 L11 are read last where nothing could be decided before, from the middle, and hidden ones however many are not found', async () => {
    const answers = { 8: ['gone'], 31: ['gone'], 32: ['gone'], 33: ['denied'], 41: ['gone'] } as const;
    const { at, account, asked } = await answering({ ...answers, 34: ['proxy'], 1: ['proxy'] });
    const run = await at.mirror.runs.beginRun({ accountId: account.accountId, kind: 'pull', trigger: 'command' });
    const broken = new MirrorError('service_unavailable', 'It was down.');
    await at.mirror.undecided.replace(run, new Map([31, 32, 33, 34].map((vendorid) => [vendorid, broken])));
    const all = unseen({ suspects: [31, 8, 32], hidden: unlisted(33, 3), absent: unlisted(41, 1) });
    const read = await readUnseen(account, all, limits, options);
    // 35 is hidden and was read before, 41 is absent; of 31 to 34, the second half comes first.
    expect(asked.slice(0, 7)).toEqual([8, 35, 41, 33, 34, 31, 32]);
    expect([...read.notFound.keys()].sort((a, b) => a - b)).toEqual([8, 31, 32, 34, 41]);
    expect([...read.refused.keys()]).toEqual([33]);
    expect([...read.unchanged]).toEqual([35]);
    expect(asked.filter((vendorid) => vendorid === 33)).toHaveLength(1);
  });

  it('L10 stay undecided where a proxy may not have found them, hidden ones too', async () => {
    const { account } = await answering({ 1: ['proxy'], 8: ['proxy'], 34: ['proxy'] });
    const read = await readUnseen(account, unseen({ suspects: [8], hidden: unlisted(34, 1) }), limits, options);
    expect([...read.unproven]).toEqual([8, 34]);
  });
});

describe('what is learned of lists', () => {
  const listing = (shown: number, leftOut: number): { shown: number; leftOut: number; found: number } => {
    return { shown, leftOut, found: 0 };
  };

  it('L8 L9 is that they show a state: by the default list, or only by its own, if that was walked', async () => {
    const { account } = await answering({});
    const three = { list: listing(3, 0), filter: listing(3, 0) };
    const filtered = { list: listing(0, 3), filter: listing(3, 0) };
    const listings = new Map([
      [2, three],
      [1, filtered],
      [null, filtered],
      [3, filtered],
      [4, { list: listing(2, 0), filter: listing(2, 0) }],
      [5, three],
    ]);
    const now = await learnShown(account, listings, new Map([[5, 'filter']]), new Set([1, 4]));
    expect(now).toEqual(
      new Map([
        [5, 'filter'],
        [2, 'list'],
        [1, 'filter'],
      ]),
    );
    // What was known before is stored already.
    const stored = new Map([...now].filter(([state]) => state !== 5));
    expect(await account.mirror.listings.shownStates(account.accountId)).toEqual(stored);
    expect(await learnShown(account, new Map([[1, filtered]]), new Map(), undefined)).toEqual(new Map());
  });

  it.each<[string, readonly number[], readonly number[], readonly number[], (number | null)[]]>([
    ['three that they left out', [21, 22, 23], [21, 22, 23], [], [2]],
    ['two', [21, 22, 23], [21, 22], [], []],
    ['one that they had left out before', [21], [21], [21], [2]],
    ['another than they had left out before', [21, 22], [21], [22], []],
    ['one, and a sweep before left out one of another state', [21, 11], [21], [11], []],
    ['one that they had left out before, and another', [21, 22], [21, 22], [21], [2]],
    ['one of each of two states, one of which they had left out before', [21, 11], [21, 11], [11], [1]],
    ['three of several states', [21, 22, 11, 91], [21, 22, 11, 91], [], []],
    ['three without a state', [91, 92, 93], [91, 92, 93], [], [null]],
    ['active ones, which lists always show', [1, 2, 3], [1, 2, 3], [1], []],
  ])('L8 is forgotten of a state where reads found %s', async (_, suspects, unchanged, leftOut, expected) => {
    const { account } = await answering({});
    const stateOf = new Map(
      [1, 2, 3, 11, 21, 22, 23, 91, 92, 93].map((id) => [id, id > 90 ? null : Math.floor(id / 10)]),
    );
    for (const state of [1, 2, null]) await account.mirror.listings.learnShown(account.accountId, state, 'list');
    const unseen = { ...allSeen(0), suspects: [...suspects], stateOf };
    const forgotten = await unlearnShown(account, unseen, new Set(unchanged), new Set(leftOut));
    expect([...forgotten]).toEqual(expected);
    const left = [1, 2, null].filter((state) => !expected.includes(state));
    expect([...(await account.mirror.listings.shownStates(account.accountId)).keys()].sort()).toEqual(left.sort());
  });
});

describe('what is told of absences', () => {
  it('is how many stay undecided, and why', () => {
    const second = { undecided: [1], disagreement: 'the second list was empty' };
    expect(describeUnresolved(second)).toEqual(['1 suspect stays undecided: the second list was empty.']);
    expect(describeUnresolved({ undecided: [1, 2], disagreement: undefined })).toEqual([
      '2 suspects stay undecided: no list that would show it was proven complete.',
    ]);
    expect(describeUnresolved({ ...second, undecided: [] })).toEqual([]);
  });

  it('B7 is that one which two sweeps missed is not found by its id either, whatever the breaker counted', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'one'));
    at.clocks.running += lag;
    await at.absence(await at.ask(), 1, 'unlisted');
    at.clocks.running += lag;
    const run = await at.mirror.runs.beginRun({ accountId: account, kind: 'pull', trigger: 'command' });
    const told: Verdict['kind'][] = [];
    const context = { accountId: account, runId: run.id, deliveryId: null, lag, run, source: 'pull' } as const;
    const stamp = await at.ask();
    await confirmAbsences(
      { mirror: at.mirror } as SyncAccount,
      absencesByReading([1], new Map([[1, { stamp, ended: stamp.begun }]])),
      {
        ...options,
        context: { ...context, changeClassifier: undefined, readsById: false },
        onVerdict: ({ kind }: Verdict) => void told.push(kind),
      },
    );
    expect(at.query('SELECT presence FROM vendors')).toEqual([{ presence: 'gone' }]);
    expect(told).toEqual(['updated']);
  });
});
