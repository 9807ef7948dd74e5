/** The list of one state: whether the service honours the filter, and what an empty answer says. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { VendorPage, VendorRow } from '../../../../src/domain/reading.ts';
import { Unreadable, type Vendor } from '../../../../src/domain/vendor.ts';
import { sweepOfState, type SweepResult } from '../../../../src/sync/sweep/sweep.ts';

type State = NonNullable<Vendor['vis_state']> | null;

/** The sweep of the archived vendors, where the service answers so, one list of states after the other, and the last for ever. */
async function sweptArchived(...answers: readonly (readonly State[])[]): Promise<SweepResult | undefined> {
  let requests = 0;
  const page = (): Promise<VendorPage> => {
    const states = answers[Math.min(requests++, answers.length - 1)]!;
    return Promise.resolve(pageOf(states));
  };
  return sweepOfState(
    {
      vendors: { page },
      apply: ({ rows }) =>
        Promise.resolve(
          new Map(rows.map(({ vendorid }) => [vendorid, { kind: 'unchanged', heldSince: 0, visState: 2 }])),
        ),
      onRequest: () => undefined,
      signal: new AbortController().signal,
      lag: 5_000,
      clock: systemClock,
      sweepPasses: 3,
      concurrency: 1,
    },
    2,
  );
}

function pageOf(states: readonly State[]): VendorPage {
  const rows = states.map((vis_state, index): VendorRow => ({
    vendorid: 1_001 + index,
    raw: '{}',
    vendor: () => ({ vendorid: 1_001 + index, vis_state, unknown: new Map() }),
  }));
  const begun = 60_000;
  const pages = rows.length === 0 ? 0 : 1;
  return { stamp: { readSeq: 1, begun }, page: 1, pages, perPage: 15, total: rows.length, servedAt: begun, rows };
}

const unreadable = new Unreadable('"archived"', null);

describe('L8 L13 whether the service honours the filter by state', () => {
  it('is not refuted by a row whose state cannot be read', async () => {
    const swept = await sweptArchived([2, unreadable, 2]);
    expect([...(swept?.seen ?? [])]).toEqual([1_001, 1_002, 1_003]);
  });

  it('is refuted by a row of another state, and not told by rows of none', async () => {
    expect(await sweptArchived([2, unreadable, 0])).toBeUndefined();
    expect(await sweptArchived([unreadable, null])).toBeUndefined();
    expect(await sweptArchived([])).toBeUndefined();
  });
});

describe('L9 a list of one state that has vendors and comes empty', () => {
  it('is asked for once more', async () => {
    const swept = await sweptArchived([2], [], [2]);
    expect(swept).toMatchObject({ conclusion: { complete: true, shown: 1 } });
  });

  it('is not complete where it stays empty', async () => {
    const swept = await sweptArchived([2], [], [2], [], []);
    expect(swept).toMatchObject({ conclusion: { complete: false } });
  });
});
