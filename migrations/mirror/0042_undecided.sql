-- Vendors about which nothing can be said, and marks that a reading may answer in part.

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

DROP VIEW freshness;
ALTER TABLE _freshness_types ADD COLUMN undecided INTEGER;
CREATE VIEW freshness AS
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided
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
  CAST((SELECT count(*) FROM undecided_vendors u WHERE u.account_id = a.account_id) AS INTEGER)
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
UNION ALL
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided
FROM _freshness_types;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('undecided_vendors', '', 'table', NULL, 'Vendors that the last complete run did not see and could not decide about', NULL),
  ('undecided_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('undecided_vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor, unique in its account', '1006'),
  ('undecided_vendors', 'since', 'table', 'TIMESTAMP', 'When a run could not decide about it first, UTC', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'as_of', 'table', 'TIMESTAMP', 'Up to when the mirror knows it, UTC: safe_as_of of the account is not later; null if that is unknown', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'code', 'table', 'TEXT', 'Code of the error when it was read', 'service_unavailable'),
  ('undecided_vendors', 'error', 'table', 'TEXT', 'The error, as a sentence', 'The service failed with status 500.'),
  ('dirty_vendors', 'marked_ms', 'table', 'INTEGER', 'marked_at in mirror time', NULL),
  ('dirty_vendors', 'last_ms', 'table', 'INTEGER', 'When it was marked last, in mirror time', NULL),
  ('_freshness_types', 'undecided', 'table', 'INTEGER', 'Vendors about which the last complete run could not decide', '0'),
  ('freshness', 'undecided', 'view', 'INTEGER', 'Vendors about which the last complete run could not decide, because the service refuses them or answers for them alone with what cannot be used; safe_as_of is limited by them', '0');
