-- Measures how many revised texts a search finds.  Schemas earlier and later have a
-- corpus of two releases (documents.sql).  Documents with the same name are a known
-- pair.  The search looks for the later text among all earlier ones.
-- Variables: releases (their label), corpus, revisions (the maximum number of pairs),
-- seed; revised and revision (CSV files: the number of pairs, and the results of the
-- searches).
--
-- Only known pairs in which a word changed count.  Changes of numbers (of versions, of
-- years, in a manual page's footer), case, punctuation and white space do not count.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET work_mem = '256MB';

SET search_path = public;

-- The names of folders contain numbers of versions.
CREATE FUNCTION pg_temp.name_of(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT regexp_replace(path, '[0-9.]+(?=[^/]*/)', '', 'g')
$$;

CREATE FUNCTION pg_temp.words_of(body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT array_to_string(shingles(regexp_replace(body, '[0-9]+', '', 'g'), 1), ' ')
$$;

CREATE TEMP TABLE known AS
WITH earlier_name AS (
	SELECT pg_temp.name_of(name) AS name, min(id) AS id FROM earlier.doc GROUP BY 1 HAVING count(*) = 1
), later_name AS (
	SELECT pg_temp.name_of(name) AS name, min(id) AS id FROM later.doc GROUP BY 1 HAVING count(*) = 1
)
SELECT e.name, e.id AS earlier, l.id AS later,
	pg_temp.words_of(x.body) IS DISTINCT FROM pg_temp.words_of(y.body) AS changed
FROM earlier_name e JOIN later_name l ON l.name = e.name
JOIN earlier.doc x ON x.id = e.id JOIN later.doc y ON y.id = l.id;

CREATE TEMP TABLE query AS
SELECT later AS id, earlier AS partner, tokens, simhash(body) AS fp, to_minhash(body) AS sig
FROM (
	SELECT * FROM known WHERE changed ORDER BY hashtextextended(name, :seed), name LIMIT :revisions
) AS chosen
JOIN later.doc ON doc.id = later;

CREATE TEMP TABLE indexed AS
SELECT id, simhash(body) AS fp, to_minhash(body)::minhash(18, 7) AS sig FROM earlier.doc;
CREATE INDEX ON indexed USING simhash (fp);
CREATE INDEX ON indexed USING simhash (sig);
ANALYZE query, indexed;

-- All documents that any of the searches finds, and the partners.
CREATE TEMP TABLE compared AS
SELECT query.id, i.id AS candidate, i.id = partner AS known,
	query.fp <~> i.fp AS distance, query.sig % i.sig AS shares_band, query.sig <%> i.sig AS jaccard,
	resemblance(x.body, y.body, 2) AS word2, resemblance(x.body, y.body, 3) AS word3
FROM (
	SELECT query.id, i.id AS candidate FROM query JOIN indexed i ON i.fp <~> query.fp <= 12
	UNION
	SELECT query.id, i.id FROM query JOIN indexed i ON i.sig % query.sig
	UNION
	SELECT id, partner FROM query
) AS pair
JOIN query USING (id) JOIN indexed i ON i.id = candidate
JOIN later.doc x ON x.id = query.id JOIN earlier.doc y ON y.id = candidate;

CREATE TEMP TABLE by_width AS
SELECT compared.*, truth_by, resemblance
FROM compared
CROSS JOIN LATERAL (VALUES ('word2', word2), ('word3', word3)) AS t (truth_by, resemblance);

-- The queries whose partner resembles them by 0.8 or more, by length and resemblance.
CREATE TEMP TABLE class AS
SELECT truth_by, id, classes.resemblance, length
FROM by_width
JOIN query USING (id)
CROSS JOIN LATERAL (VALUES ('>=0.8'),
	(CASE WHEN resemblance < 0.9 THEN '0.8-0.9' ELSE '>=0.9' END)) AS classes (resemblance)
CROSS JOIN LATERAL (VALUES ('all'), (CASE WHEN tokens < 100 THEN '<100'
	WHEN tokens < 1000 THEN '100-999' ELSE '>=1000' END)) AS lengths (length)
WHERE known AND by_width.resemblance >= 0.8;

CREATE TEMP TABLE searched AS
SELECT truth_by, id, place, search, bool_or(known AND hit) AS found,
	count(*) FILTER (WHERE hit) AS candidates,
	count(*) FILTER (WHERE hit AND resemblance < 0.8) AS "false"
FROM by_width
CROSS JOIN LATERAL (VALUES
	(1, '3', distance <= 3), (2, '8', distance <= 8), (3, '9', distance <= 9),
	(4, '10', distance <= 10), (5, '11', distance <= 11), (6, '12', distance <= 12),
	(7, '%', shares_band), (8, '% and <%> <= 0.3', shares_band AND jaccard <= 0.3)) AS s (place, search, hit)
GROUP BY truth_by, id, place, search;

COPY (
	SELECT :'releases', :'corpus', (SELECT count(*) FROM earlier.doc), (SELECT count(*) FROM later.doc),
		(SELECT count(*) FROM known), (SELECT count(*) FROM known WHERE changed),
		(SELECT count(*) FROM query)
) TO :'revised' CSV;

COPY (
	SELECT :'releases', :'corpus', truth_by, resemblance, length, search,
		count(*), count(*) FILTER (WHERE found),
		round(avg(found::int), 3), round(avg(candidates), 2), round(avg("false"), 2)
	FROM searched JOIN class USING (truth_by, id)
	GROUP BY truth_by, resemblance, length, search, place
	ORDER BY truth_by, resemblance, length = 'all', length, place
) TO :'revision' CSV;
