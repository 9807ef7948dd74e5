-- Which connection gives access to an account, as the settings said last: an account that they name no more still has its callback to be deleted.
ALTER TABLE accounts ADD COLUMN connection TEXT NOT NULL DEFAULT 'default';

-- Connections that give no access at present, until a request that one gave access to is answered.
CREATE TABLE _connection_failures (
  connection TEXT NOT NULL PRIMARY KEY,
  requests INTEGER NOT NULL, -- that failed one after the other
  first_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  code TEXT NOT NULL, -- of the last, as in the catalogue of errors
  message TEXT NOT NULL
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default', NULL),
  ('_connection_failures', '', 'table', NULL, 'The program''s own: connections of the settings that give no access, until a request is answered', NULL, NULL),
  ('_connection_failures', 'connection', 'table', 'TEXT', 'Name of the connection', 'default', NULL),
  ('_connection_failures', 'requests', 'table', 'INTEGER', 'How many requests failed', '3', NULL),
  ('_connection_failures', 'first_at', 'table', 'TIMESTAMP', 'When the first failed, UTC', '2026-11-20 12:00:00.000', NULL),
  ('_connection_failures', 'last_at', 'table', 'TIMESTAMP', 'When the last failed, UTC', '2026-11-20 12:00:00.000', NULL),
  ('_connection_failures', 'code', 'table', 'TEXT', 'Code of the last error', 'token_refresh_failed', NULL),
  ('_connection_failures', 'message', 'table', 'TEXT', 'The error in words', 'The token endpoint refused the refresh token: invalid_grant.', NULL);
