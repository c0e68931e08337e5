-- Every kind of fingerprint of a corpus, and its true pairs, as files for
-- pairs.c.  Variables: corpus, fingerprints and truth (those files).
--   word2      simhash(body, 2, 'word')
--   char5      simhash(body, 5, 'char')
--   word2d     each distinct shingle counted once, however often it occurs
--   literal5   unit char by the letter: a space between all tokens, ideographs
--              too (an underline here, which no token has)
\set ON_ERROR_STOP on
SET search_path = :corpus, public;

CREATE FUNCTION once(features text[]) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash(ARRAY(SELECT DISTINCT unnest(features)), 1)
$$;

CREATE FUNCTION literal(body text, width int) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash(regexp_split_to_array(array_to_string(shingles(body, 1), '_'), ''), width)
$$;

SELECT :'corpus' IN ('chinese', 'ideographs') AS ideographs \gset
\if :ideographs
	\set literals ', literal(body, 2) AS literal2, literal(body, 3) AS literal3, literal(body, 5) AS literal5, literal(body, 7) AS literal7'
\else
	\set literals ''
\endif

-- The number of a document is its place: pairs.c wants no id.
CREATE TABLE fingerprint AS
SELECT id, tokens,
	simhash(body, 1) AS word1, simhash(body, 2) AS word2,
	simhash(body, 3) AS word3, simhash(body, 4) AS word4,
	simhash(body, 2, 'char') AS char2, simhash(body, 3, 'char') AS char3,
	simhash(body, 4, 'char') AS char4, simhash(body, 5, 'char') AS char5,
	simhash(body, 6, 'char') AS char6, simhash(body, 8, 'char') AS char8,
	once(shingles(body, 1)) AS word1d, once(shingles(body, 2)) AS word2d,
	once(shingles(body, 3)) AS word3d, once(shingles(body, 4)) AS word4d,
	once(shingles(body, 4, 'char')) AS char4d, once(shingles(body, 6, 'char')) AS char6d
	:literals
FROM doc;
CREATE TABLE in_order AS TABLE fingerprint ORDER BY id;
ALTER TABLE in_order DROP COLUMN id;

COPY in_order TO :'fingerprints' (FORMAT csv, DELIMITER E'\t', HEADER);
COPY truth TO :'truth' (FORMAT csv, DELIMITER E'\t', HEADER);
