-- Edits of vendors that were about to be sent, or were, and of which nobody knows yet whether they were carried out: the vendor is read
-- before another edit of it is sent.
CREATE TABLE _edits (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  vendorid INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)), -- names of those that were to be set, never what to
  sent_at TIMESTAMP NOT NULL,
  sent_by TEXT, -- a person's name on the machine, where it is known
  process TEXT NOT NULL, -- which sent it
  version INTEGER NOT NULL, -- the latest version of the vendor that the mirror held then, as its `seq`; 0 where it held none
  generation INTEGER -- of the mark that was made for it; null where the vendor was marked already
);
CREATE INDEX _edits_of_vendor ON _edits (account_id, vendorid);

ALTER TABLE _creations ADD COLUMN sent_by TEXT;
