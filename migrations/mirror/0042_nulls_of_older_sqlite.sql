-- Before SQLite 3.42, `json_valid(NULL)` is 0 and not null: there, each row without unreadable fields broke its table's check, so that
-- `integrity_check` complained of it, and a dump could not be restored. No row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (json_valid(unreadable_fields))',
  'CHECK (unreadable_fields IS NULL OR json_valid(unreadable_fields))')
WHERE type = 'table' AND name = 'vendors';
PRAGMA writable_schema = RESET;

-- Other connections read the schema again when one of its objects was made.
CREATE VIEW _schema_changed AS SELECT 1;
DROP VIEW _schema_changed;
