/** How long a vendor rests that is told of again and again. The retry policy of a single reading is in sync/queue/retry-policy.ts. */

/**
 * After so many readings that showed nothing new, a further delivery has the vendor read again after a rest of so many milliseconds; the last
 * holds for all beyond. However often a delivery is replayed, it costs a handful of readings.
 */
export const markRests = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;
