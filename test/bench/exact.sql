-- Measures arrays of all shingle hashes, against signatures and fingerprints with
-- resemblance().  exact.sh runs this once for each part.  psql variables: part; program,
-- which prints the documents; tables; rounds; minutes; sets, a file to write.
SELECT :'part' = 'load' AND to_regclass('sizes') IS NULL AS load, to_regclass('exact') IS NULL AS fresh,
       :'part' = 'searches' AS searches, :'part' = 'joins' AS joins, :'part' = 'long' AS long,
       :'part' = 'pairs' AS pairs, :'part' = 'took' AS took,
       :'part' = 'nearest' AS nearest, :'part' = 'constraint' AS constraint \gset
SET client_min_messages = warning;
\pset footer off

-- What is there already is not loaded again.
\if :load
\if :fresh
\ir one_core.sql
ALTER SYSTEM SET max_wal_size = '8GB';
SELECT pg_reload_conf() \g /dev/null
BEGIN;
CREATE TABLE exact (id integer, body text, sk bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED);
COPY exact (id, body) FROM PROGRAM :'program' CSV;
COMMIT;
\endif

-- Returns milliseconds of the processor, rather than of the clock: other programs may run.
CREATE OR REPLACE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    before numeric := split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);
BEGIN
    EXECUTE query;
    RETURN (split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric - before) / 1e6;
END $$;

-- The same documents with each digest.  The signatures are those that minhash_advice() names.
SET max_parallel_workers_per_gather = 1;
CREATE TABLE IF NOT EXISTS digest AS
SELECT * FROM (VALUES ('exact', 'sk', 'sk'), ('bands_8', 'sig', 'to_minhash(body)::minhash(18, 7)'),
                      ('bands_5', 'sig', 'to_minhash(body, 47, 4)::minhash(47, 4)'),
                      ('fingerprints', 'fp', 'simhash(body)')) AS t (tab, col, made)
WHERE tab = ANY (string_to_array(:'tables', ' '));
SELECT format('CREATE TABLE IF NOT EXISTS %I AS SELECT id, body, %s AS %I FROM exact', tab, made, col)
FROM digest WHERE tab <> 'exact' \gexec
-- 200 queries
CREATE TABLE IF NOT EXISTS queries AS
SELECT id, body, sk, to_minhash(body) AS sig_8, to_minhash(body, 47, 4) AS sig_5, simhash(body) AS fp
FROM exact WHERE id % (SELECT max(id) / 200 FROM exact) = 0;
VACUUM ANALYZE;

SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '1GB';
CREATE TABLE IF NOT EXISTS built (tab text, col text, ms float8);
SELECT format('INSERT INTO built SELECT %L, %L, time_query(%L)', tab, col,
              format('CREATE INDEX %s_simhash ON %1$I USING simhash (%I)', tab, col))
FROM digest WHERE to_regclass(tab || '_simhash') IS NULL \gexec
CHECKPOINT;

-- Returns the average size of a value.
CREATE OR REPLACE FUNCTION bytes_of(tab text, col text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    bytes numeric;
BEGIN
    EXECUTE format('SELECT round(avg(pg_column_size(%I))) FROM %I', col, tab) INTO bytes;
    RETURN bytes;
END $$;
-- Returns the condition of a search of rows that resemble by at least s.
CREATE OR REPLACE FUNCTION condition(tab text, s numeric) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE tab WHEN 'exact' THEN format('d.sk <%%> q.sk <= %s', 1 - s)
        ELSE format('%s AND resemblance(d.body, q.body) >= %s',
                    CASE tab WHEN 'fingerprints' THEN 'd.fp <~> q.fp <= 10' ELSE 'd.sig % q.sig' END, s) END;
CREATE OR REPLACE FUNCTION search(tab text, s numeric) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT *, sig_%s AS sig FROM queries) AS q JOIN %I AS d ON %s',
                  CASE tab WHEN 'bands_5' THEN 5 ELSE 8 END, tab, condition(tab, s));
-- Returns the count that a query selects, and its time.
CREATE OR REPLACE FUNCTION time_count(query text, OUT n bigint, OUT ms float8) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE counted (n bigint) ON COMMIT DROP;
    ms := time_query('INSERT INTO counted ' || query);
    n := (SELECT c.n FROM counted AS c);
    DROP TABLE counted;
END $$;

-- Returns the rows that the index finds, and those of them that the array of the heap
-- tuple rejects, of all queries.
CREATE OR REPLACE FUNCTION rechecked(s numeric, OUT matching numeric, OUT removed numeric) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    plan json;
BEGIN
    matching := 0;
    removed := 0;
    FOR q IN SELECT sk FROM queries LOOP
        EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT FROM exact WHERE sk <%%> %L::bigint[] <= %s',
                       q.sk, 1 - s) INTO plan;
        plan := plan -> 0 -> 'Plan';
        matching := matching + (plan ->> 'Actual Rows')::numeric;
        removed := removed + (plan ->> 'Rows Removed by Index Recheck')::numeric;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION all_pairs(tab text, s numeric, more text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM %I AS d JOIN %1$I AS q ON %s AND d.id < q.id %s', tab, condition(tab, s), more);
-- Times joins; the index is searched for one in `part` rows, and the time is multiplied.
CREATE OR REPLACE FUNCTION time_join(tab text, s numeric, memory text, part integer, rounds integer)
RETURNS TABLE (pairs bigint, "signatures find" bigint, "join s" numeric, "signatures s" numeric, "by index s" numeric,
               "signatures / join" numeric, "by index / join" numeric) LANGUAGE plpgsql AS $$
DECLARE
    search text := all_pairs('exact', s, format('WHERE q.id %% %s = 0', part));
    by_join float8[];
    by_band float8[];
    by_index float8[];
    found_by_join bigint;
    found_by_band bigint;
    took float8;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    -- reads the pages of the index and the table
    SET LOCAL simhash.enable_join = off;
    SET LOCAL enable_seqscan = off;
    EXECUTE search;
    SET LOCAL enable_seqscan = on;
    FOR i IN 1 .. rounds LOOP
        SET LOCAL simhash.enable_join = on;
        SELECT n, ms INTO found_by_join, took FROM time_count(all_pairs('exact', s, ''));
        by_join[i] := took;
        RAISE NOTICE 'round % of %: % pairs in % s', i, rounds, found_by_join, round(took::numeric / 1000, 1);
        SELECT n, ms INTO found_by_band, took FROM time_count(all_pairs(tab, s, ''));
        by_band[i] := took;
        SET LOCAL simhash.enable_join = off;
        SET LOCAL enable_seqscan = off;
        by_index[i] := part * time_query(search);
        SET LOCAL enable_seqscan = on;
    END LOOP;
    RETURN QUERY
        SELECT found_by_join, found_by_band,
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY z))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y / x))::numeric, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY z / x))::numeric, 2)
        FROM unnest(by_join, by_band, by_index) AS pair (x, y, z);
END $$;

-- Long texts: some descriptions in a row.  Each is searched by a copy without some of its words.
CREATE OR REPLACE FUNCTION time_long(descriptions integer, rounds integer)
RETURNS TABLE (shingles numeric, "all ms" numeric, "sample ms" numeric, ratio numeric, "standard error" numeric)
LANGUAGE plpgsql AS $$
DECLARE
    search text := 'SELECT count(*) FROM long_queries AS q JOIN long_texts AS d ON d.%s <%%> q.%1$s <= 0.2';
BEGIN
    CREATE TABLE long_texts AS
        SELECT g AS id, body, shingle_hashes(body) AS sk, sketch(body, 8, 3) AS sample
        FROM (SELECT t.id / descriptions AS g, string_agg(t.body, ' ' ORDER BY t.id) AS body
              FROM exact AS t GROUP BY 1) AS s;
    CREATE TABLE long_queries AS
        SELECT id, shingle_hashes(body) AS sk, sketch(body, 8, 3) AS sample
        FROM (SELECT id, (SELECT string_agg(word, ' ' ORDER BY n) FROM regexp_split_to_table(body, '\s+')
                          WITH ORDINALITY AS w (word, n) WHERE hashint8(n) % 27 <> 0) AS body
              FROM long_texts ORDER BY hashint4(id), id LIMIT 100) AS s;
    CREATE INDEX ON long_texts USING simhash (sk);
    CREATE INDEX ON long_texts USING simhash (sample);
    ANALYZE long_texts;
    SET LOCAL enable_seqscan = off;
    RETURN QUERY SELECT (SELECT round(avg(cardinality(d.sk))) FROM long_texts AS d),
               round("B ms" / 100, 3), round("A ms" / 100, 3), p.ratio,
               (SELECT round(sqrt(avg(((d.sample <%> q.sample) - (d.sk <%> q.sk)) ^ 2))::numeric, 3)
                FROM long_texts AS d JOIN long_queries AS q USING (id))
        FROM time_pair('', format(search, 'sample'), format(search, 'sk'), rounds) AS p;
    DROP TABLE long_texts, long_queries;
END $$;

CREATE TABLE sizes AS
SELECT b.*, (SELECT count(*) FROM exact) AS documents, (SELECT round(avg(cardinality(sk)), 1) FROM exact) AS shingles,
       bytes_of(tab, col) AS bytes
FROM built AS b;
\endif

SET max_parallel_workers_per_gather = 0;
\if :searches
\pset title 'a value, and the index'
SELECT tab AS "table", documents, shingles, bytes AS "bytes of a value",
       pg_relation_size((tab || '_simhash')::regclass) / documents AS "bytes a row of the index",
       round(ms / 1000)::numeric AS "build s"
FROM sizes;

SET enable_seqscan = off;
SET simhash.enable_join = off;
\pset title 'search: another digest, within 10 bits of fingerprints, verified / exact'
SELECT s AS resemblance, tab AS other, (time_count(search('exact', s))).n AS "exact finds",
       (time_count(search(tab, s))).n AS "other finds",
       round("B ms" / (SELECT count(*) FROM queries), 3) AS "exact ms",
       round("A ms" / (SELECT count(*) FROM queries), 3) AS "other ms", ratio, "from", "to"
FROM unnest('{0.8,0.5}'::numeric[]) AS s, digest,
     LATERAL time_pair('', search(tab, s), search('exact', s), :rounds)
WHERE tab <> 'exact';

SET enable_bitmapscan = off;
\pset title 'candidates of the index'
SELECT s AS resemblance, matching + removed AS candidates, removed AS "removed by the recheck",
       round(removed / (matching + removed), 4) AS fraction
FROM unnest('{0.8,0.5}'::numeric[]) AS s, rechecked(s);
\endif

\if :joins
-- the index is searched for 2,000 documents
SELECT greatest(documents / 2000, 1) AS part FROM sizes LIMIT 1 \gset
SELECT :minutes * 60000 AS statement_timeout \gset
SET statement_timeout = :statement_timeout;
SET client_min_messages = notice;
\set ON_ERROR_STOP off
\pset title 'all pairs: signatures, verified, and an index search for each row / the join; hash_mem_multiplier = 2'
SELECT format('SELECT %s AS resemblance, %L AS signatures, %L AS work_mem, * FROM time_join(%2$L, %1$s, %3$L, %s, %s)',
              s, tab, memory, :part, :rounds)
FROM unnest('{0.8,0.5}'::numeric[], '{bands_8,bands_5}'::text[]) AS t (s, tab), unnest('{256MB,8MB}'::text[]) AS memory
ORDER BY s DESC, memory \gexec
\endif

\if :pairs
-- Returns the count that a query selects, and the seconds that it takes by the clock.
CREATE FUNCTION clock_count(query text, memory text, workers integer, OUT n bigint, OUT s numeric)
LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    PERFORM set_config('work_mem', memory, true), set_config('max_parallel_workers_per_gather', workers::text, true);
    EXECUTE query INTO n;
    s := extract(epoch FROM clock_timestamp() - started);
END $$;
-- Times a query by one process, and by the leader and a worker, in turn.  There is no second time if
-- the planner plans no worker.
CREATE FUNCTION clock_pair(query text, memory text, rounds integer)
RETURNS TABLE (pairs bigint, "one process" numeric, "leader and worker" numeric, ratio numeric) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    one record;
    two record;
    ones numeric[];
    twos numeric[];
BEGIN
    FOR i IN 1 .. rounds LOOP
        one := clock_count(query, memory, 0);
        two := clock_count(query, memory, 1);
        ASSERT one.n = two.n, format('%s and %s pairs: %s', one.n, two.n, query);
        EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
        ones[i] := one.s;
        twos[i] := CASE WHEN plan::text ~ 'Workers Planned' THEN two.s END;
    END LOOP;
    RETURN QUERY
        SELECT one.n, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y))::numeric, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y))::numeric, 2)
        FROM unnest(ones, twos) AS pair (x, y);
END $$;

DROP TABLE IF EXISTS took;
CREATE TABLE took (n serial, within text, method text, work_mem text, pairs bigint, "one process" numeric,
                   "leader and worker" numeric, ratio numeric);
SELECT :minutes * 60000 AS statement_timeout \gset
SET statement_timeout = :statement_timeout;
\set ON_ERROR_STOP off
SELECT format('INSERT INTO took (within, method, work_mem, pairs, "one process", "leader and worker", ratio)
               SELECT %L, %L, %L, * FROM clock_pair(%L, %3$L, %5$s)', within, method, memory, query, :rounds)
FROM (SELECT 1 - s AS n, format('resemblance %s', s) AS within, 'join of arrays' AS method,
             '{256MB,4GB}'::text[] AS memories, all_pairs('exact', s, '') AS query
      FROM unnest('{0.8,0.5}'::numeric[]) AS s
      UNION ALL
      SELECT 1 - s, format('resemblance %s', s), 'join of signatures, %, verified', '{256MB}', all_pairs(tab, s, '')
      FROM unnest('{0.8,0.5}'::numeric[], '{bands_8,bands_5}'::text[]) AS t (s, tab)
      UNION ALL
      SELECT k, format('%s bits', k), 'join of fingerprints', '{256MB,4GB}',
             format('SELECT count(*) FROM fingerprints AS d JOIN fingerprints AS q ON d.fp <~> q.fp <= %s
                     AND d.id < q.id', k)
      FROM unnest('{3,8,10}'::integer[]) AS k) AS l, unnest(memories) AS memory
ORDER BY n, method, memory \gexec

-- the index is searched for 2,000 documents
SELECT greatest(documents / 2000, 1) AS part FROM sizes LIMIT 1 \gset
SET simhash.enable_join = off;
SET enable_seqscan = off;
INSERT INTO took (within, method, pairs, "one process")
SELECT format('resemblance %s', s), 'index search for each row', :part * (c).n, round(:part * (c).s, 2)
FROM unnest('{0.8,0.5}'::numeric[]) AS s,
     LATERAL (SELECT clock_count(all_pairs('exact', s, format('WHERE q.id %% %s = 0', :part)), '256MB', 0) AS c) AS l;
COPY (SELECT sk FROM exact WHERE cardinality(sk) > 1) TO :'sets' (FORMAT binary);
\endif

\if :took
\pset title 'all pairs, seconds by the clock; hash_mem_multiplier = 2'
SELECT within, method, work_mem, pairs, "one process", "leader and worker", ratio FROM took
ORDER BY min(n) OVER (PARTITION BY within), n;
\endif

\if :long
SET simhash.enable_join = off;
\pset title 'a search within 0.2: sketch(body, 8, 3) / shingle_hashes(body)'
SELECT t.* FROM unnest('{1,10,100}'::integer[]) AS n, LATERAL time_long(n, :rounds) AS t;
\endif

\if :nearest
-- Queries: 100 documents of 30 to 90 shingles, in which a fraction of the words is replaced.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TEMP TABLE edited AS
SELECT *, shingle_hashes(body) AS sk
FROM (SELECT d, row_number() OVER (PARTITION BY d ORDER BY hashint4(id), id) AS n,
             (SELECT string_agg(CASE WHEN hashint8extended(id, w) & 1023 < 1024 * p THEN md5(id || ' ' || w)
                                     ELSE word END, ' ' ORDER BY w)
              FROM regexp_split_to_table(body, '\s+') WITH ORDINALITY AS t (word, w)) AS body
      FROM (SELECT id, body FROM exact WHERE cardinality(sk) BETWEEN 30 AND 90
            ORDER BY hashint4(id), id LIMIT 100) AS s,
           (VALUES (0.1, 0.018), (0.5, 0.126), (0.9, 0.433)) AS v (d, p)) AS s;
-- pg_trgm cannot index longer texts, and takes hours for ten million.
CREATE TABLE IF NOT EXISTS short_texts AS
SELECT id, body FROM exact WHERE octet_length(body) < 2000 AND (SELECT documents < 2000000 FROM sizes LIMIT 1);
SELECT 'CREATE INDEX short_texts_trgm ON short_texts USING gist (body gist_trgm_ops)'
WHERE to_regclass('short_texts_trgm') IS NULL \gexec
ANALYZE short_texts;
-- Returns milliseconds of a query's ten nearest, of queries 1 to n of a distance.
CREATE FUNCTION pg_temp.ms(d numeric, n integer, rows text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT count(*) FROM (SELECT * FROM edited WHERE d = %s AND n <= %s OFFSET 0) AS q,
                          LATERAL (SELECT t.id FROM %s LIMIT 10) AS s', d, n, rows);
BEGIN
    PERFORM time_query(query);
    RETURN round(time_query(query)::numeric / n, 2);
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\pset title 'milliseconds of the ten nearest'
SELECT d, pg_temp.ms(d, 100, 'exact AS t ORDER BY t.sk <%> q.sk') AS "by the index",
       pg_temp.ms(d, 100, 'exact AS t WHERE t.sk <%> q.sk <= 0.6 ORDER BY t.sk <%> q.sk') AS "within 0.6",
       pg_temp.ms(d, 2, 'exact AS t ORDER BY (t.sk <%> q.sk) + 0') AS "sort",
       pg_temp.ms(d, 10, 'short_texts AS t ORDER BY t.body <-> q.body') AS "pg_trgm, GiST"
FROM unnest('{0.1,0.5,0.9}'::numeric[]) AS d;
\endif

\if :constraint
-- 200,000 arrays of 54 elements, 20 of them of 30,000 frequent ones
CREATE TABLE apart AS
SELECT i, (SELECT array_agg(CASE WHEN j <= 34 THEN hashint8extended(i * 64 + j, 0)
                                 ELSE (hashint8extended(i * 64 + j, 1) & 2147483647) % 30000 END)
           FROM generate_series(1, 54) AS j) AS sk
FROM generate_series(1, 200000) AS i;
VACUUM ANALYZE apart;
\pset title 'seconds to index 200,000 arrays, to add the constraint, and to join them'
SELECT round(time_query('CREATE INDEX apart_ball ON apart USING simhash (sketch_ball(sk, 0.2))')::numeric / 1000, 2)
           AS "index",
       round(time_query('ALTER TABLE apart ADD EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=)')::numeric / 1000,
             2) AS "constraint",
       round(time_query('SELECT FROM apart AS a JOIN apart AS b ON a.sk <%> b.sk <= 0.2 AND a.i < b.i')::numeric / 1000,
             2) AS "join";
DROP TABLE apart;
\endif
