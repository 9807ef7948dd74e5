-- Money that can be summed, sorted and drawn, and views that say their types. What a view computes has no declared type: amounts stand in
-- columns of their own, and views that compute times and counts end with an empty table of the same columns, from which readers take them.

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

DROP VIEW balance_history;
CREATE VIEW balance_history AS
SELECT account_id, vendorid, code, valid_from, valid_to, outstanding, outstanding_minor, overdue, overdue_minor,
  outstanding_amount, overdue_amount, minor_digits
FROM balance_spans;

DROP VIEW active_vendors;
CREATE VIEW active_vendors AS
SELECT account_id, vendorid, vendor_name, account_number, primary_contact_first_name, primary_contact_last_name,
  primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website, currency_code,
  language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source,
  read_seq, held_since_ms, unknown_fields, raw
FROM vendors WHERE vis_state = 0 AND presence = 'present';

-- One row per vendor; what is owed in its own currency as numbers, and in all as text.
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
  v.changed_at, v.source, v.read_seq, v.held_since_ms, v.unknown_fields, v.raw
FROM vendors v
LEFT JOIN balance_spans s ON s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
  AND s.code = v.currency_code
WHERE v.is_1099 = 1 AND v.presence = 'present';

-- One row per vendor; the amounts of several currencies are joined by '; '. `outstanding` and `overdue` are old names.
DROP VIEW vendor_overview;
CREATE VIEW vendor_overview AS
SELECT account_id, vendorid, vendor_name, vis_state, presence, is_1099, currency_code, language, account_number,
  primary_contact_first_name, primary_contact_last_name, primary_contact_email, phone, street, street2, city, province, postal_code,
  country, website, note, outstanding_text AS outstanding, overdue_text AS overdue, created_at, updated_at, first_seen_at, changed_at,
  state, outstanding_text, overdue_text
FROM (
  SELECT v.*,
    CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
    (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
      WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'outstanding' ORDER BY b.code) t) AS outstanding_text,
    (SELECT group_concat(t.amount || ' ' || t.code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
      WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'overdue' ORDER BY b.code) t) AS overdue_text
  FROM vendors v
) AS flat;

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
DROP VIEW vis_state_changes;
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

-- Empty: the types of `freshness` and `webhook_health`.
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

DROP VIEW freshness;
CREATE VIEW freshness AS
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since
FROM _freshness_types
UNION ALL
SELECT
  a.account_id,
  r.finished_at,
  (SELECT d.received_at FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked') ORDER BY CAST(d.received_at AS TEXT) LIMIT 1),
  CAST((SELECT coalesce(sum(v.vendors), 0) FROM _vendor_counts v
    WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS INTEGER),
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
  a.not_served_since
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
UNION ALL
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since
FROM _freshness_types;

-- Per account and day (UTC): what the service told us, and what it did not. Of a vendor that changed between two sweeps, the last change
-- counts, on the day of the second.
DROP VIEW webhook_health;
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

DROP VIEW _missed_after_delivery;
CREATE VIEW _missed_after_delivery AS
SELECT f.id AS finding_id, f.account_id, substr(CAST(r.started_at AS TEXT), 1, 10) AS day
FROM findings f JOIN runs r ON r.id = f.run_id
WHERE EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.account_id = f.account_id AND d.object_id = f.vendorid AND d.outcome <> 'ignored' AND d.received_at < r.started_at
    AND NOT EXISTS (SELECT 1 FROM runs p
      WHERE p.account_id = r.account_id AND p.kind <> 'verify' AND p.started_at < r.started_at AND p.started_at > d.received_at));
