-- Of a vendor that changed between two sweeps, the last change counts, on the day of the second: as announced if a delivery had told
-- of the vendor by then, as unannounced if the sweep met it first. So a change told of twice weighs no more than one told of once.
CREATE INDEX runs_by_start ON runs (account_id, started_at);
CREATE INDEX deliveries_of_account ON deliveries (account_id, received_at);

DROP VIEW webhook_health;
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
), told_between_sweeps AS (
  SELECT account_id, object_id AS vendorid,
    (SELECT r.id FROM runs r
     WHERE r.account_id = d.account_id AND r.started_at > d.received_at AND r.kind <> 'verify'
     ORDER BY r.started_at LIMIT 1) AS run_id
  FROM deliveries d WHERE outcome <> 'ignored'
  EXCEPT
  SELECT account_id, vendorid, run_id FROM findings WHERE kind LIKE 'missed_%' AND explained_at IS NULL
), heard AS (
  SELECT a.account_id, substr(r.started_at, 1, 10) AS day, count(*) AS announced
  FROM told_between_sweeps a JOIN runs r ON r.id = a.run_id GROUP BY 1, 2
), days AS (
  SELECT account_id, day FROM told UNION SELECT account_id, day FROM met UNION SELECT account_id, day FROM heard
)
SELECT d.account_id, d.day,
  coalesce(t.deliveries, 0) AS deliveries,
  coalesce(t.duplicates, 0) AS duplicates,
  coalesce(m.unannounced, 0) AS unannounced_changes,
  coalesce(h.announced, 0) AS announced_changes,
  coalesce(m.late, 0) AS late_deliveries,
  m.latest_seconds,
  round(1.0 * coalesce(m.unannounced, 0)
    / nullif(coalesce(m.unannounced, 0) + coalesce(h.announced, 0), 0), 4) AS loss_rate
FROM days d
LEFT JOIN told t USING (account_id, day)
LEFT JOIN met m USING (account_id, day)
LEFT JOIN heard h USING (account_id, day);
