/** Whether an account's deliveries have stopped coming, as far as its sweeps can tell. */
import { inWords } from '../../domain/duration.ts';
import { unusuallySilentFor } from '../../domain/unusual-silence.ts';
import type { AccountStatus } from './account-status.ts';

/** A sentence with its remedy; undefined where deliveries come, or none are awaited. */
export function silence({ account, freshness, receivedDeliveries }: AccountStatus, now: number): string | undefined {
  const silentFor = unusuallySilentFor(receivedDeliveries, now, -Infinity);
  if (freshness.callback_verified !== 1 || silentFor === undefined) return undefined;
  const { missedSince, lastDelivery } = receivedDeliveries;
  const silent = lastDelivery === null ? 'no delivery ever arrived' : `no delivery came for ${inWords(silentFor)}`;
  return `${account}: sweeps found ${missedSince} changes that no delivery announced, and ${silent}: run \`vendor-mirror doctor\`.`;
}
