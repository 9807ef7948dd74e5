-- What the questions of the documents ask with, in SQLite's words: moments in UTC that are changed in steps, parts of them, and lists of numbers.

-- Of a day that a month lacks its last day stays, where SQLite counts on into the next month.
CREATE FUNCTION _changed_moment(moment timestamptz, changes text[]) RETURNS timestamp LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  result timestamp := moment AT TIME ZONE 'UTC';
  change text;
BEGIN
  FOREACH change IN ARRAY changes LOOP
    IF change ~ '^start of (day|month|year)$' THEN
      result := date_trunc(substr(change, 10), result);
    ELSIF change ~ '^[+-]?\d+(\.\d+)? (second|minute|hour|day|month|year)s?$' THEN
      result := result + change::interval;
    ELSE
      RAISE EXCEPTION 'A moment cannot be changed by %', change USING ERRCODE = 'feature_not_supported',
        HINT = 'Write start of month, or -7 days; seconds, minutes, hours, days, months and years are known.';
    END IF;
  END LOOP;
  RETURN result;
END $$;

CREATE FUNCTION datetime(moment timestamptz, VARIADIC changes text[]) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN date_trunc('second', _changed_moment(moment, changes)) AT TIME ZONE 'UTC';

-- Days are text, as in the views.
CREATE FUNCTION date(moment timestamptz, VARIADIC changes text[]) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(_changed_moment(moment, changes), 'YYYY-MM-DD') COLLATE "C";

CREATE FUNCTION strftime(format text, moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  at timestamp := moment AT TIME ZONE 'UTC';
  result text := format;
  unknown text := substring(format FROM '%[^YmdHMSfs]');
BEGIN
  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'strftime does not know %', unknown USING ERRCODE = 'feature_not_supported',
      HINT = 'Write %Y, %m, %d, %H, %M, %S, %f or %s; or use to_char.';
  END IF;
  result := replace(result, '%Y', to_char(at, 'YYYY'));
  result := replace(result, '%m', to_char(at, 'MM'));
  result := replace(result, '%d', to_char(at, 'DD'));
  result := replace(result, '%H', to_char(at, 'HH24'));
  result := replace(result, '%M', to_char(at, 'MI'));
  result := replace(result, '%S', to_char(at, 'SS'));
  result := replace(result, '%f', to_char(at, 'SS.MS'));
  RETURN replace(result, '%s', floor(extract(epoch FROM moment))::bigint::text) COLLATE "C";
END $$;

CREATE FUNCTION _concat(text, text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN $2 IS NULL THEN $1 WHEN $1 IS NULL THEN $2 ELSE $1 || $3 || $2 END;
CREATE FUNCTION _concat(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN _concat($1, $2, ',');
CREATE FUNCTION _concat(text, bigint, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN _concat($1, $2::text, $3);
CREATE FUNCTION _concat(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN _concat($1, $2::text, ',');
CREATE AGGREGATE group_concat(text, text) (SFUNC = _concat, STYPE = text);
CREATE AGGREGATE group_concat(text) (SFUNC = _concat, STYPE = text);
CREATE AGGREGATE group_concat(bigint, text) (SFUNC = _concat, STYPE = text);
CREATE AGGREGATE group_concat(bigint) (SFUNC = _concat, STYPE = text);

-- For a role that is made later, run the last block of 0001_mirror.sql.
DO $do$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'vendor_mirror_reader') THEN
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO vendor_mirror_reader', current_schema());
  END IF;
END $do$;
