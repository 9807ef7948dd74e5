-- Vendors that a person had the mirror forget: no reading brings them back. Nothing of them stands here but their number.
CREATE TABLE _forgotten_vendors (
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  forgotten_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, vendorid)
) WITHOUT ROWID;

-- By these bytes other programs know what the file is: `VMIR`. `user_version` is the number of the last migration; the program sets it.
PRAGMA application_id = 1447905618;

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('_forgotten_vendors', '', 'table', NULL, 'The program''s own: vendors that the mirror was told to forget, and holds no more', NULL, NULL),
  ('_forgotten_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk', NULL),
  ('_forgotten_vendors', 'vendorid', 'table', 'INTEGER', 'Number of the vendor', '1006', NULL),
  ('_forgotten_vendors', 'forgotten_at', 'table', 'TIMESTAMP', 'When it was forgotten, UTC', '2026-11-20 12:00:00.000', NULL);
