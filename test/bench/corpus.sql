-- A corpus from COPY to the remaining rows, step by step.  corpus.sh runs each part
-- that begins with "-- step:" by itself, and measures its time.
-- Variables: radius; file, the input of COPY; rows.

-- step: a table
CREATE EXTENSION simhash;
CREATE TABLE docs (
    id   bigint PRIMARY KEY,
    body text,
    fp   simhash GENERATED ALWAYS AS (simhash(body)) STORED
);

-- step: COPY
-- COPY computes the fingerprints.  Two sessions, with one file each.
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
WHERE resemblance(d.body, k.body) >= 0.5;
ANALYZE duplicates;

-- step: deletion
DELETE FROM docs USING duplicates WHERE docs.id = duplicates.id;

-- step: result
-- Compare with the known families: all rows of a family except the oldest are
-- duplicates.  A deleted row was found rightly if its keeper is of the same family.
CREATE TABLE truth (id bigint, family bigint, edit text);
COPY truth FROM :'file';
CREATE TABLE found AS
SELECT t.*, t.id <> min(t.id) OVER (PARTITION BY t.family) AS is_duplicate,
       c.id IS NOT NULL AS candidate, d.id IS NOT NULL AS removed, k.family = t.family AS rightly
FROM truth t LEFT JOIN candidates c USING (id) LEFT JOIN duplicates d USING (id) LEFT JOIN truth k ON k.id = c.keeper;

\pset footer off
\pset title 'what there is'
SELECT count(*) AS documents, count(DISTINCT family) AS families, count(*) FILTER (WHERE is_duplicate) AS duplicates,
       (SELECT count(*) FROM docs) AS survivors
FROM found;
\pset title 'what went'
SELECT step, count(*) FILTER (WHERE goes) AS rows, round(avg(rightly::integer) FILTER (WHERE goes), 5) AS precision,
       round(count(*) FILTER (WHERE goes AND rightly) / count(*) FILTER (WHERE is_duplicate)::numeric, 4) AS recall
FROM found, LATERAL (VALUES ('by clusters alone', candidate), ('verified', removed)) AS v (step, goes)
GROUP BY step ORDER BY step;
\pset title 'of what was done to the original'
SELECT edit, count(*) FILTER (WHERE is_duplicate) AS duplicates,
       round(count(*) FILTER (WHERE removed AND rightly) / count(*) FILTER (WHERE is_duplicate)::numeric, 3) AS recall
FROM found GROUP BY edit ORDER BY recall DESC;

-- step: medians
CREATE TABLE steps (run integer, step text, seconds float8, kilobytes bigint, n serial);
COPY steps (run, step, seconds, kilobytes) FROM :'file';
\pset footer off
\pset title 'medians of runs; all of it is without the fingerprints alone'
SELECT coalesce(step, 'all of it') AS step,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS seconds,
       round(min(seconds)::numeric, 1) AS "from", round(max(seconds)::numeric, 1) AS "to",
       round(:rows / percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)) AS "documents a second",
       round(max(kilobytes) / 1024.0) AS "MB of memory"
FROM (SELECT step, seconds, kilobytes, n FROM steps
      UNION ALL
      SELECT NULL, sum(seconds), max(kilobytes), max(n) + 1
      FROM steps WHERE step <> 'fingerprints alone' GROUP BY run) AS s
GROUP BY step ORDER BY min(n);
