-- Processes that wait for a place in the rate of a connection have their turns.
CREATE TABLE _rate_waits (
  connection TEXT NOT NULL,
  "window" TEXT NOT NULL CHECK ("window" IN ('all', 'post', 'callbacks')),
  process TEXT NOT NULL,
  since_seq INTEGER NOT NULL,
  waits_until_ms INTEGER NOT NULL, -- mirror time
  PRIMARY KEY (connection, "window", process)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_rate_waits', '', 'table', NULL, 'Internal: processes that wait for a place in a rate limit', NULL),
  ('_rate_waits', 'connection', 'table', 'TEXT', 'Connection of the settings, by whose token they send', 'default'),
  ('_rate_waits', 'process', 'table', 'TEXT', 'Random name of the process that waits', NULL),
  ('_rate_waits', 'since_seq', 'table', 'INTEGER', 'The number that orders those who wait', '1204'),
  ('_rate_waits', 'waits_until_ms', 'table', 'INTEGER', 'Mirror time until which it is believed to wait', NULL),
  ('_rate_waits', 'window', 'table', 'TEXT', 'The limit that is used up: ''all'', ''post'' or ''callbacks''', 'all');
