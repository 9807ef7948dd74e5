-- What the clock showed when a reading took its number last: where it shows less than that and the time that passed, it was set back.
ALTER TABLE reading_counter ADD COLUMN wall_ms INTEGER;

-- When the clock was set back: moments that were written down before are later by today's clock than they were.
CREATE TABLE _clock_set_back (
  read_seq INTEGER NOT NULL PRIMARY KEY, -- the last number that was taken when that was noticed
  noticed_at TIMESTAMP NOT NULL
);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('reading_counter', 'wall_ms', 'table', 'INTEGER', 'What the clock showed when it was last written, Unix milliseconds', NULL, NULL),
  ('_clock_set_back', '', 'table', NULL, 'The program''s own: when the clock was set back', NULL, NULL),
  ('_clock_set_back', 'read_seq', 'table', 'INTEGER', 'The last number that a reading had taken when that was noticed', '1204', NULL),
  ('_clock_set_back', 'noticed_at', 'table', 'TIMESTAMP', 'When that was noticed, by the clock as it is since', '2026-11-20 11:00:00.000', NULL);
