-- Letters that no accent can be taken from are compared as they are written where a keyboard lacks them, as by `foldedText` of the program.

ALTER FUNCTION folded(text) RENAME TO _without_accents;
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN octet_length($1) = length($1) THEN _without_accents($1)
  ELSE translate(
    replace(replace(replace(replace(_without_accents($1), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðı', 'olddi')
END COLLATE "C";
