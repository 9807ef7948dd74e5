-- A field that lists show otherwise than reads by id do (blank, masked, cut) is one that lists leave out.
ALTER TABLE _detail_fields ADD COLUMN is_shown INTEGER NOT NULL DEFAULT 0 CHECK (is_shown IN (0, 1));

-- Some of them were taken for fields that differ in every answer. Those that do are noticed again.
DELETE FROM _unsteady_fields;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_detail_fields', 'is_shown', 'table', 'INTEGER', '1 if lists show the field, but otherwise than reads by id do', '0');
