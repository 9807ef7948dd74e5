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
