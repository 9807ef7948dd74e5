-- Processes are known by a random name, drawn at each start: every container counts process numbers of its own.

ALTER TABLE runs ADD COLUMN process TEXT; -- null in runs that an older version began
ALTER TABLE runs DROP COLUMN pid;
