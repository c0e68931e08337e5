-- Made edits: how far a fingerprint moves when a known share of a text changes.
-- Variables: language, corpus (where its texts come from), texts (how many of
-- each length), lengths (an array), seed, out (a CSV file).
--
-- Every random choice is a hash of what it is for and of the seed, so that
-- neither plans nor parallel workers change it.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET work_mem = '128MB';
DROP SCHEMA IF EXISTS edits CASCADE;
CREATE SCHEMA edits;
SET search_path = edits, public;

-- Evenly distributed in [0, 1).
CREATE FUNCTION chance(a bigint, b bigint, seed bigint) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (hashint8extended((a << 24) + b, seed) & 9007199254740991) / 9007199254740992.0
$$;

-- Texts are windows of exactly so many tokens, at most three of a document.
CREATE TABLE piece AS
SELECT row_number() OVER (ORDER BY length, choice) AS text, id, length, window_no
FROM (
	SELECT id, length, window_no, row_number() OVER (
		PARTITION BY length ORDER BY chance(id, window_no, :seed + length), id, window_no) AS choice
	FROM :corpus.doc, unnest(:'lengths'::int[]) AS length,
		generate_series(0, least(tokens / length, 3) - 1) AS window_no
) AS window_of
WHERE choice <= :texts;

-- A sentence ends at its mark or at an empty line.
CREATE TABLE token AS
SELECT text, length, place::int, sentence, token
FROM (
	SELECT text, length, sentence, token,
		row_number() OVER (PARTITION BY text ORDER BY sentence, n) - length * window_no AS place
	FROM piece JOIN :corpus.doc USING (id),
		regexp_split_to_table(body, '(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n')
			WITH ORDINALITY AS s (body, sentence),
		unnest(shingles(s.body, 1)) WITH ORDINALITY AS t (token, n)
) AS numbered
WHERE place BETWEEN 1 AND length;
ANALYZE token;

-- Words to put in come as often as they do in these texts.
CREATE TABLE word AS
SELECT row_number() OVER (ORDER BY chance(text, place, :seed + 1), text, place) - 1 AS n, token
FROM token ORDER BY 1 LIMIT 4096;

CREATE FUNCTION word_at(chance float8) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT floor(chance * 4096)::bigint
$$;

CREATE TABLE rate AS
SELECT rate, 100 * (row_number() OVER () + :seed) AS seed
FROM unnest('{0.005,0.01,0.02,0.05,0.1,0.2,0.4}'::float8[]) AS rate;

CREATE TABLE kind AS
SELECT * FROM (VALUES (1, 'word1', 1, 'word'), (2, 'word2', 2, 'word'), (3, 'word3', 3, 'word'),
	(4, 'word4', 4, 'word'), (5, 'char3', 3, 'char'), (6, 'char5', 5, 'char'),
	(7, 'char8', 8, 'char'), (8, 'word2c', 2, 'word'), (9, 'word3c', 3, 'word')) AS kind (n, name, width, unit);

-- The fingerprints in that order.
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

CREATE TABLE edited (edit text, rate float8, text bigint, tokens text[]);

INSERT INTO edited
SELECT 'replaced', rate, text, array_agg(coalesce(word.token, token.token) ORDER BY place)
FROM token CROSS JOIN rate
LEFT JOIN word ON n = CASE WHEN chance(text, place, seed) < rate
	THEN word_at(chance(text, place, seed + 1)) END
GROUP BY rate, text;

INSERT INTO edited
SELECT 'inserted', rate, text, array_agg(token ORDER BY place)
FROM (
	SELECT rate, text, place::float8, token FROM token CROSS JOIN rate
	UNION ALL
	SELECT rate, text, place + 0.5, word.token
	FROM token CROSS JOIN rate
	JOIN word ON n = CASE WHEN chance(text, place, seed + 2) < rate
		THEN word_at(chance(text, place, seed + 3)) END
) AS longer
GROUP BY rate, text;

INSERT INTO edited
SELECT 'deleted', rate, text, array_agg(token ORDER BY place)
FROM token CROSS JOIN rate
WHERE chance(text, place, seed + 4) >= rate
GROUP BY rate, text;

-- A moved sentence goes to a random place among the others.
INSERT INTO edited
SELECT 'moved', rate, text, array_agg(token ORDER BY
	CASE WHEN chance(text, sentence, seed + 5) < rate
		THEN first + chance(text, sentence, seed + 6) * (last - first + 1) - 0.5
		ELSE sentence END, place)
FROM token CROSS JOIN rate
JOIN (SELECT text, min(sentence) AS first, max(sentence) AS last FROM token GROUP BY text) AS span
	USING (text)
GROUP BY rate, text;

-- The rate is the share of the result that is added: the beginning of the next
-- text of this length.
INSERT INTO edited
SELECT 'boilerplate', rate, text, array_agg(token ORDER BY own DESC, place)
FROM (
	SELECT rate, text, true AS own, place, token FROM token CROSS JOIN rate
	UNION ALL
	SELECT rate, previous, false, place, token
	FROM token CROSS JOIN rate
	JOIN (
		SELECT text, coalesce(lag(text) OVER lengths, last_value(text) OVER lengths) AS previous
		FROM piece
		WINDOW lengths AS (PARTITION BY length ORDER BY text
			ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
	) AS neighbour USING (text)
	WHERE place <= round(length * rate / (1 - rate))
) AS longer
GROUP BY rate, text;

-- The cosine of two texts as the fingerprint sees them: of the sets of their
-- shingles of two words.
CREATE FUNCTION cosine(a text[], b text[]) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	WITH x AS (SELECT DISTINCT unnest(shingles(a, 2)) AS shingle),
		y AS (SELECT DISTINCT unnest(shingles(b, 2)) AS shingle)
	SELECT (SELECT count(*) FROM x JOIN y USING (shingle))
		/ sqrt((SELECT count(*)::float8 FROM x) * (SELECT count(*) FROM y))
$$;

CREATE FUNCTION bits(cosine float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT round((64 / pi() * acos(least(1, cosine)))::numeric, 2)
$$;

ANALYZE original, edited;
CREATE TABLE compared AS
SELECT text, length, edit, rate, original.fps, fingerprints(edited.tokens) AS edited_fps,
	cosine(original.tokens, edited.tokens) AS cosine
FROM edited JOIN original USING (text);

-- The cosine that is to be expected where no shingle occurs twice and no word
-- put in is the one that was there; w tokens in a shingle, s in a sentence.
-- Moving leaves a seam between sentences alone if neither is moved and none is
-- put between; there are w - 1 shingles across a seam.
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
