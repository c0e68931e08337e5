-- Texts, and the same texts with synthetic edits: schema edits with tables token (the
-- texts, word by word), rate and edited.
-- Variables: corpus (the source of the texts), texts (the number of texts of each
-- length), lengths (an array), seed.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET work_mem = '128MB';
DROP SCHEMA IF EXISTS edits CASCADE;
CREATE SCHEMA edits;
SET search_path = edits, public;

\ir chance.sql

-- Texts are windows of exactly so many tokens, at most three from a document.
CREATE TABLE piece AS
SELECT row_number() OVER (ORDER BY length, choice) AS text, id, length, window_no
FROM (
	SELECT id, length, window_no, row_number() OVER (
		PARTITION BY length ORDER BY chance(id, window_no, :seed + length), id, window_no) AS choice
	FROM :corpus.doc, unnest(:'lengths'::int[]) AS length,
		generate_series(0, least(tokens / length, 3) - 1) AS window_no
) AS window_of
WHERE choice <= :texts;

-- A sentence ends at its punctuation mark or at an empty line.
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

-- Inserted words have the frequencies of these texts.
CREATE TABLE word AS
SELECT row_number() OVER (ORDER BY chance(text, place, :seed + 1), text, place) - 1 AS n, token
FROM token ORDER BY 1 LIMIT 4096;

CREATE FUNCTION word_at(chance float8) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT floor(chance * 4096)::bigint
$$;

CREATE TABLE rate AS
SELECT rate, 100 * (row_number() OVER () + :seed) AS seed
FROM unnest('{0.005,0.01,0.02,0.05,0.1,0.2,0.4}'::float8[]) AS rate;

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

-- A moved sentence goes to a random position among the others.
INSERT INTO edited
SELECT 'moved', rate, text, array_agg(token ORDER BY
	CASE WHEN chance(text, sentence, seed + 5) < rate
		THEN first + chance(text, sentence, seed + 6) * (last - first + 1) - 0.5
		ELSE sentence END, place)
FROM token CROSS JOIN rate
JOIN (SELECT text, min(sentence) AS first, max(sentence) AS last FROM token GROUP BY text) AS span
	USING (text)
GROUP BY rate, text;

-- The rate is the fraction of the result that is added: the beginning of the next text
-- of this length.
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
ANALYZE edited;
