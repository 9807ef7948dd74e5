/** The parameters of a delivery. */
import type { Pairs } from './form.ts';

export interface Delivery {
  readonly name: string;
  readonly accountId: string;
  /** Null where it is not a valid id; the same for the next three. */
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
}

const mostKeys = 32;

/**
 * Parses a delivery. Name, account and object are required; unknown parameters only count for the signature.
 * @returns undefined where it is malformed: too many keys, a repeated key, or a required one missing.
 */
export function readDelivery(pairs: Pairs): Delivery | undefined {
  const values = new Map(pairs);
  if (pairs.length > mostKeys || values.size < pairs.length) return undefined;
  const [name, accountId, objectId] = ['name', 'account_id', 'object_id'].map((key) => values.get(key));
  if (!name || !accountId || objectId === undefined) return undefined;
  return {
    name: name.replaceAll('\0', ''),
    accountId,
    objectId: idIn(objectId),
    businessId: idIn(values.get('business_id')),
    identityId: idIn(values.get('identity_id')),
    userId: idIn(values.get('user_id')),
  };
}

function idIn(text: string | undefined): number | null {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/** The vendor to read again; null where the delivery is not about a vendor, or has no valid id. */
export function vendorOf({ name, objectId }: Delivery): number | null {
  return name.split('.', 1)[0] === 'bill_vendor' ? objectId : null;
}
