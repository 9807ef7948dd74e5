-- One row: the mirror that these secrets belong to, and where it was when it last used them.

CREATE TABLE owner (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  mirror_id TEXT NOT NULL,
  mirror_path TEXT NOT NULL
);
