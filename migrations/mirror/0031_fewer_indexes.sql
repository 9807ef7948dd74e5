-- Each index of `runs` is a page more in the file for each run. What these served is found by the number of the run, which rises with time.
DROP INDEX runs_by_start;
DROP INDEX runs_by_time;
-- No statement looks for marks without their account.
DROP INDEX dirty_vendors_due;

DROP VIEW _missed_after_delivery;
CREATE VIEW _missed_after_delivery AS
SELECT f.id AS finding_id, f.account_id, substr(CAST(r.started_at AS TEXT), 1, 10) AS day
FROM findings f JOIN runs r ON r.id = f.run_id
WHERE EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.account_id = f.account_id AND d.object_id = f.vendorid AND d.outcome <> 'ignored' AND d.received_at < r.started_at
    AND d.received_at >= coalesce((SELECT p.started_at FROM runs p
      WHERE p.account_id = r.account_id AND p.id < r.id AND p.kind <> 'verify' ORDER BY p.id DESC LIMIT 1), ''));

UPDATE data_dictionary SET meaning = 'When that was last seen, UTC; noted once an hour while it does not change'
WHERE name = 'callbacks' AND column_name = 'checked_at';
