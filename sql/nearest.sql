--
-- ORDER BY fp <~> q: the index returns the rows in the order of a sort, each row once.
-- This holds for all shapes of data and all forms of queries.  Ties may come in any
-- order.
--
CREATE SCHEMA nearest_test;
SET search_path = nearest_test, public;
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;

-- The queries: the order is by the distance to q, then to p; k is a radius, lim a
-- limit.
CREATE TABLE queries (n integer, q simhash, p simhash, k integer, lim integer);
-- Fill queries with stored fingerprints, near ones, random ones, both extremes, and
-- NULL.
CREATE FUNCTION ask(tab regclass, limits integer[], times integer DEFAULT 1) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    stored simhash[] := some_of(tab, 200);
BEGIN
    TRUNCATE queries;
    INSERT INTO queries
        SELECT n, (ARRAY[fp, flip(fp, n % 14, n), random_fp(n, 2), flip(fp, n % 5, n), '0000000000000000',
                         'ffffffffffffffff',
                         NULL])[1 + n % 7], flip(fp, n % 30, -n), (ARRAY[3, 10, 24, 33, 64])[1 + n % 5], lim
        FROM (SELECT (row_number() OVER ())::integer AS n, lim
              FROM unnest(limits) AS lim, generate_series(1, times)) AS r,
             LATERAL (SELECT stored[1 + (n * 7) % cardinality(stored)] AS fp) AS s;
    ANALYZE queries;
END $$;

-- Compare an ordered index scan with a sort of a sequential scan.
--
-- Each of the queries fetches the rows t that match a condition, ordered by keys (a
-- list as in ORDER BY), up to its limit.  The index scan restarts for each query.  For
-- the sequential scan the condition is written in a form that no index serves.
-- Counts the positions at which the distances differ (or one side has ended), the rows
-- that do not exist or are returned twice, and all rows.  Raises an error if the index
-- does not provide the order, provides it for both sides, or provides the order of
-- several distances, which a sort must provide.
CREATE FUNCTION compare(
    tab regclass, keys text DEFAULT 't.fp <~> q', by_index text DEFAULT 'true', by_eye text DEFAULT NULL,
    keys_by_eye text DEFAULT NULL, OUT wrong bigint, OUT rows bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_incremental_sort = off
SET enable_memoize = off SET hash_mem_multiplier = 1000 AS $$
DECLARE
    query text := format('WITH i AS MATERIALIZED (
            SELECT n, i.* FROM queries, LATERAL (SELECT row_number() OVER () AS r, s.*
                FROM (SELECT t.tableoid AS part, t.ctid AS at, ARRAY[%2$s] AS d
                      FROM %1$s AS t WHERE %3$s ORDER BY %2$s LIMIT lim) AS s) AS i),
        e AS MATERIALIZED (
            SELECT row_number() OVER (PARTITION BY n ORDER BY d) AS r, *
            FROM (SELECT n, lim, t.tableoid AS part, t.ctid AS at, ARRAY[%5$s] AS d
                FROM queries, %1$s AS t WHERE %4$s) AS s)
        SELECT (SELECT count(*) FROM i FULL JOIN (SELECT * FROM e WHERE r <= coalesce(lim, r)) AS s USING (n, r)
                WHERE i.d IS DISTINCT FROM s.d)
             + (SELECT count(*) FROM (SELECT n, part, at, d FROM i EXCEPT ALL SELECT n, part, at, d FROM e) AS s),
               (SELECT count(*) FROM i)', tab, keys, by_index, coalesce(by_eye, by_index), coalesce(keys_by_eye, keys));
    plan text := whole_plan(query);
BEGIN
    ASSERT (plan ~ ' Index Scan using [^\n]* t(_[0-9])?\n( *Index Cond: [^\n]*\n)? *Order By: ') = (keys !~ '<~>.*<~>')
      AND plan ~ 'Seq Scan on [^ ]+ t(_[0-9])?(\n|$)', plan;
    EXECUTE query INTO wrong, rows;
END $$;
-- Run the comparison in these forms for a table.
CREATE FUNCTION compare_all(tab regclass, OUT wrong bigint, OUT rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT sum(c.wrong), sum(c.rows) INTO wrong, rows FROM (VALUES
        ('t.fp <~> q', 'true', 'true'),
        ('t.fp <~> q', 't.fp <@ simhash_ball(q, k)', '(t.fp <~> q) + 0 <= k'),
        ('t.fp <~> p', 't.fp <@ simhash_ball(q, k)', '(t.fp <~> q) + 0 <= k'),
        ('t.fp <~> q', 't.fp IS NULL', 'num_nulls(t.fp) = 1')
        ) AS v (keys, by_index, by_eye), LATERAL compare(tab, keys, by_index, by_eye) AS c;
END $$;

-- the comparison detects each fault: a wrong order, missing rows, surplus rows,
-- duplicates; and it passes on an empty result
CREATE TABLE sample (id integer, fp simhash);
CREATE INDEX ON sample USING simhash (fp);
SELECT ask('sample', '{NULL,1,10}', 7);
SELECT * FROM compare_all('sample');
INSERT INTO sample SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
SELECT ask('sample', '{NULL,1,10}', 7);
SELECT * FROM compare_all('sample');
SELECT wrong > 0 AS wrong, rows
FROM (VALUES ('t.fp <~> q', 'true', 'true', 't.fp <~> flip(q, 1)'),
             ('t.fp <~> q', 't.id <> 7', 'true', NULL),
             ('t.fp <~> q', 'true', 't.id <> 7', NULL),
             ('t.fp <~> q', 't.fp <@ simhash_ball(q, k)', '(t.fp <~> q) + 0 < k', NULL),
             ('t.fp <~> q', 't.fp <@ simhash_ball(q, k)', '(t.fp <~> q) + 0 < k + 1',
              NULL)) AS v (keys, by_index, by_eye, keys_by_eye),
     LATERAL compare('sample', keys, by_index, by_eye, keys_by_eye) AS c;

--
-- The properties of the access method and its operator class
--
SELECT property, pg_index_column_has_property('sample_fp_idx', 1, property) AS of_column
FROM unnest('{asc,desc,nulls_first,nulls_last,orderable,distance_orderable,
              returnable,search_array,search_nulls}'::text[]) AS property;
SELECT property, pg_index_has_property('sample_fp_idx', property) AS of_index
FROM unnest('{clusterable,index_scan,bitmap_scan,backward_scan}'::text[]) AS property;
SELECT property, pg_indexam_has_property(a.oid, property) AS of_method
FROM pg_am AS a, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) AS property
WHERE amname = 'simhash';
SELECT amopopr::regoperator, amopstrategy, amoppurpose, opfname AS sorted_by
FROM pg_amop JOIN pg_am AS a ON a.oid = amopmethod LEFT JOIN pg_opfamily AS f ON f.oid = amopsortfamily
WHERE amname = 'simhash' ORDER BY amopstrategy, amopopr::regoperator::text COLLATE "C";
SELECT amvalidate(oid)
FROM pg_opclass WHERE opcname = 'simhash_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash');

--
-- Plans
--
CREATE TABLE docs (id integer PRIMARY KEY, fp simhash, note text);
INSERT INTO docs
SELECT i, CASE WHEN i % 50 > 0 THEN flip(random_fp(i / 4), i % 4, i) END FROM generate_series(1, 4000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
ANALYZE docs;
EXPLAIN (costs off) SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (costs off) SELECT id FROM docs ORDER BY '0123456789abcdef' <~> fp LIMIT 10;
EXPLAIN (costs off) SELECT id, '0123456789abcdef' <~> fp FROM docs ORDER BY 2 NULLS LAST LIMIT 10;
EXPLAIN (costs off) SELECT id FROM docs WHERE fp <~> '0123456789abcdef' <= 10 AND fp <~> '0123456789abcd00' <= 12
    ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (costs off)
SELECT id FROM docs WHERE fp IS NOT NULL AND note IS NULL ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (costs off)
SELECT a.id, b.id FROM docs AS a, LATERAL (SELECT id FROM docs ORDER BY fp <~> a.fp LIMIT 3) AS b WHERE a.id = 7;
EXPLAIN (costs off) SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> '0123456789abcdef' LIMIT 10) AS s;
EXPLAIN (costs off) SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef' LIMIT 10 FOR UPDATE;
PREPARE near(simhash, integer) AS SELECT id, fp <~> $1 AS d FROM docs ORDER BY fp <~> $1 LIMIT $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (costs off) EXECUTE near('0123456789abcdef', 10);
RESET plan_cache_mode;
-- (these plans differ between versions)
CREATE FUNCTION order_by_index(query text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    ASSERT NOT EXISTS (SELECT FROM plan(query, '-> *Sort|Sort Key: .*docs')), whole_plan(query);
    RETURN EXISTS (SELECT FROM plan(query, ' Order By: '));
END $$;
SELECT query, order_by_index(query) AS by_index FROM unnest(ARRAY[
    'SELECT id FROM docs ORDER BY fp <~> (SELECT fp FROM docs WHERE id = 7) LIMIT 10',
    'SELECT min(fp <~> ''0123456789abcdef'') FROM docs',
    'SELECT id, rank() OVER (ORDER BY fp <~> ''0123456789abcdef'') FROM docs LIMIT 10',
    'SELECT id FROM docs ORDER BY fp <~> ''0123456789abcdef'' FETCH FIRST 10 ROWS WITH TIES',
    'SELECT (SELECT b.id FROM docs b WHERE b.id <> a.id ORDER BY b.fp <~> a.fp LIMIT 1) FROM docs a WHERE id = 7'])
    AS query;
-- orders that the index does not provide
EXPLAIN (costs off) SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef' DESC LIMIT 10;
EXPLAIN (costs off) SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef' NULLS FIRST LIMIT 10;
EXPLAIN (costs off)
SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef', fp <~> random_fp(3), random_fp(4) <~> fp LIMIT 10;
EXPLAIN (costs off) SELECT id FROM docs WHERE fp <~> '0123456789abcdef' <= 3
                    ORDER BY fp <~> '0123456789abcdef', fp <~> random_fp(3) LIMIT 10;

--
-- Every shape of data, in several designs, built and by insertion, with little memory
--
CREATE FUNCTION every_design(shape text, size integer, rows_first boolean, limits integer[], times integer,
                             OUT wrong bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
    fill text := format('INSERT INTO every SELECT i, CASE WHEN i %% 20 <> 3 THEN fp_of(%L, i) END
                         FROM generate_series(1, %s) AS i', shape, size);
    design text;
    r record;
BEGIN
    wrong := 0;
    rows := 0;
    FOREACH design IN ARRAY ARRAY['blocks = 4', 'blocks = 2', 'blocks = 16', 'blocks = 5, prefix = 2',
                                  'blocks = 3, nested = 4'] LOOP
        CREATE TABLE every (id integer, fp simhash);
        IF rows_first THEN EXECUTE fill; END IF;
        EXECUTE format('CREATE INDEX every_fp ON every USING simhash (fp) WITH (%s)', design);
        IF NOT rows_first THEN EXECUTE fill; END IF;
        PERFORM ask('every', limits, times), simhash_index_check('every_fp', true);
        r := compare_all('every');
        wrong := wrong + r.wrong;
        rows := rows + r.rows;
        DROP TABLE every;
    END LOOP;
END $$;
\set shapes '{uniform,skewed,clustered,equal,extreme,NULL}'
SELECT shape, size, e.*
FROM unnest(:'shapes'::text[]) WITH ORDINALITY AS u (shape, i), unnest(ARRAY[0, 1, 2, 150]) AS size,
     LATERAL every_design(shape, size, true, '{NULL,1,2,30}', 7) AS e
WHERE size > 1 OR shape IN ('equal', 'NULL')
ORDER BY i, size;
SET work_mem = '64kB';
SELECT shape, rows_first, e.*
FROM unnest(:'shapes'::text[]) WITH ORDINALITY AS u (shape, i), unnest(ARRAY[true, false]) AS rows_first,
     LATERAL every_design(shape, 650, rows_first, '{NULL,5,NULL,500}', 1) AS e
ORDER BY i, rows_first;
-- more rows than the distance queue holds: it drops the far rows, and finds them again
CREATE TABLE large (id integer, fp simhash);
INSERT INTO large
SELECT i, CASE WHEN i % 100 > 0 THEN fp_of((ARRAY['uniform', 'skewed', 'uniform', 'clustered'])[i % 4 + 1], i) END
FROM generate_series(1, 20000) AS i;
CREATE INDEX large_fp ON large USING simhash (fp);
SELECT ask('large', '{NULL,20,5000}');
SELECT * FROM compare_all('large');
CREATE TABLE equal AS SELECT i AS id, simhash '0123456789abcdef' AS fp FROM generate_series(1, 30000) AS i;
CREATE INDEX equal_fp ON equal USING simhash (fp);
CREATE TABLE nulls AS SELECT i AS id, NULL::simhash AS fp FROM generate_series(1, 15000) AS i;
CREATE INDEX nulls_fp ON nulls USING simhash (fp);
SELECT ask('equal', '{NULL,10}');
SELECT * FROM compare('equal');
SELECT * FROM compare('nulls');
-- many rows at one distance, behind a few near ones
INSERT INTO equal SELECT i, flip('0123456789abcdef', i, i) FROM generate_series(1, 9) AS i;
TRUNCATE queries;
INSERT INTO queries VALUES
    (1, '0123456789abcdef', 'fedcba9876543210', 64, NULL), (2, 'fedcba9876543210', '0123456789abcdef', 64, NULL),
    (3, 'fedcba9876543210', NULL, 62, 12);
SELECT * FROM compare('equal');
RESET work_mem;
SELECT * FROM compare('equal');
SELECT ask('large', '{NULL,20,5000}');
SELECT * FROM compare_all('large');
-- a table with many changes
DELETE FROM large WHERE id % 3 = 0;
UPDATE large SET fp = flip(fp, 3, id) WHERE id % 50 = 1;
SELECT * FROM compare_all('large');
VACUUM large;
INSERT INTO large SELECT i, random_fp(i % 4000) FROM generate_series(30001, 36000) AS i;
SELECT * FROM compare_all('large');
DROP TABLE equal, nulls;

--
-- All forms of queries
--
CREATE TABLE few AS SELECT * FROM docs WHERE id <= 800;
CREATE INDEX few_fp ON few USING simhash (fp);
SELECT ask('few', '{NULL,1,3,25,400}', 2);
SELECT v.keys, v.by_index, c.*
FROM (VALUES
    ('q <~> t.fp', 'true', NULL),
    ('t.fp <~> q', 't.fp <~> q <= k', '(t.fp <~> q) + 0 <= k'),
    ('t.fp <~> q', 't.fp <~> q < k', '(t.fp <~> q) + 0 < k'),
    ('t.fp <~> q', 't.fp <~> q <> k', '(t.fp <~> q) + 0 <> k'),
    ('t.fp <~> p', 't.fp <~> q = k', '(t.fp <~> q) + 0 = k'),
    ('t.fp <~> q', 't.fp <~> q BETWEEN k / 2 AND k', '(t.fp <~> q) + 0 BETWEEN k / 2 AND k'),
    ('t.fp <~> q', 't.fp <~> q >= k', '(t.fp <~> q) + 0 >= k'),
    ('t.fp <~> q', 'hamming_distance(p, t.fp) <= k', '(t.fp <~> p) + 0 <= k'),
    ('t.fp <~> q', 't.fp <~> q <= k AND t.fp <~> p <= k', '(t.fp <~> q) + 0 <= k AND (t.fp <~> p) + 0 <= k'),
    ('t.fp <~> p',
     't.fp <@ simhash_ball(flip(q, 9), 40) AND t.fp <@ simhash_ball(flip(q, 1), 20) AND t.fp <@ simhash_ball(q, k)',
     '(t.fp <~> flip(q, 9)) + 0 <= 40 AND (t.fp <~> flip(q, 1)) + 0 <= 20 AND (t.fp <~> q) + 0 <= k'),
    ('t.fp <~> q', 't.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(flip(q, 64), k)',
     '(t.fp <~> q) + 0 <= k AND (t.fp <~> flip(q, 64)) + 0 <= k'),
    ('t.fp <~> q', 't.fp <@ simhash_ball(flip(q, 64), 30)', '(t.fp <~> flip(q, 64)) + 0 <= 30'),
    ('t.fp <~> q', 't.fp = q', 't.fp::bigint = q::bigint'),
    ('t.fp <~> p', 't.fp = q', 't.fp::bigint = q::bigint'),
    ('t.fp <~> p', 't.fp = q AND t.fp <~> p <= k', 't.fp::bigint = q::bigint AND (t.fp <~> p) + 0 <= k'),
    ('t.fp <~> q', 't.fp IS NOT NULL', 'num_nulls(t.fp) = 0'),
    ('t.fp <~> q', 't.fp IS NULL', 'num_nulls(t.fp) = 1'),
    ('t.fp <~> q', 't.fp IS NULL AND t.fp IS NOT NULL', 't.id + n < 0'),
    ('t.fp <~> q', 't.fp IS NULL AND t.fp <~> p <= k', 't.id + n < 0'),
    ('t.fp <~> q', 't.fp <@ simhash_ball(q, 64)', 'num_nulls(t.fp, q) = 0'),
    ('t.fp <~> q', 't.fp <@ simhash_ball(p, -1)', 't.id + n < 0'),
    ('t.fp <~> q', 't.fp <@ simhash_ball(nullif(p, p), 3)', 't.id + n < 0'),
    ('t.fp <~> nullif(q, q)', 't.fp <@ simhash_ball(p, k)', '(t.fp <~> p) + 0 <= k'),
    ('t.fp <~> nullif(q, q)', 'true', NULL),
    ('t.fp <~> q', 't.id % 40 = 3', NULL),
    ('t.fp <~> q', 't.fp <~> p <= k AND t.id % 3 = 0 AND t.note IS NULL', '(t.fp <~> p) + 0 <= k AND t.id % 3 = 0'),
    ('t.fp <~> q, t.fp <~> p', 'true', NULL),
    ('t.fp <~> p, t.fp <~> q', 't.fp <~> q <= k', '(t.fp <~> q) + 0 <= k'),
    ('t.fp <~> p, t.fp <~> nullif(q, q), t.fp <~> q', 't.fp IS NOT NULL', 'num_nulls(t.fp) = 0'),
    ('t.fp <~> nullif(q, q), t.fp <~> CASE WHEN n % 3 > 0 THEN q END, flip(p, 2) <~> t.fp', 'true', NULL),
    ('t.fp <~> CASE WHEN n % 2 = 0 THEN p END', 't.fp <@ simhash_ball(CASE WHEN n % 3 = 0 THEN q ELSE p END, k)',
     '(t.fp <~> CASE WHEN n % 3 = 0 THEN q ELSE p END) + 0 <= k')
) AS v (keys, by_index, by_eye), LATERAL compare('few', keys, by_index, by_eye) AS c;

-- rows and ctids, backward, locked and deleted; and in the order of several distances,
-- up to ten
SELECT condition, order_differs('few', condition, $$fp <~> '0123456789abcdef'$$) AS all_rows,
    order_differs('few', condition, $$fp <~> '0123456789abcdef'$$, 20) AS first_rows,
    order_differs('few', condition, keys, by_index => false) AS all_sorted,
    order_differs('few', condition, keys, 20, false) AS first_sorted,
    order_differs('few', condition, $$fp <~> '0123456789abcdef', fp <~> random_fp(1)$$, 20, false) AS by_two
FROM (SELECT string_agg(format('fp <~> %L', flip('0123456789abcdef', i * 3)), ', ') AS keys
      FROM generate_series(1, 10) AS i) AS k,
    unnest(ARRAY['true', 'fp <~> random_fp(7) <= 30', 'fp IS NULL', 'fp IS NOT NULL AND id % 3 = 0',
                 'fp <~> random_fp(7) <= 0']) AS condition;

-- queries with known order and distances: the distance of 64 rows is their id, 1000
-- rows are farther away, and some are NULL
CREATE TABLE line (id integer, fp simhash);
INSERT INTO line
SELECT i, ((1::numeric + 1) ^ i - 1)::numeric(20)::simhash FROM generate_series(0, 63) AS i ORDER BY hashint4(i);
INSERT INTO line SELECT 64, (-1)::bigint::simhash FROM generate_series(1, 1000);
INSERT INTO line SELECT -i, NULL FROM generate_series(1, 5) AS i;
CREATE INDEX line_fp ON line USING simhash (fp);
ANALYZE line;
\set zero '''0000000000000000''::simhash'
SET enable_seqscan = off;
SET enable_sort = off;
SELECT id, fp, fp <~> :zero AS distance FROM line ORDER BY fp <~> :zero LIMIT 12;
SELECT array_agg(id) FROM (SELECT id FROM line ORDER BY fp <~> :zero OFFSET 50 LIMIT 20) AS s;
SELECT id, count(*) FROM (SELECT id FROM line ORDER BY fp <~> :zero OFFSET 62 LIMIT 1006) AS s GROUP BY id ORDER BY id;
SELECT id FROM line ORDER BY fp <~> :zero LIMIT 0;
SELECT array_agg(id)
FROM (SELECT id FROM line ORDER BY fp <~> :zero OFFSET 60 FETCH FIRST 5 ROWS WITH TIES) AS s WHERE id < 64;
SELECT count(*) FROM (SELECT id FROM line ORDER BY fp <~> :zero OFFSET 60 FETCH FIRST 5 ROWS WITH TIES) AS s;
SELECT count(*) FROM (SELECT FROM line ORDER BY fp <~> :zero LIMIT 100) AS s;
SELECT count(*) FROM (SELECT FROM line ORDER BY fp <~> :zero OFFSET 0) AS s;
-- a queue of 4000 TIDs fits into work_mem, so no sort writes to disk
SET work_mem = '64kB';
SET temp_file_limit = 0;
SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> :zero OFFSET 0) AS s;
RESET temp_file_limit;
RESET work_mem;
SELECT array_agg(id) FROM (SELECT id FROM line WHERE id % 9 = 5 ORDER BY fp <~> :zero) AS s;
SELECT array_agg(id) FROM (SELECT id FROM line WHERE fp <~> :zero BETWEEN 5 AND 9 ORDER BY :zero <~> fp) AS s;
SELECT array_agg(id) FROM (SELECT id FROM line WHERE fp <~> '0000000000000fff' <= 4 ORDER BY fp <~> :zero) AS s;
SELECT array_agg(id)
FROM (SELECT id FROM line WHERE fp <~> '0000000000000fff' <= 4 ORDER BY fp <~> '0000000000000fff', fp <~> :zero) AS s;
SELECT array_agg(id) FROM (SELECT DISTINCT ON (fp <~> :zero) id FROM line ORDER BY fp <~> :zero LIMIT 8) AS s;
SELECT DISTINCT fp <~> :zero AS distance FROM line ORDER BY 1 OFFSET 62;
SELECT fp <~> :zero AS distance, count(*) FROM line GROUP BY 1 ORDER BY 1 OFFSET 63;
SELECT id, rank() OVER (ORDER BY fp <~> :zero) FROM line LIMIT 5;
SELECT min(fp <~> :zero), max(fp <~> :zero) FROM line;
SELECT min(fp <~> 'ffffffffffffffff') FROM line WHERE id < 60;
SELECT min(fp <~> :zero) FROM line WHERE fp IS NULL;
SELECT min(fp <~> NULL) FROM line;
SELECT array_agg(greatest(id, -1)) FROM (SELECT id FROM line WHERE id < 20 ORDER BY fp <~> :zero DESC LIMIT 8) AS s;
SELECT array_agg(id) FROM (SELECT id FROM line WHERE id BETWEEN 0 AND 20 ORDER BY fp <~> :zero DESC LIMIT 8) AS s;
SELECT count(*) FROM (SELECT id FROM line ORDER BY fp <~> :zero NULLS FIRST LIMIT 8) AS s WHERE id < 0;
SELECT array_agg(id) FROM (SELECT id FROM line ORDER BY fp <~> :zero, id LIMIT 8) AS s;
-- joins
SELECT a.id, array(SELECT b.fp <~> a.fp FROM line AS b ORDER BY b.fp <~> a.fp LIMIT 5)
FROM line AS a WHERE a.id IN (0, 7, 40) ORDER BY a.id;
SELECT a.id, (SELECT b.id FROM line AS b WHERE b.id > a.id ORDER BY b.fp <~> a.fp LIMIT 1)
FROM line AS a WHERE a.id BETWEEN 3 AND 6 ORDER BY a.id;
SELECT a.id, b.id, c.id
FROM line AS a, LATERAL (SELECT * FROM line WHERE id <= a.id ORDER BY fp <~> a.fp LIMIT 2) AS b,
     LATERAL (SELECT * FROM line WHERE fp <~> b.fp <= 2 AND id > b.id ORDER BY fp <~> b.fp LIMIT 1) AS c
WHERE a.id IN (9, 17) ORDER BY a.id, b.id, c.id;
SELECT count(*), count(b.fp)
FROM (VALUES (NULL::simhash), (:zero), (NULL)) AS a (q), LATERAL (SELECT * FROM line ORDER BY fp <~> q LIMIT 1067) AS b;
SELECT id, i FROM line
    CROSS JOIN LATERAL (SELECT i FROM generate_series(1, 2) AS i ORDER BY i) AS s ORDER BY fp <~> :zero LIMIT 3;
-- a merge join, which needs the inner order again for equal outer values
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT g, count(*)
FROM unnest(ARRAY[0, 5, 5, 64, 64, 65]) AS g JOIN line ON line.fp <~> :zero = g GROUP BY g ORDER BY g;
RESET enable_hashjoin;
RESET enable_nestloop;
-- query values as parameters, including NULL
SET plan_cache_mode = force_generic_plan;
PREPARE distances(simhash, simhash, bigint) AS
    SELECT array_agg(id) FROM (SELECT id FROM line WHERE id < 20 ORDER BY fp <~> $1, fp <~> $2 LIMIT $3) AS s;
EXECUTE distances(:zero, NULL, 5);
EXECUTE distances(NULL, :zero, 5);
EXECUTE distances('00000000000000ff', :zero, 6);
EXECUTE distances('00000000000000ff', 'ffffffffffffffff', 6);
PREPARE how_many(simhash, integer, simhash) AS
    SELECT count(*), count(fp) FROM (SELECT fp FROM line WHERE fp <@ simhash_ball($1, $2) ORDER BY fp <~> $3) AS s;
EXECUTE how_many(:zero, 10, NULL);
EXECUTE how_many(NULL, 10, :zero);
EXECUTE how_many(:zero, NULL, :zero);
EXECUTE how_many(:zero, 64, :zero);
PREPARE everything(simhash) AS SELECT count(*), count(fp) FROM (SELECT fp FROM line ORDER BY fp <~> $1 OFFSET 0) AS s;
EXECUTE everything(:zero);
EXECUTE everything(NULL);
RESET plan_cache_mode;
SELECT count(*) FROM (SELECT FROM line ORDER BY fp <~> (SELECT fp FROM line WHERE id = -1) LIMIT 2000) AS s;

--
-- Cursors
--
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM line ORDER BY fp <~> :zero;
DECLARE b CURSOR FOR SELECT id FROM line ORDER BY fp <~> '000000000000ffff', fp <~> :zero;
DECLARE c SCROLL CURSOR FOR SELECT id FROM line ORDER BY fp <~> :zero;
DECLARE d CURSOR FOR SELECT id, note FROM docs WHERE id < 0 ORDER BY fp <~> :zero;
FETCH 3 FROM a;
FETCH 3 FROM b;
FETCH FROM d;
INSERT INTO line SELECT 1000, fp FROM line WHERE id < 30;
FETCH 3 FROM a;
DELETE FROM line WHERE id IN (7, 9, 12, 1000);
FETCH 3 FROM a;
UPDATE line SET fp = '0000000000000000', id = -1000 WHERE id BETWEEN 8 AND 25;
FETCH 2 FROM a;
FETCH 2 FROM b;
SELECT count(*) FROM (SELECT id FROM line ORDER BY fp <~> :zero LIMIT 18) AS s WHERE id = -1000;
MOVE 1000 IN a;
MOVE FORWARD ALL IN b;
FETCH FROM b;
MOVE ALL IN a;
FETCH FROM a;
MOVE 2 IN c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE FORWARD ALL IN c;
MOVE BACKWARD ALL IN c;
FETCH 2 FROM c;
ROLLBACK;
BEGIN;
DECLARE a CURSOR WITH HOLD FOR SELECT id FROM line ORDER BY fp <~> :zero LIMIT 4;
FETCH FROM a;
COMMIT;
FETCH ALL FROM a;
CLOSE a;
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM line ORDER BY fp <~> :zero FOR UPDATE;
MOVE 3 IN a;
DELETE FROM line WHERE CURRENT OF a;
FETCH FROM a;
UPDATE line SET fp = '0000000000000000' WHERE CURRENT OF a;
FETCH FROM a;
MOVE ALL IN a;
SELECT array_agg(id) FROM (SELECT id FROM line ORDER BY fp <~> :zero, id LIMIT 5) AS s;
ROLLBACK;
SELECT id FROM line ORDER BY fp <~> :zero LIMIT 2 FOR UPDATE SKIP LOCKED;
WITH touched AS (
    UPDATE line SET id = id
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM line ORDER BY fp <~> :zero LIMIT 3)) RETURNING id, fp)
SELECT * FROM touched ORDER BY id;
WITH nearest AS (SELECT ctid FROM line ORDER BY fp <~> 'ffffffffffffffff' OFFSET 999 LIMIT 3),
    gone AS (DELETE FROM line USING nearest WHERE line.ctid = nearest.ctid RETURNING id)
SELECT * FROM gone ORDER BY id;
DELETE FROM line WHERE id = (SELECT id FROM line ORDER BY fp <~> :zero LIMIT 1) RETURNING id;
-- a savepoint that rolls back closes its own cursors only
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM line ORDER BY fp <~> :zero;
FETCH FROM a;
SAVEPOINT s;
DECLARE b CURSOR FOR SELECT id FROM line ORDER BY fp <~> '000000000000ffff';
FETCH FROM b;
FETCH FROM a;
DELETE FROM line;
ROLLBACK TO s;
FETCH FROM a;
MOVE ALL IN a;
COMMIT;

-- Many cursors, fetched in turns while the table changes.  Each returns the rows that
-- existed when it was opened.  Counts the wrong rows.
CREATE FUNCTION taking_turns(
    tab regclass, changes text[], cursors integer, step integer, OUT wrong bigint, OUT fetched bigint,
    OUT changed bigint)
LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    ended boolean[] := array_fill(false, ARRAY[cursors]);
    query text;
    r record;
    turn integer := 0;
    n bigint;
BEGIN
    CREATE TEMP TABLE expected (c integer, at tid, d integer) ON COMMIT DROP;
    CREATE TEMP TABLE seen (c integer, r bigserial, at tid, d integer) ON COMMIT DROP;
    FOR i IN 1 .. cursors LOOP
        EXECUTE format('INSERT INTO expected SELECT %s, ctid, (fp <~> %L) + 0 FROM %s', i, random_fp(i), tab);
        query := format('SELECT ctid AS at, fp <~> %1$L AS d FROM %2$s ORDER BY fp <~> %1$L', random_fp(i), tab);
        c := 'turn ' || i;
        OPEN c FOR EXECUTE query;
    END LOOP;
    ASSERT EXISTS (SELECT FROM plan(query, 'Order By: ')), whole_plan(query);
    changed := 0;
    WHILE false = ANY (ended) LOOP
        turn := turn + 1;
        FOR i IN 1 .. cursors LOOP
            c := 'turn ' || i;
            FOR j IN 1 .. turn * step + i LOOP
                EXIT WHEN ended[i];
                FETCH c INTO r;
                IF FOUND THEN INSERT INTO seen (c, at, d) VALUES (i, r.at, r.d); ELSE ended[i] := true; END IF;
            END LOOP;
        END LOOP;
        EXECUTE replace(changes[1 + turn % cardinality(changes)], '$', turn::text);
        GET DIAGNOSTICS n = ROW_COUNT;
        changed := changed + n;
    END LOOP;
    SELECT count(*) INTO fetched FROM seen;
    SELECT (SELECT count(*) FROM (SELECT s.c, s.at, s.d FROM seen AS s EXCEPT ALL TABLE expected) AS s)
         + (SELECT count(*) FROM (TABLE expected EXCEPT ALL SELECT s.c, s.at, s.d FROM seen AS s) AS s)
         + (SELECT count(*)
            FROM (SELECT d, lag(d) OVER w AS before, row_number() OVER w > 1 AS later
                  FROM seen WINDOW w AS (PARTITION BY seen.c ORDER BY seen.r)) AS s
            WHERE later AND (d < before OR before IS NULL AND d IS NOT NULL))
    INTO wrong;
    DROP TABLE seen, expected;
END $$;
SELECT wrong, fetched, changed > 0 AS changed
FROM taking_turns('sample', ARRAY[
    'INSERT INTO sample SELECT -i, flip(random_fp(i % 4), i % 9, i) FROM generate_series(1, 200) AS i',
    'DELETE FROM sample WHERE fp <@ simhash_ball(random_fp($ % 4), 27)',
    'UPDATE sample SET fp = flip(fp, 20, id) WHERE id % 5 = $ % 5',
    'UPDATE sample SET fp = NULL WHERE id % 17 = $ % 17'], 4, 10);
SET work_mem = '64kB';
SELECT wrong, fetched, changed > 0 AS changed
FROM taking_turns('large', ARRAY[
    'INSERT INTO large SELECT -i, flip(random_fp(i % 3), i % 9, i) FROM generate_series(1, 500) AS i',
    'DELETE FROM large WHERE fp <@ simhash_ball(random_fp($ % 3), 25)',
    'UPDATE large SET fp = flip(fp, 20, id) WHERE id % 50 = $ % 50'], 3, 700);
RESET work_mem;
SELECT simhash_index_check('large_fp', true);
SELECT ask('large', '{NULL,3000}');
SELECT * FROM compare_all('large');

--
-- All types of tables and indexes
--
CREATE INDEX docs_part ON docs USING simhash (fp) WITH (blocks = 6) WHERE id % 7 = 1;
SELECT ask('docs', '{NULL,1,3,25,400}', 2);
SELECT * FROM compare('docs', 't.fp <~> q', 't.id % 7 = 1', '(t.id % 7) + 0 = 1');
SELECT * FROM compare(
    'docs', 't.fp <~> q', 't.id % 7 = 1 AND t.fp <~> p <= k', '(t.id % 7) + 0 = 1 AND (t.fp <~> p) + 0 <= k');
EXPLAIN (costs off) SELECT id FROM docs WHERE id % 7 = 1 ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
UPDATE docs SET id = id + 20000 WHERE id % 3 = 0;
SELECT * FROM compare('docs', 't.fp <~> q', 't.id % 7 = 1', '(t.id % 7) + 0 = 1');
CREATE INDEX docs_known ON docs USING simhash (fp) WHERE fp IS NOT NULL AND id % 100 < 90;
SELECT * FROM compare(
    'docs', 't.fp <~> q', 't.fp IS NOT NULL AND t.id % 100 < 90', 'num_nulls(t.fp) = 0 AND (t.id % 100) + 0 < 90');
CREATE INDEX docs_null ON docs USING simhash (fp) WHERE fp IS NULL;
SELECT * FROM compare('docs', 't.fp <~> q', 't.fp IS NULL', 'num_nulls(t.fp) = 1');
-- an expression, a temporary table
CREATE TEMP TABLE bodies (id integer, body text, fp simhash);
INSERT INTO bodies (id, body)
SELECT i, CASE WHEN i % 20 > 0 THEN format('the %s quick %s fox %s', i % 7, i % 11, i % 5) END
FROM generate_series(1, 500) AS i;
CREATE INDEX bodies_fp ON bodies USING simhash (simhash(body, 2));
UPDATE bodies SET body = body || ' jumps' WHERE id % 17 = 0;
SELECT ask('bodies', '{NULL,1,20}', 3);
UPDATE queries SET q = simhash(format('the %s quick %s fox 3', n % 6, n % 4)), p = simhash('quick fox');
SELECT * FROM compare('bodies', 'simhash(t.body, 2) <~> q');
SELECT * FROM compare(
    'bodies', 'simhash(t.body, 2) <~> q', 'simhash(t.body, 2) <~> p <= k', '(simhash(t.body, 2) <~> p) + 0 <= k');
-- partitions: a Merge Append of their indexes
CREATE DOMAIN known_fp AS simhash;
CREATE TABLE parent (id integer, fp known_fp) PARTITION BY RANGE (id);
CREATE TABLE parent_1 PARTITION OF parent FOR VALUES FROM (1) TO (1000);
CREATE TABLE parent_2 PARTITION OF parent FOR VALUES FROM (1000) TO (2000) PARTITION BY LIST (id);
CREATE TABLE parent_2_1 PARTITION OF parent_2 FOR VALUES IN (1001);
CREATE TABLE parent_2_2 PARTITION OF parent_2 DEFAULT;
CREATE INDEX ON parent USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE TABLE parent_3 PARTITION OF parent FOR VALUES FROM (2000) TO (3000);
INSERT INTO parent
SELECT i, CASE WHEN i % 30 > 0 THEN flip(random_fp(i % 97), i % 5, i)::known_fp END FROM generate_series(1, 2999) AS i;
ANALYZE parent;
SELECT ask('parent', '{NULL,1,20,700}', 2);
SELECT * FROM compare_all('parent');
UPDATE parent SET id = id - 900 WHERE id % 30 = 15 AND id > 900;
SELECT * FROM compare_all('parent');
EXPLAIN (costs off) SELECT id FROM parent ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
EXPLAIN (costs off) SELECT * FROM ((SELECT id, fp FROM docs) UNION ALL (SELECT id, fp FROM large)) AS u
                    ORDER BY fp <~> '0123456789abcdef' LIMIT 10;
SELECT array_agg(id % 100)
FROM (SELECT id FROM (SELECT id, fp FROM line UNION ALL SELECT id + 100, fp FROM line) AS u
      ORDER BY fp <~> :zero OFFSET 6 LIMIT 6) AS s
WHERE id % 100 BETWEEN 4 AND 6;
SELECT count(*)
FROM (SELECT fp FROM (SELECT * FROM line UNION ALL SELECT * FROM line) AS u ORDER BY fp <~> :zero LIMIT 10000) AS s;
SELECT count(*) * 2 AS count FROM line;
-- an inheritance child without an index is sorted
RESET enable_sort;
CREATE TABLE line_more () INHERITS (line);
INSERT INTO line_more SELECT 100 + id, fp FROM ONLY line WHERE id BETWEEN 1 AND 40 OR id < -2;
SELECT array_agg(id % 100) FROM (SELECT id FROM line ORDER BY fp <~> :zero LIMIT 9) AS s;
DROP TABLE line_more;
SET enable_sort = off;
CREATE VIEW both_ends AS SELECT * FROM line WHERE id IS NOT NULL;
SELECT array_agg(id) FROM (SELECT id FROM both_ends ORDER BY fp <~> '00000000ffffffff', fp <~> :zero LIMIT 5) AS s;
-- rows of the own transaction, rows of a rolled-back one, and a new index
BEGIN;
CREATE TABLE own (id integer, fp simhash);
CREATE INDEX own_fp ON own USING simhash (fp);
INSERT INTO own SELECT i, random_fp(i) FROM generate_series(1, 500) AS i;
SAVEPOINT s;
INSERT INTO own SELECT i, random_fp(i) FROM generate_series(501, 2500) AS i;
SELECT ask('own', '{NULL,1,20,700}', 2);
SELECT * FROM compare_all('own');
ROLLBACK TO s;
SELECT * FROM compare_all('own');
DELETE FROM own WHERE id % 2 = 0;
SELECT * FROM compare_all('own');
COMMIT;
SELECT * FROM compare_all('own');
TRUNCATE own;
SELECT * FROM compare_all('own');
INSERT INTO own SELECT i, random_fp(i) FROM generate_series(1, 500) AS i;
SELECT * FROM compare_all('own');

-- rows at one distance, inserted in descending order of id: pages by the index, of any
-- length, are together the order of a sort (docs/index.md)
CREATE TABLE ties (id integer, fp simhash);
CREATE INDEX ON ties USING simhash (fp);
INSERT INTO ties SELECT id, CASE WHEN id <= 60 THEN flip(:zero, id / 31 * (id % 3)) END
                 FROM generate_series(70, 1, -1) AS id;
ANALYZE ties;
RESET enable_sort;
CREATE FUNCTION page(q simhash, length integer, skipped integer) RETURNS SETOF integer LANGUAGE sql STABLE AS $$
    SELECT id FROM (SELECT id, fp <~> q AS d FROM ties
                    ORDER BY fp <~> q FETCH FIRST (length + skipped) ROWS WITH TIES) AS s
    ORDER BY d, id LIMIT length OFFSET skipped $$;
SELECT whole_plan($$SELECT * FROM page('0000000000000000', 10, 20)$$)
       ~ 'Index Scan using ties_fp_idx on ties\n *Order By' AS by_index;
SELECT length, array(SELECT id FROM generate_series(0, 69, length) AS skipped, page(:zero, length, skipped) AS id)
               = array(SELECT id FROM ties ORDER BY (fp <~> :zero) + 0, id) AS same
FROM unnest('{1,7,10,30,31,100}'::integer[]) AS length;

DROP SCHEMA nearest_test CASCADE;
