-- Computes the numbers of evaluation.md from the curves of pairs.c.
-- Variables: folder (reads curves.csv there, writes corpora.csv, best.csv, radius.csv
-- and luck.csv) and luck (the curves of salted hashes).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS results CASCADE;
CREATE SCHEMA results;
SET search_path = results, public;
\set curves :folder '/curves.csv'
\set corpora_out :folder '/corpora.csv'
\set best_out :folder '/best.csv'
\set radius_out :folder '/radius.csv'
\set luck_out :folder '/luck.csv'

CREATE TABLE curve (
	corpus text, truth_by text, threshold numeric, tokens text, shingles text, k int,
	candidates bigint, found bigint, truth bigint, doc_recall float8, doc_precision float8);
CREATE TABLE luck (LIKE curve);
COPY curve FROM :'curves' CSV HEADER;
COPY luck FROM :'luck' CSV HEADER;

CREATE FUNCTION f1(precision_ float8, recall float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN precision_ + recall > 0 THEN 2 * precision_ * recall / (precision_ + recall)
		ELSE 0 END
$$;

-- The measured corpora.
CREATE TABLE corpora (
	corpus text, documents int, tokens bigint, megabytes numeric, median_tokens int,
	short int, medium int, long int, checked_documents int, checked_pairs int, differences int);
DO $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT DISTINCT corpus FROM results.curve LOOP
		EXECUTE format($query$
			INSERT INTO results.corpora
			SELECT %1$L, count(*), sum(tokens), round(sum(octet_length(body)) / 1e6, 1),
				percentile_disc(0.5) WITHIN GROUP (ORDER BY tokens),
				count(*) FILTER (WHERE tokens < 100),
				count(*) FILTER (WHERE tokens BETWEEN 100 AND 999),
				count(*) FILTER (WHERE tokens >= 1000),
				min(c.documents), min(c.pairs), min(differences)
			FROM %1$I.doc CROSS JOIN %1$I.checked c
			$query$, name);
	END LOOP;
END
$$;
COPY (
	SELECT corpora.*, truth_by, threshold, pairs_short, pairs_medium, pairs_long, pairs
	FROM corpora JOIN (
		SELECT corpus, truth_by, threshold,
			coalesce(max(truth) FILTER (WHERE curve.tokens = '<100'), 0) AS pairs_short,
			coalesce(max(truth) FILTER (WHERE curve.tokens = '100-999'), 0) AS pairs_medium,
			coalesce(max(truth) FILTER (WHERE curve.tokens = '>=1000'), 0) AS pairs_long,
			coalesce(max(truth) FILTER (WHERE curve.tokens = 'all'), 0) AS pairs
		FROM curve GROUP BY 1, 2, 3) AS pairs USING (corpus)
	ORDER BY documents DESC, truth_by, threshold
) TO :'corpora_out' CSV HEADER;

-- Returns the best radius of each type of fingerprint, by pairs and by documents.
CREATE FUNCTION best(curves regclass) RETURNS TABLE (
	corpus text, truth_by text, threshold numeric, tokens text, shingles text,
	k int, f1 float8, "precision" float8, recall float8,
	doc_k int, doc_f1 float8, doc_precision float8, doc_recall float8)
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($query$
		WITH scored AS (
			SELECT *, coalesce(found::float8 / nullif(candidates, 0), 0) AS precision_,
				found::float8 / truth AS recall
			FROM %s
		), by_pairs AS (
			SELECT DISTINCT ON (corpus, truth_by, threshold, tokens, shingles)
				corpus, truth_by, threshold, tokens, shingles, k, results.f1(precision_, recall) AS f1,
				precision_, recall
			FROM scored
			ORDER BY corpus, truth_by, threshold, tokens, shingles, 7 DESC, k
		), by_documents AS (
			SELECT DISTINCT ON (corpus, truth_by, threshold, tokens, shingles)
				corpus, truth_by, threshold, tokens, shingles, k AS doc_k,
				results.f1(coalesce(doc_precision, 0), coalesce(doc_recall, 0)) AS doc_f1,
				doc_precision, doc_recall
			FROM scored
			ORDER BY corpus, truth_by, threshold, tokens, shingles, 7 DESC, k
		)
		SELECT * FROM by_pairs JOIN by_documents USING (corpus, truth_by, threshold, tokens, shingles)
		$query$, curves);
END
$$;
CREATE TABLE best AS SELECT * FROM best('curve');
COPY (
	SELECT corpus, truth_by, threshold, tokens, shingles,
		k, round(f1::numeric, 3) AS f1, round(precision::numeric, 3) AS precision,
		round(recall::numeric, 3) AS recall,
		doc_k, round(doc_f1::numeric, 3) AS doc_f1, round(doc_precision::numeric, 3) AS doc_precision,
		round(doc_recall::numeric, 3) AS doc_recall
	FROM best
	ORDER BY corpus, truth_by, threshold, tokens, shingles
) TO :'best_out' CSV HEADER;

-- The spread of the best F1 among hashes that differ only in a salt.
CREATE TABLE spread AS
SELECT split_part(corpus, '/', 1) AS corpus, truth_by, threshold, tokens, shingles,
	count(*) AS hashes,
	round(min(f1)::numeric, 3) AS f1_min, round(avg(f1)::numeric, 3) AS f1_mean,
	round(max(f1)::numeric, 3) AS f1_max,
	round(min(doc_f1)::numeric, 3) AS doc_f1_min, round(avg(doc_f1)::numeric, 3) AS doc_f1_mean,
	round(max(doc_f1)::numeric, 3) AS doc_f1_max,
	round(avg(doc_k), 1) AS doc_k_mean
FROM (
	SELECT * FROM best('luck')
	UNION ALL
	SELECT * FROM best WHERE (corpus, shingles) IN (SELECT split_part(corpus, '/', 1), shingles FROM luck)
) AS every_hash
GROUP BY 1, 2, 3, 4, 5;
COPY (
	SELECT * FROM spread ORDER BY corpus, truth_by, threshold, tokens, shingles
) TO :'luck_out' CSV HEADER;

-- The smallest radius at which a document finds a given fraction of its true partners,
-- and the fraction of false ones among the documents found there.
COPY (
	SELECT DISTINCT ON (corpus, truth_by, threshold, tokens, shingles, wanted)
		corpus, truth_by, threshold, tokens, shingles, wanted AS recall_wanted, k,
		round(doc_recall::numeric, 3) AS doc_recall,
		round(1 - doc_precision::numeric, 3) AS doc_false,
		round(found::numeric / truth, 3) AS recall,
		round(1 - found::numeric / candidates, 3) AS false,
		round(candidates::numeric / nullif(found, 0), 1) AS verified_per_true_pair
	FROM curve, unnest('{0.5,0.8,0.9}'::float8[]) AS wanted
	WHERE doc_recall >= wanted
	ORDER BY corpus, truth_by, threshold, tokens, shingles, wanted, k
) TO :'radius_out' CSV HEADER;
