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

DROP VIEW freshness;
CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked')) AS oldest_unsettled_delivery,
  (SELECT coalesce(sum(v.vendors), 0) FROM _vendor_counts v
    WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT max(c.verified) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  CASE WHEN r.safe_as_of IS NOT NULL THEN (SELECT min(moment) FROM (
    SELECT r.safe_as_of AS moment
    UNION ALL SELECT (SELECT min(q.marked_at) FROM dirty_vendors q WHERE q.account_id = a.account_id)
    UNION ALL SELECT (SELECT s.asked_at FROM _sweep_requests s WHERE s.account_id = a.account_id)
  )) END AS safe_as_of,
  CASE WHEN r.listed_as_of IS NOT NULL THEN (SELECT min(moment) FROM (
    SELECT r.listed_as_of AS moment
    UNION ALL SELECT (SELECT min(q.marked_at) FROM dirty_vendors q WHERE q.account_id = a.account_id)
    UNION ALL SELECT (SELECT s.asked_at FROM _sweep_requests s WHERE s.account_id = a.account_id)
  )) END AS listed_as_of
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'));
