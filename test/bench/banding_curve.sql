-- Pairs of sets of known resemblance s, and the number of pairs that share a band, as
-- CSV. Variables: seed.
--
-- The sets of a pair consist of 40 consecutive numbers.  They have 40 s of them in
-- common, and each set has half of the others.  No two pairs have a number in common.
\set ON_ERROR_STOP on
CREATE EXTENSION simhash;

CREATE TABLE pair AS
SELECT both_have / 40.0::float8 AS s,
	array(SELECT generate_series(first, first + 19 + both_have / 2)) AS a,
	array(SELECT generate_series(first + 20 - both_have / 2, first + 39)) AS b
FROM generate_series(2, 38, 2) AS both_have, generate_series(1, 10000) AS i,
	LATERAL (SELECT 100 * (:seed * 1000000::bigint + both_have * 10000 + i) AS first) AS f;

CREATE TABLE shape (bands integer, rows integer);
INSERT INTO shape VALUES (40, 3), (20, 5), (18, 7), (8, 16);

CREATE TABLE measured AS
SELECT bands, rows, s, count(*) AS pairs,
	count(*) FILTER (WHERE to_minhash(a, bands, rows) % to_minhash(b, bands, rows)) AS found
FROM shape, pair
GROUP BY bands, rows, s;

COPY (
	SELECT *, round(found / pairs::numeric, 4) AS share,
		round((1 - (1 - s ^ rows) ^ bands)::numeric, 4) AS theory
	FROM measured ORDER BY bands DESC, s
) TO STDOUT CSV HEADER;
