/** A delivery's parameters, read. */
import type { Pairs } from './form.ts';

export interface Delivery {
  readonly name: string;
  readonly accountId: string;
  /** null where it is no number that a resource can have, as the three after it. */
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
}

const mostKeys = 32;

/**
 * Reads a delivery. Only the name, the account and the object are needed; parameters that nobody knows are part of the signature, and of
 * nothing else.
 * @returns undefined where it is malformed: too many keys, doubled ones, or one of those three missing.
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

/** The vendor that a delivery says to look at again; null where it is about something else, or names no vendor's number. */
export function vendorOf({ name, objectId }: Delivery): number | null {
  return name.split('.', 1)[0] === 'bill_vendor' ? objectId : null;
}
