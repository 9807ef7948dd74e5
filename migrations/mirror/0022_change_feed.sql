-- Cursors of the change feed are `epoch:seq`. Each program that changes vendors begins an epoch with its first change, so that a file that was
-- put back from a copy, and goes on otherwise than before, gives no cursor out again that once meant another change.

CREATE TABLE _feed_epochs (
  position INTEGER NOT NULL PRIMARY KEY,
  epoch TEXT NOT NULL UNIQUE, -- random
  after_seq INTEGER NOT NULL -- the changes after this one belong to it, up to the next epoch
);
CREATE INDEX _feed_epochs_by_seq ON _feed_epochs (after_seq, position);
INSERT INTO _feed_epochs (position, epoch, after_seq) VALUES (1, lower(hex(randomblob(8))), 0);

-- One row: the last change that was removed, by age or otherwise. Whoever has not read further has missed something.
CREATE TABLE _feed_removed (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL
);
-- Where a number is missing, something was removed before it was written down here.
INSERT INTO _feed_removed (id, seq)
SELECT 1, CASE WHEN s.last = (SELECT count(*) FROM vendor_versions) THEN 0 ELSE s.last END
FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vendor_versions'), 0) AS last) AS s;
CREATE TRIGGER _feed_version_removed AFTER DELETE ON vendor_versions
WHEN old.seq > (SELECT seq FROM _feed_removed) BEGIN
  UPDATE _feed_removed SET seq = old.seq;
END;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('_feed_epochs', '', 'table', NULL, 'The program''s own: who wrote which part of the change feed; cursors name one', NULL, NULL),
  ('_feed_epochs', 'position', 'table', 'INTEGER', 'The order of epochs', '1', NULL),
  ('_feed_epochs', 'epoch', 'table', 'TEXT', 'Random name of the epoch', '9f86d081884c7d65', NULL),
  ('_feed_epochs', 'after_seq', 'table', 'INTEGER', 'The changes after this one belong to it, up to the next epoch', '1042', NULL),
  ('_feed_removed', '', 'table', NULL, 'The program''s own: how much of the change feed was removed; one row', NULL, NULL),
  ('_feed_removed', 'id', 'table', 'INTEGER', 'Always 1', '1', NULL),
  ('_feed_removed', 'seq', 'table', 'INTEGER', 'The last change that was removed; 0 where none was', '0', NULL);
