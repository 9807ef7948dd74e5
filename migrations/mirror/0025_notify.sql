-- Outgoing webhooks. A target's place in the change feed moves on when changes are taken into its queue, which has one row per vendor with
-- changes that were not delivered: a vendor whose delivery fails holds back its own later changes alone.

CREATE TABLE _notify_targets (
  target TEXT NOT NULL PRIMARY KEY, -- its name in the settings
  place TEXT NOT NULL, -- cursor of the change feed: changes up to it were delivered, or their vendors wait in the queue
  notice TEXT, -- the message that goes out before all others, JSON; null where there is none
  began_at TIMESTAMP NOT NULL,
  delivered_at TIMESTAMP, -- when the receiver last accepted something
  failing_since TIMESTAMP, -- of the first failure since then
  last_error TEXT,
  disabled_at TIMESTAMP -- when the receiver said that it is gone
) WITHOUT ROWID;

CREATE TABLE _notify_queue (
  target TEXT NOT NULL,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  after_seq INTEGER NOT NULL, -- changes of the vendor after this one, up to the target's place, are to be delivered
  since TIMESTAMP NOT NULL, -- when we learned of the first of them
  due_at TIMESTAMP, -- null where it was given up (parked)
  due_ms INTEGER, -- the same in mirror time
  attempts INTEGER NOT NULL, -- that failed in a row
  last_error TEXT,
  PRIMARY KEY (target, account_id, vendorid)
) WITHOUT ROWID;
CREATE INDEX _notify_queue_due ON _notify_queue (target, due_ms) WHERE due_ms IS NOT NULL;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('_notify_targets', '', 'table', NULL, 'The program''s own: how far each target of outgoing webhooks is', NULL, NULL),
  ('_notify_targets', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com', NULL),
  ('_notify_targets', 'place', 'table', 'TEXT', 'Cursor of the change feed: changes up to it were delivered, or their vendors wait in _notify_queue', '9f86d081884c7d65:1042', NULL),
  ('_notify_targets', 'notice', 'table', 'TEXT', 'The message that goes out before all others, JSON; null where there is none', NULL, NULL),
  ('_notify_targets', 'began_at', 'table', 'TIMESTAMP', 'When the target was first named in the settings, UTC', '2026-11-20 12:00:00.000', NULL),
  ('_notify_targets', 'delivered_at', 'table', 'TIMESTAMP', 'When its receiver last accepted a message, UTC', '2026-11-20 12:00:00.000', NULL),
  ('_notify_targets', 'failing_since', 'table', 'TIMESTAMP', 'When the first delivery failed since then, UTC; null where none did', NULL, NULL),
  ('_notify_targets', 'last_error', 'table', 'TEXT', 'Why the last delivery failed; null where the last one was accepted', NULL, NULL),
  ('_notify_targets', 'disabled_at', 'table', 'TIMESTAMP', 'When the receiver answered that it is gone (410), UTC; nothing is sent since', NULL, NULL),
  ('_notify_queue', '', 'table', NULL, 'The program''s own: vendors with changes that a target of outgoing webhooks has not received', NULL, NULL),
  ('_notify_queue', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com', NULL),
  ('_notify_queue', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk', NULL),
  ('_notify_queue', 'vendorid', 'table', 'INTEGER', 'Number of the vendor', '1006', NULL),
  ('_notify_queue', 'after_seq', 'table', 'INTEGER', 'The changes of the vendor after this one, up to the place of the target, are to be delivered', '1041', NULL),
  ('_notify_queue', 'since', 'table', 'TIMESTAMP', 'When we learned of the first of them, UTC', '2026-11-20 12:00:00.000', NULL),
  ('_notify_queue', 'due_at', 'table', 'TIMESTAMP', 'When the next attempt is due, UTC; null where it was given up (parked)', '2026-11-20 12:00:05.000', NULL),
  ('_notify_queue', 'due_ms', 'table', 'INTEGER', 'The same in mirror time, milliseconds', NULL, NULL),
  ('_notify_queue', 'attempts', 'table', 'INTEGER', 'Attempts that failed in a row', '0', NULL),
  ('_notify_queue', 'last_error', 'table', 'TEXT', 'Why the last attempt failed', 'The receiver answered 500.', NULL);
