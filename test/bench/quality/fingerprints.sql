-- Every type of fingerprint of a corpus, and its true pairs, as files for pairs.c.
-- Variables: corpus, fingerprints and truth (those files).
--   word2      simhash(body, 2, 'word')
--   char5      simhash(body, 5, 'char')
--   word2c     shingles weighted by their number of occurrences
--   word2l     the same, damped: 1 + log2 of the number
--   minhash3   to_minhash(body): the default, of three words
--   glued8     like char8, but without spaces beside ideographs, a rule that unit char
--              does not have
\set ON_ERROR_STOP on
SET search_path = :corpus, public;

CREATE FUNCTION counted(features text[]) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash_agg(feature) FROM unnest(features) AS feature
$$;

CREATE FUNCTION damped(features text[]) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash_agg(feature, 1 + log(2, times)::float8)
	FROM (SELECT feature, count(*) AS times FROM unnest(features) AS feature GROUP BY feature) AS f
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

-- The number of a document is its position: pairs.c reads no id.
CREATE TABLE fingerprint AS
SELECT id, tokens,
	simhash(body, 1) AS word1, simhash(body, 2) AS word2,
	simhash(body, 3) AS word3, simhash(body, 4) AS word4,
	simhash(body, 3, 'char') AS char3, simhash(body, 4, 'char') AS char4,
	simhash(body, 5, 'char') AS char5, simhash(body, 6, 'char') AS char6,
	simhash(body, 8, 'char') AS char8, simhash(body, 10, 'char') AS char10,
	simhash(body, 12, 'char') AS char12,
	counted(shingles(body, 2)) AS word2c, counted(shingles(body, 3)) AS word3c,
	damped(shingles(body, 2)) AS word2l, damped(shingles(body, 3)) AS word3l,
	to_minhash(body) AS minhash3
	:glued
FROM doc;
CREATE TABLE in_order AS TABLE fingerprint ORDER BY id;
ALTER TABLE in_order DROP COLUMN id;

COPY in_order TO :'fingerprints' (FORMAT csv, DELIMITER E'\t', HEADER);
COPY truth TO :'truth' (FORMAT csv, DELIMITER E'\t', HEADER);
