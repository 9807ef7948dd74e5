/** Whether a reading that differs from what we hold is believed (rule 4). */
import type { Source } from '../../domain/reading.ts';
import type { Difference } from './verdict.ts';

/** `guarded`: not believed now, because what we hold is too young to be contradicted. */
export type Acceptance = 'stale' | 'guarded' | 'accepted';

export interface Contradiction {
  readonly difference: Difference;
  /** A reading that left later was applied, or showed the vendor as we hold it. */
  readonly isOvertaken: boolean;
  /** Mirror time at which the request of the reading began, and since which we hold what it contradicts. */
  readonly begun: number;
  readonly heldSince: number;
  readonly source: Source;
  /** How long, in milliseconds, the service may answer from an old copy. */
  readonly lag: number;
}

export function acceptanceOf({ isOvertaken, begun, heldSince, source, lag }: Contradiction): Acceptance {
  if (isOvertaken) return 'stale';
  // The answer to our own write comes from no old copy. But of two that were under way at once, nobody knows which was carried out last.
  const young = source === 'write' ? 0 : lag;
  return begun >= heldSince + young ? 'accepted' : 'guarded';
}
