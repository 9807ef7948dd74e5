-- By which version of the program each migration was applied: an older one that refuses the file names the version to install.
ALTER TABLE migrations ADD COLUMN applied_by TEXT;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('migrations', 'applied_by', 'table', 'TEXT', 'Version of the program that applied it; null for those before 0.2.0', '0.2.0', NULL);
