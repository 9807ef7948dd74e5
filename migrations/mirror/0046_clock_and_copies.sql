-- By how many milliseconds the wall clock is ahead of the service's; null where it is not known to be wrong.
ALTER TABLE reading_counter ADD COLUMN clock_ahead_ms INTEGER;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('reading_counter', 'clock_ahead_ms', 'table', 'INTEGER', 'By how much the clock of the machine is ahead of the service''s, milliseconds; null where it is not known to be wrong', NULL);

-- How old the oldest copy was from which the service answered a list; one row for an account whose lists were seen to lag.
CREATE TABLE _lagging_lists (
  account_id TEXT NOT NULL PRIMARY KEY,
  behind_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL -- mirror time
) WITHOUT ROWID;

-- Vendors that a list showed as they were before, until a read by id settles it: since which reading, and for how long it is not applied.
CREATE TABLE _lagging_copies (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  begun_ms INTEGER NOT NULL, -- mirror time
  wait_ms INTEGER NOT NULL,
  age_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, vendorid)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_lagging_lists', '', 'table', NULL, 'Internal: accounts whose lists were answered from copies that were behind', NULL),
  ('_lagging_lists', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_lists', 'behind_ms', 'table', 'INTEGER', 'How old the oldest copy was, milliseconds', '60000'),
  ('_lagging_lists', 'seen_ms', 'table', 'INTEGER', 'When one was last seen, in mirror time, milliseconds', NULL),
  ('_lagging_copies', '', 'table', NULL, 'Internal: vendors that a list showed as they were before', NULL),
  ('_lagging_copies', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_copies', 'vendorid', 'table', 'INTEGER', 'The vendor', '3391'),
  ('_lagging_copies', 'updated_at', 'table', 'TEXT', 'The service''s time of the version that the list showed', NULL),
  ('_lagging_copies', 'begun_ms', 'table', 'INTEGER', 'When the first request that showed it began, in mirror time, milliseconds', NULL),
  ('_lagging_copies', 'wait_ms', 'table', 'INTEGER', 'How long after that it is believed, where no read by id says otherwise, milliseconds', '60000'),
  ('_lagging_copies', 'age_ms', 'table', 'INTEGER', 'How old the copy was, milliseconds', '60000');
