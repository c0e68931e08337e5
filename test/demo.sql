-- What test/demo.sh shows.  By hand, in a database of your own:
--   bash test/demo.sh fetch DIR; cd DIR; psql -f .../test/demo.sql
\set ON_ERROR_STOP on
\set QUIET on
\encoding UTF8
\pset pager off
\pset footer off
-- All figures are for one core.
SET max_parallel_workers_per_gather = 0;
\timing on
\set ECHO all

-- ---------------------------------------------------------------------------
-- 1. A table with a fingerprint column
-- ---------------------------------------------------------------------------

CREATE EXTENSION simhash;

CREATE TABLE packages (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name  text,
    title text,
    body  text,
    fp    simhash GENERATED ALWAYS AS (simhash(body)) STORED
);

-- Load the long descriptions of all Debian packages.  This computes the fingerprints, too.
\copy packages (name, title, body) FROM 'packages.csv' CSV
VACUUM ANALYZE packages;

SELECT count(*) AS documents,
       count(DISTINCT fp) AS fingerprints,
       pg_size_pretty(sum(octet_length(body))) AS text
FROM packages;

SELECT name, fp, left(body, 50) AS body
FROM packages WHERE name IN ('libcommons-collections3-java', 'libcommons-collections4-java', 'bash');

-- ---------------------------------------------------------------------------
-- 2. Near-duplicates of a package: fingerprints that differ in few bits
-- ---------------------------------------------------------------------------

SELECT fp AS wanted FROM packages WHERE name = 'libcommons-collections4-java' \gset

-- Without an index, PostgreSQL compares all rows.
EXPLAIN (ANALYZE, COSTS OFF)
SELECT name FROM packages WHERE fp <~> :'wanted' <= 8;

-- An index finds the near rows without reading the others.
CREATE INDEX packages_fp ON packages USING simhash (fp);

EXPLAIN (ANALYZE, COSTS OFF)
SELECT name FROM packages WHERE fp <~> :'wanted' <= 8;

SELECT fp <~> :'wanted' AS bits, name, title
FROM packages WHERE fp <~> :'wanted' <= 8
ORDER BY bits, name;

-- Version 3 has nearly the same description, so one of them could go.  Show both side by
-- side, line by line, and then their differences.
SELECT CASE WHEN a IS DISTINCT FROM b THEN '*' END AS "*", a AS "version 4", b AS "version 3"
FROM packages p, packages q,
     unnest(string_to_array(p.body, E'\n'), string_to_array(q.body, E'\n')) AS line (a, b)
WHERE p.name = 'libcommons-collections4-java' AND q.name = 'libcommons-collections3-java';

SELECT p.fp <~> q.fp AS bits, resemblance(p.body, q.body),
       containment(p.body, q.body) AS "4 in 3", containment(q.body, p.body) AS "3 in 4"
FROM packages p, packages q
WHERE p.name = 'libcommons-collections4-java' AND q.name = 'libcommons-collections3-java';

SELECT CASE only_in WHEN 'a' THEN p.name ELSE q.name END AS "only in", shingle,
       translate(substr(CASE only_in WHEN 'a' THEN p.body ELSE q.body END, start, length), E'\n', ' ') AS passage
FROM packages p, packages q, shingle_difference(p.body, q.body)
WHERE p.name = 'libcommons-collections4-java' AND q.name = 'libcommons-collections3-java';

-- Count the pairs of near-identical descriptions under different names.
SELECT count(*) AS pairs
FROM packages a JOIN packages b ON a.fp <~> b.fp <= 3 AND a.name < b.name;

-- Fingerprints find candidates.  The texts themselves decide.
--   resemblance: the fraction of all word pairs of two texts that both contain
--   containment: the fraction of the first text's word pairs that the second contains
-- Here are the twelve nearest packages.  The family of git has a high resemblance.  The
-- other fingerprints are similar by chance.
SELECT p.fp <~> q.fp AS bits, p.name,
       round(resemblance(q.body, p.body)::numeric, 2) AS resemblance,
       round(containment(q.body, p.body)::numeric, 2) AS containment
FROM packages q, LATERAL (
    SELECT * FROM packages p WHERE p.name <> q.name ORDER BY p.fp <~> q.fp LIMIT 12
) AS p
WHERE q.name = 'git-all'
ORDER BY bits, p.name;

-- Use a wide radius to find candidates, and a threshold of resemblance to decide.
SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'git-all' AND p.fp <~> q.fp <= 12
  AND resemblance(q.body, p.body) >= 0.5
ORDER BY bits, name;

-- ---------------------------------------------------------------------------
-- 3. The largest groups of near-identical descriptions
-- ---------------------------------------------------------------------------

-- Group equal fingerprints.  The type can be grouped, sorted and joined as any other.
SELECT count(*) AS packages, min(name) AS first, (array_agg(title ORDER BY name))[1] AS title
FROM packages
GROUP BY fp
ORDER BY packages DESC LIMIT 6;

-- Many more may be within three bits of such a group.  Equality does not find these.
-- The result lists one family of packages several times, once for each of its groups.
WITH same AS MATERIALIZED (
    SELECT fp, count(*) AS identical, (array_agg(title ORDER BY name))[1] AS title
    FROM packages GROUP BY fp HAVING count(*) >= 5
)
SELECT identical, count(*) AS near, same.title
FROM same JOIN packages p ON p.fp <~> same.fp <= 3
GROUP BY same.fp, identical, same.title
HAVING count(*) >= 2 * identical
ORDER BY near DESC LIMIT 6;

-- ---------------------------------------------------------------------------
-- 4. Clusters, and the row to keep of each
-- ---------------------------------------------------------------------------

-- Keep the longest description of each cluster within 3 bits.
CREATE TABLE labelled AS
SELECT id, row_number() OVER w AS n, simhash_cluster(fp, 3, 'leader') OVER w AS leader
FROM packages
WINDOW w AS (ORDER BY length(body) DESC, id);

SELECT count(*) FILTER (WHERE n = leader) AS survive, count(*) FILTER (WHERE n <> leader) AS go
FROM labelled;

-- Show the clusters with the most copies that are near but not equal, the package that
-- each cluster keeps, and how far the others are from it.
SELECT k.name AS survivor, count(*) AS size,
       count(*) FILTER (WHERE d.fp <> k.fp) AS near_copies, max(d.fp <~> k.fp) AS farthest,
       round(min(resemblance(d.body, k.body))::numeric, 2) AS least_resemblance, k.title
FROM labelled l JOIN packages d USING (id)
     JOIN labelled leader ON leader.n = l.leader JOIN packages k ON k.id = leader.id
GROUP BY k.id
ORDER BY near_copies DESC, survivor LIMIT 6;

-- Verified clusters: find candidates within 10 bits, and keep the pairs whose texts
-- resemble each other.
CREATE TABLE verified AS
WITH edges (a, b) AS (
    SELECT x.id, y.id
    FROM packages x JOIN packages y ON x.fp <~> y.fp <= 10 AND x.id < y.id
    WHERE resemblance(x.body, y.body) >= 0.8
    UNION ALL
    SELECT id, id FROM packages
), labelled AS (
    SELECT b AS id, connected_component(a, b) OVER () AS cluster FROM edges
)
SELECT DISTINCT id, cluster FROM labelled;

-- Count the rows that distance alone would merge and verification keeps apart.
CREATE TABLE chained AS
SELECT id, simhash_cluster(fp, 10, 'single') OVER (ORDER BY id) AS cluster FROM packages;

SELECT merged_by_distance, merged_verified, merged_by_distance - merged_verified AS kept_apart
FROM (SELECT count(*) - count(DISTINCT cluster) AS merged_by_distance FROM chained) AS c,
     (SELECT count(*) - count(DISTINCT cluster) AS merged_verified FROM verified) AS v;

-- Verification divides the largest cluster by distance into many.  Show the largest ones.
WITH largest AS (
    SELECT cluster, count(*) AS size FROM chained GROUP BY cluster ORDER BY size DESC LIMIT 1
)
SELECT largest.size AS chained, count(*) AS verified, min(name) AS first,
       (array_agg(title ORDER BY name))[1] AS title
FROM largest JOIN chained USING (cluster) JOIN verified v USING (id) JOIN packages USING (id)
GROUP BY v.cluster, largest.size
ORDER BY verified DESC, first LIMIT 6;

-- ---------------------------------------------------------------------------
-- 5. Signatures: texts that have most shingles in common
-- ---------------------------------------------------------------------------

ALTER TABLE packages ADD sig minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED;
CREATE INDEX packages_sig ON packages USING simhash (sig);
VACUUM ANALYZE packages;

-- Find the descriptions whose resemblance to that of a library is at least 0.6.  The
-- shingles have three words.
SELECT round(jaccard(p.sig, q.sig)::numeric, 2) AS estimated,
       round(resemblance(p.body, q.body, 3)::numeric, 2) AS exact, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'libharfbuzz0b' AND p.sig % q.sig AND resemblance(p.body, q.body, 3) >= 0.6
ORDER BY exact DESC, p.name LIMIT 8;

-- Cluster by bands, and verify the pairs as above.
CREATE TABLE by_bands AS
WITH edges (a, b) AS (
    SELECT x.id, y.id
    FROM packages x JOIN packages y ON x.sig % y.sig AND x.id < y.id
    WHERE resemblance(x.body, y.body) >= 0.8
    UNION ALL
    SELECT id, id FROM packages
), labelled AS (
    SELECT b AS id, connected_component(a, b) OVER () AS cluster FROM edges
)
SELECT DISTINCT id, cluster FROM labelled;

-- Count the rows that are merged by fingerprints within 10 bits, by bands, and by both.
SELECT (SELECT count(*) - count(DISTINCT cluster) FROM verified) AS by_fingerprints,
       (SELECT count(*) - count(DISTINCT cluster) FROM by_bands) AS by_signatures,
       (SELECT count(*) - count(DISTINCT c) FROM (
            SELECT connected_component(v.cluster, b.cluster) OVER () AS c
            FROM verified v JOIN by_bands b USING (id)) AS s) AS by_both;

-- ---------------------------------------------------------------------------
-- 6. How far an edit moves a fingerprint
-- ---------------------------------------------------------------------------

SELECT edit,
       simhash(body) <~> simhash(edited) AS bits,
       round(resemblance(body, edited)::numeric, 2) AS resemblance
FROM packages, LATERAL (VALUES
    (1, 'case, spacing, punctuation', upper(regexp_replace(body, '[\s,.;]+', ' - ', 'g'))),
    (2, 'one word replaced',  replace(body, 'efficiency', 'elegance')),
    (3, 'three words',        replace(replace(replace(body, 'efficiency', 'elegance'),
                                      'kernel', 'system'), 'revision', 'version')),
    (4, 'a sentence added',   body || ' It comes with ABSOLUTELY NO WARRANTY.'),
    (5, 'the first half',     left(body, length(body) / 2)),
    (6, 'another text',       (SELECT body FROM packages WHERE name = 'nano' LIMIT 1))
) AS e (n, edit, edited)
WHERE name = 'git'
ORDER BY n;

-- ---------------------------------------------------------------------------
-- 7. Chinese: no spaces between words, no settings
-- ---------------------------------------------------------------------------

-- Each ideograph counts as a word, so a shingle has two ideographs.
SELECT shingles('散步的老朋友');

-- Compare a sentence with three others: one word changed, the punctuation changed, and
-- an unrelated one.
SELECT simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('他今天早上在公园里跑步，遇见了一位老朋友。') AS one_word,
       simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('他今天早上在公园里散步  遇见了一位老朋友!') AS punctuation,
       simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('股票市场昨天大幅下跌，投资者纷纷抛售。') AS another;

CREATE TABLE packages_zh (LIKE packages INCLUDING ALL);
\copy packages_zh (name, title, body) FROM 'packages_zh.csv' CSV

-- Find the Chinese descriptions that are nearest to that of a game.
SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages_zh p, packages_zh q
WHERE q.name = '0ad'
ORDER BY bits, name LIMIT 4;

-- Find the nearest ones to a new sentence.
SELECT fp <~> simhash('本软件包包含了用于 GNU Aspell 拼写检查程序的法语字典文件。') AS bits,
       name, left(body, 40) AS body
FROM packages_zh
ORDER BY bits, name LIMIT 4;

-- ---------------------------------------------------------------------------
-- 8. A million more fingerprints
-- ---------------------------------------------------------------------------

-- Add random fingerprints to those of the packages.
CREATE TABLE million AS
SELECT i AS id, hashint8extended(i, 0)::simhash AS fp FROM generate_series(1, 1000000) AS i
UNION ALL
SELECT 1000000 + id, fp FROM packages;
VACUUM ANALYZE million;

-- Find what is near the same package, first by reading the whole table.
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, SUMMARY OFF)
SELECT id FROM million WHERE fp <~> :'wanted' <= 8;
CREATE TABLE by_eye AS SELECT id FROM million WHERE fp <~> :'wanted' <= 8;

-- Then by the index.
CREATE INDEX million_fp ON million USING simhash (fp);
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, SUMMARY OFF)
SELECT id FROM million WHERE fp <~> :'wanted' <= 8;
CREATE TABLE by_index AS SELECT id FROM million WHERE fp <~> :'wanted' <= 8;

-- The rows are the same.
SELECT (SELECT count(*) FROM by_eye) AS by_eye, (SELECT count(*) FROM by_index) AS by_index,
       (SELECT count(*) FROM (TABLE by_eye EXCEPT TABLE by_index) AS d) AS differing;

-- Find the ten nearest, at any distance.
EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, SUMMARY OFF)
SELECT id FROM million ORDER BY fp <~> :'wanted' LIMIT 10;

-- ---------------------------------------------------------------------------
-- In short
-- ---------------------------------------------------------------------------

\timing off \\ \set ECHO none
SET client_min_messages = error;
-- Return the average time of a query in milliseconds, over `times` fingerprints of
-- packages.  The query contains %L for the fingerprint.
CREATE FUNCTION pg_temp.milliseconds(query text, times integer) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    fps simhash[] := array(SELECT fp FROM packages ORDER BY id LIMIT times);
    started timestamptz := clock_timestamp();
BEGIN
    FOR i IN 1 .. times LOOP
        EXECUTE format(query, fps[i]);
    END LOOP;
    RETURN 1000 * extract(epoch FROM clock_timestamp() - started) / times;
END $$;
SELECT pg_temp.milliseconds('SELECT count(simhash(body)) FROM packages', 1) AS making,
       pg_temp.milliseconds(
           'SELECT count(c) FROM (
                SELECT simhash_cluster(fp, 3, ''leader'') OVER (ORDER BY length(body) DESC, id) AS c
                FROM packages) AS s', 1) AS clusters,
       pg_temp.milliseconds('SELECT count(*) FROM million WHERE fp <~> %L <= 8', 100) AS near,
       pg_temp.milliseconds('SELECT id FROM million ORDER BY fp <~> %L LIMIT 10', 100) AS nearest \gset
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT pg_temp.milliseconds('SELECT count(*) FROM million WHERE fp <~> %L <= 8', 3) AS near_by_eye,
       pg_temp.milliseconds('SELECT id FROM million ORDER BY fp <~> %L LIMIT 10', 3) AS nearest_by_eye \gset
RESET enable_indexscan;
RESET enable_bitmapscan;
\pset format unaligned
\pset tuples_only on
SELECT format('%s descriptions (%s) are fingerprinted in %s ms on one core, %s us each.',
              count(*), pg_size_pretty(sum(octet_length(body))), round(:making),
              round((1000 * :making / count(*))::numeric, 1))
FROM packages;
SELECT format('%s of them have a copy within 3 bits under another name.', count(*))
FROM packages p WHERE EXISTS (SELECT FROM packages q WHERE q.fp <~> p.fp <= 3 AND q.name <> p.name);
SELECT format('Keeping one of each cluster within 3 bits, %s of them survive: found in %s ms.',
              count(*) FILTER (WHERE n = leader), round(:clusters))
FROM labelled;
SELECT format('A package searched for in %s rows, on average:', count(*)) FROM million;
SELECT format('    those within 8 bits: %s ms by reading the table, %s ms by the index, %s times as fast;',
              round(:near_by_eye::numeric, 1), round(:near::numeric, 3), round(:near_by_eye / :near));
SELECT format('    the ten nearest: %s ms by reading and sorting, %s ms by the index, %s times as fast.',
              round(:nearest_by_eye::numeric, 1), round(:nearest::numeric, 3), round(:nearest_by_eye / :nearest));
SELECT format('The index takes %s, %s bytes a row; its answers are exact.',
              pg_size_pretty(pg_relation_size('million_fp')), round(pg_relation_size('million_fp') / count(*)::numeric))
FROM million;
