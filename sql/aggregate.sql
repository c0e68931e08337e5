--
-- simhash_agg: features in rows
--
CREATE TABLE features (doc integer, feature text, weight double precision);
INSERT INTO features VALUES
    (1, 'a', 1), (1, 'rose', 1), (1, 'is', 1), (2, 'a', 3), (2, 'b', 1), (2, 'c', 1), (3, 'a', 1), (3, 'a', 1),
    (3, 'b', 1),
    (4, NULL, 1), (4, 'a', NULL), (4, 'b', 1), (5, NULL, NULL), (6, 'a', 0), (7, 'a', -1), (8, 'a', 1), (8, 'a', -1);
SELECT doc, simhash_agg(feature, weight) AS weighted, simhash_agg(feature) AS plain
FROM features GROUP BY doc ORDER BY doc;
-- the same as of arrays
SELECT simhash_agg(feature) = simhash('a rose is', 1) AS plain FROM features WHERE doc = 1;
SELECT simhash_agg(feature, weight) = simhash('a') AS weighted,
       simhash_agg(feature) = simhash(ARRAY['a', 'b', 'c'], 1) AS plain FROM features WHERE doc = 2;
SELECT simhash_agg(feature) = simhash('a') AS repeated FROM features WHERE doc = 3;
-- a row with a NULL feature or weight does not count
SELECT simhash_agg(feature, weight) = simhash('b') AS weighted,
       simhash_agg(feature) = simhash(ARRAY['a', 'b'], 1) AS plain FROM features WHERE doc = 4;
-- no rows, or weights 0 alone: no fingerprint; weights that cancel out are ties in all
-- bits
SELECT simhash_agg(feature) IS NULL AS plain, simhash_agg(feature, weight) IS NULL AS weighted
FROM features WHERE false;
SELECT simhash_agg(feature) IS NULL AS plain, simhash_agg(feature, weight) IS NULL AS weighted
FROM features WHERE doc = 5;
SELECT simhash_agg(feature, weight) IS NULL AS weightless FROM features WHERE doc = 6;
SELECT simhash_agg(feature, weight) = (~ simhash('a')::bigint)::simhash AS negative FROM features WHERE doc = 7;
SELECT simhash_agg(feature, weight) AS cancelled FROM features WHERE doc = 8;
-- features are not normalised
SELECT simhash_agg(f) <> simhash('a') AS raw, simhash_agg('') = simhash(ARRAY[''], 1) AS empty
FROM (VALUES ('A')) AS v (f);
SELECT simhash_agg(f::varchar) = simhash('a') AS varchar, simhash_agg('a') = simhash('a') AS literal
FROM (VALUES ('a')) AS v (f);
-- features of aggregates
SELECT simhash_agg(DISTINCT feature) = simhash(ARRAY['a', 'b'], 1) AS "distinct",
       simhash_agg(feature) FILTER (WHERE feature = 'b') = simhash('b') AS filter,
       simhash_agg(feature ORDER BY feature DESC) = simhash('a') AS ordered
FROM features WHERE doc = 3;
SELECT doc, feature,
       simhash_agg(feature) OVER (PARTITION BY doc ORDER BY feature ROWS UNBOUNDED PRECEDING)
           = simhash(array_agg(feature) OVER (PARTITION BY doc ORDER BY feature ROWS UNBOUNDED PRECEDING), 1)
           AS running,
       simhash_agg(feature) OVER (PARTITION BY doc ORDER BY feature ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
           = simhash(array_agg(feature)
                         OVER (PARTITION BY doc ORDER BY feature ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), 1)
           AS sliding
FROM features WHERE doc <= 2 ORDER BY doc, feature;
SELECT doc, simhash_agg(feature, weight) IS NULL AS "null"
FROM features WHERE doc < 3 GROUP BY ROLLUP (doc) ORDER BY doc;
DROP TABLE features;

-- neither the order nor parallel workers change a fingerprint
CREATE TABLE tf (id integer, feature text, weight double precision);
INSERT INTO tf
SELECT i, 'feature ' || i % 3000, (i * 7919 % 1000003) / 1000.0 - 300 FROM generate_series(1, 20000) AS i;
INSERT INTO tf SELECT i, 'tie ' || i % 2, 0.1 FROM generate_series(20001, 40000) AS i;
ANALYZE tf;
CREATE TEMP TABLE serial AS
    SELECT id % 3 AS part, simhash_agg(feature) AS plain, simhash_agg(feature, weight) AS weighted
    FROM tf GROUP BY GROUPING SETS ((), (id % 3));
SELECT simhash_agg(feature, weight ORDER BY id) = simhash_agg(feature, weight ORDER BY id DESC) AS back_and_forth,
       simhash_agg(feature, weight ORDER BY id) = simhash_agg(feature, weight ORDER BY md5(id::text)) AS shuffled,
       simhash_agg(feature, weight ORDER BY id) = simhash(array_agg(feature), array_agg(weight)) AS as_arrays,
       simhash_agg(feature ORDER BY id DESC) = simhash(array_agg(feature), array_agg(1::float8)) AS unweighted
FROM tf;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT simhash_agg(feature), simhash_agg(feature, weight) FROM tf;
SELECT simhash_agg(feature) = (SELECT plain FROM serial WHERE part IS NULL) AS plain,
       simhash_agg(feature, weight) = (SELECT weighted FROM serial WHERE part IS NULL) AS weighted FROM tf;
SELECT part, p.plain = s.plain AS plain, p.weighted = s.weighted AS weighted
FROM (SELECT id % 3 AS part, simhash_agg(feature) AS plain, simhash_agg(feature, weight) AS weighted
      FROM tf GROUP BY 1) AS p JOIN serial AS s USING (part)
ORDER BY part;
-- no worker finds a row, or only some workers do
SELECT simhash_agg(feature) IS NULL AS plain, simhash_agg(feature, weight) IS NULL AS weighted FROM tf WHERE id < 0;
SELECT simhash_agg(feature) = simhash(ARRAY['feature 7'], 1) AS plain,
       simhash_agg(feature, weight) = (~ simhash(ARRAY['feature 7'], 1)::bigint)::simhash AS weighted
FROM tf WHERE id = 7;
SELECT simhash_agg(NULL::text) IS NULL AS plain, simhash_agg(feature, NULL) IS NULL AS weighted,
       simhash_agg(feature, 0) IS NULL AS weightless FROM tf;
-- the other functions run in workers, too
EXPLAIN (COSTS OFF) SELECT count(*) FROM tf WHERE simhash(feature) <~> simhash('feature 7') <= 3;
SELECT count(*) FROM tf WHERE simhash(feature) <~> simhash('feature 7') <= 0;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
DROP TABLE tf;

-- Weights whose sum overflows only when two states are combined, here those of two
-- partitions.
CREATE TABLE parts (part integer, weight double precision) PARTITION BY LIST (part);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT part, 1048576 FROM generate_series(1, 2) AS part, generate_series(1, 150000);
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT simhash_agg('a', weight) FROM parts;
SELECT part, simhash_agg('a', weight) = simhash('a') AS same FROM parts GROUP BY part ORDER BY part;
SELECT simhash_agg('a', weight) FROM parts;
SELECT simhash_agg('a', weight / 2) = simhash('a') AS same FROM parts;
RESET max_parallel_workers_per_gather;
RESET enable_partitionwise_aggregate;
DROP TABLE parts;
