--
-- Exact resemblance: the Jaccard distance of arrays of hashes
--
CREATE SCHEMA jaccard_test;
SET search_path = jaccard_test, public;
SET max_parallel_workers_per_gather = 0;

-- the definition, in plain SQL
CREATE FUNCTION defined(a bigint[], b bigint[]) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT RETURN (
    SELECT (count(*) FILTER (WHERE n = 1))::float8 / nullif(count(*), 0)
    FROM (SELECT count(*) AS n FROM (SELECT DISTINCT e, 1 FROM unnest(a) AS e UNION ALL
                                     SELECT DISTINCT e, 2 FROM unnest(b) AS e) AS both_of_them (e, side)
          WHERE e IS NOT NULL GROUP BY e) AS elements);
SELECT a <%> b AS distance, jaccard_distance(b, a) IS NOT DISTINCT FROM defined(a, b) AS defined FROM (VALUES
    ('{1,2,3}'::bigint[], '{1,2,3}'::bigint[]), ('{3,1,2,2}', '{4,3,NULL,3}'), ('{}', '{1}'), ('{NULL}', '{1,2}'),
    ('{{1,2},{3,4}}', '{4,-1}'), ('{}', '{}'), ('{NULL}', '{}'), (NULL, '{1}'), ('{1}', NULL),
    ('{-9223372036854775808,9223372036854775807}', '{9223372036854775807,0,-9223372036854775808}')) AS v (a, b);
-- signatures have the operator, too, and two types of balls have =~=
\set VERBOSITY terse
SELECT '{1}' <%> '{1}';
SELECT '("{1}",0.2)' =~= '("{1}",0.2)';
\set VERBOSITY default
SELECT '{1}' <%> ARRAY[1] AS of_integers, '{1}' <%> '{1}'::bigint[] AS distance;

-- of the hashes of all shingles, it is 1 minus the resemblance of the texts
CREATE FUNCTION words(i bigint, n integer) RETURNS text LANGUAGE sql IMMUTABLE RETURN (
    SELECT string_agg(chr(97 + (hashint8(i / 8 * 100 + j) & 15))
                      || CASE WHEN hashint8(i * 777 + j) & 31 = 0 THEN i::text ELSE '' END, ' ')
    FROM generate_series(1, n) AS j);
SELECT unit, width, count(*), count(*) FILTER (
    WHERE abs((shingle_hashes(a, width, unit) <%> shingle_hashes(b, width, unit))
              - (1 - resemblance(a, b, width, unit))) > 1e-15) AS differing,
    count(*) FILTER (WHERE resemblance(a, b, width, unit) BETWEEN 0.3 AND 0.9) > 50 AS many
FROM (SELECT words(i, 10 + (i % 30)::int) AS a, words(i + 1, 10 + (i % 30)::int) AS b
      FROM generate_series(1, 400) AS i) AS t,
    (VALUES ('word', 3), ('word', 1), ('char', 8)) AS u (unit, width)
GROUP BY unit, width ORDER BY unit, width;
SELECT shingle_hashes('a b c d') = sketch('a b c d', 1, 3) AS three_words,
    shingle_hashes('abcdefgh ijk', unit => 'char') = sketch('abcdefgh ijk', 1, 8, 'char') AS eight_characters,
    shingle_hashes(ARRAY['a', 'b', 'c', 'd']) = shingle_hashes('a b c d') AS tokens,
    shingle_hashes('') = '{}' AS empty, shingle_hashes(NULL::text) IS NULL AS of_null;
SELECT shingle_hashes('a b c', 0);
SELECT shingle_hashes('a b c', 3, 'line');

-- Families of six rows, of twenty elements or fewer.  Some elements occur in hundreds of
-- rows, and some rows have many further elements.
CREATE FUNCTION set_of(i bigint, seed bigint DEFAULT 0) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN CASE i % 40
        WHEN 0 THEN NULL
        WHEN 1 THEN '{}'
        WHEN 2 THEN '{NULL}'
        ELSE ARRAY(SELECT CASE WHEN j % 4 = 0 THEN hashint8(i * j) & 7
                               ELSE hashint8extended(
                                   i / 6 * 100 + j, CASE WHEN hashint8(i * j + 3) & 7 = 0 THEN i ELSE seed END) END
                   FROM generate_series(1, CASE WHEN i % 11 = 0 THEN 40 ELSE 20 - i % 3 END) AS j) END;
CREATE TABLE docs AS SELECT i AS id, set_of(i) AS sk FROM generate_series(1, 1200) AS i;
CREATE INDEX docs_sk ON docs USING simhash (sk);
VACUUM ANALYZE docs;

-- queries: of a family; with other elements; of elements that occur in many rows, some of
-- them in all; of an element that occurs nowhere; long ones
CREATE FUNCTION queries() RETURNS TABLE (what text, q bigint[]) LANGUAGE sql AS $$
    VALUES ('family', set_of(777)), ('near', set_of(777, 1)), ('one', (set_of(781))[1:1]),
        ('common', '{0,1,2}'), ('common and rare', '{5,6,7}' || (set_of(783))[1:5]),
        ('twice', set_of(787) || set_of(787) || NULL), ('nowhere', '{42,43}'), ('with nowhere', '{3,42,43}'),
        ('empty', '{}'), ('NULLs', '{NULL}'), ('NULL', NULL),
        ('long', (SELECT array_agg(e ORDER BY e) FROM generate_series(3, 60) AS i, unnest(set_of(i)) AS e)) $$;
-- a distance within a family, the numbers next to it, and others
CREATE FUNCTION bounds() RETURNS SETOF float8 LANGUAGE sql AS $$
    SELECT min(sk <%> set_of(777)) + step FROM docs, unnest('{0,1e-16,-1e-16}'::float8[]) AS step
    WHERE id IN (775, 776) GROUP BY step
    UNION ALL SELECT unnest('{-1,0,0.5,0.6666666666666666,0.9999999999999999,1,NaN,Infinity,NULL}'::float8[]) $$;
CREATE FUNCTION distances_differing(spellings text[])
    RETURNS TABLE (spelling text, queries bigint, differing numeric, found boolean) LANGUAGE sql AS $$
    SELECT s, u.queries, d.by_index + d.by_bitmap, d.rows > 500
    FROM unnest(spellings) AS s,
        LATERAL (SELECT count(*) AS queries,
                     string_agg(format('SELECT %L AS of, ctid AS at, * FROM docs WHERE ', concat_ws(' ', what, t))
                                || format(s, q, format('%L::float8', t)), ' UNION ALL ') AS query
                 FROM queries(), bounds() AS t) AS u,
        differing_by(u.query) AS d
    ORDER BY s $$;
SELECT * FROM distances_differing(ARRAY[
    'sk <%%> %L <= %s', '%2$s >= jaccard_distance(%1$L, sk)', '%L <%%> sk < %s', 'sk <%%> %L = %s',
    'sk <%%> %L <= %s::real', 'jaccard_within(%L, sk, %s)', 'sk <%%@ sketch_ball(%L, %s)']);
-- beside other conditions, and more keys than work_mem can merge
SET work_mem = '64kB';
SELECT s, count(*), sum(by_index + by_bitmap) AS differing, sum(d.rows) > 0 AS found
FROM unnest(ARRAY['sk <%%> %L <= 0.6 AND sk <%%>> %1$L <= 0.3', 'sk <%%> %L <= 0.8 AND sk && ''{1,7}''',
                  'sk <%%> %L <= 0.5 OR sk <@ %1$L', 'sk <%%> %L <= 1 AND sk IS NOT NULL AND sk @> ''{1}''',
                  'sk <%%> %L BETWEEN 0.2 AND 0.9', 'sk <%%> (%L || array_agg_of(60)) <= 0.97',
                  'sk <%%@ ANY (ARRAY[sketch_ball(%L, 0.4), sketch_ball(set_of(999), 0.3), NULL])']) AS s,
    queries(), format('SELECT ctid AS at, * FROM docs WHERE ' || replace(s, 'array_agg_of(60)', quote_literal(
        (SELECT array_agg(i) FROM generate_series(1, 60) AS i)) || '::bigint[]'), q) AS query,
    differing_by(query) AS d
GROUP BY s ORDER BY s;
RESET work_mem;

SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT condition, plan('SELECT FROM docs WHERE ' || condition) FROM unnest(ARRAY[
    'sk <%> ''{1,2}'' <= 0.5', '0.5 > jaccard_distance(''{1,2}'', sk)', 'sk <%> ''{1,2}'' = 0',
    'sk <%> ''{1,2}'' = 0.5']) WITH ORDINALITY AS c (condition, n) ORDER BY n;
-- a radius of i/n finds a subset of n - i of n elements: 1 - i/n in floating point is not
-- always (n - i)/n
CREATE TABLE subsets AS SELECT n, array_agg(i) AS sk
FROM generate_series(1, 40) AS n, generate_series(bigint '1', n) AS i GROUP BY n;
CREATE INDEX subsets_sk ON subsets USING simhash (sk);
SELECT plan('SELECT FROM subsets q, subsets s WHERE s.sk <%> q.sk <= (q.n - s.n) / q.n::float8', 'Index') AS not_served;
CREATE VIEW fractions AS SELECT q.sk, (i / q.n::float8) AS radius FROM subsets q, generate_series(0, q.n - 1) AS i;
SELECT ltrim(line, ' ->') AS line
FROM plan('SELECT FROM fractions f, subsets s WHERE s.sk <%> f.sk <= f.radius', 'Index') AS line;
SELECT count(*),
    count(*) = (SELECT count(*) FROM fractions f, subsets s WHERE (s.sk <%> f.sk) + 0 <= f.radius) AS all_of_them
FROM fractions f, subsets s WHERE s.sk <%> f.sk <= f.radius;
-- no index serves these
SELECT condition, plan('SELECT FROM docs WHERE ' || condition) FROM unnest(ARRAY[
    'sk <%> ''{1,2}'' > 0.5', 'sk <%> ''{1,2}'' <= random()', 'sk <%> sk <= 0.5'])
    WITH ORDINALITY AS c (condition, n) ORDER BY n;
SELECT plan('SELECT FROM docs AS a JOIN docs AS b ON a.sk <%> b.sk <= 0.2 WHERE b.id < 5', 'Index');
-- a parameter, as a driver binds it
PREPARE search (bigint[], float8) AS SELECT count(*) FROM docs WHERE sk <%> $1 <= 1 - $2;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE search (''{1,2}'', 0.5)', 'Index');
EXECUTE search ('{5,3,7}', 0.1);
RESET plan_cache_mode;
-- The nearest first, by the index if the executor keeps the ctid of rows that it reorders.  A GiST
-- index of polygons, whose distances are lower bounds too, tells.
SET enable_sort = off;
CREATE TABLE polygons AS
SELECT i, polygon(4, circle(point(i * 37 % 101, i * 59 % 103), 1 + i % 5)) AS p FROM generate_series(1, 500) AS i;
CREATE INDEX ON polygons USING gist (p);
SELECT whole_plan($$SELECT FROM docs ORDER BY sk <%> '{1,2}'$$) ~ 'Index Scan using docs_sk on docs\n *Order By: \(sk'
       AS by_index \gset
SELECT :'by_index' = (count(t.i) = count(*) AND current_setting('server_version_num') <> '190000') AS as_the_executor
FROM (SELECT i, ctid AS at FROM polygons ORDER BY p <-> point(-9, -9) LIMIT 200) AS s
    LEFT JOIN polygons AS t ON t.i = s.i AND t.ctid = s.at;
SELECT pg_index_column_has_property('docs_sk', 1, 'distance_orderable');
CREATE FUNCTION differing_order(q bigint[], condition text, limited integer, by_index boolean) RETURNS text LANGUAGE sql
    RETURN order_differs('docs', condition, format('sk <%%> %L', q), limited, by_index AND q IS NOT NULL);
CREATE FUNCTION all_differing(by_index boolean, which text DEFAULT '')
    RETURNS TABLE (
        what text, everything text, few text, sharing text, containing text, contained text, near text, nearer text,
        nearly text, within text, other text, not_null text) LANGUAGE sql AS $$
    SELECT what, differing_order(q, 'true', NULL, by_index), differing_order(q, 'true', 25, by_index),
        differing_order(q, format('sk && %L', q), NULL, by_index),
        differing_order(q, format('sk @> %L', q), NULL, by_index),
        differing_order(q, format('sk <@ %L', q), NULL, by_index),
        differing_order(q, format('sk <%%> %L <= 0.6', q), NULL, by_index),
        differing_order(q, format('sk <%%> %L <= 0.9', q), 10, by_index),
        differing_order(q, format('1 > sk <%%> %L', q), 40, by_index),
        differing_order(q, format('sk <%%>> %L <= 0.5', q), NULL, by_index),
        differing_order(q, 'sk && ''{1,7}'' AND id % 2 = 0 AND sk <%> ''{0,1,2,3,4,5,6,7}'' <= 0.9', NULL, by_index),
        differing_order(q, 'sk IS NOT NULL', 500, by_index)
    FROM queries() WHERE what ~ which $$;
SELECT * FROM all_differing(:'by_index');
SET work_mem = '64kB';
SELECT * FROM all_differing(:'by_index', 'near|common|long');
RESET work_mem;
SELECT order_differs('docs', 'true', distances, limited, false)
FROM unnest(ARRAY['sk <%> ''{1,2}'', sk <%> ''{3,4,5}''', 'sk <%>> ''{1,2}'', sk <%> ''{1,2}''']) AS distances,
    unnest('{NULL,5}'::integer[]) AS limited;
-- each row's nearest, with empty and NULL rows; ties by id; partitions; a prepared statement
SELECT count(*), count(d), count(*) FILTER (WHERE d IS DISTINCT FROM e) AS differing
FROM docs AS a,
    LATERAL (SELECT array_agg(sk <%> a.sk) AS d
             FROM (SELECT sk FROM docs WHERE a.id % 5 < 2 ORDER BY sk <%> a.sk LIMIT 9) AS s) AS b,
    LATERAL (SELECT array_agg(d) AS e
             FROM (SELECT (sk <%> a.sk) + 0 AS d FROM docs WHERE a.id % 5 < 2 ORDER BY 1 LIMIT 9) AS s) AS c
WHERE a.id BETWEEN 700 AND 800;
SELECT what FROM queries()
WHERE ARRAY(SELECT id FROM docs ORDER BY sk <%> q, id LIMIT 30)
      IS DISTINCT FROM ARRAY(SELECT id FROM docs ORDER BY (sk <%> q) + 0, id LIMIT 30);
CREATE TABLE parts (LIKE docs) PARTITION BY HASH (id);
CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT * FROM docs;
CREATE INDEX ON parts USING simhash (sk);
SET plan_cache_mode = force_generic_plan;
PREPARE nearest (bigint[], integer) AS SELECT sk <%> $1 FROM parts ORDER BY sk <%> $1 LIMIT $2;
SELECT :'by_index' = (whole_plan('EXECUTE nearest (NULL, 1)') ~ 'Merge Append.*Order By.*Order By') AS merged;
CREATE FUNCTION nearest(q bigint[]) RETURNS SETOF float8 LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('EXECUTE nearest (%L, 100)', q);
END $$;
SELECT what FROM queries()
WHERE ARRAY(SELECT nearest(q)) IS DISTINCT FROM ARRAY(SELECT (sk <%> q) + 0 AS d FROM docs ORDER BY d LIMIT 100);
RESET plan_cache_mode;
-- a bound ends the scan
SELECT pages_read($$SELECT id FROM docs WHERE sk <%> set_of(777) <= 0.4 ORDER BY sk <%> set_of(777)$$) < 150 AS few;
RESET enable_sort;
-- the index orders by containment while it searches by resemblance
SELECT what, order_differs('docs', format('sk <%%> %L <= 0.7', q), format('sk <%%>> %L', q), NULL, true) AS differs
FROM queries() WHERE what IN ('family', 'near', 'common and rare');
-- a scan reads the keys of the query, not the whole index
SELECT pages_read($$SELECT id FROM docs WHERE sk <%> set_of(777) <= 0.2$$) < 100 AS few;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- estimates: no rows, all rows, as many as the elements tell
SELECT explained('SELECT FROM docs WHERE sk <%> ''{1,2}'' < 0', 'Plan Rows') <= 1 AS none,
    explained('SELECT FROM docs WHERE sk <%> ''{1,2}'' <= 1', 'Plan Rows') BETWEEN 1080 AND 1200 AS all_of_them,
    explained('SELECT FROM docs WHERE sk <%> ''{1,2}'' <= 0.4', 'Plan Rows') =
        explained('SELECT FROM docs WHERE ''{1,2}'' <%> sk <= 0.4', 'Plan Rows') AS symmetric;

--
-- After insertions, updates and deletions
--
INSERT INTO docs SELECT i, set_of(i) FROM generate_series(2001, 2100) AS i;
UPDATE docs SET sk = set_of(id + 1, 3) WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 7 = 0;
SELECT * FROM distances_differing('{sk <%%> %L <= %s}');
VACUUM docs;
INSERT INTO docs SELECT i, set_of(i) FROM generate_series(2101, 2200) AS i;
SELECT * FROM distances_differing('{sk <%%> %L <= %s}');
SELECT check_indexes('docs');
TRUNCATE docs;
SELECT * FROM distances_differing('{sk <%%> %L <= %s}');

-- as many missing elements as the radius allows, where radius * n is less in floating point: 0.29 * 100
CREATE TABLE hundred AS SELECT n, ARRAY(SELECT j FROM generate_series(n, bigint '100') AS j) AS sk
    FROM generate_series(bigint '1', 31) AS n;
CREATE INDEX ON hundred USING simhash (sk);
SET enable_seqscan = off;
SELECT max(n) AS resembles FROM hundred WHERE sk <%> (SELECT sk FROM hundred WHERE n = 1) <= 0.29;
SELECT max(n) AS contains FROM hundred WHERE sk <%>> (SELECT sk FROM hundred WHERE n = 1) <= 0.29;

-- rows that change below a cursor, and after the vacuum of deleted ones
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
TRUNCATE docs;
INSERT INTO docs SELECT i, set_of(i) FROM generate_series(1, 1200) AS i;
BEGIN;
DECLARE c CURSOR FOR SELECT sk <%> set_of(777) AS d FROM docs ORDER BY sk <%> set_of(777) FOR UPDATE;
FETCH FROM c;
UPDATE docs SET sk = set_of(777) WHERE id BETWEEN 100 AND 200;
DELETE FROM docs WHERE CURRENT OF c;
DELETE FROM docs WHERE id % 7 = 3;
MOVE ALL IN c;
SELECT * FROM all_differing(:'by_index', 'family|empty|with');
COMMIT;
VACUUM docs;
INSERT INTO docs SELECT i, set_of(i, i % 3) FROM generate_series(1201, 1400) AS i;
SELECT * FROM all_differing(:'by_index', 'family|empty|with');
SELECT check_indexes('docs');

DROP SCHEMA jaccard_test CASCADE;
