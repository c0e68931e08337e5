--
-- Similarity joins by several processes: the same rows as nested loops
--
CREATE SCHEMA join_parallel;
SET search_path = join_parallel, public;
SET client_min_messages = warning;

-- Families of three near rows, equal rows, and NULLs
CREATE TABLE docs AS
    SELECT i AS id,
           CASE WHEN i % 25 = 0 THEN fp_of('equal', i)
                WHEN i % 40 <> 1 THEN flip(random_fp(i / 3), i % 7, i) END AS fp,
           CASE WHEN i % 25 = 0 THEN to_minhash('{1,2}'::bigint[], 6, 2)
                WHEN i % 40 <> 1 THEN
                    to_minhash(ARRAY[i / 3, i / 3 + 10000, i / 3 + 20000, 30000 + i], 6, 2) END AS sig,
           CASE WHEN i % 25 = 0 THEN '{-1,-2}'::bigint[]
                WHEN i % 40 <> 1 THEN ARRAY[i / 3, i / 3 + 10000, -5, i / 3 + 20000, 30000 + i, -7] END AS sk,
           CASE WHEN i % 40 <> 2 THEN i / 3 % 5 END AS tenant, md5(i::text) AS body
    FROM generate_series(1, 900) AS i;
CREATE TABLE queries AS SELECT * FROM docs WHERE id % 4 > 0;
CREATE TABLE none AS SELECT * FROM docs LIMIT 0;
ALTER TABLE docs SET (parallel_workers = 2);
ALTER TABLE queries SET (parallel_workers = 2);
ALTER TABLE none SET (parallel_workers = 2);
ANALYZE docs, queries, none;

-- Compare the rows of a query, with each of some settings, with those that it has without
-- similarity joins and workers.  Returns the settings that give other rows, or no parallel join,
-- which costs less than others in little memory.
CREATE FUNCTION differences(query text, settings text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    setting text;
    plan text;
    line text;
    n bigint;
BEGIN
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL simhash.enable_join = off;
    EXECUTE 'CREATE TABLE expected AS ' || query;
    SET LOCAL simhash.enable_join = on;
    SET LOCAL enable_nestloop = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL parallel_setup_cost = 0;
    SET LOCAL parallel_tuple_cost = 0;
    SET LOCAL min_parallel_table_scan_size = 0;
    SET LOCAL max_parallel_workers_per_gather = 2;
    FOREACH setting IN ARRAY settings LOOP
        SET LOCAL cpu_operator_cost = 1;
        SET LOCAL enable_hashjoin = off;
        PERFORM set_config(split_part(s, '=', 1), split_part(s, '=', 2), true)
            FROM unnest(string_to_array(setting, ' ')) AS s;
        plan := '';
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
            plan := plan || line;
        END LOOP;
        EXECUTE 'CREATE TABLE found AS ' || query;
        SET LOCAL cpu_operator_cost = 0.0025;
        SET LOCAL enable_hashjoin = on;
        SELECT count(*) INTO n FROM ((TABLE found EXCEPT ALL TABLE expected)
                                     UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d;
        IF n > 0 OR setting !~ '4MB' AND plan !~ 'Parallel Custom Scan .SimHash Join' THEN
            RETURN NEXT concat(query, ' ', setting, ': ', n);
        END IF;
        DROP TABLE found;
    END LOOP;
    DROP TABLE expected;
END $$;

-- each method and type of join, with tuples of a size that 64 kB do not hold
SELECT count(*) AS joins, count(d) AS differences
FROM unnest(ARRAY['a.fp <~> b.fp <= 3', 'a.fp <~> b.fp <= 8 AND a.tenant = b.tenant', 'a.fp <~> b.fp <= 26',
                  'a.sig % b.sig', 'a.sig % b.sig AND a.tenant = b.tenant AND a.id < b.id',
                  'a.sk <%> b.sk <= 0.4', 'a.sk <%> b.sk <= 0.4 AND a.tenant = b.tenant AND a.id <> b.id']) AS clause,
     unnest(ARRAY['SELECT a.ctid AS l, b.ctid AS r, a.body FROM docs a JOIN queries b ON %s',
                  'SELECT a.ctid AS l, b.ctid AS r, a.body FROM docs a LEFT JOIN queries b ON %s',
                  'SELECT a.ctid AS l, a.body FROM docs a WHERE EXISTS (SELECT FROM queries b WHERE %s)',
                  'SELECT a.ctid AS l, a.body FROM docs a WHERE NOT EXISTS (SELECT FROM queries b WHERE %s)',
                  'SELECT a.ctid AS l, b.ctid AS r, a.body FROM docs a JOIN docs b ON %s',
                  'SELECT a.ctid AS l, a.body FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE %s AND a.id > b.id)',
                  'SELECT a.id FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE %s AND a.id < b.id)'])
         AS query
     LEFT JOIN LATERAL differences(format(query, clause),
        ARRAY['work_mem=4MB', 'work_mem=64kB hash_mem_multiplier=1',
              'work_mem=64kB parallel_leader_participation=off']) AS d ON true;

-- no rows, NULL as the radius, radii that match all arrays, and no workers
SELECT differences(query, '{work_mem=4MB,max_parallel_workers=0,max_parallel_workers=1}')
FROM unnest(ARRAY['SELECT a.id, b.id AS r FROM docs a LEFT JOIN none b ON a.fp <~> b.fp <= 3',
                  'SELECT a.id, b.id AS r FROM none a LEFT JOIN docs b ON a.sk <%> b.sk <= 0.3',
                  'SELECT a.id FROM docs a WHERE NOT EXISTS (SELECT FROM none b WHERE a.sig % b.sig)',
                  'SELECT a.id, b.id AS r FROM docs a LEFT JOIN queries b ON a.fp <~> b.fp <= (SELECT NULL::int)',
                  'SELECT a.id, b.id AS r FROM docs a LEFT JOIN queries b ON a.sk <%> b.sk <= (SELECT -1.0::float8)',
                  'SELECT a.id, b.id AS r FROM docs a LEFT JOIN docs b ON a.sk <%> b.sk <= (SELECT -1.0::float8)',
                  'SELECT a.id, b.id AS r FROM docs a JOIN docs b ON a.sk <%> b.sk <= (SELECT 1.0::float8)']) AS query;

-- rescans
SELECT differences(query,
    ARRAY['work_mem=4MB enable_material=off enable_nestloop=on',
          'work_mem=64kB enable_material=off enable_nestloop=on max_parallel_workers=1'])
FROM unnest(ARRAY['SELECT v.i, s.* FROM (VALUES (1), (2), (3)) AS v(i) LEFT JOIN (SELECT a.id, b.id AS r
                      FROM docs a LEFT JOIN queries b ON a.fp <~> b.fp <= 3 OFFSET 0) AS s ON s.id % 3 < v.i',
                  'SELECT v.i, s.* FROM (VALUES (1), (2), (3)) AS v(i) LEFT JOIN (SELECT a.id, b.id AS r
                      FROM docs a JOIN docs b ON a.sk <%> b.sk <= 0.3 OFFSET 0) AS s ON s.id % 3 < v.i']) AS query;

SET enable_nestloop = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT FROM docs a JOIN docs b ON a.sig % b.sig;    -- no files
SET cpu_operator_cost = 1;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM docs a LEFT JOIN queries b ON a.fp <~> b.fp <= 3;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM docs a JOIN docs b ON a.sk <%> b.sk <= 0.4 AND a.id < b.id;

-- the counters of all processes
CREATE FUNCTION plan_of_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query;
END $$;
SELECT trim(line) AS counter
FROM plan_of_analyze('SELECT a.id, b.id FROM docs a JOIN docs b ON a.sk <%> b.sk <= 0.4') AS line
WHERE line ~ 'Pairs:';

-- the memory in use does not add up over loops
CREATE FUNCTION memory_of_loops(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    line text;
    result int;
BEGIN
    SET LOCAL enable_nestloop = on;
    SET LOCAL enable_material = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL parallel_leader_participation = off;
    SET LOCAL work_mem = '64kB';
    FOR line IN SELECT * FROM plan_of_analyze(format(
        'SELECT FROM generate_series(1, %s) AS i LEFT JOIN (SELECT a.id FROM docs a LEFT JOIN queries b
            ON a.fp <~> b.fp <= 3 OFFSET 0) AS s ON s.id %% 3 < i', n)) LOOP
        result := coalesce(result, substring(line FROM 'Memory Usage: (\d+) kB')::int);
    END LOOP;
    RETURN result;
END $$;
SELECT memory_of_loops(8) < 3 * memory_of_loops(1) AS is_maximum;

-- a signature with other parameters, which is in a file
CREATE TABLE others AS
    SELECT id, CASE WHEN id = 450 THEN to_minhash('{1,2}'::bigint[], 5, 3) ELSE sig END AS sig FROM docs;
ALTER TABLE others SET (parallel_workers = 2);
ANALYZE others;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
DO $$ BEGIN
    PERFORM count(*) FROM others a JOIN others b ON a.sig % b.sig AND a.id < b.id;
    RAISE WARNING 'no error';
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING '%', substring(SQLERRM FOR 56);
END $$;
RESET work_mem;
RESET hash_mem_multiplier;

-- not all rows are fetched
SELECT count(*) FROM (SELECT FROM docs a LEFT JOIN queries b ON a.sk <%> b.sk <= 0.3 LIMIT 7) AS s;
BEGIN;
DECLARE pair CURSOR FOR SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3 AND a.id < b.id;
MOVE 3 IN pair;
CLOSE pair;
COMMIT;
-- nor by the leader alone, whose partitions are in files
CREATE TABLE many AS SELECT docs.fp, docs.sig, docs.sk FROM docs, generate_series(1, 10);
ALTER TABLE many SET (parallel_workers = 2);
SET max_parallel_workers = 0;
SET work_mem = '64kB';
SELECT count(*) FROM (SELECT FROM many a JOIN many b ON a.fp <~> b.fp <= 3 LIMIT 1) AS s;
SELECT count(*) FROM (SELECT FROM many a JOIN many b ON a.sig % b.sig LIMIT 1) AS s;
SELECT count(*) FROM (SELECT FROM many a JOIN many b ON a.sk <%> b.sk <= 0.3 LIMIT 1) AS s;
RESET max_parallel_workers;
RESET work_mem;

-- an error while the inputs are written
SET work_mem = '64kB';
SET temp_file_limit = '10kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM docs a JOIN queries b ON a.sk <%> b.sk <= 0.3;
\set VERBOSITY default
