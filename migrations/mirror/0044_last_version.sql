-- The last number of the change feed, asked by name: where it is kept differs between engines.
CREATE VIEW _last_version AS
SELECT CAST(max(seq) AS BIGINT) AS seq FROM (
  SELECT max(seq) AS seq FROM _vendor_versions
  UNION ALL
  SELECT max(seq) FROM _feed_removed) AS ends;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_last_version', '', 'view', NULL, 'Internal: the last number that a change of the feed was given', NULL),
  ('_last_version', 'seq', 'view', 'INT', 'Its number; 0 before the first', '1043');
