/** Deliveries, as they come and as they wait to be answered. */
import type { Selectable } from 'kysely';
import type { DeliveryOutcome, DeliveryTable } from '../tables/mirror-tables.ts';

/** A signed delivery, as it shall be journalled. */
export interface NewDelivery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly name: string;
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
  /** The vendor to be read again; null where the delivery is about none, and is only written down. */
  readonly vendorid: number | null;
}

export type SettledOutcome = Extract<DeliveryOutcome, 'applied' | 'unchanged' | 'not_found' | 'parked'>;

export type OpenDelivery = Pick<Selectable<DeliveryTable>, 'id' | 'received_at'>;

/** What was delivered about a vendor and given up, up to the delivery `upTo`. */
export interface ParkedDeliveries {
  readonly vendorid: number;
  readonly upTo: number;
}
