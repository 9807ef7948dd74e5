-- How a sweep was proven complete, whether the list moved meanwhile, and findings about records and counts.

ALTER TABLE runs ADD COLUMN proof TEXT CHECK (proof IN ('plain', 'windows', 'passes')); -- null where nothing was proven
ALTER TABLE runs ADD COLUMN list_moved BOOLEAN CHECK (list_moved IN (0, 1)); -- null where no list was walked whole
ALTER TABLE runs ADD COLUMN listed_as_of TIMESTAMP; -- as safe_as_of, of what lists show: vendors that they hide are re-read in turn
UPDATE runs SET listed_as_of = safe_as_of;

-- A CHECK cannot be changed in place. Views go on naming the table, which is the same again in the end.
PRAGMA legacy_alter_table = ON;
CREATE TABLE findings_with_more_kinds (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL,
  account_id TEXT NOT NULL,
  vendorid INTEGER,
  kind TEXT NOT NULL CHECK (kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'balance_only',
    'in_flight', 'vanished', 'field_drift', 'record_rejected', 'count_mismatch', 'unreadable', 'breaker')),
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  found_at TIMESTAMP NOT NULL,
  explained_at TIMESTAMP,
  explanation TEXT
);
INSERT INTO findings_with_more_kinds SELECT * FROM findings;
INSERT INTO sqlite_sequence (name, seq) SELECT 'findings_with_more_kinds', 0
  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'findings_with_more_kinds');
UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name IN ('findings', 'findings_with_more_kinds'))
  WHERE name = 'findings_with_more_kinds';
DROP TABLE findings;
ALTER TABLE findings_with_more_kinds RENAME TO findings;
PRAGMA legacy_alter_table = OFF;
CREATE INDEX findings_of_account ON findings (account_id, kind, found_at);
CREATE INDEX findings_open ON findings (account_id, vendorid) WHERE explained_at IS NULL;

DROP VIEW freshness;
CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked')) AS oldest_unsettled_delivery,
  (SELECT count(*) FROM vendors v WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT max(c.verified) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  (SELECT min(moment) FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id
  ) WHERE r.safe_as_of IS NOT NULL) AS safe_as_of,
  (SELECT min(moment) FROM (
    SELECT r.listed_as_of AS moment
    UNION ALL SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id
  ) WHERE r.listed_as_of IS NOT NULL) AS listed_as_of
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'));
