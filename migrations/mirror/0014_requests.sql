-- One row for each request that still counts for its rate limit, in whichever process it was sent.
CREATE TABLE _requests (
  account_id TEXT NOT NULL,
  family TEXT NOT NULL CHECK (family IN ('accounting', 'events')),
  read_seq INTEGER NOT NULL,
  counts_until_ms INTEGER NOT NULL, -- mirror time
  process TEXT, -- which sent it and waits for its answer; null once that has come
  PRIMARY KEY (account_id, family, read_seq)
) WITHOUT ROWID;
