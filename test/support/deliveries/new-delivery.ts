/** A delivery about a vendor, as the listener hands it to the store. */
import type { NewDelivery } from '../../../src/store/deliveries.ts';
import { account } from '../names.ts';

export function newDelivery(vendorid: number, { accountId = account, receivedAt = 0 } = {}): NewDelivery {
  return {
    accountId,
    receivedAt,
    name: 'bill_vendor.update',
    objectId: vendorid,
    businessId: null,
    identityId: null,
    userId: null,
    vendorid,
  };
}
