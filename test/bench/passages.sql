-- Measures how often sketches find the document of a snippet.  passages.sh runs this.
-- Variables: corpus, csv (its documents), seed, recall and density (CSV files to
-- write).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET work_mem = '128MB';
DROP SCHEMA IF EXISTS snippets CASCADE;
CREATE SCHEMA snippets;
SET search_path = snippets, public;

\ir quality/chance.sql

CREATE TABLE text (name text, title text, body text);
COPY text FROM :'csv' (FORMAT csv);
CREATE TABLE doc AS
SELECT id, shingles(body, 1) AS tokens
FROM (SELECT row_number() OVER (ORDER BY md5(body)) AS id, body FROM (SELECT DISTINCT body FROM text) AS t) AS d;
DELETE FROM doc WHERE cardinality(tokens) < 400;
DELETE FROM doc WHERE id NOT IN (SELECT id FROM doc ORDER BY chance(id, 0, :seed) LIMIT 1000);
-- inserted words have the frequencies of these texts
CREATE TABLE word AS
SELECT row_number() OVER (ORDER BY chance(id, n, :seed)) - 1 AS n, token
FROM doc, unnest(tokens[1:400]) WITH ORDINALITY AS t (token, n) ORDER BY 1 LIMIT 4096;
CREATE UNIQUE INDEX ON word (n);
ANALYZE;

CREATE TABLE snippet AS
SELECT id, words, replaced,
	array(SELECT CASE WHEN chance(id * 1000 + words, 1000 + i, :seed) < replaced
			THEN (SELECT token FROM word WHERE n = floor(chance(id * 1000 + words, 2000 + i, :seed) * 4096)::bigint)
			ELSE token END
		FROM unnest(tokens[1 + first : first + words]) WITH ORDINALITY AS t (token, i) ORDER BY i) AS tokens
FROM doc, unnest('{10,13,16,20,24,32,40,50,70,100,150,200}'::int[]) AS words,
	unnest('{0,0.02,0.05,0.1,0.2}'::float8[]) AS replaced,
	LATERAL (SELECT floor(chance(id, words, :seed) * (cardinality(tokens) - words))::int AS first) AS f;

CREATE TABLE shape (guarantee int, width int);
INSERT INTO shape VALUES (13, 5), (13, 8), (24, 8), (50, 8), (100, 8);
CREATE TABLE sketched AS
SELECT id, guarantee, width, cardinality(tokens) AS tokens, winnow(tokens, guarantee, width) AS sk FROM doc, shape;
CREATE INDEX ON sketched (id);
ANALYZE sketched;

COPY (
	SELECT :'corpus', words, replaced, guarantee, width, count(*), sum(found::int), round(avg(found::int), 4)
	FROM (SELECT words, replaced, guarantee, width, k.sk && winnow(s.tokens, guarantee, width) AS found
		FROM snippet AS s JOIN sketched AS k USING (id)) AS compared
	GROUP BY words, replaced, guarantee, width ORDER BY words, replaced, guarantee, width
) TO :'recall' CSV;
COPY (
	SELECT :'corpus', guarantee, width, sum(tokens), sum(cardinality(sk)),
		round(sum(cardinality(sk)) / sum(tokens)::numeric, 4),
		round(2 / (guarantee - width + 2.0), 4)
	FROM sketched GROUP BY guarantee, width ORDER BY guarantee, width
) TO :'density' CSV;
