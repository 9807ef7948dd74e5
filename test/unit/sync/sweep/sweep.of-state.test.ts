/** The list of one state: whether the service honours the filter, and what an empty answer says. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { VendorPage, VendorRow } from '../../../../src/domain/reading.ts';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { Unreadable, type Vendor } from '../../../../src/domain/vendor.ts';
import { firstOfState, sweepOfState, type SweepPlan, type SweepResult } from '../../../../src/sync/sweep/sweep.ts';

type State = NonNullable<Vendor['vis_state']> | null;

/** The sweep of the archived vendors, where the service answers so, one list of states after the other, and the last for ever. */
function sweptArchived(...answers: readonly (readonly State[])[]): Promise<SweepResult | undefined> {
  let requests = 0;
  return sweepArchived(() => pageOf(answers[Math.min(requests++, answers.length - 1)]!));
}

/** The same of a list of several pages, with two places on each and a vendor in some of them. */
function sweptArchivedPages(statesOn: (page: number) => readonly State[]): Promise<SweepResult | undefined> {
  return sweepArchived((page) => ({ ...pageOf(statesOn(page), page * 2), page, pages: 4, perPage: 2, total: 8 }));
}

async function sweepArchived(
  answer: (page: number) => VendorPage,
  pages?: SweepPlan['pages'],
): Promise<SweepResult | undefined> {
  const page = async (number: number): Promise<VendorPage> => Promise.resolve(answer(number));
  const plan: SweepPlan = {
    vendors: { page },
    pages,
    apply: ({ rows }) =>
      Promise.resolve(
        new Map(rows.map(({ vendorid }) => [vendorid, { kind: 'unchanged', heldSince: 0, visState: 2 }])),
      ),
    onRequest: () => undefined,
    signal: new AbortController().signal,
    lag: 0,
    clock: systemClock,
    sweepPasses: 3,
    concurrency: 1,
  };
  return sweepOfState(plan, 2, await firstOfState(plan, 2));
}

function pageOf(states: readonly State[], firstId = 1_001): VendorPage {
  const rows = states.map((vis_state, index): VendorRow => ({
    vendorid: firstId + index,
    raw: '{}',
    vendor: () => ({ vendorid: firstId + index, vis_state, unknown: new Map() }),
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

  it.each<[string, State, number | undefined]>([
    ['shows vendors of that state', 2, 4],
    ['shows vendors of another', 0, undefined],
    ['shows none either', null, undefined],
  ])(
    'is told by the first page with rows, where others count only places of other vendors, and that page %s',
    async (_, state, shown) => {
      const pages = [[], [], state === null ? [] : [state, state], state === null ? [] : [state, state]];
      const swept = await sweptArchivedPages((page) => pages[page - 1] ?? []);
      expect(swept?.seen.size).toBe(shown);
    },
  );
});

it.each([
  [1, 'rejected', [1_001]],
  [1, 'not_found', [1_001]],
  [1, 'service_unavailable', [1_001]],
  [0, 'rejected', [1_001, 1_002]],
] as const)(
  'L2 L4 a list of one state is read from page %i where that was not learned yet, and another page is %s',
  async (firstPage, code, vendorids) => {
    const swept = await sweepArchived(
      (page) => {
        const rows = page < firstPage || page > 1 ? [] : [2 as const];
        if (page === 0 && firstPage === 1) throw new MirrorError(code, 'Page 0 is not shown.');
        return {
          ...pageOf(rows, 1_001 + page - firstPage),
          page,
          pages: 2 - firstPage,
          perPage: 1,
          total: 2 - firstPage,
        };
      },
      {
        read: () => Promise.resolve({ firstPage: undefined, mayAsk: true, largestPage: 0, countsLists: false }),
        learnFirstPage: () => Promise.resolve(),
        learn: () => Promise.resolve(),
      },
    );
    expect([...(swept?.seen ?? [])]).toEqual(vendorids);
  },
);

it('L54 a list of one state that counts a billion pages, all of them without rows, is not read to its end', async () => {
  let requests = 0;
  const swept = await sweepArchived((page) => {
    requests += 1;
    // Ends what would go on for days.
    if (requests > 1_000) throw new Error('It is read to its end.');
    return { ...pageOf([]), page, pages: 1_000_000_000, perPage: 2, total: 1_000_000_000 };
  });
  expect(swept).toBeUndefined();
  expect(requests).toBe(100);
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
