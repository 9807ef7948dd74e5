/** Delays after failures: how long, how much longer each time, and when it is given up. */
import { describe, expect, it } from 'vitest';
import {
  queuePause,
  readRetryLimits,
  requestDelay,
  retryDelay,
  defaultRetryLimits,
} from '../../../src/domain/retry.ts';

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

  it('waits before a request at random, up to twice as long each time, and never longer than its limit', () => {
    const limits = { ...defaultRetryLimits, firstWait: 1_000, maxWait: 6_000 };
    expect([1, 2, 3, 4, 9].map((attempts) => requestDelay(attempts, 1, limits))).toEqual([
      1_000, 2_000, 4_000, 6_000, 6_000,
    ]);
    expect([0, 0.5].map((fraction) => requestDelay(2, fraction, limits))).toEqual([0, 1_000]);
  });

  it('takes one timeout for a read by id, and several for other requests', () => {
    expect([defaultRetryLimits.oneTimeout, readRetryLimits.oneTimeout]).toEqual([undefined, true]);
    expect([readRetryLimits.attempts < defaultRetryLimits.attempts, readRetryLimits.maxWait]).toEqual([
      true,
      defaultRetryLimits.maxWait,
    ]);
  });
});
