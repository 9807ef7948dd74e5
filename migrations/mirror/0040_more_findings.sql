-- Findings about single vendors, values and requests. A CHECK cannot be changed in place, and a table that views read cannot be renamed.
CREATE TABLE _findings_before AS SELECT * FROM findings;
CREATE TABLE _findings_number AS SELECT seq FROM sqlite_sequence WHERE name = 'findings';
DROP TABLE findings;
CREATE TABLE findings (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL,
  account_id TEXT NOT NULL,
  vendorid INTEGER,
  kind TEXT NOT NULL CHECK (kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'balance_only',
    'in_flight', 'vanished', 'field_drift', 'record_rejected', 'count_mismatch', 'unreadable', 'unreadable_value', 'not_honoured',
    'lagging_copy', 'unlisted', 'breaker')),
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  found_at TIMESTAMP NOT NULL,
  explained_at TIMESTAMP,
  explanation TEXT
);
INSERT INTO findings SELECT * FROM _findings_before;
DELETE FROM sqlite_sequence WHERE name = 'findings';
INSERT INTO sqlite_sequence (name, seq) SELECT 'findings', seq FROM _findings_number;
DROP TABLE _findings_before;
DROP TABLE _findings_number;
CREATE INDEX findings_of_account ON findings (account_id, kind, found_at);
CREATE INDEX findings_open ON findings (account_id, vendorid) WHERE explained_at IS NULL;
CREATE INDEX findings_of_run ON findings (run_id, kind);
CREATE INDEX findings_by_time ON findings (found_at);

UPDATE data_dictionary SET meaning = 'What was found: ''missed_create'', ''missed_update'', ''missed_delete'', ''missed_restore'', ''balance_only'', ''in_flight'', ''vanished'', ''field_drift'', ''record_rejected'', ''count_mismatch'', ''unreadable'', ''unreadable_value'', ''not_honoured'', ''lagging_copy'', ''unlisted'' or ''breaker'''
WHERE name = 'findings' AND column_name = 'kind';

-- They went with the table.
CREATE TRIGGER _finding_counted AFTER INSERT ON findings WHEN new.kind LIKE 'missed_%' BEGIN
  INSERT INTO _webhook_days (account_id, day, unannounced_changes, late_deliveries, latest_seconds)
  VALUES (new.account_id, substr(new.found_at, 1, 10), new.explained_at IS NULL, new.explained_at IS NOT NULL,
    round((julianday(new.explained_at) - julianday(new.found_at)) * 86400, 3))
  ON CONFLICT (account_id, day) DO UPDATE SET
    unannounced_changes = unannounced_changes + excluded.unannounced_changes,
    late_deliveries = late_deliveries + excluded.late_deliveries,
    latest_seconds = max(coalesce(latest_seconds, excluded.latest_seconds), coalesce(excluded.latest_seconds, latest_seconds));
  UPDATE _webhook_days SET announced_changes = max(0, announced_changes - 1)
  WHERE new.explained_at IS NULL
    AND (account_id, day) IN (SELECT m.account_id, m.day FROM _missed_after_delivery m WHERE m.finding_id = new.id);
END;
CREATE TRIGGER _finding_recounted AFTER UPDATE OF kind, explained_at ON findings
WHEN (old.kind LIKE 'missed_%') <> (new.kind LIKE 'missed_%') OR (old.explained_at IS NULL) <> (new.explained_at IS NULL)
BEGIN
  INSERT INTO _webhook_days (account_id, day, unannounced_changes, late_deliveries, latest_seconds)
  VALUES (new.account_id, substr(new.found_at, 1, 10),
    (new.kind LIKE 'missed_%' AND new.explained_at IS NULL) - (old.kind LIKE 'missed_%' AND old.explained_at IS NULL),
    (new.kind LIKE 'missed_%' AND new.explained_at IS NOT NULL) - (old.kind LIKE 'missed_%' AND old.explained_at IS NOT NULL),
    CASE WHEN new.kind LIKE 'missed_%' THEN round((julianday(new.explained_at) - julianday(new.found_at)) * 86400, 3) END)
  ON CONFLICT (account_id, day) DO UPDATE SET
    unannounced_changes = unannounced_changes + excluded.unannounced_changes,
    late_deliveries = late_deliveries + excluded.late_deliveries,
    latest_seconds = max(coalesce(latest_seconds, excluded.latest_seconds), coalesce(excluded.latest_seconds, latest_seconds));
  UPDATE _webhook_days SET announced_changes = max(0, announced_changes
    + (old.kind LIKE 'missed_%' AND old.explained_at IS NULL) - (new.kind LIKE 'missed_%' AND new.explained_at IS NULL))
  WHERE (account_id, day) IN (SELECT m.account_id, m.day FROM _missed_after_delivery m WHERE m.finding_id = new.id);
END;
