-- What is removed with age is found by its age.
CREATE INDEX findings_by_time ON findings (found_at);
CREATE INDEX runs_by_time ON runs (started_at);
CREATE INDEX vendor_versions_closed ON vendor_versions (valid_to) WHERE valid_to IS NOT NULL;
