-- By which version of the program each migration was applied: an older one that refuses the file names the version to install.
ALTER TABLE migrations ADD COLUMN applied_by TEXT;
