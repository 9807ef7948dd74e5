-- The record of the current version stands in `vendors`: here it would stand a second time. The largest table is built anew, once.
-- space: SELECT 2 * (400 * count(*) + coalesce(sum(CASE WHEN valid_to IS NOT NULL THEN length(CAST(raw AS BLOB)) END), 0)) AS bytes FROM vendor_versions

CREATE TABLE _vendor_versions (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  valid_from TIMESTAMP NOT NULL,
  valid_to TIMESTAMP,
  vis_state INTEGER,
  vis_state_source TEXT NOT NULL,
  presence TEXT NOT NULL,
  changed_fields TEXT NOT NULL CHECK (json_valid(changed_fields)),
  source TEXT NOT NULL,
  run_id INTEGER,
  delivery_id INTEGER,
  raw TEXT -- null in the current version
);
-- `progress` is the program's own: it tells how far this has come.
INSERT INTO _vendor_versions
SELECT v.seq, v.account_id, v.vendorid, v.valid_from, v.valid_to, v.vis_state, v.vis_state_source, v.presence, v.changed_fields,
  v.source, v.run_id, v.delivery_id, CASE WHEN v.valid_to IS NULL AND v.raw = n.raw THEN NULL ELSE v.raw END
FROM vendor_versions v LEFT JOIN vendors n ON n.account_id = v.account_id AND n.vendorid = v.vendorid
WHERE progress(v.seq, (SELECT max(seq) FROM vendor_versions))
ORDER BY v.seq;

-- Numbers that were given are not given again, though the versions that had them were removed with age.
INSERT INTO sqlite_sequence (name, seq) SELECT '_vendor_versions', 0
  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '_vendor_versions');
UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name IN ('vendor_versions', '_vendor_versions'))
  WHERE name = '_vendor_versions';
DROP TABLE vendor_versions;
CREATE INDEX vendor_versions_of_vendor ON _vendor_versions (account_id, vendorid, seq);
CREATE INDEX vendor_versions_closed ON _vendor_versions (valid_to) WHERE valid_to IS NOT NULL;
CREATE TRIGGER _feed_version_removed AFTER DELETE ON _vendor_versions
WHEN old.seq > (SELECT seq FROM _feed_removed) BEGIN
  UPDATE _feed_removed SET seq = old.seq;
END;

CREATE VIEW vendor_versions AS
SELECT v.seq, v.account_id, v.vendorid, v.valid_from, v.valid_to, v.vis_state, v.vis_state_source, v.presence, v.changed_fields,
  v.source, v.run_id, v.delivery_id,
  coalesce(v.raw, (SELECT n.raw FROM vendors n WHERE n.account_id = v.account_id AND n.vendorid = v.vendorid)) AS raw
FROM _vendor_versions v;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by)
SELECT '_vendor_versions', column_name, 'table', type,
  CASE column_name
    WHEN '' THEN 'The program''s own: the rows of vendor_versions'
    WHEN 'raw' THEN 'The record as received, JSON; null in the current version, whose record stands in vendors'
    ELSE meaning
  END, example, NULL
FROM data_dictionary WHERE name = 'vendor_versions';
UPDATE data_dictionary SET kind = 'view' WHERE name = 'vendor_versions';
