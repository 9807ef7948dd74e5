-- Accounts whose requests fail at present, until the next one is answered: what a run that is under way waits for can be told nowhere else.
CREATE TABLE _request_failures (
  account_id TEXT NOT NULL PRIMARY KEY,
  requests INTEGER NOT NULL, -- that failed one after the other
  first_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  code TEXT NOT NULL, -- of the last, as in the catalogue of errors
  message TEXT NOT NULL
) WITHOUT ROWID;
