-- What lists, answers and absences prove.

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
    'lagging_copy', 'unlisted', 'unsteady_field', 'breaker')),
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

UPDATE data_dictionary SET meaning = 'What was found: ''missed_create'', ''missed_update'', ''missed_delete'', ''missed_restore'', ''balance_only'', ''in_flight'', ''vanished'', ''field_drift'', ''record_rejected'', ''count_mismatch'', ''unreadable'', ''unreadable_value'', ''not_honoured'', ''lagging_copy'', ''unlisted'', ''unsteady_field'' or ''breaker'''
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

-- Optional requests that the service does not honour, until it does. `is_found` is 1 once a run has recorded a finding about it.
CREATE TABLE _not_honoured (
  account_id TEXT NOT NULL,
  request TEXT NOT NULL,
  since TIMESTAMP NOT NULL,
  tried_at TIMESTAMP NOT NULL,
  again_at TIMESTAMP NOT NULL,
  since_ms INTEGER NOT NULL, -- the first in mirror time
  again_ms INTEGER NOT NULL, -- the last in mirror time
  failures INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  is_found BOOLEAN NOT NULL DEFAULT 0 CHECK (is_found IN (0, 1)),
  PRIMARY KEY (account_id, request)
);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_not_honoured', '', 'table', NULL, 'Internal: optional requests that the service does not honour, until it does', NULL),
  ('_not_honoured', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_not_honoured', 'request', 'table', 'TEXT', 'What is not honoured: ''per_page'', ''window_size'', ''search[vis_state]'' or ''gateways''', 'gateways'),
  ('_not_honoured', 'since', 'table', 'TIMESTAMP', 'When it was first not honoured, UTC', '2026-11-20 12:00:00.000'),
  ('_not_honoured', 'tried_at', 'table', 'TIMESTAMP', 'When it was last tried, UTC', '2026-11-20 12:00:00.000'),
  ('_not_honoured', 'again_at', 'table', 'TIMESTAMP', 'When it is tried again, UTC', '2026-11-21 12:00:00.000'),
  ('_not_honoured', 'since_ms', 'table', 'INTEGER', 'Moment of since in mirror time, in milliseconds', '123456789'),
  ('_not_honoured', 'again_ms', 'table', 'INTEGER', 'Moment of again_at in mirror time, in milliseconds', '210056789'),
  ('_not_honoured', 'failures', 'table', 'INTEGER', 'How often in a row it was not honoured', '1'),
  ('_not_honoured', 'code', 'table', 'TEXT', 'Code of the last error', 'access_denied'),
  ('_not_honoured', 'message', 'table', 'TEXT', 'The error in words', 'The service denied access.'),
  ('_not_honoured', 'is_found', 'table', 'BOOLEAN', 'Whether a run has recorded a finding about it', '1');

-- Requests to callback addresses that were refused, by outcome. Those since the last accepted delivery are counted apart: they say what is wrong now.
CREATE TABLE _refusals (
  account_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  refused INTEGER NOT NULL,
  first_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  recent INTEGER NOT NULL,
  recent_at TIMESTAMP NOT NULL,
  detail TEXT,
  PRIMARY KEY (account_id, outcome)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_refusals', '', 'table', NULL, 'Internal: requests to callback addresses that were refused, by outcome', NULL),
  ('_refusals', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_refusals', 'outcome', 'table', 'TEXT', 'Why they were refused', 'wrong_signature'),
  ('_refusals', 'refused', 'table', 'INTEGER', 'How many were refused in all', '25'),
  ('_refusals', 'first_at', 'table', 'TIMESTAMP', 'When the first was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'last_at', 'table', 'TIMESTAMP', 'When the last was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'recent', 'table', 'INTEGER', 'How many were refused since a delivery was last accepted before one of them', '25'),
  ('_refusals', 'recent_at', 'table', 'TIMESTAMP', 'When the first of those was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'detail', 'table', 'TEXT', 'What was wrong with the last one, without anything secret', 'x-other-signature came instead');

-- Copies for readers (`publish`): what each file holds, by its place in the change feed, and since when it could not be written.
CREATE TABLE _publications (
  path TEXT NOT NULL PRIMARY KEY,
  place TEXT, -- null: never written
  definition TEXT,
  file_ms REAL,
  written_at TIMESTAMP,
  failing_since TIMESTAMP,
  failed_at TIMESTAMP,
  failures INTEGER NOT NULL DEFAULT 0,
  code TEXT,
  error TEXT
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_publications', '', 'table', NULL, 'Internal: copies for readers that a daemon keeps', NULL),
  ('_publications', 'path', 'table', 'TEXT', 'The file', 'copy.db'),
  ('_publications', 'place', 'table', 'TEXT', 'End of the change feed when it was written, as epoch:seq; null if it never was', NULL),
  ('_publications', 'definition', 'table', 'TEXT', 'What was written: format, view and query of the settings, JSON', NULL),
  ('_publications', 'file_ms', 'table', 'REAL', 'Time of the file when it was written, milliseconds since 1970', '1795608000000.5'),
  ('_publications', 'written_at', 'table', 'TIMESTAMP', 'When it was last written, UTC; null if it never was', '2026-11-20 12:00:00.000'),
  ('_publications', 'failing_since', 'table', 'TIMESTAMP', 'When it first could not be written after that, UTC; null if that did not happen', NULL),
  ('_publications', 'failed_at', 'table', 'TIMESTAMP', 'When it last could not be written, UTC', NULL),
  ('_publications', 'failures', 'table', 'INTEGER', 'How often in a row it could not be written', '0'),
  ('_publications', 'code', 'table', 'TEXT', 'Code of the last of these errors', NULL),
  ('_publications', 'error', 'table', 'TEXT', 'The error in words', NULL);

-- A service may tidy the name of a new vendor: what was created is searched for among all vendors that are new since.
ALTER TABLE _creations ADD COLUMN version INTEGER;
UPDATE data_dictionary SET meaning = 'Of creations that earlier versions sent: numbers of the vendors of that name that were there before, JSON'
WHERE name = '_creations' AND column_name = 'known';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_creations', 'version', 'table', 'INTEGER', 'The latest version of any vendor then, as seq; null where an earlier version sent it', '120');

-- Vendors that the last complete run did not see and could not decide about: the service refuses them, or answers for them alone with what
-- cannot be used. What is claimed of the account is limited by them.
CREATE TABLE undecided_vendors (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  since TIMESTAMP NOT NULL,
  as_of TIMESTAMP, -- up to when it is known; null: nobody knows
  code TEXT NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (account_id, vendorid)
) WITHOUT ROWID;

-- The oldest mark that is still open, and the latest, in mirror time: a reading answers those that are older than it by the lag.
ALTER TABLE dirty_vendors ADD COLUMN marked_ms INTEGER;
ALTER TABLE dirty_vendors ADD COLUMN last_ms INTEGER;
UPDATE dirty_vendors SET
  marked_ms = (SELECT mirror_ms FROM reading_counter),
  last_ms = (SELECT mirror_ms FROM reading_counter);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('undecided_vendors', '', 'table', NULL, 'Vendors that the last complete run did not see in a list, and could not read by id; or that it read by id, and lists leave out', NULL),
  ('undecided_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('undecided_vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('undecided_vendors', 'since', 'table', 'TIMESTAMP', 'When a run could not decide about it first, UTC', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'as_of', 'table', 'TIMESTAMP', 'Up to when the mirror knows it, UTC: safe_as_of of the account is not later; null if that is unknown', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'code', 'table', 'TEXT', 'Code of the error when it was read; ''list_refuted'': it was read, and lists leave it out', 'service_unavailable'),
  ('undecided_vendors', 'error', 'table', 'TEXT', 'The error, as a sentence', 'The service failed with status 500.'),
  ('dirty_vendors', 'marked_ms', 'table', 'INTEGER', 'marked_at in mirror time', NULL),
  ('dirty_vendors', 'last_ms', 'table', 'INTEGER', 'When it was marked last, in mirror time', NULL),
  ('_freshness_types', 'undecided', 'table', 'INTEGER', 'Vendors about which the last complete run could not decide', '0'),
  ('freshness', 'undecided', 'view', 'INTEGER', 'Vendors about which the last complete run could not decide, because the service refuses them or answers for them alone with what cannot be used, or because lists leave out what reads by id show; safe_as_of is limited by them', '0');

-- What was learned of the service's lists, whatever account it was learned from.
CREATE TABLE _service_knowledge (
  service TEXT NOT NULL PRIMARY KEY,
  first_page INTEGER CHECK (first_page IN (0, 1)),
  asked_at TIMESTAMP,
  largest_page INTEGER NOT NULL DEFAULT 0,
  counts_lists INTEGER NOT NULL DEFAULT 0 CHECK (counts_lists IN (0, 1))
) WITHOUT ROWID;

-- How many vendors that the service counts and does not show a person accepted, and since when; and whether its list shows more than it counts.
ALTER TABLE accounts ADD COLUMN accepted_unreadable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN accepted_at TIMESTAMP;
ALTER TABLE accounts ADD COLUMN miscounted INTEGER NOT NULL DEFAULT 0 CHECK (miscounted IN (0, 1));

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_service_knowledge', '', 'table', NULL, 'Internal: what was learned of the service from its lists', NULL),
  ('_service_knowledge', 'service', 'table', 'TEXT', 'Address of the service; empty where the mirror does not name one', 'https://api.example.com'),
  ('_service_knowledge', 'first_page', 'table', 'INTEGER', 'The number of the first page of a list, 0 or 1; null where it is not known', '1'),
  ('_service_knowledge', 'asked_at', 'table', 'TIMESTAMP', 'When it was last asked where pages count from', '2026-11-27 23:10:00.000'),
  ('_service_knowledge', 'largest_page', 'table', 'INTEGER', 'The most rows that a page ever had', '100'),
  ('_service_knowledge', 'counts_lists', 'table', 'INTEGER', '1: `total` was seen to count a list of several pages', '1'),
  ('accounts', 'accepted_unreadable', 'table', 'INTEGER', 'How many vendors that the service counts and does not show a person accepted', '0'),
  ('accounts', 'accepted_at', 'table', 'TIMESTAMP', 'When that was accepted', NULL),
  ('accounts', 'miscounted', 'table', 'INTEGER', '1: the last complete sweep showed more vendors than the service counts', '0');

-- What proves an absence, and what lists show.

-- Mirror time. Of a suspect: the end of the first proof of its absence; null where an earlier version wrote it. Of a missing or gone vendor:
-- when that was concluded; 0 where a person approved it, or where it was confirmed since; null where an earlier version concluded it.
ALTER TABLE vendors ADD COLUMN presence_ms INTEGER;

-- States besides 0 whose vendors lists show: by the default list, or by the list of that state alone. -1: vendors without a state.
CREATE TABLE _shown_states (
  account_id TEXT NOT NULL,
  vis_state INTEGER NOT NULL,
  shown_by TEXT NOT NULL CHECK (shown_by IN ('list', 'filter')),
  PRIMARY KEY (account_id, vis_state)
) WITHOUT ROWID;

-- 1: lists of single states showed vendors that the default list does not. Without them, a vendor that is not listed may have changed its state.
ALTER TABLE accounts ADD COLUMN filters_show INTEGER NOT NULL DEFAULT 0 CHECK (filters_show IN (0, 1));
-- How many more vendors the service counted than it showed, when no vendor was in doubt; null before that was seen.
ALTER TABLE accounts ADD COLUMN shortfall INTEGER;
-- Vendors that no list and no read shows any more, while the service counts more than it shows: the token may see less than before.
ALTER TABLE accounts ADD COLUMN withheld_absences INTEGER NOT NULL DEFAULT 0;
-- Absent vendors that are so by less than is required now: lists may hide their state. They are read again.
ALTER TABLE accounts ADD COLUMN unproven_absences INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET unproven_absences = (SELECT count(*) FROM vendors v
  WHERE v.account_id = accounts.account_id AND v.presence IN ('missing', 'gone') AND v.vis_state IS NOT 0);

-- Nothing is concluded about a suspect: it stays among what is owed.
DROP VIEW active_vendors;
DROP VIEW contractors_1099;
DROP VIEW payables;

CREATE VIEW active_vendors AS
SELECT account_id, vendorid, vendor_name, account_number, primary_contact_first_name, primary_contact_last_name,
  primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website, currency_code,
  language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source
FROM vendors WHERE vis_state = 0 AND presence IN ('present', 'suspect');

UPDATE data_dictionary SET meaning = '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist'
WHERE column_name = 'presence';
UPDATE data_dictionary SET meaning = 'Vendors that are active and not absent' WHERE name = 'active_vendors' AND column_name = '';
UPDATE data_dictionary
SET meaning = 'What is owed: one row per vendor that is not absent and currency in which it has a balance; amounts are numbers'
WHERE name = 'payables' AND column_name = '';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('vendors', 'presence_ms', 'table', 'INTEGER', 'Internal: mirror time of the first proof of a suspect, or of a conclusion', NULL),
  ('accounts', 'filters_show', 'table', 'INTEGER', 'Internal: 1: lists of single states showed vendors that the default list does not', '0'),
  ('accounts', 'shortfall', 'table', 'INTEGER', 'Internal: how many more vendors the service counted than it showed when none was in doubt', NULL),
  ('accounts', 'withheld_absences', 'table', 'INTEGER', 'Vendors that can no longer be read and that the service still counts: the token may see less than before', '0'),
  ('accounts', 'unproven_absences', 'table', 'INTEGER', 'Vendors that an earlier version called missing or gone by less than is required now; they are read again', '0'),
  ('_shown_states', '', 'table', NULL, 'Internal: states besides 0 whose vendors lists show', NULL),
  ('_shown_states', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_shown_states', 'vis_state', 'table', 'INTEGER', '1 deleted, 2 archived, -1 without a state', '2'),
  ('_shown_states', 'shown_by', 'table', 'TEXT', '''list'': by the default list; ''filter'': by the list of that state alone', 'list');

-- What an answer leaves out, what is empty, and what is not understood are three things.

-- Names of the fields that the latest reading showed and that could not be read, JSON; null where there are none.
ALTER TABLE vendors ADD COLUMN unreadable_fields TEXT CHECK (json_valid(unreadable_fields));
CREATE INDEX vendors_unreadable ON vendors (account_id) WHERE unreadable_fields IS NOT NULL;

-- Where lists leave fields out that reads by id carry: the number and time of a vendor's last read by id. Null in `detail_seq` where no
-- list is known to leave any out; 0 for a vendor that is to be read first, because it is new or its listed row moved.
ALTER TABLE vendors ADD COLUMN detail_seq INTEGER;
ALTER TABLE vendors ADD COLUMN details_at TIMESTAMP;
CREATE INDEX vendors_by_detail ON vendors (account_id, detail_seq, presence, details_at) WHERE detail_seq IS NOT NULL;

-- Fields that lists leave out and reads by id carry. One counts once several vendors showed it.
CREATE TABLE _detail_fields (
  account_id TEXT NOT NULL,
  field TEXT NOT NULL,
  vendorids TEXT NOT NULL CHECK (json_valid(vendorids)),
  learned_at TIMESTAMP, -- null while too few vendors showed it
  PRIMARY KEY (account_id, field)
) WITHOUT ROWID;
-- How many listed vendors were read by id to find that out.
ALTER TABLE accounts ADD COLUMN probed_vendors INTEGER NOT NULL DEFAULT 0;
-- 1: each vendor has a place in the order in which they are read for what lists leave out.
ALTER TABLE accounts ADD COLUMN reads_details INTEGER NOT NULL DEFAULT 0 CHECK (reads_details IN (0, 1));

-- Fields that differed while `updated_at` did not: how often in succession in one vendor, and in which run last. After four times, such a
-- difference in the field is no change.
CREATE TABLE _unsteady_fields (
  account_id TEXT NOT NULL,
  field TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  changes INTEGER NOT NULL,
  run_id INTEGER NOT NULL,
  is_found INTEGER NOT NULL DEFAULT 0 CHECK (is_found IN (0, 1)),
  PRIMARY KEY (account_id, field, vendorid)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_unsteady_fields', '', 'table', NULL, 'Internal: fields that differed without an edit', NULL),
  ('_unsteady_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_unsteady_fields', 'field', 'table', 'TEXT', 'Name of the field', 'logo'),
  ('_unsteady_fields', 'vendorid', 'table', 'INTEGER', 'A vendor that showed it', '1006'),
  ('_unsteady_fields', 'changes', 'table', 'INTEGER', 'How often in succession; from 4 on, such a difference is no change', '4'),
  ('_unsteady_fields', 'run_id', 'table', 'INTEGER', 'The last run in which it did', '9'),
  ('_unsteady_fields', 'is_found', 'table', 'INTEGER', '1 if a finding names the field', '1');

-- By which rules the columns of vendors were derived from `raw`: rows of an older derivation are derived again at the start.
ALTER TABLE mirror_identity ADD COLUMN derivation INTEGER NOT NULL DEFAULT 0;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('vendors', 'unreadable_fields', 'table', 'TEXT', 'Names of the fields that the service sent and the mirror could not read, JSON: they are null here, or contain only what could be read; null if there are none', '["is_1099"]'),
  ('vendors', 'detail_seq', 'table', 'INTEGER', 'Internal: number of the last reading by id, where lists leave fields out; 0 if it is to be read first; null where no list is known to leave any out', NULL),
  ('vendors', 'details_at', 'table', 'TIMESTAMP', 'When the vendor was last read by its id, where lists leave fields out, UTC: 1970 if it never was; null where no list is known to leave any out', '2026-11-20 12:00:00.000'),
  ('accounts', 'probed_vendors', 'table', 'INTEGER', 'Internal: how many listed vendors were read by id to find out what lists leave out', '200'),
  ('accounts', 'reads_details', 'table', 'INTEGER', 'Internal: 1: vendors are read by id in turn, for what lists leave out', '0'),
  ('_detail_fields', '', 'table', NULL, 'Internal: fields that lists leave out and reads by id carry', NULL),
  ('_detail_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_detail_fields', 'field', 'table', 'TEXT', 'Name of the field', 'note'),
  ('_detail_fields', 'vendorids', 'table', 'TEXT', 'Numbers of the vendors that showed it, JSON', '[1006,1011,1012]'),
  ('_detail_fields', 'learned_at', 'table', 'TIMESTAMP', 'Since when it counts, UTC; null while too few vendors showed it', '2026-11-20 12:00:00.000'),
  ('mirror_identity', 'derivation', 'table', 'INTEGER', 'By which rules the columns of vendors were derived from raw', '1'),
  ('_freshness_types', 'details_as_of', 'table', 'TIMESTAMP', 'Fields that lists leave out are correct up to this time, UTC; null where no list is known to leave any out', NULL),
  ('freshness', 'details_as_of', 'view', 'TIMESTAMP', 'Fields that lists leave out, and only reads of single vendors carry, are correct up to this time, UTC: 1970 until each vendor was read once; null where no list is known to leave any out', NULL);

UPDATE data_dictionary SET meaning = '1 if the vendor gets a form 1099, otherwise 0; null if the service did not show it, or not so that it can be read'
WHERE column_name = 'is_1099';
UPDATE data_dictionary SET meaning = 'Fields without a column of their own, and those that could not be read: name to JSON text; null if there are none'
WHERE name = 'vendors' AND column_name = 'unknown_fields';
UPDATE data_dictionary SET meaning = '0 active, 1 deleted, 2 archived; null if the service sent no state, or none of these'
WHERE name IN ('vendors', 'vendor_overview') AND column_name = 'vis_state';
UPDATE data_dictionary SET meaning = '''active'', ''deleted'' or ''archived''; ''unknown'' if the service sent no state, or none of these'
WHERE name IN ('payables', 'vendor_overview') AND column_name = 'state';

-- By how many milliseconds the wall clock is ahead of the service's; null where it is not known to be wrong.
ALTER TABLE reading_counter ADD COLUMN clock_ahead_ms INTEGER;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('reading_counter', 'clock_ahead_ms', 'table', 'INTEGER', 'By how much the clock of the machine is ahead of the service''s, milliseconds; null where it is not known to be wrong', NULL);

-- How old the oldest copy was from which the service answered a list; one row for an account whose lists were seen to lag.
CREATE TABLE _lagging_lists (
  account_id TEXT NOT NULL PRIMARY KEY,
  behind_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL -- mirror time
) WITHOUT ROWID;

-- Vendors that a list showed as they were before, until a read by id settles it: since which reading, and for how long it is not applied.
CREATE TABLE _lagging_copies (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  begun_ms INTEGER NOT NULL, -- mirror time
  wait_ms INTEGER NOT NULL,
  age_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, vendorid)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_lagging_lists', '', 'table', NULL, 'Internal: accounts whose lists were answered from copies that were behind', NULL),
  ('_lagging_lists', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_lists', 'behind_ms', 'table', 'INTEGER', 'How old the oldest copy was, milliseconds', '60000'),
  ('_lagging_lists', 'seen_ms', 'table', 'INTEGER', 'When one was last seen, in mirror time, milliseconds', NULL),
  ('_lagging_copies', '', 'table', NULL, 'Internal: vendors that a list showed as they were before', NULL),
  ('_lagging_copies', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_copies', 'vendorid', 'table', 'INTEGER', 'The vendor', '3391'),
  ('_lagging_copies', 'updated_at', 'table', 'TEXT', 'The service''s time of the version that the list showed', NULL),
  ('_lagging_copies', 'begun_ms', 'table', 'INTEGER', 'When the first request that showed it began, in mirror time, milliseconds', NULL),
  ('_lagging_copies', 'wait_ms', 'table', 'INTEGER', 'How long after that it is believed, where no read by id says otherwise, milliseconds', '60000'),
  ('_lagging_copies', 'age_ms', 'table', 'INTEGER', 'How old the copy was, milliseconds', '60000');

DROP VIEW freshness;
ALTER TABLE _freshness_types ADD COLUMN undecided INTEGER;
ALTER TABLE _freshness_types ADD COLUMN details_as_of TIMESTAMP;
CREATE VIEW freshness AS
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided, details_as_of
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
  a.paused_since,
  CAST((SELECT count(*) FROM undecided_vendors u WHERE u.account_id = a.account_id) AS INTEGER),
  (SELECT v.details_at FROM vendors v
    WHERE v.account_id = a.account_id AND v.detail_seq IS NOT NULL AND v.presence IN ('present', 'suspect')
    ORDER BY CAST(v.details_at AS TEXT) LIMIT 1)
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
UNION ALL
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided, details_as_of
FROM _freshness_types;

-- What is owed has one definition. A span of balances also ends when the vendor's state changes, so that what was owed on a day, and to
-- vendors of which state, is never restated.
ALTER TABLE balance_spans ADD COLUMN state TEXT; -- null while the vendor is missing or gone

CREATE TABLE _states_before AS
SELECT account_id, vendorid, state, begun, lead(begun) OVER (PARTITION BY account_id, vendorid ORDER BY seq) AS ended FROM (
  SELECT account_id, vendorid, seq, state, iif(before IS NULL, '', valid_from) AS begun FROM (
    SELECT account_id, vendorid, seq, valid_from, state, lag(seq) OVER w AS before, lag(state) OVER w AS state_before FROM (
      SELECT account_id, vendorid, seq, valid_from, CASE WHEN presence IN ('present', 'suspect') THEN
        CASE vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END END AS state
      FROM _vendor_versions)
    WINDOW w AS (PARTITION BY account_id, vendorid ORDER BY seq))
  WHERE before IS NULL OR state IS NOT state_before);
CREATE INDEX _states_before_of_vendor ON _states_before (account_id, vendorid, begun);

INSERT INTO balance_spans (account_id, vendorid, code, valid_from, valid_to, outstanding, outstanding_minor, overdue, overdue_minor,
  outstanding_amount, overdue_amount, outstanding_units, overdue_units, minor_digits)
SELECT s.account_id, s.vendorid, s.code, b.begun, nullif(min(coalesce(s.valid_to, 'z'), coalesce(b.ended, 'z')), 'z'), s.outstanding,
  s.outstanding_minor, s.overdue, s.overdue_minor, s.outstanding_amount, s.overdue_amount, s.outstanding_units, s.overdue_units, s.minor_digits
FROM _states_before b JOIN balance_spans s ON s.account_id = b.account_id AND s.vendorid = b.vendorid
WHERE b.begun > s.valid_from AND b.begun < coalesce(s.valid_to, 'z');
UPDATE balance_spans AS s SET
  state = (SELECT b.state FROM _states_before b
    WHERE b.account_id = s.account_id AND b.vendorid = s.vendorid AND b.begun <= s.valid_from ORDER BY b.begun DESC, b.rowid DESC LIMIT 1),
  valid_to = coalesce((SELECT min(b.begun) FROM _states_before b
    WHERE b.account_id = s.account_id AND b.vendorid = s.vendorid AND b.begun > s.valid_from AND b.begun < coalesce(s.valid_to, 'z')),
    s.valid_to);
DROP TABLE _states_before;
CREATE INDEX balance_spans_open ON balance_spans (account_id, state, code) WHERE valid_to IS NULL;

-- One name, one meaning, one type: amounts are numbers, as in payables.
DROP VIEW balance_history;
CREATE VIEW balance_history AS
SELECT account_id, vendorid, code AS currency, valid_from, valid_to, state, outstanding_amount AS outstanding, overdue_amount AS overdue,
  outstanding_units AS outstanding_minor, overdue_units AS overdue_minor, minor_digits,
  outstanding AS outstanding_text, overdue AS overdue_text
FROM balance_spans;

CREATE VIEW payables AS
SELECT s.account_id, s.vendorid, v.vendor_name, s.state, s.code AS currency,
  s.outstanding_amount AS outstanding, s.overdue_amount AS overdue,
  s.outstanding_units AS outstanding_minor, s.overdue_units AS overdue_minor, s.minor_digits
FROM balance_spans s JOIN vendors v ON v.account_id = s.account_id AND v.vendorid = s.vendorid
WHERE s.valid_to IS NULL AND s.state IS NOT NULL;

-- One row for each vendor and currency in which it has a balance, or one without a currency: sums over them are those of payables.
DROP VIEW vendor_overview;
CREATE VIEW vendor_overview AS
SELECT v.account_id, v.vendorid, v.vendor_name,
  CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  p.currency, p.outstanding, p.overdue, v.vis_state, v.presence, v.is_1099, v.currency_code, v.language, v.account_number,
  v.primary_contact_first_name, v.primary_contact_last_name, v.primary_contact_email, v.primary_contact, v.phone, v.street, v.street2,
  v.city, v.province, v.postal_code, v.country, v.website, v.note, v.created_at, v.updated_at, v.first_seen_at, v.changed_at
FROM vendors v LEFT JOIN payables p ON p.account_id = v.account_id AND p.vendorid = v.vendorid;

CREATE VIEW contractors_1099 AS
SELECT v.account_id, v.vendorid, v.vendor_name, p.currency, p.outstanding, p.overdue, v.account_number,
  v.primary_contact_first_name, v.primary_contact_last_name, v.primary_contact_email, v.primary_contact, v.phone, v.street, v.street2,
  v.city, v.province, v.postal_code, v.country, v.website, v.currency_code, v.language, v.note, v.created_at, v.updated_at, v.is_1099,
  v.vis_state, v.vis_state_source, v.presence, v.first_seen_at, v.changed_at, v.source
FROM active_vendors v LEFT JOIN payables p ON p.account_id = v.account_id AND p.vendorid = v.vendorid
WHERE v.is_1099 = 1;

-- The amounts of spans, to be added up: billions of minor units and the rest, so that no sum leaves the range of an integer. Amounts
-- with more decimal places than their currency, or beyond that range, are `more`: the sum has them, and its minor units are null.
CREATE VIEW _owed_amounts AS
SELECT account_id, code, state, valid_from, valid_to, minor_digits,
  CAST((outstanding_units - outstanding_units % 1000000000) / 1000000000 AS BIGINT) AS outstanding_billions, outstanding_units % 1000000000 AS outstanding_rest,
  CASE WHEN outstanding_units IS NULL THEN outstanding_amount ELSE 0 END AS outstanding_more,
  CASE WHEN outstanding_units IS NULL AND outstanding_amount IS NOT NULL THEN 1 ELSE 0 END AS outstanding_more_count,
  CAST((overdue_units - overdue_units % 1000000000) / 1000000000 AS BIGINT) AS overdue_billions, overdue_units % 1000000000 AS overdue_rest,
  CASE WHEN overdue_units IS NULL THEN overdue_amount ELSE 0 END AS overdue_more,
  CASE WHEN overdue_units IS NULL AND overdue_amount IS NOT NULL THEN 1 ELSE 0 END AS overdue_more_count,
  CASE WHEN outstanding_amount <> 0 THEN 1 ELSE 0 END AS vendors,
  CASE WHEN outstanding_amount IS NULL THEN 1 ELSE 0 END + CASE WHEN overdue_amount IS NULL THEN 1 ELSE 0 END AS unreadable
FROM balance_spans WHERE state IS NOT NULL;

-- Always empty; gives the columns of the views their types.
CREATE TABLE _owed_types (
  account_id TEXT,
  day TEXT,
  currency TEXT,
  state TEXT,
  vendors INTEGER,
  outstanding REAL,
  overdue REAL,
  outstanding_minor INTEGER,
  overdue_minor INTEGER,
  minor_digits INTEGER,
  unreadable INTEGER
);

-- The one definition of what is owed. A vendor whose balances cannot be read at all is in the row without a currency.
CREATE VIEW owed AS
SELECT account_id, currency, state, vendors, outstanding, overdue, outstanding_minor, overdue_minor, minor_digits, unreadable
FROM _owed_types
UNION ALL
SELECT account_id, currency, state, CAST(vendors AS BIGINT) AS vendors,
  CAST(CAST(outstanding_billions * 1000000000 + outstanding_rest AS DOUBLE) / scale + CASE outstanding_more_count WHEN 0 THEN 0 ELSE outstanding_more END AS DOUBLE)
    AS outstanding,
  CAST(CAST(overdue_billions * 1000000000 + overdue_rest AS DOUBLE) / scale + CASE overdue_more_count WHEN 0 THEN 0 ELSE overdue_more END AS DOUBLE)
    AS overdue,
  CAST(CASE WHEN outstanding_more_count = 0 AND abs(outstanding_billions) < 9000000000
    THEN outstanding_billions * 1000000000 + outstanding_rest END AS BIGINT) AS outstanding_minor,
  CAST(CASE WHEN overdue_more_count = 0 AND abs(overdue_billions) < 9000000000
    THEN overdue_billions * 1000000000 + overdue_rest END AS BIGINT) AS overdue_minor,
  CAST(minor_digits AS BIGINT) AS minor_digits, CAST(unreadable AS BIGINT) AS unreadable
FROM (
  SELECT account_id, code AS currency, state, sum(vendors) AS vendors, max(minor_digits) AS minor_digits, sum(unreadable) AS unreadable,
    coalesce(sum(outstanding_billions), 0) AS outstanding_billions, coalesce(sum(outstanding_rest), 0) AS outstanding_rest,
    coalesce(sum(outstanding_more), 0) AS outstanding_more, coalesce(sum(outstanding_more_count), 0) AS outstanding_more_count,
    coalesce(sum(overdue_billions), 0) AS overdue_billions, coalesce(sum(overdue_rest), 0) AS overdue_rest,
    coalesce(sum(overdue_more), 0) AS overdue_more, coalesce(sum(overdue_more_count), 0) AS overdue_more_count,
    CASE max(minor_digits) WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS scale
  FROM _owed_amounts WHERE valid_to IS NULL GROUP BY account_id, state, code) AS sums
UNION ALL
SELECT account_id, CAST(NULL AS TEXT), state, CAST(0 AS BIGINT), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT),
  CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(count(*) AS BIGINT)
FROM (
  SELECT v.account_id, CAST(CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS TEXT) AS state
  FROM vendors v
  WHERE v.unreadable_fields IS NOT NULL AND v.unreadable_fields LIKE '%_balance"%' AND v.presence NOT IN ('missing', 'gone')
    AND NOT EXISTS (SELECT 1 FROM balance_spans s WHERE s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
      AND (s.outstanding_amount IS NULL OR s.overdue_amount IS NULL))) AS unread
GROUP BY account_id, state
UNION ALL
SELECT account_id, currency, state, vendors, outstanding, overdue, outstanding_minor, overdue_minor, minor_digits, unreadable
FROM _owed_types;

-- What was owed when days (UTC) ended on which it changed, and until which day that holds.
CREATE VIEW _owed_closings AS
SELECT account_id, currency, state, day, until, CAST(vendors AS BIGINT) AS vendors,
  CAST(CAST(outstanding_billions * 1000000000 + outstanding_rest AS DOUBLE) / scale + CASE outstanding_more_count WHEN 0 THEN 0 ELSE outstanding_more END AS DOUBLE)
    AS outstanding,
  CAST(CAST(overdue_billions * 1000000000 + overdue_rest AS DOUBLE) / scale + CASE overdue_more_count WHEN 0 THEN 0 ELSE overdue_more END AS DOUBLE)
    AS overdue,
  CAST(CASE WHEN outstanding_more_count = 0 AND abs(outstanding_billions) < 9000000000
    THEN outstanding_billions * 1000000000 + outstanding_rest END AS BIGINT) AS outstanding_minor,
  CAST(CASE WHEN overdue_more_count = 0 AND abs(overdue_billions) < 9000000000
    THEN overdue_billions * 1000000000 + overdue_rest END AS BIGINT) AS overdue_minor,
  CAST(minor_digits AS BIGINT) AS minor_digits, CAST(unreadable AS BIGINT) AS unreadable
FROM (
  SELECT account_id, code AS currency, state, day, lead(day) OVER days AS until, sum(spans) OVER days AS spans,
    sum(vendors) OVER days AS vendors, max(minor_digits) OVER days AS minor_digits, sum(unreadable) OVER days AS unreadable,
    sum(outstanding_billions) OVER days AS outstanding_billions, sum(outstanding_rest) OVER days AS outstanding_rest,
    sum(outstanding_more) OVER days AS outstanding_more, sum(outstanding_more_count) OVER days AS outstanding_more_count,
    sum(overdue_billions) OVER days AS overdue_billions, sum(overdue_rest) OVER days AS overdue_rest,
    sum(overdue_more) OVER days AS overdue_more, sum(overdue_more_count) OVER days AS overdue_more_count,
    CASE max(minor_digits) OVER days WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS scale
  FROM (
    SELECT account_id, code, state, substr(CAST(CASE sign WHEN 1 THEN valid_from ELSE valid_to END AS TEXT), 1, 10) AS day,
      sum(sign) AS spans, sum(sign * vendors) AS vendors, max(minor_digits) AS minor_digits, sum(sign * unreadable) AS unreadable,
      coalesce(sum(sign * outstanding_billions), 0) AS outstanding_billions,
      coalesce(sum(sign * outstanding_rest), 0) AS outstanding_rest,
      coalesce(sum(sign * outstanding_more), 0) AS outstanding_more,
      coalesce(sum(sign * outstanding_more_count), 0) AS outstanding_more_count,
      coalesce(sum(sign * overdue_billions), 0) AS overdue_billions, coalesce(sum(sign * overdue_rest), 0) AS overdue_rest,
      coalesce(sum(sign * overdue_more), 0) AS overdue_more, coalesce(sum(sign * overdue_more_count), 0) AS overdue_more_count
    FROM _owed_amounts, (SELECT 1 AS sign UNION ALL SELECT -1) AS signs
    WHERE sign = 1 OR valid_to IS NOT NULL
    GROUP BY account_id, code, state, day) AS changes
  WINDOW days AS (PARTITION BY account_id, code, state ORDER BY day)) AS running
WHERE spans > 0;

-- The same on each day since the first. Days are written as text, because no function for them is common to SQLite and DuckDB.
CREATE VIEW owed_by_day AS
WITH RECURSIVE
  range AS (SELECT min(day) AS first, max(substr(CAST(CURRENT_TIMESTAMP AS TEXT), 1, 10)) AS today, max(day) AS last FROM _owed_closings),
  years (year) AS (
    SELECT CAST(substr(first, 1, 4) AS INTEGER) FROM range WHERE first IS NOT NULL
    UNION ALL
    SELECT year + 1 FROM years, range
    WHERE year < CAST(substr(CASE WHEN last > today THEN last ELSE today END, 1, 4) AS INTEGER)),
  numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 31),
  days (day) AS (
    SELECT CAST(year || '-' || substr('0' || m.n, -2) || '-' || substr('0' || d.n, -2) AS TEXT)
    FROM years, numbers m, numbers d
    WHERE m.n <= 12 AND d.n <= CASE
      WHEN m.n IN (4, 6, 9, 11) THEN 30
      WHEN m.n <> 2 THEN 31
      WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29
      ELSE 28
    END)
SELECT account_id, day, currency, state, vendors, outstanding, overdue, outstanding_minor, overdue_minor, minor_digits, unreadable
FROM _owed_types
UNION ALL
SELECT c.account_id, d.day, c.currency, c.state, c.vendors, c.outstanding, c.overdue, c.outstanding_minor, c.overdue_minor,
  c.minor_digits, c.unreadable
FROM days d, range r, _owed_closings c
WHERE d.day >= c.day AND (c.until IS NULL OR d.day < c.until) AND d.day <= CASE WHEN r.last > r.today THEN r.last ELSE r.today END
UNION ALL
SELECT account_id, day, currency, state, vendors, outstanding, overdue, outstanding_minor, overdue_minor, minor_digits, unreadable
FROM _owed_types;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('balance_spans', 'state', 'table', 'TEXT', 'State of the vendor in this period: ''active'', ''deleted'', ''archived'' or ''unknown''; null while it was missing or gone', 'active'),
  ('balance_history', 'state', 'view', 'TEXT', 'State of the vendor in this period: ''active'', ''deleted'', ''archived'' or ''unknown''; null while it was missing or gone', 'active'),
  ('owed', '', 'view', NULL, 'What is owed: one row per account, state of the vendors and currency. Vendors that are missing or gone are left out. Everything that says what is owed reads this', NULL),
  ('owed', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('owed', 'currency', 'view', 'TEXT', 'Currency, three letters; null in the row of vendors whose balances cannot be read at all', 'USD'),
  ('owed', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('owed', 'vendors', 'view', 'INTEGER', 'How many vendors have an outstanding amount other than zero', '12'),
  ('owed', 'outstanding', 'view', 'REAL', 'Sum of the outstanding amounts', '1200.0'),
  ('owed', 'overdue', 'view', 'REAL', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('owed', 'outstanding_minor', 'view', 'INTEGER', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('owed', 'overdue_minor', 'view', 'INTEGER', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('owed', 'minor_digits', 'view', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('owed', 'unreadable', 'view', 'INTEGER', 'Amounts that are not decimal numbers, and are left out of the sums; in the row without a currency, vendors whose balances cannot be read at all', '0'),
  ('owed_by_day', '', 'view', NULL, 'What was owed at the end of each day (UTC), today until now: one row per account, day, state of the vendors and currency. Past days never change', NULL),
  ('owed_by_day', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('owed_by_day', 'day', 'view', 'TEXT', 'The day, UTC', '2026-11-20'),
  ('owed_by_day', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('owed_by_day', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('owed_by_day', 'vendors', 'view', 'INTEGER', 'How many vendors have an outstanding amount other than zero', '12'),
  ('owed_by_day', 'outstanding', 'view', 'REAL', 'Sum of the outstanding amounts', '1200.0'),
  ('owed_by_day', 'overdue', 'view', 'REAL', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('owed_by_day', 'outstanding_minor', 'view', 'INTEGER', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('owed_by_day', 'overdue_minor', 'view', 'INTEGER', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('owed_by_day', 'minor_digits', 'view', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('owed_by_day', 'unreadable', 'view', 'INTEGER', 'Amounts that are not decimal numbers, and are left out of the sums', '0'),
  ('_owed_types', '', 'table', NULL, 'Internal: always empty; gives the columns of owed and owed_by_day their types', NULL),
  ('_owed_types', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_owed_types', 'day', 'table', 'TEXT', 'The day, UTC', '2026-11-20'),
  ('_owed_types', 'currency', 'table', 'TEXT', 'Currency, three letters', 'USD'),
  ('_owed_types', 'state', 'table', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('_owed_types', 'vendors', 'table', 'INTEGER', 'How many vendors have an outstanding amount other than zero', '12'),
  ('_owed_types', 'outstanding', 'table', 'REAL', 'Sum of the outstanding amounts', '1200.0'),
  ('_owed_types', 'overdue', 'table', 'REAL', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('_owed_types', 'outstanding_minor', 'table', 'INTEGER', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('_owed_types', 'overdue_minor', 'table', 'INTEGER', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('_owed_types', 'minor_digits', 'table', 'INTEGER', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('_owed_types', 'unreadable', 'table', 'INTEGER', 'Amounts that are not decimal numbers, and are left out of the sums', '0'),
  ('_owed_closings', '', 'view', NULL, 'Internal: what was owed at the end of each day on which it changed', NULL),
  ('_owed_closings', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_owed_closings', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('_owed_closings', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('_owed_closings', 'day', 'view', 'TEXT', 'The day, UTC', '2026-11-20'),
  ('_owed_closings', 'until', 'view', 'TEXT', 'The next day on which it changed, UTC; null if there is none', '2026-11-22'),
  ('_owed_closings', 'vendors', 'view', 'INT', 'How many vendors have an outstanding amount other than zero', '12'),
  ('_owed_closings', 'outstanding', 'view', 'REAL', 'Sum of the outstanding amounts', '1200.0'),
  ('_owed_closings', 'overdue', 'view', 'REAL', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('_owed_closings', 'outstanding_minor', 'view', 'INT', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('_owed_closings', 'overdue_minor', 'view', 'INT', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('_owed_closings', 'minor_digits', 'view', 'INT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('_owed_closings', 'unreadable', 'view', 'INT', 'Amounts that are not decimal numbers, and are left out of the sums', '0'),
  ('_owed_amounts', '', 'view', NULL, 'Internal: the amounts of balance_spans, split so that they can be added up', NULL),
  ('_owed_amounts', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_owed_amounts', 'code', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('_owed_amounts', 'state', 'view', 'TEXT', 'State of the vendor: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('_owed_amounts', 'valid_from', 'view', 'TIMESTAMP', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('_owed_amounts', 'valid_to', 'view', 'TIMESTAMP', 'End of the period, UTC; null for the current one', NULL),
  ('_owed_amounts', 'minor_digits', 'view', 'INTEGER', 'Decimal places of the currency', '2'),
  ('_owed_amounts', 'outstanding_billions', 'view', 'INT', 'Outstanding: billions of minor units', '0'),
  ('_owed_amounts', 'outstanding_rest', 'view', 'TEXT', 'Outstanding: the remaining minor units', '120000'),
  ('_owed_amounts', 'outstanding_more', 'view', 'TEXT', 'Outstanding as a number, where it is no whole number of minor units in 64 bits; else 0', '0'),
  ('_owed_amounts', 'outstanding_more_count', 'view', 'TEXT', '1 where outstanding_more is used', '0'),
  ('_owed_amounts', 'overdue_billions', 'view', 'INT', 'Overdue: billions of minor units', '0'),
  ('_owed_amounts', 'overdue_rest', 'view', 'TEXT', 'Overdue: the remaining minor units', '120000'),
  ('_owed_amounts', 'overdue_more', 'view', 'TEXT', 'Overdue as a number, where it is no whole number of minor units in 64 bits; else 0', '0'),
  ('_owed_amounts', 'overdue_more_count', 'view', 'TEXT', '1 where overdue_more is used', '0'),
  ('_owed_amounts', 'vendors', 'view', 'TEXT', '1 if the outstanding amount is not zero', '1'),
  ('_owed_amounts', 'unreadable', 'view', 'TEXT', 'How many of the two amounts are not decimal numbers', '0');
UPDATE data_dictionary SET meaning = 'The source of owed, balance_history and payables: one row per vendor and currency for each period in which neither amount nor the state of the vendor changed'
WHERE name = 'balance_spans' AND column_name = '';
DELETE FROM data_dictionary WHERE name = 'contractors_1099' AND column_name IN ('', 'state', 'outstanding', 'overdue', 'outstanding_text', 'overdue_text')
  OR name = 'vendor_overview' AND column_name IN ('', 'outstanding_text', 'overdue_text')
  OR name = 'balance_history' AND column_name IN ('code', 'outstanding_amount', 'overdue_amount', 'outstanding', 'overdue', 'outstanding_minor', 'overdue_minor');
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('contractors_1099', '', 'view', NULL, 'Active vendors that get a form 1099: one row for each currency in which one has a balance, or one without a currency', NULL),
  ('vendor_overview', '', 'view', NULL, 'Vendors for a spreadsheet: one row for each vendor and currency in which it has a balance, or one without a currency', NULL),
  ('vendor_overview', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL);
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example)
SELECT d.name, p.column_name, p.kind, p.type, p.meaning, p.example
FROM data_dictionary p, (SELECT name FROM data_dictionary WHERE name IN ('contractors_1099', 'vendor_overview', 'balance_history') AND column_name = '') d
WHERE p.name = 'payables' AND p.column_name IN ('currency', 'outstanding', 'overdue')
  OR p.name = 'payables' AND p.column_name IN ('outstanding_minor', 'overdue_minor') AND d.name = 'balance_history';
UPDATE data_dictionary SET meaning = meaning || '; null where the vendor has no balance, or is absent'
WHERE name IN ('contractors_1099', 'vendor_overview') AND column_name IN ('currency', 'outstanding', 'overdue');
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('balance_history', 'outstanding_text', 'view', 'TEXT', 'Outstanding, exactly as sent; null if none was sent', '1200.00'),
  ('balance_history', 'overdue_text', 'view', 'TEXT', 'Overdue, exactly as sent; null if none was sent', '200.00');
UPDATE data_dictionary SET meaning = replace(meaning, 'amounts as in vendor_overview', 'amounts with their currency')
WHERE name = 'vendor_changes' AND column_name = 'old';
UPDATE data_dictionary SET meaning = 'One row per changed field, but for updated_at: old and new value, and when and how the change was learned'
WHERE name = 'vendor_changes' AND column_name = '';
UPDATE data_dictionary SET meaning = 'What was owed: one row per vendor and currency for each period in which neither amount nor the state of the vendor changed'
WHERE name = 'balance_history' AND column_name = '';
UPDATE data_dictionary SET meaning = 'What is owed to whom: one row per vendor that is not absent and currency in which it has a balance; amounts are numbers. Their sums are in owed'
WHERE name = 'payables' AND column_name = '';

-- What was told about an error, wherever it is told again.
ALTER TABLE runs ADD COLUMN remedy TEXT;
ALTER TABLE _request_failures ADD COLUMN remedy TEXT;
ALTER TABLE _connection_failures ADD COLUMN remedy TEXT;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('runs', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.'),
  ('_request_failures', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.'),
  ('_connection_failures', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.');

-- A refused registration is tried again after a wait that grows; with another address, which stands here without its path token, at once.
ALTER TABLE _registration_refusals ADD COLUMN remedy TEXT;
ALTER TABLE _registration_refusals ADD COLUMN uri TEXT;
ALTER TABLE _registration_refusals ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE _registration_refusals ADD COLUMN retry_at TIMESTAMP;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_registration_refusals', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', NULL),
  ('_registration_refusals', 'uri', 'table', 'TEXT', 'The address that was to be registered, without its path token', 'https://mirror.example.com/webhooks/6BApk/'),
  ('_registration_refusals', 'attempts', 'table', 'INTEGER', 'How often it was refused since refused_at', '3'),
  ('_registration_refusals', 'retry_at', 'table', 'TIMESTAMP', 'When it is tried again at the earliest, UTC; null where with the next check', '2026-11-20 12:04:00.000');

-- Callbacks that lead to an address of this installation and were registered with secrets that it does not have: what they deliver is refused.
CREATE TABLE _unknown_callbacks (
  account_id TEXT NOT NULL,
  callbackid INTEGER NOT NULL,
  found_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, callbackid)
) WITHOUT ROWID;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_unknown_callbacks', '', 'table', NULL, 'Internal: callbacks that lead to the address of this installation, and that other secrets registered', NULL),
  ('_unknown_callbacks', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_unknown_callbacks', 'callbackid', 'table', 'INTEGER', 'Number of the callback at the service', '2001'),
  ('_unknown_callbacks', 'found_at', 'table', 'TIMESTAMP', 'When it was seen first, UTC', '2026-11-20 12:00:00.000');

-- A code that came and was accepted proves that what the service sends arrives: changes that were missed before are no longer held against it.
ALTER TABLE accounts ADD COLUMN callback_proven_at TIMESTAMP;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('accounts', 'callback_proven_at', 'table', 'TIMESTAMP', 'When a callback was verified last, UTC; null where none was', '2026-11-20 12:00:00.000');

-- One row per changed field, but for when the service last modified the record. Values are texts: states are words, amounts are followed
-- by their currency, other lists the JSON that was sent.
DROP VIEW vendor_changes;
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
  WHERE trim(f.value, '"') <> 'updated_at'
) AS changed;

-- Who was paid under another name, account or address lately, and who changed it: what a fraud would change.
CREATE VIEW contact_changes AS
SELECT c.account_id, c.seq, c."at", c.vendorid, c.vendor_name, c.field, c."old", c."new", c.learned_by, d.user_id
FROM vendor_changes c
JOIN _vendor_versions v ON v.seq = c.seq
LEFT JOIN deliveries d ON d.id = v.delivery_id
WHERE c.field IN ('vendor_name', 'account_number', 'primary_contact_first_name', 'primary_contact_last_name', 'primary_contact_email',
  'primary_contact', 'phone', 'street', 'street2', 'city', 'province', 'postal_code', 'country', 'website');

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example)
SELECT 'contact_changes', column_name, kind, type, meaning, example FROM data_dictionary WHERE name = 'vendor_changes' AND column_name <> '';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('contact_changes', '', 'view', NULL, 'Changes of a vendor''s name, account number, contact, telephone number or address: one row per changed field', NULL),
  ('contact_changes', 'user_id', 'view', (SELECT type FROM data_dictionary WHERE name = 'deliveries' AND column_name = 'user_id'), 'The user that the webhook named which announced the change; null if none did, or it is no longer kept', NULL);

-- Until now, a daemon listened on all interfaces unless the settings said otherwise.
ALTER TABLE mirror_identity ADD COLUMN listener_host TEXT;
ALTER TABLE mirror_identity ADD COLUMN listener_moved_at TIMESTAMP;
UPDATE mirror_identity SET listener_host = '0.0.0.0'
WHERE daemon_epoch > 0 OR EXISTS (SELECT 1 FROM callbacks) OR EXISTS (SELECT 1 FROM deliveries);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('mirror_identity', 'listener_host', 'table', 'TEXT', 'Where the last daemon took deliveries (listener.host); null if none ran', '127.0.0.1'),
  ('mirror_identity', 'listener_moved_at', 'table', 'TIMESTAMP', 'When a daemon first listened on this machine alone, by default, after one that listened on all interfaces, UTC; null if that did not happen', NULL);

-- The rate belongs to a connection and is shared by its accounts.
ALTER TABLE _requests RENAME TO _requests_of_accounts;
CREATE TABLE _requests (
  connection TEXT NOT NULL,
  "window" TEXT NOT NULL CHECK ("window" IN ('all', 'post', 'callbacks')),
  read_seq INTEGER NOT NULL,
  counts_until_ms INTEGER NOT NULL, -- mirror time
  process TEXT, -- which sent it and waits for its answer; null once that has come
  PRIMARY KEY (connection, "window", read_seq)
) WITHOUT ROWID;
INSERT INTO _requests SELECT 'default', 'all', read_seq, counts_until_ms, process FROM _requests_of_accounts;
INSERT INTO _requests SELECT 'default', 'callbacks', read_seq, counts_until_ms, process FROM _requests_of_accounts WHERE family = 'events';
DROP TABLE _requests_of_accounts;

DELETE FROM data_dictionary WHERE name = '_requests' AND column_name IN ('account_id', 'family');
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_requests', 'connection', 'table', 'TEXT', 'Connection of the settings, by whose token it was sent', 'default'),
  ('_requests', 'window', 'table', 'TEXT', 'The limit that it counts against: ''all'', ''post'' or ''callbacks''', 'all');

-- What is not for readers begins with an underscore.
ALTER TABLE accounts RENAME TO _accounts;
ALTER TABLE balance_spans RENAME TO _balance_spans;
ALTER TABLE known_fields RENAME TO _known_fields;
ALTER TABLE page_confirmations RENAME TO _page_confirmations;
ALTER TABLE reading_counter RENAME TO _reading_counter;
UPDATE data_dictionary SET name = '_' || name
WHERE name IN ('accounts', 'balance_spans', 'known_fields', 'page_confirmations', 'reading_counter');
UPDATE data_dictionary SET meaning = replace(meaning, 'balance_spans', '_balance_spans') WHERE instr(meaning, 'balance_spans') > 0;
