-- What was learned of the service's lists, whatever account it was learned from.
CREATE TABLE _service_knowledge (
  service TEXT NOT NULL PRIMARY KEY,
  first_page INTEGER CHECK (first_page IN (0, 1)),
  asked_at TIMESTAMP,
  largest_page INTEGER NOT NULL DEFAULT 0,
  counts_lists INTEGER NOT NULL DEFAULT 0 CHECK (counts_lists IN (0, 1))
) WITHOUT ROWID;

-- How many vendors that the service counts and does not show a person accepted, and since when; and whether its list shows more than it counts.
ALTER TABLE accounts ADD COLUMN accepted_unreadable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN accepted_at TIMESTAMP;
ALTER TABLE accounts ADD COLUMN miscounted INTEGER NOT NULL DEFAULT 0 CHECK (miscounted IN (0, 1));

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_service_knowledge', '', 'table', NULL, 'Internal: what was learned of the service from its lists', NULL),
  ('_service_knowledge', 'service', 'table', 'TEXT', 'Address of the service; empty where the mirror does not name one', 'https://api.example.com'),
  ('_service_knowledge', 'first_page', 'table', 'INTEGER', 'The number of the first page of a list, 0 or 1; null where it is not known', '1'),
  ('_service_knowledge', 'asked_at', 'table', 'TIMESTAMP', 'When it was last asked where pages count from', '2026-11-27 23:10:00.000'),
  ('_service_knowledge', 'largest_page', 'table', 'INTEGER', 'The most rows that a page ever had', '100'),
  ('_service_knowledge', 'counts_lists', 'table', 'INTEGER', '1: `total` was seen to count a list of several pages', '1'),
  ('accounts', 'accepted_unreadable', 'table', 'INTEGER', 'How many vendors that the service counts and does not show a person accepted', '0'),
  ('accounts', 'accepted_at', 'table', 'TIMESTAMP', 'When that was accepted', NULL),
  ('accounts', 'miscounted', 'table', 'INTEGER', '1: the last complete sweep showed more vendors than the service counts', '0');
