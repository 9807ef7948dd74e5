/** A subscription, seen from the service's side. */
import { expect } from 'vitest';
import { account, testbed, type Testbed } from './webhook-testbed.ts';

/** The callbacks that the service holds. */
export const listed = ({ service }: Testbed) => service.sandbox.callbacks(account).all();
/** What was asked of the service besides lists. */
export const writes = ({ requests }: Testbed) => requests.filter((request) => !request.startsWith('GET'));
export const base = `/events/account/${account}/events/callbacks`;

/** Lets the service tell of a change, and returns how its attempt went. */
export async function hear({ service }: Testbed, event = 'bill_vendor.update'): Promise<number | undefined> {
  const attempt = new Promise<number | undefined>((resolve) => {
    const stop = service.sandbox.onDelivery(({ kind, status }) => {
      if (kind !== 'event') return;
      stop();
      resolve(status);
    });
  });
  service.sandbox.emit(account, event, 1001);
  return attempt;
}

/** A testbed that is subscribed; what that took is forgotten. */
export async function subscribed(options: Parameters<typeof testbed>[0] = {}): Promise<Testbed> {
  const place = await testbed(options);
  expect(await place.subscriptions.check()).toBe('verified');
  place.requests.length = 0;
  place.verified.length = 0;
  return place;
}
