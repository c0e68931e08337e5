-- Synthetic edits: the distance by which a fingerprint moves when a known fraction of a
-- text changes.
-- Variables: language, corpus (the source of its texts), texts (the number of texts of
-- each length), lengths (an array), seed, out (a CSV file).
\ir edited.sql

CREATE TABLE kind AS
SELECT * FROM (VALUES (1, 'word1', 1, 'word'), (2, 'word2', 2, 'word'), (3, 'word3', 3, 'word'),
	(4, 'word4', 4, 'word'), (5, 'char3', 3, 'char'), (6, 'char5', 5, 'char'),
	(7, 'char8', 8, 'char'), (8, 'word2c', 2, 'word'), (9, 'word3c', 3, 'word')) AS kind (n, name, width, unit);

-- Returns the fingerprints in that order.
CREATE FUNCTION fingerprints(tokens text[]) RETURNS simhash[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT ARRAY[simhash(tokens, 1), simhash(tokens, 2), simhash(tokens, 3), simhash(tokens, 4),
		simhash(body, 3, 'char'), simhash(body, 5, 'char'), simhash(body, 8, 'char'),
		(SELECT simhash_agg(shingle) FROM unnest(shingles(tokens, 2)) AS shingle),
		(SELECT simhash_agg(shingle) FROM unnest(shingles(tokens, 3)) AS shingle)]
	FROM array_to_string(tokens, ' ') AS body
$$;

CREATE TABLE original AS
SELECT text, length, fingerprints(array_agg(token ORDER BY place)) AS fps,
	array_agg(token ORDER BY place) AS tokens,
	count(*)::float8 / count(DISTINCT sentence) AS per_sentence,
	cardinality(shingles(string_agg(token, ' ' ORDER BY place), 1, 'char')) / length::float8
		AS characters
FROM token
GROUP BY text, length;

-- Returns the cosine of two texts that their fingerprints estimate: of the sets of
-- their shingles of two words.
CREATE FUNCTION cosine(a text[], b text[]) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	WITH x AS (SELECT DISTINCT unnest(shingles(a, 2)) AS shingle),
		y AS (SELECT DISTINCT unnest(shingles(b, 2)) AS shingle)
	SELECT (SELECT count(*) FROM x JOIN y USING (shingle))
		/ sqrt((SELECT count(*)::float8 FROM x) * (SELECT count(*) FROM y))
$$;

CREATE FUNCTION bits(cosine float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT round((64 / pi() * acos(least(1, cosine)))::numeric, 2)
$$;

ANALYZE original;
CREATE TABLE compared AS
SELECT text, length, edit, rate, original.fps, fingerprints(edited.tokens) AS edited_fps,
	cosine(original.tokens, edited.tokens) AS cosine
FROM edited JOIN original USING (text);

-- Returns the expected cosine if no shingle occurs twice and every inserted word
-- differs from the old one.  Parameters: w tokens in a shingle, s in a sentence.  Moves
-- keep a seam between two sentences if neither is moved and none is inserted between
-- them.  There are w - 1 shingles across a seam.
CREATE FUNCTION expected_cosine(edit text, e float8, w float8, s float8) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE edit
		WHEN 'replaced' THEN (1 - e) ^ w
		WHEN 'inserted' THEN (1 - e) ^ (w - 1) / sqrt(1 + e)
		WHEN 'deleted' THEN (1 - e) ^ (w - 0.5)
		WHEN 'moved' THEN 1 - (1 - (1 - e) ^ 2 * exp(-e)) * (w - 1) / greatest(s, w - 1)
		WHEN 'boilerplate' THEN sqrt(1 - e)
	END
$$;

-- A shingle of characters touches 1 + (width - 1) / c tokens of c characters.
CREATE TABLE shape AS
SELECT length, avg(per_sentence) AS s, avg(characters) AS c FROM original GROUP BY length;

CREATE TABLE result AS
SELECT length, edit, rate, name AS shingles, count(*) AS texts,
	round(avg(distance), 2) AS mean,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY distance) AS median,
	percentile_disc(0.05) WITHIN GROUP (ORDER BY distance) AS p5,
	percentile_disc(0.9) WITHIN GROUP (ORDER BY distance) AS p90,
	percentile_disc(0.95) WITHIN GROUP (ORDER BY distance) AS p95,
	round(avg((distance <= 3)::int), 3) AS within_3,
	round(avg((distance <= 8)::int), 3) AS within_8,
	round(avg((distance <= 10)::int), 3) AS within_10,
	bits(expected_cosine(edit, rate,
		CASE unit WHEN 'word' THEN width ELSE 1 + (width - 1) / c END, s)) AS theory,
	CASE name WHEN 'word2' THEN round(avg(bits(cosine)), 2) END AS theory_of_sets
FROM (
	SELECT length, edit, rate, cosine, kind.*, fps[n] <~> edited_fps[n] AS distance
	FROM compared CROSS JOIN kind
) AS moved
JOIN shape USING (length)
GROUP BY length, edit, rate, n, name, width, unit, s, c;

COPY (
	SELECT :'language' AS language, * FROM result ORDER BY length, edit, rate, shingles
) TO :'out' CSV HEADER;

SELECT format('  %s texts of %s tokens', count(*), length)
FROM piece GROUP BY length ORDER BY length;
