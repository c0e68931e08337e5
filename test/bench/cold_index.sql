-- Measures searches of an index that is not in memory.  cold_index.sh runs this.  psql
-- variable: rows.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET max_parallel_workers_per_gather = 0;
SET maintenance_work_mem = '3GB';
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;

CREATE UNLOGGED TABLE docs AS
    SELECT i AS id, hashint8extended(i, 0)::simhash AS fp FROM generate_series(1::bigint, :rows) AS i;
CREATE TABLE queries AS
    SELECT i AS id, (hashint8extended(i * (:rows / 100000), 0)
                     # (1::bigint << (i * 7 % 61)::int) # (1::bigint << (i * 11 % 64)::int))::simhash AS fp
    FROM generate_series(1::bigint, 100000) AS i ORDER BY hashint8extended(i, 1);
CREATE INDEX docs_fp ON docs USING simhash (fp);
VACUUM ANALYZE;
CHECKPOINT;
\! sync

-- Evicts the table and the index from the operating system's cache.
CREATE PROCEDURE forget() LANGUAGE plpgsql AS $$
DECLARE
    file text;
BEGIN
    FOREACH file IN ARRAY ARRAY[pg_relation_filepath('docs'), pg_relation_filepath('docs_fp')] LOOP
        EXECUTE format(
            'COPY (SELECT) TO PROGRAM %L',
            format('for f in %s/%s*; do dd if=$f iflag=nocache count=0 status=none; done',
                       current_setting('data_directory'), file));
    END LOOP;
END $$;
CREATE TABLE results (io integer, k integer, round integer, us float8, reads float8);
CREATE PROCEDURE measure(io integer, k integer, n integer, round integer, first integer) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    PERFORM set_config('effective_io_concurrency', io::text, false);
    -- in practice the inner pages are cached, and the leaves are not
    EXECUTE format(
        'SELECT count(*) FROM (SELECT fp FROM queries OFFSET %s LIMIT %s) AS q JOIN docs ON docs.fp <~> q.fp <= %s',
        first + n, 2000 / k / k, k);
    CALL forget();
    EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON)
        SELECT count(*) FROM (SELECT fp FROM queries OFFSET %s LIMIT %s) AS q
            JOIN docs ON docs.fp <~> q.fp <= %s', first, n, k) INTO plan;
    INSERT INTO results VALUES (io, k, round, (plan -> 0 ->> 'Execution Time')::float8 * 1000 / n,
                                (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::float8 / n);
END $$;
-- the settings in turn, each with queries of its own
SELECT format('CALL measure(%s, %s, %s, %s, %s)', io, k, n, round, (row_number() OVER ()) * 1000)
FROM generate_series(1, 5) AS round, (VALUES (3, 400), (8, 20), (12, 5)) AS radius (k, n),
     unnest(ARRAY[0, 1, 4, 16, 64]) AS io \gexec
\pset title 'searches of an index that is not in memory; io is effective_io_concurrency, 0 does not look ahead'
SELECT k, io, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric) AS "us a search",
       round(avg(reads)::numeric, 1) AS "pages read",
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY without.us0 / us)::numeric, 2) AS "times as fast as without"
FROM results AS r JOIN (SELECT k, round, us AS us0 FROM results WHERE io = 0) AS without USING (k, round)
GROUP BY k, io ORDER BY k, io;
