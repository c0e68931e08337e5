-- What test/demo.sh shows.  By hand, in a database of your own:
--   bash test/demo.sh fetch DIR; cd DIR; psql -f .../test/demo.sql
\set ON_ERROR_STOP on
\set QUIET on
\encoding UTF8
\pset pager off
\pset footer off
\timing on
\set ECHO all

-- ---------------------------------------------------------------------------
-- 1. A table that fingerprints what is written to it
-- ---------------------------------------------------------------------------

CREATE EXTENSION simhash;

CREATE TABLE packages (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name  text,
    title text,
    body  text,
    fp    simhash GENERATED ALWAYS AS (simhash(body)) STORED
);

-- The long descriptions of all Debian packages, fingerprinted on the way in.
\copy packages (name, title, body) FROM 'packages.csv' CSV
VACUUM ANALYZE packages;

SELECT count(*) AS documents,
       count(DISTINCT fp) AS fingerprints,
       pg_size_pretty(sum(octet_length(body))) AS text
FROM packages;

-- Computing the fingerprints alone, of all documents, takes:
SELECT count(simhash(body)) AS fingerprints FROM packages;

SELECT name, fp, left(body, 50) AS body
FROM packages WHERE name IN ('manpages-de', 'manpages-fr', 'bash');

-- ---------------------------------------------------------------------------
-- 2. Near-duplicates of a package: fingerprints that differ in few bits
-- ---------------------------------------------------------------------------

-- Without an index every row is compared.
SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'manpages-de' AND p.fp <~> q.fp <= 8
ORDER BY bits, name;

-- With it, only those that may be near are; the rows are the same.
CREATE INDEX packages_fp ON packages USING simhash (fp);

SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'manpages-de' AND p.fp <~> q.fp <= 8
ORDER BY bits, name;

-- All pairs of near-identical descriptions under different names:
SELECT count(*) AS pairs
FROM packages a JOIN packages b ON a.fp <~> b.fp <= 3 AND a.name < b.name;

-- A fingerprint finds candidates; the texts themselves settle the matter.
-- resemblance: the share of word pairs that two texts have in common;
-- containment: the share of the first text's that the second has as well.
-- Of the eight nearest (the index gives the nearest first) the family of git stands
-- out from a stranger with a similar fingerprint.
SELECT p.fp <~> q.fp AS bits, p.name,
       round(resemblance(q.body, p.body)::numeric, 2) AS resemblance,
       round(containment(q.body, p.body)::numeric, 2) AS containment
FROM packages q, LATERAL (
    SELECT * FROM packages p WHERE p.name <> q.name ORDER BY p.fp <~> q.fp LIMIT 8
) AS p
WHERE q.name = 'git-all'
ORDER BY bits, p.name;

-- So: a wide radius for candidates, and a threshold to decide.
SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages p, packages q
WHERE q.name = 'git-all' AND p.fp <~> q.fp <= 12
  AND resemblance(q.body, p.body) >= 0.5
ORDER BY bits, name;

-- ---------------------------------------------------------------------------
-- 3. The largest groups of near-identical descriptions
-- ---------------------------------------------------------------------------

-- Same fingerprint: the type can be grouped, sorted and joined like any other.
SELECT count(*) AS packages, min(name) AS first, max(name) AS last, min(title) AS title
FROM packages
GROUP BY fp
ORDER BY packages DESC LIMIT 6;

-- Within three bits of such a group there may be many more, which no equality
-- finds.  (Below, one family of packages is seen from several of its members.)
WITH same AS MATERIALIZED (
    SELECT fp, count(*) AS identical, min(title) AS title
    FROM packages GROUP BY fp HAVING count(*) >= 5
)
SELECT identical, count(*) AS near, same.title
FROM same JOIN packages p ON p.fp <~> same.fp <= 3
GROUP BY same.fp, identical, same.title
HAVING count(*) >= 2 * identical
ORDER BY near DESC LIMIT 6;

-- ---------------------------------------------------------------------------
-- 4. How far an edit moves a fingerprint
-- ---------------------------------------------------------------------------

SELECT edit,
       simhash(body) <~> simhash(edited) AS bits,
       round(simhash_similarity(simhash(body), simhash(edited))::numeric, 2) AS similarity,
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
-- 5. Chinese: no spaces between words, no setting to change
-- ---------------------------------------------------------------------------

-- Every ideograph counts as a word, so pairs of them are compared.
SELECT shingles('散步的老朋友');

-- One word changed, punctuation changed, something else altogether:
SELECT simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('他今天早上在公园里跑步，遇见了一位老朋友。') AS one_word,
       simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('他今天早上在公园里散步  遇见了一位老朋友!') AS punctuation,
       simhash('他今天早上在公园里散步，遇见了一位老朋友。') <~>
       simhash('股票市场昨天大幅下跌，投资者纷纷抛售。') AS another;

CREATE TABLE packages_zh (LIKE packages INCLUDING ALL);
\copy packages_zh (name, title, body) FROM 'packages_zh.csv' CSV

-- The Chinese descriptions nearest to that of a game ...
SELECT p.fp <~> q.fp AS bits, p.name, p.title
FROM packages_zh p, packages_zh q
WHERE q.name = '0ad'
ORDER BY bits, name LIMIT 4;

-- ... and to a sentence typed in.
SELECT fp <~> simhash('本软件包包含了用于 GNU Aspell 拼写检查程序的法语字典文件。') AS bits,
       name, left(body, 40) AS body
FROM packages_zh
ORDER BY bits, name LIMIT 4;
