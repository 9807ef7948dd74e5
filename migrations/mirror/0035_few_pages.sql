-- A run that finds nothing new writes few pages: one row, and one entry of one index that never changes.
-- space: SELECT count(*) * 400 AS bytes FROM runs

-- The number of a run is taken with that of a reading, in the same row. AUTOINCREMENT, which cannot be dropped in place, wrote a page of its own.
ALTER TABLE reading_counter ADD COLUMN run_id INTEGER NOT NULL DEFAULT 0;
UPDATE reading_counter SET run_id = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0);

PRAGMA legacy_alter_table = ON;
CREATE TABLE runs_numbered (
  id INTEGER NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('pull', 'reconcile', 'verify')),
  "trigger" TEXT NOT NULL CHECK ("trigger" IN ('command', 'schedule', 'start', 'verification', 'watchdog', 'queue')),
  started_at TIMESTAMP NOT NULL,
  finished_at TIMESTAMP,
  outcome TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'incomplete', 'failed', 'abandoned')),
  pages INTEGER NOT NULL DEFAULT 0,
  requests INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL DEFAULT 0,
  updated INTEGER NOT NULL DEFAULT 0,
  unchanged INTEGER NOT NULL DEFAULT 0,
  suspects INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  safe_as_of TIMESTAMP, -- of a complete run: everything that had happened by then is in the mirror
  began_seq INTEGER NOT NULL, -- read_seq at the start: a vendor with a higher one was seen since
  proof TEXT CHECK (proof IN ('plain', 'windows', 'passes')), -- null where nothing was proven
  list_moved BOOLEAN CHECK (list_moved IN (0, 1)), -- null where no list was walked whole
  listed_as_of TIMESTAMP, -- as safe_as_of, of what lists show: vendors that they hide are re-read in turn
  error_code TEXT, -- null where nothing went wrong, and where an older version wrote the row
  process TEXT -- null in runs that an older version began
);
INSERT INTO runs_numbered SELECT * FROM runs;
DROP TABLE runs;
ALTER TABLE runs_numbered RENAME TO runs;
PRAGMA legacy_alter_table = OFF;
-- Not by outcome: that changes with the end of each run. The last complete run is found by going back from the newest.
CREATE INDEX runs_newest ON runs (account_id, id);

-- When the last sweep began is in `runs`; the count is written where it is not zero.
DROP TRIGGER _delivery_counted;
ALTER TABLE _announced_since DROP COLUMN sweep_at;
CREATE TRIGGER _delivery_counted AFTER INSERT ON deliveries WHEN new.outcome <> 'ignored' BEGIN
  INSERT INTO _webhook_days (account_id, day, deliveries, duplicates)
  VALUES (new.account_id, substr(new.received_at, 1, 10), 1, new.outcome = 'unchanged')
  ON CONFLICT (account_id, day) DO UPDATE SET deliveries = deliveries + 1, duplicates = duplicates + excluded.duplicates;
  -- Only the first delivery about a vendor since the last sweep counts; the one before it shows whether this is the first.
  INSERT INTO _announced_since (account_id, vendors)
  SELECT new.account_id, 1
  WHERE coalesce((SELECT d.received_at FROM deliveries d
      WHERE d.account_id = new.account_id AND d.object_id = new.object_id AND d.id < new.id AND d.outcome <> 'ignored'
      ORDER BY d.id DESC LIMIT 1), '')
    < coalesce((SELECT r.started_at FROM runs r WHERE r.account_id = new.account_id AND r.kind <> 'verify'
      ORDER BY r.id DESC LIMIT 1), '0')
  ON CONFLICT (account_id) DO UPDATE SET vendors = vendors + 1;
END;
CREATE TRIGGER _sweep_begun AFTER INSERT ON runs WHEN new.kind <> 'verify' BEGIN
  INSERT INTO _webhook_days (account_id, day, announced_changes)
  SELECT new.account_id, substr(new.started_at, 1, 10), s.vendors FROM _announced_since s
  WHERE s.account_id = new.account_id AND s.vendors > 0
  ON CONFLICT (account_id, day) DO UPDATE SET announced_changes = announced_changes + excluded.announced_changes;
  UPDATE _announced_since SET vendors = 0 WHERE account_id = new.account_id AND vendors > 0;
END;

UPDATE data_dictionary SET meaning = 'Number that it took among readings when it began: higher ones are later'
WHERE name = 'runs' AND column_name = 'began_seq';
DELETE FROM data_dictionary WHERE name = '_announced_since' AND column_name = 'sweep_at';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('reading_counter', 'run_id', 'table', 'INTEGER', 'The last number that a run took', '42', NULL);
