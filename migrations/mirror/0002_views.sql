-- What people read, in SQL that readers of 2022 (SQLite 3.39) still understand. View columns that are plain columns keep their declared types.

CREATE VIEW active_vendors AS
SELECT * FROM vendors WHERE vis_state = 0 AND presence = 'present';

CREATE VIEW contractors_1099 AS
SELECT * FROM vendors WHERE is_1099 = 1 AND presence = 'present';

-- One row per vendor; the amounts of several currencies are joined by '; '.
CREATE VIEW vendor_overview AS
SELECT
  v.account_id, v.vendorid, v.vendor_name, v.vis_state, v.presence, v.is_1099, v.currency_code, v.language,
  v.account_number, v.primary_contact_first_name, v.primary_contact_last_name, v.primary_contact_email, v.phone,
  v.street, v.street2, v.city, v.province, v.postal_code, v.country, v.website, v.note,
  (SELECT group_concat(amount || ' ' || code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'outstanding' ORDER BY b.code)) AS outstanding,
  (SELECT group_concat(amount || ' ' || code, '; ') FROM (SELECT b.amount, b.code FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = 'overdue' ORDER BY b.code)) AS overdue,
  v.created_at, v.updated_at, v.first_seen_at, v.changed_at
FROM vendors v;

-- Every move between states, once, with when and how it was learned. A first sight is no move.
CREATE VIEW vis_state_changes AS
SELECT seq, account_id, vendorid, valid_from AS changed_at, old_vis_state, vis_state AS new_vis_state,
  old_presence, presence AS new_presence, source, vis_state_source, run_id, delivery_id
FROM (
  SELECT *,
    lag(vis_state) OVER of_vendor AS old_vis_state,
    lag(presence) OVER of_vendor AS old_presence,
    row_number() OVER of_vendor AS version
  FROM vendor_versions
  WINDOW of_vendor AS (PARTITION BY account_id, vendorid ORDER BY seq)
)
WHERE version > 1 AND (vis_state IS NOT old_vis_state OR presence IS NOT old_presence);

CREATE VIEW balance_history AS
SELECT account_id, vendorid, code, valid_from, valid_to, outstanding, outstanding_minor, overdue, overdue_minor
FROM balance_spans;

CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked')) AS oldest_unsettled_delivery,
  (SELECT count(*) FROM vendors v WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT max(c.verified) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  (SELECT min(moment) FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id
  ) WHERE r.safe_as_of IS NOT NULL) AS safe_as_of
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'));

-- Per account and day (UTC): what the service told us, and what it did not.
CREATE VIEW webhook_health AS
WITH told AS (
  SELECT account_id, substr(received_at, 1, 10) AS day, count(*) AS deliveries,
    sum(outcome = 'unchanged') AS duplicates
  FROM deliveries WHERE outcome <> 'ignored' GROUP BY 1, 2
), met AS (
  SELECT account_id, substr(found_at, 1, 10) AS day,
    sum(kind LIKE 'missed_%' AND explained_at IS NULL) AS unannounced,
    sum(kind LIKE 'missed_%' AND explained_at IS NOT NULL) AS late,
    max(CASE WHEN kind LIKE 'missed_%' AND explained_at IS NOT NULL
      THEN round((julianday(explained_at) - julianday(found_at)) * 86400, 3) END) AS latest_seconds
  FROM findings GROUP BY 1, 2
), days AS (
  SELECT account_id, day FROM told UNION SELECT account_id, day FROM met
)
SELECT d.account_id, d.day,
  coalesce(t.deliveries, 0) AS deliveries,
  coalesce(t.duplicates, 0) AS duplicates,
  coalesce(m.unannounced, 0) AS unannounced_changes,
  coalesce(m.late, 0) AS late_deliveries,
  m.latest_seconds,
  round(1.0 * coalesce(m.unannounced, 0)
    / nullif(coalesce(m.unannounced, 0) + coalesce(t.deliveries, 0) - coalesce(t.duplicates, 0), 0), 4) AS loss_rate
FROM days d
LEFT JOIN told t USING (account_id, day)
LEFT JOIN met m USING (account_id, day);
