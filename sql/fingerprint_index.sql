--
-- The index returns the rows of a sequential scan, including ctid.  This holds for all
-- shapes of data, all histories of the table, and all forms of queries.
--
CREATE SCHEMA index_test;
SET search_path = index_test, public;
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;

-- Compare index and bitmap scans with a sequential scan.
--
-- The query joins the rows t with the queries (n, q, k) on a condition.  For the
-- sequential scan the condition is written in a form that no index serves.  Returns the
-- number of missing and surplus rows (like EXCEPT ALL in both directions, but in half
-- the time), and the number of rows.  Raises an error if a scan has the wrong type.
CREATE TABLE queries (n integer, q simhash, k integer);
CREATE FUNCTION compare_once(query text, scan text, OUT differing bigint, OUT rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan text := whole_plan(query);
BEGIN
    ASSERT plan ~ scan AND plan ~ 'Seq Scan on [^ ]+ t(_1)?(\n|$)', plan;
    EXECUTE query INTO differing, rows;
END $$;
CREATE FUNCTION compare(tab regclass, by_index text, by_eye text,
                        OUT index bigint, OUT bitmap bigint, OUT rows bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_indexscan = on SET enable_bitmapscan = off
    SET enable_sort = off SET work_mem = '64MB' AS $$
DECLARE
    query text := format('WITH a AS (SELECT n, t.ctid, t.fp FROM queries, %1$s AS t WHERE %2$s),
        b AS (SELECT n, t.ctid, t.fp FROM queries, %1$s AS t WHERE %3$s),
        d AS (SELECT sum(i) AS i, sum(e) AS e
              FROM (SELECT *, 1 AS i, 0 AS e FROM a UNION ALL SELECT *, 0, 1 FROM b) AS u
              GROUP BY n, ctid, fp)
        SELECT coalesce(sum(abs(i - e)), 0), coalesce(sum(e), 0) FROM d', tab, by_index, by_eye);
BEGIN
    SELECT o.differing, o.rows INTO index, rows FROM compare_once(query, ' Index Scan using ') AS o;
    PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'on', true);
    SELECT o.differing INTO bitmap FROM compare_once(query, ' Bitmap Index Scan on ') AS o;
    PERFORM check_indexes(tab);
END $$;

-- Fill queries with balls around stored fingerprints, near them and anywhere, of each
-- radius.
CREATE FUNCTION ask(tab regclass, radii integer[] DEFAULT NULL, times integer DEFAULT 1) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    stored simhash[] := some_of(tab, 500);
BEGIN
    radii := coalesce(radii, array(SELECT generate_series(-1, 64)));
    TRUNCATE queries;
    INSERT INTO queries
        SELECT n, CASE n % 3 WHEN 0 THEN fp WHEN 1 THEN flip(fp, (n + k) % 14, n) ELSE random_fp(n, 2) END, k
        FROM (SELECT (row_number() OVER ())::integer AS n, k FROM unnest(radii) AS k, generate_series(1, times)) AS r,
             LATERAL (SELECT stored[1 + (n * 7) % cardinality(stored)] AS fp) AS s;
END $$;
CREATE FUNCTION compare_balls(tab regclass, radii integer[] DEFAULT NULL, times integer DEFAULT 1,
                              OUT index bigint, OUT bitmap bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ask(tab, radii, times);
    SELECT * INTO index, bitmap, rows
    FROM compare(tab, 't.fp <@ simhash_ball(q, k)', '(t.fp <~> q) + 0 <= k');
END $$;
-- the comparison detects missing rows; the second query matches no row
CREATE TABLE sample (id integer, fp simhash);
INSERT INTO sample SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
CREATE INDEX ON sample USING simhash (fp);
SELECT ask('sample');
SELECT index > 0 AS index, bitmap > 0 AS bitmap, rows
FROM compare('sample', 't.fp <@ simhash_ball(q, k - 1)', '(t.fp <~> q) + 0 <= k');
SELECT * FROM compare_balls('sample', ARRAY[-1]);

--
-- Every radius, every number of blocks, every shape of data, built and by insertion
--
CREATE FUNCTION every_blocks(shape text, size integer, rows_first boolean, radii integer[],
                             OUT index bigint, OUT bitmap bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
    fill text := format('INSERT INTO every SELECT i, CASE WHEN i %% 20 > 0 THEN fp_of(%L, i) END
                         FROM generate_series(1, %s) AS i', shape, size);
    r record;
BEGIN
    index := 0;
    bitmap := 0;
    rows := 0;
    FOR blocks IN 2 .. 16 LOOP
        CREATE TABLE every (id integer, fp simhash);
        IF rows_first THEN EXECUTE fill; END IF;
        EXECUTE format('CREATE INDEX ON every USING simhash (fp) WITH (blocks = %s)', blocks);
        IF NOT rows_first THEN EXECUTE fill; END IF;
        r := compare_balls('every', radii);
        index := index + r.index;
        bitmap := bitmap + r.bitmap;
        rows := rows + r.rows;
        TRUNCATE queries;
        INSERT INTO queries VALUES (1, NULL, NULL);
        r := compare('every', 't.fp IS NULL', 'num_nulls(t.fp) = 1');
        index := index + r.index;
        bitmap := bitmap + r.bitmap;
        rows := rows + r.rows;
        DROP TABLE every;
    END LOOP;
END $$;
\set shapes '{uniform,skewed high,skewed low,clustered,equal,extreme}'
-- first every radius, then more rows than one page holds
SELECT shape, size, e.*
FROM unnest(:'shapes'::text[]) WITH ORDINALITY AS u (shape, i), unnest(ARRAY[0, 1, 80]) AS size,
     LATERAL every_blocks(shape, size, true, NULL) AS e
WHERE size > 1 OR shape IN ('uniform', 'extreme')
ORDER BY i, size;
SELECT shape, rows_first, e.*
FROM unnest(:'shapes'::text[]) WITH ORDINALITY AS u (shape, i), unnest(ARRAY[true, false]) AS rows_first,
     LATERAL every_blocks(
         shape, 700, rows_first, array(SELECT generate_series(-1, 12)) || ARRAY[14, 17, 21, 30, 64]) AS e
ORDER BY i, rows_first;

--
-- All forms of queries
--
CREATE TABLE docs (id integer PRIMARY KEY, fp simhash, note text);
INSERT INTO docs
SELECT i, CASE WHEN i % 50 > 0 THEN flip(random_fp(i / 4), i % 4, i) END FROM generate_series(1, 4000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT ask('docs', ARRAY[-1, 0, 1, 2, 3, 4, 6, 8, 11, 16, 30, 64]);
-- several conditions, in all combinations, empty or not
SELECT by_index, c.*
FROM (VALUES
    ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(flip(q, 2), k)',
     '(t.fp <~> q) + 0 <= k AND (t.fp <~> flip(q, 2)) + 0 <= k'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(q, 3)', '(t.fp <~> q) + 0 <= least(k, 3)'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(flip(q, 64), k)',
     '(t.fp <~> q) + 0 <= k AND (t.fp <~> flip(q, 64)) + 0 <= k'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(flip(q, 9), 64)', '(t.fp <~> q) + 0 <= k'),
    ('t.fp <@ simhash_ball(flip(q, 9), 40) AND t.fp <@ simhash_ball(flip(q, 1), 20) AND t.fp <@ simhash_ball(q, k)',
     '(t.fp <~> flip(q, 9)) + 0 <= 40 AND (t.fp <~> flip(q, 1)) + 0 <= 20 AND (t.fp <~> q) + 0 <= k'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp = q', 't.fp::bigint = q::bigint AND k >= 0'),
    ('t.fp = q', 't.fp::bigint = q::bigint'),
    ('t.fp = q AND t.fp <@ simhash_ball(flip(q, 12), k)', 't.fp::bigint = q::bigint AND k >= 12'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp IS NOT NULL', '(t.fp <~> q) + 0 <= k'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp IS NULL', 'NOT (t.id + n > 0)'),
    ('t.fp = q AND t.fp IS NULL', 'NOT (t.id + n > 0)'),
    ('t.fp IS NULL', 'num_nulls(t.fp) = 1'),
    ('t.fp IS NOT NULL', 'num_nulls(t.fp) = 0'),
    ('t.fp IS NULL AND t.fp IS NOT NULL', 'NOT (t.id + n > 0)'),
    ('t.fp <@ simhash_ball(nullif(q, q), k)', 'NOT (t.id + n > 0)'),
    ('t.fp = nullif(q, q)', 'NOT (t.id + n > 0)'),
    ('t.fp <@ simhash_ball(CASE WHEN n % 2 = 0 THEN q END, k)', '(t.fp <~> q) + 0 <= k AND n % 2 = 0'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(nullif(q, q), k)', 'NOT (t.id + n > 0)'),
    ('t.fp <@ simhash_ball(q, k) AND t.fp = nullif(q, q)', 'NOT (t.id + n > 0)'),
    ('t.fp <@ simhash_ball(q, k) AND t.id % 3 = 0', '(t.fp <~> q) + 0 <= k AND t.id % 3 = 0'),
    ('t.fp <@ simhash_ball(q, 9223372036854775807)', 'num_nulls(t.fp) = 0'),
    ('t.fp <@ simhash_ball(q, -9223372036854775808)', 'NOT (t.id + n > 0)')
) AS v (by_index, by_eye), LATERAL compare('docs', by_index, by_eye) AS c;
-- arrays, OR, and an AND with another index: bitmap scans only
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT d.* FROM (VALUES
    ('fp = ANY (ARRAY[random_fp(3), NULL, random_fp(3), random_fp(50)])',
     'fp::bigint IN (random_fp(3)::bigint, random_fp(50)::bigint)'),
    ('fp = ANY (ARRAY[]::simhash[])', 'id < 0'),
    ('fp <@ ANY (ARRAY[simhash_ball(random_fp(3), 4), simhash_ball(random_fp(3), 5), NULL,
                       simhash_ball(random_fp(9), 25)])',
     '(fp <~> random_fp(3)) + 0 <= 5 OR (fp <~> random_fp(9)) + 0 <= 25'),
    ('fp <@ simhash_ball(random_fp(3), 20) OR fp IS NULL OR fp <@ simhash_ball(random_fp(9), 20)',
     '(fp <~> random_fp(3)) + 0 <= 20 OR num_nulls(fp) = 1 OR (fp <~> random_fp(9)) + 0 <= 20'),
    ('fp <@ simhash_ball(random_fp(3), 28) AND id BETWEEN 500 AND 3000',
     '(fp <~> random_fp(3)) + 0 <= 28 AND id BETWEEN 500 AND 3000')
) AS v (a, b), differing('SELECT ctid, * FROM docs WHERE ' || a, 'SELECT ctid, * FROM docs WHERE ' || b) AS d;
-- joins of all types return each stored row once
SET enable_indexscan = on;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT d.* FROM unnest(ARRAY[
    'SELECT a.id, b.id FROM docs AS a JOIN docs AS b ON %s AND a.id < b.id WHERE a.id < 300',
    'SELECT a.id, b.id FROM docs AS a LEFT JOIN docs AS b ON %s AND a.id < b.id WHERE a.id < 300',
    'SELECT a.id FROM docs AS a WHERE a.id < 300 AND EXISTS (SELECT FROM docs AS b WHERE %s AND a.id <> b.id)',
    'SELECT a.id FROM docs AS a WHERE a.id < 300 AND NOT EXISTS (SELECT FROM docs AS b WHERE %s AND a.id <> b.id)',
    'SELECT a.id, (SELECT count(*) FROM docs AS b WHERE %s) FROM docs AS a WHERE a.id < 300',
    'SELECT a.id, c.* FROM docs AS a, LATERAL (SELECT b.id FROM docs AS b WHERE %s ORDER BY b.id LIMIT 2) AS c
     WHERE a.id < 300']) AS q,
    differing(format(q, 'b.fp <@ simhash_ball(a.fp, 5)'), format(q, '(a.fp <~> b.fp) + 0 <= 5')) AS d;
-- generic plans, with NULL as one parameter
SET plan_cache_mode = force_generic_plan;
PREPARE near(simhash, bigint) AS SELECT id FROM docs WHERE fp <@ simhash_ball($1, $2) ORDER BY id;
EXPLAIN (costs off) EXECUTE near(random_fp(3), 3);
EXECUTE near(random_fp(3), 3);
EXECUTE near(NULL, 3);
EXECUTE near(random_fp(3), NULL);
EXECUTE near(random_fp(3), 0);
RESET plan_cache_mode;
-- a cursor that pauses and goes on, and a second one that moves backward
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM docs WHERE fp <@ simhash_ball(random_fp(3), 64);
DECLARE b SCROLL CURSOR FOR SELECT id FROM docs WHERE fp <@ simhash_ball(random_fp(3), 0);
MOVE 1 IN a;
FETCH ALL IN b;
FETCH 1 IN b;
MOVE 3918 IN a;
SELECT count(*) FROM docs WHERE fp <@ simhash_ball(random_fp(3), 64);
FETCH BACKWARD ALL IN b;
FETCH ALL IN b;
FETCH 1 IN a;
ROLLBACK;
BEGIN;
DECLARE a CURSOR FOR SELECT id FROM docs WHERE fp <@ simhash_ball(random_fp(3), 64) FOR UPDATE;
MOVE 1000 IN a;
DELETE FROM docs WHERE CURRENT OF a;
MOVE ALL IN a;
SELECT count(*) FROM docs WHERE fp <@ simhash_ball(random_fp(3), 64);
ROLLBACK;
SELECT count(*) FROM (SELECT FROM docs WHERE fp <@ simhash_ball(random_fp(3), 64) LIMIT 1) AS one;
-- an update that inserts new versions ahead of the scan
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS
    SELECT id, flip(fp, 1, id) AS fp FROM docs WHERE (fp <~> random_fp(3)) + 0 <= 40;
UPDATE docs SET fp = flip(fp, 1, id) WHERE fp <@ simhash_ball(random_fp(3), 40);
SELECT * FROM differing('SELECT id, fp FROM docs WHERE id IN (SELECT id FROM moved)', 'TABLE moved');
SELECT * FROM compare_balls('docs');
DELETE FROM docs WHERE fp <@ simhash_ball(random_fp(3), 30);
SELECT count(*) FROM docs WHERE (fp <~> random_fp(3)) + 0 <= 30;
SELECT * FROM compare_balls('docs');
ROLLBACK;
SELECT * FROM compare_balls('docs');
-- a scan without a condition on the column, through a partial index
CREATE TABLE parts (id integer, fp simhash);
INSERT INTO parts SELECT i, CASE WHEN i % 4 > 0 THEN random_fp(i) END FROM generate_series(1, 3000) AS i;
CREATE INDEX parts_odd ON parts USING simhash (fp) WHERE id % 7 = 1;
RESET enable_bitmapscan;
SELECT ask('parts', ARRAY[30]);
SELECT * FROM compare('parts', 't.id % 7 = 1', '(t.id % 7) + 0 = 1');
SELECT * FROM compare('parts', 't.id % 7 = 1 AND t.fp IS NULL', '(t.id % 7) + 0 = 1 AND num_nulls(t.fp) = 1');
SELECT * FROM compare(
    'parts', 't.id % 7 = 1 AND t.fp <@ simhash_ball(q, k)', '(t.id % 7) + 0 = 1 AND (t.fp <~> q) + 0 <= k');
UPDATE parts SET id = id + 1 WHERE id % 3 = 0;
DELETE FROM parts WHERE id % 5 = 0;
SELECT * FROM compare('parts', 't.id % 7 = 1', '(t.id % 7) + 0 = 1');
VACUUM parts;
SELECT * FROM compare('parts', 't.id % 7 = 1', '(t.id % 7) + 0 = 1');
-- a query that needs no column visits the heap nevertheless
EXPLAIN (costs off) SELECT count(*) FROM parts WHERE id % 7 = 1;
SELECT (SELECT count(*) FROM parts WHERE id % 7 = 1) - (SELECT count(*) FROM parts WHERE (id % 7) + 0 = 1) AS surplus;
DELETE FROM parts WHERE id % 14 = 1;
SELECT (SELECT count(*) FROM parts WHERE id % 7 = 1) - (SELECT count(*) FROM parts WHERE (id % 7) + 0 = 1) AS surplus;

--
-- All histories of a table
--
CREATE TABLE grown (id integer, fp simhash, note text);
CREATE INDEX grown_4 ON grown USING simhash (fp);
\set radii 'ARRAY[-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 64]'
SELECT * FROM compare_balls('grown', :radii);
-- row by row, in many transactions, of which some roll back
DO $$
BEGIN
    FOR i IN 1 .. 3000 LOOP
        INSERT INTO grown
        VALUES (i, CASE WHEN i % 10 > 0 THEN fp_of((ARRAY['uniform', 'skewed high', 'equal'])[i % 3 + 1], i) END);
        IF i % 100 = 0 THEN COMMIT; ELSIF i % 950 = 0 THEN ROLLBACK; END IF;
    END LOOP;
END $$;
SELECT * FROM compare_balls('grown', :radii, 3);
BEGIN;
INSERT INTO grown SELECT i, random_fp(i) FROM generate_series(3001, 5000) AS i;
SAVEPOINT s;
INSERT INTO grown SELECT i, random_fp(i) FROM generate_series(3001, 5000) AS i;
SELECT * FROM compare_balls('grown', :radii);
ROLLBACK TO s;
SELECT * FROM compare_balls('grown', :radii);
COMMIT;
SELECT * FROM compare_balls('grown', :radii);
-- deletions, updates of the fingerprint, and HOT updates
DELETE FROM grown WHERE hashint4(id) % 3 = 0;
SELECT * FROM compare_balls('grown', :radii);
VACUUM grown;
SELECT * FROM compare_balls('grown', :radii);
UPDATE grown SET fp = flip(fp, 2, id) WHERE hashint4(id) % 5 = 0;
UPDATE grown SET note = 'a' WHERE hashint4(id) % 4 = 0;
UPDATE grown SET fp = CASE WHEN fp IS NULL THEN random_fp(id) END WHERE hashint4(id) % 11 = 0;
SELECT * FROM compare_balls('grown', :radii);
VACUUM grown;
SELECT * FROM compare_balls('grown', :radii);
-- new rows reuse the freed space
INSERT INTO grown SELECT i, fp_of('clustered', i) FROM generate_series(5001, 7000) AS i;
SELECT * FROM compare_balls('grown', :radii, 3);
DELETE FROM grown WHERE fp <@ simhash_ball('0123456789abcdef', 0);
VACUUM grown;
INSERT INTO grown SELECT i, '0123456789abcdef' FROM generate_series(7001, 9000) AS i;
SELECT * FROM compare_balls('grown', :radii);
-- several rounds of all of this, with indexes of other numbers of blocks on the same
-- table
CREATE INDEX ON grown USING simhash (fp) WITH (blocks = 3);
DROP INDEX grown_4;
DO $$
BEGIN
    FOR i IN 1 .. 2000 LOOP
        CASE hashint4(i) & 7
            WHEN 0 THEN DELETE FROM grown WHERE fp <@ simhash_ball(random_fp(i), 12);
            WHEN 1 THEN UPDATE grown SET fp = flip(fp, 4, i) WHERE fp <@ simhash_ball(random_fp(i * 2), 10);
            WHEN 2 THEN UPDATE grown SET fp = NULL WHERE fp = random_fp(i - 100);
            ELSE INSERT INTO grown VALUES (i, flip(random_fp(i % 1000), i % 5, i));
        END CASE;
        IF i % 10 = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
SELECT * FROM compare_balls('grown', :radii, 3);
VACUUM grown;
SELECT * FROM compare_balls('grown', :radii, 3);
-- delete all rows
DELETE FROM grown;
SELECT * FROM compare_balls('grown', :radii);
VACUUM grown;
SELECT * FROM compare_balls('grown', :radii);
SELECT * FROM compare('grown', 't.fp IS NULL', 'num_nulls(t.fp) = 1');
INSERT INTO grown SELECT i, CASE WHEN i % 9 > 0 THEN random_fp(i) END FROM generate_series(1, 3000) AS i;
SELECT * FROM compare_balls('grown', :radii);
VACUUM FULL grown;
SELECT * FROM compare_balls('grown', :radii);
ALTER TABLE grown ADD PRIMARY KEY (id);
CLUSTER grown USING grown_pkey;
SELECT * FROM compare_balls('grown', :radii);
BEGIN;
TRUNCATE grown;
SELECT * FROM compare_balls('grown', :radii);
INSERT INTO grown SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
SELECT * FROM compare_balls('grown', :radii);
ROLLBACK;
SELECT * FROM compare_balls('grown', :radii);
TRUNCATE grown;
SELECT * FROM compare_balls('grown', :radii);
INSERT INTO grown SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
SELECT * FROM compare_balls('grown', :radii);

--
-- All types of tables and indexes
--
CREATE UNLOGGED TABLE volatile_docs (id integer, fp simhash);
CREATE INDEX ON volatile_docs USING simhash (fp) WITH (blocks = 6);
INSERT INTO volatile_docs SELECT i, random_fp(i) FROM generate_series(1, 2000) AS i;
DELETE FROM volatile_docs WHERE id % 3 = 0;
VACUUM volatile_docs;
SELECT * FROM compare_balls('volatile_docs', :radii);
ALTER TABLE volatile_docs SET LOGGED;
SELECT * FROM compare_balls('volatile_docs', :radii);
ALTER TABLE volatile_docs SET UNLOGGED;
INSERT INTO volatile_docs SELECT i, random_fp(i) FROM generate_series(1, 2000) AS i;
SELECT * FROM compare_balls('volatile_docs', :radii);
CREATE TEMP TABLE own (id integer, fp simhash) ON COMMIT DELETE ROWS;
CREATE INDEX ON own USING simhash (fp);
DO $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        INSERT INTO own SELECT j, random_fp(j) FROM generate_series(1, 1000) AS j;
        ASSERT (SELECT index = 0 AND bitmap = 0 AND rows > 0 FROM compare_balls('own', '{0,3,10,30}', 3));
        COMMIT;
        ASSERT (SELECT index = 0 AND bitmap = 0 AND rows = 0 FROM compare_balls('own', '{0,3,10,30}', 3));
    END LOOP;
END $$;
CREATE TEMP TABLE own_kept (id integer, fp simhash);
INSERT INTO own_kept SELECT i, random_fp(i) FROM generate_series(1, 2000) AS i;
CREATE INDEX ON own_kept USING simhash (fp);
DELETE FROM own_kept WHERE id % 3 = 0;
VACUUM own_kept;
INSERT INTO own_kept SELECT i, random_fp(i) FROM generate_series(2001, 3000) AS i;
SELECT * FROM compare_balls('own_kept', :radii);
-- an expression, a domain, a generated column, an inheritance child
CREATE TABLE bodies (id integer, body text);
INSERT INTO bodies SELECT i, CASE WHEN i % 20 > 0 THEN format('the %s quick %s fox %s', i % 7, i % 11, i % 5) END
                   FROM generate_series(1, 500) AS i;
CREATE INDEX bodies_fp ON bodies USING simhash (simhash(body, 2)) WHERE id > 10;
UPDATE bodies SET body = body || ' jumps' WHERE id % 17 = 0;
SELECT * FROM differing(
    'SELECT ctid, * FROM bodies
     WHERE id > 10 AND simhash(body, 2) <@ simhash_ball(simhash(''the 1 quick 2 fox 3''), 12)',
    'SELECT ctid, * FROM bodies
     WHERE id > 10 AND (simhash(body, 2) <~> simhash(''the 1 quick 2 fox 3'')) + 0 <= 12');
EXPLAIN (costs off) SELECT FROM bodies WHERE id > 10 AND simhash(body, 2) <@ '(0123456789abcdef,3)';
CREATE DOMAIN known_fp AS simhash CHECK (VALUE IS NOT NULL);
CREATE TABLE children (id integer, fp known_fp) PARTITION BY RANGE (id);
CREATE TABLE children_1 PARTITION OF children FOR VALUES FROM (1) TO (1000);
CREATE INDEX ON children USING simhash (fp) WITH (blocks = 5);
CREATE TABLE children_2 PARTITION OF children FOR VALUES FROM (1000) TO (2001);
INSERT INTO children SELECT i, random_fp(i) FROM generate_series(1, 2000) AS i;
SELECT * FROM compare_balls('children_1', :radii);
SELECT * FROM compare_balls('children_2', :radii);
UPDATE children SET id = id - 500 WHERE id > 1400;
SELECT * FROM differing(
    'SELECT tableoid, ctid, * FROM children WHERE fp <@ simhash_ball(random_fp(3), 30)',
    'SELECT tableoid, ctid, * FROM children WHERE (fp <~> random_fp(3)) + 0 <= 30');
-- a column changes its type to simhash
CREATE TABLE numbers (id integer, fp bigint);
INSERT INTO numbers SELECT i, random_fp(i)::bigint FROM generate_series(1, 1000) AS i;
CREATE INDEX ON numbers USING simhash ((fp::simhash));
ALTER TABLE numbers ALTER fp TYPE simhash USING fp::simhash;
SELECT * FROM compare_balls('numbers', :radii);
-- an exclusion constraint on equality alone
CREATE TABLE distinct_docs (id integer, fp simhash, EXCLUDE USING simhash (fp WITH =));
INSERT INTO distinct_docs SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
INSERT INTO distinct_docs VALUES (1001, random_fp(7));
INSERT INTO distinct_docs VALUES (1001, NULL), (1002, NULL);
INSERT INTO distinct_docs SELECT i, random_fp(i) FROM generate_series(900, 1100) AS i ON CONFLICT DO NOTHING;
DELETE FROM distinct_docs WHERE id = 7;
INSERT INTO distinct_docs VALUES (7, random_fp(7));
SELECT * FROM compare_balls('distinct_docs', :radii);

--
-- Rebuilt with another number of blocks, in another tablespace, with little memory
--
CREATE TABLE large (id integer, fp simhash, filler text DEFAULT repeat('.', 100));
INSERT INTO large
SELECT i, CASE WHEN i % 100 > 0 THEN fp_of((ARRAY['uniform', 'skewed high', 'uniform', 'skewed low'])[i % 4 + 1], i) END
FROM generate_series(1, 60000) AS i;
INSERT INTO large SELECT i, '0123456789abcdef' FROM generate_series(60001, 63000) AS i;
\set few 'ARRAY[-1, 0, 1, 2, 3, 4, 5, 7, 9]'
SET maintenance_work_mem = '1MB';
CREATE INDEX large_fp ON large USING simhash (fp);
SELECT * FROM compare_balls('large', :few);
SET work_mem = '64kB'; -- lossy bitmaps
SET enable_indexscan = off;
SELECT * FROM differing(
    'SELECT ctid, fp FROM large WHERE fp <@ simhash_ball(random_fp(3), 28)',
    'SELECT ctid, fp FROM large WHERE (fp <~> random_fp(3)) + 0 <= 28');
RESET work_mem;
RESET enable_indexscan;
-- between SET and REINDEX the index keeps its design
ALTER INDEX large_fp SET (blocks = 8);
SELECT * FROM compare_balls('large', :few);
UPDATE large SET fp = flip(fp, 3, id) WHERE id % 50 = 1;
DELETE FROM large WHERE id % 50 = 2;
INSERT INTO large SELECT i, random_fp(i) FROM generate_series(63001, 65000) AS i;
SELECT * FROM compare_balls('large', :few);
VACUUM large;
SELECT * FROM compare_balls('large', :few);
REINDEX INDEX large_fp;
SELECT * FROM compare_balls('large', :few);
ALTER INDEX large_fp RESET (blocks);
DELETE FROM large WHERE id > 30000;
VACUUM large;
INSERT INTO large SELECT i, random_fp(i) FROM generate_series(30001, 36000) AS i;
SELECT * FROM compare_balls('large', :few);
SELECT set_config('maintenance_work_mem', min_val || unit, false) IS NOT NULL AS least
FROM pg_settings WHERE name = 'maintenance_work_mem';
REINDEX INDEX CONCURRENTLY large_fp;
SELECT * FROM compare_balls('large', :few);
CREATE INDEX CONCURRENTLY large_fp_2 ON large USING simhash (fp) WITH (blocks = 13);
DROP INDEX large_fp;
SELECT * FROM compare_balls('large', :few);
DROP INDEX CONCURRENTLY large_fp_2;
RESET maintenance_work_mem;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE regress_simhash LOCATION '';
CREATE INDEX large_fp ON large USING simhash (fp) TABLESPACE regress_simhash WHERE id <= 10000;
DELETE FROM large WHERE id > 10000;
SELECT * FROM differing(
    'SELECT ctid, fp FROM large WHERE id <= 10000 AND fp <@ simhash_ball(random_fp(3), 28)',
    'SELECT ctid, fp FROM large WHERE id + 0 <= 10000 AND (fp <~> random_fp(3)) + 0 <= 28');
ALTER INDEX large_fp SET TABLESPACE pg_default;
INSERT INTO large SELECT i, random_fp(i) FROM generate_series(8001, 12000) AS i;
REINDEX (TABLESPACE regress_simhash) INDEX CONCURRENTLY large_fp;
SELECT * FROM differing(
    'SELECT ctid, fp FROM large WHERE id <= 10000 AND fp <@ simhash_ball(random_fp(3), 28)',
    'SELECT ctid, fp FROM large WHERE id + 0 <= 10000 AND (fp <~> random_fp(3)) + 0 <= 28');
SELECT check_indexes('large');
DROP TABLE large;
DROP TABLESPACE regress_simhash;
-- a build that rolls back has no effect, and the next build succeeds
BEGIN;
CREATE INDEX ON docs USING simhash (fp) WITH (blocks = 7);
ROLLBACK;
SELECT count(*) FROM pg_index WHERE indrelid = 'docs'::regclass;

--
-- Any number of leaves to prefetch
--
CREATE TABLE ahead (id integer, fp simhash);
INSERT INTO ahead
SELECT i, fp_of(CASE WHEN i % 3 = 0 THEN 'clustered' ELSE 'uniform' END, i) FROM generate_series(1, 20000) AS i;
CREATE INDEX ON ahead USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE FUNCTION compare_ahead(
    leaves integer, OUT index bigint, OUT bitmap bigint, OUT rows bigint, OUT nearest boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    query text := format(
        'SELECT array_agg(d) FROM (SELECT fp <~> %1$L AS d FROM ahead ORDER BY %%s LIMIT 3000) AS s', random_fp(1));
    by_index integer[];
    by_eye integer[];
BEGIN
    BEGIN
        PERFORM set_config('effective_io_concurrency', leaves::text, true);
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;                   -- this system supports only one value
    END;
    SELECT c.index, c.bitmap, c.rows INTO index, bitmap, rows
    FROM compare_balls('ahead', ARRAY[0, 3, 7, 10, 14]) AS c;
    EXECUTE format(query, format('fp <~> %L', random_fp(1))) INTO by_index;
    EXECUTE format(query, format('(fp <~> %L) + 0', random_fp(1))) INTO by_eye;
    nearest := by_index = by_eye;
END $$;
SELECT leaves, c.* FROM unnest(ARRAY[0, 1, 2, 63, 64, 65, 1000]) AS leaves, compare_ahead(leaves) AS c;

--
-- Bad input
--
CREATE TABLE bad (id integer, fp simhash, b simhash_ball);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 1);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 17);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = -4);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 4.5);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = four);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 4, blocks = 5);
CREATE INDEX ON bad USING simhash (fp) WITH (block = 4);
CREATE INDEX ON bad USING simhash (fp, fp);
CREATE INDEX ON bad USING simhash (fp) INCLUDE (id);
CREATE UNIQUE INDEX ON bad USING simhash (fp);
-- (19 and later add the position in the command)
CREATE FUNCTION message_of(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN RETURN SQLERRM;
END $$;
SELECT how, message_of(format('CREATE INDEX ON bad USING simhash (fp %s)', how))
FROM unnest('{ASC,DESC,NULLS FIRST}'::text[]) AS how;
-- (17 and later build an index with a restricted search_path)
SET search_path = index_test;
SELECT message_of('CREATE INDEX ON bad USING simhash (fp COLLATE "C")');
CREATE INDEX ON bad USING simhash (fp public.simhash_ops (blocks = 4));
ALTER TABLE bad ADD EXCLUDE USING simhash (fp public.simhash_ops WITH OPERATOR(public.<>));
SET search_path = index_test, public;
CREATE INDEX ON bad USING simhash (id);
CREATE INDEX ON bad USING simhash (id simhash_ops);
ALTER TABLE bad ADD EXCLUDE USING simhash (fp WITH =, id WITH =);
ALTER TABLE bad ADD PRIMARY KEY USING INDEX bad_fp_idx;
CREATE INDEX bad_fp ON bad USING simhash (fp);
ALTER INDEX bad_fp SET (blocks = 17);
ALTER INDEX bad_fp SET (fillfactor = 50);
ALTER TABLE bad REPLICA IDENTITY USING INDEX bad_fp;
CLUSTER bad USING bad_fp;
DROP TABLE bad;
-- amvalidate tells operator classes that cannot work from those that can
SELECT opcname, amvalidate(oid) FROM pg_opclass
WHERE opcname IN ('simhash_ops', 'simhash_ball_ops') AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash')
ORDER BY opcname;
CREATE OPERATOR CLASS wrong_number FOR TYPE simhash USING simhash AS OPERATOR 12 =;
CREATE OPERATOR CLASS wrong_function FOR TYPE simhash USING simhash AS
    OPERATOR 2 =, FUNCTION 1 simhash_cmp(simhash, simhash);
CREATE OPERATOR CLASS wrong_storage FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, STORAGE bigint;
CREATE OPERATOR CLASS right_one FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY integer_ops,
    FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS wrong_order FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY numeric_ops,
    FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS not_ordering FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <>, FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS wrong_operator FOR TYPE simhash USING simhash AS
    OPERATOR 1 <, OPERATOR 2 =, FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS wrong_operators FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =~= (simhash_ball, simhash_ball),
    FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS wrong_type FOR TYPE bigint USING simhash AS
    OPERATOR 1 <, OPERATOR 2 =, FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS other_type FOR TYPE text USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 = (simhash, simhash), FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS no_support FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY integer_ops;
CREATE OPERATOR CLASS other_support FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY integer_ops,
    FUNCTION 1 simhash_ball_opclass(internal);
CREATE OPERATOR CLASS half FOR TYPE simhash USING simhash AS OPERATOR 2 =, FUNCTION 1 simhash_opclass(internal);
CREATE OPERATOR CLASS nothing FOR TYPE simhash USING simhash AS STORAGE simhash, FUNCTION 1 simhash_opclass(internal);
SELECT opcname, amvalidate(oid)
FROM (SELECT *
      FROM pg_opclass WHERE opcnamespace = 'index_test'::regnamespace ORDER BY opcname COLLATE "C" OFFSET 0) AS c;
-- and they do no harm
CREATE TABLE harmed AS SELECT simhash '0123456789abcdef' AS fp;
CREATE INDEX ON harmed USING simhash (fp index_test.no_support);
CREATE INDEX ON harmed USING simhash (fp index_test.wrong_function);
CREATE INDEX ON harmed USING simhash (fp index_test.other_support);
CREATE INDEX ON harmed USING simhash (fp index_test.right_one);
-- a function with other types belongs to another operator class
CREATE OPERATOR CLASS not_its_own FOR TYPE simhash_ball USING simhash AS
    OPERATOR 4 =~=, FUNCTION 1 (simhash, simhash) simhash_ball_opclass(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'not_its_own';

DROP SCHEMA index_test CASCADE;
