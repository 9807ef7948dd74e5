-- Vendors that were about to be created and of which nobody knows yet whether they were: the service is searched for them before
-- another of the name is created.
CREATE TABLE _creations (
  account_id TEXT NOT NULL,
  vendor_name TEXT NOT NULL, -- without spaces around it
  sent_at TIMESTAMP NOT NULL,
  known TEXT NOT NULL CHECK (json_valid(known)), -- numbers of the vendors of that name that the mirror held before
  PRIMARY KEY (account_id, vendor_name)
) WITHOUT ROWID;
