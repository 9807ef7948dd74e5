/** Why an event could not be registered. */
import type { RegistrationRefusalTable } from '../tables/webhook-tables.ts';

/** Why an event could not be registered. */
export type RegistrationRefusal = Pick<RegistrationRefusalTable, 'event' | 'code' | 'message'>;
