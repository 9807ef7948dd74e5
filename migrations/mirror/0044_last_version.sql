-- The last number of the change feed, asked by name: where it is kept differs between engines.
CREATE VIEW _last_version AS
SELECT CAST(seq AS INTEGER) AS seq FROM sqlite_sequence WHERE name = '_vendor_versions';

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_last_version', '', 'view', NULL, 'Internal: the last number that a change of the feed was given', NULL),
  ('_last_version', 'seq', 'view', 'INT', 'Its number; no row, or null, before the first', '1043');
