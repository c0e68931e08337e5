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
-- 1. The descriptions of all Debian packages, with three digests, each with an index
-- ---------------------------------------------------------------------------

CREATE EXTENSION simhash;

CREATE TABLE packages (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name  text,
    title text,
    body  text
);
\copy packages (name, title, body) FROM 'packages.csv' CSV

ALTER TABLE packages ADD sk bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED;
ALTER TABLE packages ADD sig minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED;
ALTER TABLE packages ADD fp simhash GENERATED ALWAYS AS (simhash(body)) STORED;
CREATE INDEX packages_sk ON packages USING simhash (sk);
CREATE INDEX packages_sig ON packages USING simhash (sig);
CREATE INDEX packages_fp ON packages USING simhash (fp);
VACUUM ANALYZE packages;

-- ---------------------------------------------------------------------------
-- 2. What resembles a text: exactly, by signatures, by fingerprints
-- ---------------------------------------------------------------------------

-- Resemblance is the fraction of all runs of three words of two texts that both contain.
SELECT round(1 - (p.sk <%> q.sk)::numeric, 2) AS resemblance, p.sig % q.sig AS "%",
       p.fp <~> q.fp AS bits, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'git-all' AND p.sk <%> q.sk <= 0.5
ORDER BY p.sk <%> q.sk, p.name;

-- The index finds these rows without reading the other rows.
EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF)
SELECT p.name FROM packages p, packages q WHERE q.name = 'git-all' AND p.sk <%> q.sk <= 0.5;

-- Show what two texts have in common, and where they differ.
SELECT units AS "words in common", left(passage, 40) AS passage, a_gaps AS "version 4", b_gaps AS "version 3"
FROM packages p, packages q, edited_passages(p.body, q.body)
WHERE p.name = 'libcommons-collections4-java' AND q.name = 'libcommons-collections3-java';

-- ---------------------------------------------------------------------------
-- 3. Every pair, by a join of the table with itself
-- ---------------------------------------------------------------------------

CREATE TABLE pairs AS
SELECT a.id AS a, b.id AS b, 1 - (a.sk <%> b.sk) AS resemblance
FROM packages a JOIN packages b ON a.sk <%> b.sk <= 0.5 AND a.id < b.id;

CREATE TABLE by_bands AS
SELECT a.id AS a, b.id AS b FROM packages a JOIN packages b ON a.sig % b.sig AND a.id < b.id;

CREATE TABLE within_10 AS
SELECT a.id AS a, b.id AS b FROM packages a JOIN packages b ON a.fp <~> b.fp <= 10 AND a.id < b.id;

-- Draw the part of these pairs that signatures and fingerprints find.  (They also find pairs
-- that resemble each other less.  resemblance() would remove these.)
CREATE FUNCTION pg_temp.bar(part bigint, whole bigint) RETURNS text
RETURN rpad(repeat('█', (20 * part / whole)::integer), 20) || to_char(100.0 * part / whole, '990%');

SELECT format('%s to %s', low, low + 0.1) AS resemblance, count(*) AS pairs,
       pg_temp.bar(count(s.a), count(*)) AS "signatures, 18 x 7",
       pg_temp.bar(count(f.a), count(*)) AS "fingerprints, 10 bits"
FROM pairs LEFT JOIN by_bands s USING (a, b) LEFT JOIN within_10 f USING (a, b),
     LATERAL (SELECT least(0.9, trunc(resemblance::numeric, 1)) AS low) AS l
GROUP BY low ORDER BY low DESC;

-- ---------------------------------------------------------------------------
-- 4. One row of each family
-- ---------------------------------------------------------------------------

-- Each row that goes resembles by 0.8 a row that stays.
CREATE TABLE goes AS
SELECT b AS id, min(a) AS keeper FROM pairs p
WHERE resemblance >= 0.8 AND NOT EXISTS (SELECT FROM pairs e WHERE e.b = p.a AND e.resemblance >= 0.8)
GROUP BY b;

-- Show families with one title whose texts differ.
SELECT k.title, count(*) AS go, round(min(1 - (d.sk <%> k.sk))::numeric, 2) AS least_resemblance,
       k.name AS stays, min(d.name) AS goes
FROM goes JOIN packages d USING (id) JOIN packages k ON k.id = keeper
WHERE d.title = k.title AND d.body <> k.body
GROUP BY k.id ORDER BY go DESC, stays LIMIT 8;

-- ---------------------------------------------------------------------------
-- 5. A passage inside other texts
-- ---------------------------------------------------------------------------

ALTER TABLE packages ADD passages bigint[] GENERATED ALWAYS AS (winnow(body, 12, 6)) STORED;
CREATE INDEX packages_passages ON packages USING simhash (passages);
VACUUM ANALYZE packages;

\set passage 'I read that Git is popular version control system designed to handle very large projects, and more.'

SELECT name, title, left(c.passage, 60) AS "in common"
FROM packages, common_passages(:'passage', body, 12) AS c
WHERE passages && winnow(:'passage', 12, 6)
ORDER BY name LIMIT 5;

-- ---------------------------------------------------------------------------
-- 6. Chinese: no spaces between words, no settings
-- ---------------------------------------------------------------------------

CREATE TABLE packages_zh (LIKE packages INCLUDING ALL);
\copy packages_zh (name, title, body) FROM 'packages_zh.csv' CSV

-- Find the descriptions that resemble a new text.
SELECT round(1 - (sk <%> shingle_hashes(q.body))::numeric, 2) AS resemblance, name, left(p.body, 40) AS body
FROM packages_zh p, (VALUES ('本软件包包含了用于 GNU Aspell 拼写检查程序的法语字典文件。')) AS q (body)
WHERE sk <%> shingle_hashes(q.body) <= 0.5
ORDER BY resemblance DESC, name LIMIT 4;

-- ---------------------------------------------------------------------------
-- In short
-- ---------------------------------------------------------------------------

\timing off \\ \set ECHO none
SET client_min_messages = error;
-- Return the number of rows that a condition finds for `times` packages q, and the
-- milliseconds a search.
CREATE FUNCTION pg_temp.search(condition text, times integer, OUT rows bigint, OUT ms numeric) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT * FROM packages ORDER BY hashint8(id) LIMIT %s) AS q,
        LATERAL (SELECT FROM packages p WHERE %s OFFSET 0) AS s', times, condition) INTO rows;
    ms := round(1000 * extract(epoch FROM clock_timestamp() - started) / times, 2);
END $$;
-- Return the number of pairs of packages that a condition finds, and the seconds.
CREATE FUNCTION pg_temp.join_all(condition text, OUT rows bigint, OUT s numeric) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    EXECUTE format('SELECT count(*) FROM packages p JOIN packages q ON %s AND p.id < q.id', condition) INTO rows;
    s := round(extract(epoch FROM clock_timestamp() - started), 1);
END $$;
SELECT way AS "0.8 and more", pg_size_pretty(bytes) AS index, s.ms AS "ms a search", s.rows AS "found by 500",
       j.s AS "s for all pairs", j.rows AS pairs
FROM (VALUES (1, 'exactly', pg_relation_size('packages_sk'), 'p.sk <%> q.sk <= 0.2'),
             (2, 'by signatures', pg_relation_size('packages_sig'),
              'p.sig % q.sig AND resemblance(p.body, q.body) >= 0.8'),
             (3, 'by fingerprints', pg_relation_size('packages_fp'),
              'p.fp <~> q.fp <= 10 AND resemblance(p.body, q.body) >= 0.8')
     ) AS w (n, way, bytes, condition), pg_temp.search(condition, 500) AS s, pg_temp.join_all(condition) AS j
ORDER BY n;
\pset format unaligned
\pset tuples_only on
SELECT format('Without an index, a search reads all %s descriptions (%s): %s ms.', count(*),
              pg_size_pretty(sum(octet_length(body))),
              (SELECT round(ms) FROM pg_temp.search('resemblance(p.body, q.body) >= 0.8', 2)))
FROM packages;
SELECT format('One of each family stays: %s rows go, %s of them with another text than the row that stays.',
              count(*), count(*) FILTER (WHERE d.body <> k.body))
FROM goes JOIN packages d USING (id) JOIN packages k ON k.id = keeper;
