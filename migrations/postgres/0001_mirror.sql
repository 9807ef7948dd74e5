-- The mirror on PostgreSQL 15 or later: the tables, columns, views and rows of data_dictionary that migrations/mirror/ makes in SQLite.
--
-- Times of ours are timestamptz(3), times of the service the text that it sent, and JSON is text: jsonb refuses the character NUL and half
-- of a surrogate pair, and keeps one of two equal keys. Text has the collation "C", the order of SQLite. Views give days and times as UTC,
-- whatever the time zone of a session. Names in the bodies of functions are resolved now, or in this schema: a reader's search_path may be any.
--
-- A check of JSON refuses other text by the error of the conversion (22P02): a function that catches it took 8 µs a row, a third of an INSERT.

-- What SQLite has and PostgreSQL lacks, for statements that are written once.

CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN strpos($1, $2);

-- Null where one is, as in SQLite.
CREATE FUNCTION max(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN $1 > $2 THEN $1 ELSE $2 END $$;
CREATE FUNCTION min(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN $1 < $2 THEN $1 ELSE $2 END $$;

CREATE FUNCTION round(double precision, integer) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN round($1::numeric, $2)::double precision;

CREATE FUNCTION hex(bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN upper(encode($1, 'hex'));
CREATE FUNCTION hex(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN upper(encode(convert_to($1, 'UTF8'), 'hex'));

-- Up to 32 random bytes. Six bits of a uuid are constant, of its digest none.
CREATE FUNCTION randomblob(integer) RETURNS bytea LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FROM 1 FOR $1);

CREATE FUNCTION typeof(anyelement) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT CASE
  WHEN $1 IS NULL THEN 'null'
  WHEN pg_typeof($1) IN ('bigint'::regtype, 'integer'::regtype, 'smallint'::regtype, 'boolean'::regtype) THEN 'integer'
  WHEN pg_typeof($1) IN ('double precision'::regtype, 'real'::regtype, 'numeric'::regtype) THEN 'real'
  WHEN pg_typeof($1) = 'bytea'::regtype THEN 'blob'
  ELSE 'text'
END $$;

-- A part of a moment as SQLite writes it, UTC.
CREATE FUNCTION substr(timestamptz, integer, integer) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN substr(to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'), $2, $3);

-- In milliseconds first, as SQLite keeps it: the last digits are those of SQLite.
CREATE FUNCTION julianday(timestamptz) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (round(extract(epoch FROM $1) * 1000) + 210866760000000)::double precision / 86400000.0::double precision;

CREATE FUNCTION _no_such_format(text) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE EXCEPTION 'strftime knows the format %%Y-%%m-%%d %%H:%%M:%%f alone, not %', $1 USING ERRCODE = 'feature_not_supported';
END $$;

-- A moment later by so many seconds: '%Y-%m-%d %H:%M:%f' is the text of a moment, so the result is one.
CREATE FUNCTION strftime(text, timestamptz, text) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN $1 = '%Y-%m-%d %H:%M:%f' THEN $2 + CAST($3 AS interval) ELSE _no_such_format($1) END;

CREATE FUNCTION _count_true(bigint, boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2::integer END;
CREATE AGGREGATE sum(boolean) (SFUNC = _count_true, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
CREATE FUNCTION _total_true(double precision, boolean) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN $2 THEN $1 + 1 ELSE $1 END;
CREATE AGGREGATE total(boolean) (SFUNC = _total_true, STYPE = double precision, INITCOND = '0', COMBINEFUNC = float8pl, PARALLEL = SAFE);
CREATE FUNCTION _total(double precision, double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1 + coalesce($2, 0);
CREATE AGGREGATE total(double precision) (
  SFUNC = _total, STYPE = double precision, INITCOND = '0', COMBINEFUNC = float8pl, PARALLEL = SAFE);

-- Text without case and accents, for comparisons, as `foldedText` of the program makes it: without the characters below, which are \p{Mark}.
-- Lower case is that of ICU where the server has it, else that of the server, else that of the database.
DO $do$
DECLARE
  lower_case text := coalesce(
    (SELECT quote_ident(collname) FROM pg_collation WHERE collname IN ('und-x-icu', 'pg_c_utf8')
      AND collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database())) ORDER BY collname DESC LIMIT 1),
    '"default"');
  marks text :=
    '['
    '\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670'
    '\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819'
    '\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0897-\u089f\u08ca-\u08e1\u08e3-\u0903\u093a-\u093c\u093e-\u094f'
    '\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc\u09be-\u09c4\u09c7-\u09c8\u09cb-\u09cd\u09d7\u09e2-\u09e3\u09fe'
    '\u0a01-\u0a03\u0a3c\u0a3e-\u0a42\u0a47-\u0a48\u0a4b-\u0a4d\u0a51\u0a70-\u0a71\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0ac5'
    '\u0ac7-\u0ac9\u0acb-\u0acd\u0ae2-\u0ae3\u0afa-\u0aff\u0b01-\u0b03\u0b3c\u0b3e-\u0b44\u0b47-\u0b48\u0b4b-\u0b4d'
    '\u0b55-\u0b57\u0b62-\u0b63\u0b82\u0bbe-\u0bc2\u0bc6-\u0bc8\u0bca-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c44'
    '\u0c46-\u0c48\u0c4a-\u0c4d\u0c55-\u0c56\u0c62-\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cc4\u0cc6-\u0cc8\u0cca-\u0ccd'
    '\u0cd5-\u0cd6\u0ce2-\u0ce3\u0cf3\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d44\u0d46-\u0d48\u0d4a-\u0d4d\u0d57\u0d62-\u0d63'
    '\u0d81-\u0d83\u0dca\u0dcf-\u0dd4\u0dd6\u0dd8-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc'
    '\u0ec8-\u0ece\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f3f\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0f97\u0f99-\u0fbc\u0fc6'
    '\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d'
    '\u135d-\u135f\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17b4-\u17d3\u17dd\u180b-\u180d\u180f\u1885-\u1886'
    '\u18a9\u1920-\u192b\u1930-\u193b\u1a17-\u1a1b\u1a55-\u1a5e\u1a60-\u1a7c\u1a7f\u1ab0-\u1add\u1ae0-\u1aeb\u1b00-\u1b04'
    '\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4'
    '\u1cf7-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f-\ua672'
    '\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua802\ua806\ua80b\ua823-\ua827\ua82c\ua880-\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1'
    '\ua8ff\ua926-\ua92d\ua947-\ua953\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c-\uaa4d\uaa7b-\uaa7d\uaab0'
    '\uaab2-\uaab4\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f'
    '\ufe20-\ufe2f\U000101fd\U000102e0\U00010376-\U0001037a\U00010a01-\U00010a03\U00010a05-\U00010a06\U00010a0c-\U00010a0f'
    '\U00010a38-\U00010a3a\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d27\U00010d69-\U00010d6d\U00010eab-\U00010eac'
    '\U00010efa-\U00010eff\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011002\U00011038-\U00011046\U00011070'
    '\U00011073-\U00011074\U0001107f-\U00011082\U000110b0-\U000110ba\U000110c2\U00011100-\U00011102\U00011127-\U00011134'
    '\U00011145-\U00011146\U00011173\U00011180-\U00011182\U000111b3-\U000111c0\U000111c9-\U000111cc\U000111ce-\U000111cf'
    '\U0001122c-\U00011237\U0001123e\U00011241\U000112df-\U000112ea\U00011300-\U00011303\U0001133b-\U0001133c'
    '\U0001133e-\U00011344\U00011347-\U00011348\U0001134b-\U0001134d\U00011357\U00011362-\U00011363\U00011366-\U0001136c'
    '\U00011370-\U00011374\U000113b8-\U000113c0\U000113c2\U000113c5\U000113c7-\U000113ca\U000113cc-\U000113d0\U000113d2'
    '\U000113e1-\U000113e2\U00011435-\U00011446\U0001145e\U000114b0-\U000114c3\U000115af-\U000115b5\U000115b8-\U000115c0'
    '\U000115dc-\U000115dd\U00011630-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a'
    '\U00011930-\U00011935\U00011937-\U00011938\U0001193b-\U0001193e\U00011940\U00011942-\U00011943\U000119d1-\U000119d7'
    '\U000119da-\U000119e0\U000119e4\U00011a01-\U00011a0a\U00011a33-\U00011a39\U00011a3b-\U00011a3e\U00011a47'
    '\U00011a51-\U00011a5b\U00011a8a-\U00011a99\U00011b60-\U00011b67\U00011c2f-\U00011c36\U00011c38-\U00011c3f'
    '\U00011c92-\U00011ca7\U00011ca9-\U00011cb6\U00011d31-\U00011d36\U00011d3a\U00011d3c-\U00011d3d\U00011d3f-\U00011d45'
    '\U00011d47\U00011d8a-\U00011d8e\U00011d90-\U00011d91\U00011d93-\U00011d97\U00011ef3-\U00011ef6\U00011f00-\U00011f01'
    '\U00011f03\U00011f34-\U00011f3a\U00011f3e-\U00011f42\U00011f5a\U00013440\U00013447-\U00013455\U0001611e-\U0001612f'
    '\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016f4f\U00016f51-\U00016f87\U00016f8f-\U00016f92\U00016fe4'
    '\U00016ff0-\U00016ff1\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf2d\U0001cf30-\U0001cf46\U0001d165-\U0001d169'
    '\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244'
    '\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001da9f\U0001daa1-\U0001daaf'
    '\U0001e000-\U0001e006\U0001e008-\U0001e018\U0001e01b-\U0001e021\U0001e023-\U0001e024\U0001e026-\U0001e02a\U0001e08f'
    '\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef\U0001e5ee-\U0001e5ef\U0001e6e3\U0001e6e6'
    '\U0001e6ee-\U0001e6ef\U0001e6f5\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a\U000e0100-\U000e01ef'
    ']';
BEGIN
  EXECUTE format($function$
    CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE
      WHEN octet_length($1) = length($1) THEN lower($1 COLLATE "C") COLLATE "C"
      ELSE lower(regexp_replace(normalize($1, NFKD), %L, '', 'g') COLLATE pg_catalog.%s) COLLATE "C"
    END
  $function$, marks, lower_case);
END $do$;

-- JSON is text. Where two keys of an object are equal the first counts, as in SQLite.

-- A text as JSON. PostgreSQL decodes neither the character NUL nor half of a surrogate pair, not even where nobody asks for it: their escapes
-- are marked by the noncharacter U+FFFE, which _json_text takes away again. An escape begins after an even number of backslashes; pairs are
-- hidden while halves are marked.
CREATE FUNCTION _json_of(text) RETURNS json LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN strpos($1, '\u') = 0 OR $1 !~ '\\u(0000|[dD][89a-fA-F])' THEN $1::json
  ELSE regexp_replace(regexp_replace(regexp_replace($1,
    '(?<!\\)((?:\\\\)*)\\u(d[89ab]..)\\u(d[c-f]..)', '\1\\P\2\\P\3', 'gi'),
    '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f]..)', '\1\\ufffe\2', 'gi'),
    '(?<!\\)((?:\\\\)*)\\P(....)\\P', '\1\\u\2\\u', 'g')::json
END;

-- A value as text: 1 and 0 for true and false, a number as it is written, an object or a list without spaces. In a string, what no text of
-- PostgreSQL can hold is U+FFFD.
CREATE FUNCTION _json_text(json) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE json_typeof($1)
  WHEN 'string' THEN CASE WHEN strpos($1 #>> '{}', E'\uFFFE') = 0 THEN $1 #>> '{}'
    ELSE regexp_replace($1 #>> '{}', E'\uFFFE[0-9a-fA-F]{4}', E'\uFFFD', 'g') END
  WHEN 'boolean' THEN CASE $1 #>> '{}' WHEN 'true' THEN '1' ELSE '0' END
  WHEN 'number' THEN CASE $1 #>> '{}' WHEN '-0' THEN '0' ELSE $1 #>> '{}' END
  WHEN 'null' THEN NULL
  ELSE regexp_replace(regexp_replace($1::text, '("(?:[^"\\]|\\.)*")|[ \t\n\r]+', '\1', 'g'),
    '(?<!\\)((?:\\\\)*)\\ufffe(0000|[dD][89a-fA-F]..)', '\1\\u\2', 'g')
END;

-- The parts of an object or a list, in their order; of another value itself.
CREATE FUNCTION _json_parts(source json) RETURNS TABLE (place bigint, key text, value json)
LANGUAGE sql IMMUTABLE ROWS 10 PARALLEL SAFE
BEGIN ATOMIC
  SELECT m.place, m.key, m.value
  FROM pg_catalog.json_each(CASE json_typeof(source) WHEN 'object' THEN source END) WITH ORDINALITY AS m (key, value, place)
  UNION ALL
  SELECT m.place, (m.place - 1)::text, m.value
  FROM json_array_elements(CASE json_typeof(source) WHEN 'array' THEN source END) WITH ORDINALITY AS m (value, place)
  UNION ALL
  SELECT 1, NULL, source WHERE json_typeof(source) NOT IN ('object', 'array');
END;

-- The value of a key of an object.
CREATE FUNCTION _json_member(json, text) RETURNS json LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
  SELECT m.value
  FROM pg_catalog.json_each(CASE json_typeof($1) WHEN 'object' THEN $1 END) WITH ORDINALITY AS m (key, value, place)
  WHERE m.key = $2 ORDER BY m.place LIMIT 1);

-- The parts of JSON; values are text.
CREATE FUNCTION json_each(source text) RETURNS TABLE (key text, value text, type text)
LANGUAGE sql IMMUTABLE ROWS 100 PARALLEL SAFE
BEGIN ATOMIC
  SELECT p.key, _json_text(p.value), CASE json_typeof(p.value)
      WHEN 'string' THEN 'text'
      WHEN 'boolean' THEN p.value #>> '{}'
      WHEN 'number' THEN CASE WHEN p.value #>> '{}' ~ '[.eE]' THEN 'real' ELSE 'integer' END
      ELSE json_typeof(p.value)
    END
  FROM _json_parts(_json_of(source)) AS p ORDER BY p.place;
END;

-- The value at a path as text, such as '$.a."b c"[0]'.
CREATE FUNCTION json_extract(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE
    step AS (
      SELECT place, parts[1] AS quoted, parts[2] AS plain, parts[3] AS index
      FROM regexp_matches(substr($2, 2), '\."([^"]*)"|\.([^."\[]+)|\[(\d+)\]', 'g') WITH ORDINALITY AS m (parts, place)),
    walked (place, value) AS (
      SELECT 0::bigint, _json_of($1)
      UNION ALL
      SELECT s.place, CASE
          WHEN s.index IS NULL THEN _json_member(w.value, coalesce(s.quoted, s.plain))
          WHEN json_typeof(w.value) = 'array' THEN w.value -> s.index::integer
        END
      FROM walked w JOIN step s ON s.place = w.place + 1)
  SELECT _json_text(value) FROM walked ORDER BY place DESC LIMIT 1;
END;

-- A text as a string of JSON.
CREATE FUNCTION json_quote(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce(to_json($1)::text, 'null');

CREATE FUNCTION _json_array(anycompatiblearray) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '[' || coalesce(string_agg(coalesce(to_json(value)::text, 'null'), ',' ORDER BY place), '') || ']'
  FROM unnest($1) WITH ORDINALITY AS m (value, place) $$;
CREATE AGGREGATE json_group_array(anycompatible) (
  SFUNC = array_append, STYPE = anycompatiblearray, INITCOND = '{}', FINALFUNC = _json_array);

-- The amounts anywhere within a value, each with its currency: "10.00 USD; 5.00 EUR".
CREATE FUNCTION _amounts_anywhere(json) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE part (place, value) AS (
    SELECT ARRAY[]::bigint[], $1
    UNION ALL
    SELECT p.place || c.place, c.value
    FROM part p, _json_parts(p.value) c WHERE json_typeof(p.value) IN ('object', 'array'))
  SELECT string_agg(trim(BOTH '"' FROM _json_text(m.value)) || ' ' || trim(BOTH '"' FROM _json_text(c.value)), '; '
    ORDER BY p.place, m.place, c.place)
  FROM part p, _json_parts(p.value) m, _json_parts(p.value) c
  WHERE json_typeof(p.value) = 'object' AND m.key = 'amount' AND c.key = 'code'
    AND json_typeof(m.value) NOT IN ('object', 'array') AND json_typeof(c.value) NOT IN ('object', 'array');
END;

-- The same, five times as fast where all are as the service writes them: [{"amount":{"amount":"10.00","code":"USD"}}].
CREATE FUNCTION _amounts(balances json) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  source text := balances::text;
  are_usual boolean;
  told text;
BEGIN
  IF json_typeof(balances) = 'array' AND strpos(source, '\') = 0 THEN
    SELECT bool_and(coalesce(json_typeof(m.amount) = 'string' AND json_typeof(m.code) = 'string', false))
        AND length(replace(source, '"amount"', '"amount')) = length(source) - 2 * count(*)
        AND length(replace(source, '"code"', '"code')) = length(source) - count(*),
      string_agg(trim(BOTH '"' FROM m.amount #>> '{}') || ' ' || trim(BOTH '"' FROM m.code #>> '{}'), '; ' ORDER BY m.place)
    INTO are_usual, told
    FROM (SELECT value #> '{amount,amount}' AS amount, value #> '{amount,code}' AS code, place
      FROM json_array_elements(balances) WITH ORDINALITY AS e (value, place)) AS m;
    IF are_usual THEN
      RETURN told;
    END IF;
  END IF;
  RETURN _amounts_anywhere(balances);
END $$;

-- What vendor_changes shows of a field of a record. A key that is written once need not be looked for among all.
CREATE FUNCTION _field_text(record text, field text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  source text := record || '';
  value json;
BEGIN
  IF strpos(field, '"') > 0 THEN
    RETURN NULL;
  ELSIF strpos(source, '\u') = 0 AND split_part(source, '"' || field || '"', 3) = '' THEN
    value := source::json -> field;
  ELSE
    value := _json_member(_json_of(source), field);
  END IF;
  IF value IS NULL THEN
    RETURN NULL;
  ELSIF field IN ('outstanding_balance', 'overdue_balance') THEN
    RETURN _amounts(value);
  ELSIF field = 'is_1099' THEN
    RETURN CASE _json_text(value) WHEN '1' THEN 'true' WHEN '0' THEN 'false' ELSE _json_text(value) END;
  END IF;
  RETURN _json_text(value);
END $$;

-- Tables.

CREATE TABLE _accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  added_at timestamptz(3) NOT NULL,
  not_served_since timestamptz(3),
  settings_file text COLLATE "C",
  connection text COLLATE "C" NOT NULL DEFAULT 'default',
  paused_since timestamptz(3),
  accepted_unreadable bigint NOT NULL DEFAULT 0,
  accepted_at timestamptz(3),
  miscounted smallint NOT NULL DEFAULT 0 CHECK (miscounted IN (0, 1)),
  filters_show smallint NOT NULL DEFAULT 0 CHECK (filters_show IN (0, 1)),
  shortfall bigint,
  withheld_absences bigint NOT NULL DEFAULT 0,
  unproven_absences bigint NOT NULL DEFAULT 0,
  probed_vendors bigint NOT NULL DEFAULT 0,
  reads_details smallint NOT NULL DEFAULT 0 CHECK (reads_details IN (0, 1)),
  callback_proven_at timestamptz(3)
);

CREATE TABLE _added_accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  connection text COLLATE "C" NOT NULL, -- of the settings: `default` is service.auth
  added_at timestamptz(3) NOT NULL
);

CREATE TABLE _announced_since (
  account_id text COLLATE "C" PRIMARY KEY,
  vendors bigint NOT NULL
);

CREATE TABLE _balance_spans (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  valid_from timestamptz(3) NOT NULL,
  valid_to timestamptz(3),
  outstanding text COLLATE "C",
  outstanding_minor bigint,
  overdue text COLLATE "C",
  overdue_minor bigint,
  outstanding_amount double precision,
  overdue_amount double precision,
  outstanding_units bigint,
  overdue_units bigint,
  minor_digits bigint,
  state text COLLATE "C"
);

CREATE TABLE _clock_set_back (
  read_seq bigint PRIMARY KEY, -- the last number that was taken when that was noticed
  noticed_at timestamptz(3) NOT NULL
);

CREATE TABLE _connection_failures (
  connection text COLLATE "C" PRIMARY KEY,
  requests bigint NOT NULL, -- that failed one after the other
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  code text COLLATE "C" NOT NULL, -- of the last, as in the catalogue of errors
  message text COLLATE "C" NOT NULL,
  remedy text COLLATE "C"
);

CREATE TABLE _creations (
  account_id text COLLATE "C" NOT NULL,
  vendor_name text COLLATE "C" NOT NULL, -- without spaces around it
  sent_at timestamptz(3) NOT NULL,
  known text COLLATE "C" NOT NULL CHECK (known::json IS NOT NULL), -- numbers of the vendors of that name that the mirror held before
  sent_by text COLLATE "C",
  version bigint,
  PRIMARY KEY (account_id, vendor_name)
);

CREATE TABLE _daemon_files (
  file text COLLATE "C" PRIMARY KEY CHECK (file IN ('mirror', 'secrets')),
  inode text COLLATE "C" NOT NULL -- decimal: it may need more than 53 bits
);

CREATE TABLE _detail_fields (
  account_id text COLLATE "C" NOT NULL,
  field text COLLATE "C" NOT NULL,
  vendorids text COLLATE "C" NOT NULL CHECK (vendorids::json IS NOT NULL),
  learned_at timestamptz(3), -- null while too few vendors showed it
  is_shown smallint NOT NULL DEFAULT 0 CHECK (is_shown IN (0, 1)),
  PRIMARY KEY (account_id, field)
);

CREATE TABLE _edits (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  fields text COLLATE "C" NOT NULL CHECK (fields::json IS NOT NULL), -- names of those that were to be set, never what to
  sent_at timestamptz(3) NOT NULL,
  sent_by text COLLATE "C", -- a person's name on the machine, where it is known
  process text COLLATE "C" NOT NULL, -- which sent it
  version bigint NOT NULL, -- the latest version of the vendor that the mirror held then, as its `seq`; 0 where it held none
  generation bigint -- of the mark that was made for it; null where the vendor was marked already
);

CREATE TABLE _feed_epochs (
  position bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  epoch text COLLATE "C" NOT NULL UNIQUE, -- random
  after_seq bigint NOT NULL -- the changes after this one belong to it, up to the next epoch
);

CREATE TABLE _feed_removed (
  id smallint PRIMARY KEY CHECK (id = 1),
  seq bigint NOT NULL
);

CREATE TABLE _forgotten_vendors (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  forgotten_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, vendorid)
);

CREATE TABLE _known_fields (
  account_id text COLLATE "C" NOT NULL,
  field text COLLATE "C" NOT NULL,
  first_seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, field)
);

CREATE TABLE _lagging_copies (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  begun_ms bigint NOT NULL, -- mirror time
  wait_ms bigint NOT NULL,
  age_ms bigint NOT NULL,
  PRIMARY KEY (account_id, vendorid)
);

CREATE TABLE _lagging_lists (
  account_id text COLLATE "C" PRIMARY KEY,
  behind_ms bigint NOT NULL,
  seen_ms bigint NOT NULL -- mirror time
);

CREATE TABLE _not_honoured (
  account_id text COLLATE "C" NOT NULL,
  request text COLLATE "C" NOT NULL,
  since timestamptz(3) NOT NULL,
  tried_at timestamptz(3) NOT NULL,
  again_at timestamptz(3) NOT NULL,
  since_ms bigint NOT NULL, -- the first in mirror time
  again_ms bigint NOT NULL, -- the last in mirror time
  failures bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  message text COLLATE "C" NOT NULL,
  is_found smallint NOT NULL DEFAULT 0 CHECK (is_found IN (0, 1)),
  PRIMARY KEY (account_id, request)
);

CREATE TABLE _notify_queue (
  target text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  after_seq bigint NOT NULL, -- changes of the vendor after this one, up to the target's place, are to be delivered
  since timestamptz(3) NOT NULL, -- when we learned of the first of them
  due_at timestamptz(3), -- null where it was given up (parked)
  due_ms bigint, -- the same in mirror time
  attempts bigint NOT NULL, -- that failed in a row
  last_error text COLLATE "C",
  PRIMARY KEY (target, account_id, vendorid)
);

CREATE TABLE _notify_targets (
  target text COLLATE "C" PRIMARY KEY, -- its name in the settings
  place text COLLATE "C" NOT NULL, -- cursor of the change feed: changes up to it were delivered, or their vendors wait in the queue
  notice text COLLATE "C", -- the message that goes out before all others, JSON; null where there is none
  began_at timestamptz(3) NOT NULL,
  delivered_at timestamptz(3), -- when the receiver last accepted something
  failing_since timestamptz(3), -- of the first failure since then
  last_error text COLLATE "C",
  disabled_at timestamptz(3) -- when the receiver said that it is gone
);

CREATE TABLE _page_confirmations (
  read_seq bigint PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  vendorids text COLLATE "C" NOT NULL
);

CREATE TABLE _publications (
  path text COLLATE "C" PRIMARY KEY,
  place text COLLATE "C", -- null: never written
  definition text COLLATE "C",
  file_ms double precision,
  written_at timestamptz(3),
  failing_since timestamptz(3),
  failed_at timestamptz(3),
  failures bigint NOT NULL DEFAULT 0,
  code text COLLATE "C",
  error text COLLATE "C",
  remedy text COLLATE "C"
);

CREATE TABLE _rate_waits (
  connection text COLLATE "C" NOT NULL,
  "window" text COLLATE "C" NOT NULL CHECK ("window" IN ('all', 'post', 'callbacks')),
  process text COLLATE "C" NOT NULL,
  since_seq bigint NOT NULL,
  waits_until_ms bigint NOT NULL, -- mirror time
  PRIMARY KEY (connection, "window", process)
);

CREATE TABLE _reading_counter (
  id smallint PRIMARY KEY CHECK (id = 1),
  read_seq bigint NOT NULL,
  generation bigint NOT NULL,
  offset_ms bigint NOT NULL,
  mirror_ms bigint NOT NULL,
  wall_ms bigint,
  run_id bigint NOT NULL DEFAULT 0,
  clock_ahead_ms bigint
);

CREATE TABLE _refusals (
  account_id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  refused bigint NOT NULL,
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  recent bigint NOT NULL,
  recent_at timestamptz(3) NOT NULL,
  detail text COLLATE "C",
  PRIMARY KEY (account_id, outcome)
);

CREATE TABLE _registration_refusals (
  account_id text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  refused_at timestamptz(3) NOT NULL, -- first so
  code text COLLATE "C" NOT NULL, -- of the catalogue of errors
  message text COLLATE "C" NOT NULL,
  remedy text COLLATE "C",
  uri text COLLATE "C",
  attempts bigint NOT NULL DEFAULT 1,
  retry_at timestamptz(3),
  PRIMARY KEY (account_id, event)
);

CREATE TABLE _request_failures (
  account_id text COLLATE "C" PRIMARY KEY,
  requests bigint NOT NULL, -- that failed one after the other
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  code text COLLATE "C" NOT NULL, -- of the last, as in the catalogue of errors
  message text COLLATE "C" NOT NULL,
  remedy text COLLATE "C"
);

CREATE TABLE _requests (
  connection text COLLATE "C" NOT NULL,
  "window" text COLLATE "C" NOT NULL CHECK ("window" IN ('all', 'post', 'callbacks')),
  read_seq bigint NOT NULL,
  counts_until_ms bigint NOT NULL, -- mirror time
  process text COLLATE "C", -- which sent it and waits for its answer; null once that has come
  PRIMARY KEY (connection, "window", read_seq)
);

CREATE TABLE _service_knowledge (
  service text COLLATE "C" PRIMARY KEY,
  first_page smallint CHECK (first_page IN (0, 1)),
  asked_at timestamptz(3),
  largest_page bigint NOT NULL DEFAULT 0,
  counts_lists smallint NOT NULL DEFAULT 0 CHECK (counts_lists IN (0, 1))
);

CREATE TABLE _shown_states (
  account_id text COLLATE "C" NOT NULL,
  vis_state smallint NOT NULL,
  shown_by text COLLATE "C" NOT NULL CHECK (shown_by IN ('list', 'filter')),
  PRIMARY KEY (account_id, vis_state)
);

CREATE TABLE _sweep_requests (
  account_id text COLLATE "C" PRIMARY KEY,
  generation bigint NOT NULL, -- raised by each request
  asked_at timestamptz(3), -- of the first request that is not answered; null where all are
  asked_ms bigint, -- the same in mirror time
  last_ms bigint NOT NULL, -- mirror time of the last request
  rest_until_ms bigint NOT NULL DEFAULT 0, -- mirror time before which no sweep begins for this
  callback_ids bigint NOT NULL DEFAULT 0, -- deliveries whose object_id was the id of a callback of ours
  callback_id_at timestamptz(3) -- when the last one of these came
);

CREATE TABLE _unknown_callbacks (
  account_id text COLLATE "C" NOT NULL,
  callbackid bigint NOT NULL,
  found_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, callbackid)
);

CREATE TABLE _unsteady_fields (
  account_id text COLLATE "C" NOT NULL,
  field text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  changes bigint NOT NULL,
  run_id bigint NOT NULL,
  is_found smallint NOT NULL DEFAULT 0 CHECK (is_found IN (0, 1)),
  PRIMARY KEY (account_id, field, vendorid)
);

CREATE TABLE _vendor_versions (
  seq bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  valid_from timestamptz(3) NOT NULL,
  valid_to timestamptz(3),
  vis_state smallint,
  vis_state_source text COLLATE "C" NOT NULL,
  presence text COLLATE "C" NOT NULL,
  changed_fields text COLLATE "C" NOT NULL CHECK (changed_fields::json IS NOT NULL),
  source text COLLATE "C" NOT NULL,
  run_id bigint,
  delivery_id bigint,
  raw text COLLATE "C" CHECK (raw IS NULL OR raw::json IS NOT NULL) -- null in the current version
);

CREATE TABLE _webhook_days (
  account_id text COLLATE "C" NOT NULL,
  day text COLLATE "C" NOT NULL,
  deliveries bigint NOT NULL DEFAULT 0,
  duplicates bigint NOT NULL DEFAULT 0,
  unannounced_changes bigint NOT NULL DEFAULT 0,
  announced_changes bigint NOT NULL DEFAULT 0,
  late_deliveries bigint NOT NULL DEFAULT 0,
  latest_seconds double precision,
  PRIMARY KEY (account_id, day)
);

CREATE TABLE callbacks (
  account_id text COLLATE "C" NOT NULL,
  callbackid bigint NOT NULL,
  event text COLLATE "C" NOT NULL,
  uri text COLLATE "C" NOT NULL, -- the path token is left out
  verified boolean NOT NULL,
  checked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, callbackid)
);

CREATE TABLE data_dictionary (
  name text COLLATE "C" NOT NULL,
  column_name text COLLATE "C" NOT NULL, -- empty for the table or view itself
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('table', 'view')),
  type text COLLATE "C",
  meaning text COLLATE "C" NOT NULL,
  example text COLLATE "C",
  PRIMARY KEY (name, column_name)
);

CREATE TABLE deliveries (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  received_at timestamptz(3) NOT NULL,
  name text COLLATE "C" NOT NULL,
  object_id bigint,
  business_id bigint,
  identity_id bigint,
  user_id bigint,
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('pending', 'applied', 'unchanged', 'not_found', 'ignored', 'parked')),
  settled_at timestamptz(3)
);

CREATE TABLE dirty_vendors (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  generation bigint NOT NULL,
  marked_at timestamptz(3) NOT NULL, -- the oldest mark that is still open
  due_at timestamptz(3), -- null: parked, the next reconciliation marks it again
  due_ms bigint, -- the same moment in mirror time
  attempts bigint NOT NULL DEFAULT 0,
  reason text COLLATE "C" NOT NULL CHECK (reason IN ('delivery', 'second_look', 'guarded', 'retry', 'reconcile', 'asked')),
  last_error text COLLATE "C",
  marked_ms bigint,
  last_ms bigint,
  PRIMARY KEY (account_id, vendorid)
);

CREATE TABLE findings (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  run_id bigint NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'balance_only',
    'in_flight', 'vanished', 'field_drift', 'record_rejected', 'count_mismatch', 'unreadable', 'unreadable_value', 'not_honoured',
    'lagging_copy', 'unlisted', 'unsteady_field', 'breaker')),
  fields text COLLATE "C" NOT NULL CHECK (fields::json IS NOT NULL),
  found_at timestamptz(3) NOT NULL,
  explained_at timestamptz(3),
  explanation text COLLATE "C"
);

CREATE TABLE gateways (
  account_id text COLLATE "C" NOT NULL,
  sgid bigint NOT NULL,
  id bigint NOT NULL,
  connectionid text COLLATE "C",
  gateway_name text COLLATE "C",
  first_seen_at timestamptz(3) NOT NULL,
  removed_at timestamptz(3),
  PRIMARY KEY (account_id, sgid)
);

CREATE TABLE migrations (
  number bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  checksum text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  applied_by text COLLATE "C"
);

CREATE TABLE mirror_identity (
  id smallint PRIMARY KEY CHECK (id = 1),
  mirror_id text COLLATE "C" NOT NULL, -- random: the file of secrets knows its mirror by it
  service text COLLATE "C", -- the service's address, or the name of a sandbox; null until one has answered
  service_since timestamptz(3),
  daemon_epoch bigint NOT NULL DEFAULT 0,
  derivation bigint NOT NULL DEFAULT 0,
  listener_host text COLLATE "C",
  listener_moved_at timestamptz(3)
);

CREATE TABLE runs (
  id bigint PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('pull', 'reconcile', 'verify')),
  "trigger" text COLLATE "C" NOT NULL CHECK ("trigger" IN ('command', 'schedule', 'start', 'verification', 'watchdog', 'queue')),
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('running', 'complete', 'incomplete', 'failed', 'abandoned')),
  pages bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  seen bigint NOT NULL DEFAULT 0,
  created bigint NOT NULL DEFAULT 0,
  updated bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  suspects bigint NOT NULL DEFAULT 0,
  error text COLLATE "C",
  safe_as_of timestamptz(3), -- of a complete run: everything that had happened by then is in the mirror
  began_seq bigint NOT NULL, -- read_seq at the start: a vendor with a higher one was seen since
  proof text COLLATE "C" CHECK (proof IN ('plain', 'windows', 'passes')), -- null where nothing was proven
  list_moved boolean, -- null where no list was walked whole
  listed_as_of timestamptz(3), -- as safe_as_of, of what lists show: vendors that they hide are re-read in turn
  error_code text COLLATE "C", -- null where nothing went wrong, and where an older version wrote the row
  process text COLLATE "C", -- null in runs that an older version began
  remedy text COLLATE "C"
);

CREATE TABLE undecided_vendors (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  since timestamptz(3) NOT NULL,
  as_of timestamptz(3), -- up to when it is known; null: nobody knows
  code text COLLATE "C" NOT NULL,
  error text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, vendorid)
);

CREATE TABLE vendor_balances (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('outstanding', 'overdue')),
  code text COLLATE "C" NOT NULL,
  amount text COLLATE "C" NOT NULL,
  amount_minor bigint,
  PRIMARY KEY (account_id, vendorid, kind, code)
);

CREATE TABLE vendor_tax_defaults (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL,
  taxid bigint NOT NULL,
  system_taxid bigint,
  enabled boolean,
  name text COLLATE "C",
  amount text COLLATE "C",
  tax_authorityid text COLLATE "C",
  created_at text COLLATE "C",
  updated_at text COLLATE "C",
  PRIMARY KEY (account_id, vendorid, taxid)
);

CREATE TABLE vendors (
  account_id text COLLATE "C" NOT NULL,
  vendorid bigint NOT NULL CHECK (vendorid > 0),
  vendor_name text COLLATE "C",
  account_number text COLLATE "C",
  primary_contact_first_name text COLLATE "C",
  primary_contact_last_name text COLLATE "C",
  primary_contact_email text COLLATE "C",
  primary_contact text COLLATE "C",
  phone text COLLATE "C",
  street text COLLATE "C",
  street2 text COLLATE "C",
  city text COLLATE "C",
  province text COLLATE "C",
  postal_code text COLLATE "C",
  country text COLLATE "C",
  website text COLLATE "C",
  currency_code text COLLATE "C",
  language text COLLATE "C",
  note text COLLATE "C",
  created_at text COLLATE "C",
  updated_at text COLLATE "C",
  is_1099 boolean,
  vis_state smallint CHECK (vis_state IN (0, 1, 2)),
  vis_state_source text COLLATE "C" NOT NULL DEFAULT 'reported' CHECK (vis_state_source IN ('reported', 'inferred')),
  presence text COLLATE "C" NOT NULL DEFAULT 'present' CHECK (presence IN ('present', 'suspect', 'missing', 'gone')),
  first_seen_at timestamptz(3) NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  source text COLLATE "C" NOT NULL CHECK (source IN ('pull', 'delivery', 'reconcile', 'write')),
  read_seq bigint NOT NULL,
  held_since_ms bigint NOT NULL, -- mirror time at which the first reading that showed this content ended
  unknown_fields text COLLATE "C", -- fields without a column of their own: name to JSON text; null where there are none
  raw text COLLATE "C" NOT NULL CHECK (raw::json IS NOT NULL),
  presence_ms bigint,
  unreadable_fields text COLLATE "C" CHECK (unreadable_fields IS NULL OR unreadable_fields::json IS NOT NULL),
  detail_seq bigint,
  details_at timestamptz(3),
  PRIMARY KEY (account_id, vendorid)
);

CREATE INDEX balance_spans_of_vendor ON _balance_spans (account_id, vendorid, valid_to);
CREATE INDEX balance_spans_open ON _balance_spans (account_id, state, code) WHERE valid_to IS NULL;
CREATE INDEX _edits_of_vendor ON _edits (account_id, vendorid);
CREATE INDEX _feed_epochs_by_seq ON _feed_epochs (after_seq, position);
CREATE INDEX _notify_queue_due ON _notify_queue (target, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX vendor_versions_closed ON _vendor_versions (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX vendor_versions_of_vendor ON _vendor_versions (account_id, vendorid, seq);
CREATE INDEX deliveries_by_time ON deliveries (received_at);
CREATE INDEX deliveries_of_account ON deliveries (account_id, received_at);
CREATE INDEX deliveries_of_vendor ON deliveries (account_id, object_id, id);
CREATE INDEX deliveries_unsettled ON deliveries (account_id, outcome, received_at) WHERE outcome IN ('pending', 'parked');
CREATE INDEX dirty_vendors_of_account ON dirty_vendors (account_id, marked_at, due_at);
CREATE INDEX findings_by_time ON findings (found_at);
CREATE INDEX findings_of_account ON findings (account_id, kind, found_at);
CREATE INDEX findings_of_run ON findings (run_id, kind);
CREATE INDEX findings_open ON findings (account_id, vendorid) WHERE explained_at IS NULL;
CREATE INDEX runs_newest ON runs (account_id, id);
CREATE INDEX vendors_by_detail ON vendors (account_id, detail_seq, presence, details_at) WHERE detail_seq IS NOT NULL;
CREATE INDEX vendors_by_state ON vendors (account_id, presence, vis_state, vendorid);
CREATE INDEX vendors_unreadable ON vendors (account_id) WHERE unreadable_fields IS NOT NULL;

-- The first rows.

INSERT INTO _reading_counter (id, read_seq, generation, offset_ms, mirror_ms) VALUES (1, 0, 0, 0, 0);
INSERT INTO _feed_removed (id, seq) VALUES (1, 0);
INSERT INTO mirror_identity (id, mirror_id) VALUES (1, lower(hex(randomblob(16))));
-- Its position is the first of the sequence: one that is given would be given out again.
INSERT INTO _feed_epochs (epoch, after_seq) VALUES (lower(hex(randomblob(8))), 0);

-- Views.

CREATE FUNCTION _day(timestamptz) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE "C";

-- The last number that a change of the feed was given, as far as a snapshot sees. A sequence would name changes that are not committed yet,
-- and a reader that took this for his place would miss them.
CREATE VIEW _last_version AS
SELECT greatest((SELECT max(seq) FROM _vendor_versions), (SELECT seq FROM _feed_removed)) AS seq;

CREATE VIEW vendor_versions AS
SELECT v.seq, v.account_id, v.vendorid, v.valid_from, v.valid_to, v.vis_state, v.vis_state_source, v.presence, v.changed_fields,
  v.source, v.run_id, v.delivery_id,
  coalesce(v.raw, (SELECT n.raw FROM vendors n WHERE n.account_id = v.account_id AND n.vendorid = v.vendorid)) AS raw
FROM _vendor_versions v;

CREATE VIEW vis_state_changes AS
SELECT v.seq, v.account_id, v.vendorid, v.valid_from AS changed_at, p.vis_state AS old_vis_state, v.vis_state AS new_vis_state,
  p.presence AS old_presence, v.presence AS new_presence, v.source, v.vis_state_source, v.run_id, v.delivery_id
FROM _vendor_versions v, LATERAL (
  SELECT p.vis_state, p.presence FROM _vendor_versions p
  WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq ORDER BY p.seq DESC LIMIT 1) AS p
WHERE v.vis_state IS DISTINCT FROM p.vis_state OR v.presence <> p.presence;

CREATE VIEW vendor_changes AS
SELECT account_id, seq, "at", vendorid, vendor_name, field,
  CASE field
    WHEN 'presence' THEN old_presence
    WHEN 'vis_state' THEN CASE old_vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' END
    ELSE _field_text(old_raw, field)
  END AS "old",
  CASE field
    WHEN 'presence' THEN presence
    WHEN 'vis_state' THEN CASE vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' END
    ELSE _field_text(raw, field)
  END AS "new",
  learned_by
FROM (
  SELECT v.account_id, v.seq, v.valid_from AS "at", v.vendorid, n.vendor_name, trim(BOTH '"' FROM _json_text(f.value)) COLLATE "C" AS field,
    v.source AS learned_by, coalesce(v.raw, n.raw) AS raw, v.presence, v.vis_state,
    coalesce(p.raw, CASE WHEN p.seq IS NOT NULL THEN n.raw END) AS old_raw, p.presence AS old_presence, p.vis_state AS old_vis_state
  FROM _vendor_versions v
  JOIN vendors n ON n.account_id = v.account_id AND n.vendorid = v.vendorid
  LEFT JOIN LATERAL (
    SELECT p.seq, p.raw, p.presence, p.vis_state FROM _vendor_versions p
    WHERE p.account_id = v.account_id AND p.vendorid = v.vendorid AND p.seq < v.seq ORDER BY p.seq DESC LIMIT 1) AS p ON true,
  LATERAL json_array_elements(_json_of(v.changed_fields)) AS f
  WHERE trim(BOTH '"' FROM _json_text(f.value)) <> 'updated_at'
) AS changed;

CREATE VIEW contact_changes AS
SELECT c.account_id, c.seq, c."at", c.vendorid, c.vendor_name, c.field, c."old", c."new", c.learned_by, d.user_id
FROM vendor_changes c
JOIN _vendor_versions v ON v.seq = c.seq
LEFT JOIN deliveries d ON d.id = v.delivery_id
WHERE c.field IN ('vendor_name', 'account_number', 'primary_contact_first_name', 'primary_contact_last_name', 'primary_contact_email',
  'primary_contact', 'phone', 'street', 'street2', 'city', 'province', 'postal_code', 'country', 'website');

CREATE VIEW webhook_health AS
SELECT account_id, day, deliveries, duplicates, unannounced_changes, announced_changes, late_deliveries, latest_seconds,
  round(unannounced_changes::double precision / nullif(unannounced_changes + announced_changes, 0), 4) AS loss_rate
FROM _webhook_days;

CREATE VIEW active_vendors AS
SELECT account_id, vendorid, vendor_name, account_number, primary_contact_first_name, primary_contact_last_name,
  primary_contact_email, primary_contact, phone, street, street2, city, province, postal_code, country, website, currency_code,
  language, note, created_at, updated_at, is_1099, vis_state, vis_state_source, presence, first_seen_at, changed_at, source
FROM vendors WHERE vis_state = 0 AND presence IN ('present', 'suspect');

CREATE VIEW freshness AS
SELECT
  a.account_id,
  r.finished_at AS last_complete_sweep,
  (SELECT min(d.received_at) FROM deliveries d
    WHERE d.account_id = a.account_id AND d.outcome IN ('pending', 'parked'))::timestamptz(3) AS oldest_unsettled_delivery,
  (SELECT count(*) FROM vendors v WHERE v.account_id = a.account_id AND v.presence = 'suspect') AS open_suspects,
  (SELECT count(*) FROM dirty_vendors q WHERE q.account_id = a.account_id AND q.due_at IS NULL) AS parked_vendors,
  (SELECT bool_or(c.verified AND a.not_served_since IS NULL) FROM callbacks c WHERE c.account_id = a.account_id) AS callback_verified,
  CASE WHEN r.safe_as_of IS NOT NULL THEN least(r.safe_as_of, open.marked_at, open.asked_at) END::timestamptz(3) AS safe_as_of,
  CASE WHEN r.listed_as_of IS NOT NULL THEN least(r.listed_as_of, open.marked_at, open.asked_at) END::timestamptz(3) AS listed_as_of,
  a.not_served_since,
  a.paused_since,
  (SELECT count(*) FROM undecided_vendors u WHERE u.account_id = a.account_id) AS undecided,
  (SELECT min(v.details_at) FROM vendors v
    WHERE v.account_id = a.account_id AND v.detail_seq IS NOT NULL AND v.presence IN ('present', 'suspect'))::timestamptz(3) AS details_as_of
FROM _accounts a
LEFT JOIN runs r ON r.id = (
  SELECT max(c.id) FROM runs c
  WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile')),
LATERAL (
  SELECT (SELECT min(q.marked_at) FROM dirty_vendors q WHERE q.account_id = a.account_id) AS marked_at,
    (SELECT s.asked_at FROM _sweep_requests s WHERE s.account_id = a.account_id) AS asked_at) AS open;

CREATE VIEW balance_history AS
SELECT account_id, vendorid, code AS currency, valid_from, valid_to, state, outstanding_amount AS outstanding, overdue_amount AS overdue,
  outstanding_units AS outstanding_minor, overdue_units AS overdue_minor, minor_digits,
  outstanding AS outstanding_text, overdue AS overdue_text
FROM _balance_spans;

CREATE VIEW payables AS
SELECT s.account_id, s.vendorid, v.vendor_name, s.state, s.code AS currency,
  s.outstanding_amount AS outstanding, s.overdue_amount AS overdue,
  s.outstanding_units AS outstanding_minor, s.overdue_units AS overdue_minor, s.minor_digits
FROM _balance_spans s JOIN vendors v ON v.account_id = s.account_id AND v.vendorid = s.vendorid
WHERE s.valid_to IS NULL AND s.state IS NOT NULL;

CREATE VIEW vendor_overview AS
SELECT v.account_id, v.vendorid, v.vendor_name,
  CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state,
  p.currency, p.outstanding, p.overdue, v.vis_state, v.presence, v.is_1099, v.currency_code, v.language, v.account_number,
  v.primary_contact_first_name, v.primary_contact_last_name, v.primary_contact_email, v.primary_contact, v.phone, v.street, v.street2,
  v.city, v.province, v.postal_code, v.country, v.website, v.note, v.created_at, v.updated_at, v.first_seen_at, v.changed_at
FROM vendors v LEFT JOIN payables p ON p.account_id = v.account_id AND p.vendorid = v.vendorid;

CREATE VIEW contractors_1099 AS
SELECT v.account_id, v.vendorid, v.vendor_name, p.currency, p.outstanding, p.overdue, v.account_number,
  v.primary_contact_first_name, v.primary_contact_last_name, v.primary_contact_email, v.primary_contact, v.phone, v.street, v.street2,
  v.city, v.province, v.postal_code, v.country, v.website, v.currency_code, v.language, v.note, v.created_at, v.updated_at, v.is_1099,
  v.vis_state, v.vis_state_source, v.presence, v.first_seen_at, v.changed_at, v.source
FROM active_vendors v LEFT JOIN payables p ON p.account_id = v.account_id AND p.vendorid = v.vendorid
WHERE v.is_1099;

CREATE VIEW _owed_amounts AS
SELECT account_id, code, state, valid_from, valid_to, minor_digits,
  (outstanding_units - outstanding_units % 1000000000) / 1000000000 AS outstanding_billions,
  outstanding_units % 1000000000 AS outstanding_rest,
  CASE WHEN outstanding_units IS NULL THEN outstanding_amount ELSE 0 END AS outstanding_more,
  CASE WHEN outstanding_units IS NULL AND outstanding_amount IS NOT NULL THEN 1 ELSE 0 END AS outstanding_more_count,
  (overdue_units - overdue_units % 1000000000) / 1000000000 AS overdue_billions,
  overdue_units % 1000000000 AS overdue_rest,
  CASE WHEN overdue_units IS NULL THEN overdue_amount ELSE 0 END AS overdue_more,
  CASE WHEN overdue_units IS NULL AND overdue_amount IS NOT NULL THEN 1 ELSE 0 END AS overdue_more_count,
  CASE WHEN outstanding_amount <> 0 THEN 1 ELSE 0 END AS vendors,
  CASE WHEN outstanding_amount IS NULL THEN 1 ELSE 0 END + CASE WHEN overdue_amount IS NULL THEN 1 ELSE 0 END AS unreadable
FROM _balance_spans WHERE state IS NOT NULL;

CREATE VIEW owed AS
SELECT account_id, currency, state, vendors,
  (outstanding_billions * 1000000000 + outstanding_rest)::double precision / scale
    + CASE outstanding_more_count WHEN 0 THEN 0 ELSE outstanding_more END AS outstanding,
  (overdue_billions * 1000000000 + overdue_rest)::double precision / scale
    + CASE overdue_more_count WHEN 0 THEN 0 ELSE overdue_more END AS overdue,
  CASE WHEN outstanding_more_count = 0 AND abs(outstanding_billions) < 9000000000
    THEN outstanding_billions * 1000000000 + outstanding_rest END::bigint AS outstanding_minor,
  CASE WHEN overdue_more_count = 0 AND abs(overdue_billions) < 9000000000
    THEN overdue_billions * 1000000000 + overdue_rest END::bigint AS overdue_minor,
  minor_digits, unreadable
FROM (
  SELECT account_id, code AS currency, state, sum(vendors) AS vendors, max(minor_digits) AS minor_digits, sum(unreadable) AS unreadable,
    coalesce(sum(outstanding_billions), 0) AS outstanding_billions, coalesce(sum(outstanding_rest), 0) AS outstanding_rest,
    coalesce(sum(outstanding_more), 0) AS outstanding_more, coalesce(sum(outstanding_more_count), 0) AS outstanding_more_count,
    coalesce(sum(overdue_billions), 0) AS overdue_billions, coalesce(sum(overdue_rest), 0) AS overdue_rest,
    coalesce(sum(overdue_more), 0) AS overdue_more, coalesce(sum(overdue_more_count), 0) AS overdue_more_count,
    CASE max(minor_digits) WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS scale
  FROM _owed_amounts WHERE valid_to IS NULL GROUP BY account_id, state, code) AS sums
UNION ALL
SELECT account_id, NULL, state, 0, NULL, NULL, NULL, NULL, NULL, count(*)
FROM (
  SELECT v.account_id, CASE v.vis_state WHEN 0 THEN 'active' WHEN 1 THEN 'deleted' WHEN 2 THEN 'archived' ELSE 'unknown' END AS state
  FROM vendors v
  WHERE v.unreadable_fields IS NOT NULL AND v.unreadable_fields LIKE '%_balance"%' AND v.presence NOT IN ('missing', 'gone')
    AND NOT EXISTS (SELECT 1 FROM _balance_spans s WHERE s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL
      AND (s.outstanding_amount IS NULL OR s.overdue_amount IS NULL))) AS unread
GROUP BY account_id, state;

CREATE VIEW _owed_closings AS
SELECT account_id, currency, state, day, until, vendors::bigint AS vendors,
  (outstanding_billions * 1000000000 + outstanding_rest)::double precision / scale
    + CASE outstanding_more_count WHEN 0 THEN 0 ELSE outstanding_more END AS outstanding,
  (overdue_billions * 1000000000 + overdue_rest)::double precision / scale
    + CASE overdue_more_count WHEN 0 THEN 0 ELSE overdue_more END AS overdue,
  CASE WHEN outstanding_more_count = 0 AND abs(outstanding_billions) < 9000000000
    THEN outstanding_billions * 1000000000 + outstanding_rest END::bigint AS outstanding_minor,
  CASE WHEN overdue_more_count = 0 AND abs(overdue_billions) < 9000000000
    THEN overdue_billions * 1000000000 + overdue_rest END::bigint AS overdue_minor,
  minor_digits, unreadable::bigint AS unreadable
FROM (
  SELECT account_id, code AS currency, state, day, lead(day) OVER days AS until, sum(spans) OVER days AS spans,
    sum(vendors) OVER days AS vendors, max(minor_digits) OVER days AS minor_digits, sum(unreadable) OVER days AS unreadable,
    sum(outstanding_billions) OVER days AS outstanding_billions, sum(outstanding_rest) OVER days AS outstanding_rest,
    sum(outstanding_more) OVER days AS outstanding_more, sum(outstanding_more_count) OVER days AS outstanding_more_count,
    sum(overdue_billions) OVER days AS overdue_billions, sum(overdue_rest) OVER days AS overdue_rest,
    sum(overdue_more) OVER days AS overdue_more, sum(overdue_more_count) OVER days AS overdue_more_count,
    CASE max(minor_digits) OVER days WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS scale
  FROM (
    SELECT account_id, code, state, _day(CASE sign WHEN 1 THEN valid_from ELSE valid_to END) AS day,
      sum(sign) AS spans, sum(sign * vendors) AS vendors, max(minor_digits) AS minor_digits, sum(sign * unreadable) AS unreadable,
      coalesce(sum(sign * outstanding_billions), 0) AS outstanding_billions,
      coalesce(sum(sign * outstanding_rest), 0) AS outstanding_rest,
      coalesce(sum(sign * outstanding_more), 0) AS outstanding_more,
      coalesce(sum(sign * outstanding_more_count), 0) AS outstanding_more_count,
      coalesce(sum(sign * overdue_billions), 0) AS overdue_billions, coalesce(sum(sign * overdue_rest), 0) AS overdue_rest,
      coalesce(sum(sign * overdue_more), 0) AS overdue_more, coalesce(sum(sign * overdue_more_count), 0) AS overdue_more_count
    FROM _owed_amounts, (VALUES (1), (-1)) AS signs (sign)
    WHERE sign = 1 OR valid_to IS NOT NULL
    GROUP BY account_id, code, state, _day(CASE sign WHEN 1 THEN valid_from ELSE valid_to END)) AS changes
  WINDOW days AS (PARTITION BY account_id, code, state ORDER BY day)) AS running
WHERE spans > 0;

-- Up to today, or to the last change where that is later, because a clock was set back.
CREATE VIEW owed_by_day AS
SELECT c.account_id, d.day, c.currency, c.state, c.vendors, c.outstanding, c.overdue, c.outstanding_minor, c.overdue_minor,
  c.minor_digits, c.unreadable
FROM _owed_closings c
CROSS JOIN (
  SELECT CASE WHEN EXISTS (SELECT 1 FROM _balance_spans WHERE valid_from > statement_timestamp() OR valid_to > statement_timestamp())
    THEN (SELECT greatest(max(day), _day(statement_timestamp())) FROM _owed_closings)
    ELSE _day(statement_timestamp()) END AS last) AS range
CROSS JOIN LATERAL (
  SELECT to_char(moment, 'YYYY-MM-DD') COLLATE "C" AS day
  FROM generate_series(to_date(c.day, 'YYYY-MM-DD')::timestamp,
    least(to_date(c.until, 'YYYY-MM-DD') - 1, to_date(range.last, 'YYYY-MM-DD'))::timestamp, interval '1 day') AS moment) AS d;

-- The day of the run, if an earlier delivery had announced what it found of a vendor, and no other finding of it about the vendor is open.
CREATE FUNCTION _announced_day(account text, vendor bigint, run bigint, finding bigint) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (
    SELECT _day(r.started_at) FROM runs r
    WHERE r.id = run AND EXISTS (
        SELECT 1 FROM deliveries d
        WHERE d.account_id = account AND d.object_id = vendor AND d.outcome <> 'ignored' AND d.received_at < r.started_at
          AND d.received_at >= coalesce((SELECT p.started_at FROM runs p
            WHERE p.account_id = r.account_id AND p.id < r.id AND p.kind <> 'verify' ORDER BY p.id DESC LIMIT 1), '-infinity'))
      AND NOT EXISTS (
        SELECT 1 FROM findings o
        WHERE o.account_id = account AND o.vendorid = vendor AND o.explained_at IS NULL
          AND o.run_id = run AND o.id <> finding AND o.kind LIKE 'missed_%'));
END $$;

CREATE VIEW _missed_after_delivery AS
SELECT f.id AS finding_id, f.account_id, d.day
FROM findings f, LATERAL (SELECT _announced_day(f.account_id, f.vendorid, f.run_id, f.id) COLLATE "C" AS day) AS d
WHERE d.day IS NOT NULL;

-- Triggers. They find their tables whatever the search_path of a session is.

CREATE FUNCTION _note_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE _feed_removed SET seq = r.seq FROM (SELECT max(seq) AS seq FROM removed) AS r WHERE r.seq > _feed_removed.seq;
  RETURN NULL;
END $$;
CREATE TRIGGER _feed_version_removed AFTER DELETE ON _vendor_versions
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION _note_removed();

CREATE FUNCTION _count_delivery() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  before timestamptz;
BEGIN
  INSERT INTO _webhook_days AS d (account_id, day, deliveries, duplicates)
  VALUES (new.account_id, _day(new.received_at), 1, (new.outcome = 'unchanged')::integer)
  ON CONFLICT (account_id, day) DO UPDATE SET deliveries = d.deliveries + 1, duplicates = d.duplicates + excluded.duplicates;
  -- Only the first delivery about a vendor since the last sweep counts; the one before it shows whether this is the first.
  before := (SELECT d.received_at FROM deliveries d
    WHERE d.account_id = new.account_id AND d.object_id = new.object_id AND d.id < new.id AND d.outcome <> 'ignored'
    ORDER BY d.id DESC LIMIT 1);
  IF before IS NULL OR before < (SELECT r.started_at FROM runs r WHERE r.account_id = new.account_id AND r.kind <> 'verify'
      ORDER BY r.id DESC LIMIT 1) THEN
    INSERT INTO _announced_since AS s (account_id, vendors) VALUES (new.account_id, 1)
    ON CONFLICT (account_id) DO UPDATE SET vendors = s.vendors + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER _delivery_counted AFTER INSERT ON deliveries
FOR EACH ROW WHEN (new.outcome <> 'ignored') EXECUTE FUNCTION _count_delivery();

CREATE FUNCTION _count_settled() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE _webhook_days
  SET duplicates = duplicates + (new.outcome = 'unchanged')::integer - (old.outcome = 'unchanged')::integer
  WHERE account_id = new.account_id AND day = _day(new.received_at);
  RETURN NULL;
END $$;
CREATE TRIGGER _delivery_settled AFTER UPDATE OF outcome ON deliveries
FOR EACH ROW WHEN ((old.outcome = 'unchanged') <> (new.outcome = 'unchanged')) EXECUTE FUNCTION _count_settled();

CREATE FUNCTION _count_announced() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO _webhook_days AS d (account_id, day, announced_changes)
  SELECT new.account_id, _day(new.started_at), s.vendors FROM _announced_since s
  WHERE s.account_id = new.account_id AND s.vendors > 0
  ON CONFLICT (account_id, day) DO UPDATE SET announced_changes = d.announced_changes + excluded.announced_changes;
  UPDATE _announced_since SET vendors = 0 WHERE account_id = new.account_id AND vendors > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER _sweep_begun AFTER INSERT ON runs
FOR EACH ROW WHEN (new.kind <> 'verify') EXECUTE FUNCTION _count_announced();

-- Before each row: a trigger after it would see all rows that the statement writes, and count two findings about one vendor otherwise.
CREATE FUNCTION _count_finding() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  is_missed integer := (new.kind LIKE 'missed_%')::integer;
  is_open integer := (new.kind LIKE 'missed_%' AND new.explained_at IS NULL)::integer;
  was_missed integer := 0;
  was_open integer := 0;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    was_missed := (old.kind LIKE 'missed_%')::integer;
    was_open := (old.kind LIKE 'missed_%' AND old.explained_at IS NULL)::integer;
  END IF;
  INSERT INTO _webhook_days AS d (account_id, day, unannounced_changes, late_deliveries, latest_seconds)
  VALUES (new.account_id, _day(new.found_at), is_open - was_open, (is_missed - is_open) - (was_missed - was_open),
    CASE is_missed WHEN 1 THEN extract(epoch FROM new.explained_at - new.found_at) END)
  ON CONFLICT (account_id, day) DO UPDATE SET
    unannounced_changes = d.unannounced_changes + excluded.unannounced_changes,
    late_deliveries = d.late_deliveries + excluded.late_deliveries,
    latest_seconds = greatest(d.latest_seconds, excluded.latest_seconds);
  IF is_open <> was_open THEN
    UPDATE _webhook_days SET announced_changes = greatest(0, announced_changes + was_open - is_open)
    WHERE account_id = new.account_id AND day = _announced_day(new.account_id, new.vendorid, new.run_id, new.id);
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER _finding_counted BEFORE INSERT ON findings
FOR EACH ROW WHEN (new.kind LIKE 'missed_%') EXECUTE FUNCTION _count_finding();
CREATE TRIGGER _finding_recounted BEFORE UPDATE OF kind, explained_at ON findings
FOR EACH ROW WHEN ((old.kind LIKE 'missed_%') <> (new.kind LIKE 'missed_%') OR (old.explained_at IS NULL) <> (new.explained_at IS NULL))
EXECUTE FUNCTION _count_finding();

-- What each table, view and column means.

INSERT INTO data_dictionary (name, column_name, kind, type, meaning, example) VALUES
  ('_accounts', '', 'table', NULL, 'One row per account that the mirror knows', NULL),
  ('_accounts', 'accepted_at', 'table', 'TIMESTAMPTZ', 'When that was accepted', NULL),
  ('_accounts', 'accepted_unreadable', 'table', 'BIGINT', 'How many vendors that the service counts and does not show a person accepted', '0'),
  ('_accounts', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_accounts', 'added_at', 'table', 'TIMESTAMPTZ', 'When the account was added, UTC', '2026-11-20 12:00:00.000'),
  ('_accounts', 'callback_proven_at', 'table', 'TIMESTAMPTZ', 'When a callback was verified last, UTC; null where none was', '2026-11-20 12:00:00.000'),
  ('_accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default'),
  ('_accounts', 'filters_show', 'table', 'SMALLINT', 'Internal: 1: lists of single states showed vendors that the default list does not', '0'),
  ('_accounts', 'miscounted', 'table', 'SMALLINT', '1: the last complete sweep showed more vendors than the service counts', '0'),
  ('_accounts', 'not_served_since', 'table', 'TIMESTAMPTZ', 'When the settings stopped naming it, UTC; null while they name it', NULL),
  ('_accounts', 'paused_since', 'table', 'TIMESTAMPTZ', 'When it was paused, UTC; null if it is not paused', NULL),
  ('_accounts', 'probed_vendors', 'table', 'BIGINT', 'Internal: how many listed vendors were read by id to find out what lists leave out', '200'),
  ('_accounts', 'reads_details', 'table', 'SMALLINT', 'Internal: 1: vendors are read by id in turn, for what lists leave out', '0'),
  ('_accounts', 'settings_file', 'table', 'TEXT', 'The settings file that last named it; the account counts as removed when that file no longer names it', '/etc/vendor-mirror/mirror.yaml'),
  ('_accounts', 'shortfall', 'table', 'BIGINT', 'Internal: how many more vendors the service counted than it showed when none was in doubt', NULL),
  ('_accounts', 'unproven_absences', 'table', 'BIGINT', 'Vendors that an earlier version called missing or gone by less than is required now; they are read again', '0'),
  ('_accounts', 'withheld_absences', 'table', 'BIGINT', 'Vendors that can no longer be read and that the service still counts: the token may see less than before', '0'),
  ('_added_accounts', '', 'table', NULL, 'Internal: accounts that a command added to those of the settings', NULL),
  ('_added_accounts', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_added_accounts', 'added_at', 'table', 'TIMESTAMPTZ', 'When it was added, UTC', '2026-11-20 12:00:00.000'),
  ('_added_accounts', 'connection', 'table', 'TEXT', 'The connection of the settings that gives access to it', 'default'),
  ('_announced_since', '', 'table', NULL, 'Internal: vendors that deliveries named since the last sweep began', NULL),
  ('_announced_since', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_announced_since', 'vendors', 'table', 'BIGINT', 'How many were named since', '4'),
  ('_balance_spans', '', 'table', NULL, 'The source of owed, balance_history and payables: one row per vendor and currency for each period in which neither amount nor the state of the vendor changed', NULL),
  ('_balance_spans', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_balance_spans', 'code', 'table', 'TEXT', 'Currency, three letters', 'USD'),
  ('_balance_spans', 'minor_digits', 'table', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('_balance_spans', 'outstanding', 'table', 'TEXT', 'Outstanding, exactly as sent; null if none was sent', '1200.00'),
  ('_balance_spans', 'outstanding_amount', 'table', 'DOUBLE PRECISION', 'Outstanding as a number; 0 if none was sent, null if the text is not a decimal number', '1200.0'),
  ('_balance_spans', 'outstanding_minor', 'table', 'BIGINT', 'The same in the minor unit of the currency; null if the text is not an amount in it', '120000'),
  ('_balance_spans', 'outstanding_units', 'table', 'BIGINT', 'Outstanding in the minor unit of the currency; 0 if none was sent, null if the text is not an amount in it', '120000'),
  ('_balance_spans', 'overdue', 'table', 'TEXT', 'Overdue, exactly as sent; null if none was sent', '200.00'),
  ('_balance_spans', 'overdue_amount', 'table', 'DOUBLE PRECISION', 'Overdue as a number; 0 if none was sent, null if the text is not a decimal number', '200.0'),
  ('_balance_spans', 'overdue_minor', 'table', 'BIGINT', 'The same in the minor unit of the currency; null if the text is not an amount in it', '20000'),
  ('_balance_spans', 'overdue_units', 'table', 'BIGINT', 'Overdue in the minor unit of the currency; 0 if none was sent, null if the text is not an amount in it', '20000'),
  ('_balance_spans', 'state', 'table', 'TEXT', 'State of the vendor in this period: ''active'', ''deleted'', ''archived'' or ''unknown''; null while it was missing or gone', 'active'),
  ('_balance_spans', 'valid_from', 'table', 'TIMESTAMPTZ', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('_balance_spans', 'valid_to', 'table', 'TIMESTAMPTZ', 'End of the period, UTC; null for the current one', NULL),
  ('_balance_spans', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('_clock_set_back', '', 'table', NULL, 'Internal: when the clock was set back', NULL),
  ('_clock_set_back', 'noticed_at', 'table', 'TIMESTAMPTZ', 'When that was noticed, by the clock as it is since', '2026-11-20 11:00:00.000'),
  ('_clock_set_back', 'read_seq', 'table', 'BIGINT', 'The last number that a reading had taken when that was noticed', '1204'),
  ('_connection_failures', '', 'table', NULL, 'Internal: connections of the settings that give no access, until a request is answered', NULL),
  ('_connection_failures', 'code', 'table', 'TEXT', 'Code of the last error', 'token_refresh_failed'),
  ('_connection_failures', 'connection', 'table', 'TEXT', 'Name of the connection', 'default'),
  ('_connection_failures', 'first_at', 'table', 'TIMESTAMPTZ', 'When the first failed, UTC', '2026-11-20 12:00:00.000'),
  ('_connection_failures', 'last_at', 'table', 'TIMESTAMPTZ', 'When the last failed, UTC', '2026-11-20 12:00:00.000'),
  ('_connection_failures', 'message', 'table', 'TEXT', 'The error in words', 'The token endpoint refused the refresh token: invalid_grant.'),
  ('_connection_failures', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.'),
  ('_connection_failures', 'requests', 'table', 'BIGINT', 'How many requests failed', '3'),
  ('_creations', '', 'table', NULL, 'Internal: vendors that were about to be created, until it is known whether they were', NULL),
  ('_creations', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_creations', 'known', 'table', 'TEXT', 'Of creations that earlier versions sent: numbers of the vendors of that name that were there before, JSON', '[]'),
  ('_creations', 'sent_at', 'table', 'TIMESTAMPTZ', 'When it was about to be sent, UTC', '2026-11-20 12:00:00.000'),
  ('_creations', 'sent_by', 'table', 'TEXT', 'A person''s name on the machine, where it is known', 'ada'),
  ('_creations', 'vendor_name', 'table', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('_creations', 'version', 'table', 'BIGINT', 'The latest version of any vendor then, as seq; null where an earlier version sent it', '120'),
  ('_daemon_files', '', 'table', NULL, 'Internal: which files the last daemon opened', NULL),
  ('_daemon_files', 'file', 'table', 'TEXT', '''mirror'' or ''secrets''', 'mirror'),
  ('_daemon_files', 'inode', 'table', 'TEXT', 'Number of the file in its file system, decimal', NULL),
  ('_detail_fields', '', 'table', NULL, 'Internal: fields that lists leave out and reads by id carry', NULL),
  ('_detail_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_detail_fields', 'field', 'table', 'TEXT', 'Name of the field', 'note'),
  ('_detail_fields', 'is_shown', 'table', 'SMALLINT', '1 if lists show the field, but otherwise than reads by id do', '0'),
  ('_detail_fields', 'learned_at', 'table', 'TIMESTAMPTZ', 'Since when it counts, UTC; null while too few vendors showed it', '2026-11-20 12:00:00.000'),
  ('_detail_fields', 'vendorids', 'table', 'TEXT', 'Numbers of the vendors that showed it, JSON', '[1006,1011,1012]'),
  ('_edits', '', 'table', NULL, 'Internal: edits that were about to be sent, until it is known whether they were carried out; no values', NULL),
  ('_edits', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_edits', 'fields', 'table', 'TEXT', 'Names of the fields to be set, JSON', '["phone"]'),
  ('_edits', 'generation', 'table', 'BIGINT', 'The mark that was made for it; null where the vendor was marked already', NULL),
  ('_edits', 'id', 'table', 'BIGINT', 'Number of the edit', '1'),
  ('_edits', 'process', 'table', 'TEXT', 'Random name of the process', NULL),
  ('_edits', 'sent_at', 'table', 'TIMESTAMPTZ', 'When it was about to be sent, UTC', '2026-11-20 12:00:00.000'),
  ('_edits', 'sent_by', 'table', 'TEXT', 'A person''s name on the machine, where it is known', 'ada'),
  ('_edits', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('_edits', 'version', 'table', 'BIGINT', 'The latest version of the vendor then, as seq; 0 where there was none', '120'),
  ('_feed_epochs', '', 'table', NULL, 'Internal: who wrote which part of the change feed; cursors name one', NULL),
  ('_feed_epochs', 'after_seq', 'table', 'BIGINT', 'The changes after this one belong to it, up to the next epoch', '1042'),
  ('_feed_epochs', 'epoch', 'table', 'TEXT', 'Random name of the epoch', '9f86d081884c7d65'),
  ('_feed_epochs', 'position', 'table', 'BIGINT', 'The order of epochs', '1'),
  ('_feed_removed', '', 'table', NULL, 'Internal: how much of the change feed was removed; one row', NULL),
  ('_feed_removed', 'id', 'table', 'SMALLINT', 'Always 1', '1'),
  ('_feed_removed', 'seq', 'table', 'BIGINT', 'The last change that was removed; 0 where none was', '0'),
  ('_forgotten_vendors', '', 'table', NULL, 'Internal: vendors that the mirror was told to forget, and holds no more', NULL),
  ('_forgotten_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_forgotten_vendors', 'forgotten_at', 'table', 'TIMESTAMPTZ', 'When it was forgotten, UTC', '2026-11-20 12:00:00.000'),
  ('_forgotten_vendors', 'vendorid', 'table', 'BIGINT', 'Number of the vendor', '1006'),
  ('_known_fields', '', 'table', NULL, 'Internal: names of all fields seen in the records of an account', NULL),
  ('_known_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_known_fields', 'field', 'table', 'TEXT', 'Name of the field', 'vendor_name'),
  ('_known_fields', 'first_seen_at', 'table', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('_lagging_copies', '', 'table', NULL, 'Internal: vendors that a list showed as they were before', NULL),
  ('_lagging_copies', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_copies', 'age_ms', 'table', 'BIGINT', 'How old the copy was, milliseconds', '60000'),
  ('_lagging_copies', 'begun_ms', 'table', 'BIGINT', 'When the first request that showed it began, in mirror time, milliseconds', NULL),
  ('_lagging_copies', 'updated_at', 'table', 'TEXT', 'The service''s time of the version that the list showed', NULL),
  ('_lagging_copies', 'vendorid', 'table', 'BIGINT', 'The vendor', '3391'),
  ('_lagging_copies', 'wait_ms', 'table', 'BIGINT', 'How long after that it is believed, where no read by id says otherwise, milliseconds', '60000'),
  ('_lagging_lists', '', 'table', NULL, 'Internal: accounts whose lists were answered from copies that were behind', NULL),
  ('_lagging_lists', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_lagging_lists', 'behind_ms', 'table', 'BIGINT', 'How old the oldest copy was, milliseconds', '60000'),
  ('_lagging_lists', 'seen_ms', 'table', 'BIGINT', 'When one was last seen, in mirror time, milliseconds', NULL),
  ('_last_version', '', 'view', NULL, 'Internal: the last number that a change of the feed was given', NULL),
  ('_last_version', 'seq', 'view', 'BIGINT', 'Its number; 0 before the first', '1043'),
  ('_missed_after_delivery', '', 'view', NULL, 'Internal: findings whose vendor an earlier delivery had announced', NULL),
  ('_missed_after_delivery', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_missed_after_delivery', 'day', 'view', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('_missed_after_delivery', 'finding_id', 'view', 'BIGINT', 'The finding', '3'),
  ('_not_honoured', '', 'table', NULL, 'Internal: optional requests that the service does not honour, until it does', NULL),
  ('_not_honoured', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_not_honoured', 'again_at', 'table', 'TIMESTAMPTZ', 'When it is tried again, UTC', '2026-11-21 12:00:00.000'),
  ('_not_honoured', 'again_ms', 'table', 'BIGINT', 'Moment of again_at in mirror time, in milliseconds', '210056789'),
  ('_not_honoured', 'code', 'table', 'TEXT', 'Code of the last error', 'access_denied'),
  ('_not_honoured', 'failures', 'table', 'BIGINT', 'How often in a row it was not honoured', '1'),
  ('_not_honoured', 'is_found', 'table', 'SMALLINT', 'Whether a run has recorded a finding about it', '1'),
  ('_not_honoured', 'message', 'table', 'TEXT', 'The error in words', 'The service denied access.'),
  ('_not_honoured', 'request', 'table', 'TEXT', 'What is not honoured: ''per_page'', ''window_size'', ''search[vis_state]'' or ''gateways''', 'gateways'),
  ('_not_honoured', 'since', 'table', 'TIMESTAMPTZ', 'When it was first not honoured, UTC', '2026-11-20 12:00:00.000'),
  ('_not_honoured', 'since_ms', 'table', 'BIGINT', 'Moment of since in mirror time, in milliseconds', '123456789'),
  ('_not_honoured', 'tried_at', 'table', 'TIMESTAMPTZ', 'When it was last tried, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_queue', '', 'table', NULL, 'Internal: vendors with changes that a target of outgoing webhooks has not received', NULL),
  ('_notify_queue', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_notify_queue', 'after_seq', 'table', 'BIGINT', 'The changes of the vendor after this one, up to the place of the target, are to be delivered', '1041'),
  ('_notify_queue', 'attempts', 'table', 'BIGINT', 'Attempts that failed in a row', '0'),
  ('_notify_queue', 'due_at', 'table', 'TIMESTAMPTZ', 'When the next attempt is due, UTC; null where it was given up (parked)', '2026-11-20 12:00:05.000'),
  ('_notify_queue', 'due_ms', 'table', 'BIGINT', 'The same in mirror time, milliseconds', NULL),
  ('_notify_queue', 'last_error', 'table', 'TEXT', 'Why the last attempt failed', 'The receiver answered 500.'),
  ('_notify_queue', 'since', 'table', 'TIMESTAMPTZ', 'When we learned of the first of them, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_queue', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com'),
  ('_notify_queue', 'vendorid', 'table', 'BIGINT', 'Number of the vendor', '1006'),
  ('_notify_targets', '', 'table', NULL, 'Internal: how far each target of outgoing webhooks is', NULL),
  ('_notify_targets', 'began_at', 'table', 'TIMESTAMPTZ', 'When the target was first named in the settings, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_targets', 'delivered_at', 'table', 'TIMESTAMPTZ', 'When its receiver last accepted a message, UTC', '2026-11-20 12:00:00.000'),
  ('_notify_targets', 'disabled_at', 'table', 'TIMESTAMPTZ', 'When the receiver answered that it is gone (410), UTC; nothing is sent since', NULL),
  ('_notify_targets', 'failing_since', 'table', 'TIMESTAMPTZ', 'When the first delivery failed since then, UTC; null where none did', NULL),
  ('_notify_targets', 'last_error', 'table', 'TEXT', 'Why the last delivery failed; null where the last one was accepted', NULL),
  ('_notify_targets', 'notice', 'table', 'TEXT', 'The message that goes out before all others, JSON; null where there is none', NULL),
  ('_notify_targets', 'place', 'table', 'TEXT', 'Cursor of the change feed: changes up to it were delivered, or their vendors wait in _notify_queue', '9f86d081884c7d65:1042'),
  ('_notify_targets', 'target', 'table', 'TEXT', 'Name of the target in the settings', 'hooks.example.com'),
  ('_owed_amounts', '', 'view', NULL, 'Internal: the amounts of _balance_spans, split so that they can be added up', NULL),
  ('_owed_amounts', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_owed_amounts', 'code', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('_owed_amounts', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency', '2'),
  ('_owed_amounts', 'outstanding_billions', 'view', 'BIGINT', 'Outstanding: billions of minor units', '0'),
  ('_owed_amounts', 'outstanding_more', 'view', 'DOUBLE PRECISION', 'Outstanding as a number, where it is no whole number of minor units in 64 bits; else 0', '0'),
  ('_owed_amounts', 'outstanding_more_count', 'view', 'INTEGER', '1 where outstanding_more is used', '0'),
  ('_owed_amounts', 'outstanding_rest', 'view', 'BIGINT', 'Outstanding: the remaining minor units', '120000'),
  ('_owed_amounts', 'overdue_billions', 'view', 'BIGINT', 'Overdue: billions of minor units', '0'),
  ('_owed_amounts', 'overdue_more', 'view', 'DOUBLE PRECISION', 'Overdue as a number, where it is no whole number of minor units in 64 bits; else 0', '0'),
  ('_owed_amounts', 'overdue_more_count', 'view', 'INTEGER', '1 where overdue_more is used', '0'),
  ('_owed_amounts', 'overdue_rest', 'view', 'BIGINT', 'Overdue: the remaining minor units', '120000'),
  ('_owed_amounts', 'state', 'view', 'TEXT', 'State of the vendor: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('_owed_amounts', 'unreadable', 'view', 'INTEGER', 'How many of the two amounts are not decimal numbers', '0'),
  ('_owed_amounts', 'valid_from', 'view', 'TIMESTAMPTZ', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('_owed_amounts', 'valid_to', 'view', 'TIMESTAMPTZ', 'End of the period, UTC; null for the current one', NULL),
  ('_owed_amounts', 'vendors', 'view', 'INTEGER', '1 if the outstanding amount is not zero', '1'),
  ('_owed_closings', '', 'view', NULL, 'Internal: what was owed at the end of each day on which it changed', NULL),
  ('_owed_closings', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('_owed_closings', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('_owed_closings', 'day', 'view', 'TEXT', 'The day, UTC', '2026-11-20'),
  ('_owed_closings', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('_owed_closings', 'outstanding', 'view', 'DOUBLE PRECISION', 'Sum of the outstanding amounts', '1200.0'),
  ('_owed_closings', 'outstanding_minor', 'view', 'BIGINT', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('_owed_closings', 'overdue', 'view', 'DOUBLE PRECISION', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('_owed_closings', 'overdue_minor', 'view', 'BIGINT', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('_owed_closings', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('_owed_closings', 'unreadable', 'view', 'BIGINT', 'Amounts that are not decimal numbers, and are left out of the sums', '0'),
  ('_owed_closings', 'until', 'view', 'TEXT', 'The next day on which it changed, UTC; null if there is none', '2026-11-22'),
  ('_owed_closings', 'vendors', 'view', 'BIGINT', 'How many vendors have an outstanding amount other than zero', '12'),
  ('_page_confirmations', '', 'table', NULL, 'Internal: vendors that a page of the list showed unchanged', NULL),
  ('_page_confirmations', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_page_confirmations', 'read_seq', 'table', 'BIGINT', 'Number of the reading', '1204'),
  ('_page_confirmations', 'vendorids', 'table', 'TEXT', 'Numbers of the vendors', '[1006,1011]'),
  ('_publications', '', 'table', NULL, 'Internal: copies for readers that a daemon keeps', NULL),
  ('_publications', 'code', 'table', 'TEXT', 'Code of the last of these errors', NULL),
  ('_publications', 'definition', 'table', 'TEXT', 'What was written: format, view and query of the settings, JSON', NULL),
  ('_publications', 'error', 'table', 'TEXT', 'The error in words', NULL),
  ('_publications', 'failed_at', 'table', 'TIMESTAMPTZ', 'When it last could not be written, UTC', NULL),
  ('_publications', 'failing_since', 'table', 'TIMESTAMPTZ', 'When it first could not be written after that, UTC; null if that did not happen', NULL),
  ('_publications', 'failures', 'table', 'BIGINT', 'How often in a row it could not be written', '0'),
  ('_publications', 'file_ms', 'table', 'DOUBLE PRECISION', 'Time of the file when it was written, milliseconds since 1970', '1795608000000.5'),
  ('_publications', 'path', 'table', 'TEXT', 'The file', 'copy.db'),
  ('_publications', 'place', 'table', 'TEXT', 'End of the change feed when it was written, as epoch:seq; null if it never was', NULL),
  ('_publications', 'remedy', 'table', 'TEXT', 'What to do about it, where more is known than the code says', NULL),
  ('_publications', 'written_at', 'table', 'TIMESTAMPTZ', 'When it was last written, UTC; null if it never was', '2026-11-20 12:00:00.000'),
  ('_rate_waits', '', 'table', NULL, 'Internal: processes that wait for a place in a rate limit', NULL),
  ('_rate_waits', 'connection', 'table', 'TEXT', 'Connection of the settings, by whose token they send', 'default'),
  ('_rate_waits', 'process', 'table', 'TEXT', 'Random name of the process that waits', NULL),
  ('_rate_waits', 'since_seq', 'table', 'BIGINT', 'The number that orders those who wait', '1204'),
  ('_rate_waits', 'waits_until_ms', 'table', 'BIGINT', 'Mirror time until which it is believed to wait', NULL),
  ('_rate_waits', 'window', 'table', 'TEXT', 'The limit that is used up: ''all'', ''post'' or ''callbacks''', 'all'),
  ('_reading_counter', '', 'table', NULL, 'Internal: the numbers that order readings and marks, and mirror time; one row', NULL),
  ('_reading_counter', 'clock_ahead_ms', 'table', 'BIGINT', 'By how much the clock of the machine is ahead of the service''s, milliseconds; null where it is not known to be wrong', NULL),
  ('_reading_counter', 'generation', 'table', 'BIGINT', 'The last number that a mark took', '88'),
  ('_reading_counter', 'id', 'table', 'SMALLINT', 'Always 1', '1'),
  ('_reading_counter', 'mirror_ms', 'table', 'BIGINT', 'Mirror time when it was last written, milliseconds', NULL),
  ('_reading_counter', 'offset_ms', 'table', 'BIGINT', 'Between the clock of the machine and mirror time, milliseconds', NULL),
  ('_reading_counter', 'read_seq', 'table', 'BIGINT', 'The last number that a reading took', '1204'),
  ('_reading_counter', 'run_id', 'table', 'BIGINT', 'The last number that a run took', '42'),
  ('_reading_counter', 'wall_ms', 'table', 'BIGINT', 'What the clock showed when it was last written, Unix milliseconds', NULL),
  ('_refusals', '', 'table', NULL, 'Internal: requests to callback addresses that were refused, by outcome', NULL),
  ('_refusals', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_refusals', 'detail', 'table', 'TEXT', 'What was wrong with the last one, without anything secret', 'x-other-signature came instead'),
  ('_refusals', 'first_at', 'table', 'TIMESTAMPTZ', 'When the first was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'last_at', 'table', 'TIMESTAMPTZ', 'When the last was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'outcome', 'table', 'TEXT', 'Why they were refused', 'wrong_signature'),
  ('_refusals', 'recent', 'table', 'BIGINT', 'How many were refused since a delivery was last accepted before one of them', '25'),
  ('_refusals', 'recent_at', 'table', 'TIMESTAMPTZ', 'When the first of those was refused, UTC', '2026-11-20 12:00:00.000'),
  ('_refusals', 'refused', 'table', 'BIGINT', 'How many were refused in all', '25'),
  ('_registration_refusals', '', 'table', NULL, 'Internal: events that the service would not register', NULL),
  ('_registration_refusals', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_registration_refusals', 'attempts', 'table', 'BIGINT', 'How often it was refused since refused_at', '3'),
  ('_registration_refusals', 'code', 'table', 'TEXT', 'Code of the error', 'access_denied'),
  ('_registration_refusals', 'event', 'table', 'TEXT', 'The event', 'bill_vendor.create'),
  ('_registration_refusals', 'message', 'table', 'TEXT', 'The error in words', 'The service refused the token.'),
  ('_registration_refusals', 'refused_at', 'table', 'TIMESTAMPTZ', 'Since when, UTC', '2026-11-20 12:00:00.000'),
  ('_registration_refusals', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', NULL),
  ('_registration_refusals', 'retry_at', 'table', 'TIMESTAMPTZ', 'When it is tried again at the earliest, UTC; null where with the next check', '2026-11-20 12:04:00.000'),
  ('_registration_refusals', 'uri', 'table', 'TEXT', 'The address that was to be registered, without its path token', 'https://mirror.example.com/webhooks/6BApk/'),
  ('_request_failures', '', 'table', NULL, 'Internal: requests of an account that failed one after the other, until one is answered', NULL),
  ('_request_failures', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_request_failures', 'code', 'table', 'TEXT', 'Code of the last error', 'service_unreachable'),
  ('_request_failures', 'first_at', 'table', 'TIMESTAMPTZ', 'When the first failed, UTC', '2026-11-20 12:00:00.000'),
  ('_request_failures', 'last_at', 'table', 'TIMESTAMPTZ', 'When the last failed, UTC', '2026-11-20 12:00:00.000'),
  ('_request_failures', 'message', 'table', 'TEXT', 'The error in words', 'The service refused the token.'),
  ('_request_failures', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.'),
  ('_request_failures', 'requests', 'table', 'BIGINT', 'How many failed', '3'),
  ('_requests', '', 'table', NULL, 'Internal: requests that still count for their rate limit', NULL),
  ('_requests', 'connection', 'table', 'TEXT', 'Connection of the settings, by whose token it was sent', 'default'),
  ('_requests', 'counts_until_ms', 'table', 'BIGINT', 'Mirror time until which it counts', NULL),
  ('_requests', 'process', 'table', 'TEXT', 'Random name of the process that waits for the answer; null once it came', NULL),
  ('_requests', 'read_seq', 'table', 'BIGINT', 'Its number', '1204'),
  ('_requests', 'window', 'table', 'TEXT', 'The limit that it counts against: ''all'', ''post'' or ''callbacks''', 'all'),
  ('_service_knowledge', '', 'table', NULL, 'Internal: what was learned of the service from its lists', NULL),
  ('_service_knowledge', 'asked_at', 'table', 'TIMESTAMPTZ', 'When it was last asked where pages count from', '2026-11-27 23:10:00.000'),
  ('_service_knowledge', 'counts_lists', 'table', 'SMALLINT', '1: `total` was seen to count a list of several pages', '1'),
  ('_service_knowledge', 'first_page', 'table', 'SMALLINT', 'The number of the first page of a list, 0 or 1; null where it is not known', '1'),
  ('_service_knowledge', 'largest_page', 'table', 'BIGINT', 'The most rows that a page ever had', '100'),
  ('_service_knowledge', 'service', 'table', 'TEXT', 'Address of the service; empty where the mirror does not name one', 'https://api.example.com'),
  ('_shown_states', '', 'table', NULL, 'Internal: states besides 0 whose vendors lists show', NULL),
  ('_shown_states', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_shown_states', 'shown_by', 'table', 'TEXT', '''list'': by the default list; ''filter'': by the list of that state alone', 'list'),
  ('_shown_states', 'vis_state', 'table', 'SMALLINT', '1 deleted, 2 archived, -1 without a state', '2'),
  ('_sweep_requests', '', 'table', NULL, 'Internal: accounts for which a sweep is asked', NULL),
  ('_sweep_requests', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_sweep_requests', 'asked_at', 'table', 'TIMESTAMPTZ', 'When the first request came that is not answered, UTC; null where all are', NULL),
  ('_sweep_requests', 'asked_ms', 'table', 'BIGINT', 'The same in mirror time', NULL),
  ('_sweep_requests', 'callback_id_at', 'table', 'TIMESTAMPTZ', 'When the last of these came, UTC', NULL),
  ('_sweep_requests', 'callback_ids', 'table', 'BIGINT', 'Deliveries that named the number of a callback of ours', '0'),
  ('_sweep_requests', 'generation', 'table', 'BIGINT', 'Raised by each request', '9'),
  ('_sweep_requests', 'last_ms', 'table', 'BIGINT', 'Mirror time of the last request', NULL),
  ('_sweep_requests', 'rest_until_ms', 'table', 'BIGINT', 'Mirror time before which no sweep begins for this', NULL),
  ('_unknown_callbacks', '', 'table', NULL, 'Internal: callbacks that lead to the address of this installation, and that other secrets registered', NULL),
  ('_unknown_callbacks', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_unknown_callbacks', 'callbackid', 'table', 'BIGINT', 'Number of the callback at the service', '2001'),
  ('_unknown_callbacks', 'found_at', 'table', 'TIMESTAMPTZ', 'When it was seen first, UTC', '2026-11-20 12:00:00.000'),
  ('_unsteady_fields', '', 'table', NULL, 'Internal: fields that differed without an edit', NULL),
  ('_unsteady_fields', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_unsteady_fields', 'changes', 'table', 'BIGINT', 'How often in succession; from 4 on, such a difference is no change', '4'),
  ('_unsteady_fields', 'field', 'table', 'TEXT', 'Name of the field', 'logo'),
  ('_unsteady_fields', 'is_found', 'table', 'SMALLINT', '1 if a finding names the field', '1'),
  ('_unsteady_fields', 'run_id', 'table', 'BIGINT', 'The last run in which it did', '9'),
  ('_unsteady_fields', 'vendorid', 'table', 'BIGINT', 'A vendor that showed it', '1006'),
  ('_vendor_versions', '', 'table', NULL, 'Internal: the rows of vendor_versions', NULL),
  ('_vendor_versions', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_vendor_versions', 'changed_fields', 'table', 'TEXT', 'Names of the fields that changed, JSON; empty for the first version', '["phone","updated_at"]'),
  ('_vendor_versions', 'delivery_id', 'table', 'BIGINT', 'The delivery that announced it; null if none did', '7'),
  ('_vendor_versions', 'presence', 'table', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('_vendor_versions', 'raw', 'table', 'TEXT', 'The record as received, JSON; null in the current version, whose record stands in vendors', '{"vendorid":1006}'),
  ('_vendor_versions', 'run_id', 'table', 'BIGINT', 'The run that found it; null if none did', '42'),
  ('_vendor_versions', 'seq', 'table', 'BIGINT', 'Number of the change; the cursor of the feed', '120'),
  ('_vendor_versions', 'source', 'table', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('_vendor_versions', 'valid_from', 'table', 'TIMESTAMPTZ', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('_vendor_versions', 'valid_to', 'table', 'TIMESTAMPTZ', 'When the next version was learned, UTC; null for the current one', NULL),
  ('_vendor_versions', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('_vendor_versions', 'vis_state', 'table', 'SMALLINT', '0 active, 1 deleted, 2 archived', '0'),
  ('_vendor_versions', 'vis_state_source', 'table', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('_webhook_days', '', 'table', NULL, 'Internal: the counts behind webhook_health; kept by triggers', NULL),
  ('_webhook_days', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('_webhook_days', 'announced_changes', 'table', 'BIGINT', 'Changed vendors that deliveries announced, counted when the next sweep begins', '31'),
  ('_webhook_days', 'day', 'table', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('_webhook_days', 'deliveries', 'table', 'BIGINT', 'Deliveries received', '40'),
  ('_webhook_days', 'duplicates', 'table', 'BIGINT', 'Deliveries that brought nothing new', '6'),
  ('_webhook_days', 'late_deliveries', 'table', 'BIGINT', 'Changes that a delivery announced after a sweep had found them', '0'),
  ('_webhook_days', 'latest_seconds', 'table', 'DOUBLE PRECISION', 'How late the latest of these deliveries was, in seconds', NULL),
  ('_webhook_days', 'unannounced_changes', 'table', 'BIGINT', 'Changes that a sweep found and no delivery had announced', '1'),
  ('active_vendors', '', 'view', NULL, 'Vendors that are active and not absent', NULL),
  ('active_vendors', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('active_vendors', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('active_vendors', 'changed_at', 'view', 'TIMESTAMPTZ', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('active_vendors', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('active_vendors', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('active_vendors', 'created_at', 'view', 'TEXT', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('active_vendors', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('active_vendors', 'first_seen_at', 'view', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('active_vendors', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0; null if the service did not show it, or not so that it can be read', '1'),
  ('active_vendors', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('active_vendors', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('active_vendors', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('active_vendors', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('active_vendors', 'presence', 'view', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('active_vendors', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL),
  ('active_vendors', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('active_vendors', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('active_vendors', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('active_vendors', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('active_vendors', 'source', 'view', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('active_vendors', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('active_vendors', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('active_vendors', 'updated_at', 'view', 'TEXT', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('active_vendors', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('active_vendors', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('active_vendors', 'vis_state', 'view', 'SMALLINT', '0 active, 1 deleted, 2 archived', '0'),
  ('active_vendors', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('active_vendors', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('balance_history', '', 'view', NULL, 'What was owed: one row per vendor and currency for each period in which neither amount nor the state of the vendor changed', NULL),
  ('balance_history', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('balance_history', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('balance_history', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('balance_history', 'outstanding', 'view', 'DOUBLE PRECISION', 'Outstanding; 0 if none was sent, null if the amount is not a decimal number', '1200.0'),
  ('balance_history', 'outstanding_minor', 'view', 'BIGINT', 'Outstanding in the minor unit, exact; null also if it has more decimal places than the currency', '120000'),
  ('balance_history', 'outstanding_text', 'view', 'TEXT', 'Outstanding, exactly as sent; null if none was sent', '1200.00'),
  ('balance_history', 'overdue', 'view', 'DOUBLE PRECISION', 'Overdue, which is part of outstanding; 0 if none was sent, null if the amount is not a decimal number', '200.0'),
  ('balance_history', 'overdue_minor', 'view', 'BIGINT', 'Overdue in the minor unit, exact; null also if it has more decimal places than the currency', '20000'),
  ('balance_history', 'overdue_text', 'view', 'TEXT', 'Overdue, exactly as sent; null if none was sent', '200.00'),
  ('balance_history', 'state', 'view', 'TEXT', 'State of the vendor in this period: ''active'', ''deleted'', ''archived'' or ''unknown''; null while it was missing or gone', 'active'),
  ('balance_history', 'valid_from', 'view', 'TIMESTAMPTZ', 'Start of the period, UTC', '2026-11-20 12:00:00.000'),
  ('balance_history', 'valid_to', 'view', 'TIMESTAMPTZ', 'End of the period, UTC; null for the current one', NULL),
  ('balance_history', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('callbacks', '', 'table', NULL, 'Webhook callbacks that this installation registered at the service', NULL),
  ('callbacks', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('callbacks', 'callbackid', 'table', 'BIGINT', 'Number of the callback', '2001'),
  ('callbacks', 'checked_at', 'table', 'TIMESTAMPTZ', 'When this was last checked, UTC; recorded once an hour while it does not change', '2026-11-20 12:00:00.000'),
  ('callbacks', 'event', 'table', 'TEXT', 'Event or resource for which it is registered', 'bill_vendor'),
  ('callbacks', 'uri', 'table', 'TEXT', 'Where the service sends deliveries, without the path token', 'https://mirror.example.com/webhooks/6BApk/…'),
  ('callbacks', 'verified', 'table', 'BOOLEAN', '1 if it is verified', '1'),
  ('contact_changes', '', 'view', NULL, 'Changes of a vendor''s name, account number, contact, telephone number or address: one row per changed field', NULL),
  ('contact_changes', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('contact_changes', 'at', 'view', 'TIMESTAMPTZ', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('contact_changes', 'field', 'view', 'TEXT', 'Name of the field', 'phone'),
  ('contact_changes', 'learned_by', 'view', 'TEXT', '''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('contact_changes', 'new', 'view', 'TEXT', 'New value, in the same form', '+1 555 0199'),
  ('contact_changes', 'old', 'view', 'TEXT', 'Old value: states as words, amounts with their currency, other lists as JSON; null if it was null, or if retention removed the version before', '+1 555 0100'),
  ('contact_changes', 'seq', 'view', 'BIGINT', 'Number of the change; the cursor of the feed', '120'),
  ('contact_changes', 'user_id', 'view', 'BIGINT', 'The user that the webhook named which announced the change; null if none did, or it is no longer kept', NULL),
  ('contact_changes', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('contact_changes', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('contractors_1099', '', 'view', NULL, 'Active vendors that get a form 1099: one row for each currency in which one has a balance, or one without a currency', NULL),
  ('contractors_1099', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('contractors_1099', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('contractors_1099', 'changed_at', 'view', 'TIMESTAMPTZ', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('contractors_1099', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('contractors_1099', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('contractors_1099', 'created_at', 'view', 'TEXT', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('contractors_1099', 'currency', 'view', 'TEXT', 'Currency, three letters; null where the vendor has no balance, or is absent', 'USD'),
  ('contractors_1099', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('contractors_1099', 'first_seen_at', 'view', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('contractors_1099', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0; null if the service did not show it, or not so that it can be read', '1'),
  ('contractors_1099', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('contractors_1099', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('contractors_1099', 'outstanding', 'view', 'DOUBLE PRECISION', 'Outstanding; 0 if none was sent, null if the amount is not a decimal number; null where the vendor has no balance, or is absent', '1200.0'),
  ('contractors_1099', 'overdue', 'view', 'DOUBLE PRECISION', 'Overdue, which is part of outstanding; 0 if none was sent, null if the amount is not a decimal number; null where the vendor has no balance, or is absent', '200.0'),
  ('contractors_1099', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('contractors_1099', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('contractors_1099', 'presence', 'view', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('contractors_1099', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL),
  ('contractors_1099', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('contractors_1099', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('contractors_1099', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('contractors_1099', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('contractors_1099', 'source', 'view', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('contractors_1099', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('contractors_1099', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('contractors_1099', 'updated_at', 'view', 'TEXT', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('contractors_1099', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('contractors_1099', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('contractors_1099', 'vis_state', 'view', 'SMALLINT', '0 active, 1 deleted, 2 archived', '0'),
  ('contractors_1099', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('contractors_1099', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('data_dictionary', '', 'table', NULL, 'This table: every table, view and column of the file', NULL),
  ('data_dictionary', 'column_name', 'table', 'TEXT', 'Name of the column; empty for the table or view itself', 'outstanding'),
  ('data_dictionary', 'example', 'table', 'TEXT', 'An example of a value', NULL),
  ('data_dictionary', 'kind', 'table', 'TEXT', '''table'' or ''view''', 'view'),
  ('data_dictionary', 'meaning', 'table', 'TEXT', 'What it means', NULL),
  ('data_dictionary', 'name', 'table', 'TEXT', 'Name of the table or view', 'payables'),
  ('data_dictionary', 'type', 'table', 'TEXT', 'Type of the values; null for a table or view', 'REAL'),
  ('deliveries', '', 'table', NULL, 'The journal: one row per webhook delivery that was accepted', NULL),
  ('deliveries', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('deliveries', 'business_id', 'table', 'BIGINT', 'Number of the business', '77'),
  ('deliveries', 'id', 'table', 'BIGINT', 'Number of the delivery', '7'),
  ('deliveries', 'identity_id', 'table', 'BIGINT', 'Identity in the delivery', NULL),
  ('deliveries', 'name', 'table', 'TEXT', 'Event', 'bill_vendor.update'),
  ('deliveries', 'object_id', 'table', 'BIGINT', 'Number of the vendor that changed', '1006'),
  ('deliveries', 'outcome', 'table', 'TEXT', '''pending'', ''applied'', ''unchanged'', ''not_found'', ''ignored'' or ''parked''', 'applied'),
  ('deliveries', 'received_at', 'table', 'TIMESTAMPTZ', 'When it was received, UTC', '2026-11-20 12:00:00.000'),
  ('deliveries', 'settled_at', 'table', 'TIMESTAMPTZ', 'When the vendor was read again, UTC; null until then', '2026-11-20 12:00:00.000'),
  ('deliveries', 'user_id', 'table', 'BIGINT', 'User who made the change, if sent', '5'),
  ('dirty_vendors', '', 'table', NULL, 'The queue: vendors that are to be read again', NULL),
  ('dirty_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('dirty_vendors', 'attempts', 'table', 'BIGINT', 'Reads that failed', '0'),
  ('dirty_vendors', 'due_at', 'table', 'TIMESTAMPTZ', 'When it is due to be read, UTC; null while it is parked until the next reconciliation', '2026-11-20 12:00:00.000'),
  ('dirty_vendors', 'due_ms', 'table', 'BIGINT', 'The same in mirror time', NULL),
  ('dirty_vendors', 'generation', 'table', 'BIGINT', 'Number of the latest mark', '88'),
  ('dirty_vendors', 'last_error', 'table', 'TEXT', 'Code of the last failure', NULL),
  ('dirty_vendors', 'last_ms', 'table', 'BIGINT', 'When it was marked last, in mirror time', NULL),
  ('dirty_vendors', 'marked_at', 'table', 'TIMESTAMPTZ', 'When it was first marked since it was last read, UTC', '2026-11-20 12:00:00.000'),
  ('dirty_vendors', 'marked_ms', 'table', 'BIGINT', 'marked_at in mirror time', NULL),
  ('dirty_vendors', 'reason', 'table', 'TEXT', '''delivery'', ''second_look'', ''guarded'', ''retry'', ''reconcile'' or ''asked''', 'delivery'),
  ('dirty_vendors', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('findings', '', 'table', NULL, 'One row per change that a sweep found and no delivery had announced, and per irregularity', NULL),
  ('findings', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('findings', 'explained_at', 'table', 'TIMESTAMPTZ', 'When a late delivery announced it, UTC; null if none did', NULL),
  ('findings', 'explanation', 'table', 'TEXT', 'How late that delivery was', NULL),
  ('findings', 'fields', 'table', 'TEXT', 'Names of the fields, or details of the finding, JSON', '["phone"]'),
  ('findings', 'found_at', 'table', 'TIMESTAMPTZ', 'When it was found, UTC', '2026-11-20 12:00:00.000'),
  ('findings', 'id', 'table', 'BIGINT', 'Number of the finding', '3'),
  ('findings', 'kind', 'table', 'TEXT', 'What was found: ''missed_create'', ''missed_update'', ''missed_delete'', ''missed_restore'', ''balance_only'', ''in_flight'', ''vanished'', ''field_drift'', ''record_rejected'', ''count_mismatch'', ''unreadable'', ''unreadable_value'', ''not_honoured'', ''lagging_copy'', ''unlisted'', ''unsteady_field'' or ''breaker''', 'missed_update'),
  ('findings', 'run_id', 'table', 'BIGINT', 'The run that found it', '42'),
  ('findings', 'vendorid', 'table', 'BIGINT', 'Number of the vendor; null if the finding is not about a vendor', '1006'),
  ('freshness', '', 'view', NULL, 'How fresh each account is: one row per account', NULL),
  ('freshness', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('freshness', 'callback_verified', 'view', 'BOOLEAN', '1 if webhooks are registered and verified; null if none is registered', '1'),
  ('freshness', 'details_as_of', 'view', 'TIMESTAMPTZ', 'Fields that lists leave out, and only reads of single vendors carry, are correct up to this time, UTC: 1970 until each vendor was read once; null where no list is known to leave any out', NULL),
  ('freshness', 'last_complete_sweep', 'view', 'TIMESTAMPTZ', 'When the last complete sweep ended, UTC; null before the first', '2026-11-20 12:00:00.000'),
  ('freshness', 'listed_as_of', 'view', 'TIMESTAMPTZ', 'Like safe_as_of, but only for vendors that lists show, UTC; vendors that lists hide are read again in turn', '2026-11-20 12:00:00.000'),
  ('freshness', 'not_served_since', 'view', 'TIMESTAMPTZ', 'When the settings stopped naming it, UTC; null while they name it', NULL),
  ('freshness', 'oldest_unsettled_delivery', 'view', 'TIMESTAMPTZ', 'When the oldest delivery was received whose vendor is not read again yet, UTC; null if there is none', NULL),
  ('freshness', 'open_suspects', 'view', 'BIGINT', 'Vendors that the last sweep did not see and that are not confirmed as missing or gone', '0'),
  ('freshness', 'parked_vendors', 'view', 'BIGINT', 'Vendors that could not be read and wait for the next reconciliation', '0'),
  ('freshness', 'paused_since', 'view', 'TIMESTAMPTZ', 'When the account was paused, UTC; it is not kept fresh until it is resumed; null if it is not paused', NULL),
  ('freshness', 'safe_as_of', 'view', 'TIMESTAMPTZ', 'The mirror holds every change up to this time, UTC; null before the first complete sweep', '2026-11-20 12:00:00.000'),
  ('freshness', 'undecided', 'view', 'BIGINT', 'Vendors about which the last complete run could not decide, because the service refuses them or answers for them alone with what cannot be used, or because lists leave out what reads by id show; safe_as_of is limited by them', '0'),
  ('gateways', '', 'table', NULL, 'Payment gateways that are, or were, enabled for an account', NULL),
  ('gateways', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('gateways', 'connectionid', 'table', 'TEXT', 'Identifier of the gateway at the service', NULL),
  ('gateways', 'first_seen_at', 'table', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('gateways', 'gateway_name', 'table', 'TEXT', 'Name of the processor', 'stripe'),
  ('gateways', 'id', 'table', 'BIGINT', 'Number of the gateway as sent in id', '30'),
  ('gateways', 'removed_at', 'table', 'TIMESTAMPTZ', 'When it was found disabled, UTC; null while it is enabled', NULL),
  ('gateways', 'sgid', 'table', 'BIGINT', 'Number of the gateway in the account', '30'),
  ('migrations', '', 'table', NULL, 'Internal: migrations that were applied to the file', NULL),
  ('migrations', 'applied_at', 'table', 'TIMESTAMPTZ', 'When it was applied, UTC', '2026-11-20 12:00:00.000'),
  ('migrations', 'applied_by', 'table', 'TEXT', 'Version of the program that applied it; null for those before 0.2.0', '0.2.0'),
  ('migrations', 'checksum', 'table', 'TEXT', 'SHA-256 of the file, hexadecimal', NULL),
  ('migrations', 'name', 'table', 'TEXT', 'Name of its file', '0001_mirror.sql'),
  ('migrations', 'number', 'table', 'BIGINT', 'Number of the migration', '1'),
  ('mirror_identity', '', 'table', NULL, 'One row: which file this is, and which service it mirrors', NULL),
  ('mirror_identity', 'daemon_epoch', 'table', 'BIGINT', 'Number of daemons that have run on the file', '3'),
  ('mirror_identity', 'derivation', 'table', 'BIGINT', 'By which rules the columns of vendors were derived from raw', '1'),
  ('mirror_identity', 'id', 'table', 'SMALLINT', 'Always 1', '1'),
  ('mirror_identity', 'listener_host', 'table', 'TEXT', 'Where the last daemon took deliveries (listener.host); null if none ran', '127.0.0.1'),
  ('mirror_identity', 'listener_moved_at', 'table', 'TIMESTAMPTZ', 'When a daemon first listened on this machine alone, by default, after one that listened on all interfaces, UTC; null if that did not happen', NULL),
  ('mirror_identity', 'mirror_id', 'table', 'TEXT', 'Random identifier, also stored in the file of secrets', NULL),
  ('mirror_identity', 'service', 'table', 'TEXT', 'Address of the service, or name of a sandbox; null until it has answered once', 'https://api.example.com'),
  ('mirror_identity', 'service_since', 'table', 'TIMESTAMPTZ', 'Since when, UTC', '2026-11-20 12:00:00.000'),
  ('owed', '', 'view', NULL, 'What is owed: one row per account, state of the vendors and currency. Vendors that are missing or gone are left out. Everything that says what is owed reads this', NULL),
  ('owed', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('owed', 'currency', 'view', 'TEXT', 'Currency, three letters; null in the row of vendors whose balances cannot be read at all', 'USD'),
  ('owed', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('owed', 'outstanding', 'view', 'DOUBLE PRECISION', 'Sum of the outstanding amounts', '1200.0'),
  ('owed', 'outstanding_minor', 'view', 'BIGINT', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('owed', 'overdue', 'view', 'DOUBLE PRECISION', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('owed', 'overdue_minor', 'view', 'BIGINT', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('owed', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('owed', 'unreadable', 'view', 'BIGINT', 'Amounts that are not decimal numbers, and are left out of the sums; in the row without a currency, vendors whose balances cannot be read at all', '0'),
  ('owed', 'vendors', 'view', 'BIGINT', 'How many vendors have an outstanding amount other than zero', '12'),
  ('owed_by_day', '', 'view', NULL, 'What was owed at the end of each day (UTC), today until now: one row per account, day, state of the vendors and currency. Past days never change', NULL),
  ('owed_by_day', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('owed_by_day', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('owed_by_day', 'day', 'view', 'TEXT', 'The day, UTC', '2026-11-20'),
  ('owed_by_day', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('owed_by_day', 'outstanding', 'view', 'DOUBLE PRECISION', 'Sum of the outstanding amounts', '1200.0'),
  ('owed_by_day', 'outstanding_minor', 'view', 'BIGINT', 'Outstanding, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '120000'),
  ('owed_by_day', 'overdue', 'view', 'DOUBLE PRECISION', 'Sum of the overdue amounts, which are part of the outstanding ones', '200.0'),
  ('owed_by_day', 'overdue_minor', 'view', 'BIGINT', 'Overdue, exactly, in the minor unit of the currency; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits', '20000'),
  ('owed_by_day', 'state', 'view', 'TEXT', 'State of the vendors: ''active'', ''deleted'', ''archived'' or ''unknown''', 'active'),
  ('owed_by_day', 'unreadable', 'view', 'BIGINT', 'Amounts that are not decimal numbers, and are left out of the sums', '0'),
  ('owed_by_day', 'vendors', 'view', 'BIGINT', 'How many vendors have an outstanding amount other than zero', '12'),
  ('payables', '', 'view', NULL, 'What is owed to whom: one row per vendor that is not absent and currency in which it has a balance; amounts are numbers. Their sums are in owed', NULL),
  ('payables', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('payables', 'currency', 'view', 'TEXT', 'Currency, three letters', 'USD'),
  ('payables', 'minor_digits', 'view', 'BIGINT', 'Decimal places of the currency: 2 for USD, 0 for JPY, 3 for KWD', '2'),
  ('payables', 'outstanding', 'view', 'DOUBLE PRECISION', 'Outstanding; 0 if none was sent, null if the amount is not a decimal number', '1200.0'),
  ('payables', 'outstanding_minor', 'view', 'BIGINT', 'Outstanding in the minor unit, exact; null also if it has more decimal places than the currency', '120000'),
  ('payables', 'overdue', 'view', 'DOUBLE PRECISION', 'Overdue, which is part of outstanding; 0 if none was sent, null if the amount is not a decimal number', '200.0'),
  ('payables', 'overdue_minor', 'view', 'BIGINT', 'Overdue in the minor unit, exact; null also if it has more decimal places than the currency', '20000'),
  ('payables', 'state', 'view', 'TEXT', '''active'', ''deleted'' or ''archived''; ''unknown'' if the service sent no state, or none of these', 'active'),
  ('payables', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('payables', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('runs', '', 'table', NULL, 'One row per attempt to walk the list of an account', NULL),
  ('runs', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('runs', 'began_seq', 'table', 'BIGINT', 'Number that it took among readings when it began: higher ones are later', NULL),
  ('runs', 'created', 'table', 'BIGINT', 'Vendors that were new', '2'),
  ('runs', 'error', 'table', 'TEXT', 'Why it was not complete', NULL),
  ('runs', 'error_code', 'table', 'TEXT', 'Code of the error', NULL),
  ('runs', 'finished_at', 'table', 'TIMESTAMPTZ', 'When it ended, UTC; null while it runs', '2026-11-20 12:00:00.000'),
  ('runs', 'id', 'table', 'BIGINT', 'Number of the run', '42'),
  ('runs', 'kind', 'table', 'TEXT', '''pull'', ''reconcile'' or ''verify''', 'pull'),
  ('runs', 'list_moved', 'table', 'BOOLEAN', '1 if the list changed during the run', '0'),
  ('runs', 'listed_as_of', 'table', 'TIMESTAMPTZ', 'Like safe_as_of, but only for vendors that lists show', '2026-11-20 12:00:00.000'),
  ('runs', 'outcome', 'table', 'TEXT', '''running'', ''complete'', ''incomplete'', ''failed'' or ''abandoned''', 'complete'),
  ('runs', 'pages', 'table', 'BIGINT', 'Pages read', '12'),
  ('runs', 'process', 'table', 'TEXT', 'Random name of the process', NULL),
  ('runs', 'proof', 'table', 'TEXT', 'How completeness was proven: ''plain'', ''windows'' or ''passes''; null if it was not', 'plain'),
  ('runs', 'remedy', 'table', 'TEXT', 'What to do about the error; null where its code says all that is known', 'Check the port, and whether a firewall or proxy blocks it.'),
  ('runs', 'requests', 'table', 'BIGINT', 'Requests sent', '14'),
  ('runs', 'safe_as_of', 'table', 'TIMESTAMPTZ', 'The mirror holds every change up to this time, UTC; null if that is not proven', '2026-11-20 12:00:00.000'),
  ('runs', 'seen', 'table', 'BIGINT', 'Vendors seen', '1180'),
  ('runs', 'started_at', 'table', 'TIMESTAMPTZ', 'When it began, UTC', '2026-11-20 12:00:00.000'),
  ('runs', 'suspects', 'table', 'BIGINT', 'Vendors that were not seen', '0'),
  ('runs', 'trigger', 'table', 'TEXT', '''command'', ''schedule'', ''start'', ''verification'', ''watchdog'' or ''queue''', 'schedule'),
  ('runs', 'unchanged', 'table', 'BIGINT', 'Vendors that had not changed', '1173'),
  ('runs', 'updated', 'table', 'BIGINT', 'Vendors that had changed', '5'),
  ('undecided_vendors', '', 'table', NULL, 'Vendors that the last complete run did not see in a list, and could not read by id; or that it read by id, and lists leave out', NULL),
  ('undecided_vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('undecided_vendors', 'as_of', 'table', 'TIMESTAMPTZ', 'Up to when the mirror knows it, UTC: safe_as_of of the account is not later; null if that is unknown', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'code', 'table', 'TEXT', 'Code of the error when it was read; ''list_refuted'': it was read, and lists leave it out', 'service_unavailable'),
  ('undecided_vendors', 'error', 'table', 'TEXT', 'The error, as a sentence', 'The service failed with status 500.'),
  ('undecided_vendors', 'since', 'table', 'TIMESTAMPTZ', 'When a run could not decide about it first, UTC', '2026-11-20 12:00:00.000'),
  ('undecided_vendors', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_balances', '', 'table', NULL, 'The current balances of a vendor, one row per kind and currency, exactly as sent', NULL),
  ('vendor_balances', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_balances', 'amount', 'table', 'TEXT', 'Exactly as sent', '1200.00'),
  ('vendor_balances', 'amount_minor', 'table', 'BIGINT', 'In the minor unit of the currency; null if the text is not an amount in it', '120000'),
  ('vendor_balances', 'code', 'table', 'TEXT', 'Currency, three letters', 'USD'),
  ('vendor_balances', 'kind', 'table', 'TEXT', '''outstanding'' or ''overdue''', 'outstanding'),
  ('vendor_balances', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_changes', '', 'view', NULL, 'One row per changed field, but for updated_at: old and new value, and when and how the change was learned', NULL),
  ('vendor_changes', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_changes', 'at', 'view', 'TIMESTAMPTZ', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_changes', 'field', 'view', 'TEXT', 'Name of the field', 'phone'),
  ('vendor_changes', 'learned_by', 'view', 'TEXT', '''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendor_changes', 'new', 'view', 'TEXT', 'New value, in the same form', '+1 555 0199'),
  ('vendor_changes', 'old', 'view', 'TEXT', 'Old value: states as words, amounts with their currency, other lists as JSON; null if it was null, or if retention removed the version before', '+1 555 0100'),
  ('vendor_changes', 'seq', 'view', 'BIGINT', 'Number of the change; the cursor of the feed', '120'),
  ('vendor_changes', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendor_changes', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_overview', '', 'view', NULL, 'Vendors for a spreadsheet: one row for each vendor and currency in which it has a balance, or one without a currency', NULL),
  ('vendor_overview', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_overview', 'account_number', 'view', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('vendor_overview', 'changed_at', 'view', 'TIMESTAMPTZ', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_overview', 'city', 'view', 'TEXT', 'City', 'Boise'),
  ('vendor_overview', 'country', 'view', 'TEXT', 'Country, as text', 'United States'),
  ('vendor_overview', 'created_at', 'view', 'TEXT', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendor_overview', 'currency', 'view', 'TEXT', 'Currency, three letters; null where the vendor has no balance, or is absent', 'USD'),
  ('vendor_overview', 'currency_code', 'view', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('vendor_overview', 'first_seen_at', 'view', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_overview', 'is_1099', 'view', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0; null if the service did not show it, or not so that it can be read', '1'),
  ('vendor_overview', 'language', 'view', 'TEXT', 'Language, two letters', 'en'),
  ('vendor_overview', 'note', 'view', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('vendor_overview', 'outstanding', 'view', 'DOUBLE PRECISION', 'Outstanding; 0 if none was sent, null if the amount is not a decimal number; null where the vendor has no balance, or is absent', '1200.0'),
  ('vendor_overview', 'overdue', 'view', 'DOUBLE PRECISION', 'Overdue, which is part of outstanding; 0 if none was sent, null if the amount is not a decimal number; null where the vendor has no balance, or is absent', '200.0'),
  ('vendor_overview', 'phone', 'view', 'TEXT', 'Phone number', '+1 555 0100'),
  ('vendor_overview', 'postal_code', 'view', 'TEXT', 'Postal code', '83702'),
  ('vendor_overview', 'presence', 'view', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('vendor_overview', 'primary_contact', 'view', 'TEXT', 'Contact, if the service sends one', NULL),
  ('vendor_overview', 'primary_contact_email', 'view', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('vendor_overview', 'primary_contact_first_name', 'view', 'TEXT', 'First name of the contact', 'Ada'),
  ('vendor_overview', 'primary_contact_last_name', 'view', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('vendor_overview', 'province', 'view', 'TEXT', 'Province or state', 'ID'),
  ('vendor_overview', 'state', 'view', 'TEXT', '''active'', ''deleted'' or ''archived''; ''unknown'' if the service sent no state, or none of these', 'active'),
  ('vendor_overview', 'street', 'view', 'TEXT', 'Street', '12 Main Street'),
  ('vendor_overview', 'street2', 'view', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('vendor_overview', 'updated_at', 'view', 'TEXT', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendor_overview', 'vendor_name', 'view', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendor_overview', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_overview', 'vis_state', 'view', 'SMALLINT', '0 active, 1 deleted, 2 archived; null if the service sent no state, or none of these', '0'),
  ('vendor_overview', 'website', 'view', 'TEXT', 'Website', 'https://vendor.example'),
  ('vendor_tax_defaults', '', 'table', NULL, 'The tax defaults of a vendor', NULL),
  ('vendor_tax_defaults', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_tax_defaults', 'amount', 'table', 'TEXT', 'Rate, as sent', '13.56'),
  ('vendor_tax_defaults', 'created_at', 'table', 'TEXT', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendor_tax_defaults', 'enabled', 'table', 'BOOLEAN', '1 if the tax is applied', '1'),
  ('vendor_tax_defaults', 'name', 'table', 'TEXT', 'Name of the tax', 'GST'),
  ('vendor_tax_defaults', 'system_taxid', 'table', 'BIGINT', 'Number of the tax in the business', '36859'),
  ('vendor_tax_defaults', 'tax_authorityid', 'table', 'TEXT', 'Number of the tax authority', NULL),
  ('vendor_tax_defaults', 'taxid', 'table', 'BIGINT', 'Number of the tax default', '1'),
  ('vendor_tax_defaults', 'updated_at', 'table', 'TEXT', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendor_tax_defaults', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_versions', '', 'view', NULL, 'One row per content change of a vendor; the feed of all changes in the order in which they were learned', NULL),
  ('vendor_versions', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vendor_versions', 'changed_fields', 'view', 'TEXT', 'Names of the fields that changed, JSON; empty for the first version', '["phone","updated_at"]'),
  ('vendor_versions', 'delivery_id', 'view', 'BIGINT', 'The delivery that announced it; null if none did', '7'),
  ('vendor_versions', 'presence', 'view', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('vendor_versions', 'raw', 'view', 'TEXT', 'The record as received, JSON', '{"vendorid":1006}'),
  ('vendor_versions', 'run_id', 'view', 'BIGINT', 'The run that found it; null if none did', '42'),
  ('vendor_versions', 'seq', 'view', 'BIGINT', 'Number of the change; the cursor of the feed', '120'),
  ('vendor_versions', 'source', 'view', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendor_versions', 'valid_from', 'view', 'TIMESTAMPTZ', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vendor_versions', 'valid_to', 'view', 'TIMESTAMPTZ', 'When the next version was learned, UTC; null for the current one', NULL),
  ('vendor_versions', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendor_versions', 'vis_state', 'view', 'SMALLINT', '0 active, 1 deleted, 2 archived', '0'),
  ('vendor_versions', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('vendors', '', 'table', NULL, 'One row per vendor: every field of the service under its own name, and what the mirror knows about the vendor', NULL),
  ('vendors', 'account_id', 'table', 'TEXT', 'Account of the service', '6BApk'),
  ('vendors', 'account_number', 'table', 'TEXT', 'Our account number with the vendor', '5555555555555'),
  ('vendors', 'changed_at', 'table', 'TIMESTAMPTZ', 'When the mirror last learned of a change of its content, UTC', '2026-11-20 12:00:00.000'),
  ('vendors', 'city', 'table', 'TEXT', 'City', 'Boise'),
  ('vendors', 'country', 'table', 'TEXT', 'Country, as text', 'United States'),
  ('vendors', 'created_at', 'table', 'TEXT', 'When it was created at the service, as sent', '2020-10-06 14:20:20'),
  ('vendors', 'currency_code', 'table', 'TEXT', 'The vendor''s own currency, three letters', 'USD'),
  ('vendors', 'detail_seq', 'table', 'BIGINT', 'Internal: number of the last reading by id, where lists leave fields out; 0 if it is to be read first; null where no list is known to leave any out', NULL),
  ('vendors', 'details_at', 'table', 'TIMESTAMPTZ', 'When the vendor was last read by its id, where lists leave fields out, UTC: 1970 if it never was; null where no list is known to leave any out', '2026-11-20 12:00:00.000'),
  ('vendors', 'first_seen_at', 'table', 'TIMESTAMPTZ', 'When the mirror first saw it, UTC', '2026-11-20 12:00:00.000'),
  ('vendors', 'held_since_ms', 'table', 'BIGINT', 'Internal: mirror time since which this content has been stored', NULL),
  ('vendors', 'is_1099', 'table', 'BOOLEAN', '1 if the vendor gets a form 1099, otherwise 0; null if the service did not show it, or not so that it can be read', '1'),
  ('vendors', 'language', 'table', 'TEXT', 'Language, two letters', 'en'),
  ('vendors', 'note', 'table', 'TEXT', 'Note about the vendor', 'Net 30'),
  ('vendors', 'phone', 'table', 'TEXT', 'Phone number', '+1 555 0100'),
  ('vendors', 'postal_code', 'table', 'TEXT', 'Postal code', '83702'),
  ('vendors', 'presence', 'table', 'TEXT', '''present''; ''suspect'': one proof that it is not there, and nothing is concluded yet; ''missing'': two complete sweeps did not list it; ''gone'': not listed, or hidden, and the service answered that it does not exist', 'present'),
  ('vendors', 'presence_ms', 'table', 'BIGINT', 'Internal: mirror time of the first proof of a suspect, or of a conclusion', NULL),
  ('vendors', 'primary_contact', 'table', 'TEXT', 'Contact, if the service sends one', NULL),
  ('vendors', 'primary_contact_email', 'table', 'TEXT', 'E-mail address of the contact', 'contact@vendor.example'),
  ('vendors', 'primary_contact_first_name', 'table', 'TEXT', 'First name of the contact', 'Ada'),
  ('vendors', 'primary_contact_last_name', 'table', 'TEXT', 'Last name of the contact', 'Marsh'),
  ('vendors', 'province', 'table', 'TEXT', 'Province or state', 'ID'),
  ('vendors', 'raw', 'table', 'TEXT', 'The record as received, JSON', '{"vendorid":1006}'),
  ('vendors', 'read_seq', 'table', 'BIGINT', 'Number of the latest reading; orders readings', '1204'),
  ('vendors', 'source', 'table', 'TEXT', 'How the latest change was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vendors', 'street', 'table', 'TEXT', 'Street', '12 Main Street'),
  ('vendors', 'street2', 'table', 'TEXT', 'Second part of the street', 'Suite 4'),
  ('vendors', 'unknown_fields', 'table', 'TEXT', 'Fields without a column of their own, and those that could not be read: name to JSON text; null if there are none', NULL),
  ('vendors', 'unreadable_fields', 'table', 'TEXT', 'Names of the fields that the service sent and the mirror could not read, JSON: they are null here, or contain only what could be read; null if there are none', '["is_1099"]'),
  ('vendors', 'updated_at', 'table', 'TEXT', 'When it was last edited at the service, as sent; a new balance does not change it', '2020-10-06 14:22:49'),
  ('vendors', 'vendor_name', 'table', 'TEXT', 'Name of the vendor', 'Northwind Parts, Inc.'),
  ('vendors', 'vendorid', 'table', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vendors', 'vis_state', 'table', 'SMALLINT', '0 active, 1 deleted, 2 archived; null if the service sent no state, or none of these', '0'),
  ('vendors', 'vis_state_source', 'table', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('vendors', 'website', 'table', 'TEXT', 'Website', 'https://vendor.example'),
  ('vis_state_changes', '', 'view', NULL, 'One row per change of a vendor''s state or presence', NULL),
  ('vis_state_changes', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('vis_state_changes', 'changed_at', 'view', 'TIMESTAMPTZ', 'When the mirror learned of it, UTC', '2026-11-20 12:00:00.000'),
  ('vis_state_changes', 'delivery_id', 'view', 'BIGINT', 'The delivery that announced it; null if none did', '7'),
  ('vis_state_changes', 'new_presence', 'view', 'TEXT', 'Presence after', 'present'),
  ('vis_state_changes', 'new_vis_state', 'view', 'SMALLINT', 'State after', '2'),
  ('vis_state_changes', 'old_presence', 'view', 'TEXT', 'Presence before', 'present'),
  ('vis_state_changes', 'old_vis_state', 'view', 'SMALLINT', 'State before', '0'),
  ('vis_state_changes', 'run_id', 'view', 'BIGINT', 'The run that found it; null if none did', '42'),
  ('vis_state_changes', 'seq', 'view', 'BIGINT', 'Number of the change; the cursor of the feed', '120'),
  ('vis_state_changes', 'source', 'view', 'TEXT', 'How it was learned: ''pull'', ''delivery'', ''reconcile'' or ''write''', 'delivery'),
  ('vis_state_changes', 'vendorid', 'view', 'BIGINT', 'Number of the vendor, unique in its account', '1006'),
  ('vis_state_changes', 'vis_state_source', 'view', 'TEXT', '''reported'' by the service, or ''inferred'' from absence', 'reported'),
  ('webhook_health', '', 'view', NULL, 'One row per account and day (UTC): deliveries, and changes that no delivery announced', NULL),
  ('webhook_health', 'account_id', 'view', 'TEXT', 'Account of the service', '6BApk'),
  ('webhook_health', 'announced_changes', 'view', 'BIGINT', 'Changed vendors that deliveries announced, counted when the next sweep begins', '31'),
  ('webhook_health', 'day', 'view', 'TEXT', 'Day in UTC', '2026-11-20'),
  ('webhook_health', 'deliveries', 'view', 'BIGINT', 'Deliveries received', '40'),
  ('webhook_health', 'duplicates', 'view', 'BIGINT', 'Deliveries that brought nothing new', '6'),
  ('webhook_health', 'late_deliveries', 'view', 'BIGINT', 'Changes that a delivery announced after a sweep had found them', '0'),
  ('webhook_health', 'latest_seconds', 'view', 'DOUBLE PRECISION', 'How late the latest of these deliveries was, in seconds', NULL),
  ('webhook_health', 'loss_rate', 'view', 'DOUBLE PRECISION', 'Share of the changes that no delivery announced; null if there were no changes', '0.0313'),
  ('webhook_health', 'unannounced_changes', 'view', 'BIGINT', 'Changes that a sweep found and no delivery had announced', '1');

-- Reading for reports: views read what is internal with the rights of the owner. For a role that is made later, run this again.
DO $do$
DECLARE
  public_table text;
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'vendor_mirror_reader') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO vendor_mirror_reader', current_schema());
    -- Views call functions with the rights of the reader.
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO vendor_mirror_reader', current_schema());
    FOR public_table IN
      SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') AND relname NOT LIKE '\_%'
    LOOP
      EXECUTE format('GRANT SELECT ON %I TO vendor_mirror_reader', public_table);
    END LOOP;
  END IF;
END $do$;
