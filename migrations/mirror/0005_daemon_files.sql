-- Which files the last daemon opened, so that a command beside it can tell whether it works with the same ones.
CREATE TABLE _daemon_files (
  file TEXT NOT NULL PRIMARY KEY CHECK (file IN ('mirror', 'secrets')),
  inode TEXT NOT NULL -- decimal: it may need more than 53 bits
) WITHOUT ROWID;
