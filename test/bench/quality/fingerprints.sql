-- Every kind of fingerprint of a corpus, and its true pairs, as files for
-- pairs.c.  Variables: corpus, fingerprints and truth (those files).
--   word2      simhash(body, 2, 'word')
--   char5      simhash(body, 5, 'char')
--   word2d     each distinct shingle counted once, however often it occurs
--   glued8     as char8, but with no space beside ideographs: the rule that unit
--              char does not have
\set ON_ERROR_STOP on
SET search_path = :corpus, public;

CREATE FUNCTION once(features text[]) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash(ARRAY(SELECT DISTINCT unnest(features)), 1)
$$;

CREATE FUNCTION glued(body text, width int) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash(regexp_split_to_array(regexp_replace(
		array_to_string(shingles(body, 1), ' '), ' ?([぀-ヿ㐀-鿿]) ?', '\1', 'g'), ''), width)
$$;

SELECT :'corpus' IN ('chinese', 'ideographs') AS ideographs \gset
\if :ideographs
	\set glued ', glued(body, 4) AS glued4, glued(body, 8) AS glued8'
\else
	\set glued ''
\endif

-- The number of a document is its place: pairs.c wants no id.
CREATE TABLE fingerprint AS
SELECT id, tokens,
	simhash(body, 1) AS word1, simhash(body, 2) AS word2,
	simhash(body, 3) AS word3, simhash(body, 4) AS word4,
	simhash(body, 3, 'char') AS char3, simhash(body, 4, 'char') AS char4,
	simhash(body, 5, 'char') AS char5, simhash(body, 6, 'char') AS char6,
	simhash(body, 8, 'char') AS char8, simhash(body, 10, 'char') AS char10,
	simhash(body, 12, 'char') AS char12,
	once(shingles(body, 2)) AS word2d, once(shingles(body, 3)) AS word3d
	:glued
FROM doc;
CREATE TABLE in_order AS TABLE fingerprint ORDER BY id;
ALTER TABLE in_order DROP COLUMN id;

COPY in_order TO :'fingerprints' (FORMAT csv, DELIMITER E'\t', HEADER);
COPY truth TO :'truth' (FORMAT csv, DELIMITER E'\t', HEADER);
