-- Accounts that `accounts add` added to those of the settings.
CREATE TABLE _added_accounts (
  account_id TEXT NOT NULL PRIMARY KEY,
  connection TEXT NOT NULL, -- of the settings: `default` is service.auth
  added_at TIMESTAMP NOT NULL
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('_added_accounts', '', 'table', NULL, 'The program''s own: accounts that a command added to those of the settings', NULL, NULL),
  ('_added_accounts', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk', NULL),
  ('_added_accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default', NULL),
  ('_added_accounts', 'added_at', 'table', 'TIMESTAMP', 'When it was added, UTC', '2026-11-20 12:00:00.000', NULL);
