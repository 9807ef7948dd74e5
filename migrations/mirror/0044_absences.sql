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
WHERE v.is_1099 = 1 AND v.presence IN ('present', 'suspect');

CREATE VIEW payables AS
SELECT v.account_id, v.vendorid, v.vendor_name,
  CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  s.code AS currency,
  s.outstanding_amount AS outstanding, s.overdue_amount AS overdue,
  s.outstanding_units AS outstanding_minor, s.overdue_units AS overdue_minor, s.minor_digits
FROM vendors v
JOIN balance_spans s ON s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
WHERE v.presence IN ('present', 'suspect');

UPDATE data_dictionary SET meaning = '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist'
WHERE column_name = 'presence';
UPDATE data_dictionary SET meaning = 'Vendors that are active and not absent' WHERE name = 'active_vendors' AND column_name = '';
UPDATE data_dictionary SET meaning = 'Vendors that get a form 1099 and are not absent, one row each, with what is owed'
WHERE name = 'contractors_1099' AND column_name = '';
UPDATE data_dictionary
SET meaning = 'What is owed: one row per vendor that is not absent and currency in which it has a balance; amounts are numbers'
WHERE name = 'payables' AND column_name = '';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('vendors', 'presence_ms', 'table', 'INTEGER', 'Internal: mirror time of the first proof of a suspect, or of a conclusion', NULL),
  ('accounts', 'shortfall', 'table', 'INTEGER', 'Internal: how many more vendors the service counted than it showed when none was in doubt', NULL),
  ('accounts', 'withheld_absences', 'table', 'INTEGER', 'Vendors that can no longer be read and that the service still counts: the token may see less than before', '0'),
  ('accounts', 'unproven_absences', 'table', 'INTEGER', 'Vendors that an earlier version called missing or gone by less than is required now; they are read again', '0'),
  ('_shown_states', '', 'table', NULL, 'Internal: states besides 0 whose vendors lists show', NULL),
  ('_shown_states', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_shown_states', 'vis_state', 'table', 'INTEGER', '1 deleted, 2 archived, -1 without a state', '2'),
  ('_shown_states', 'shown_by', 'table', 'TEXT', '''list'': by the default list; ''filter'': by the list of that state alone', 'list');
