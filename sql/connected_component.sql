--
-- connected_component, keeper: each row of the window is an edge
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
       often - nothing <= 48 * ids AS often_within, keepers - nothing <= 48 * ids AS keepers_within
FROM (SELECT ids, pg_temp.memory('SELECT connected_component(1, 1) OVER ()') AS nothing,
             pg_temp.memory(
                 format('SELECT connected_component(i, i + 1) OVER () FROM generate_series(2, %s) AS i', ids)) AS once,
             pg_temp.memory(
                 format('SELECT connected_component(numeric_inc(i %% (%s - 1))::bigint, i %% (%s - 1)) OVER ()
                        FROM generate_series(1, 400000) AS i', ids, ids)) AS often,
             pg_temp.memory(
                 format('SELECT FROM (SELECT i, keeper(i, i + 1) OVER (ORDER BY i)
                                      FROM generate_series(2, %s) AS i) AS s WHERE i = %1$s', ids)) AS keepers
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

--
-- keeper: each row of the window is an edge from a row to a worse one
--
-- 7 goes because of 9, so 8 stays.  A second edge to a row says nothing.  Nor does an edge
-- from a row to itself, or with a NULL end
SELECT a, b, keeper(a, b) OVER (ORDER BY rank, b) FROM (VALUES
    (9, 7, 1), (7, 8, 2), (8, 5, 3), (9, 7, 1), (9, 6, 1), (8, 6, 3), (6, 5, 4), (NULL, 4, 3), (9, NULL, 1),
    (NULL, NULL, NULL), (3, 3, 5), (3, 2, 5), (7, 7, 2)) AS v (a, b, rank) ORDER BY rank, b, keeper;
SELECT keeper(NULL, NULL) OVER (), keeper(5, NULL) OVER (), keeper(5, 5) OVER (), keeper(5, 6) OVER ();
SELECT keeper(a, b) OVER (ORDER BY a) FROM edges WHERE false;
-- the extreme bigints; smallints and integers
SELECT a, b, keeper(a, b) OVER (ORDER BY a) FROM (VALUES (9223372036854775806, 9223372036854775807),
    (-9223372036854775808, 9223372036854775806), (-1, 0), (4294967296, 4294967297)) AS v (a, b);
SELECT keeper(a, b) OVER (ORDER BY a) AS k, pg_typeof(keeper(a, b) OVER ())
FROM (VALUES (1::smallint, 2::integer)) AS v (a, b);
-- any frame, any order of the edges of a row, with any number of windows
SELECT count(*) AS edges, count(k1) AS gone, bool_and(k1 IS NOT DISTINCT FROM k2 AND k1 IS NOT DISTINCT FROM k3
    AND k1 IS NOT DISTINCT FROM k4 AND k1 IS NOT DISTINCT FROM k5) AS same
FROM (SELECT p, keeper(a, b) OVER w AS k1,
             keeper(a, b) OVER (w ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING EXCLUDE TIES) AS k2,
             keeper(a, b) OVER (PARTITION BY p ORDER BY -a DESC, hashint8(b)) AS k3,
             keeper(p * 1000 + a, p * 1000 + b) OVER (ORDER BY p DESC, a RANGE UNBOUNDED PRECEDING) - p * 1000 AS k4,
             keeper(a, b) OVER (w GROUPS 1 PRECEDING) AS k5,
             connected_component(a, b) OVER w, max(b) OVER (w ROWS 3 PRECEDING)
      FROM (SELECT DISTINCT p, least(x, y), greatest(x, y)
            FROM generate_series(1, 50) AS p, generate_series(1, p * 2) AS i,
                 LATERAL (SELECT hashint8extended(i, p) & 31, hashint8extended(i, p + 100) & 31) AS v (x, y))
          AS e (p, a, b)
      WINDOW w AS (PARTITION BY p ORDER BY a)) AS s;

-- All graphs of six rows, and so of fewer.  In rounds, rows to which no edge leads stay.
-- The rows to which their edges lead go.
CREATE TEMP TABLE graphs AS
    WITH pair AS (SELECT i, j, row_number() OVER ()::integer AS n
                  FROM generate_series(1, 6) AS i, generate_series(i + 1, 6) AS j)
    SELECT g AS graph, g * 8 + i AS rank, hashint8extended(g * 8 + i, 0) AS a, hashint8extended(g * 8 + j, 0) AS b
    FROM pair, generate_series(1, 32767) AS g WHERE g >> n - 1 & 1 = 1;
CREATE TEMP TABLE rounds AS SELECT a, b, rank FROM graphs;
CREATE TEMP TABLE duplicates (id bigint PRIMARY KEY, keeper bigint NOT NULL);
ANALYZE graphs, rounds;
DO $$
BEGIN
    LOOP
        INSERT INTO duplicates (id, keeper)
        SELECT DISTINCT ON (b) b, a FROM rounds AS e
        WHERE NOT EXISTS (SELECT FROM rounds WHERE b = e.a)
        ORDER BY b, rank;
        EXIT WHEN NOT FOUND;
        DELETE FROM rounds USING duplicates WHERE b = id;
        DELETE FROM rounds USING duplicates WHERE a = id;
    END LOOP;
END $$;
CREATE TEMP TABLE kept AS SELECT graph, rank, a, b, keeper(a, b) OVER (ORDER BY rank) FROM graphs;
SELECT count(DISTINCT graph) AS graphs, count(*) AS edges, count(keeper) AS gone FROM kept;
-- the same rows go, each once, because of the best row that stays
SELECT * FROM differing('SELECT b FROM kept WHERE keeper IS NOT NULL', 'SELECT id FROM duplicates');
SELECT * FROM differing('SELECT b, keeper FROM kept WHERE keeper IS NOT NULL',
    'SELECT DISTINCT ON (b) b, a FROM graphs WHERE a NOT IN (SELECT id FROM duplicates) ORDER BY b, rank');
SELECT count(*) AS others FROM kept WHERE keeper <> a;
-- by graph, if rows do not fit into memory, and repeatedly
SET work_mem = '64kB';
SELECT * FROM differing(
    'SELECT graph, a, b, keeper(a, b) OVER (PARTITION BY graph ORDER BY rank) FROM graphs WHERE graph < 9000',
    'SELECT graph, a, b, keeper FROM kept WHERE graph < 9000');
RESET work_mem;
CREATE INDEX ON graphs (graph);
SELECT * FROM differing(
    'SELECT g, k.* FROM generate_series(1, 400) AS g,
         LATERAL (SELECT a, b, keeper(a, b) OVER (ORDER BY rank) FROM graphs WHERE graph = g OFFSET 0) AS k',
    'SELECT graph, a, b, keeper FROM kept WHERE graph <= 400');

-- A path, of which every other row stays; a star; pairs; each row before all of the next eight.
SELECT shape, count(*) AS edges, count(k) AS gone
FROM (SELECT shape, keeper(a, b) OVER (PARTITION BY shape ORDER BY a) AS k
      FROM generate_series(0, 29999) AS i,
           LATERAL (VALUES ('path', i, i + 1), ('star', 7, i + 8), ('pairs', 2 * i, 2 * i + 1),
                           ('eight', i / 8, i / 8 + i % 8 + 1)) AS v (shape, a, b)) AS s
GROUP BY shape ORDER BY shape;

-- Edges that contradict the order.
SELECT keeper(a, b) OVER () FROM (VALUES (1, 2), (3, 4)) AS v (a, b);
SELECT keeper(a, b) OVER (ORDER BY rank) FROM (VALUES (1, 2, 5), (NULL, 2, 5), (3, 4, 5)) AS v (a, b, rank);
SELECT keeper(a, b) OVER (ORDER BY rank) FROM (VALUES (1, 2, 1), (3, 4, 2), (1, 5, 3)) AS v (a, b, rank);
SELECT keeper(a, b) OVER (ORDER BY b) FROM (VALUES (1, 2), (2, 3), (1, 3)) AS v (a, b);
SELECT keeper(a, b) OVER (ORDER BY a) FROM (VALUES (1, 2), (2, 1)) AS v (a, b);
SELECT keeper(a, b) OVER (ORDER BY a) FROM (VALUES (1, 1), (2, 1)) AS v (a, b);
-- an edge that leads back from a row that has gone to another
SELECT keeper(a, b) OVER (ORDER BY a) FROM (VALUES (1, 2), (1, 3), (2, 3), (3, 2)) AS v (a, b);

-- No window function takes IGNORE NULLS.  Before 19, the clause is a syntax error.
DO $$
DECLARE
    call text;
BEGIN
    FOREACH call IN ARRAY ARRAY['connected_component(1, 2)', 'keeper(1, 2)',
                                'simhash_cluster(1::bigint::simhash, 3)'] LOOP
        BEGIN
            EXECUTE format('SELECT %s IGNORE NULLS OVER ()', call);
            RAISE NOTICE '% takes IGNORE NULLS', call;
        EXCEPTION WHEN syntax_error OR feature_not_supported THEN
        END;
    END LOOP;
END $$;
