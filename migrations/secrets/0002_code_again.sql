-- A code that is known already came again while one was awaited: a resend may bring the same code as before. It is tried again, and
-- stays the key that it was until the service has said that it is right.
ALTER TABLE verifiers ADD COLUMN came_again BOOLEAN NOT NULL DEFAULT 0 CHECK (came_again IN (0, 1));
