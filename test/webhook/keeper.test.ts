import { expect, it } from 'vitest';
import { account, house } from './house.ts';

it('registers, proves, and hears of a change', async () => {
  const place = await house();
  expect(await place.keeper.check()).toBe('verified');
  expect(place.verified).toEqual([account]);
  place.service.sandbox.emit(account, 'bill_vendor.update', 1001);
  await new Promise<void>((resolve) => place.service.sandbox.onDelivery((a) => a.kind === 'event' && resolve()));
  expect(place.outcomes).toEqual(['verification', 'accepted']);
  expect(place.requests).toEqual([]);
});
