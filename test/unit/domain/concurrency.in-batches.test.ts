import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inBatches } from '../../../src/domain/concurrency.ts';

/** Turns that pass when they are told to. */
function turns(): { yield: () => Promise<void>; pass: () => Promise<void> } {
  let passed: (() => void) | undefined;
  return {
    yield: () => new Promise((resolve) => (passed = resolve)),
    async pass() {
      await setImmediate();
      passed?.();
      await setImmediate();
    },
  };
}

describe('work in batches', () => {
  it('handles items that arrive together at once, and later ones in the next turn', async () => {
    const clock = turns();
    const groups: (readonly number[])[] = [];
    const double = inBatches(clock, (pieces: readonly number[]) => {
      groups.push(pieces);
      return Promise.resolve(pieces.map((piece) => piece * 2));
    });
    const early = Promise.all([double(1), double(2)]);
    await clock.pass();
    expect(await early).toEqual([2, 4]);
    const late = double(3);
    await clock.pass();
    expect(await late).toBe(6);
    expect(groups).toEqual([[1, 2], [3]]);
  });

  it('fails all items of a failed turn, and continues with later ones', async () => {
    const clock = turns();
    const work = inBatches(clock, (pieces: readonly number[]) =>
      pieces.includes(0) ? Promise.reject(new Error('no')) : Promise.resolve(pieces),
    );
    const failing = Promise.allSettled([work(0), work(1)]);
    await clock.pass();
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const after = work(2);
    await clock.pass();
    expect(await after).toBe(2);
  });
});
