/** The states of a run: every state with every evidence, and which error is which evidence. */
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../src/domain/errors.ts';
import { endingOf, nextOutcome, type RunEvidence, type RunOutcome } from '../../../src/domain/run.ts';

const outcomes: readonly RunOutcome[] = ['running', 'complete', 'incomplete', 'failed', 'abandoned'];
const ofRunning: Readonly<Record<RunEvidence, RunOutcome>> = {
  whole: 'complete',
  not_whole: 'incomplete',
  failed: 'failed',
  left: 'abandoned',
};
const table = outcomes.flatMap((before) =>
  (Object.keys(ofRunning) as RunEvidence[]).map((evidence) => ({
    before,
    evidence,
    after: before === 'running' ? ofRunning[evidence] : before,
  })),
);

describe('the outcome of a run', () => {
  it.each(table)('$before, $evidence, is $after', ({ before, evidence, after }) => {
    expect(nextOutcome(before, evidence)).toBe(after);
  });

  it.each([
    ['sweep_incomplete', 'not_whole'],
    ['record_rejected', 'not_whole'],
    ['breaker_tripped', 'not_whole'],
    ['paging_ignored', 'not_whole'],
    ['interrupted', 'not_whole'],
    ['service_unreachable', 'failed'],
    ['answer_unreadable', 'failed'],
    ['unauthenticated', 'failed'],
    ['access_denied', 'failed'],
    ['bug', 'failed'],
  ] as const)('that ends with the error %s is %s; a comparison is not whole', (code, ending) => {
    const error = new MirrorError(code, 'It ends.');
    expect([endingOf('pull', error), endingOf('reconcile', error), endingOf('verify', error)]).toEqual([
      ending,
      ending,
      'not_whole',
    ]);
  });

  it('that ends without an error is whole, of each kind', () => {
    expect([endingOf('pull', undefined), endingOf('verify', undefined)]).toEqual(['whole', 'whole']);
  });
});
