-- Why the service would not register a callback, for as long as it does not; one row per event.
CREATE TABLE _registration_refusals (
  account_id TEXT NOT NULL,
  event TEXT NOT NULL,
  refused_at TIMESTAMP NOT NULL, -- first so
  code TEXT NOT NULL, -- of the catalogue of errors
  message TEXT NOT NULL,
  PRIMARY KEY (account_id, event)
);
