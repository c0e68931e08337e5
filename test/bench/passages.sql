-- Measures how often sketches find the document of a snippet, and of an edited copy of the
-- whole document.  passages.sh runs this.
-- Variables: corpus, csv (its documents), seed, recall, edited and density (CSV files to
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

-- Returns a text with a fraction of its words replaced.
CREATE FUNCTION edit(tokens text[], fraction float8, n bigint, seed bigint) RETURNS text[] LANGUAGE sql STABLE
RETURN array(SELECT CASE WHEN chance(n, 1000 + i, seed) < fraction
		THEN (SELECT token FROM word WHERE n = floor(chance(edit.n, 2000 + i, seed) * 4096)::bigint)
		ELSE token END
	FROM unnest(tokens) WITH ORDINALITY AS t (token, i) ORDER BY i);
CREATE TABLE fraction AS SELECT unnest('{0,0.02,0.05,0.1,0.2,0.3,0.4,0.5}'::float8[]) AS replaced;
CREATE TABLE snippet AS
SELECT id, words, replaced, edit(tokens[1 + first : first + words], replaced, id * 1000 + words, :seed) AS tokens
FROM doc, unnest('{10,13,16,20,24,32,40,50,70,100,150,200}'::int[]) AS words, fraction,
	LATERAL (SELECT floor(chance(id, words, :seed) * (cardinality(tokens) - words))::int AS first) AS f;
-- copies of whole documents have 0 words
INSERT INTO snippet
SELECT id, 0, replaced, edit(tokens, replaced, id * 1000, :seed)
FROM (SELECT * FROM doc ORDER BY chance(id, 1, :seed) LIMIT 300) AS d, fraction;

CREATE TABLE shape (guarantee int, width int);
INSERT INTO shape VALUES (13, 5), (13, 8), (24, 8), (50, 8), (100, 8);
CREATE TABLE sketched AS
SELECT id, guarantee, width, cardinality(tokens) AS tokens, winnow(tokens, guarantee, width) AS sk FROM doc, shape;
CREATE INDEX ON sketched (id);
ANALYZE sketched;

CREATE TABLE compared AS
SELECT id, words, replaced, guarantee, width, s.tokens, q, k.sk && q AS overlap, k.sk <%>> q AS missing
FROM snippet AS s JOIN sketched AS k USING (id), LATERAL (SELECT winnow(s.tokens, guarantee, width) AS q) AS w;

COPY (
	SELECT :'corpus', words, replaced, guarantee, width, count(*), sum(overlap::int), round(avg(overlap::int), 4)
	FROM compared WHERE words > 0
	GROUP BY words, replaced, guarantee, width ORDER BY words, replaced, guarantee, width
) TO :'recall' CSV;

-- With the default sketch: the exact containment, what a bound on the missing fraction
-- finds, and the number of other documents that each search finds.
CREATE INDEX ON sketched USING simhash (sk) WHERE guarantee = 24;
COPY (
	SELECT :'corpus', words, replaced, count(*),
		round(avg(containment(array_to_string(c.tokens, ' '), array_to_string(doc.tokens, ' '), 8))::numeric, 4),
		round(avg(overlap::int), 4), round(avg((missing <= 0.9)::int), 4), round(avg((missing <= 0.7)::int), 4),
		round(avg((missing <= 0.5)::int), 4), round(avg(others), 2), round(avg(others_90), 2),
		round(avg(others_70), 2), round(avg(others_50), 2)
	FROM compared AS c JOIN doc USING (id),
		LATERAL (SELECT count(*) AS others, count(*) FILTER (WHERE far <= 0.9) AS others_90,
				count(*) FILTER (WHERE far <= 0.7) AS others_70, count(*) FILTER (WHERE far <= 0.5) AS others_50
			FROM (SELECT sk <%>> q AS far FROM sketched AS k
				WHERE k.guarantee = 24 AND k.id <> c.id AND sk <%>> q < 1) AS k) AS o
	WHERE guarantee = 24 AND words IN (0, 50, 100, 200) AND id IN (SELECT id FROM snippet WHERE words = 0)
	GROUP BY words, replaced ORDER BY words, replaced
) TO :'edited' CSV;
COPY (
	SELECT :'corpus', guarantee, width, sum(tokens), sum(cardinality(sk)),
		round(sum(cardinality(sk)) / sum(tokens)::numeric, 4),
		round(2 / (guarantee - width + 2.0), 4)
	FROM sketched GROUP BY guarantee, width ORDER BY guarantee, width
) TO :'density' CSV;
