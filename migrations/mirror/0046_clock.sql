-- By how many milliseconds the wall clock is ahead of the service's; null where it is not known to be wrong.
ALTER TABLE reading_counter ADD COLUMN clock_ahead_ms INTEGER;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('reading_counter', 'clock_ahead_ms', 'table', 'INTEGER', 'By how much the clock of the machine is ahead of the service''s, milliseconds; null where it is not known to be wrong', NULL);
