/** Types of internal tables about webhooks. */
import type { Generated } from 'kysely';

export interface RegistrationRefusalTable {
  account_id: string;
  event: string;
  refused_at: string;
  code: string;
  message: string;
}

export interface SweepRequestTable {
  account_id: string;
  generation: number;
  asked_at: string | null;
  asked_ms: number | null;
  last_ms: number;
  rest_until_ms: Generated<number>;
  callback_ids: Generated<number>;
  callback_id_at: string | null;
}
