/** Detects an unusually long time without deliveries: the callback may be disabled without showing it. */
import { parseInstant } from './clock.ts';

/** The silence is unusual from this many unannounced changes, and this many milliseconds without a delivery. */
const unusualMisses = 3;
export const unusualSilence = 15 * 60_000;

export interface Received {
  /** When the last delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  /** Changes that sweeps have found since then and no delivery announced. */
  readonly missedSince: number;
}

/** For how long no delivery has come, in milliseconds; undefined where that is not unusual. Counted from `since` where none ever came. */
export function unusuallySilentFor(
  { lastDelivery, missedSince }: Received,
  now: number,
  since: number,
): number | undefined {
  const silentFor = now - (parseInstant(lastDelivery ?? '') ?? since);
  return missedSince >= unusualMisses && silentFor >= unusualSilence ? silentFor : undefined;
}
