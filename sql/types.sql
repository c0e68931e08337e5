--
-- The types simhash and simhash_ball: input and output, casts, order, indexes,
-- distance
--

-- text form: 16 hexadecimal digits, most significant first; both cases are accepted
SELECT '0123456789abcdef'::simhash AS lower, 'FEDCBA9876543210'::simhash AS upper, 'AbCdEfaBcDeF0000'::simhash AS mixed,
       '0000000000000000'::simhash AS least, 'ffffffffffffffff'::simhash AS greatest;
SELECT '{0000000000000001,NULL,8000000000000000}'::simhash[] AS array_of;
SELECT to_jsonb('0123456789abcdef'::simhash) AS json, '0123456789abcdef'::simhash::text AS text;
SELECT NULL::simhash IS NULL AS "null";
-- a ball: center and radius, -1 to 64
SELECT b::simhash_ball FROM (VALUES
    ('(0123456789abcdef,3)'), ('(0000000000000000,0)'), ('(FFFFFFFFFFFFFFFF,64)'), ('(0123456789abcdef,-1)')) AS v (b);
SELECT r, simhash_ball('0123456789abcdef', r)
FROM (VALUES (-9223372036854775808), (-4294967293), (-2), (-1), (0), (3), (63), (64), (65), (4294967299),
             (9223372036854775807)) AS v (r)
ORDER BY r;
SELECT simhash_ball('0123456789abcdef', 3::smallint) AS smallint,
       simhash_ball(center => '0123456789abcdef', radius => 3) AS named,
       simhash_ball(NULL, 3) IS NULL AS no_center, simhash_ball('0123456789abcdef', NULL) IS NULL AS no_radius;

-- binary form
SELECT simhash_send('0123456789abcdef') AS simhash, simhash_ball_send('(0123456789abcdef,3)') AS ball,
       simhash_ball_send('(ffffffffffffffff,-1)') AS empty_ball;
CREATE TEMP TABLE sent (id integer, fp simhash, ball simhash_ball, many simhash[]);
INSERT INTO sent VALUES
    (1, '0123456789abcdef', '(0123456789abcdef,3)', '{0000000000000000,NULL,ffffffffffffffff}'),
    (2, '0000000000000000', '(ffffffffffffffff,-1)', '{}'),
    (3, 'ffffffffffffffff', '(0000000000000000,64)', '{8000000000000000}'),
    (4, NULL, NULL, NULL);
CREATE TEMP TABLE received (LIKE sent);
\getenv outputdir PG_ABS_BUILDDIR
\cd :outputdir
\copy sent TO 'results/types.binary' (FORMAT binary)
\copy received FROM 'results/types.binary' (FORMAT binary)
SELECT * FROM received ORDER BY id;
CREATE TEMP TABLE again (LIKE sent);
\copy sent TO 'results/types.text'
\copy again FROM 'results/types.text'
SELECT count(*) AS rows, bool_and(r.fp IS NOT DISTINCT FROM a.fp AND r.many IS NOT DISTINCT FROM a.many
                                  AND r.ball IS NOT DISTINCT FROM a.ball) AS same
FROM received AS r JOIN again AS a USING (id);

-- casts: a bigint has the same 64 bits, signed
SELECT b, b::simhash AS simhash, b::simhash::bigint = b AS back
FROM (VALUES (0::bigint), (1), (-1), (9223372036854775807), (-9223372036854775808), (81985529216486895)) AS v (b);
-- numeric: unsigned
SELECT n, n::simhash AS simhash, n::simhash::numeric = n AS back
FROM (VALUES (0::numeric), (1), (9223372036854775807), (9223372036854775808), (18446744073709551615),
             (10000000000000000000), (42.000), (-0.0)) AS v (n);
SELECT 'ffffffffffffffff'::simhash::numeric AS greatest, '8000000000000000'::simhash::numeric AS half,
       scale('0000000000000007'::simhash::numeric);
-- integer and smallint: for small literals, and for drivers that send these types
SELECT 42::smallint::simhash AS smallest, 32767::smallint::simhash AS greatest_smallint, 42::simhash AS small,
       2147483647::simhash AS greatest, 2147483648::simhash AS bigint, 0::simhash AS zero;
-- bit(64) and bytea: most significant first
SELECT '0123456789abcdef'::simhash::bit(64) AS bit, '8000000000000001'::simhash::bytea AS bytea;
SELECT length('0123456789abcdef'::simhash::bit(64)) AS length,
       x'0123456789abcdef'::bit(64)::simhash AS from_bit, '\x0123456789abcdef'::bytea::simhash AS from_bytea;
-- text: the text form
SELECT '0123456789ABCDEF'::text::simhash AS text, '0123456789abcdef'::varchar::simhash AS varchar,
       '0123456789abcdef'::char(16)::simhash AS char,
       '0123456789abcdef'::char(20)::simhash AS padded;
-- text and varchar are assigned to a fingerprint, as drivers bind them; a comparison takes a cast
CREATE TEMP TABLE given (id integer, fp simhash, many simhash[]);
INSERT INTO given VALUES
    (1, '0123456789abcdef'::text, ARRAY['0123456789abcdef', NULL]),
    (2, 'fedcba9876543210'::varchar, ARRAY['fedcba9876543210'::varchar]),
    (3, '0123456789abcdee', '{}'), (4, NULL, NULL);
PREPARE into_column (integer, varchar) AS INSERT INTO given (id, fp) VALUES ($1, $2);
PREPARE set_column (text, integer) AS UPDATE given SET fp = $1 WHERE id = $2;
EXECUTE into_column (5, '0000000000000000');
EXECUTE set_column ('00000000000000FF', 5);
SELECT * FROM given ORDER BY id;
CREATE INDEX given_fp ON given USING simhash (fp);
SET enable_seqscan = off;
PREPARE equal (text) AS SELECT id FROM given WHERE fp = $1::simhash ORDER BY id;
PREPARE equal_varchar (varchar) AS SELECT id FROM given WHERE $1::simhash = fp ORDER BY id;
PREPARE any_of (text[]) AS SELECT id FROM given WHERE fp = ANY ($1::simhash[]) ORDER BY id;
PREPARE near (text) AS SELECT id FROM given WHERE fp <~> $1::simhash <= 1 ORDER BY id;
PREPARE nearest (varchar) AS SELECT id FROM given ORDER BY fp <~> $1::simhash LIMIT 2;
EXECUTE equal ('0123456789ABCDEF');
EXECUTE equal_varchar ('0123456789ABCDEF');
EXECUTE any_of ('{0123456789abcdef,NULL,fedcba9876543210}');
EXECUTE near ('0123456789abcdef');
EXECUTE nearest ('0123456789abcdee');
SELECT id FROM given JOIN unnest(ARRAY['0123456789abcdef', 'fedcba9876543210']) AS u (h) ON fp = h::simhash ORDER BY id;
SELECT id FROM given WHERE fp IN ('0123456789abcdef', 'fedcba9876543210') ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SET enable_bitmapscan = off;
SELECT plan($$EXECUTE equal ('0123456789abcdef')$$, 'Cond'), plan($$EXECUTE near ('0123456789abcdef')$$, 'Cond');
RESET enable_bitmapscan;
SELECT plan($$EXECUTE any_of ('{0123456789abcdef}')$$, 'Index Cond'),
       plan($$EXECUTE nearest ('0123456789abcdee')$$, 'Order By');
RESET plan_cache_mode;
RESET enable_seqscan;
DEALLOCATE ALL;
-- an untyped parameter is a fingerprint, and functions on text accept text
PREPARE equal AS SELECT FROM given WHERE fp = $1;
PREPARE equal_not AS SELECT FROM given WHERE $1 <> fp;
PREPARE any_of AS SELECT FROM given WHERE fp = ANY ($1);
PREPARE one_of AS SELECT FROM given WHERE fp IN ($1, $2);
PREPARE near AS SELECT FROM given WHERE fp <~> $1 <= $2;
PREPARE arrays AS SELECT FROM given WHERE many = $1 OR many && $2;
PREPARE document AS SELECT to_simhash($1);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;
SELECT 'b'::varchar > 'a' AS varchar, 'b'::varchar > 'a'::text AS text, 'b'::char(2) > 'a'::varchar AS char,
       min('a'::varchar) AS min, max('a') AS max,
       simhash('0123456789abcdef'::varchar) = '0123456789abcdef' AS parsed;
SELECT bool_and(
    fp::bigint::simhash = fp AND fp::numeric::simhash = fp AND fp::bit(64)::simhash = fp AND fp::bytea::simhash = fp
      AND fp::text::simhash = fp
                AND fp::bytea = simhash_send(fp) AND fp::text = to_hex(fp::bigint)::char(16)::text) AS round_trips
FROM (SELECT ('x1' || left(md5(i::text), 15))::bit(64)::simhash AS fp FROM generate_series(1, 1000) AS i) AS s;
-- a column changes from bigint to simhash without a rewrite
CREATE TEMP TABLE stored (h bigint);
INSERT INTO stored VALUES (1), (-1), (NULL);
SELECT pg_relation_filenode('stored') AS before \gset
ALTER TABLE stored ALTER COLUMN h TYPE simhash USING h::simhash;
SELECT pg_relation_filenode('stored') = :before AS not_rewritten;
SELECT * FROM stored ORDER BY h;
SELECT pg_relation_filenode('stored') AS before \gset
ALTER TABLE stored ALTER COLUMN h TYPE bigint USING h::bigint;
SELECT pg_relation_filenode('stored') = :before AS not_rewritten;

--
-- Order: unsigned
--
CREATE TABLE fingerprints (id integer, fp simhash);
INSERT INTO fingerprints
SELECT i, ('x' || left(md5((i % 1500)::text), 16))::bit(64)::simhash FROM generate_series(1, 3000) AS i;
INSERT INTO fingerprints VALUES (0, '0000000000000000'), (-1, '0000000000000001'), (-2, '7fffffffffffffff'),
    (-3, '8000000000000000'), (-4, '8000000000000001'), (-5, 'ffffffffffffffff'), (-6, NULL);
ANALYZE fingerprints;
SELECT id, fp FROM fingerprints WHERE id <= 0 ORDER BY fp;
SELECT id, fp FROM fingerprints WHERE id <= 0 ORDER BY fp DESC NULLS LAST;
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE (a.fp < b.fp) <> (a.fp::numeric < b.fp::numeric)
                           OR (a.fp <= b.fp) <> (a.fp::numeric <= b.fp::numeric)
                           OR (a.fp > b.fp) <> (a.fp::numeric > b.fp::numeric)
                           OR (a.fp >= b.fp) <> (a.fp::numeric >= b.fp::numeric)
                           OR (a.fp = b.fp) <> (a.fp::numeric = b.fp::numeric)
                           OR (a.fp <> b.fp) <> (a.fp::numeric <> b.fp::numeric)
                           OR simhash_cmp(a.fp, b.fp) <> sign(a.fp::numeric - b.fp::numeric)) AS wrong
FROM fingerprints AS a, fingerprints AS b WHERE a.id <= 100 AND b.id <= 100 AND a.fp IS NOT NULL AND b.fp IS NOT NULL;
-- the order is that of the unsigned numbers
SELECT array_agg(id ORDER BY fp, id) = array_agg(id ORDER BY fp::numeric, id) AS ascending,
       array_agg(id ORDER BY fp DESC, id) = array_agg(id ORDER BY fp::numeric DESC, id) AS descending
FROM fingerprints;
-- equal fingerprints have equal hashes, different ones mostly have different hashes
SELECT count(DISTINCT fp) - count(DISTINCT simhash_hash(fp)) < 5 AS spread,
       bool_and(simhash_hash(fp) = simhash_hash(fp::text::simhash)) AS equal,
       bool_and((simhash_hash_extended(fp, 0) & 4294967295) = (simhash_hash(fp)::bigint & 4294967295)) AS extended,
       count(DISTINCT simhash_hash_extended(fp, 1)) = count(DISTINCT fp) AS seeded
FROM fingerprints;

-- a btree index
CREATE INDEX fingerprints_btree ON fingerprints (fp);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM fingerprints WHERE fp = '8000000000000000';
SELECT id FROM fingerprints WHERE fp = '8000000000000000';
EXPLAIN (COSTS OFF) SELECT id FROM fingerprints WHERE fp >= 'ffff000000000000' ORDER BY fp;
SELECT count(*), min(fp::text), max(fp::text) FROM fingerprints WHERE fp >= '8000000000000000';
SELECT count(*) FROM fingerprints WHERE fp < '8000000000000000';
SELECT count(*) FROM fingerprints WHERE fp IS NULL;
SELECT id, fp FROM fingerprints WHERE fp > '7ffffffffffffffe' AND fp <= '8000000000000001' ORDER BY fp;
SELECT fp FROM fingerprints ORDER BY fp LIMIT 2;
SELECT fp FROM fingerprints ORDER BY fp DESC NULLS LAST LIMIT 2;
SELECT id FROM fingerprints WHERE fp IN ('0000000000000001', 'ffffffffffffffff', '1234567812345678') ORDER BY id;
DROP INDEX fingerprints_btree;
-- a hash index
CREATE INDEX fingerprints_hash ON fingerprints USING hash (fp);
EXPLAIN (COSTS OFF) SELECT id FROM fingerprints WHERE fp = '8000000000000000';
SELECT id FROM fingerprints WHERE fp = '8000000000000000';
SELECT a.id FROM fingerprints AS a WHERE a.fp = (SELECT fp FROM fingerprints WHERE id = 7) ORDER BY id;
DROP INDEX fingerprints_hash;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- a unique index
CREATE TEMP TABLE unique_ones (fp simhash PRIMARY KEY);
INSERT INTO unique_ones SELECT fp FROM fingerprints WHERE fp IS NOT NULL ON CONFLICT DO NOTHING;
SELECT count(*) FROM unique_ones;

-- DISTINCT and GROUP BY, by hash and by sort
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT fp, count(*) FROM fingerprints GROUP BY fp;
SELECT n, count(*) FROM (SELECT fp, count(*) AS n FROM fingerprints GROUP BY fp) AS g GROUP BY n ORDER BY n;
SELECT count(*) FROM (SELECT DISTINCT fp FROM fingerprints) AS d;
RESET enable_sort;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT fp, count(*) FROM fingerprints GROUP BY fp;
SELECT n, count(*) FROM (SELECT fp, count(*) AS n FROM fingerprints GROUP BY fp) AS g GROUP BY n ORDER BY n;
SELECT count(*) FROM (SELECT DISTINCT fp FROM fingerprints) AS d;
RESET enable_hashagg;
-- joins
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
RESET enable_mergejoin;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
RESET enable_hashjoin;
RESET enable_nestloop;
-- partitions, by hash and by range
CREATE TEMP TABLE by_hash (fp simhash) PARTITION BY HASH (fp);
CREATE TEMP TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TEMP TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_hash SELECT fp FROM fingerprints;
SELECT count(*), count(DISTINCT tableoid) AS partitions FROM by_hash;
CREATE TEMP TABLE by_range (fp simhash) PARTITION BY RANGE (fp);
CREATE TEMP TABLE by_range_low PARTITION OF by_range FOR VALUES FROM (MINVALUE) TO ('8000000000000000');
CREATE TEMP TABLE by_range_high PARTITION OF by_range FOR VALUES FROM ('8000000000000000') TO (MAXVALUE);
INSERT INTO by_range SELECT fp FROM fingerprints WHERE id < 0 AND fp IS NOT NULL;
SELECT tableoid::regclass, fp FROM by_range ORDER BY fp;

--
-- Balls have equality, of center and radius, and no order
--
CREATE TEMP TABLE balls (id integer, b simhash_ball);
INSERT INTO balls SELECT i, simhash_ball(('x' || left(md5((i % 40)::text), 16))::bit(64)::simhash, i % 7 - 1)
                  FROM generate_series(1, 400) AS i;
INSERT INTO balls
VALUES (0, NULL), (-1, '(0000000000000000,-1)'), (-2, '(0000000000000000,64)'), (-3, '(ffffffffffffffff,-1)'),
       (-4, '(7fffffffffffffff,3)'), (-5, '(8000000000000000,2)');
ANALYZE balls;
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE (a.b = b.b) <> (a.b::text = b.b::text) OR (a.b <> b.b) <> (a.b::text <> b.b::text)
                           OR (simhash_ball_hash(a.b) = simhash_ball_hash(b.b)) <> (a.b = b.b)
                           OR (simhash_ball_hash_extended(a.b, 1) = simhash_ball_hash_extended(b.b, 1))
                               <> (a.b = b.b)) AS wrong
FROM balls AS a, balls AS b WHERE a.id <= 100 AND b.id <= 100 AND a.b IS NOT NULL AND b.b IS NOT NULL;
-- DISTINCT, GROUP BY, set operations, joins and rows
EXPLAIN (COSTS OFF) SELECT DISTINCT b FROM balls;
SELECT count(*) FROM (SELECT DISTINCT b FROM balls) AS d;
SELECT n, count(*) FROM (SELECT b, count(*) AS n FROM balls GROUP BY b) AS g GROUP BY n ORDER BY n;
SET enable_nestloop = off;
SELECT plan('SELECT count(*) FROM balls AS a JOIN balls AS b USING (b)', 'Join');
SELECT count(*) FROM balls AS a JOIN balls AS b USING (b);
RESET enable_nestloop;
SELECT '(0123456789abcdef,3)'::simhash_ball = '(0123456789ABCDEF,3)' AS equal,
       '(0123456789abcdef,3)'::simhash_ball IN ('(0123456789abcdef,2)', '(0123456789abcdef,3)') AS "in";
SELECT count(*) FROM (SELECT b FROM balls WHERE id = -1 UNION SELECT b FROM balls WHERE id IN (-1, -2)) AS u;
SELECT count(*) FROM (SELECT b FROM balls EXCEPT SELECT b FROM balls WHERE id > 0) AS e;
-- a hash index
CREATE INDEX balls_hash ON balls USING hash (b);
SET enable_seqscan = off;
SELECT plan('SELECT id FROM balls WHERE b = ''(7fffffffffffffff,3)''', 'Index Cond');
SELECT id FROM balls WHERE b = '(7fffffffffffffff,3)';
RESET enable_seqscan;
\set VERBOSITY terse
SELECT b FROM balls ORDER BY b;
\set VERBOSITY default

--
-- Distance
--
SELECT a <~> b AS operator, hamming_distance(a, b) AS function, b <~> a AS commuted, pg_typeof(a <~> b) AS type
FROM (VALUES ('0000000000000000'::simhash, '0000000000000000'::simhash), ('0000000000000000', 'ffffffffffffffff'),
             ('0000000000000000', '8000000000000000'), ('ffffffffffffffff', 'fffffffffffffffe'),
             ('0123456789abcdef', 'fedcba9876543210'),
             ('00000000ffffffff', 'ffffffff00000000'), ('0f0f0f0f0f0f0f0f', '0000000000000000'),
             (NULL, '0000000000000000'))
     AS v (a, b);
SELECT count(*) AS pairs, count(*) FILTER (WHERE (a.fp <~> b.fp) <> bit_count(a.fp::bit(64) # b.fp::bit(64))) AS wrong,
       count(*) FILTER (WHERE simhash_within(a.fp, b.fp, a.id) <> ((a.fp <~> b.fp) <= a.id)
                           OR (a.fp <@ simhash_ball(b.fp, a.id)) <> ((a.fp <~> b.fp) <= a.id)) AS inconsistent
FROM fingerprints AS a, fingerprints AS b WHERE a.id <= 100 AND b.id <= 100 AND a.fp IS NOT NULL AND b.fp IS NOT NULL;
-- a radius out of range is clamped, without an error: below 0 nothing is within it,
-- from 64 on everything is
SELECT r, simhash_within(a, a, r) AS same, simhash_within(a, b, r) AS one_bit,
       simhash_within(a, (~ a::bigint)::simhash, r) AS opposite,
       a <@ simhash_ball(a, r) AS same, b <@ simhash_ball(a, r) AS one_bit
FROM (VALUES ('0123456789abcdef'::simhash, '0123456789abcdee'::simhash)) AS f (a, b),
     (VALUES (-9223372036854775808), (-4294967296), (-1), (0), (1), (63), (64), (65), (4294967295), (4294967296),
             (9223372036854775807)) AS v (r)
ORDER BY r;
SELECT '0123456789abcdef' <@ '(0123456789abcdef,-1)'::simhash_ball AS empty,
       '0123456789abcdef'::simhash <@ '(fedcba9876543210,64)' AS everything,
       '0123456789abcdef'::simhash <@ '(fedcba9876543210,63)' AS nearly;
SELECT simhash_within(NULL, '0000000000000000', 3) IS NULL AS a,
       simhash_within('0000000000000000', '0000000000000000', NULL) IS NULL AS b,
       NULL::simhash <@ '(0123456789abcdef,64)' IS NULL AS c, '0000000000000000'::simhash <@ NULL IS NULL AS d;
-- leakproof: a scan below a security barrier view may compute distances
CREATE TEMP VIEW barrier WITH (security_barrier) AS SELECT * FROM fingerprints WHERE id <> 1;
EXPLAIN (COSTS OFF) SELECT id FROM barrier WHERE simhash_within(fp, 'ffffffffffffffff', 1);
SELECT id FROM barrier WHERE fp <~> 'ffffffffffffffff' <= 1 ORDER BY id;
DROP VIEW barrier;
DROP TABLE fingerprints;

-- functions that the planner writes into plans
SELECT simhash_between('0000000000000000', '000000000000000f', k, k - 1) = (k = 4) AS between_bits,
       simhash_radius(k + 0.7) = k AS radius, simhash_radius_below(k) = k - 1 AS radius_below,
       sketch_radius_below(k) < k AS sketch_radius_below, simhash_beside(1, 2, k = 4) = (k = 4) AS beside
FROM generate_series(3, 5) AS k;
SELECT containment_within(sk, q, r) = (sk <%>> q <= r) AS containment_within,
       containment_between(sk, q, r, 0.45) = (sk <%>> q <= r AND sk <%>> q > 0.45) AS containment_between,
       jaccard_within(sk, q, r) = (sk <%> q <= r) AS jaccard_within,
       jaccard_between(sk, q, r, 0.5) = (sk <%> q <= r AND sk <%> q > 0.5) AS jaccard_between,
       sk <%>@ sketch_ball(q, r) = (sk <%>> q <= r) AS in_ball,
       sketch_overlaps(sk, q) = (sk && q) AS overlaps, sketch_contained(sk, q) = (sk <@ q) AS contained
FROM (VALUES ('{1,2}'::bigint[], '{2,3}'::bigint[])) AS v (sk, q), unnest('{0.4,0.5,0.6,0.7}'::float8[]) AS r;
