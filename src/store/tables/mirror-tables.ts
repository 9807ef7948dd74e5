/** Types of the mirror's tables, except those of vendors. The migrations define them. */
import type { Generated } from 'kysely';
import type { MarkReason } from '../../domain/retry/mark-policy.ts';
import type {
  BalanceSpanTable,
  BalanceTable,
  VendorKey,
  TaxDefaultTable,
  VendorTable,
  VersionRowTable,
  VersionTable,
} from './vendor-tables.ts';
import type { PayablesView, VendorChangesView } from './view-tables.ts';
import type { RegistrationRefusalTable, SweepRequestTable } from './webhook-tables.ts';
import type { CreationTable, EditTable } from './write-tables.ts';

export type RunKind = 'pull' | 'reconcile' | 'verify';
export type RunTrigger = 'command' | 'schedule' | 'start' | 'verification' | 'watchdog' | 'queue';
export type RunOutcome = 'running' | 'complete' | 'incomplete' | 'failed' | 'abandoned';
/** How a sweep was proven complete: by one walk, by joined windows, or by several walks. */
export type ProofKind = 'plain' | 'windows' | 'passes';
export type DeliveryOutcome = 'pending' | 'applied' | 'unchanged' | 'not_found' | 'ignored' | 'parked';
export type FindingKind =
  | 'missed_create'
  | 'missed_update'
  | 'missed_delete'
  | 'missed_restore'
  | 'balance_only'
  | 'in_flight'
  | 'vanished'
  | 'field_drift'
  | 'record_rejected'
  | 'count_mismatch'
  | 'unreadable'
  | 'breaker';

export interface GatewayTable {
  account_id: string;
  sgid: number;
  id: number;
  connectionid: string | null;
  gateway_name: string | null;
  first_seen_at: string;
  removed_at: string | null;
}

export interface CallbackTable {
  account_id: string;
  callbackid: number;
  event: string;
  uri: string;
  verified: number;
  checked_at: string;
}

export interface DeliveryTable {
  id: Generated<number>;
  account_id: string;
  received_at: string;
  name: string;
  object_id: number | null;
  business_id: number | null;
  identity_id: number | null;
  user_id: number | null;
  outcome: DeliveryOutcome;
  settled_at: string | null;
}

export interface DirtyVendorTable extends VendorKey {
  generation: number;
  marked_at: string;
  due_at: string | null;
  due_ms: number | null;
  attempts: number;
  reason: MarkReason;
  last_error: string | null;
}

export interface CounterTable {
  id: number;
  read_seq: number;
  generation: number;
  offset_ms: number;
  mirror_ms: number;
  wall_ms: number | null;
  run_id: Generated<number>;
}

export interface RunTable {
  id: Generated<number>;
  account_id: string;
  kind: RunKind;
  trigger: RunTrigger;
  started_at: string;
  finished_at: string | null;
  outcome: RunOutcome;
  pages: number;
  requests: number;
  seen: number;
  created: number;
  updated: number;
  unchanged: number;
  suspects: number;
  error: string | null;
  safe_as_of: string | null;
  listed_as_of: string | null;
  proof: ProofKind | null;
  list_moved: number | null;
  error_code: string | null;
  process: string | null;
  began_seq: number;
}

export interface FindingTable {
  id: Generated<number>;
  run_id: number;
  account_id: string;
  vendorid: number | null;
  kind: FindingKind;
  fields: string;
  found_at: string;
  explained_at: string | null;
  explanation: string | null;
}

export interface FreshnessView {
  account_id: string;
  last_complete_sweep: string | null;
  oldest_unsettled_delivery: string | null;
  open_suspects: number;
  parked_vendors: number;
  callback_verified: number | null;
  safe_as_of: string | null;
  listed_as_of: string | null;
  not_served_since: string | null;
  paused_since: string | null;
}

export interface WebhookHealthView {
  account_id: string;
  day: string;
  deliveries: number;
  duplicates: number;
  unannounced_changes: number;
  announced_changes: number;
  late_deliveries: number;
  latest_seconds: number | null;
  loss_rate: number | null;
}

export interface RequestTable {
  account_id: string;
  family: 'accounting' | 'events';
  read_seq: number;
  counts_until_ms: number;
  process: string | null;
}

export interface DaemonFileTable {
  file: 'mirror' | 'secrets';
  inode: string;
}

export interface IdentityTable {
  id: number;
  mirror_id: string;
  service: string | null;
  service_since: string | null;
  daemon_epoch: Generated<number>;
}

export interface AccountTable {
  account_id: string;
  added_at: string;
  not_served_since: string | null;
  settings_file: string | null;
  connection: Generated<string>;
  paused_since: Generated<string | null>;
}

/** The mirror file. */
export interface MirrorTables {
  accounts: AccountTable;
  _added_accounts: { account_id: string; connection: string; added_at: string };
  mirror_identity: IdentityTable;
  reading_counter: CounterTable;
  _clock_set_back: { read_seq: number; noticed_at: string };
  vendors: VendorTable;
  vendor_balances: BalanceTable;
  vendor_tax_defaults: TaxDefaultTable;
  vendor_versions: VersionTable;
  _vendor_versions: VersionRowTable;
  balance_spans: BalanceSpanTable;
  page_confirmations: { read_seq: number; account_id: string; vendorids: string };
  gateways: GatewayTable;
  callbacks: CallbackTable;
  deliveries: DeliveryTable;
  dirty_vendors: DirtyVendorTable;
  runs: RunTable;
  findings: FindingTable;
  _creations: CreationTable;
  _edits: EditTable;
  _requests: RequestTable;
  _daemon_files: DaemonFileTable;
  _forgotten_vendors: { account_id: string; vendorid: number; forgotten_at: string };
  _sweep_requests: SweepRequestTable;
  _registration_refusals: RegistrationRefusalTable;
  known_fields: { account_id: string; field: string; first_seen_at: string };
  payables: PayablesView;
  vendor_changes: VendorChangesView;
  freshness: FreshnessView;
  webhook_health: WebhookHealthView;
}
