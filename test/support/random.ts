import type { Random } from '../../src/domain/clock.ts';

/** Random numbers that are the same every time. */
export function constantRandom(fraction = 0.5): Random {
  return { bytes: (count) => new Uint8Array(count).fill(7), fraction: () => fraction };
}
