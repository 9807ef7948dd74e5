/** Which vendors that a sweep did not show are suspects: each condition, on both sides of its limit. */
import { expect, it } from 'vitest';
import type { ScannedVendor } from '../../../src/store/vendors.ts';
import { sortUnseen, type SeenBySweep, type Unseen } from '../../../src/sync/absences.ts';
import { IdSet } from '../../../src/sync/sweep/id-set.ts';

const began = { readSeq: 10, begun: 100_000 };
const lag = 1_000;
const old: ScannedVendor = {
  vendorid: 7,
  vis_state: 0,
  presence: 'present',
  presence_ms: null,
  read_seq: 10,
  held_since_ms: 99_000,
  first_seen_at: '2026-11-20 12:00:00.000',
};

const showing = (...states: (number | null)[]): SeenBySweep['shows'] => new Set(states);

interface Told {
  readonly vendor?: Partial<ScannedVendor>;
  readonly sweep?: Partial<SeenBySweep>;
}

async function sorted(vendors: readonly ScannedVendor[], sweep: Partial<SeenBySweep> = {}): Promise<Unseen> {
  // eslint-disable-next-line @typescript-eslint/require-await -- vendors come in chunks
  async function* scan(): AsyncGenerator<readonly ScannedVendor[]> {
    for (const vendor of vendors) yield [vendor];
  }
  const none = { seen: new IdSet(), listed: new IdSet(), guarded: new Set<number>(), shows: showing(0) };
  return sortUnseen(scan(), { ...none, dayBegan: '2026-11-20 12:00:00.000', since: 50_000, began, lag, ...sweep });
}

const seen = new IdSet([7]);
const counts = (shown: number, leftOut: number): object => ({ shown, leftOut, found: 0 });

it.each<[string, Told, Partial<Unseen>]>([
  ['that is as old as the lag is a suspect', {}, { suspects: [7], recent: [], present: 1, guardedSeq: undefined }],
  [
    'that is younger than the lag is no suspect, and limits the freshness',
    { vendor: { held_since_ms: 99_001 } },
    { suspects: [], recent: [7], present: 1, guardedSeq: 10 },
  ],
  [
    'that was read since the sweep began is no suspect',
    { vendor: { read_seq: 11 } },
    { suspects: [], recent: [7], guardedSeq: undefined },
  ],
  ['that was seen is no suspect', { sweep: { seen } }, { suspects: [], recent: [], present: 1, guardedSeq: undefined }],
  [
    'that is young and was seen as it is limits nothing',
    { vendor: { held_since_ms: 99_001 }, sweep: { seen } },
    { recent: [], guardedSeq: undefined },
  ],
  [
    'that is young and was seen otherwise limits the freshness',
    { vendor: { held_since_ms: 99_001 }, sweep: { seen, guarded: new Set([7]) } },
    { suspects: [], recent: [], guardedSeq: 10 },
  ],
  [
    'that is old and was seen otherwise limits nothing',
    { sweep: { seen, guarded: new Set([7]) } },
    { suspects: [], guardedSeq: undefined },
  ],
  [
    'L8 in a state that lists hide is no suspect',
    { vendor: { vis_state: 1 } },
    { suspects: [], hidden: [{ vendorid: 7, read_seq: 10 }], stateOf: new Map([[7, 1]]) },
  ],
  ['L8 that is archived is no suspect where lists hide that', { vendor: { vis_state: 2 } }, { suspects: [] }],
  [
    'L8 in a state that lists show is a suspect',
    { vendor: { vis_state: 2 }, sweep: { shows: showing(0, 2) } },
    { suspects: [7], hidden: [], stateOf: new Map([[7, 2]]) },
  ],
  [
    'L8 without a state is no suspect',
    { vendor: { vis_state: null } },
    { suspects: [], hidden: [{ vendorid: 7, read_seq: 10 }] },
  ],
  [
    'L10 that was a suspect before carries the moment of its first proof',
    { vendor: { presence: 'suspect', presence_ms: 98_000 } },
    { suspects: [7], doubted: new Map([[7, 98_000]]), hidden: [], present: 1 },
  ],
  [
    'L10 that an earlier version called a suspect does not',
    { vendor: { presence: 'suspect' } },
    { doubted: new Map() },
  ],
  ['that is present was not missed before', {}, { doubted: new Map() }],
  ['that is present was not, with a moment left either', { vendor: { presence_ms: 98_000 } }, { doubted: new Map() }],
  [
    'L9 that an earlier version called gone by less than is required now is read first',
    { vendor: { presence: 'gone', vis_state: 1 } },
    { absent: [{ vendorid: 7, read_seq: -1 }] },
  ],
  [
    'L9 that was called gone by two proofs is not',
    { vendor: { presence: 'gone', vis_state: 1, presence_ms: 50_000 } },
    { absent: [{ vendorid: 7, read_seq: 10 }] },
  ],
  ['L11 that was first seen when the day began counts for it', {}, { base: 1 }],
  ['L11 that was first seen later does not', { vendor: { first_seen_at: '2026-11-20 12:00:00.001' } }, { base: 0 }],
  [
    'L11 that became absent since counts for it',
    { vendor: { presence: 'gone', presence_ms: 50_001 } },
    { base: 1, present: 0 },
  ],
  ['L11 that was absent before does not', { vendor: { presence: 'missing', presence_ms: 50_000 } }, { base: 0 }],
  [
    'that is missing stays so, and does not count as present',
    { vendor: { presence: 'missing' } },
    { suspects: [], absent: [{ vendorid: 7, read_seq: 10 }], present: 0 },
  ],
  [
    'that is gone stays so',
    { vendor: { presence: 'gone' } },
    { suspects: [], absent: [{ vendorid: 7, read_seq: 10 }] },
  ],
  [
    'that is gone and was seen is neither',
    { vendor: { presence: 'gone' }, sweep: { seen } },
    { suspects: [], absent: [], present: 0 },
  ],
])('L70 a vendor %s', async (_, { vendor, sweep }, expected) => {
  expect(await sorted([{ ...old, ...vendor }], sweep)).toMatchObject(expected);
});

it('L70 the lowest number of several young vendors limits, three are tried again, the longest unread are first', async () => {
  const young = [14, 12, 13, 15].map((read_seq) => ({ ...old, vendorid: read_seq, read_seq, held_since_ms: 99_500 }));
  expect(await sorted(young)).toMatchObject({ guardedSeq: 12, recent: [14, 12, 13], present: 4 });
  const of = (vendor: Partial<ScannedVendor>): ScannedVendor[] =>
    [3, 1, 2].map((read_seq) => ({ ...old, ...vendor, vendorid: read_seq, read_seq }));
  const inOrder = [1, 2, 3].map((read_seq) => ({ vendorid: read_seq, read_seq }));
  expect((await sorted(of({ vis_state: 1 }))).hidden).toEqual(inOrder);
  expect((await sorted(of({ presence: 'gone' }))).absent).toEqual(inOrder);
});

it('L8 counts what the default list, and all lists, showed of each state', async () => {
  const vendors = [
    [1, 2],
    [2, 2],
    [3, 2],
    [4, 1],
    [5, null],
    [6, 0],
    [7, 2],
    [8, 2],
  ] as const;
  const rows = vendors.map(([vendorid, vis_state]): ScannedVendor => ({ ...old, vendorid, vis_state }));
  const gone: ScannedVendor = { ...old, vendorid: 9, vis_state: 2, presence: 'gone' };
  const sweep = { seen: new IdSet([1, 2, 3, 5, 8]), listed: new IdSet([1, 5, 8]), guarded: new Set([8]) };
  expect((await sorted([...rows, gone], sweep)).listings).toEqual(
    new Map([
      [2, { list: counts(1, 3), filter: counts(3, 1) }],
      [1, { list: counts(0, 1), filter: counts(0, 1) }],
      [null, { list: counts(1, 0), filter: counts(1, 0) }],
    ]),
  );
});
