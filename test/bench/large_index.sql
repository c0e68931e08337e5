-- The steps of large_index.sh, each from its heading to the next one.  psql variables:
-- rows, first, last.

-- step: a table
CREATE EXTENSION simhash;
ALTER SYSTEM SET max_wal_size = '30GB';
ALTER SYSTEM SET checkpoint_timeout = '1h';
ALTER SYSTEM SET maintenance_work_mem = '4GB';
ALTER SYSTEM SET jit = off;
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null
CREATE TABLE docs (id bigint, fp simhash);
-- step: insertion
-- in the target list, generate_series() needs no temporary file
INSERT INTO docs SELECT i, hashint8extended(i, 0)::simhash
FROM (SELECT generate_series(:first::bigint, :last) AS i) AS s;
-- step: vacuum
VACUUM ANALYZE docs;
-- step: index
SET max_parallel_maintenance_workers = 1;
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- step: searches in memory
\pset footer off
SELECT pg_size_pretty(pg_relation_size('docs')) AS "table", pg_size_pretty(pg_relation_size('docs_fp')) AS index,
       round(pg_relation_size('docs_fp') / :rows::numeric, 1) AS "bytes a row of the index";
-- stored fingerprints, with two bits changed
CREATE TABLE queries AS
    SELECT i AS id, (hashint8extended(i * (:rows / 10000), 0)
                     # (1::bigint << (i * 7 % 61)::int) # (1::bigint << (i * 11 % 64)::int))::simhash AS fp
    FROM generate_series(1::bigint, 10000) AS i ORDER BY hashint8extended(i, 1);
CREATE FUNCTION within(k integer, n integer, skip integer DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT fp FROM queries OFFSET %s LIMIT %s) AS q
                   JOIN docs ON docs.fp <~> q.fp <= %s', skip, n, k);
CREATE FUNCTION nearest(n integer, skip integer DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT fp FROM queries OFFSET %s LIMIT %s) AS q,
                   LATERAL (SELECT FROM docs ORDER BY docs.fp <~> q.fp LIMIT 10) AS d', skip, n);
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET simhash.enable_join = off;
CREATE EXTENSION pg_prewarm;
SELECT pg_prewarm('docs_fp'), pg_prewarm('docs', 'read') \g /dev/null
\pset title 'searches in memory: medians of five runs'
CREATE TABLE searches (what text, times integer, query text, skipped text);
INSERT INTO searches VALUES
    ('within 3 bits', 1000, within(3, 1000), within(3, 10, 1000)),
    ('within 8 bits', 100, within(8, 100), within(8, 10, 1100)),
    ('within 10 bits', 100, within(10, 100), within(10, 10, 1200)),
    ('ten nearest', 100, nearest(100), nearest(10, 1300));
SELECT what, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) * 1000 / times)::numeric, 1) AS "us each"
FROM (SELECT round, s.*, time_query(query) AS ms FROM generate_series(0, 5) AS round, searches AS s) AS run
WHERE round > 0 GROUP BY what, times ORDER BY min(ms) / times;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = on;
\pset title 'sequential scan'
SELECT round(time_query('SELECT count(*) FROM docs WHERE fp <~> ''0123456789abcdef'' <= 8')::numeric) AS "ms, first",
       round(time_query('SELECT count(*) FROM docs WHERE fp <~> ''0123456789abcdef'' <= 8')::numeric) AS "ms, again";
\pset title 'the model'
SELECT k, a.* FROM unnest(ARRAY[3, 8, 10]) AS k, simhash_index_advice(:rows, k) AS a
WHERE (blocks, prefix) = (4, 1) OR advised;
-- step: files
CHECKPOINT;
SELECT format('%s/%s', current_setting('data_directory'), pg_relation_filepath(c))
FROM unnest(ARRAY['docs', 'docs_fp']) AS c;
-- step: searches from disk
\pset footer off
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET simhash.enable_join = off;
SET effective_io_concurrency = 16;
\pset title 'searches just after a restart, nothing in memory, ten of each'
SELECT what, round((time_query(skipped) / 10)::numeric, 1) AS "ms each" FROM searches;
-- step: insertion of 100,000 rows
INSERT INTO docs SELECT -i, hashint8extended(-i, 0)::simhash FROM generate_series(1::bigint, 100000) AS i;
-- step: deletion
DELETE FROM docs WHERE id % 100 = 0;
-- step: clusters
SET work_mem = '2GB';
SELECT count(DISTINCT cluster) FROM (
    SELECT simhash_cluster(fp, 3) OVER (ORDER BY id) AS cluster FROM docs WHERE id <= :rows / 5) AS c \g /dev/null
-- step: structure
\pset title 'the index and the table agree'
SELECT simhash_index_check('docs_fp', true) \g /dev/null
SELECT * FROM simhash_index_stats('docs_fp');
