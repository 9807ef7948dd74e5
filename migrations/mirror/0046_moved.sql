-- Where the mirror was moved to (`vendor-mirror copy`): from then on nothing is written here.
CREATE TABLE _moved (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  place TEXT NOT NULL,
  moved_at TIMESTAMP NOT NULL
);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_moved', '', 'table', NULL, 'Internal: where the mirror was moved to; no row while it is here', NULL),
  ('_moved', 'id', 'table', 'INTEGER', 'Always 1', '1'),
  ('_moved', 'moved_at', 'table', 'TIMESTAMP', 'When it was moved, UTC', '2026-11-20 12:00:00.000'),
  ('_moved', 'place', 'table', 'TEXT', 'The PostgreSQL and the schema that it was moved to', 'postgres://mirror@db.example.com/mirror, schema vendor_mirror');
