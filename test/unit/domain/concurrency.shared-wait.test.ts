import { expect, it } from 'vitest';
import { sharedWait } from '../../../src/domain/concurrency.ts';

it.each([
  [0, 30_000],
  [400, 29_600],
  [999.75, 29_000.25],
  [86_400_001, 29_999],
])('a wait of half a minute that begins at %s ms lasts %s ms, to a whole second', (now, lasts) => {
  expect(sharedWait({ monotonic: () => now }, 30_000)).toBe(lasts);
});
