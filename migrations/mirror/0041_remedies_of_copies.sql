-- What to do about a copy for readers that could not be written, where more is known of the cause than its code.
ALTER TABLE _publications ADD COLUMN remedy TEXT;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_publications', 'remedy', 'table', 'TEXT', 'What to do about it, where more is known than the code says', NULL);
