/** The retry policy of marked vendors: each row of the table at its head, and what holds for all of them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextStep, secondLookDelay, type NextStep, type Result } from '../../../src/domain/retry.ts';

const secondLook = 60_000;
const error = 'It fails.';

/** Everybody who marks vendors. */
const reasons = ['delivery', 'second_look', 'guarded', 'retry', 'asked', 'reconcile'] as const;
type Reason = (typeof reasons)[number];
const others = reasons.filter((reason) => reason !== 'delivery');
const beforeParked = reasons.filter((reason) => reason !== 'reconcile');

const news = (deliveries: number): Result => ({ kind: 'news', deliveries });
const nothingNew: Result = { kind: 'nothing_new' };
const guarded: Result = { kind: 'guarded' };
const absent: Result = { kind: 'absent' };
const refused = (fraction: number): Result => ({ kind: 'refused', error, fraction });

const settle = (outcome: 'applied' | 'unchanged' | 'not_found'): NextStep => ({ kind: 'settle', outcome });
const lookAgain = (attempts: number): NextStep => ({
  kind: 'defer',
  deferral: { delay: secondLook, reason: 'second_look', attempts, error: null },
});

interface Row {
  readonly row: string;
  readonly reasons: readonly Reason[];
  readonly attempts: readonly number[];
  readonly result: Result;
  readonly is: (reason: Reason, attempts: number) => NextStep;
}

const wait =
  (delay: number, text: string) =>
  (reason: Reason, attempts: number): NextStep => ({
    kind: 'defer',
    deferral: { delay, reason, attempts: attempts + 1, error: text },
  });
const notYet = 'The service does not know this vendor yet.';
const never: NextStep = { kind: 'park', error: 'The service does not know this vendor.' };
const any = [0, 1, 4, 11, 40];

const table: Row[] = [
  { row: 'news, no delivery', reasons, attempts: any, result: news(0), is: () => settle('applied') },
  { row: 'news, one delivery', reasons, attempts: any, result: news(1), is: () => settle('applied') },
  {
    row: 'news, several deliveries',
    reasons,
    attempts: any,
    result: news(2),
    is: () => ({ ...lookAgain(0), outcome: 'applied' }),
  },
  {
    row: 'a delivery and nothing new',
    reasons: ['delivery'],
    attempts: any,
    result: nothingNew,
    is: (_, attempts) => lookAgain(attempts + 1),
  },
  {
    row: 'nothing new otherwise',
    reasons: others,
    attempts: any,
    result: nothingNew,
    is: () => settle('unchanged'),
  },
  { row: 'guarded', reasons, attempts: any, result: guarded, is: () => ({ kind: 'keep' }) },
  { row: 'absent again', reasons: ['reconcile'], attempts: any, result: absent, is: () => settle('not_found') },
  { row: 'absent', reasons: beforeParked, attempts: [0], result: absent, is: wait(3_000, notYet) },
  { row: 'absent twice', reasons: beforeParked, attempts: [1], result: absent, is: wait(9_000, notYet) },
  { row: 'absent three times', reasons: beforeParked, attempts: [2], result: absent, is: wait(27_000, notYet) },
  { row: 'absent four times', reasons: beforeParked, attempts: [3], result: absent, is: wait(81_000, notYet) },
  { row: 'absent too often', reasons: beforeParked, attempts: [4, 5, 40], result: absent, is: () => never },
  { row: 'refused, at the least', reasons, attempts: [0, 1, 10], result: refused(0), is: wait(5_000, error) },
  { row: 'refused once', reasons, attempts: [0], result: refused(0.5), is: wait(7_500, error) },
  { row: 'refused twice', reasons, attempts: [1], result: refused(0.5), is: wait(12_500, error) },
  { row: 'refused nine times', reasons, attempts: [8], result: refused(0.5), is: wait(1_282_500, error) },
  { row: 'refused ten times', reasons, attempts: [9], result: refused(0.5), is: wait(1_802_500, error) },
  { row: 'refused eleven times', reasons, attempts: [10], result: refused(0.5), is: wait(1_802_500, error) },
  {
    row: 'refused too often',
    reasons,
    attempts: [11, 12, 40],
    result: refused(0.5),
    is: () => ({ kind: 'park', error }),
  },
];

describe('the retry policy', () => {
  it.each(table)('$row', (row) => {
    for (const reason of row.reasons)
      for (const attempts of row.attempts)
        expect(nextStep({ reason, attempts }, row.result, secondLook), `${reason}, ${attempts} attempts`).toEqual(
          row.is(reason, attempts),
        );
  });

  const marks = fc.record({ reason: fc.constantFrom(...reasons), attempts: fc.nat(50) });
  const results: fc.Arbitrary<Result> = fc.oneof(
    fc.nat(5).map(news),
    fc.constantFrom(nothingNew, guarded, absent),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }).map(refused),
  );

  it('has one next step for each mark and result, with a delay that is neither negative nor infinite', () => {
    fc.assert(
      fc.property(marks, results, fc.nat(86_400_000), (mark, result, delay) => {
        const step = nextStep(mark, result, delay);
        expect(['settle', 'defer', 'park', 'keep']).toContain(step.kind);
        if (step.kind !== 'defer') return;
        expect(step.deferral.delay).toBeGreaterThanOrEqual(0);
        expect(step.deferral.delay).toBeLessThanOrEqual(Math.max(delay, 3_600_000));
        expect(Number.isFinite(step.deferral.delay)).toBe(true);
      }),
    );
  });

  it('C7 parks every vendor that is never answered, after longer and longer delays', () => {
    const readings = fc.array(fc.oneof(fc.constant(absent), fc.constantFrom(0, 0.5, 0.999).map(refused)), {
      minLength: 12,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom(...reasons), readings, (made, results) => {
        let mark: { reason: Reason; attempts: number } = { reason: made, attempts: 0 };
        for (const result of results) {
          const step = nextStep(mark, result, secondLook);
          if (step.kind === 'park' || step.kind === 'settle') return;
          if (step.kind !== 'defer') expect.unreachable(`It stays as it is: ${step.kind}.`);
          expect(step.deferral.attempts).toBe(mark.attempts + 1);
          expect(step.deferral.reason).toBe(made);
          mark = step.deferral;
        }
        expect.unreachable('Twelve readings that came to nothing, and no end.');
      }),
    );
  });

  it.each(['delivery', 'asked'] as const)(
    'settles a mark made by %s after two readings without news at most',
    (reason) => {
      const first = nextStep({ reason, attempts: 0 }, nothingNew, secondLook);
      const last = first.kind === 'defer' ? nextStep(first.deferral, nothingNew, secondLook) : first;
      expect(last).toEqual(settle('unchanged'));
    },
  );

  it('has a second look when the lag is over, or later if configured', () => {
    expect(secondLookDelay({ secondLook: 60_000, lag: 5_000 })).toBe(60_000);
    expect(secondLookDelay({ secondLook: 60_000, lag: 90_000 })).toBe(90_000);
  });
});
