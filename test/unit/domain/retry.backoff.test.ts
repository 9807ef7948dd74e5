/** Delays after failures: how long, how much longer each time, and when it is given up. */
import { describe, expect, it } from 'vitest';
import { queuePause, retryDelay } from '../../../src/domain/retry.ts';

describe('the backoff', () => {
  it('waits five seconds at least, up to twice as long each time, and an hour at most', () => {
    expect([1, 2, 3, 11].map((failures) => retryDelay(failures, 0))).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect([1, 2, 3, 10, 11].map((failures) => retryDelay(failures, 1))).toEqual([
      10_000, 20_000, 40_000, 3_600_000, 3_600_000,
    ]);
  });

  it('gives up after twelve failures', () => {
    expect(retryDelay(11, 0.5)).toBeDefined();
    expect(retryDelay(12, 0.5)).toBeUndefined();
  });

  it('pauses a queue longer each time, up to a minute', () => {
    expect([1, 2, 3, 4, 5, 6, 2_000].map(queuePause)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });
});
