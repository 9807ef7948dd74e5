-- The processes that use the mirror, and what is known of the server: both are files, or nothing, where the mirror is one.

CREATE TABLE _processes (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  host text NOT NULL,
  program text NOT NULL,
  is_daemon smallint NOT NULL DEFAULT 0 CHECK (is_daemon IN (0, 1)),
  started_at timestamptz(3) NOT NULL,
  renewed_at timestamptz(3) NOT NULL
);

CREATE TABLE _server (
  id smallint NOT NULL PRIMARY KEY CHECK (id = 1),
  history text NOT NULL
);
INSERT INTO _server (id, history) VALUES (1, '');

-- After the server was started again, or another took its place, numbers that were given out may be lost: those that follow are far beyond
-- them. Returns which start it is.
CREATE FUNCTION _note_server() RETURNS text LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  now_is text := pg_postmaster_start_time()::text;
BEGIN
  IF (SELECT history FROM _server) = now_is THEN RETURN now_is; END IF;
  UPDATE _reading_counter SET read_seq = read_seq + 1000000, generation = generation + 1000000, run_id = run_id + 1000
    WHERE (SELECT history FROM _server) <> '';
  UPDATE _server SET history = now_is;
  RETURN now_is;
END $$;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_processes', '', 'table', NULL, 'Internal: the processes that use the mirror', NULL),
  ('_processes', 'host', 'table', 'TEXT', 'The machine, by its name', 'books-1'),
  ('_processes', 'is_daemon', 'table', 'SMALLINT', '1 for the daemon', '1'),
  ('_processes', 'name', 'table', 'TEXT', 'Random, drawn at each start', NULL),
  ('_processes', 'program', 'table', 'TEXT', 'Its version of vendor-mirror', '0.2.0'),
  ('_processes', 'renewed_at', 'table', 'TIMESTAMPTZ', 'When it last said that it is there, by the clock of the server', NULL),
  ('_processes', 'started_at', 'table', 'TIMESTAMPTZ', 'When it began, by the clock of the server', NULL),
  ('_server', '', 'table', NULL, 'Internal: which start of the server gave out the numbers; one row', NULL),
  ('_server', 'history', 'table', 'TEXT', 'When the server was started', NULL),
  ('_server', 'id', 'table', 'SMALLINT', 'Always 1', '1');
