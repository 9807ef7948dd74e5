/** Which readings that differ from the stored vendor are applied, and which of them answer deliveries. */
import { expect, it } from 'vitest';
import {
  acceptanceOf,
  isNews,
  rejectedVerdict,
  type Contradiction,
  type Verdict,
} from '../../../src/store/acceptance.ts';

const state = { vis_state: 0, presence: 'present', updated_at: null, held_since_ms: 0 } as const;
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

/** A reading that is too early to contradict anything. */
function filling(changed: string[], filledIn: string[]): Partial<Contradiction> {
  return { begun: 100_000, difference: { ...difference, changed, filledIn } };
}

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
  ['an early reading that fills in what no answer showed', filling(['notes'], ['notes']), 'accepted'],
  ['one that also contradicts something', filling(['notes', 'city'], ['notes']), 'guarded'],
  ['one that differs in no field', filling([], []), 'guarded'],
])('%s (%o) is %s', (_condition, facts, expected) => {
  expect(acceptanceOf({ ...late, ...facts })).toBe(expected);
});

const dated = { ...state, updated_at: '2026-11-20 12:00:00' };
const updated = (changed: string[], filledIn: string[] = [], after: typeof dated | typeof state = dated): Verdict => {
  return { kind: 'updated', before: state, after, changed, filledIn };
};

it.each<[string, Verdict, boolean]>([
  ['a vendor that is new', { kind: 'created', vendor: {} as never }, true],
  ['an edit', updated(['city', 'updated_at']), true],
  ['an edit that also fills in a field', updated(['tax_defaults', 'updated_at'], ['tax_defaults']), true],
  ['any change of a record without a time of its last edit', updated(['city'], [], state), true],
  ['a return', updated(['presence']), true],
  ['other tax defaults', updated(['tax_defaults']), true],
  ['a balance alone', updated(['outstanding_balance']), false],
  ['a field that lists leave out, filled in', updated(['tax_defaults'], ['tax_defaults']), false],
  ['what is stored like this', { kind: 'unchanged', heldSince: 0, visState: 0 }, false],
  ['what came too late', { kind: 'stale' }, false],
  [
    'what is too young to be believed',
    { kind: 'guarded', before: state, after: dated, changed: ['updated_at'] },
    false,
  ],
  ['a forgotten vendor', { kind: 'forgotten' }, false],
  ['an unusable record', rejectedVerdict(7, new Error('It has no name.')), false],
])('%s (%o): whether it is news', (_what, verdict, expected) => {
  expect(isNews(verdict)).toBe(expected);
});

it('an unusable record is told with its vendor', () => {
  const reason = 'Vendor 7: It has no name.';
  expect(rejectedVerdict(7, new Error('It has no name.'))).toEqual({ kind: 'rejected', reason });
});
