--
-- connected_component: each row of the window is an edge
--
CREATE TEMP TABLE edges (graph integer, n serial, a bigint, b bigint);

-- a chain out of order, an edge twice, in both directions; an isolated vertex; edges
-- with a NULL end are in no component
SELECT a, b, connected_component(a, b) OVER ()
FROM (VALUES (3, 2), (9, 8), (2, 1), (1, 2), (2, 1), (7, 7), (8, 10), (4, NULL), (NULL, 1), (NULL, NULL),
             (10, 4)) AS v (a, b);
-- an edge with a NULL end has no component, even if its other end has one
SELECT a, b, connected_component(a, b) OVER () FROM (VALUES (NULL::bigint, 1), (2, NULL), (3, 1), (2, 2)) AS v (a, b);
SELECT connected_component(NULL, NULL) OVER (), connected_component(5, NULL) OVER (), connected_component(5, 5) OVER ();
-- no rows
SELECT connected_component(a, b) OVER () FROM edges;
-- the extreme bigints, and values between them
SELECT a, b, connected_component(a, b) OVER ()
FROM (VALUES (9223372036854775807, 0), (-9223372036854775808, -9223372036854775808), (0, -1),
             (9223372036854775806, 9223372036854775807),
             (4294967296, 4294967297), (4294967297, 8589934592)) AS v (a, b);
SELECT DISTINCT connected_component(a, b) OVER () FROM (VALUES (9223372036854775807, -9223372036854775808)) AS v (a, b);
-- integers and smallints become bigints; columns have other types, too
SELECT connected_component(a, b) OVER () AS c, pg_typeof(connected_component(a, b) OVER ())
FROM (VALUES (2::smallint, 1::integer)) AS v (a, b);
-- any frame means the whole partition, in any order, with any number of windows
SELECT p, a, b, connected_component(a, b) OVER w AS c,
       connected_component(b, a) OVER w = connected_component(a, b) OVER (PARTITION BY p ORDER BY b DESC) AS same,
       connected_component(a, b) OVER (w ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING EXCLUDE TIES) AS framed,
       connected_component(a, b) OVER () AS whole
FROM (VALUES (1, 1, 2), (1, 3, 4), (2, 2, 3), (2, 4, 5), (2, 5, 2), (NULL, 9, 9), (NULL, 4, 9)) AS v (p, a, b)
WINDOW w AS (PARTITION BY p ORDER BY a);

-- Random graphs of all densities, in one table: for each row the smallest reachable
-- vertex.
INSERT INTO edges (graph, a, b)
    SELECT g, hashint8extended(i, g) % span - span / 3,
           CASE WHEN hashint8extended(i, g + 2000) % 20 = 0 THEN NULL
               ELSE hashint8extended(i, g + 1000) % span - span / 3 END
    FROM generate_series(1, 300) AS g, LATERAL (SELECT 1 + (hashint8(g) & 63)) AS s (span),
         generate_series(1, g % 50) AS i;
CREATE FUNCTION pg_temp.expected() RETURNS TABLE (graph integer, n integer, component bigint) LANGUAGE sql AS $$
    WITH RECURSIVE edge AS (SELECT * FROM edges WHERE a IS NOT NULL AND b IS NOT NULL),
        step (graph, x, y) AS (
            SELECT graph, a, b FROM edge UNION SELECT graph, b, a FROM edge UNION SELECT graph, a, a FROM edge),
        reached (graph, x, y) AS (
            SELECT * FROM step
            UNION SELECT graph, r.x, s.y FROM reached AS r JOIN step AS s USING (graph) WHERE r.y = s.x),
        smallest AS (SELECT graph, x, min(y) AS component FROM reached GROUP BY graph, x)
    SELECT e.graph, e.n, component
    FROM edges AS e LEFT JOIN smallest AS s ON s.graph = e.graph AND s.x = e.a AND e.b IS NOT NULL $$;
CREATE TEMP TABLE expected AS SELECT * FROM pg_temp.expected();
ANALYZE edges;
SELECT count(DISTINCT graph) AS graphs, count(*) AS edges, count(component) AS joined,
       count(DISTINCT (graph, component)) AS components FROM expected;
SELECT how, d.*
FROM (VALUES ('partitions', 'connected_component(a, b) OVER (PARTITION BY graph)'),
             ('shuffled', 'connected_component(b, a) OVER (PARTITION BY graph ORDER BY hashint4(n))'),
             ('together', 'connected_component(graph * 1000::bigint + a, graph * 1000 + b) OVER () - graph * 1000'))
         AS v (how, component),
     differing('SELECT graph, n, ' || component || ' FROM edges', 'TABLE expected') AS d
ORDER BY how;
-- the same if rows do not fit into memory, and if a subquery is executed repeatedly
SET work_mem = '64kB';
SELECT * FROM differing(
    'SELECT graph, n, connected_component(graph * 1000::bigint + a, graph * 1000 + b) OVER () - graph * 1000
     FROM edges', 'TABLE expected');
RESET work_mem;
SELECT * FROM differing(
    'SELECT g, c.* FROM generate_series(1, 300) AS g,
         LATERAL (SELECT n, connected_component(a, b) OVER (ORDER BY n) FROM edges WHERE graph = g OFFSET 0) AS c',
    'TABLE expected');

-- Long paths, from one end, from the other and by halves; a star; a cycle.
SELECT shape, count(*) AS edges, min(c) AS smallest, max(c) AS largest
FROM (SELECT shape, connected_component(a, b) OVER (PARTITION BY shape) AS c
      FROM generate_series(0, 29999) AS i,
           LATERAL (VALUES ('path', i, i + 1), ('path back', -i, -i - 1), ('path by halves', i, i / 2), ('star', 7, i),
                           ('cycle', i, (i + 1) % 30000), ('two', i, (i + 2) % 30000),
                           ('each alone', i, i)) AS v (shape, a, b)) AS s
GROUP BY shape ORDER BY shape;

-- Memory: at most 48 bytes for each distinct id, whatever the number of edges.
CREATE FUNCTION pg_temp.memory(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    before bigint;
    after bigint;
BEGIN
    before := (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
    OPEN c FOR EXECUTE query;
    MOVE c;
    after := (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
    CLOSE c;
    RETURN after - before;
END $$;
SET work_mem = '64kB';
SELECT ids, once - nothing <= 48 * ids AS within, once - nothing >= 20 * ids AS measured,
       often - nothing <= 48 * ids AS often_within
FROM (SELECT ids, pg_temp.memory('SELECT connected_component(1, 1) OVER ()') AS nothing,
             pg_temp.memory(
                 format('SELECT connected_component(i, i + 1) OVER () FROM generate_series(2, %s) AS i', ids)) AS once,
             pg_temp.memory(
                 format('SELECT connected_component(numeric_inc(i %% (%s - 1))::bigint, i %% (%s - 1)) OVER ()
                        FROM generate_series(1, 400000) AS i', ids, ids)) AS often
      FROM (VALUES (33000), (50000), (66000)) AS v (ids)) AS m;
RESET work_mem;

-- Clusters of verified pairs, by uuid: a numbering maps them to bigints.  A row without
-- a partner is an edge with itself.
CREATE TEMP TABLE items (id uuid, body text);
INSERT INTO items SELECT md5(i::text)::uuid, 'the body number ' || i / 3 || ' of them' FROM generate_series(0, 8) AS i;
INSERT INTO items VALUES (md5('alone')::uuid, 'something else');
WITH numbered AS MATERIALIZED (SELECT row_number() OVER (ORDER BY id) AS n, * FROM items),
     edge AS (SELECT x.n AS a, coalesce(y.n, x.n) AS b
              FROM numbered AS x LEFT JOIN numbered AS y ON x.n < y.n AND resemblance(x.body, y.body) >= 0.8),
     labelled AS (SELECT a, connected_component(a, b) OVER () AS component FROM edge)
SELECT count(DISTINCT n.id) AS members, min(n.body) AS body, bool_and(m.id = first.id) AS labelled_by_smallest
FROM labelled JOIN numbered AS n ON n.n = a JOIN numbered AS m ON m.n = component,
     LATERAL (SELECT id FROM items WHERE items.body = n.body ORDER BY id LIMIT 1) AS first
GROUP BY component ORDER BY 1, 2;

-- No window function takes IGNORE NULLS.  Before 19, the clause is a syntax error.
DO $$
DECLARE
    call text;
BEGIN
    FOREACH call IN ARRAY ARRAY['connected_component(1, 2)', 'simhash_cluster(1::bigint::simhash, 3)'] LOOP
        BEGIN
            EXECUTE format('SELECT %s IGNORE NULLS OVER ()', call);
            RAISE NOTICE '% takes IGNORE NULLS', call;
        EXCEPTION WHEN syntax_error OR feature_not_supported THEN
        END;
    END LOOP;
END $$;
