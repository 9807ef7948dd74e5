/** Types of the tables of writes with an unknown outcome. */
import type { Generated } from 'kysely';

export interface CreationTable {
  account_id: string;
  vendor_name: string;
  sent_at: string;
  known: string;
  sent_by: string | null;
}

export interface EditTable {
  id: Generated<number>;
  account_id: string;
  vendorid: number;
  fields: string;
  sent_at: string;
  sent_by: string | null;
  process: string;
  version: number;
  generation: number | null;
}
