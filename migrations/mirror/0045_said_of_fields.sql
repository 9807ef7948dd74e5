-- What an answer leaves out, what is empty, and what is not understood are three things.

-- Names of the fields that the latest reading showed and that could not be read, JSON; null where there are none.
ALTER TABLE vendors ADD COLUMN unreadable_fields TEXT CHECK (json_valid(unreadable_fields));
CREATE INDEX vendors_unreadable ON vendors (account_id) WHERE unreadable_fields IS NOT NULL;

-- Where lists leave fields out that reads by id carry: the number and time of a vendor's last read by id. Null in `detail_seq` where lists carry
-- every field; 0 for a vendor that is to be read first, because it is new or its listed row moved.
ALTER TABLE vendors ADD COLUMN detail_seq INTEGER;
ALTER TABLE vendors ADD COLUMN details_at TIMESTAMP;
CREATE INDEX vendors_by_detail ON vendors (account_id, detail_seq, presence, details_at) WHERE detail_seq IS NOT NULL;

-- Fields that lists leave out and reads by id carry. One counts once several vendors showed it.
CREATE TABLE _detail_fields (
  account_id TEXT NOT NULL,
  field TEXT NOT NULL,
  vendorids TEXT NOT NULL CHECK (json_valid(vendorids)),
  learned_at TIMESTAMP, -- null while too few vendors showed it
  PRIMARY KEY (account_id, field)
) WITHOUT ROWID;

-- By which rules the columns of vendors were derived from `raw`: rows of an older derivation are derived again at the start.
ALTER TABLE mirror_identity ADD COLUMN derivation INTEGER NOT NULL DEFAULT 0;

DROP VIEW freshness;
ALTER TABLE _freshness_types ADD COLUMN details_as_of TIMESTAMP;
CREATE VIEW freshness AS
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided, details_as_of
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
  CAST((SELECT count(*) FROM undecided_vendors u WHERE u.account_id = a.account_id) AS INTEGER),
  (SELECT v.details_at FROM vendors v
    WHERE v.account_id = a.account_id AND v.detail_seq IS NOT NULL AND v.presence IN ('present', 'suspect')
    ORDER BY CAST(v.details_at AS TEXT) LIMIT 1)
FROM accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
UNION ALL
SELECT account_id, last_complete_sweep, oldest_unsettled_delivery, open_suspects, parked_vendors, callback_verified, safe_as_of,
  listed_as_of, not_served_since, paused_since, undecided, details_as_of
FROM _freshness_types;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('vendors', 'unreadable_fields', 'table', 'TEXT', 'Names of the fields that the service sent and the mirror could not read, JSON: they are null here, or contain only what could be read; null if there are none', '["is_1099"]'),
  ('vendors', 'detail_seq', 'table', 'INTEGER', 'Internal: number of the last reading by id, where lists leave fields out; 0 if it is to be read first; null where lists carry every field', NULL),
  ('vendors', 'details_at', 'table', 'TIMESTAMP', 'When the vendor was last read by its id, where lists leave fields out, UTC: 1970 if it never was; null where lists carry every field', '2026-11-20 12:00:00.000'),
  ('_detail_fields', '', 'table', NULL, 'Internal: fields that lists leave out and reads by id carry', NULL),
  ('_detail_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_detail_fields', 'field', 'table', 'TEXT', 'Name of the field', 'note'),
  ('_detail_fields', 'vendorids', 'table', 'TEXT', 'Numbers of the vendors that showed it, JSON', '[1006,1011,1012]'),
  ('_detail_fields', 'learned_at', 'table', 'TIMESTAMP', 'Since when it counts, UTC; null while too few vendors showed it', '2026-11-20 12:00:00.000'),
  ('mirror_identity', 'derivation', 'table', 'INTEGER', 'By which rules the columns of vendors were derived from raw', '1'),
  ('_freshness_types', 'details_as_of', 'table', 'TIMESTAMP', 'Fields that lists leave out are correct up to this time, UTC; null where lists carry every field', NULL),
  ('freshness', 'details_as_of', 'view', 'TIMESTAMP', 'Fields that lists leave out, and only reads of single vendors carry, are correct up to this time, UTC: 1970 until each vendor was read once; null where lists carry every field', NULL);

UPDATE data_dictionary SET meaning = 'Fields without a column of their own, and those that could not be read: name to JSON text; null if there are none'
WHERE name = 'vendors' AND column_name = 'unknown_fields';
UPDATE data_dictionary SET meaning = '0 active, 1 deleted, 2 archived; null if the service sent no state, or none of these'
WHERE name IN ('vendors', 'vendor_overview') AND column_name = 'vis_state';
UPDATE data_dictionary SET meaning = '''active'', ''deleted'' or ''archived''; ''unknown'' if the service sent no state, or none of these'
WHERE name IN ('payables', 'vendor_overview') AND column_name = 'state';
