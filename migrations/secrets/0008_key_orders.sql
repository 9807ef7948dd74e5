-- Where it was to lead: what was registered at another address says nothing against this one. Null for those of before.
ALTER TABLE registrations ADD COLUMN uri TEXT;

-- Orders in which the service was found to sign the keys of its deliveries, as JSON lists of their names. Finding one takes a search, of which
-- an account has one a minute; so a new process does not search again for what was found. One that was found later has a greater id.
CREATE TABLE key_orders (
  id INTEGER NOT NULL PRIMARY KEY,
  names TEXT NOT NULL UNIQUE
);

-- The token before a rotation that is under way: its callback exists until the one of the new address is verified. Null where none is.
ALTER TABLE path_tokens ADD COLUMN previous_token TEXT;
