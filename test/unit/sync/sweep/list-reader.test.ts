import { expect, it } from 'vitest';
import type { VendorPage } from '../../../../src/domain/reading.ts';
import type { Vendor } from '../../../../src/domain/vendor.ts';
import type { Verdict } from '../../../../src/store/acceptance.ts';
import { ObservedOrder } from '../../../../src/sync/sweep/list-order.ts';
import { ListReader } from '../../../../src/sync/sweep/list-reader.ts';

const vendor: Vendor = { vendorid: 7, created_at: '2020-01-01 00:00:00', unknown: new Map() };
const page: VendorPage = {
  stamp: { readSeq: 1, begun: 60_000 },
  page: 1,
  pages: 1,
  perPage: 15,
  total: 1,
  servedAt: Date.UTC(2026, 10, 20),
  rows: [{ vendorid: 7, raw: '{}', vendor: () => vendor }],
};
const listed = { vis_state: 0, presence: 'present', updated_at: null, held_since_ms: 0 } as const;
const restored: Verdict = {
  kind: 'updated',
  before: { ...listed, vis_state: 1 },
  after: listed,
  changed: ['vis_state'],
};

it.each([
  ['in the same walks', false, false],
  ['in walks that start over', true, true],
])('a vendor that was seen before and restored since has entered the list %s: %s', async (_, startsOver, entered) => {
  let verdict: Verdict = { kind: 'unchanged', heldSince: 0, visState: 0 };
  const reader = new ListReader(
    {
      vendors: { page: () => Promise.reject(new Error('Not asked.')) },
      apply: () => Promise.resolve(new Map([[7, verdict]])),
      onRequest: () => undefined,
      signal: new AbortController().signal,
      concurrency: 1,
      lag: 5_000,
    },
    undefined,
    new ObservedOrder(),
  );
  await reader.applyPage(page, { page: 1, size: 15 });
  reader.begin(startsOver);
  verdict = restored;
  await reader.applyPage(page, { page: 1, size: 15 });
  expect(reader.entered).toBe(entered);
});
