--
-- Arrays of hashes: the rows with the most elements of a passage first
--
CREATE SCHEMA containment_test;
SET search_path = containment_test, public;
SET max_parallel_workers_per_gather = 0;

SELECT a <%>> b AS missing, containment_distance(a, b) = a <%>> b AS spelled FROM (VALUES
    ('{1,2,3}'::bigint[], '{1,2,3}'::bigint[]), ('{1,2,3}', '{3,4,5,6,NULL,3}'), ('{}', '{1}'), ('{NULL}', '{1,2}'),
    ('{{1,2},{3,4}}', '{4,-1}'),
    ('{1}', '{}'), ('{1}', '{NULL}'), (NULL, '{1}'), ('{1}', NULL),
    ('{-9223372036854775808,9223372036854775807}', '{9223372036854775807,0,-9223372036854775808}')) AS v (a, b);

-- Families of six rows, of twenty elements each.  Some elements occur in thousands of
-- rows.
CREATE FUNCTION sketch_of(i bigint, seed bigint DEFAULT 0) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN CASE i % 40
        WHEN 0 THEN NULL
        WHEN 1 THEN '{}'
        WHEN 2 THEN '{NULL}'
        ELSE ARRAY(SELECT CASE WHEN j % 4 = 0 THEN hashint8(i * j) & 7
                               ELSE hashint8extended(
                                   i / 6 * 100 + j, CASE WHEN hashint8(i * j + 3) & 3 = 0 THEN i ELSE seed END) END
                   FROM generate_series(1, 20) AS j) END;
CREATE TABLE docs AS SELECT i AS id, sketch_of(i) AS sk FROM generate_series(1, 6000) AS i;
CREATE INDEX docs_sk ON docs USING simhash (sk);
VACUUM ANALYZE docs;
SELECT pg_index_column_has_property('docs_sk', 1, 'distance_orderable');

-- Return the differences from a sort by the distance to a passage.  Without a passage
-- there is no order.
CREATE FUNCTION differing_order(passage bigint[], condition text, limited integer DEFAULT NULL)
    RETURNS text LANGUAGE sql
    RETURN order_differs('docs', condition, format('sk <%%>> %L', passage), limited, passage IS NOT NULL);
-- passages: of a family; of elements that occur in many rows, some of them in all; of
-- an element that occurs nowhere; long ones
CREATE FUNCTION passages() RETURNS TABLE (what text, passage bigint[]) LANGUAGE sql AS $$
    VALUES ('family', sketch_of(777)), ('near', sketch_of(777, 1)), ('one', (sketch_of(781))[1:1]),
        ('common', '{0,1,2}'), ('common and rare', '{5,6,7}' || (sketch_of(783))[1:5]),
        ('twice', sketch_of(787) || sketch_of(787) || NULL), ('nowhere', '{42,43}'), ('with nowhere', '{3,42,43}'),
        ('empty', '{}'), ('NULLs', '{NULL}'), ('NULL', NULL),
        ('long', (SELECT array_agg(e ORDER BY e) FROM generate_series(3, 60) AS i, unnest(sketch_of(i)) AS e)) $$;
CREATE FUNCTION all_differing(which text DEFAULT '')
    RETURNS TABLE (
        what text, everything text, few text, sharing text, containing text, contained text, part text, within text,
        nearly text, other text, not_null text) LANGUAGE sql AS $$
    SELECT what, differing_order(passage, 'true'), differing_order(passage, 'true', 25),
        differing_order(passage, format('sk && %L', passage)),
        differing_order(passage, format('sk @> %L', passage)),
        differing_order(passage, format('sk <@ %L', passage)),
        differing_order(passage, format('sk <@ (%L::bigint[] || sketch_of(778)) AND sk && ''{1,2}''', passage)),
        differing_order(passage, format('sk <%%>> %L <= 0.5', passage)),
        differing_order(passage, format('1 > sk <%%>> %L', passage), 40),
        differing_order(passage, 'sk && ''{1,7}'' AND id % 2 = 0 AND sk <%>> ''{0,1,2,3,4,5,6,7}'' <= 0.9'),
        differing_order(passage, 'sk IS NOT NULL', 5000)
    FROM passages() WHERE what ~ which $$;
SELECT * FROM all_differing();
-- more rows than memory; some of the passages suffice from here on
SET work_mem = '64kB';
SELECT * FROM all_differing('family|common and|nowhere|long');
RESET work_mem;

-- Rows within a distance: every possible distance, and values between them, in each
-- form; and rows that contain the passage.  The planner makes the same of most forms, so
-- these have one passage.
CREATE FUNCTION bounds() RETURNS SETOF float8 LANGUAGE sql AS $$
    SELECT i / 5.0::float8 FROM generate_series(-1, 6) AS i
    UNION ALL SELECT i / 20.0::float8 + 1e-9 FROM generate_series(0, 20, 8) AS i
    UNION ALL SELECT unnest('{NaN,Infinity,-Infinity,-0}'::float8[]) $$;
CREATE FUNCTION distances_differing()
    RETURNS TABLE (spelling text, queries bigint, differing numeric, rows numeric) LANGUAGE sql AS $$
    SELECT s, u.queries, d.by_index + d.by_bitmap, d.rows
    FROM unnest(ARRAY['sk <%%>> %L <= %s', '%2$s >= containment_distance(sk, %1$L)',
                      'containment_distance(sk, %L) < %s', 'sk <%%>> %L = %s',
                      'sk <%%>> %L <= %s::real', 'containment_within(sk, %L, %s)', 'sk <%%>@ sketch_ball(%L, %s)',
                      'sk @> %L AND %s IS NOT NULL']) AS s,
        LATERAL (SELECT count(*) AS queries,
                     string_agg(format('SELECT %L AS of, ctid AS at, * FROM docs WHERE ', what || ' ' || t)
                                || format(s, passage, format('float8 %L', t)), ' UNION ALL ') AS query
                 FROM passages(), bounds() AS t
                 WHERE what = 'family' OR what IN ('common and rare', 'with nowhere')
                     AND s IN ('sk <%%>> %L <= %s', 'sk <%%>> %L = %s', 'sk @> %L AND %s IS NOT NULL')) AS u,
        differing_by(u.query) AS d
    ORDER BY s $$;
SELECT * FROM distances_differing();
-- passages that are too long for a merge within work_mem, and one that is not
SET work_mem = '64kB';
SELECT what, fraction, d.* FROM passages(), unnest('{0,0.3,0.9,0.97}'::float8[]) AS fraction,
    format('SELECT ctid AS at, * FROM docs WHERE sk <%%>> %L <= %s',
           CASE what WHEN 'long' THEN passage
               ELSE (SELECT passage || array_agg(i) FROM generate_series(1, 30) AS i) END, fraction) AS q,
                   differing_by(q) AS d
    WHERE what IN ('family', 'long');
RESET work_mem;
-- rows have two hits when the third element fills work_mem
CREATE TABLE hits AS
SELECT CASE WHEN i <= 300 THEN '{3}' ELSE '{1,2}' END::bigint[] AS sk FROM generate_series(1, 1300) AS i;
CREATE INDEX ON hits USING simhash (sk);
SET work_mem = '64kB';
SELECT order_differs('hits', 'true', $$sk <%>> '{1,2,3}'$$);
RESET work_mem;
DROP TABLE hits;

SET enable_seqscan = off;
SET enable_sort = off;
SELECT plan($$SELECT id FROM docs ORDER BY sk <%>> '{1,2}' LIMIT 10$$);
SELECT plan($$SELECT id FROM docs WHERE sk && '{1,2}' ORDER BY sk <%>> '{1,2}' LIMIT 10$$);
SELECT plan($$SELECT id FROM docs WHERE sk <%>> '{1,2}' < 0.6 ORDER BY sk <%>> '{1,2}' LIMIT 10$$);
SET enable_bitmapscan = off;
SELECT condition, plan('SELECT FROM docs WHERE ' || condition) FROM unnest(ARRAY[
    'sk @> ''{1,2}''', '''{1,2}'' @> sk', 'sk <%>> ''{1,2}'' <= 0.5', '0.5 > containment_distance(sk, ''{1,2}'')',
    'sk <%>> ''{1,2}'' = 0', 'sk <%>> ''{1,2}'' = 0.5',
    'sk <%>> ''{1,2}'' BETWEEN 0.1 AND 0.5']) WITH ORDINALITY AS c (condition, n) ORDER BY n;
-- the reverse containment (elements that the passage lacks) uses no index
SELECT condition, plan('SELECT FROM docs WHERE ' || condition) FROM unnest(ARRAY[
    '''{1,2}'' <%>> sk <= 0.5', 'sk <%>> ''{1,2}'' > 0.5', 'sk <%>> ''{1,2}'' <= random()',
    'sk <%>> sk <= 0.5']) WITH ORDINALITY AS c (condition, n) ORDER BY n;
SELECT plan('SELECT FROM docs AS a JOIN docs AS b ON a.sk <%>> b.sk <= 0.2', 'Index');
SELECT plan('SELECT FROM docs AS a JOIN docs AS b ON b.sk <%>> a.sk <= 0.2', 'Index');
RESET enable_bitmapscan;
-- the estimate lies between that of @> and that of &&
SELECT explained('SELECT FROM docs WHERE sk <%>> ''{1,2}'' <= 0', 'Plan Rows')
           BETWEEN explained('SELECT FROM docs WHERE sk @> ''{1,2}''', 'Plan Rows')
           AND explained('SELECT FROM docs WHERE sk <%>> ''{1,2}'' <= 0.5', 'Plan Rows') AS contain,
       explained('SELECT FROM docs WHERE sk <%>> ''{1,2}'' <= 0.5', 'Plan Rows')
           BETWEEN explained('SELECT FROM docs WHERE sk @> ''{1,2}''', 'Plan Rows')
           AND explained('SELECT FROM docs WHERE sk && ''{1,2}''', 'Plan Rows') AS between_them,
       explained('SELECT FROM docs WHERE sk <%>> ''{1,2}'' < 0', 'Plan Rows') <= 1 AS none,
       explained('SELECT FROM docs WHERE sk <%>> ''{1,2}'' <= ''NaN''', 'Plan Rows')
           BETWEEN 5000 AND 6000 AS all_of_them;
-- a scan for <@ fetches the rows that share an element, and its cost is that of fetching
-- them
SET enable_indexscan = off;
SELECT explained('SELECT FROM docs WHERE sk <@ ''{1,2}''', 'Plan Rows', 'Bitmap Index Scan') / count(*)
           BETWEEN 0.4 AND 1.2 AS overlapping,
       explained('SELECT FROM docs WHERE sk <@ ''{1,2}''', 'Plan Rows') < count(*) / 2 AS contained
FROM docs WHERE sk && '{1,2}';
RESET enable_indexscan;
-- work_mem shrinks between the start of the scan and its first fetch: an array of its
-- size must not overflow
SELECT string_to_array(string_agg(i::text, ','), ',')::bigint[] AS many FROM generate_series(1, 2000) AS i \gset
SET enable_material = off;
SET enable_bitmapscan = off;
SELECT count(x) > 0 AS found FROM (
    SELECT CASE WHEN one = 1 THEN set_config('work_mem', CASE g WHEN 1 THEN '4MB' ELSE '64kB' END, false) END AS x
    FROM generate_series(1, 2) AS g
        LEFT JOIN (SELECT 1 AS one FROM docs WHERE sk @> '{1,2}'
                   UNION ALL SELECT 2 FROM docs WHERE sk <%>> :'many'::bigint[] <= 0.9995) AS u ON true) AS s;
RESET enable_material;
RESET enable_bitmapscan;
RESET work_mem;
-- a ball from a function, from a NULL array, and of an altered type
CREATE FUNCTION ball_of(a integer, radius float8)
    RETURNS sketch_ball STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN sketch_ball(ARRAY[a], radius); END $$;
SELECT plan('SELECT FROM docs AS a JOIN docs AS b ON a.sk <%>@ ball_of(1, b.id)', 'Index');
SELECT count(*) FROM docs WHERE sk <%>@ ball_of(1, 0.5);
SELECT count(*)
FROM docs WHERE sk <%>@ ROW('{1}', NULL)::sketch_ball OR sk <%>@ ROW(NULL, 0.5)::sketch_ball OR sk <%>@ NULL;
BEGIN;
ALTER TYPE sketch_ball ADD ATTRIBUTE x text;
SELECT sketch_ball('{1,2}', 0.5);
SELECT count(*) FROM docs WHERE sk <%>> '{1}' <= 0.5;
ALTER TYPE sketch_ball DROP ATTRIBUTE x;
SELECT count(*) FROM docs WHERE sk <%>> '{1}' <= 0.5;
ALTER TYPE sketch_ball DROP ATTRIBUTE radius;
SELECT sketch_ball('{1,2}', 0.5);
ROLLBACK;
SELECT plan($$SELECT id FROM docs WHERE sk IS NULL ORDER BY sk <%>> '{1,2}' LIMIT 10$$);
SELECT count(*) FROM (SELECT FROM docs WHERE sk IS NULL ORDER BY sk <%>> '{1,2}') AS s;
-- a passage with more elements than the index has: the total cost is at least the
-- startup cost
CREATE FUNCTION costs_ascend(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    node json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO node;
    RETURN (node->0->'Plan'->>'Total Cost')::float8 >= (node->0->'Plan'->>'Startup Cost')::float8;
END $$;
SELECT costs_ascend(format('SELECT id FROM docs ORDER BY sk <%%>> %L', array_agg(i)))
FROM generate_series(bigint '1', 10000) AS i;
-- the scan returns rows without common elements before it has read all others; it reads
-- frequent elements only near rows with other elements
SET enable_bitmapscan = off;
SELECT pg_relation_size('docs_sk') / current_setting('block_size')::bigint > 150 AS large,
       pages_read($$SELECT id FROM docs ORDER BY sk <%>> '{42}' LIMIT 30$$) < 60 AS no_overlap,
       pages_read($$SELECT id FROM docs WHERE sk @> ((sketch_of(777))[1:3] || '{0,1,2}')$$) < 60 AS contained,
       pages_read($$SELECT id FROM docs WHERE sk <%>> (sketch_of(777) || '{0,1,2,3,4}') <= 0.3$$) < 120 AS within;
RESET enable_bitmapscan;
-- a cursor, and the nearest rows of each row
BEGIN;
DECLARE c CURSOR FOR SELECT id, sk <%>> sketch_of(777) AS missing FROM docs ORDER BY sk <%>> sketch_of(777);
FETCH 3 FROM c;
MOVE 3000 IN c;
FETCH 1 FROM c;
COMMIT;
SELECT q, array_agg(d.id ORDER BY d.missing, d.id) AS family FROM generate_series(777, 800, 5) AS q,
    LATERAL (SELECT id, sk <%>> sketch_of(q) AS missing FROM docs ORDER BY sk <%>> sketch_of(q) LIMIT 3) AS d
    GROUP BY q ORDER BY q;
-- a sort orders by several distances, one of them constant; conditions still use the
-- index
SELECT string_agg(id || ' ' || a || ' ' || b, ', ')
FROM (SELECT id, round((sk <%>> '{1,2}')::numeric, 2) AS a, round((sk <%>> '{3,4,5}')::numeric, 2) AS b
    FROM docs WHERE id < 60 ORDER BY sk <%>> '{1,2}', sk <%>> '{3,4,5}', id LIMIT 9) AS s;
SELECT distances, order_differs('docs', 'true', distances, NULL, false) AS everything,
    order_differs('docs', 'true', distances, 5, false) AS few,
    order_differs('docs', 'sk && ''{1,3}''', distances, 25, false) AS sharing
FROM unnest(ARRAY['sk <%>> ''{1,2}'', sk <%>> ''{3,4,5}''', 'sk <%>> ''{1,2}'', sk <%>> ''{}'', sk <%>> ''{3,4,5}''',
                  'sk <%>> ''{}'', sk <%>> ''{1,2}''']) AS distances;
RESET enable_seqscan;
RESET enable_sort;
SELECT plan($$SELECT id FROM docs ORDER BY sk <%>> '{1,2}', sk <%>> '{3,4,5}' LIMIT 5$$);
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM docs WHERE sk && '{1,2}' ORDER BY sk <%>> '{1,2}', sk <%>> '{3,4,5}' LIMIT 5$$);
RESET enable_bitmapscan;
RESET enable_seqscan;

--
-- After insertions, updates and deletions
--
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(6001, 6300) AS i;
UPDATE docs SET sk = sketch_of(id + 1, 3) WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 7 = 0;
SELECT * FROM all_differing('near|common and|NULLs');
VACUUM docs;
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(6301, 6600) AS i;
SELECT * FROM all_differing('near|common and|NULLs');
SELECT check_indexes('docs');
TRUNCATE docs;
SELECT DISTINCT everything, few, sharing, other, not_null FROM all_differing();

DROP SCHEMA containment_test CASCADE;
