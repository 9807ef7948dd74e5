-- Where it was to lead: what was registered at another address says nothing against this one. Null for those of before.
ALTER TABLE registrations ADD COLUMN uri TEXT;

-- Orders in which the service was found to sign the keys of its deliveries, as JSON lists of their names. Finding one takes a search, of which
-- an account has one a minute; so a new process does not search again for what was found. One that was found later has a greater id.
CREATE TABLE key_orders (
  id INTEGER NOT NULL PRIMARY KEY,
  names TEXT NOT NULL UNIQUE
);
