-- What must never stand in the mirror. This file is mode 0600.

CREATE TABLE path_tokens (
  account_id TEXT NOT NULL PRIMARY KEY,
  path_token TEXT NOT NULL
);

-- Codes that the handshake brought: candidates until the service has said that one is right, then the keys of signatures.
CREATE TABLE verifiers (
  account_id TEXT NOT NULL,
  verifier TEXT NOT NULL,
  callbackid INTEGER, -- null where the code came without saying for which callback
  state TEXT NOT NULL CHECK (state IN ('candidate', 'proven', 'previous')),
  received_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP, -- of a previous one
  PRIMARY KEY (account_id, verifier)
);

-- What we registered or asked to resend, and no code was proven for since: only meanwhile is a code let in.
CREATE TABLE awaited_codes (
  account_id TEXT NOT NULL,
  event TEXT NOT NULL,
  callbackid INTEGER, -- null until the service has told it
  asked_at TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, event)
);

-- One row per registration that left, so that no fault makes us register without end.
CREATE TABLE registrations (
  account_id TEXT NOT NULL,
  event TEXT NOT NULL,
  registered_at TIMESTAMP NOT NULL
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
