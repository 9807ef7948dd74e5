-- What must never stand in the mirror, on PostgreSQL: the tables and columns that migrations/secrets/ makes in SQLite, in a schema of its own.
--
-- Columns that hold secrets are sealed by the program (src/store/secrets/sealed-columns.ts), so the same value is another text each time:
-- none of them is a key, and no statement compares them with anything but what was read before. `rowid` is a column here, because SQLite has
-- it without being told.

CREATE TABLE migrations (
  number bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  checksum text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  applied_by text COLLATE "C"
);

CREATE TABLE owner (
  id smallint PRIMARY KEY CHECK (id = 1),
  mirror_id text COLLATE "C" NOT NULL,
  mirror_path text COLLATE "C" NOT NULL,
  daemon_epoch bigint NOT NULL DEFAULT 0
);

CREATE TABLE path_tokens (
  account_id text COLLATE "C" PRIMARY KEY,
  path_token text COLLATE "C" NOT NULL, -- sealed
  previous_token text COLLATE "C" -- sealed
);

-- An account has few, so they are found by it alone.
CREATE TABLE verifiers (
  account_id text COLLATE "C" NOT NULL,
  verifier text COLLATE "C" NOT NULL, -- sealed
  callbackid bigint,
  state text COLLATE "C" NOT NULL CHECK (state IN ('candidate', 'proven', 'previous')),
  received_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  came_again smallint NOT NULL DEFAULT 0 CHECK (came_again IN (0, 1)),
  rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);
CREATE INDEX verifiers_of_account ON verifiers (account_id);

CREATE TABLE awaited_codes (
  account_id text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  callbackid bigint,
  asked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, event)
);

CREATE TABLE registrations (
  account_id text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  uri text COLLATE "C", -- sealed
  rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);
CREATE INDEX registrations_of_account ON registrations (account_id, event);

CREATE TABLE key_orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  names text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE oauth_tokens (
  client text COLLATE "C" PRIMARY KEY,
  access_token text COLLATE "C", -- sealed
  refresh_token text COLLATE "C", -- sealed
  expires_at timestamptz(3),
  lease_owner text COLLATE "C",
  lease_until_ms bigint
);

CREATE TABLE notified (
  target text COLLATE "C" PRIMARY KEY,
  place text COLLATE "C" NOT NULL
);
