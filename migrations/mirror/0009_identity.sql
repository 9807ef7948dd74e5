-- One row: which file this is, and whose vendors it mirrors.

CREATE TABLE mirror_identity (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  mirror_id TEXT NOT NULL, -- random: the file of secrets knows its mirror by it
  service TEXT, -- the service's address, or the name of a sandbox; null until one has answered
  service_since TIMESTAMP
);
INSERT INTO mirror_identity (id, mirror_id) VALUES (1, lower(hex(randomblob(16))));
