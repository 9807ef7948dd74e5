/** Which readings that differ from the stored vendor are applied. */
import { expect, it } from 'vitest';
import { acceptanceOf, type Contradiction } from '../../../src/store/acceptance.ts';

const state = { vis_state: 0, presence: 'present', updated_at: null } as const;
const difference = { before: state, after: state, changed: ['city'] };
const lag = 5_000;
/** We hold it since 100,000, and a sweep's request began as soon as no old copy can answer any more. */
const late: Contradiction = {
  difference,
  isOvertaken: false,
  begun: 105_000,
  heldSince: 100_000,
  source: 'pull',
  lag,
};

it.each<[string, Partial<Contradiction>, ReturnType<typeof acceptanceOf>]>([
  ['a reading that began when the lag was over', {}, 'accepted'],
  ['a reading that began a moment before that', { begun: 104_999 }, 'guarded'],
  ['a read by id just as early', { begun: 104_999, source: 'delivery' }, 'guarded'],
  ['the answer to our own write, however early', { begun: 100_000, source: 'write' }, 'accepted'],
  ['the answer to our own write that was sent before we held that', { begun: 99_999, source: 'write' }, 'guarded'],
  ['a reading that another one overtook', { isOvertaken: true }, 'stale'],
  ['an early reading that another one overtook', { isOvertaken: true, begun: 0 }, 'stale'],
  ['the answer to our own write that a reading overtook', { isOvertaken: true, source: 'write' }, 'stale'],
  ['any reading where the service has no lag', { begun: 100_000, lag: 0 }, 'accepted'],
])('%s (%o) is %s', (_condition, facts, expected) => {
  expect(acceptanceOf({ ...late, ...facts })).toBe(expected);
});
