-- With the last numbers, requests may be lost that still count for the rate: nothing is sent for one period after the server was started
-- again, or another took its place. When that was, in mirror time, says whoever takes the next number; until then it is -1.

CREATE OR REPLACE FUNCTION _note_server() RETURNS text LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  now_is text := pg_postmaster_start_time()::text;
BEGIN
  IF (SELECT history FROM _server) = now_is THEN RETURN now_is; END IF;
  UPDATE _reading_counter
    SET read_seq = read_seq + 1000000, generation = generation + 1000000, run_id = run_id + 1000, offset_ms = -1
    WHERE (SELECT history FROM _server) <> '';
  UPDATE _server SET history = now_is;
  RETURN now_is;
END $$;
