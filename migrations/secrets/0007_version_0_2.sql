-- From version 0.1.0 to 0.2.0.
-- replaces: 044c358e1858f7ed14abdb8c66210786a4bd98dd3465f0f8a23134bc5b4219ef

-- By which version of the program each migration was applied: an older one that refuses the file names the version to install.
ALTER TABLE migrations ADD COLUMN applied_by TEXT;

-- A code that is known already came again while one was awaited: a resend may bring the same code as before. It is tried again, and
-- stays the key that it was until the service has said that it is right.
ALTER TABLE verifiers ADD COLUMN came_again BOOLEAN NOT NULL DEFAULT 0 CHECK (came_again IN (0, 1));

-- One row: the mirror that these secrets belong to, and where it was when it last used them.
CREATE TABLE owner (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  mirror_id TEXT NOT NULL,
  mirror_path TEXT NOT NULL
);
-- The daemon that works with these secrets, by its number in the mirror that they belong to; 0 where none did since they became that mirror's.
ALTER TABLE owner ADD COLUMN daemon_epoch INTEGER NOT NULL DEFAULT 0;

-- Up to which change of the mirror's feed webhooks may have left, for each target. It stands here because a mirror that is put back from a copy
-- takes its own place back with it, and only what stands elsewhere shows that its receivers know more.
CREATE TABLE notified (
  target TEXT NOT NULL PRIMARY KEY,
  place TEXT NOT NULL
) WITHOUT ROWID;
