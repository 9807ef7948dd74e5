-- The mirror. Times of ours are UTC, `YYYY-MM-DD HH:MM:SS.SSS`; times of the service are the text it sent.

CREATE TABLE accounts (
  account_id TEXT NOT NULL PRIMARY KEY,
  added_at TIMESTAMP NOT NULL
);

-- One row: the counter that orders readings, the one that tells marks apart, and mirror time, which no clock can turn back.
CREATE TABLE reading_counter (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  read_seq INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  offset_ms INTEGER NOT NULL,
  mirror_ms INTEGER NOT NULL
);
INSERT INTO reading_counter (id, read_seq, generation, offset_ms, mirror_ms) VALUES (1, 0, 0, 0, 0);

CREATE TABLE vendors (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL CHECK (vendorid > 0),
  vendor_name TEXT,
  account_number TEXT,
  primary_contact_first_name TEXT,
  primary_contact_last_name TEXT,
  primary_contact_email TEXT,
  primary_contact TEXT,
  phone TEXT,
  street TEXT,
  street2 TEXT,
  city TEXT,
  province TEXT,
  postal_code TEXT,
  country TEXT,
  website TEXT,
  currency_code TEXT,
  language TEXT,
  note TEXT,
  created_at TIMESTAMP,
  updated_at TIMESTAMP,
  is_1099 BOOLEAN CHECK (is_1099 IN (0, 1)),
  vis_state INTEGER CHECK (vis_state IN (0, 1, 2)),
  vis_state_source TEXT NOT NULL DEFAULT 'reported' CHECK (vis_state_source IN ('reported', 'inferred')),
  presence TEXT NOT NULL DEFAULT 'present' CHECK (presence IN ('present', 'suspect', 'missing', 'gone')),
  first_seen_at TIMESTAMP NOT NULL,
  changed_at TIMESTAMP NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('pull', 'delivery', 'reconcile', 'write')),
  read_seq INTEGER NOT NULL,
  held_since_ms INTEGER NOT NULL, -- mirror time at which the first reading that showed this content ended
  unknown_fields TEXT, -- fields without a column of their own: name to JSON text; null where there are none
  raw TEXT NOT NULL CHECK (json_valid(raw)),
  PRIMARY KEY (account_id, vendorid)
);
CREATE INDEX vendors_not_present ON vendors (account_id, presence) WHERE presence <> 'present';

-- Columns of the key come first: integrity_check of older readers misreads a WITHOUT ROWID table where they do not.
CREATE TABLE vendor_balances (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('outstanding', 'overdue')),
  code TEXT NOT NULL,
  amount TEXT NOT NULL,
  amount_minor INTEGER,
  PRIMARY KEY (account_id, vendorid, kind, code)
) WITHOUT ROWID;

CREATE TABLE vendor_tax_defaults (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  taxid INTEGER NOT NULL,
  system_taxid INTEGER,
  enabled BOOLEAN CHECK (enabled IN (0, 1)),
  name TEXT,
  amount TEXT,
  tax_authorityid TEXT,
  created_at TIMESTAMP,
  updated_at TIMESTAMP,
  PRIMARY KEY (account_id, vendorid, taxid)
) WITHOUT ROWID;

CREATE TABLE vendor_versions (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  valid_from TIMESTAMP NOT NULL,
  valid_to TIMESTAMP,
  vis_state INTEGER,
  vis_state_source TEXT NOT NULL,
  presence TEXT NOT NULL,
  changed_fields TEXT NOT NULL CHECK (json_valid(changed_fields)),
  source TEXT NOT NULL,
  run_id INTEGER,
  delivery_id INTEGER,
  raw TEXT NOT NULL
);
CREATE INDEX vendor_versions_of_vendor ON vendor_versions (account_id, vendorid, seq);

-- One row per vendor and currency for as long as neither amount moved.
CREATE TABLE balance_spans (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  code TEXT NOT NULL,
  valid_from TIMESTAMP NOT NULL,
  valid_to TIMESTAMP,
  outstanding TEXT,
  outstanding_minor INTEGER,
  overdue TEXT,
  overdue_minor INTEGER
);
CREATE INDEX balance_spans_of_vendor ON balance_spans (account_id, vendorid, valid_to);

-- Vendors that a page showed unchanged: such a page writes no vendor row, and still no older reading may pass it.
CREATE TABLE page_confirmations (
  read_seq INTEGER NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  vendorids TEXT NOT NULL
);

CREATE TABLE gateways (
  account_id TEXT NOT NULL,
  sgid INTEGER NOT NULL,
  id INTEGER NOT NULL,
  connectionid TEXT,
  gateway_name TEXT,
  first_seen_at TIMESTAMP NOT NULL,
  removed_at TIMESTAMP,
  PRIMARY KEY (account_id, sgid)
);

CREATE TABLE callbacks (
  account_id TEXT NOT NULL,
  callbackid INTEGER NOT NULL,
  event TEXT NOT NULL,
  uri TEXT NOT NULL, -- the path token is left out
  verified BOOLEAN NOT NULL CHECK (verified IN (0, 1)),
  checked_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, callbackid)
);

CREATE TABLE deliveries (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  received_at TIMESTAMP NOT NULL,
  name TEXT NOT NULL,
  object_id INTEGER,
  business_id INTEGER,
  identity_id INTEGER,
  user_id INTEGER,
  outcome TEXT NOT NULL CHECK (outcome IN ('pending', 'applied', 'unchanged', 'not_found', 'ignored', 'parked')),
  settled_at TIMESTAMP
);
CREATE INDEX deliveries_of_vendor ON deliveries (account_id, object_id, id);
CREATE INDEX deliveries_unsettled ON deliveries (account_id, received_at) WHERE outcome IN ('pending', 'parked');
CREATE INDEX deliveries_by_time ON deliveries (received_at);

CREATE TABLE dirty_vendors (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  marked_at TIMESTAMP NOT NULL, -- the oldest mark that is still open
  due_at TIMESTAMP, -- null: parked, the next reconciliation marks it again
  due_ms INTEGER, -- the same moment in mirror time
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL CHECK (reason IN ('delivery', 'second_look', 'guarded', 'retry', 'reconcile', 'asked')),
  last_error TEXT,
  PRIMARY KEY (account_id, vendorid)
);
CREATE INDEX dirty_vendors_due ON dirty_vendors (due_ms);

CREATE TABLE runs (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('pull', 'reconcile', 'verify')),
  "trigger" TEXT NOT NULL CHECK ("trigger" IN ('command', 'schedule', 'start', 'verification', 'watchdog', 'queue')),
  started_at TIMESTAMP NOT NULL,
  finished_at TIMESTAMP,
  outcome TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'incomplete', 'failed', 'abandoned')),
  pages INTEGER NOT NULL DEFAULT 0,
  requests INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL DEFAULT 0,
  updated INTEGER NOT NULL DEFAULT 0,
  unchanged INTEGER NOT NULL DEFAULT 0,
  suspects INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  safe_as_of TIMESTAMP, -- of a complete run: everything that had happened by then is in the mirror
  pid INTEGER NOT NULL,
  began_seq INTEGER NOT NULL -- read_seq at the start: a vendor with a higher one was seen since
);
CREATE INDEX runs_of_account ON runs (account_id, outcome, id);

CREATE TABLE findings (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL,
  account_id TEXT NOT NULL,
  vendorid INTEGER,
  kind TEXT NOT NULL CHECK (kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'balance_only',
    'in_flight', 'vanished', 'field_drift', 'unreadable', 'breaker')),
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  found_at TIMESTAMP NOT NULL,
  explained_at TIMESTAMP,
  explanation TEXT
);
CREATE INDEX findings_of_account ON findings (account_id, kind, found_at);
CREATE INDEX findings_open ON findings (account_id, vendorid) WHERE explained_at IS NULL;

-- Names of fields that records of an account have shown, so that one that appears or disappears is reported once.
CREATE TABLE known_fields (
  account_id TEXT NOT NULL,
  field TEXT NOT NULL,
  first_seen_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, field)
) WITHOUT ROWID;
