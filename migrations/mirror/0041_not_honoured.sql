-- Optional requests that the service does not honour, until it does. `is_found` is 1 once a run has recorded a finding about it.
CREATE TABLE _not_honoured (
  account_id TEXT NOT NULL,
  request TEXT NOT NULL,
  since TIMESTAMP NOT NULL,
  tried_at TIMESTAMP NOT NULL,
  again_at TIMESTAMP NOT NULL,
  failures INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  is_found BOOLEAN NOT NULL DEFAULT 0 CHECK (is_found IN (0, 1)),
  PRIMARY KEY (account_id, request)
);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_not_honoured', '', 'table', NULL, 'Internal: optional requests that the service does not honour, until it does', NULL),
  ('_not_honoured', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_not_honoured', 'request', 'table', 'TEXT', 'What is not honoured: ''per_page'', ''window_size'', ''search[vis_state]'' or ''gateways''', 'gateways'),
  ('_not_honoured', 'since', 'table', 'TIMESTAMP', 'When it was first not honoured, UTC', '2026-11-20 12:00:00.000'),
  ('_not_honoured', 'tried_at', 'table', 'TIMESTAMP', 'When it was last tried, UTC', '2026-11-20 12:00:00.000'),
  ('_not_honoured', 'again_at', 'table', 'TIMESTAMP', 'When it is tried again, UTC', '2026-11-21 12:00:00.000'),
  ('_not_honoured', 'failures', 'table', 'INTEGER', 'How often in a row it was not honoured', '1'),
  ('_not_honoured', 'code', 'table', 'TEXT', 'Code of the last error', 'access_denied'),
  ('_not_honoured', 'message', 'table', 'TEXT', 'The error in words', 'The service denied access.'),
  ('_not_honoured', 'is_found', 'table', 'BOOLEAN', 'Whether a run has recorded a finding about it', '1');

-- A service may tidy the name of a new vendor: what was created is searched for among all vendors that are new since.
ALTER TABLE _creations ADD COLUMN version INTEGER;
UPDATE data_dictionary SET meaning = 'Of creations that earlier versions sent: numbers of the vendors of that name that were there before, JSON'
WHERE name = '_creations' AND column_name = 'known';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_creations', 'version', 'table', 'INTEGER', 'The latest version of any vendor then, as seq; null where an earlier version sent it', '120');
