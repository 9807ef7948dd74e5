-- Since when the settings do not name an account any more: nothing keeps it fresh, and its callback counts for nothing.
ALTER TABLE accounts ADD COLUMN not_served_since TIMESTAMP;

DROP VIEW freshness;
CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked')) AS oldest_unsettled_delivery,
  (SELECT count(*) FROM vendors v WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT max(c.verified AND a.not_served_since IS NULL) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  (SELECT min(moment) FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id
  ) WHERE r.safe_as_of IS NOT NULL) AS safe_as_of,
  (SELECT min(moment) FROM (
    SELECT r.listed_as_of AS moment
    UNION ALL SELECT q.marked_at FROM dirty_vendors q WHERE q.account_id = a.account_id
  ) WHERE r.listed_as_of IS NOT NULL) AS listed_as_of,
  a.not_served_since
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'));
