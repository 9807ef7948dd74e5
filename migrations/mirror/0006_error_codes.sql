-- Why a run was not complete, by the code of the catalogue: what to do follows from it, not from the sentence beside it.
ALTER TABLE runs ADD COLUMN error_code TEXT; -- null where nothing went wrong, and where an older version wrote the row
