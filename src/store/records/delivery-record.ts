/** Deliveries as they are received, and as they wait to be settled. */
import type { Selectable } from 'kysely';
import type { DeliveryOutcome, DeliveryTable } from '../tables/mirror-tables.ts';

/** A correctly signed delivery, to be journalled. */
export interface NewDelivery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly name: string;
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
  /** The vendor to read again; null where the delivery is about none, and is only journalled. */
  readonly vendorid: number | null;
}

export type SettledOutcome = Extract<DeliveryOutcome, 'applied' | 'unchanged' | 'not_found' | 'parked'>;

export type OpenDelivery = Pick<Selectable<DeliveryTable>, 'id' | 'received_at'>;

/** Parked deliveries of a vendor, up to the delivery `upTo`. */
export interface ParkedDeliveries {
  readonly vendorid: number;
  readonly upTo: number;
}
