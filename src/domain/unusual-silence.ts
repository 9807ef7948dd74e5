/** When it is unusual that no delivery comes: the callback may be dead without showing it. */
import { parseInstant } from './clock.ts';

/** So many changes that no delivery announced, and no delivery for so long, in milliseconds. */
const unusualMisses = 3;
const unusualSilence = 15 * 60_000;

export interface Received {
  /** When the last delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** Changes that sweeps have found since, and that no delivery announced. */
  readonly missedSince: number;
}

/**
 * For how long no delivery has come, in milliseconds, where that is unusual; undefined where it is not. Where none ever came, the silence
 * counts from `since`.
 */
export function unusuallySilentFor(
  { lastDelivery, missedSince }: Received,
  now: number,
  since: number,
): number | undefined {
  const silentFor = now - (parseInstant(lastDelivery ?? '') ?? since);
  return missedSince >= unusualMisses && silentFor >= unusualSilence ? silentFor : undefined;
}
