import { expect, it } from 'vitest';
import { sentenceOf, targetProblems, type TargetStatus } from '../../../src/health/judge.ts';
import { catalogue } from '../../../src/domain/errors.ts';
import { before, noon, target } from '../../support/admin/sample.ts';

const targetAdvice = (status: TargetStatus, now: number): string[] => targetProblems(status, now).map(sentenceOf);

it('a receiver that accepts messages needs no attention, whatever waits', () => {
  const busy = target({ waiting: 40, behind: 9, oldest_waiting: before(7_200_000) });
  expect([busy.state, targetAdvice(busy, noon)]).toEqual(['delivering', []]);
});

it('messages that were given up need attention, with the latest cause if it is known', () => {
  const parked = target({ parked: 2, parked_error: 'hooks.example answered 422.' });
  expect(targetAdvice(parked, noon)).toEqual([
    'hooks.example: the changes of 2 vendors were given up: hooks.example answered 422. `vendor-mirror notify retry hooks.example` sends them again.',
  ]);
  expect(targetAdvice(target({ parked: 1 }), noon)[0]).toContain('the changes of one vendor were given up. `vendor');
});

it('a receiver that has failed for a quarter of an hour needs attention, as do messages that were given up', () => {
  const down = target({ failing_since: before(15 * 60_000), last_error: null, parked: 1 });
  expect(down.state).toBe('failing');
  expect(targetAdvice(down, noon)).toHaveLength(2);
  expect(targetAdvice(down, noon - 1)).toHaveLength(1);
});

it('a receiver that answered 410 is disabled, and nothing else is reported about it', () => {
  const gone = target({ disabled_at: before(9_000), failing_since: before(9_000_000), parked: 4 });
  expect(gone.state).toBe('disabled');
  expect(targetAdvice(gone, noon)).toEqual([`hooks.example answered 410. ${catalogue.receiver_gone.hint}`]);
});
