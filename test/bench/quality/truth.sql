-- The true pairs of a corpus: a resemblance of 0.6 or more of the sets of word
-- 2-shingles or word 3-shingles.
-- Variables: corpus, sample (see below), out.
\set ON_ERROR_STOP on
SET search_path = :corpus, public;
SET work_mem = '256MB';

CREATE TEMP TABLE candidate (a int, b int);
\set threshold 0.6
\set width 2
\ir candidates.sql
\set width 3
\ir candidates.sql

CREATE TABLE truth AS
SELECT *
FROM (
	SELECT a, b, resemblance(x.body, y.body, 2) AS word2, resemblance(x.body, y.body, 3) AS word3
	FROM (SELECT DISTINCT a, b FROM candidate) AS pair
	JOIN doc x ON x.id = a JOIN doc y ON y.id = b
	OFFSET 0 -- compute each once
) AS verified
WHERE word2 >= :threshold OR word3 >= :threshold;

-- The same without a filter, among blocks of 20 neighbours spread over the corpus.  The
-- number of blocks keeps the work equal for long and for short documents.
CREATE TABLE sample AS
SELECT id, body FROM doc
WHERE id / 20 % (
	SELECT greatest(1, round(count(*) / sqrt(:sample / avg(tokens))))::int FROM doc) = 0;

CREATE TABLE exhaustive AS
SELECT *
FROM (
	SELECT x.id AS a, y.id AS b,
		resemblance(x.body, y.body, 2) AS word2, resemblance(x.body, y.body, 3) AS word3
	FROM sample x JOIN sample y ON x.id < y.id
	OFFSET 0
) AS compared
WHERE word2 >= :threshold OR word3 >= :threshold;

CREATE TABLE checked AS
SELECT
	(SELECT count(*) FROM sample) AS documents,
	(SELECT count(*) FROM exhaustive) AS pairs,
	(SELECT count(*) FROM (
		(TABLE exhaustive EXCEPT ALL
		SELECT truth.* FROM truth JOIN sample x ON a = x.id JOIN sample y ON b = y.id)
		UNION ALL
		(SELECT truth.* FROM truth JOIN sample x ON a = x.id JOIN sample y ON b = y.id
		EXCEPT ALL TABLE exhaustive)) AS difference) AS differences;

SELECT format('  %s documents, %s true pairs; on a sample of %s, %s exhaustively and %s otherwise',
	(SELECT count(*) FROM doc), (SELECT count(*) FROM truth),
	documents, pairs, CASE differences WHEN 0 THEN 'none' ELSE differences::text END)
FROM checked;
