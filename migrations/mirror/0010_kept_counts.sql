-- What pages, probes and scrapes ask for again and again is counted as it changes, or found by an index: never by looking through a table.

-- How many vendors an account has of each sort. A state that the service did not tell is -1, because a key has no nulls.
CREATE TABLE _vendor_counts (
  account_id TEXT NOT NULL,
  presence TEXT NOT NULL,
  vis_state INTEGER NOT NULL,
  vendors INTEGER NOT NULL,
  PRIMARY KEY (account_id, presence, vis_state)
) WITHOUT ROWID;
INSERT INTO _vendor_counts (account_id, presence, vis_state, vendors)
SELECT account_id, presence, coalesce(vis_state, -1), count(*) FROM vendors GROUP BY 1, 2, 3;

CREATE TRIGGER _vendor_added AFTER INSERT ON vendors BEGIN
  INSERT INTO _vendor_counts (account_id, presence, vis_state, vendors)
  VALUES (new.account_id, new.presence, coalesce(new.vis_state, -1), 1)
  ON CONFLICT (account_id, presence, vis_state) DO UPDATE SET vendors = vendors + 1;
END;
CREATE TRIGGER _vendor_removed AFTER DELETE ON vendors BEGIN
  UPDATE _vendor_counts SET vendors = vendors - 1
  WHERE account_id = old.account_id AND presence = old.presence AND vis_state = coalesce(old.vis_state, -1);
END;
CREATE TRIGGER _vendor_moved AFTER UPDATE OF account_id, presence, vis_state ON vendors
WHEN old.account_id <> new.account_id OR old.presence <> new.presence OR coalesce(old.vis_state, -1) <> coalesce(new.vis_state, -1)
BEGIN
  UPDATE _vendor_counts SET vendors = vendors - 1
  WHERE account_id = old.account_id AND presence = old.presence AND vis_state = coalesce(old.vis_state, -1);
  INSERT INTO _vendor_counts (account_id, presence, vis_state, vendors)
  VALUES (new.account_id, new.presence, coalesce(new.vis_state, -1), 1)
  ON CONFLICT (account_id, presence, vis_state) DO UPDATE SET vendors = vendors + 1;
END;

-- The rows of `webhook_health`, kept by day; they stay when the journal behind them is removed with age.
CREATE TABLE _webhook_days (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL,
  deliveries INTEGER NOT NULL DEFAULT 0,
  duplicates INTEGER NOT NULL DEFAULT 0,
  unannounced_changes INTEGER NOT NULL DEFAULT 0,
  announced_changes INTEGER NOT NULL DEFAULT 0,
  late_deliveries INTEGER NOT NULL DEFAULT 0,
  latest_seconds REAL,
  PRIMARY KEY (account_id, day)
) WITHOUT ROWID;
INSERT INTO _webhook_days (account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds)
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds
FROM webhook_health;

-- Vendors that were delivered since the last sweep began: they are counted as announced on the day of the next one.
CREATE TABLE _announced_since (
  account_id TEXT NOT NULL PRIMARY KEY,
  sweep_at TIMESTAMP, -- when the last sweep began; null before the first
  vendors INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO _announced_since (account_id, sweep_at, vendors)
SELECT s.account_id, s.sweep_at, (
  SELECT count(DISTINCT d.object_id) FROM deliveries d
  WHERE d.account_id = s.account_id AND d.received_at >= coalesce(s.sweep_at, '') AND d.outcome <> 'ignored')
FROM (
  SELECT a.account_id, (SELECT max(r.started_at) FROM runs r WHERE r.account_id = a.account_id AND r.kind <> 'verify') AS sweep_at
  FROM (SELECT account_id FROM accounts UNION SELECT account_id FROM runs UNION SELECT account_id FROM deliveries) a
) s;

CREATE TRIGGER _delivery_counted AFTER INSERT ON deliveries WHEN new.outcome <> 'ignored' BEGIN
  INSERT INTO _webhook_days (account_id, day, deliveries, duplicates)
  VALUES (new.account_id, substr(new.received_at, 1, 10), 1, new.outcome = 'unchanged')
  ON CONFLICT (account_id, day) DO UPDATE SET deliveries = deliveries + 1, duplicates = duplicates + excluded.duplicates;
  -- Only the first delivery about a vendor since the last sweep counts; the one before it shows whether this is the first.
  INSERT INTO _announced_since (account_id, sweep_at, vendors)
  SELECT new.account_id, NULL, 1
  WHERE coalesce((SELECT d.received_at FROM deliveries d
      WHERE d.account_id = new.account_id AND d.object_id = new.object_id AND d.id < new.id AND d.outcome <> 'ignored'
      ORDER BY d.id DESC LIMIT 1), '')
    < coalesce((SELECT s.sweep_at FROM _announced_since s WHERE s.account_id = new.account_id), '0')
  ON CONFLICT (account_id) DO UPDATE SET vendors = vendors + 1;
END;
CREATE TRIGGER _delivery_settled AFTER UPDATE OF outcome ON deliveries
WHEN (old.outcome = 'unchanged') <> (new.outcome = 'unchanged')
BEGIN
  UPDATE _webhook_days SET duplicates = duplicates + (new.outcome = 'unchanged') - (old.outcome = 'unchanged')
  WHERE account_id = new.account_id AND day = substr(new.received_at, 1, 10);
END;

CREATE TRIGGER _sweep_begun AFTER INSERT ON runs WHEN new.kind <> 'verify' BEGIN
  INSERT INTO _webhook_days (account_id, day, announced_changes)
  SELECT new.account_id, substr(new.started_at, 1, 10), s.vendors FROM _announced_since s
  WHERE s.account_id = new.account_id AND s.vendors > 0
  ON CONFLICT (account_id, day) DO UPDATE SET announced_changes = announced_changes + excluded.announced_changes;
  INSERT INTO _announced_since (account_id, sweep_at, vendors) VALUES (new.account_id, new.started_at, 0)
  ON CONFLICT (account_id) DO UPDATE SET sweep_at = excluded.sweep_at, vendors = 0;
END;

-- A sweep that met a change which no delivery announced, of a vendor of which an earlier change was announced: the last change counts.
CREATE VIEW _missed_after_delivery AS
SELECT f.id AS finding_id, f.account_id, substr(r.started_at, 1, 10) AS day
FROM findings f JOIN runs r ON r.id = f.run_id
WHERE EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.account_id = f.account_id AND d.object_id = f.vendorid AND d.outcome <> 'ignored' AND d.received_at < r.started_at
    AND d.received_at >= coalesce((SELECT max(p.started_at) FROM runs p
      WHERE p.account_id = r.account_id AND p.started_at < r.started_at AND p.kind <> 'verify'), ''));

CREATE TRIGGER _finding_counted AFTER INSERT ON findings WHEN new.kind LIKE 'missed_%' BEGIN
  INSERT INTO _webhook_days (account_id, day, unannounced_changes, late_deliveries, latest_seconds)
  VALUES (new.account_id, substr(new.found_at, 1, 10), new.explained_at IS NULL, new.explained_at IS NOT NULL,
    round((julianday(new.explained_at) - julianday(new.found_at)) * 86400, 3))
  ON CONFLICT (account_id, day) DO UPDATE SET
    unannounced_changes = unannounced_changes + excluded.unannounced_changes,
    late_deliveries = late_deliveries + excluded.late_deliveries,
    latest_seconds = max(coalesce(latest_seconds, excluded.latest_seconds), coalesce(excluded.latest_seconds, latest_seconds));
  UPDATE _webhook_days SET announced_changes = announced_changes - 1
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
  UPDATE _webhook_days SET announced_changes = announced_changes
    + (old.kind LIKE 'missed_%' AND old.explained_at IS NULL) - (new.kind LIKE 'missed_%' AND new.explained_at IS NULL)
  WHERE (account_id, day) IN (SELECT m.account_id, m.day FROM _missed_after_delivery m WHERE m.finding_id = new.id);
END;

DROP VIEW webhook_health;
-- Per account and day (UTC): what the service told us, and what it did not. Of a vendor that changed between two sweeps, the last change
-- counts, on the day of the second.
CREATE VIEW webhook_health AS
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds,
  round(1.0 * unannounced_changes / nullif(unannounced_changes + announced_changes, 0), 4) AS loss_rate
FROM _webhook_days;

-- What is open is little: an index of its own for it, that begins with what is asked for.
DROP INDEX deliveries_unsettled;
CREATE INDEX deliveries_unsettled ON deliveries (account_id, outcome, received_at) WHERE outcome IN ('pending', 'parked');
CREATE INDEX dirty_vendors_of_account ON dirty_vendors (account_id, marked_at, due_at);
CREATE INDEX findings_of_run ON findings (run_id, kind);
CREATE INDEX runs_newest ON runs (account_id, id);

DROP VIEW freshness;
CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked')) AS oldest_unsettled_delivery,
  (SELECT coalesce(sum(v.vendors), 0) FROM _vendor_counts v
    WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT max(c.verified) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  CASE WHEN r.safe_as_of IS NOT NULL THEN (SELECT min(moment) FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT (SELECT min(q.marked_at) FROM dirty_vendors q WHERE q.account_id = a.account_id)
  )) END AS safe_as_of,
  CASE WHEN r.listed_as_of IS NOT NULL THEN (SELECT min(moment) FROM (
    SELECT r.listed_as_of AS moment
    UNION ALL SELECT (SELECT min(q.marked_at) FROM dirty_vendors q WHERE q.account_id = a.account_id)
  )) END AS listed_as_of
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'));
