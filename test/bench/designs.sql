-- Measures the costs and benefits of every design of the index.  designs.sh runs this.
-- psql variable: rows.  Writes CSV.
\set ON_ERROR_STOP on
\set QUIET on

SET client_min_messages = warning;
CREATE EXTENSION simhash;
\ir timing.sql

-- one core; every search uses the index, one search after the other
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET jit = off;
SET maintenance_work_mem = '3GB';
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;

-- uniform fingerprints, and the queries: some of them, with two bits changed; no WAL
CREATE UNLOGGED TABLE docs AS
    SELECT i AS id, hashint8extended(i, 0)::simhash AS fp FROM generate_series(1::bigint, :rows) AS i;
CREATE TABLE queries AS
    SELECT i AS id, (hashint8extended(i * (:rows / 1000), 0)
                     # (1::bigint << (i * 7 % 61)::int) # (1::bigint << (i * 11 % 64)::int))::simhash AS fp
    FROM generate_series(1::bigint, 1000) AS i;
VACUUM ANALYZE;

CREATE TABLE designs (nr serial, blocks integer, prefix integer, nested integer);
INSERT INTO designs (blocks, prefix, nested)
    VALUES (2, 1, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1), (6, 1, 1), (8, 1, 1), (16, 1, 1),
           (5, 2, 1), (4, 1, 4), (6, 3, 1);
-- the number of queries for each radius: searches within larger radii take longer
CREATE TABLE radii (k integer, nqueries integer);
INSERT INTO radii VALUES (3, 1000), (8, 100), (12, 20);
CREATE TABLE results (
    rows bigint, blocks integer, prefix integer, nested integer, tables integer,
    bytes_per_row numeric, build_s numeric, insert_us numeric, k integer,
    prefix_bits integer, probes numeric, pages numeric, candidates numeric,
    expected_candidates numeric, matches numeric, us numeric, seqscan_us numeric);

CREATE FUNCTION search(k integer, n integer) RETURNS text LANGUAGE sql
    RETURN format('SELECT count(*) FROM (SELECT fp FROM queries LIMIT %s) AS q JOIN docs ON docs.fp <~> q.fp <= %s', n,
                  k);
CREATE PROCEDURE measure(design designs, seqscan_ms float8) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
    build_s float8;
    ntables integer;
    expected float8;
    nrows float8;
    bytes bigint;
    ms float8;
    radius radii;
    insert_ms float8;
BEGIN
    EXECUTE format('CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = %s, prefix = %s, nested = %s)',
                   design.blocks, design.prefix, design.nested);
    build_s := extract(epoch FROM clock_timestamp() - started);
    SELECT reltuples, pg_relation_size(oid) INTO nrows, bytes FROM pg_class WHERE relname = 'docs_fp';
    -- one probe of each permuted table, as in the literature
    SELECT count(*), sum(nrows / 2.0 ^ prefix_bits) INTO ntables, expected
    FROM simhash_index_stats('docs_fp') WHERE permuted_table IS NOT NULL AND level = 0;
    -- rows that are rolled back
    BEGIN
        insert_ms := time_query(
            format('INSERT INTO docs SELECT -i, hashint8extended(-i, %s)::simhash
                    FROM generate_series(1::bigint, 20000) AS i', ntables));
        RAISE SQLSTATE 'RB000';
    EXCEPTION WHEN SQLSTATE 'RB000' THEN
    END;
    FOR radius IN SELECT * FROM radii LOOP
        PERFORM time_query(search(radius.k, radius.nqueries));
        SELECT percentile_cont(0.5) WITHIN GROUP (
            ORDER BY time_query(search(radius.k, radius.nqueries) || format('/* %s */', i)))
        INTO ms FROM generate_series(1, 5) AS i;
        INSERT INTO results
        SELECT nrows, design.blocks, design.prefix, design.nested, ntables,
               round(bytes / nrows::numeric, 1), round(build_s::numeric, 1), round((insert_ms / 20)::numeric, 1),
               radius.k,
               max(x.prefix_bits), round(avg(x.probes), 1), round(avg(x.pages), 1), round(avg(x.candidates)),
               round(expected::numeric, 2), round(avg(x.matches), 2),
               round((ms * 1000 / radius.nqueries)::numeric, 1), round(seqscan_ms::numeric * 1000)
        FROM (SELECT fp FROM queries LIMIT radius.nqueries) AS q, simhash_index_explain('docs_fp', q.fp, radius.k) AS x;
    END LOOP;
    DROP INDEX docs_fp;
END $$;

SELECT percentile_cont(0.5) WITHIN GROUP (
    ORDER BY time_query(
        'SELECT count(*) FROM docs WHERE (fp <~> ''0123456789abcdef'') + 0 <= 8'
        || format('/* %s */', i))) AS seqscan_ms
FROM generate_series(1, 5) AS i \gset
SELECT format('CALL measure((%s, %s, %s, %s), %s)', nr, blocks, prefix, nested, :seqscan_ms)
FROM designs ORDER BY nr \gexec
COPY results TO STDOUT (FORMAT csv, HEADER);
