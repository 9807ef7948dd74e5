/** A refused registration of an event. */
import type { RegistrationRefusalTable } from '../tables/webhook-tables.ts';

/** The event, and the error that refused it. */
export type RegistrationRefusal = Pick<RegistrationRefusalTable, 'event' | 'code' | 'message'>;
