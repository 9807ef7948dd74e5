-- From version 0.1.0 to 0.2.0, which has the tables, the counts and the views below. All of it is one transaction.
-- replaces: c50fa424a16d53db6f8d4a354566d64f0e851b05478365462a3dd94b51c210e2
-- space: SELECT 2 * (400 * count(*) + coalesce(sum(CASE WHEN valid_to IS NOT NULL THEN length(CAST(raw AS BLOB)) END), 0)) + (SELECT 400 * count(*) FROM runs) + (SELECT 40 * count(*) FROM vendors) AS bytes FROM vendor_versions

-- By these bytes other programs know what the file is: `VMIR`. `user_version` is the number of the last migration; the program sets it.
PRAGMA application_id = 1447905618;

-- By which version of the program each migration was applied: an older one that refuses the file names the version to install.
ALTER TABLE migrations ADD COLUMN applied_by TEXT;

-- Since when the settings do not name an account any more: nothing keeps it fresh, and its callback counts for nothing.
ALTER TABLE accounts ADD COLUMN not_served_since TIMESTAMP;
-- The settings file that named an account last: it alone says that the account is served no more.
ALTER TABLE accounts ADD COLUMN settings_file TEXT;
-- Which connection gives access to an account, as the settings said last: an account that they name no more still has its callback to be deleted.
ALTER TABLE accounts ADD COLUMN connection TEXT NOT NULL DEFAULT 'default';
-- Since when a person has had an account rest: nothing is asked of the service about it, and what it delivers is kept.
ALTER TABLE accounts ADD COLUMN paused_since TIMESTAMP;

-- What the clock showed when a reading took its number last: where it shows less than that and the time that passed, it was set back.
ALTER TABLE reading_counter ADD COLUMN wall_ms INTEGER;
-- The number of a run is taken with that of a reading, in the same row. AUTOINCREMENT wrote a page of its own.
ALTER TABLE reading_counter ADD COLUMN run_id INTEGER NOT NULL DEFAULT 0;
UPDATE reading_counter SET run_id = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0);

-- Minor digits are those of ISO 4217. Until now a few currencies counted as having none.
UPDATE vendor_balances SET amount_minor = CASE
    WHEN amount_minor IS NOT NULL THEN amount_minor * 100
    WHEN trim(amount) NOT GLOB '*[^0-9.+-]*' AND trim(amount) GLOB '*[0-9].[0-9][0-9]' AND length(amount) < 18
      AND trim(amount) NOT GLOB '*.*.*' AND substr(trim(amount), 2) NOT GLOB '*[+-]*' THEN CAST(replace(trim(amount), '.', '') AS INTEGER)
  END
WHERE code IN ('AFN', 'ALL', 'COP', 'HUF', 'IDR', 'IRR', 'KPW', 'LAK', 'LBP', 'MGA', 'MMK', 'PKR', 'SLL', 'SOS', 'SYP', 'YER')
  AND abs(coalesce(amount_minor, 0)) < 90000000000000000;
UPDATE balance_spans SET
  outstanding_minor = CASE
    WHEN outstanding_minor IS NOT NULL THEN outstanding_minor * 100
    WHEN trim(outstanding) NOT GLOB '*[^0-9.+-]*' AND trim(outstanding) GLOB '*[0-9].[0-9][0-9]' AND length(outstanding) < 18
      AND trim(outstanding) NOT GLOB '*.*.*' AND substr(trim(outstanding), 2) NOT GLOB '*[+-]*' THEN CAST(replace(trim(outstanding), '.', '') AS INTEGER)
  END,
  overdue_minor = CASE
    WHEN overdue_minor IS NOT NULL THEN overdue_minor * 100
    WHEN trim(overdue) NOT GLOB '*[^0-9.+-]*' AND trim(overdue) GLOB '*[0-9].[0-9][0-9]' AND length(overdue) < 18
      AND trim(overdue) NOT GLOB '*.*.*' AND substr(trim(overdue), 2) NOT GLOB '*[+-]*' THEN CAST(replace(trim(overdue), '.', '') AS INTEGER)
  END
WHERE code IN ('AFN', 'ALL', 'COP', 'HUF', 'IDR', 'IRR', 'KPW', 'LAK', 'LBP', 'MGA', 'MMK', 'PKR', 'SLL', 'SOS', 'SYP', 'YER')
  AND abs(coalesce(outstanding_minor, 0)) < 90000000000000000 AND abs(coalesce(overdue_minor, 0)) < 90000000000000000;

-- The amounts of a span as numbers: 0 where the service names none, null where the text is no decimal number.
ALTER TABLE balance_spans ADD COLUMN outstanding_amount REAL;
ALTER TABLE balance_spans ADD COLUMN overdue_amount REAL;
-- The same in the currency's minor unit; null too where the text has more places than the currency, or does not fit 64 bits.
ALTER TABLE balance_spans ADD COLUMN outstanding_units INTEGER;
ALTER TABLE balance_spans ADD COLUMN overdue_units INTEGER;
ALTER TABLE balance_spans ADD COLUMN minor_digits INTEGER;

UPDATE balance_spans SET
  minor_digits = CASE
    WHEN upper(code) IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') THEN 0
    WHEN upper(code) IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3
    WHEN upper(code) IN ('CLF', 'UYW') THEN 4
    ELSE 2
  END,
  outstanding_units = CASE WHEN outstanding IS NULL THEN 0 ELSE outstanding_minor END,
  overdue_units = CASE WHEN overdue IS NULL THEN 0 ELSE overdue_minor END,
  outstanding_amount = CASE
    WHEN outstanding IS NULL THEN 0
    WHEN outstanding_minor IS NOT NULL OR (trim(outstanding) NOT GLOB '*[^0-9.+-]*' AND trim(outstanding) GLOB '*[0-9]'
      AND trim(outstanding) NOT GLOB '*.*.*' AND substr(trim(outstanding), 2) NOT GLOB '*[+-]*'
      AND ltrim(trim(outstanding), '+-') GLOB '[0-9]*') THEN CAST(trim(outstanding) AS REAL)
  END,
  overdue_amount = CASE
    WHEN overdue IS NULL THEN 0
    WHEN overdue_minor IS NOT NULL OR (trim(overdue) NOT GLOB '*[^0-9.+-]*' AND trim(overdue) GLOB '*[0-9]'
      AND trim(overdue) NOT GLOB '*.*.*' AND substr(trim(overdue), 2) NOT GLOB '*[+-]*'
      AND ltrim(trim(overdue), '+-') GLOB '[0-9]*') THEN CAST(trim(overdue) AS REAL)
  END;

-- What pages, probes and scrapes ask for again and again is counted as it changes, or found by an index: never by looking through a table.

-- How many vendors an account has of each state is counted in an index that holds nothing else: 200,000 take 11 ms.
DROP INDEX vendors_not_present;
CREATE INDEX vendors_by_state ON vendors (account_id, presence, vis_state, vendorid);

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
  vendors INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO _announced_since (account_id, vendors)
SELECT s.account_id, (
  SELECT count(DISTINCT d.object_id) FROM deliveries d
  WHERE d.account_id = s.account_id AND d.received_at >= coalesce(s.sweep_at, '') AND d.outcome <> 'ignored')
FROM (
  SELECT a.account_id, (SELECT max(r.started_at) FROM runs r WHERE r.account_id = a.account_id AND r.kind <> 'verify') AS sweep_at
  FROM (SELECT account_id FROM accounts UNION SELECT account_id FROM runs UNION SELECT account_id FROM deliveries) a
) s;

-- One row: the last change that was removed, by age or otherwise. Whoever has not read further has missed something.
CREATE TABLE _feed_removed (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL
);
-- Where a number is missing, something was removed before it was written down here.
INSERT INTO _feed_removed (id, seq)
SELECT 1, CASE WHEN s.last = (SELECT count(*) FROM vendor_versions) THEN 0 ELSE s.last END
FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vendor_versions'), 0) AS last) AS s;

-- All views are made anew below: a table that is replaced cannot have any meanwhile.
DROP VIEW active_vendors;
DROP VIEW contractors_1099;
DROP VIEW vendor_overview;
DROP VIEW vis_state_changes;
DROP VIEW balance_history;
DROP VIEW freshness;
DROP VIEW webhook_health;

-- How a sweep was proven complete, why a run was not, and which process it was in, by a random name: each container counts process numbers of
-- its own.
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
INSERT INTO runs_numbered (id, account_id, kind, "trigger", started_at, finished_at, outcome, pages, requests, seen, created, updated,
  unchanged, suspects, error, safe_as_of, began_seq, listed_as_of)
SELECT id, account_id, kind, "trigger", started_at, finished_at, outcome, pages, requests, seen, created, updated,
  unchanged, suspects, error, safe_as_of, began_seq, safe_as_of FROM runs;
DROP TABLE runs;
ALTER TABLE runs_numbered RENAME TO runs;
-- Not by outcome: that changes with the end of each run. The last complete run is found by going back from the newest.
CREATE INDEX runs_newest ON runs (account_id, id);

-- Findings about records and counts. A CHECK cannot be changed in place.
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
CREATE INDEX findings_of_account ON findings (account_id, kind, found_at);
CREATE INDEX findings_open ON findings (account_id, vendorid) WHERE explained_at IS NULL;
CREATE INDEX findings_of_run ON findings (run_id, kind);
-- What is removed with age is found by its age.
CREATE INDEX findings_by_time ON findings (found_at);

-- The record of the current version stands in `vendors`: here it would stand a second time. The largest table is built anew, once.
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

DROP INDEX deliveries_unsettled;
-- What is open is little: an index of its own for it, that begins with what is asked for.
CREATE INDEX deliveries_unsettled ON deliveries (account_id, outcome, received_at) WHERE outcome IN ('pending', 'parked');
-- No statement looks for marks without their account.
DROP INDEX dirty_vendors_due;
CREATE INDEX dirty_vendors_of_account ON dirty_vendors (account_id, marked_at, due_at);

-- Which files the last daemon opened, so that a command beside it can tell whether it works with the same ones.
CREATE TABLE _daemon_files (
  file TEXT NOT NULL PRIMARY KEY CHECK (file IN ('mirror', 'secrets')),
  inode TEXT NOT NULL -- decimal: it may need more than 53 bits
) WITHOUT ROWID;

-- One row: which file this is, and whose vendors it mirrors.
CREATE TABLE mirror_identity (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  mirror_id TEXT NOT NULL, -- random: the file of secrets knows its mirror by it
  service TEXT, -- the service's address, or the name of a sandbox; null until one has answered
  service_since TIMESTAMP
);
-- The daemon that works on this file: each takes the next number, and one that finds another number than its own writes nothing more.
ALTER TABLE mirror_identity ADD COLUMN daemon_epoch INTEGER NOT NULL DEFAULT 0;
INSERT INTO mirror_identity (id, mirror_id) VALUES (1, lower(hex(randomblob(16))));

-- What asks for a sweep without naming a vendor that waits: a queue that had no room, a delivery that names a callback of ours. One row
-- per account; only a sweep that began after the last request, and no newer request, ends it.
CREATE TABLE _sweep_requests (
  account_id TEXT NOT NULL PRIMARY KEY,
  generation INTEGER NOT NULL, -- raised by each request
  asked_at TIMESTAMP, -- of the first request that is not answered; null where all are
  asked_ms INTEGER, -- the same in mirror time
  last_ms INTEGER NOT NULL, -- mirror time of the last request
  rest_until_ms INTEGER NOT NULL DEFAULT 0, -- mirror time before which no sweep begins for this
  callback_ids INTEGER NOT NULL DEFAULT 0, -- deliveries whose object_id was the id of a callback of ours
  callback_id_at TIMESTAMP -- when the last one of these came
);

-- Vendors that were about to be created and of which nobody knows yet whether they were: the service is searched for them before
-- another of the name is created.
CREATE TABLE _creations (
  account_id TEXT NOT NULL,
  vendor_name TEXT NOT NULL, -- without spaces around it
  sent_at TIMESTAMP NOT NULL,
  known TEXT NOT NULL CHECK (json_valid(known)), -- numbers of the vendors of that name that the mirror held before
  PRIMARY KEY (account_id, vendor_name)
) WITHOUT ROWID;
ALTER TABLE _creations ADD COLUMN sent_by TEXT; -- a person's name on the machine, where it is known

-- Edits of vendors that were about to be sent, or were, and of which nobody knows yet whether they were carried out: the vendor is read
-- before another edit of it is sent.
CREATE TABLE _edits (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)), -- names of those that were to be set, never what to
  sent_at TIMESTAMP NOT NULL,
  sent_by TEXT, -- a person's name on the machine, where it is known
  process TEXT NOT NULL, -- which sent it
  version INTEGER NOT NULL, -- the latest version of the vendor that the mirror held then, as its `seq`; 0 where it held none
  generation INTEGER -- of the mark that was made for it; null where the vendor was marked already
);
CREATE INDEX _edits_of_vendor ON _edits (account_id, vendorid);

-- Why the service would not register a callback, for as long as it does not; one row per event.
CREATE TABLE _registration_refusals (
  account_id TEXT NOT NULL,
  event TEXT NOT NULL,
  refused_at TIMESTAMP NOT NULL, -- first so
  code TEXT NOT NULL, -- of the catalogue of errors
  message TEXT NOT NULL,
  PRIMARY KEY (account_id, event)
);

-- One row for each request that still counts for its rate limit, in whichever process it was sent.
CREATE TABLE _requests (
  account_id TEXT NOT NULL,
  family TEXT NOT NULL CHECK (family IN ('accounting', 'events')),
  read_seq INTEGER NOT NULL,
  counts_until_ms INTEGER NOT NULL, -- mirror time
  process TEXT, -- which sent it and waits for its answer; null once that has come
  PRIMARY KEY (account_id, family, read_seq)
) WITHOUT ROWID;

-- Accounts whose requests fail at present, until the next one is answered: what a run that is under way waits for can be told nowhere else.
CREATE TABLE _request_failures (
  account_id TEXT NOT NULL PRIMARY KEY,
  requests INTEGER NOT NULL, -- that failed one after the other
  first_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  code TEXT NOT NULL, -- of the last, as in the catalogue of errors
  message TEXT NOT NULL
) WITHOUT ROWID;

-- Connections that give no access at present, until a request that one gave access to is answered.
CREATE TABLE _connection_failures (
  connection TEXT NOT NULL PRIMARY KEY,
  requests INTEGER NOT NULL, -- that failed one after the other
  first_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  code TEXT NOT NULL, -- of the last, as in the catalogue of errors
  message TEXT NOT NULL
) WITHOUT ROWID;

-- Cursors of the change feed are `epoch:seq`. Each program that changes vendors begins an epoch with its first change, so that a file that was
-- put back from a copy, and goes on otherwise than before, gives no cursor out again that once meant another change.
CREATE TABLE _feed_epochs (
  position INTEGER NOT NULL PRIMARY KEY,
  epoch TEXT NOT NULL UNIQUE, -- random
  after_seq INTEGER NOT NULL -- the changes after this one belong to it, up to the next epoch
);
CREATE INDEX _feed_epochs_by_seq ON _feed_epochs (after_seq, position);
INSERT INTO _feed_epochs (position, epoch, after_seq) VALUES (1, lower(hex(randomblob(8))), 0);

-- When the clock was set back: moments that were written down before are later by today's clock than they were.
CREATE TABLE _clock_set_back (
  read_seq INTEGER NOT NULL PRIMARY KEY, -- the last number that was taken when that was noticed
  noticed_at TIMESTAMP NOT NULL
);

-- Outgoing webhooks. A target's place in the change feed moves on when changes are taken into its queue, which has one row per vendor with
-- changes that were not delivered: a vendor whose delivery fails holds back its own later changes alone.
CREATE TABLE _notify_targets (
  target TEXT NOT NULL PRIMARY KEY, -- its name in the settings
  place TEXT NOT NULL, -- cursor of the change feed: changes up to it were delivered, or their vendors wait in the queue
  notice TEXT, -- the message that goes out before all others, JSON; null where there is none
  began_at TIMESTAMP NOT NULL,
  delivered_at TIMESTAMP, -- when the receiver last accepted something
  failing_since TIMESTAMP, -- of the first failure since then
  last_error TEXT,
  disabled_at TIMESTAMP -- when the receiver said that it is gone
) WITHOUT ROWID;

CREATE TABLE _notify_queue (
  target TEXT NOT NULL,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  after_seq INTEGER NOT NULL, -- changes of the vendor after this one, up to the target's place, are to be delivered
  since TIMESTAMP NOT NULL, -- when we learned of the first of them
  due_at TIMESTAMP, -- null where it was given up (parked)
  due_ms INTEGER, -- the same in mirror time
  attempts INTEGER NOT NULL, -- that failed in a row
  last_error TEXT,
  PRIMARY KEY (target, account_id, vendorid)
) WITHOUT ROWID;
CREATE INDEX _notify_queue_due ON _notify_queue (target, due_ms) WHERE due_ms IS NOT NULL;

-- Vendors that a person had the mirror forget: no reading brings them back. Nothing of them stands here but their number.
CREATE TABLE _forgotten_vendors (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  forgotten_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, vendorid)
) WITHOUT ROWID;

-- Accounts that `accounts add` added to those of the settings.
CREATE TABLE _added_accounts (
  account_id TEXT NOT NULL PRIMARY KEY,
  connection TEXT NOT NULL, -- of the settings: `default` is service.auth
  added_at TIMESTAMP NOT NULL
) WITHOUT ROWID;

-- Empty: the types of `freshness` and `webhook_health`. A view that computes has no declared types, so it ends with the rows of such a table.
CREATE TABLE _freshness_types (
  account_id TEXT,
  last_complete_sweep TIMESTAMP,
  oldest_unsettled_delivery TIMESTAMP,
  open_suspects INTEGER,
  parked_vendors INTEGER,
  callback_verified BOOLEAN,
  safe_as_of TIMESTAMP,
  listed_as_of TIMESTAMP,
  not_served_since TIMESTAMP
);
ALTER TABLE _freshness_types ADD COLUMN paused_since TIMESTAMP;
CREATE TABLE _webhook_health_types (
  account_id TEXT,
  day TEXT,
  deliveries INTEGER,
  duplicates INTEGER,
  unannounced_changes INTEGER,
  announced_changes INTEGER,
  late_deliveries INTEGER,
  latest_seconds REAL,
  loss_rate REAL
);

CREATE TRIGGER _feed_version_removed AFTER DELETE ON _vendor_versions
WHEN old.seq > (SELECT seq FROM _feed_removed) BEGIN
  UPDATE _feed_removed SET seq = old.seq;
END;

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
  UPDATE _announced_since SET vendors = 0 WHERE account_id = new.account_id AND vendors > 0;
END;

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

-- A sweep that met a change which no delivery announced, of a vendor of which an earlier change was announced: the last change counts, once.
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

CREATE VIEW vendor_versions AS
SELECT v.seq, v.account_id, v.vendorid, v.valid_from, v.valid_to, v.vis_state, v.vis_state_source, v.presence, v.changed_fields,
  v.source, v.run_id, v.delivery_id,
  coalesce(v.raw, (SELECT n.raw FROM vendors n WHERE n.account_id = v.account_id AND n.vendorid = v.vendorid)) AS raw
FROM _vendor_versions v;

CREATE VIEW active_vendors AS
SELECT account_id, vendorid, vendor_name, account_number, primary_contact_first_name, primary_contact_last_name,
  primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website, currency_code,
  language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source
FROM vendors WHERE vis_state = 0 AND presence = 'present';

-- One row per vendor; what is owed in its own currency as numbers, and in all as text.
CREATE VIEW contractors_1099 AS
SELECT v.account_id, v.vendorid, v.vendor_name,
  CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  v.account_number, v.primary_contact_first_name, v.primary_contact_last_name,
  v.primary_contact_email, v.primary_contact, v.phone, v.street, v.street2, v.city, v.province, v.postal_code, v.country, v.website,
  v.currency_code, s.outstanding_amount AS outstanding, s.overdue_amount AS overdue,
  (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'outstanding' ORDER BY b.code) t) AS outstanding_text,
  (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'overdue' ORDER BY b.code) t) AS overdue_text,
  v.language, v.note, v.created_at, v.updated_at, v.is_1099, v.vis_state, v.vis_state_source, v.presence, v.first_seen_at,
  v.changed_at, v.source
FROM vendors v
LEFT JOIN balance_spans s ON s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
  AND s.code = v.currency_code
WHERE v.is_1099 = 1 AND v.presence = 'present';

-- One row per vendor; the amounts of several currencies are joined by '; '.
CREATE VIEW vendor_overview AS
SELECT account_id, vendorid, vendor_name, vis_state, presence, is_1099, currency_code, language, account_number,
  primary_contact_first_name, primary_contact_last_name, primary_contact_email, phone, street, street2, city, province, postal_code,
  country, website, note, created_at, updated_at, first_seen_at, changed_at,
  CASE vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'outstanding' ORDER BY b.code) t) AS outstanding_text,
  (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'overdue' ORDER BY b.code) t) AS overdue_text
FROM vendors v;

-- One row per present vendor and currency in which it has a balance.
CREATE VIEW payables AS
SELECT v.account_id, v.vendorid, v.vendor_name,
  CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  s.code AS currency,
  s.outstanding_amount AS outstanding, s.overdue_amount AS overdue,
  s.outstanding_units AS outstanding_minor, s.overdue_units AS overdue_minor, s.minor_digits
FROM vendors v
JOIN balance_spans s ON s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
WHERE v.presence = 'present';

CREATE VIEW balance_history AS
SELECT account_id, vendorid, code, valid_from, valid_to, outstanding, outstanding_minor, overdue, overdue_minor,
  outstanding_amount, overdue_amount, minor_digits
FROM balance_spans;

-- One row per changed field. Values are texts: states are words, amounts as in `vendor_overview`, other lists the JSON that was sent.
CREATE VIEW vendor_changes AS
SELECT account_id, seq, "at", vendorid, vendor_name, field,
  CASE field
    WHEN 'presence' THEN old_presence
    WHEN 'vis_state' THEN CASE old_vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' END
    WHEN 'is_1099' THEN CASE CAST((old_raw ->> '$.is_1099') AS TEXT) WHEN '1' THEN 'true' WHEN '0' THEN 'false'
      ELSE CAST((old_raw ->> '$.is_1099') AS TEXT) END
    WHEN 'outstanding_balance' THEN (SELECT group_concat(trim(m.atom, '"') || ' ' || trim(c.atom, '"'), '; ')
      FROM json_tree(old_raw, '$.outstanding_balance') m, json_tree(old_raw, '$.outstanding_balance') c
      WHERE m.path = c.path AND m.key = 'amount' AND c.key = 'code' AND m.atom IS NOT NULL)
    WHEN 'overdue_balance' THEN (SELECT group_concat(trim(m.atom, '"') || ' ' || trim(c.atom, '"'), '; ')
      FROM json_tree(old_raw, '$.overdue_balance') m, json_tree(old_raw, '$.overdue_balance') c
      WHERE m.path = c.path AND m.key = 'amount' AND c.key = 'code' AND m.atom IS NOT NULL)
    ELSE CASE WHEN instr(field, '"') = 0 THEN CAST((old_raw ->> ('$."' || field || '"')) AS TEXT) END
  END AS "old",
  CASE field
    WHEN 'presence' THEN presence
    WHEN 'vis_state' THEN CASE vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' END
    WHEN 'is_1099' THEN CASE CAST((raw ->> '$.is_1099') AS TEXT) WHEN '1' THEN 'true' WHEN '0' THEN 'false'
      ELSE CAST((raw ->> '$.is_1099') AS TEXT) END
    WHEN 'outstanding_balance' THEN (SELECT group_concat(trim(m.atom, '"') || ' ' || trim(c.atom, '"'), '; ')
      FROM json_tree(raw, '$.outstanding_balance') m, json_tree(raw, '$.outstanding_balance') c
      WHERE m.path = c.path AND m.key = 'amount' AND c.key = 'code' AND m.atom IS NOT NULL)
    WHEN 'overdue_balance' THEN (SELECT group_concat(trim(m.atom, '"') || ' ' || trim(c.atom, '"'), '; ')
      FROM json_tree(raw, '$.overdue_balance') m, json_tree(raw, '$.overdue_balance') c
      WHERE m.path = c.path AND m.key = 'amount' AND c.key = 'code' AND m.atom IS NOT NULL)
    ELSE CASE WHEN instr(field, '"') = 0 THEN CAST((raw ->> ('$."' || field || '"')) AS TEXT) END
  END AS "new",
  learned_by
FROM (
  SELECT v.account_id, v.seq, v.valid_from AS "at", v.vendorid, n.vendor_name, trim(f.value, '"') AS field, v.source AS learned_by,
    v.raw, v.presence, v.vis_state,
    (SELECT p.raw FROM vendor_versions p WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq
      ORDER BY p.seq DESC LIMIT 1) AS old_raw,
    (SELECT p.presence FROM vendor_versions p WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq
      ORDER BY p.seq DESC LIMIT 1) AS old_presence,
    (SELECT p.vis_state FROM vendor_versions p WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq
      ORDER BY p.seq DESC LIMIT 1) AS old_vis_state
  FROM vendor_versions v
  JOIN vendors n ON n.account_id = v.account_id AND n.vendorid = v.vendorid,
  json_each(v.changed_fields) f
) AS changed;

-- Every move between states, once, with when and how it was learned. A first sight is no move.
CREATE VIEW vis_state_changes AS
SELECT seq, account_id, vendorid, changed_at, old_vis_state, new_vis_state, old_presence, new_presence, source, vis_state_source,
  run_id, delivery_id
FROM (
  SELECT v.seq, v.account_id, v.vendorid, v.valid_from AS changed_at, v.vis_state AS new_vis_state, v.presence AS new_presence,
    v.source, v.vis_state_source, v.run_id, v.delivery_id,
    (SELECT p.vis_state FROM vendor_versions p WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq
      ORDER BY p.seq DESC LIMIT 1) AS old_vis_state,
    (SELECT p.presence FROM vendor_versions p WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq
      ORDER BY p.seq DESC LIMIT 1) AS old_presence
  FROM vendor_versions v
) AS move
WHERE old_presence IS NOT NULL AND (new_vis_state IS DISTINCT FROM old_vis_state OR new_presence <> old_presence);

CREATE VIEW freshness AS
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since
FROM _freshness_types
UNION ALL
SELECT
  a.account_id,
  r.finished_at,
  (SELECT d.received_at FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked') ORDER BY CAST(d.received_at AS TEXT) LIMIT 1),
  CAST((SELECT count(*) FROM vendors v WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS INTEGER),
  CAST((SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS INTEGER),
  CAST((SELECT max(CASE WHEN a.not_served_since IS NULL THEN c.verified ELSE 0 END) FROM callbacks c
    WHERE c.account_id = a.account_id) AS INTEGER),
  (SELECT m.moment FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT (SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id ORDER BY q.marked_at LIMIT 1)
    UNION ALL SELECT s.asked_at FROM _sweep_requests s WHERE s.account_id = a.account_id
  ) m WHERE r.safe_as_of IS NOT NULL AND m.moment IS NOT NULL ORDER BY m.moment LIMIT 1),
  (SELECT m.moment FROM (
    SELECT r.listed_as_of AS moment
    UNION ALL SELECT (SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id ORDER BY q.marked_at LIMIT 1)
    UNION ALL SELECT s.asked_at FROM _sweep_requests s WHERE s.account_id = a.account_id
  ) m WHERE r.listed_as_of IS NOT NULL AND m.moment IS NOT NULL ORDER BY m.moment LIMIT 1),
  a.not_served_since,
  a.paused_since
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
UNION ALL
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since
FROM _freshness_types;

-- Per account and day (UTC): what the service told us, and what it did not. Of a vendor that changed between two sweeps, the last change
-- counts, on the day of the second.
CREATE VIEW webhook_health AS
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds, loss_rate
FROM _webhook_health_types
UNION ALL
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds,
  CAST(round(1.0 * unannounced_changes / nullif(unannounced_changes + announced_changes, 0), 4) AS REAL)
FROM _webhook_days
UNION ALL
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds, loss_rate
FROM _webhook_health_types;

-- What every table, view and column of the file means. A migration that adds one adds its rows; a test holds them against the schema.
CREATE TABLE data_dictionary (
  name TEXT NOT NULL,
  column_name TEXT NOT NULL, -- empty for the table or view itself
  kind TEXT NOT NULL CHECK (kind IN ('table', 'view')),
  type TEXT,
  meaning TEXT NOT NULL,
  example TEXT,
  PRIMARY KEY (name, column_name)
) WITHOUT ROWID;
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('accounts', '', 'table', NULL, 'One row per account that the mirror knows', NULL),
  ('accounts', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('accounts', 'added_at', 'table', 'TIMESTAMP', 'When the account was added, UTC', '2026-11-20 12:00:00.000'),
  ('accounts', 'not_served_since', 'table', 'TIMESTAMP', 'When the settings stopped naming it, UTC; null while they name it', NULL),
  ('accounts', 'settings_file', 'table', 'TEXT', 'The settings file that last named it; the account counts as removed when that file no longer names it', '/etc/vendor-mirror/mirror.yaml'),
  ('accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default'),
  ('accounts', 'paused_since', 'table', 'TIMESTAMP', 'When it was paused, UTC; null if it is not paused', NULL),
  ('balance_spans', '', 'table', NULL, 'The source of balance_history and payables: one row per vendor and currency for each period in which neither amount changed', NULL),
  ('balance_spans', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('balance_spans', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('balance_spans', 'code', 'table', 'TEXT', 'Currency, three letters', 'USD'),
  ('balance_spans', 'valid_from', 'table', 'TIMESTAMP', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('balance_spans', 'valid_to', 'table', 'TIMESTAMP', 'End of the period, UTC; null for the current one', NULL),
  ('balance_spans', 'outstanding', 'table', 'TEXT', 'Outstanding, exactly as sent; null if none was sent', '1200.00'),
  ('balance_spans', 'outstanding_minor', 'table', 'INTEGER', 'The same in the minor unit of the currency; null if the text is not an amount in it', '120000'),
  ('balance_spans', 'overdue', 'table', 'TEXT', 'Overdue, exactly as sent; null if none was sent', '200.00'),
  ('balance_spans', 'overdue_minor', 'table', 'INTEGER', 'The same in the minor unit of the currency; null if the text is not an amount in it', '20000'),
  ('balance_spans', 'outstanding_amount', 'table', 'REAL', 'Outstanding as a number; 0 if none was sent, null if the text is not a decimal number', '1200.0'),
  ('balance_spans', 'overdue_amount', 'table', 'REAL', 'Overdue as a number; 0 if none was sent, null if the text is not a decimal number', '200.0'),
  ('balance_spans', 'outstanding_units', 'table', 'INTEGER', 'Outstanding in the minor unit of the currency; 0 if none was sent, null if the text is not an amount in it', '120000'),
  ('balance_spans', 'overdue_units', 'table', 'INTEGER', 'Overdue in the minor unit of the currency; 0 if none was sent, null if the text is not an amount in it', '20000'),
  ('balance_spans', 'minor_digits', 'table', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('callbacks', '', 'table', NULL, 'Webhook callbacks that this installation registered at the service', NULL),
  ('callbacks', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('callbacks', 'callbackid', 'table', 'INTEGER', 'Number of the callback', '2001'),
  ('callbacks', 'event', 'table', 'TEXT', 'Event or resource for which it is registered', 'bill_vendor'),
  ('callbacks', 'uri', 'table', 'TEXT', 'Where the service sends deliveries, without the path token', 'https://mirror.example.com/webhooks/6BApk/…'),
  ('callbacks', 'verified', 'table', 'BOOLEAN', '1 if it is verified', '1'),
  ('callbacks', 'checked_at', 'table', 'TIMESTAMP', 'When this was last checked, UTC; recorded once an hour while it does not change', '2026-11-20 12:00:00.000'),
  ('data_dictionary', '', 'table', NULL, 'This table: every table, view and column of the file', NULL),
  ('data_dictionary', 'name', 'table', 'TEXT', 'Name of the table or view', 'payables'),
  ('data_dictionary', 'column_name', 'table', 'TEXT', 'Name of the column; empty for the table or view itself', 'outstanding'),
  ('data_dictionary', 'kind', 'table', 'TEXT', '''table'' or ''view''', 'view'),
  ('data_dictionary', 'type', 'table', 'TEXT', 'Type of the values; null for a table or view', 'REAL'),
  ('data_dictionary', 'meaning', 'table', 'TEXT', 'What it means', NULL),
  ('data_dictionary', 'example', 'table', 'TEXT', 'An example of a value', NULL),
  ('deliveries', '', 'table', NULL, 'The journal: one row per webhook delivery that was accepted', NULL),
  ('deliveries', 'id', 'table', 'INTEGER', 'Number of the delivery', '7'),
  ('deliveries', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('deliveries', 'received_at', 'table', 'TIMESTAMP', 'When it was received, UTC', '2026-11-20 12:00:00.000'),
  ('deliveries', 'name', 'table', 'TEXT', 'Event', 'bill_vendor.update'),
  ('deliveries', 'object_id', 'table', 'INTEGER', 'Number of the vendor that changed', '1006'),
  ('deliveries', 'business_id', 'table', 'INTEGER', 'Number of the business', '77'),
  ('deliveries', 'identity_id', 'table', 'INTEGER', 'Identity in the delivery', NULL),
  ('deliveries', 'user_id', 'table', 'INTEGER', 'User who made the change, if sent', '5'),
  ('deliveries', 'outcome', 'table', 'TEXT', '''pending'', ''applied'', ''unchanged'', ''not_found'', ''ignored'' or ''parked''', 'applied'),
  ('deliveries', 'settled_at', 'table', 'TIMESTAMP', 'When the vendor was read again, UTC; null until then', '2026-11-20 12:00:00.000'),
  ('dirty_vendors', '', 'table', NULL, 'The queue: vendors that are to be read again', NULL),
  ('dirty_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('dirty_vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('dirty_vendors', 'generation', 'table', 'INTEGER', 'Number of the latest mark', '88'),
  ('dirty_vendors', 'marked_at', 'table', 'TIMESTAMP', 'When it was first marked since it was last read, UTC', '2026-11-20 12:00:00.000'),
  ('dirty_vendors', 'due_at', 'table', 'TIMESTAMP', 'When it is due to be read, UTC; null while it is parked until the next reconciliation', '2026-11-20 12:00:00.000'),
  ('dirty_vendors', 'due_ms', 'table', 'INTEGER', 'The same in mirror time', NULL),
  ('dirty_vendors', 'attempts', 'table', 'INTEGER', 'Reads that failed', '0'),
  ('dirty_vendors', 'reason', 'table', 'TEXT', '''delivery'', ''second_look'', ''guarded'', ''retry'', ''reconcile'' or ''asked''', 'delivery'),
  ('dirty_vendors', 'last_error', 'table', 'TEXT', 'Code of the last failure', NULL),
  ('findings', '', 'table', NULL, 'One row per change that a sweep found and no delivery had announced, and per irregularity', NULL),
  ('findings', 'id', 'table', 'INTEGER', 'Number of the finding', '3'),
  ('findings', 'run_id', 'table', 'INTEGER', 'The run that found it', '42'),
  ('findings', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('findings', 'vendorid', 'table', 'INTEGER', 'Number of the vendor; null if the finding is not about a vendor', '1006'),
  ('findings', 'kind', 'table', 'TEXT', 'What was found: ''missed_create'', ''missed_update'', ''missed_delete'', ''missed_restore'', ''balance_only'', ''in_flight'', ''vanished'', ''field_drift'', ''record_rejected'', ''count_mismatch'', ''unreadable'' or ''breaker''', 'missed_update'),
  ('findings', 'fields', 'table', 'TEXT', 'Names of the fields, or details of the finding, JSON', '["phone"]'),
  ('findings', 'found_at', 'table', 'TIMESTAMP', 'When it was found, UTC', '2026-11-20 12:00:00.000'),
  ('findings', 'explained_at', 'table', 'TIMESTAMP', 'When a late delivery announced it, UTC; null if none did', NULL),
  ('findings', 'explanation', 'table', 'TEXT', 'How late that delivery was', NULL),
  ('gateways', '', 'table', NULL, 'Payment gateways that are, or were, enabled for an account', NULL),
  ('gateways', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('gateways', 'sgid', 'table', 'INTEGER', 'Number of the gateway in the account', '30'),
  ('gateways', 'id', 'table', 'INTEGER', 'Number of the gateway as sent in id', '30'),
  ('gateways', 'connectionid', 'table', 'TEXT', 'Identifier of the gateway at the service', NULL),
  ('gateways', 'gateway_name', 'table', 'TEXT', 'Name of the processor', 'stripe'),
  ('gateways', 'first_seen_at', 'table', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('gateways', 'removed_at', 'table', 'TIMESTAMP', 'When it was found disabled, UTC; null while it is enabled', NULL),
  ('known_fields', '', 'table', NULL, 'Internal: names of all fields seen in the records of an account', NULL),
  ('known_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('known_fields', 'field', 'table', 'TEXT', 'Name of the field', 'vendor_name'),
  ('known_fields', 'first_seen_at', 'table', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('migrations', '', 'table', NULL, 'Internal: migrations that were applied to the file', NULL),
  ('migrations', 'number', 'table', 'INTEGER', 'Number of the migration', '1'),
  ('migrations', 'name', 'table', 'TEXT', 'Name of its file', '0001_mirror.sql'),
  ('migrations', 'checksum', 'table', 'TEXT', 'SHA-256 of the file, hexadecimal', NULL),
  ('migrations', 'applied_at', 'table', 'TIMESTAMP', 'When it was applied, UTC', '2026-11-20 12:00:00.000'),
  ('migrations', 'applied_by', 'table', 'TEXT', 'Version of the program that applied it; null for those before 0.2.0', '0.2.0'),
  ('mirror_identity', '', 'table', NULL, 'One row: which file this is, and which service it mirrors', NULL),
  ('mirror_identity', 'id', 'table', 'INTEGER', 'Always 1', '1'),
  ('mirror_identity', 'mirror_id', 'table', 'TEXT', 'Random identifier, also stored in the file of secrets', NULL),
  ('mirror_identity', 'service', 'table', 'TEXT', 'Address of the service, or name of a sandbox; null until it has answered once', 'https://api.example.com'),
  ('mirror_identity', 'service_since', 'table', 'TIMESTAMP', 'Since when, UTC', '2026-11-20 12:00:00.000'),
  ('mirror_identity', 'daemon_epoch', 'table', 'INTEGER', 'Number of daemons that have run on the file', '3'),
  ('page_confirmations', '', 'table', NULL, 'Internal: vendors that a page of the list showed unchanged', NULL),
  ('page_confirmations', 'read_seq', 'table', 'INTEGER', 'Number of the reading', '1204'),
  ('page_confirmations', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('page_confirmations', 'vendorids', 'table', 'TEXT', 'Numbers of the vendors', '[1006,1011]'),
  ('reading_counter', '', 'table', NULL, 'Internal: the numbers that order readings and marks, and mirror time; one row', NULL),
  ('reading_counter', 'id', 'table', 'INTEGER', 'Always 1', '1'),
  ('reading_counter', 'read_seq', 'table', 'INTEGER', 'The last number that a reading took', '1204'),
  ('reading_counter', 'generation', 'table', 'INTEGER', 'The last number that a mark took', '88'),
  ('reading_counter', 'offset_ms', 'table', 'INTEGER', 'Between the clock of the machine and mirror time, milliseconds', NULL),
  ('reading_counter', 'mirror_ms', 'table', 'INTEGER', 'Mirror time when it was last written, milliseconds', NULL),
  ('reading_counter', 'wall_ms', 'table', 'INTEGER', 'What the clock showed when it was last written, Unix milliseconds', NULL),
  ('reading_counter', 'run_id', 'table', 'INTEGER', 'The last number that a run took', '42'),
  ('runs', '', 'table', NULL, 'One row per attempt to walk the list of an account', NULL),
  ('runs', 'id', 'table', 'INTEGER', 'Number of the run', '42'),
  ('runs', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('runs', 'kind', 'table', 'TEXT', '''pull'', ''reconcile'' or ''verify''', 'pull'),
  ('runs', 'trigger', 'table', 'TEXT', '''command'', ''schedule'', ''start'', ''verification'', ''watchdog'' or ''queue''', 'schedule'),
  ('runs', 'started_at', 'table', 'TIMESTAMP', 'When it began, UTC', '2026-11-20 12:00:00.000'),
  ('runs', 'finished_at', 'table', 'TIMESTAMP', 'When it ended, UTC; null while it runs', '2026-11-20 12:00:00.000'),
  ('runs', 'outcome', 'table', 'TEXT', '''running'', ''complete'', ''incomplete'', ''failed'' or ''abandoned''', 'complete'),
  ('runs', 'pages', 'table', 'INTEGER', 'Pages read', '12'),
  ('runs', 'requests', 'table', 'INTEGER', 'Requests sent', '14'),
  ('runs', 'seen', 'table', 'INTEGER', 'Vendors seen', '1180'),
  ('runs', 'created', 'table', 'INTEGER', 'Vendors that were new', '2'),
  ('runs', 'updated', 'table', 'INTEGER', 'Vendors that had changed', '5'),
  ('runs', 'unchanged', 'table', 'INTEGER', 'Vendors that had not changed', '1173'),
  ('runs', 'suspects', 'table', 'INTEGER', 'Vendors that were not seen', '0'),
  ('runs', 'error', 'table', 'TEXT', 'Why it was not complete', NULL),
  ('runs', 'safe_as_of', 'table', 'TIMESTAMP', 'The mirror holds every change up to this time, UTC; null if that is not proven', '2026-11-20 12:00:00.000'),
  ('runs', 'began_seq', 'table', 'INTEGER', 'Number that it took among readings when it began: higher ones are later', NULL),
  ('runs', 'proof', 'table', 'TEXT', 'How completeness was proven: ''plain'', ''windows'' or ''passes''; null if it was not', 'plain'),
  ('runs', 'list_moved', 'table', 'BOOLEAN', '1 if the list changed during the run', '0'),
  ('runs', 'listed_as_of', 'table', 'TIMESTAMP', 'Like safe_as_of, but only for vendors that lists show', '2026-11-20 12:00:00.000'),
  ('runs', 'error_code', 'table', 'TEXT', 'Code of the error', NULL),
  ('runs', 'process', 'table', 'TEXT', 'Random name of the process', NULL),
  ('vendor_balances', '', 'table', NULL, 'The current balances of a vendor, one row per kind and currency, exactly as sent', NULL),
  ('vendor_balances', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_balances', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_balances', 'kind', 'table', 'TEXT', '''outstanding'' or ''overdue''', 'outstanding'),
  ('vendor_balances', 'code', 'table', 'TEXT', 'Currency, three letters', 'USD'),
  ('vendor_balances', 'amount', 'table', 'TEXT', 'Exactly as sent', '1200.00'),
  ('vendor_balances', 'amount_minor', 'table', 'INTEGER', 'In the minor unit of the currency; null if the text is not an amount in it', '120000'),
  ('vendor_tax_defaults', '', 'table', NULL, 'The tax defaults of a vendor', NULL),
  ('vendor_tax_defaults', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_tax_defaults', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_tax_defaults', 'taxid', 'table', 'INTEGER', 'Number of the tax default', '1'),
  ('vendor_tax_defaults', 'system_taxid', 'table', 'INTEGER', 'Number of the tax in the business', '36859'),
  ('vendor_tax_defaults', 'enabled', 'table', 'BOOLEAN', '1 if the tax is applied', '1'),
  ('vendor_tax_defaults', 'name', 'table', 'TEXT', 'Name of the tax', 'GST'),
  ('vendor_tax_defaults', 'amount', 'table', 'TEXT', 'Rate, as sent', '13.56'),
  ('vendor_tax_defaults', 'tax_authorityid', 'table', 'TEXT', 'Number of the tax authority', NULL),
  ('vendor_tax_defaults', 'created_at', 'table', 'TIMESTAMP', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendor_tax_defaults', 'updated_at', 'table', 'TIMESTAMP', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendors', '', 'table', NULL, 'One row per vendor: every field of the service under its own name, and what the mirror knows about the vendor', NULL),
  ('vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendors', 'vendor_name', 'table', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendors', 'account_number', 'table', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('vendors', 'primary_contact_first_name', 'table', 'TEXT', 'First name of the contact', 'Ada'),
  ('vendors', 'primary_contact_last_name', 'table', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('vendors', 'primary_contact_email', 'table', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('vendors', 'primary_contact', 'table', 'TEXT', 'Contact, if the service sends one', NULL),
  ('vendors', 'phone', 'table', 'TEXT', 'Phone number', '+1 555 0100'),
  ('vendors', 'street', 'table', 'TEXT', 'Street', '12 Main Street'),
  ('vendors', 'street2', 'table', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('vendors', 'city', 'table', 'TEXT', 'City', 'Boise'),
  ('vendors', 'province', 'table', 'TEXT', 'Province or state', 'ID'),
  ('vendors', 'postal_code', 'table', 'TEXT', 'Postal code', '83702'),
  ('vendors', 'country', 'table', 'TEXT', 'Country, as text', 'United States'),
  ('vendors', 'website', 'table', 'TEXT', 'Website', 'https://vendor.example'),
  ('vendors', 'currency_code', 'table', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('vendors', 'language', 'table', 'TEXT', 'Language, two letters', 'en'),
  ('vendors', 'note', 'table', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('vendors', 'created_at', 'table', 'TIMESTAMP', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendors', 'updated_at', 'table', 'TIMESTAMP', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendors', 'is_1099', 'table', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0', '1'),
  ('vendors', 'vis_state', 'table', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('vendors', 'vis_state_source', 'table', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('vendors', 'presence', 'table', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('vendors', 'first_seen_at', 'table', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('vendors', 'changed_at', 'table', 'TIMESTAMP', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('vendors', 'source', 'table', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendors', 'read_seq', 'table', 'INTEGER', 'Number of the latest reading; orders readings', '1204'),
  ('vendors', 'held_since_ms', 'table', 'INTEGER', 'Internal: mirror time since which this content has been stored', NULL),
  ('vendors', 'unknown_fields', 'table', 'TEXT', 'Fields without a column of their own: name to JSON text; null if there are none', NULL),
  ('vendors', 'raw', 'table', 'TEXT', 'The record as received, JSON', '{"vendorid":1006}'),
  ('_added_accounts', '', 'table', NULL, 'Internal: accounts that a command added to those of the settings', NULL),
  ('_added_accounts', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_added_accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default'),
  ('_added_accounts', 'added_at', 'table', 'TIMESTAMP', 'When it was added, UTC', '2026-11-20 12:00:00.000'),
  ('_announced_since', '', 'table', NULL, 'Internal: vendors that deliveries named since the last sweep began', NULL),
  ('_announced_since', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_announced_since', 'vendors', 'table', 'INTEGER', 'How many were named since', '4'),
  ('_clock_set_back', '', 'table', NULL, 'Internal: when the clock was set back', NULL),
  ('_clock_set_back', 'read_seq', 'table', 'INTEGER', 'The last number that a reading had taken when that was noticed', '1204'),
  ('_clock_set_back', 'noticed_at', 'table', 'TIMESTAMP', 'When that was noticed, by the clock as it is since', '2026-11-20 11:00:00.000'),
  ('_connection_failures', '', 'table', NULL, 'Internal: connections of the settings that give no access, until a request is answered', NULL),
  ('_connection_failures', 'connection', 'table', 'TEXT', 'Name of the connection', 'default'),
  ('_connection_failures', 'requests', 'table', 'INTEGER', 'How many requests failed', '3'),
  ('_connection_failures', 'first_at', 'table', 'TIMESTAMP', 'When the first failed, UTC', '2026-11-20 12:00:00.000'),
  ('_connection_failures', 'last_at', 'table', 'TIMESTAMP', 'When the last failed, UTC', '2026-11-20 12:00:00.000'),
  ('_connection_failures', 'code', 'table', 'TEXT', 'Code of the last error', 'token_refresh_failed'),
  ('_connection_failures', 'message', 'table', 'TEXT', 'The error in words', 'The token endpoint refused the refresh token: invalid_grant.'),
  ('_creations', '', 'table', NULL, 'Internal: vendors that were about to be created, until it is known whether they were', NULL),
  ('_creations', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_creations', 'vendor_name', 'table', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('_creations', 'sent_at', 'table', 'TIMESTAMP', 'When it was about to be sent, UTC', '2026-11-20 12:00:00.000'),
  ('_creations', 'known', 'table', 'TEXT', 'Numbers of the vendors of that name that were there before, JSON', '[]'),
  ('_creations', 'sent_by', 'table', 'TEXT', 'A person''s name on the machine, where it is known', 'ada'),
  ('_daemon_files', '', 'table', NULL, 'Internal: which files the last daemon opened', NULL),
  ('_daemon_files', 'file', 'table', 'TEXT', '''mirror'' or ''secrets''', 'mirror'),
  ('_daemon_files', 'inode', 'table', 'TEXT', 'Number of the file in its file system, decimal', NULL),
  ('_edits', '', 'table', NULL, 'Internal: edits that were about to be sent, until it is known whether they were carried out; no values', NULL),
  ('_edits', 'id', 'table', 'INTEGER', 'Number of the edit', '1'),
  ('_edits', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_edits', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('_edits', 'fields', 'table', 'TEXT', 'Names of the fields to be set, JSON', '["phone"]'),
  ('_edits', 'sent_at', 'table', 'TIMESTAMP', 'When it was about to be sent, UTC', '2026-11-20 12:00:00.000'),
  ('_edits', 'sent_by', 'table', 'TEXT', 'A person''s name on the machine, where it is known', 'ada'),
  ('_edits', 'process', 'table', 'TEXT', 'Random name of the process', NULL),
  ('_edits', 'version', 'table', 'INTEGER', 'The latest version of the vendor then, as seq; 0 where there was none', '120'),
  ('_edits', 'generation', 'table', 'INTEGER', 'The mark that was made for it; null where the vendor was marked already', NULL),
  ('_feed_epochs', '', 'table', NULL, 'Internal: who wrote which part of the change feed; cursors name one', NULL),
  ('_feed_epochs', 'position', 'table', 'INTEGER', 'The order of epochs', '1'),
  ('_feed_epochs', 'epoch', 'table', 'TEXT', 'Random name of the epoch', '9f86d081884c7d65'),
  ('_feed_epochs', 'after_seq', 'table', 'INTEGER', 'The changes after this one belong to it, up to the next epoch', '1042'),
  ('_feed_removed', '', 'table', NULL, 'Internal: how much of the change feed was removed; one row', NULL),
  ('_feed_removed', 'id', 'table', 'INTEGER', 'Always 1', '1'),
  ('_feed_removed', 'seq', 'table', 'INTEGER', 'The last change that was removed; 0 where none was', '0'),
  ('_forgotten_vendors', '', 'table', NULL, 'Internal: vendors that the mirror was told to forget, and holds no more', NULL),
  ('_forgotten_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_forgotten_vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor', '1006'),
  ('_forgotten_vendors', 'forgotten_at', 'table', 'TIMESTAMP', 'When it was forgotten, UTC', '2026-11-20 12:00:00.000'),
  ('_freshness_types', '', 'table', NULL, 'Internal: always empty; gives the columns of freshness their types', NULL),
  ('_freshness_types', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_freshness_types', 'last_complete_sweep', 'table', 'TIMESTAMP', 'When the last complete sweep ended, UTC; null before the first', '2026-11-20 12:00:00.000'),
  ('_freshness_types', 'oldest_unsettled_delivery', 'table', 'TIMESTAMP', 'When the oldest delivery was received whose vendor is not read again yet, UTC; null if there is none', NULL),
  ('_freshness_types', 'open_suspects', 'table', 'INTEGER', 'Vendors that the last sweep did not see and that are not confirmed as missing or gone', '0'),
  ('_freshness_types', 'parked_vendors', 'table', 'INTEGER', 'Vendors that could not be read and wait for the next reconciliation', '0'),
  ('_freshness_types', 'callback_verified', 'table', 'BOOLEAN', '1 if webhooks are registered and verified; null if none is registered', '1'),
  ('_freshness_types', 'safe_as_of', 'table', 'TIMESTAMP', 'The mirror holds every change up to this time, UTC; null before the first complete sweep', '2026-11-20 12:00:00.000'),
  ('_freshness_types', 'listed_as_of', 'table', 'TIMESTAMP', 'Like safe_as_of, but only for vendors that lists show, UTC; vendors that lists hide are read again in turn', '2026-11-20 12:00:00.000'),
  ('_freshness_types', 'not_served_since', 'table', 'TIMESTAMP', 'When the settings stopped naming it, UTC; null while they name it', NULL),
  ('_freshness_types', 'paused_since', 'table', 'TIMESTAMP', 'When it was paused, UTC; null if it is not paused', NULL),
  ('_notify_queue', '', 'table', NULL, 'Internal: vendors with changes that a target of outgoing webhooks has not received', NULL),
  ('_notify_queue', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com'),
  ('_notify_queue', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_notify_queue', 'vendorid', 'table', 'INTEGER', 'Number of the vendor', '1006'),
  ('_notify_queue', 'after_seq', 'table', 'INTEGER', 'The changes of the vendor after this one, up to the place of the target, are to be delivered', '1041'),
  ('_notify_queue', 'since', 'table', 'TIMESTAMP', 'When we learned of the first of them, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_queue', 'due_at', 'table', 'TIMESTAMP', 'When the next attempt is due, UTC; null where it was given up (parked)', '2026-11-20 12:00:05.000'),
  ('_notify_queue', 'due_ms', 'table', 'INTEGER', 'The same in mirror time, milliseconds', NULL),
  ('_notify_queue', 'attempts', 'table', 'INTEGER', 'Attempts that failed in a row', '0'),
  ('_notify_queue', 'last_error', 'table', 'TEXT', 'Why the last attempt failed', 'The receiver answered 500.'),
  ('_notify_targets', '', 'table', NULL, 'Internal: how far each target of outgoing webhooks is', NULL),
  ('_notify_targets', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com'),
  ('_notify_targets', 'place', 'table', 'TEXT', 'Cursor of the change feed: changes up to it were delivered, or their vendors wait in _notify_queue', '9f86d081884c7d65:1042'),
  ('_notify_targets', 'notice', 'table', 'TEXT', 'The message that goes out before all others, JSON; null where there is none', NULL),
  ('_notify_targets', 'began_at', 'table', 'TIMESTAMP', 'When the target was first named in the settings, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_targets', 'delivered_at', 'table', 'TIMESTAMP', 'When its receiver last accepted a message, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_targets', 'failing_since', 'table', 'TIMESTAMP', 'When the first delivery failed since then, UTC; null where none did', NULL),
  ('_notify_targets', 'last_error', 'table', 'TEXT', 'Why the last delivery failed; null where the last one was accepted', NULL),
  ('_notify_targets', 'disabled_at', 'table', 'TIMESTAMP', 'When the receiver answered that it is gone (410), UTC; nothing is sent since', NULL),
  ('_registration_refusals', '', 'table', NULL, 'Internal: events that the service would not register', NULL),
  ('_registration_refusals', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_registration_refusals', 'event', 'table', 'TEXT', 'The event', 'bill_vendor.create'),
  ('_registration_refusals', 'refused_at', 'table', 'TIMESTAMP', 'Since when, UTC', '2026-11-20 12:00:00.000'),
  ('_registration_refusals', 'code', 'table', 'TEXT', 'Code of the error', 'access_denied'),
  ('_registration_refusals', 'message', 'table', 'TEXT', 'The error in words', 'The service refused the token.'),
  ('_request_failures', '', 'table', NULL, 'Internal: requests of an account that failed one after the other, until one is answered', NULL),
  ('_request_failures', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_request_failures', 'requests', 'table', 'INTEGER', 'How many failed', '3'),
  ('_request_failures', 'first_at', 'table', 'TIMESTAMP', 'When the first failed, UTC', '2026-11-20 12:00:00.000'),
  ('_request_failures', 'last_at', 'table', 'TIMESTAMP', 'When the last failed, UTC', '2026-11-20 12:00:00.000'),
  ('_request_failures', 'code', 'table', 'TEXT', 'Code of the last error', 'service_unreachable'),
  ('_request_failures', 'message', 'table', 'TEXT', 'The error in words', 'The service refused the token.'),
  ('_requests', '', 'table', NULL, 'Internal: requests that still count for their rate limit', NULL),
  ('_requests', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_requests', 'family', 'table', 'TEXT', '''accounting'' or ''events''', 'accounting'),
  ('_requests', 'read_seq', 'table', 'INTEGER', 'Its number', '1204'),
  ('_requests', 'counts_until_ms', 'table', 'INTEGER', 'Mirror time until which it counts', NULL),
  ('_requests', 'process', 'table', 'TEXT', 'Random name of the process that waits for the answer; null once it came', NULL),
  ('_sweep_requests', '', 'table', NULL, 'Internal: accounts for which a sweep is asked', NULL),
  ('_sweep_requests', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_sweep_requests', 'generation', 'table', 'INTEGER', 'Raised by each request', '9'),
  ('_sweep_requests', 'asked_at', 'table', 'TIMESTAMP', 'When the first request came that is not answered, UTC; null where all are', NULL),
  ('_sweep_requests', 'asked_ms', 'table', 'INTEGER', 'The same in mirror time', NULL),
  ('_sweep_requests', 'last_ms', 'table', 'INTEGER', 'Mirror time of the last request', NULL),
  ('_sweep_requests', 'rest_until_ms', 'table', 'INTEGER', 'Mirror time before which no sweep begins for this', NULL),
  ('_sweep_requests', 'callback_ids', 'table', 'INTEGER', 'Deliveries that named the number of a callback of ours', '0'),
  ('_sweep_requests', 'callback_id_at', 'table', 'TIMESTAMP', 'When the last of these came, UTC', NULL),
  ('_vendor_versions', '', 'table', NULL, 'Internal: the rows of vendor_versions', NULL),
  ('_vendor_versions', 'seq', 'table', 'INTEGER', 'Number of the change; the cursor of the feed', '120'),
  ('_vendor_versions', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_vendor_versions', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('_vendor_versions', 'valid_from', 'table', 'TIMESTAMP', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('_vendor_versions', 'valid_to', 'table', 'TIMESTAMP', 'When the next version was learned, UTC; null for the current one', NULL),
  ('_vendor_versions', 'vis_state', 'table', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('_vendor_versions', 'vis_state_source', 'table', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('_vendor_versions', 'presence', 'table', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('_vendor_versions', 'changed_fields', 'table', 'TEXT', 'Names of the fields that changed, JSON; empty for the first version', '["phone","updated_at"]'),
  ('_vendor_versions', 'source', 'table', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('_vendor_versions', 'run_id', 'table', 'INTEGER', 'The run that found it; null if none did', '42'),
  ('_vendor_versions', 'delivery_id', 'table', 'INTEGER', 'The delivery that announced it; null if none did', '7'),
  ('_vendor_versions', 'raw', 'table', 'TEXT', 'The record as received, JSON; null in the current version, whose record stands in vendors', '{"vendorid":1006}'),
  ('_webhook_days', '', 'table', NULL, 'Internal: the counts behind webhook_health; kept by triggers', NULL),
  ('_webhook_days', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_webhook_days', 'day', 'table', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('_webhook_days', 'deliveries', 'table', 'INTEGER', 'Deliveries received', '40'),
  ('_webhook_days', 'duplicates', 'table', 'INTEGER', 'Deliveries that brought nothing new', '6'),
  ('_webhook_days', 'unannounced_changes', 'table', 'INTEGER', 'Changes that a sweep found and no delivery had announced', '1'),
  ('_webhook_days', 'announced_changes', 'table', 'INTEGER', 'Changed vendors that deliveries announced, counted when the next sweep begins', '31'),
  ('_webhook_days', 'late_deliveries', 'table', 'INTEGER', 'Changes that a delivery announced after a sweep had found them', '0'),
  ('_webhook_days', 'latest_seconds', 'table', 'REAL', 'How late the latest of these deliveries was, in seconds', NULL),
  ('_webhook_health_types', '', 'table', NULL, 'Internal: always empty; gives the columns of webhook_health their types', NULL),
  ('_webhook_health_types', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_webhook_health_types', 'day', 'table', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('_webhook_health_types', 'deliveries', 'table', 'INTEGER', 'Deliveries received', '40'),
  ('_webhook_health_types', 'duplicates', 'table', 'INTEGER', 'Deliveries that brought nothing new', '6'),
  ('_webhook_health_types', 'unannounced_changes', 'table', 'INTEGER', 'Changes that a sweep found and no delivery had announced', '1'),
  ('_webhook_health_types', 'announced_changes', 'table', 'INTEGER', 'Changed vendors that deliveries announced, counted when the next sweep begins', '31'),
  ('_webhook_health_types', 'late_deliveries', 'table', 'INTEGER', 'Changes that a delivery announced after a sweep had found them', '0'),
  ('_webhook_health_types', 'latest_seconds', 'table', 'REAL', 'How late the latest of these deliveries was, in seconds', NULL),
  ('_webhook_health_types', 'loss_rate', 'table', 'REAL', 'Share of the changes that no delivery announced; null if there were no changes', '0.0313'),
  ('active_vendors', '', 'view', NULL, 'Vendors that are active and present', NULL),
  ('active_vendors', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('active_vendors', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('active_vendors', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('active_vendors', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('active_vendors', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('active_vendors', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('active_vendors', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('active_vendors', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL),
  ('active_vendors', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('active_vendors', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('active_vendors', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('active_vendors', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('active_vendors', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('active_vendors', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('active_vendors', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('active_vendors', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('active_vendors', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('active_vendors', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('active_vendors', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('active_vendors', 'created_at', 'view', 'TIMESTAMP', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('active_vendors', 'updated_at', 'view', 'TIMESTAMP', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('active_vendors', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0', '1'),
  ('active_vendors', 'vis_state', 'view', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('active_vendors', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('active_vendors', 'presence', 'view', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('active_vendors', 'first_seen_at', 'view', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('active_vendors', 'changed_at', 'view', 'TIMESTAMP', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('active_vendors', 'source', 'view', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('balance_history', '', 'view', NULL, 'What was owed: one row per vendor and currency for each period in which neither amount changed', NULL),
  ('balance_history', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('balance_history', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('balance_history', 'code', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('balance_history', 'valid_from', 'view', 'TIMESTAMP', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('balance_history', 'valid_to', 'view', 'TIMESTAMP', 'End of the period, UTC; null for the current one', NULL),
  ('balance_history', 'outstanding', 'view', 'TEXT', 'Outstanding, exactly as sent; null if none was sent', '1200.00'),
  ('balance_history', 'outstanding_minor', 'view', 'INTEGER', 'The same in the minor unit of the currency; null if the text is not an amount in it', '120000'),
  ('balance_history', 'overdue', 'view', 'TEXT', 'Overdue, exactly as sent; null if none was sent', '200.00'),
  ('balance_history', 'overdue_minor', 'view', 'INTEGER', 'The same in the minor unit of the currency; null if the text is not an amount in it', '20000'),
  ('balance_history', 'outstanding_amount', 'view', 'REAL', 'Outstanding as a number; 0 if none was sent, null if the text is not a decimal number', '1200.0'),
  ('balance_history', 'overdue_amount', 'view', 'REAL', 'Overdue as a number; 0 if none was sent, null if the text is not a decimal number', '200.0'),
  ('balance_history', 'minor_digits', 'view', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('contractors_1099', '', 'view', NULL, 'Present vendors that get a form 1099, one row each, with what is owed', NULL),
  ('contractors_1099', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('contractors_1099', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('contractors_1099', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('contractors_1099', 'state', 'view', 'TEXT', '''active'', ''deleted'' or ''archived''; ''unknown'' if the service never sent the state', 'active'),
  ('contractors_1099', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('contractors_1099', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('contractors_1099', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('contractors_1099', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('contractors_1099', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL),
  ('contractors_1099', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('contractors_1099', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('contractors_1099', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('contractors_1099', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('contractors_1099', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('contractors_1099', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('contractors_1099', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('contractors_1099', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('contractors_1099', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('contractors_1099', 'outstanding', 'view', 'REAL', 'Outstanding in the vendor''s own currency; null where it has no balance in it', '1200.0'),
  ('contractors_1099', 'overdue', 'view', 'REAL', 'Overdue in the vendor''s own currency; null where it has no balance in it', '200.0'),
  ('contractors_1099', 'outstanding_text', 'view', 'TEXT', 'Outstanding in every currency, as sent', '1200.00 USD; 7.00 EUR'),
  ('contractors_1099', 'overdue_text', 'view', 'TEXT', 'Overdue in every currency, as sent', '200.00 USD'),
  ('contractors_1099', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('contractors_1099', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('contractors_1099', 'created_at', 'view', 'TIMESTAMP', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('contractors_1099', 'updated_at', 'view', 'TIMESTAMP', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('contractors_1099', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0', '1'),
  ('contractors_1099', 'vis_state', 'view', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('contractors_1099', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('contractors_1099', 'presence', 'view', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('contractors_1099', 'first_seen_at', 'view', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('contractors_1099', 'changed_at', 'view', 'TIMESTAMP', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('contractors_1099', 'source', 'view', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('freshness', '', 'view', NULL, 'How fresh each account is: one row per account', NULL),
  ('freshness', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('freshness', 'last_complete_sweep', 'view', 'TIMESTAMP', 'When the last complete sweep ended, UTC; null before the first', '2026-11-20 12:00:00.000'),
  ('freshness', 'oldest_unsettled_delivery', 'view', 'TIMESTAMP', 'When the oldest delivery was received whose vendor is not read again yet, UTC; null if there is none', NULL),
  ('freshness', 'open_suspects', 'view', 'INTEGER', 'Vendors that the last sweep did not see and that are not confirmed as missing or gone', '0'),
  ('freshness', 'parked_vendors', 'view', 'INTEGER', 'Vendors that could not be read and wait for the next reconciliation', '0'),
  ('freshness', 'callback_verified', 'view', 'BOOLEAN', '1 if webhooks are registered and verified; null if none is registered', '1'),
  ('freshness', 'safe_as_of', 'view', 'TIMESTAMP', 'The mirror holds every change up to this time, UTC; null before the first complete sweep', '2026-11-20 12:00:00.000'),
  ('freshness', 'listed_as_of', 'view', 'TIMESTAMP', 'Like safe_as_of, but only for vendors that lists show, UTC; vendors that lists hide are read again in turn', '2026-11-20 12:00:00.000'),
  ('freshness', 'not_served_since', 'view', 'TIMESTAMP', 'When the settings stopped naming it, UTC; null while they name it', NULL),
  ('freshness', 'paused_since', 'view', 'TIMESTAMP', 'When the account was paused, UTC; it is not kept fresh until it is resumed; null if it is not paused', NULL),
  ('payables', '', 'view', NULL, 'What is owed: one row per present vendor and currency in which it has a balance; amounts are numbers', NULL),
  ('payables', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('payables', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('payables', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('payables', 'state', 'view', 'TEXT', '''active'', ''deleted'' or ''archived''; ''unknown'' if the service never sent the state', 'active'),
  ('payables', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('payables', 'outstanding', 'view', 'REAL', 'Outstanding; 0 if none was sent, null if the amount is not a decimal number', '1200.0'),
  ('payables', 'overdue', 'view', 'REAL', 'Overdue, which is part of outstanding; 0 if none was sent, null if the amount is not a decimal number', '200.0'),
  ('payables', 'outstanding_minor', 'view', 'INTEGER', 'Outstanding in the minor unit, exact; null also if it has more decimal places than the currency', '120000'),
  ('payables', 'overdue_minor', 'view', 'INTEGER', 'Overdue in the minor unit, exact; null also if it has more decimal places than the currency', '20000'),
  ('payables', 'minor_digits', 'view', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('vendor_changes', '', 'view', NULL, 'One row per changed field: old and new value, and when and how the change was learned', NULL),
  ('vendor_changes', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_changes', 'seq', 'view', 'INTEGER', 'Number of the change; the cursor of the feed', '120'),
  ('vendor_changes', 'at', 'view', 'TIMESTAMP', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_changes', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_changes', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendor_changes', 'field', 'view', 'TEXT', 'Name of the field', 'phone'),
  ('vendor_changes', 'old', 'view', 'TEXT', 'Old value: states as words, amounts as in vendor_overview, other lists as JSON; null if it was null, or if retention removed the version before', '+1 555 0100'),
  ('vendor_changes', 'new', 'view', 'TEXT', 'New value, in the same form', '+1 555 0199'),
  ('vendor_changes', 'learned_by', 'view', 'TEXT', '''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendor_overview', '', 'view', NULL, 'One flat row per vendor, for a spreadsheet; amounts as text', NULL),
  ('vendor_overview', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_overview', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_overview', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendor_overview', 'vis_state', 'view', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('vendor_overview', 'presence', 'view', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('vendor_overview', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0', '1'),
  ('vendor_overview', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('vendor_overview', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('vendor_overview', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('vendor_overview', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('vendor_overview', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('vendor_overview', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('vendor_overview', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('vendor_overview', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('vendor_overview', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('vendor_overview', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('vendor_overview', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('vendor_overview', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('vendor_overview', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('vendor_overview', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('vendor_overview', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('vendor_overview', 'created_at', 'view', 'TIMESTAMP', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendor_overview', 'updated_at', 'view', 'TIMESTAMP', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendor_overview', 'first_seen_at', 'view', 'TIMESTAMP', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_overview', 'changed_at', 'view', 'TIMESTAMP', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_overview', 'state', 'view', 'TEXT', '''active'', ''deleted'' or ''archived''; ''unknown'' if the service never sent the state', 'active'),
  ('vendor_overview', 'outstanding_text', 'view', 'TEXT', 'Outstanding in every currency, as sent', '1200.00 USD; 7.00 EUR'),
  ('vendor_overview', 'overdue_text', 'view', 'TEXT', 'Overdue in every currency, as sent', '200.00 USD'),
  ('vendor_versions', '', 'view', NULL, 'One row per content change of a vendor; the feed of all changes in the order in which they were learned', NULL),
  ('vendor_versions', 'seq', 'view', 'INTEGER', 'Number of the change; the cursor of the feed', '120'),
  ('vendor_versions', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_versions', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_versions', 'valid_from', 'view', 'TIMESTAMP', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_versions', 'valid_to', 'view', 'TIMESTAMP', 'When the next version was learned, UTC; null for the current one', NULL),
  ('vendor_versions', 'vis_state', 'view', 'INTEGER', '0 active, 1 deleted, 2 archived', '0'),
  ('vendor_versions', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('vendor_versions', 'presence', 'view', 'TEXT', '''present''; ''suspect'': a complete sweep did not see it; ''missing'': a second sweep did not either; ''gone'': the service answered that it does not exist', 'present'),
  ('vendor_versions', 'changed_fields', 'view', 'TEXT', 'Names of the fields that changed, JSON; empty for the first version', '["phone","updated_at"]'),
  ('vendor_versions', 'source', 'view', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendor_versions', 'run_id', 'view', 'INTEGER', 'The run that found it; null if none did', '42'),
  ('vendor_versions', 'delivery_id', 'view', 'INTEGER', 'The delivery that announced it; null if none did', '7'),
  ('vendor_versions', 'raw', 'view', 'TEXT', 'The record as received, JSON', '{"vendorid":1006}'),
  ('vis_state_changes', '', 'view', NULL, 'One row per change of a vendor''s state or presence', NULL),
  ('vis_state_changes', 'seq', 'view', 'INTEGER', 'Number of the change; the cursor of the feed', '120'),
  ('vis_state_changes', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vis_state_changes', 'vendorid', 'view', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('vis_state_changes', 'changed_at', 'view', 'TIMESTAMP', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vis_state_changes', 'old_vis_state', 'view', 'INTEGER', 'State before', '0'),
  ('vis_state_changes', 'new_vis_state', 'view', 'INTEGER', 'State after', '2'),
  ('vis_state_changes', 'old_presence', 'view', 'TEXT', 'Presence before', 'present'),
  ('vis_state_changes', 'new_presence', 'view', 'TEXT', 'Presence after', 'present'),
  ('vis_state_changes', 'source', 'view', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vis_state_changes', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('vis_state_changes', 'run_id', 'view', 'INTEGER', 'The run that found it; null if none did', '42'),
  ('vis_state_changes', 'delivery_id', 'view', 'INTEGER', 'The delivery that announced it; null if none did', '7'),
  ('webhook_health', '', 'view', NULL, 'One row per account and day (UTC): deliveries, and changes that no delivery announced', NULL),
  ('webhook_health', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('webhook_health', 'day', 'view', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('webhook_health', 'deliveries', 'view', 'INTEGER', 'Deliveries received', '40'),
  ('webhook_health', 'duplicates', 'view', 'INTEGER', 'Deliveries that brought nothing new', '6'),
  ('webhook_health', 'unannounced_changes', 'view', 'INTEGER', 'Changes that a sweep found and no delivery had announced', '1'),
  ('webhook_health', 'announced_changes', 'view', 'INTEGER', 'Changed vendors that deliveries announced, counted when the next sweep begins', '31'),
  ('webhook_health', 'late_deliveries', 'view', 'INTEGER', 'Changes that a delivery announced after a sweep had found them', '0'),
  ('webhook_health', 'latest_seconds', 'view', 'REAL', 'How late the latest of these deliveries was, in seconds', NULL),
  ('webhook_health', 'loss_rate', 'view', 'REAL', 'Share of the changes that no delivery announced; null if there were no changes', '0.0313'),
  ('_missed_after_delivery', '', 'view', NULL, 'Internal: findings whose vendor an earlier delivery had announced', NULL),
  ('_missed_after_delivery', 'finding_id', 'view', 'INTEGER', 'The finding', '3'),
  ('_missed_after_delivery', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_missed_after_delivery', 'day', 'view', 'TEXT', 'Day in UTC', '2026-11-20');
