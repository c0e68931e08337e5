-- A corpus from COPY to the remaining rows, step by step.  corpus.sh runs each part
-- that begins with "-- step:" by itself, and measures its time.
-- Variables: radius of the clusters; digest, a column; edge, a condition on two documents;
-- half, a condition on the first one; recipe; file, the input of COPY; rows.

-- step: a table
CREATE EXTENSION simhash;
CREATE TABLE docs (
    id   bigint PRIMARY KEY,
    body text,
    :digest STORED
);
CREATE TABLE edges (a bigint, b bigint);

-- step: COPY
-- COPY computes the digests.  Two sessions, with one file each.
COPY docs (id, body) FROM :'file';

-- step: index
CREATE INDEX docs_fp ON docs USING simhash (fp);

-- step: VACUUM ANALYZE
VACUUM ANALYZE docs;

-- step: fingerprints alone
-- One process, for comparison.
SET max_parallel_workers_per_gather = 0;
SELECT count(simhash(body)) FROM docs;

-- step: clusters
-- Each row that is not the first of its cluster, with that first row.
SET work_mem = '256MB';
CREATE TABLE candidates AS
WITH numbered AS (
    SELECT id, row_number() OVER w AS n, simhash_cluster(fp, :radius) OVER w AS first
    FROM docs
    WINDOW w AS (ORDER BY id)
)
SELECT d.id, k.id AS keeper
FROM numbered d JOIN numbered k ON k.n = d.first
WHERE d.id <> k.id;
ANALYZE candidates;

-- step: verification
-- Each deleted row resembles the row that is kept.
SET work_mem = '256MB';
CREATE TABLE duplicates AS
SELECT c.*
FROM candidates c JOIN docs d ON d.id = c.id JOIN docs k ON k.id = c.keeper
WHERE resemblance(d.body, k.body, 2) >= 0.5;
ANALYZE duplicates;

-- step: deletion
DELETE FROM docs USING duplicates WHERE docs.id = duplicates.id;

-- step: what went by clusters
SET client_min_messages = error;
DROP TABLE IF EXISTS went;
CREATE TABLE went AS
SELECT 'clusters alone' AS step, * FROM candidates
UNION ALL
SELECT 'clusters, verified', * FROM duplicates;

-- step: plan of the edges
-- An edge is a pair of documents that resemble each other.
SET work_mem = '512MB';
CREATE VIEW resembling AS
SELECT a.id AS a, b.id AS b, a.* FROM docs a JOIN docs b ON :edge AND a.id < b.id;
EXPLAIN (COSTS OFF) SELECT * FROM resembling;

-- step: edges
-- Two sessions, with one half of the fingerprints each, or one.  The texts fit into memory.
SET work_mem = '512MB';
INSERT INTO edges SELECT a, b FROM resembling WHERE :half;

-- step: components
-- Each row that is not the first of its component, with that first row.
SET work_mem = '256MB';
CREATE TABLE duplicates AS
SELECT DISTINCT id, keeper
FROM (SELECT a, b, connected_component(a, b) OVER () AS keeper FROM edges) AS e,
     LATERAL (VALUES (a), (b)) AS member (id)
WHERE id <> keeper;
ANALYZE duplicates;

-- step: what went by all pairs
INSERT INTO went SELECT :'recipe', * FROM duplicates;

-- step: result
-- Compare with the known families: all rows of a family except the oldest are
-- duplicates.  A deleted row was found rightly if its keeper is of the same family.
CREATE TABLE truth (id bigint, family bigint, edit text);
COPY truth FROM :'file';
CREATE TABLE found AS
SELECT s.step, t.*, t.id <> min(t.id) OVER (PARTITION BY s.step, t.family) AS is_duplicate,
       w.id IS NOT NULL AS goes, k.family = t.family AS rightly
FROM truth t CROSS JOIN (SELECT DISTINCT step FROM went) AS s
    LEFT JOIN went w USING (step, id) LEFT JOIN truth k ON k.id = w.keeper;

\pset footer off
\pset title 'what there is'
SELECT count(*) AS documents, count(DISTINCT family) AS families,
       count(*) - count(DISTINCT family) AS duplicates
FROM truth;
\pset title 'what went'
SELECT step, count(*) FILTER (WHERE goes) AS rows, round(avg(rightly::integer) FILTER (WHERE goes), 5) AS precision,
       round(count(*) FILTER (WHERE goes AND rightly) / count(*) FILTER (WHERE is_duplicate)::numeric, 4) AS recall
FROM found GROUP BY step ORDER BY recall, precision;
\pset title 'recall, by what was done to the original'
WITH rate AS (
    SELECT edit, step, count(*) AS duplicates, round(avg((goes AND rightly)::integer), 3) AS recall
    FROM found WHERE is_duplicate GROUP BY edit, step
)
SELECT edit, c.duplicates, c.recall AS clusters, p.recall AS "all pairs", s.recall AS signatures, e.recall AS exact
FROM rate c JOIN rate p USING (edit) JOIN rate s USING (edit) JOIN rate e USING (edit)
WHERE c.step = 'clusters, verified' AND p.step = 'all pairs' AND s.step = 'signatures' AND e.step = 'exact'
ORDER BY c.recall DESC;

-- step: medians
CREATE TABLE steps (run integer, recipe text, step text, seconds float8, kilobytes bigint, n serial);
COPY steps (run, recipe, step, seconds, kilobytes) FROM :'file';
\pset footer off
\pset title 'medians of runs; all of it is without the fingerprints alone'
CREATE VIEW total AS
SELECT run, recipe, NULL AS step, sum(seconds) AS seconds, max(kilobytes) AS kilobytes, max(n) + 1 AS n
FROM steps WHERE step <> 'fingerprints alone' GROUP BY run, recipe;
SELECT recipe, coalesce(step, 'all of it') AS step,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS seconds,
       round(min(seconds)::numeric, 1) AS "from", round(max(seconds)::numeric, 1) AS "to",
       round(:rows / percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)) AS "documents a second",
       round(max(kilobytes) / 1024.0) AS "MB of memory"
FROM (SELECT run, recipe, step, seconds, kilobytes, n FROM steps UNION ALL TABLE total) AS s
GROUP BY recipe, step ORDER BY recipe DESC, min(n);
\pset title 'pairs / clusters, all of it'
SELECT p.recipe, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY p.seconds / c.seconds)::numeric, 2) AS times
FROM total p JOIN total c USING (run)
WHERE p.recipe <> 'clusters' AND c.recipe = 'clusters'
GROUP BY p.recipe;
