-- What must never stand in the mirror. This file is mode 0600.

CREATE TABLE path_tokens (
  account_id TEXT NOT NULL PRIMARY KEY,
  path_token TEXT NOT NULL
);

CREATE TABLE verifiers (
  account_id TEXT NOT NULL,
  callbackid INTEGER NOT NULL,
  verifier TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('candidate', 'proven', 'previous')),
  received_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP,
  PRIMARY KEY (account_id, callbackid, verifier)
);

-- One pair per token endpoint and client. Whoever holds the lease may use the refresh token, which works once.
CREATE TABLE oauth_tokens (
  client TEXT NOT NULL PRIMARY KEY,
  access_token TEXT,
  refresh_token TEXT,
  expires_at TIMESTAMP,
  lease_owner TEXT,
  lease_until_ms INTEGER
);
