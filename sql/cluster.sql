--
-- Clusters of a corpus: simhash_cluster compared with clusters computed in SQL
--
-- Return the cluster of each fingerprint of an array.  Connected components: replace
-- numbers by the smallest number of a neighbour until nothing changes.  Leaders:
-- process one row after the other.
CREATE FUNCTION by_hand(fps simhash[], radius integer, method text) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
    n integer := cardinality(fps);
    cluster bigint[] := array_fill(NULL::bigint, ARRAY[n]);
    near integer[];
BEGIN
    FOR i IN 1 .. n LOOP
        CONTINUE WHEN fps[i] IS NULL;
        SELECT array_agg(j ORDER BY j) INTO near FROM generate_series(1, i - 1) AS j
        WHERE (fps[i] <~> fps[j]) + 0 <= radius AND (method = 'single' OR cluster[j] = j);
        cluster[i] := coalesce(
            CASE method WHEN 'leader' THEN near[1] ELSE (SELECT min(cluster[j]) FROM unnest(near) AS j) END, i);
        IF method = 'single' AND near IS NOT NULL THEN
            SELECT array_agg(
                CASE WHEN c IN (SELECT cluster[j] FROM unnest(near) AS j) THEN cluster[i] ELSE c END
            ORDER BY o) INTO cluster
            FROM unnest(cluster) WITH ORDINALITY AS u (c, o);
        END IF;
    END LOOP;
    RETURN QUERY SELECT unnest(cluster);
END $$;
-- return the rows of a query (i, fp) whose clusters differ from these, in the order of
-- an expression
CREATE FUNCTION differing(query text, radius integer, method text, ordering text DEFAULT 'i')
    RETURNS TABLE (rows bigint, differing bigint) LANGUAGE plpgsql AS $$
DECLARE
    fps simhash[];
BEGIN
    EXECUTE format('SELECT array_agg(fp ORDER BY %s) FROM (%s) AS q', ordering, query) INTO fps;
    RETURN QUERY SELECT * FROM differing(
        format('SELECT row_number() OVER w, simhash_cluster(fp, %s, %L) OVER w
               FROM (%s) AS q WINDOW w AS (ORDER BY %s)', radius, method, query, ordering),
        format('SELECT row_number() OVER (), c FROM by_hand(%L, %s, %L) AS c', fps, radius, method));
END $$;

-- a chain: each fingerprint is within 3 of the next; rows without a fingerprint are in
-- no cluster
CREATE TEMP TABLE chain (id text, fp simhash);
INSERT INTO chain VALUES ('A', '0000000000000000'), ('B', '0000000000000007'), ('-', NULL), ('C', '000000000000003f'),
    ('D', 'ffffffffffffffff'), ('E', '0000000000000007');
SELECT id, fp, simhash_cluster(fp, 3) OVER w AS single, simhash_cluster(fp, 3, 'leader') OVER w AS leader,
       row_number() OVER w AS row,
       simhash_cluster(fp, 3, 'leader') OVER w = row_number() OVER w AS keep
FROM chain WINDOW w AS (ORDER BY id COLLATE "C") ORDER BY row;
-- the leaders depend on the order
SELECT id, simhash_cluster(fp, radius => 3, method => 'leader') OVER w AS leader, row_number() OVER w AS row
FROM chain WINDOW w AS (ORDER BY id COLLATE "C" <> 'B', id COLLATE "C" DESC) ORDER BY row;
-- partitions; frames make no difference; the default method
SELECT id, simhash_cluster(fp, 64) OVER (PARTITION BY id > 'B' ORDER BY id COLLATE "C") AS in_two,
       simhash_cluster(fp, 64, 'single')
           OVER (ORDER BY id COLLATE "C" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS near_by,
       simhash_cluster(fp, 64, 'leader')
           OVER (ORDER BY id COLLATE "C" ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE TIES) AS after
FROM chain ORDER BY id COLLATE "C";
-- no row, NULLs alone, one row
SELECT simhash_cluster(fp, 3) OVER () FROM chain WHERE false;
SELECT simhash_cluster(fp, 3) OVER (), simhash_cluster(NULL, 3, 'leader') OVER () FROM chain WHERE fp IS NULL;
-- a radius of any type of number
SELECT count(*) AS rows, count(*) FILTER (WHERE c = n AND c = f AND c = i) AS same
FROM (SELECT simhash_cluster(fp, 3) OVER w AS c, simhash_cluster(fp, 3.0) OVER w AS n,
             simhash_cluster(fp, 3::real) OVER w AS f, simhash_cluster(fp, 3::bigint) OVER w AS i
      FROM chain WHERE fp IS NOT NULL WINDOW w AS (ORDER BY id)) AS s;
SELECT simhash_cluster(fp, 0) OVER (), simhash_cluster(fp, 64, 'leader') OVER () FROM chain WHERE id = 'D';

-- every shape of data, within any radius
CREATE TEMP TABLE differences AS
    SELECT shape, radius, method, d.*
    FROM unnest('{uniform,skewed high,skewed low,clustered,equal,extreme,mixed}'::text[]) AS shape,
         unnest('{0,1,2,3,5,8,11,16,24,32,48,63,64}'::integer[]) AS radius,
         unnest('{single,leader}'::text[]) AS method,
         format('SELECT i, CASE WHEN i %% 17 <> 0 THEN fp_of(%L, i) END AS fp FROM generate_series(1, %s) AS i',
                shape, 64 + radius / 2) AS query,
         differing(query, radius, method) AS d;
SELECT count(*) AS tests, sum(rows) AS rows, sum(differing) AS differing FROM differences;
SELECT * FROM differences WHERE differing <> 0;
-- in other orders
SELECT sum(rows) AS rows, sum(differing) AS differing
FROM unnest('{3,8,24}'::integer[]) AS radius, unnest('{single,leader}'::text[]) AS method,
     unnest('{i DESC,"hashint8(i)","fp, i"}'::text[]) AS ordering,
     differing('SELECT i, fp_of(''mixed'', i) AS fp FROM generate_series(1, 120) AS i', radius, method, ordering);
-- around planted centers: more rows than one batch of comparisons
SELECT radius, method, d.*
FROM unnest('{3,6,9}'::integer[]) AS radius, unnest('{single,leader}'::text[]) AS method,
     differing('SELECT i, flip(random_fp(i / 20), (hashint8(i) & 1023) % 6, i) AS fp
                FROM generate_series(1, 600) AS i', radius, method) AS d
ORDER BY 1, 2;

-- Many rows: all rows of a cluster are linked within the radius, and the number of
-- clusters is that of a search.  With little memory, and partitions of different sizes.
CREATE TEMP TABLE many AS
    SELECT i, i % 1000 / 400 AS part,
           CASE WHEN i % 101 <> 0 THEN flip(random_fp(i / 7), (hashint8(i) & 1023) % 4, i) END AS fp
    FROM generate_series(1, 10000) AS i;
CREATE TEMP TABLE edges AS
    SELECT a.i AS a, b.i AS b
    FROM many AS a JOIN many AS b ON a.part = b.part AND a.i / 7 = b.i / 7 AND (a.fp <~> b.fp) + 0 <= 5;
CREATE INDEX ON edges (a);
SET work_mem = '64kB';
CREATE TEMP TABLE labels AS
    SELECT i, fp, row_number() OVER w AS row, simhash_cluster(fp, 5) OVER w AS single,
           simhash_cluster(fp, 5, 'leader') OVER w AS leader
    FROM many WINDOW w AS (PARTITION BY part ORDER BY hashint8(i));
RESET work_mem;
CREATE UNIQUE INDEX ON labels (i);
ANALYZE edges, labels;
SELECT count(*) AS compared, count(*) FILTER (WHERE a.single <> b.single) AS torn
FROM edges JOIN labels AS a ON a.i = a JOIN labels AS b ON b.i = b;
WITH RECURSIVE reached AS (
    SELECT i, row AS start FROM labels WHERE row = single
    UNION
    SELECT b, start FROM reached JOIN edges ON i = a)
SELECT count(*) AS compared, count(*) FILTER (WHERE single <> start) AS wrong,
       count(*) = (SELECT count(fp) FROM many) AS all
FROM reached JOIN labels USING (i);
-- a leader has no leader within the radius before it; every other row belongs to the
-- first one
SELECT count(*) AS compared, count(*) FILTER (WHERE first IS DISTINCT FROM nullif(leader, row)) AS wrong
FROM labels AS l LEFT JOIN LATERAL (
    SELECT min(o.row) AS first FROM edges JOIN labels AS o ON o.i = b
    WHERE a = l.i AND o.row < l.row AND o.row = o.leader) AS f ON true
WHERE fp IS NOT NULL;

-- the radius and the method may be expressions, the same in all rows of a partition
SELECT count(*) AS compared, count(*) FILTER (WHERE c <> CASE WHEN part = 0 THEN zero ELSE three END) AS wrong FROM (
    SELECT part, simhash_cluster(fp, part * 3, CASE part WHEN 0 THEN 'leader' ELSE 'single' END) OVER w AS c,
           simhash_cluster(fp, 0) OVER w AS zero, simhash_cluster(fp, 3) OVER w AS three
    FROM many WHERE part < 2 WINDOW w AS (PARTITION BY part ORDER BY i)) AS s;
PREPARE clusters (bigint, text) AS
    SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, $1, $2) OVER () AS c FROM chain) AS s;
EXECUTE clusters(3, 'single');
EXECUTE clusters(3, 'leader');
-- expressions, evaluated once for each row; a subquery that is executed repeatedly
SELECT simhash_cluster(simhash(repeat(id, 100) || ' or so'), 3) OVER (ORDER BY id COLLATE "C") FROM chain;
SELECT radius, (SELECT string_agg(c::text, ' ' ORDER BY row) FROM (
    SELECT row_number() OVER w AS row, simhash_cluster(fp, radius) OVER w AS c
    FROM chain WINDOW w AS (ORDER BY id COLLATE "C")) AS s) AS clusters
FROM generate_series(0, 6, 3) AS radius;
-- with other window functions, and rows that the query does not fetch
SELECT id, simhash_cluster(fp, 3) OVER w, lag(id) OVER w, count(*) OVER (PARTITION BY fp)
FROM chain WINDOW w AS (ORDER BY id COLLATE "C") ORDER BY id COLLATE "C" LIMIT 3;
DROP FUNCTION differing(text, integer, text, text), by_hand;
