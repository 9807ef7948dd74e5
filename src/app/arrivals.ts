/**
 * What other daemons take for the one that works: deliveries, and verification codes. Looked for once a second, because a transaction that
 * accepts must not wait for whoever it would tell.
 */
import type { Clock } from '../domain/clock.ts';
import { background, repeatedly } from '../domain/concurrency.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Store } from '../store/mirror.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { AccountServices } from './account-services.ts';

interface ArrivalsOptions {
  readonly mirror: Pick<Store, 'deliveries'>;
  readonly secrets: Pick<Secrets, 'verifiers'>;
  readonly accounts: Pick<AccountServices, 'active'>;
  readonly clock: Clock;
}

/** How often it is looked for them, in milliseconds. */
const lookEvery = 1_000;

export function createArrivals({ mirror, secrets, accounts, clock }: ArrivalsOptions): Service {
  let lastDelivery: number | undefined;
  let codes: ReadonlyMap<string, string> | undefined;

  const look = async (): Promise<void> => {
    const { last, accounts: delivered } = await mirror.deliveries.arrivedAfter(lastDelivery);
    lastDelivery = last;
    for (const id of delivered) accounts.active(id)?.delivered();
    const waiting = await secrets.verifiers.waitingCodes();
    // Those that were there at the beginning are found by the first check.
    if (codes)
      for (const [id, newest] of waiting)
        if (codes.get(id) !== newest) accounts.active(id)?.subscriptions.codeArrived();
    codes = waiting;
  };

  // A server that cannot be asked is reported by everything else.
  return background('the look for arrivals', (signal) =>
    repeatedly(clock, lookEvery, signal, () => look().catch(() => undefined)),
  );
}
