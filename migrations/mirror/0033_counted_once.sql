-- Of a vendor that a sweep met as changed more than once, as its walks may, one announcement is taken back, not one for each time; and never
-- more than there are. Otherwise more changes would be missed than there were.
UPDATE _webhook_days SET announced_changes = 0 WHERE announced_changes < 0;

-- A sweep that met a change which no delivery announced, of a vendor of which an earlier change was announced: the last change counts, once.
DROP VIEW _missed_after_delivery;
CREATE VIEW _missed_after_delivery AS
SELECT f.id AS finding_id, f.account_id, substr(CAST(r.started_at AS TEXT), 1, 10) AS day
FROM findings f JOIN runs r ON r.id = f.run_id
WHERE EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.account_id = f.account_id AND d.object_id = f.vendorid AND d.outcome <> 'ignored' AND d.received_at < r.started_at
    AND d.received_at >= coalesce((SELECT p.started_at FROM runs p
      WHERE p.account_id = r.account_id AND p.id < r.id AND p.kind <> 'verify' ORDER BY p.id DESC LIMIT 1), ''))
  AND NOT EXISTS (
    SELECT 1 FROM findings o
    WHERE o.account_id = f.account_id AND o.vendorid = f.vendorid AND o.explained_at IS NULL
      AND o.run_id = f.run_id AND o.id <> f.id AND o.kind LIKE 'missed_%');

DROP TRIGGER _finding_counted;
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

DROP TRIGGER _finding_recounted;
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
