-- Collapse: the number of pairs within 3 bits that do not resemble each other at all,
-- for each type of fingerprint.  Resemblance is of the sets of shingles of two words.
-- Variables: corpus, out (a CSV file).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET search_path = :corpus, public;

-- One row for each type of fingerprint of a document.
CREATE TABLE kind_of AS
SELECT id, key AS shingles, value::simhash AS fp
FROM fingerprint, jsonb_each_text(to_jsonb(fingerprint) - 'id' - 'tokens' - 'minhash3')
WHERE key IN ('word2', 'word3', 'word2c', 'word3c', 'word2l', 'word3l', 'char8');

CREATE TABLE close (shingles text, a int, b int);
DO $$
DECLARE
	kind text;
BEGIN
	FOR kind IN SELECT DISTINCT shingles FROM kind_of LOOP
		EXECUTE 'CREATE TEMP TABLE of_kind AS SELECT id, fp FROM kind_of WHERE shingles = $1' USING kind;
		CREATE INDEX ON of_kind USING simhash (fp);
		ANALYZE of_kind;
		INSERT INTO close
		SELECT kind, x.id, y.id FROM of_kind x JOIN of_kind y ON x.fp <~> y.fp <= 3 AND x.id < y.id;
		DROP TABLE of_kind;
	END LOOP;
END
$$;

CREATE TABLE close_pair AS
SELECT a, b, resemblance(x.body, y.body, 2) AS resemblance
FROM (SELECT DISTINCT a, b FROM close) AS pair
JOIN doc x ON x.id = a JOIN doc y ON y.id = b;

COPY (
	SELECT :'corpus', shingles, (SELECT count(*) FROM doc), count(*),
		count(*) FILTER (WHERE resemblance < 0.8), count(*) FILTER (WHERE resemblance < 0.3)
	FROM close JOIN close_pair USING (a, b)
	GROUP BY shingles ORDER BY shingles
) TO :'out' CSV;
