/** Decides whether a reading that differs from the stored vendor is applied. */
import type { Source } from '../../domain/reading.ts';
import type { Difference } from './verdict.ts';

/**
 * `guarded`: not applied now, because the stored version is too young to be contradicted; the service may have answered from an old copy.
 */
export type Acceptance = 'stale' | 'guarded' | 'accepted';

export interface Contradiction {
  readonly difference: Difference;
  /** A reading whose request began later was applied, or confirmed the stored vendor. */
  readonly isOvertaken: boolean;
  /** Mirror time when the request of the reading began, and since when the stored version is held. */
  readonly begun: number;
  readonly heldSince: number;
  readonly source: Source;
  /** How long, in milliseconds, the service may answer from an old copy. */
  readonly lag: number;
}

export function acceptanceOf({ isOvertaken, begun, heldSince, source, lag }: Contradiction): Acceptance {
  if (isOvertaken) return 'stale';
  // The answer to our own write is from no old copy. But of two requests under way at once, the order at the service is unknown.
  const young = source === 'write' ? 0 : lag;
  return begun >= heldSince + young ? 'accepted' : 'guarded';
}
