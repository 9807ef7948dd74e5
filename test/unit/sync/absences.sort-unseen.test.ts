/** Which vendors that a sweep did not show are suspects: each condition, on both sides of its limit. */
import { expect, it } from 'vitest';
import type { ScannedVendor } from '../../../src/store/vendors.ts';
import { sortUnseen, type SeenBySweep, type Unseen } from '../../../src/sync/absences.ts';
import { IdSet } from '../../../src/sync/sweep/id-set.ts';

const began = { readSeq: 10, begun: 100_000 };
const lag = 1_000;
const old: ScannedVendor = { vendorid: 7, vis_state: 0, presence: 'present', read_seq: 10, held_since_ms: 99_000 };

interface Told {
  readonly vendor?: Partial<ScannedVendor>;
  readonly sweep?: Partial<SeenBySweep>;
}

async function sorted(vendors: readonly ScannedVendor[], sweep: Partial<SeenBySweep> = {}): Promise<Unseen> {
  // eslint-disable-next-line @typescript-eslint/require-await -- vendors come in chunks
  async function* scan(): AsyncGenerator<readonly ScannedVendor[]> {
    for (const vendor of vendors) yield [vendor];
  }
  return sortUnseen(scan(), { seen: new IdSet(), guarded: new Set(), showsDeleted: false, began, lag, ...sweep });
}

const seen = new IdSet([7]);

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
    'that is deleted is hidden where lists hide deleted ones',
    { vendor: { vis_state: 1 } },
    { suspects: [], hidden: [{ vendorid: 7, read_seq: 10 }] },
  ],
  [
    'that is deleted is a suspect where lists show deleted ones',
    { vendor: { vis_state: 1 }, sweep: { showsDeleted: true } },
    { suspects: [7], hidden: [] },
  ],
  ['that is archived is a suspect', { vendor: { vis_state: 2 } }, { suspects: [7], hidden: [] }],
  [
    'that was a suspect before is one again, deleted or not',
    { vendor: { presence: 'suspect', vis_state: 1 } },
    { suspects: [7], missedBefore: new Set([7]), hidden: [], present: 1 },
  ],
  ['that is present was not missed before', {}, { missedBefore: new Set() }],
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
