-- What pages of lists showed, by digests: what stands there again in the same bytes need not be compared record by record.
CREATE TABLE _page_digests (
  account_id TEXT NOT NULL,
  list INTEGER NOT NULL CHECK (list IN (-1, 1, 2)), -- the state that was asked for; -1 for the default list
  page INTEGER NOT NULL CHECK (page > 0),
  read_seq INTEGER NOT NULL, -- the reading after which all vendors of the page were stored as it showed them
  stretches TEXT NOT NULL CHECK (json_valid(stretches)), -- of each stretch of records: its length in bytes, its digest, the vendors
  PRIMARY KEY (account_id, list, page)
);

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example, replaced_by) VALUES
  ('_page_digests', '', 'table', NULL, 'The program''s own: digests of what pages of lists showed, by which they are known again', NULL, NULL),
  ('_page_digests', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk', NULL),
  ('_page_digests', 'list', 'table', 'INTEGER', 'The state that was asked for; -1 for the default list', '-1', NULL),
  ('_page_digests', 'page', 'table', 'INTEGER', 'Number of the page', '3', NULL),
  ('_page_digests', 'read_seq', 'table', 'INTEGER', 'Number of the reading after which all of its vendors were stored as it showed them', '1204', NULL),
  ('_page_digests', 'stretches', 'table', 'TEXT', 'Of each stretch of neighbouring records: its length in bytes, its digest, its vendors', '[[6540,"pmWk…",[1006,1011]]]', NULL);
