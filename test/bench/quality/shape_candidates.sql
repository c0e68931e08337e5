-- Counts the documents of a corpus that share a band with a query, by their exact
-- resemblance of the same shingles.  All of them are found, by equality of the bands'
-- hashes.
-- Variables: corpus, queries (the number of queries), seed.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET search_path = :corpus, public;
SET work_mem = '256MB';
SET max_parallel_workers_per_gather = 0;

CREATE TABLE query AS
SELECT id, body FROM doc ORDER BY hashint4extended(id, :seed), id LIMIT :queries;
CREATE TABLE candidate (n int, bands int, rows int, a int, b int);
CREATE TABLE cost (n int, bands int, rows int, bytes int, microseconds numeric);
ANALYZE query;

DO $$
DECLARE
	kind record;
	shape record;
	started timestamptz;
	took interval;
BEGIN
	FOR kind IN TABLE shapes.kind LOOP
		FOR shape IN TABLE shapes.shape LOOP
			-- the fastest of three runs
			took := '1 day';
			FOR run IN 1..3 LOOP
				started := clock_timestamp();
				PERFORM to_minhash(body, shape.bands, shape.rows, kind.width, kind.unit) FROM query;
				took := least(took, clock_timestamp() - started);
			END LOOP;
			INSERT INTO cost
			SELECT kind.n, shape.bands, shape.rows,
				max(pg_column_size(to_minhash(body, shape.bands, shape.rows, kind.width, kind.unit))),
				round(extract(epoch FROM took) * 1e6 / count(*), 1)
			FROM query;

			CREATE TEMP TABLE word AS
			SELECT id, unnest(minhash_bands(
				to_minhash(body, shape.bands, shape.rows, kind.width, kind.unit))) AS word
			FROM doc;
			ANALYZE word;
			INSERT INTO candidate
			SELECT DISTINCT kind.n, shape.bands, shape.rows, q.id, d.id
			FROM word q JOIN word d USING (word)
			WHERE q.id IN (SELECT id FROM query) AND d.id <> q.id;
			DROP TABLE word;
		END LOOP;
	END LOOP;
END
$$;
ANALYZE candidate;

CREATE TABLE verified AS
SELECT n, a, b, resemblance(x.body, y.body, width, unit) AS resemblance
FROM (SELECT DISTINCT n, a, b FROM candidate) AS pair
JOIN shapes.kind USING (n) JOIN query x ON x.id = a JOIN doc y ON y.id = b
ORDER BY n, b;

INSERT INTO shapes.background
SELECT :'corpus', (SELECT count(*) FROM doc), (SELECT count(*) FROM query), n, shingles, bands, rows,
	count(*) FILTER (WHERE resemblance < 0.3),
	count(*) FILTER (WHERE resemblance >= 0.3 AND resemblance < 0.5),
	count(*) FILTER (WHERE resemblance >= 0.5 AND resemblance < 0.7),
	count(*) FILTER (WHERE resemblance >= 0.7 AND resemblance < 0.8),
	count(*) FILTER (WHERE resemblance >= 0.8), bytes, microseconds
FROM cost JOIN shapes.kind USING (n)
LEFT JOIN (candidate JOIN verified USING (n, a, b)) USING (n, bands, rows)
GROUP BY n, shingles, bands, rows, bytes, microseconds;
