-- The daemon that works with these secrets, by its number in the mirror that they belong to; 0 where none did since they became that mirror's.
ALTER TABLE owner ADD COLUMN daemon_epoch INTEGER NOT NULL DEFAULT 0;
