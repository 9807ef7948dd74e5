-- What each daemon does: several may serve one mirror, and one of them works.

ALTER TABLE _processes ADD COLUMN listens smallint NOT NULL DEFAULT 0 CHECK (listens IN (0, 1));
ALTER TABLE _processes ADD COLUMN may_work smallint NOT NULL DEFAULT 0 CHECK (may_work IN (0, 1));

UPDATE data_dictionary SET meaning = '1 for the daemon that works' WHERE name = '_processes' AND column_name = 'is_daemon';
INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_processes', 'listens', 'table', 'SMALLINT', '1 for a daemon that takes deliveries', '1'),
  ('_processes', 'may_work', 'table', 'SMALLINT', '1 for a daemon that works, or would where no other does', '1');
