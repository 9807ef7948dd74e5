/** Whether an account's deliveries have stopped coming, as far as its sweeps can tell. */
import { inWords } from '../../domain/age.ts';
import { parseInstant } from '../../domain/clock.ts';
import type { AccountStatus } from './account-status.ts';

/** So many changes that nobody announced, and no delivery for so long, in milliseconds, are unusual. */
const [unusualMisses, unusualSilence] = [3, 15 * 60_000];

/** A sentence with its remedy; undefined where deliveries come, or none are awaited. */
export function silence({ account, freshness, receivedDeliveries }: AccountStatus, now: number): string | undefined {
  const { missedSince, lastDelivery } = receivedDeliveries;
  const since = lastDelivery === null ? -Infinity : (parseInstant(lastDelivery) ?? now);
  if (freshness.callback_verified !== 1 || missedSince < unusualMisses || now - since < unusualSilence)
    return undefined;
  const silent = lastDelivery === null ? 'no delivery ever came' : `none came for ${inWords(now - since)}`;
  return `${account}: sweeps found ${missedSince} changes that no delivery announced, and ${silent}: run \`vendor-mirror doctor\`.`;
}
