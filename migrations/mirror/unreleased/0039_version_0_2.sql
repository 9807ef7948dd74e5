-- From the steps 4 to 35 before version 0.2.0 to the same as 0039_version_0_2.sql.
-- replaces: 0173f7937f57968a13a0a9c70640808dd04e1cee9767bb3a47b7d4dce157058b

-- Names that answered for one more version.

DROP VIEW active_vendors;
CREATE VIEW active_vendors AS
SELECT account_id, vendorid, vendor_name, account_number, primary_contact_first_name, primary_contact_last_name,
  primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website, currency_code,
  language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source
FROM vendors WHERE vis_state = 0 AND presence = 'present';

DROP VIEW contractors_1099;
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
DROP VIEW vendor_overview;
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

DELETE FROM data_dictionary WHERE replaced_by IS NOT NULL OR column_name = 'replaced_by';
ALTER TABLE data_dictionary DROP COLUMN replaced_by;

-- Digests of pages saved less than a tenth of the processor time of a sweep that finds nothing new, and nothing of any other.
DROP TABLE _page_digests;
DELETE FROM data_dictionary WHERE name = '_page_digests';

-- How many vendors an account has of each state is counted in an index that holds nothing else: 200,000 take 11 ms.

DROP TRIGGER _vendor_added;
DROP TRIGGER _vendor_removed;
DROP TRIGGER _vendor_moved;
DROP INDEX vendors_not_present;
CREATE INDEX vendors_by_state ON vendors (account_id, presence, vis_state, vendorid);

DROP VIEW freshness;
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

DROP TABLE _vendor_counts;
DELETE FROM data_dictionary WHERE name = '_vendor_counts';
