-- Measures the cost of fingerprints and signatures, and compares it with other
-- functions of a text in PostgreSQL.  fingerprint.sh runs this, in a directory with
-- packages.csv and packages_zh.csv.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

CREATE EXTENSION simhash;
\ir timing.sql

-- one core, and no waits for the disk
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TABLE en (name text, title text, body text);
\copy en FROM 'packages.csv' CSV
CREATE TABLE zh (name text, title text, body text);
\copy zh FROM 'packages_zh.csv' CSV
-- Short texts, and the same as long ones, repeated so that the times are long enough.
INSERT INTO zh SELECT name, title, body FROM zh, generate_series(2, 20);
CREATE TABLE long_en AS SELECT string_agg(body, E'\n\n') AS body FROM en GROUP BY left(md5(name), 2);
CREATE TABLE features AS
    SELECT s AS feature, array_fill(1.5::float8, ARRAY[cardinality(s)]) AS weight
    FROM (SELECT shingles(body) AS s FROM en) AS shingled WHERE cardinality(s) > 0;
VACUUM ANALYZE;

SELECT 'English' AS texts, count(*), pg_size_pretty(sum(octet_length(body))) AS size,
       round(avg(octet_length(body))) AS "bytes each" FROM en
UNION ALL SELECT 'Chinese', count(*), pg_size_pretty(sum(octet_length(body))), round(avg(octet_length(body))) FROM zh
UNION ALL SELECT 'long English', count(*), pg_size_pretty(sum(octet_length(body))), round(avg(octet_length(body)))
FROM long_en;

CREATE TEMP TABLE results AS
SELECT * FROM time_pair('English: simhash(body) / md5(body)',
    'SELECT count(simhash(body)) FROM en', 'SELECT count(md5(body)) FROM en')
UNION ALL SELECT * FROM time_pair('English: to_tsvector(''english'', body) / simhash(body)',
    $$SELECT count(to_tsvector('english', body)) FROM en$$, 'SELECT count(simhash(body)) FROM en', 3)
UNION ALL SELECT * FROM time_pair('long English: simhash(body) / md5(body)',
    'SELECT count(simhash(body)) FROM long_en', 'SELECT count(md5(body)) FROM long_en')
UNION ALL SELECT * FROM time_pair('English: simhash(body, 5, ''char'') / md5(body)',
    $$SELECT count(simhash(body, 5, 'char')) FROM en$$, 'SELECT count(md5(body)) FROM en')
UNION ALL SELECT * FROM time_pair('Chinese: simhash(body, 4, ''char'') / md5(body)',
    $$SELECT count(simhash(body, 4, 'char')) FROM zh$$, 'SELECT count(md5(body)) FROM zh')
UNION ALL SELECT * FROM time_pair('Chinese: simhash(body) / md5(body)',
    'SELECT count(simhash(body)) FROM zh', 'SELECT count(md5(body)) FROM zh')
UNION ALL SELECT * FROM time_pair('features: weighted / unweighted',
    'SELECT count(simhash(feature, weight)) FROM features', 'SELECT count(simhash(feature, 1)) FROM features')
UNION ALL SELECT * FROM time_pair('English: to_minhash(body) / simhash(body)',
    'SELECT count(to_minhash(body)) FROM en', 'SELECT count(simhash(body)) FROM en')
UNION ALL SELECT * FROM time_pair('long English: to_minhash(body) / simhash(body)',
    'SELECT count(to_minhash(body)) FROM long_en', 'SELECT count(simhash(body)) FROM long_en')
UNION ALL SELECT * FROM time_pair('English: winnow(body) / simhash(body)',
    'SELECT count(winnow(body)) FROM en', 'SELECT count(simhash(body)) FROM en')
UNION ALL SELECT * FROM time_pair('long English: winnow(body) / simhash(body)',
    'SELECT count(winnow(body)) FROM long_en', 'SELECT count(simhash(body)) FROM long_en')
UNION ALL SELECT * FROM time_pair('Chinese: winnow(body) / simhash(body)',
    'SELECT count(winnow(body)) FROM zh', 'SELECT count(simhash(body)) FROM zh')
UNION ALL SELECT * FROM time_pair('English: resemblance(body, one of them) / simhash(body)',
    'SELECT count(resemblance(body, (SELECT max(body) FROM en), 2)) FROM en', 'SELECT count(simhash(body)) FROM en', 3);
\pset title 'medians of pairs'
SELECT * FROM results;
