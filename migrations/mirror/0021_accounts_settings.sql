-- The settings file that named an account last: it alone says that the account is served no more.
ALTER TABLE accounts ADD COLUMN settings_file TEXT;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('accounts', 'settings_file', 'table', 'TEXT', 'The settings file that named it last; that one alone says that it is served no more', '/etc/vendor-mirror/mirror.yaml', NULL);
