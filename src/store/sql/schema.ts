/** Tables and views, column by column, as far as the code names their columns or has their rows. The migrations define them. */
import type { Generated } from 'kysely';
import type { Presence } from '../../domain/presence.ts';
import type { RateWindow, Source } from '../../domain/reading.ts';
import type { MarkReason } from '../../domain/retry.ts';
import type { RunKind, RunOutcome } from '../../domain/run.ts';
import type { CodeState } from '../../domain/verifier.ts';
import {
  columnFields,
  type FlagField,
  type StateField,
  type StateWord,
  type TaxDefault,
  type TextField,
  type VisState,
} from '../../domain/vendor.ts';

export type RunTrigger = 'command' | 'schedule' | 'start' | 'verification' | 'watchdog' | 'queue';
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
  | 'unreadable_value'
  | 'not_honoured'
  | 'lagging_copy'
  | 'unlisted'
  | 'unsteady_field'
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
  marked_ms: number | null;
  last_ms: number | null;
}

export interface UndecidedTable extends VendorKey {
  since: string;
  as_of: string | null;
  code: string;
  error: string;
}

export interface CounterTable {
  id: number;
  read_seq: number;
  generation: number;
  offset_ms: number;
  mirror_ms: number;
  wall_ms: number | null;
  /** How far the wall clock is ahead of the service's; null where it is not known to be wrong. */
  clock_ahead_ms: number | null;
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
  remedy: string | null;
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
  undecided: number;
  details_as_of: string | null;
}

export const freshnessColumns = [
  'account_id',
  'last_complete_sweep',
  'oldest_unsettled_delivery',
  'open_suspects',
  'parked_vendors',
  'callback_verified',
  'safe_as_of',
  'listed_as_of',
  'not_served_since',
  'paused_since',
  'undecided',
  'details_as_of',
] as const satisfies (keyof FreshnessView)[];

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
  connection: string;
  window: RateWindow;
  read_seq: number;
  counts_until_ms: number;
  process: string | null;
}

export interface RateWaitTable {
  connection: string;
  window: RateWindow;
  process: string;
  since_seq: number;
  waits_until_ms: number;
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
  derivation: Generated<number>;
  listener_host: string | null;
  listener_moved_at: string | null;
}

export interface AccountTable {
  account_id: string;
  added_at: string;
  not_served_since: string | null;
  settings_file: string | null;
  connection: Generated<string>;
  paused_since: Generated<string | null>;
  accepted_unreadable: Generated<number>;
  accepted_at: Generated<string | null>;
  miscounted: Generated<number>;
  filters_show: Generated<number>;
  shortfall: Generated<number | null>;
  withheld_absences: Generated<number>;
  unproven_absences: Generated<number>;
  probed_vendors: Generated<number>;
  reads_details: Generated<number>;
  callback_proven_at: Generated<string | null>;
}

export interface ShownStateTable {
  account_id: string;
  /** -1: vendors without a state. */
  vis_state: number;
  shown_by: 'list' | 'filter';
}

/** The tables of the mirror that statements are built for; those in words name their columns themselves. */
export interface MirrorTables {
  _accounts: AccountTable;
  mirror_identity: IdentityTable;
  _reading_counter: CounterTable;
  _clock_set_back: { read_seq: number; noticed_at: string };
  vendors: VendorTable;
  vendor_balances: BalanceTable;
  vendor_tax_defaults: TaxDefaultTable;
  vendor_versions: VersionTable;
  _vendor_versions: VersionRowTable;
  _balance_spans: BalanceSpanTable;
  _page_confirmations: { read_seq: number; account_id: string; vendorids: string };
  gateways: GatewayTable;
  callbacks: CallbackTable;
  deliveries: DeliveryTable;
  dirty_vendors: DirtyVendorTable;
  undecided_vendors: UndecidedTable;
  runs: RunTable;
  findings: FindingTable;
  _creations: CreationTable;
  _edits: EditTable;
  _requests: RequestTable;
  _daemon_files: DaemonFileTable;
  _forgotten_vendors: { account_id: string; vendorid: number; forgotten_at: string };
  _shown_states: ShownStateTable;
  _sweep_requests: SweepRequestTable;
  _registration_refusals: RegistrationRefusalTable;
  _unknown_callbacks: UnknownCallbackTable;
  _lagging_lists: { account_id: string; behind_ms: number; seen_ms: number };
  _lagging_copies: {
    account_id: string;
    vendorid: number;
    updated_at: string;
    begun_ms: number;
    wait_ms: number;
    age_ms: number;
  };
  _unsteady_fields: VendorKey & { field: string; changes: number; run_id: number; is_found: number };
  _known_fields: { account_id: string; field: string; first_seen_at: string };
  freshness: FreshnessView;
}

/** A callback that leads to this installation and that other secrets registered. */
export interface UnknownCallbackTable {
  account_id: string;
  callbackid: number;
  found_at: string;
}

export type VisStateSource = 'reported' | 'inferred';

export interface VendorKey {
  readonly account_id: string;
  readonly vendorid: number;
}

/** The columns of a vendor's known fields. */
type FieldColumns = Record<TextField, string | null> &
  Record<FlagField, number | null> &
  Record<StateField, VisState | null>;

export interface VendorTable extends VendorKey, FieldColumns {
  vis_state_source: VisStateSource;
  presence: Presence;
  /** Mirror time; see `domain/presence.ts`. Null too where an earlier version wrote it. */
  presence_ms: number | null;
  first_seen_at: string;
  changed_at: string;
  source: Source;
  read_seq: number;
  held_since_ms: number;
  unknown_fields: string | null;
  unreadable_fields: string | null;
  detail_seq: number | null;
  details_at: string | null;
  raw: string;
}

/** The columns that a reading or a conclusion may change. */
export const changingColumns = [
  ...columnFields,
  'vis_state_source',
  'presence',
  'presence_ms',
  'changed_at',
  'source',
  'read_seq',
  'held_since_ms',
  'unknown_fields',
  'unreadable_fields',
  'raw',
] as const satisfies (keyof VendorTable)[];

/** All columns of a vendor. */
export const vendorColumns = [
  ...(['account_id', 'vendorid', 'first_seen_at', 'detail_seq', 'details_at'] as const),
  ...changingColumns,
] as const satisfies (keyof VendorTable)[];

export interface BalanceTable extends VendorKey {
  kind: 'outstanding' | 'overdue';
  amount: string;
  amount_minor: number | bigint | null;
  code: string;
}

export const balanceColumns = [
  'account_id',
  'vendorid',
  'kind',
  'amount',
  'amount_minor',
  'code',
] as const satisfies (keyof BalanceTable)[];

export interface TaxDefaultTable extends VendorKey, Omit<TaxDefault, 'enabled'> {
  enabled: number | null;
}

export const taxColumns = [
  'account_id',
  'vendorid',
  'taxid',
  'system_taxid',
  'enabled',
  'name',
  'amount',
  'tax_authorityid',
  'created_at',
  'updated_at',
] as const satisfies (keyof TaxDefaultTable)[];

/** The view `vendor_versions`. */
export interface VersionTable extends VendorKey {
  seq: Generated<number>;
  valid_from: string;
  valid_to: string | null;
  vis_state: VisState | null;
  vis_state_source: VisStateSource;
  presence: Presence;
  changed_fields: string;
  source: Source;
  run_id: number | null;
  delivery_id: number | null;
  raw: string;
}

/** The table behind `vendor_versions`. */
export interface VersionRowTable extends Omit<VersionTable, 'raw'> {
  /** Null in the current version, whose record is in `vendors`. */
  raw: string | null;
}

export interface BalanceSpanTable extends VendorKey {
  code: string;
  valid_from: string;
  valid_to: string | null;
  outstanding: string | null;
  outstanding_minor: number | bigint | null;
  overdue: string | null;
  overdue_minor: number | bigint | null;
  outstanding_amount: number | null;
  overdue_amount: number | null;
  outstanding_units: number | bigint | null;
  overdue_units: number | bigint | null;
  minor_digits: number;
  /** Null while the vendor is absent: nobody knows whether it is owed anything. */
  state: StateWord | null;
}

/** The one definition of what is owed: a row for each account, state and currency. */
export interface OwedView {
  account_id: string;
  /** Null in the row of vendors whose balances cannot be read at all. */
  currency: string | null;
  state: StateWord;
  vendors: number;
  outstanding: number | null;
  overdue: number | null;
  outstanding_minor: number | bigint | null;
  overdue_minor: number | bigint | null;
  minor_digits: number | null;
  unreadable: number;
}

export interface RegistrationRefusalTable {
  account_id: string;
  event: string;
  refused_at: string;
  code: string;
  message: string;
  remedy: string | null;
  uri: string | null;
  attempts: number;
  retry_at: string | null;
}

/** A file of `publish`, and what it holds. */
export interface PublicationTable {
  path: string;
  place: string | null;
  definition: string | null;
  file_ms: number | null;
  written_at: string | null;
  failing_since: string | null;
  failed_at: string | null;
  failures: number;
  code: string | null;
  error: string | null;
  remedy: string | null;
}

/** Requests to the address of a callback that were refused with this outcome. */
export interface RefusalTable {
  account_id: string;
  outcome: string;
  refused: number;
  first_at: string;
  last_at: string;
  /** Those since the last accepted delivery, and the first of them. */
  recent: number;
  recent_at: string;
  detail: string | null;
}

interface SweepRequestTable {
  account_id: string;
  generation: number;
  asked_at: string | null;
  asked_ms: number | null;
  last_ms: number;
  rest_until_ms: Generated<number>;
  callback_ids: Generated<number>;
  callback_id_at: string | null;
}

export interface CreationTable {
  account_id: string;
  vendor_name: string;
  sent_at: string;
  known: string;
  sent_by: string | null;
  /** The latest version of any vendor then; null in rows of earlier versions. */
  version: number | null;
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

/** Types of the tables in the secrets file. The migrations define them. */
export interface VerifierTable {
  account_id: string;
  verifier: string;
  callbackid: number | null;
  state: CodeState;
  received_at: string;
  expires_at: string | null;
  /** It was received again while a code was awaited, and waits to be tried. */
  came_again: 0 | 1;
}

/** The file of secrets. */
export interface SecretTables {
  /** `daemon_epoch` of the last daemon, negative once it stopped normally; 0 where none worked with these secrets. */
  owner: { id: number; mirror_id: string; mirror_path: string; daemon_epoch: number };
  path_tokens: { account_id: string; path_token: string; previous_token: string | null };
  verifiers: VerifierTable;
  awaited_codes: { account_id: string; event: string; callbackid: number | null; asked_at: string };
  registrations: { account_id: string; event: string; registered_at: string; uri: string | null };
  key_orders: { id: Generated<number>; names: string };
  oauth_tokens: {
    client: string;
    access_token: string | null;
    refresh_token: string | null;
    expires_at: string | null;
    lease_owner: string | null;
    lease_until_ms: number | null;
  };
}
