-- Up to which change of the mirror's feed webhooks may have left, for each target. It stands here because a mirror that is put back from a copy
-- takes its own place back with it, and only what stands elsewhere shows that its receivers know more.
CREATE TABLE notified (
  target TEXT NOT NULL PRIMARY KEY,
  place TEXT NOT NULL
) WITHOUT ROWID;
