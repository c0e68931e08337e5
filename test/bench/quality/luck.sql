-- The same types of fingerprint with another hash: every shingle gets the salt as a
-- prefix.  The effect of that is luck.  Variables: corpus, salt, fingerprints (a file).
\set ON_ERROR_STOP on
SET search_path = :corpus, public;

CREATE FUNCTION pg_temp.salted(features text[], salt text) RETURNS simhash
LANGUAGE sql IMMUTABLE AS $$
	SELECT simhash(ARRAY(SELECT salt || feature FROM unnest(features) AS feature), 1)
$$;

CREATE FUNCTION pg_temp.salted_counts(features text[], salt text) RETURNS simhash
LANGUAGE sql IMMUTABLE AS $$
	SELECT simhash_agg(salt || feature) FROM unnest(features) AS feature
$$;

SELECT :'corpus' IN ('chinese', 'ideographs') AS ideographs \gset
\if :ideographs
	\set words 'array_to_string(shingles(body, 1), \' \')'
	\set words 'regexp_replace(' :words ', \' ?([぀-ヿ㐀-鿿]) ?\', \'\\1\', \'g\')'
	\set texts 'doc, LATERAL (SELECT regexp_split_to_array(' :words ', \'\') AS characters) AS c'
	\set glued ', pg_temp.salted(shingles(characters, 4), :salt::text) AS glued4'
	\set glued :glued ', pg_temp.salted(shingles(characters, 8), :salt::text) AS glued8'
\else
	\set texts doc
	\set glued ''
\endif

CREATE TEMP TABLE salted AS
SELECT id, tokens,
	pg_temp.salted(shingles(body, 1), :'salt') AS word1,
	pg_temp.salted(shingles(body, 2), :'salt') AS word2,
	pg_temp.salted(shingles(body, 3), :'salt') AS word3,
	pg_temp.salted(shingles(body, 4), :'salt') AS word4,
	pg_temp.salted(shingles(body, 4, 'char'), :'salt') AS char4,
	pg_temp.salted(shingles(body, 5, 'char'), :'salt') AS char5,
	pg_temp.salted(shingles(body, 6, 'char'), :'salt') AS char6,
	pg_temp.salted(shingles(body, 8, 'char'), :'salt') AS char8,
	pg_temp.salted(shingles(body, 10, 'char'), :'salt') AS char10,
	pg_temp.salted(shingles(body, 12, 'char'), :'salt') AS char12,
	pg_temp.salted_counts(shingles(body, 2), :'salt') AS word2c,
	pg_temp.salted_counts(shingles(body, 3), :'salt') AS word3c
	:glued
FROM :texts;
CREATE TEMP TABLE in_order AS TABLE salted ORDER BY id;
ALTER TABLE in_order DROP COLUMN id;
COPY in_order TO :'fingerprints' (FORMAT csv, DELIMITER E'\t', HEADER);
