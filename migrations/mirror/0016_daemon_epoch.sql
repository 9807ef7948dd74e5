-- The daemon that works on this file: each takes the next number, and one that finds another number than its own writes nothing more.
ALTER TABLE mirror_identity ADD COLUMN daemon_epoch INTEGER NOT NULL DEFAULT 0;
