-- Rows of any number of mirrors. Every key begins with the mirror's id, and a mirror that is deleted here takes all of its rows along.
-- Times of ours are timestamptz, times of the service the text that it sent.

CREATE TABLE mirrors (
  mirror_id text COLLATE "C" PRIMARY KEY,
  kept_by text NOT NULL,
  writer text NOT NULL,
  kept_until timestamptz(3) NOT NULL,
  written_at timestamptz(3),
  cursor text,
  definition text,
  snapshot text,
  removed_through bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE mirrors IS 'the mirrors that are kept here; to remove one that no longer exists, delete its row';
COMMENT ON COLUMN mirrors.kept_by IS 'host and file of the installation that writes';
COMMENT ON COLUMN mirrors.kept_until IS 'until then no other installation may write';
COMMENT ON COLUMN mirrors.written_at IS 'when the rows were last equal to the mirror; null while they are copied for the first time';
COMMENT ON COLUMN mirrors.cursor IS 'the place in the change feed up to which changes are here';

CREATE TABLE vendors (
  mirror_id text COLLATE "C" NOT NULL REFERENCES mirrors ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  vendor_name text,
  account_number text,
  primary_contact_first_name text,
  primary_contact_last_name text,
  primary_contact_email text,
  primary_contact text,
  phone text,
  street text,
  street2 text,
  city text,
  province text,
  postal_code text,
  country text,
  website text,
  currency_code text,
  language text,
  note text,
  created_at text,
  updated_at text,
  is_1099 boolean,
  vis_state smallint,
  vis_state_source text NOT NULL,
  presence text NOT NULL,
  first_seen_at timestamptz(3) NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  source text NOT NULL,
  unknown_fields text,
  unreadable_fields text,
  raw text NOT NULL,
  PRIMARY KEY (mirror_id, account_id, vendorid)
);
COMMENT ON COLUMN vendors.vis_state IS '0 active, 1 deleted, 2 archived';
COMMENT ON COLUMN vendors.presence IS 'present; missing: not listed by two complete sweeps; gone: not found by its id either';
COMMENT ON COLUMN vendors.raw IS 'the JSON as received';

CREATE TABLE vendor_balances (
  mirror_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  code text COLLATE "C" NOT NULL,
  amount numeric,
  amount_text text NOT NULL,
  PRIMARY KEY (mirror_id, account_id, vendorid, kind, code),
  FOREIGN KEY (mirror_id, account_id, vendorid) REFERENCES vendors ON DELETE CASCADE
);
COMMENT ON COLUMN vendor_balances.amount IS 'null where amount_text, which the service sent, is not a decimal number';

CREATE TABLE vendor_tax_defaults (
  mirror_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  taxid bigint NOT NULL,
  system_taxid bigint,
  enabled boolean,
  name text,
  amount numeric,
  amount_text text,
  tax_authorityid text,
  created_at text,
  updated_at text,
  PRIMARY KEY (mirror_id, account_id, vendorid, taxid),
  FOREIGN KEY (mirror_id, account_id, vendorid) REFERENCES vendors ON DELETE CASCADE
);

CREATE TABLE changes (
  mirror_id text COLLATE "C" NOT NULL REFERENCES mirrors ON DELETE CASCADE,
  seq bigint NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  at timestamptz(3) NOT NULL,
  kind text NOT NULL,
  changed_fields text NOT NULL,
  changed_values text NOT NULL,
  vis_state smallint,
  presence text NOT NULL,
  source text NOT NULL,
  PRIMARY KEY (mirror_id, seq)
);
CREATE INDEX changes_of_vendor ON changes (mirror_id, account_id, vendorid, seq);
COMMENT ON TABLE changes IS 'the change feed: one row for each change of a vendor, in the order of seq';
COMMENT ON COLUMN changes.changed_values IS 'JSON: the old and new value of each changed field';

CREATE TABLE freshness (
  mirror_id text COLLATE "C" NOT NULL REFERENCES mirrors ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL,
  last_complete_sweep timestamptz(3),
  oldest_unsettled_delivery timestamptz(3),
  open_suspects bigint NOT NULL,
  parked_vendors bigint NOT NULL,
  callback_verified boolean,
  safe_as_of timestamptz(3),
  listed_as_of timestamptz(3),
  details_as_of timestamptz(3),
  not_served_since timestamptz(3),
  paused_since timestamptz(3),
  undecided bigint NOT NULL,
  PRIMARY KEY (mirror_id, account_id)
);
COMMENT ON COLUMN freshness.safe_as_of IS 'everything that had happened in the account by then is in the mirror; and here, as of mirrors.written_at';
