-- Measures the cost of simhash_cluster.  cluster.sh runs this.  psql variable: rows.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

CREATE EXTENSION simhash;
\ir timing.sql

-- one core; default memory
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET client_min_messages = warning;

-- Clusters of 1 to 50 rows around uniform centers: the center, and copies of it with up
-- to three bits flipped.  The ids are in another order.
CREATE FUNCTION random_simhash(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN hashint8extended(i, 0)::simhash;
CREATE FUNCTION some_bit(seed bigint, i integer) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN 1::bigint << (hashint8extended(seed, i) & 63)::integer;
CREATE FUNCTION flip_up_to_three(fp simhash, seed bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (fp::bigint # CASE seed & 3 WHEN 0 THEN 0 WHEN 1 THEN some_bit(seed, 1)
                WHEN 2 THEN some_bit(seed, 1) | some_bit(seed, 2)
            ELSE some_bit(seed, 1) | some_bit(seed, 2) | some_bit(seed, 3) END)::simhash;
CREATE TABLE planted AS
    SELECT CASE WHEN i = 0 THEN random_simhash(c) ELSE flip_up_to_three(random_simhash(c), c * 64 + i) END AS fp
    FROM generate_series(1::bigint, :rows / 25) AS c, generate_series(0, (hashint8(c) & 2147483647) % 50) AS i
    LIMIT :rows;
CREATE TABLE docs AS
    SELECT row_number() OVER () AS id, fp FROM (SELECT fp FROM planted ORDER BY hashint8(fp::bigint)) AS s;
DROP TABLE planted;
-- the same, with skew
CREATE TABLE equal AS SELECT id, CASE WHEN id % 10 = 0 THEN '0123456789abcdef' ELSE fp END AS fp FROM docs;
CREATE TABLE block AS SELECT id, (fp::bigint & ~(65535::bigint << 16))::simhash AS fp FROM docs;
CREATE TABLE family AS
    SELECT id, CASE WHEN id % (:rows / 100000) = 0
               THEN flip_up_to_three('0123456789abcdef', id * 4 + 3) ELSE fp END AS fp FROM docs;
VACUUM ANALYZE;

CREATE FUNCTION over(tab text, function text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT max(c) FROM (SELECT %s OVER (ORDER BY id) AS c FROM %I) AS s', function, tab);

\pset title 'the data'
SELECT count(*) AS rows, count(DISTINCT fp) AS fingerprints, count(DISTINCT single) AS "clusters within 3 bits",
       count(DISTINCT leader) AS leaders,
       (SELECT max(n)
        FROM (SELECT count(*) AS n FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) AS s
              GROUP BY c) AS s) AS "rows of the largest"
FROM (SELECT fp, simhash_cluster(fp, 3) OVER w AS single, simhash_cluster(fp, 3, 'leader') OVER w AS leader
      FROM docs WINDOW w AS (ORDER BY id)) AS s;

-- with many rows, only the radii that take less than a minute
SELECT :rows <= 1000000 AS few, CASE WHEN :rows <= 1000000 THEN '{0,3,8}' ELSE '{0,3}' END AS radii \gset
\pset title 'clusters / row_number(), in the order of id'
SELECT t.* FROM unnest(:'radii'::integer[]) AS k, LATERAL
    time_pair('k = ' || k, over('docs', format('simhash_cluster(fp, %s)', k)), over('docs', 'row_number()'),
              CASE k WHEN 8 THEN 3 ELSE 5 END) AS t;
\pset title 'leaders / single linkage'
SELECT t.* FROM unnest(:'radii'::integer[]) AS k, LATERAL
    time_pair('k = ' || k, over('docs', format('simhash_cluster(fp, %s, ''leader'')', k)),
              over('docs', format('simhash_cluster(fp, %s)', k)), 3) AS t WHERE k > 0;
\pset title 'skewed / uniform, k = 3'
SELECT t.* FROM (VALUES (1, 'equal', 'a tenth of all rows equal'), (2, 'block', 'one block of 16 bits constant'),
    (3, 'family', '100,000 within 6 bits of each other')) AS skew (i, tab, what),
        unnest(ARRAY['single', 'leader']) WITH ORDINALITY AS l (method, o), LATERAL
    time_pair(what || ', ' || method, over(tab, format('simhash_cluster(fp, 3, %L)', method)),
              over('docs', format('simhash_cluster(fp, 3, %L)', method)), 3) AS t
ORDER BY o, i;

-- 32 bits, each written twice side by side: codewords of a BCH code, so none is within 11
-- bits of another.  Comparing all with all takes 4 times as long for twice the rows.
CREATE FUNCTION codeword(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT word << 1 | (bit_count(word::bit(64)) & 1)
    FROM (SELECT coalesce(bit_xor(x'769'::bigint << b), 0) AS word
          FROM generate_series(0, 20) AS b WHERE i >> b & 1 = 1) AS s $$;
CREATE TABLE twice AS
    SELECT i AS id,
           (SELECT bit_or(3::bigint << 2 * b)
            FROM generate_series(0, 31) AS b WHERE word >> b & 1 = 1)::simhash AS fp
    FROM generate_series(1::bigint, 200000) AS i, codeword(i * 1000003 & 2097151) AS word;
CREATE TABLE twice_half AS SELECT * FROM twice WHERE id <= 100000;
VACUUM ANALYZE twice, twice_half;
\pset title 'correlated bits, k = 11: twice the rows'
SELECT * FROM time_pair('200,000 / 100,000 rows', over('twice', 'simhash_cluster(fp, 11)'),
                        over('twice_half', 'simhash_cluster(fp, 11)'), 3);

\if :few
\pset title 'by radius, once each'
SELECT k AS radius, round(time_query(over('docs', format('simhash_cluster(fp, %s)', k)))) AS "single ms",
       round(time_query(over('docs', format('simhash_cluster(fp, %s, ''leader'')', k)))) AS "leader ms"
FROM unnest(ARRAY[0, 1, 3, 5, 8, 10, 12, 14, 16, 20, 32, 64]) AS k;

-- other ways to the same clusters; the last on a tenth of the rows, for it takes so long
CREATE INDEX ON docs USING simhash (fp);
CREATE TABLE fewer AS SELECT * FROM docs WHERE id <= :rows / 10;
CREATE INDEX ON fewer USING simhash (fp);
VACUUM ANALYZE docs, fewer;
\pset title 'k = 3: another way / simhash_cluster'
SELECT * FROM time_pair('index join and connected_component', $$
    SELECT count(DISTINCT c) FROM (SELECT connected_component(a.id, b.id) OVER () AS c
                                   FROM docs AS a JOIN docs AS b ON a.fp <~> b.fp <= 3 AND a.id <= b.id) AS s$$,
    'SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) AS s', 1)
UNION ALL
SELECT * FROM time_pair('recursive query, a tenth of the rows', $$
    WITH RECURSIVE near AS MATERIALIZED (SELECT a.id AS a, b.id AS b
                                         FROM fewer AS a JOIN fewer AS b ON a.fp <~> b.fp <= 3),
        reached (id, start) AS (SELECT id, id FROM fewer UNION SELECT b, start FROM reached JOIN near ON a = id)
    SELECT count(DISTINCT c) FROM (SELECT id, min(start) AS c FROM reached GROUP BY id) AS s$$,
    'SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM fewer) AS s', 1);
\endif
