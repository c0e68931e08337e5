--
-- The type minhash: signatures, estimates from them, aggregates
--
CREATE SCHEMA minhash_test;
SET search_path = minhash_test, public;

-- text form: bands x rows, the type of the features, the minima of each band
SELECT s::minhash FROM (VALUES
    ('1x1:word3:00000000'), ('2x1:word256:01234567-89ABCDEF'), ('1x2:char1:0123456789abcdef'),
    ('3x1:feature:00000000-00000001-ffffffff'), ('1x1:hash:fFfFfFfF')) AS v (s);
SELECT '{1x1:word3:00000000,NULL,2x1:hash:00000001-00000002}'::minhash[] AS array_of,
       to_jsonb('1x1:hash:00000007'::minhash) AS json;
SELECT minhash_send('2x1:word256:01234567-89abcdef') AS word, minhash_send('1x2:hash:0123456789abcdef') AS hash;
-- the largest signature, out of line, and the smallest, with a short header
CREATE TABLE sent (id integer, sig minhash, many minhash[]);
INSERT INTO sent VALUES
    (1, to_minhash('a b c d', 1024, 4, 1), '{}'), (2, to_minhash('a b c d', 64, 64, 2, 'char'), NULL),
    (3, to_minhash('a', 1, 1), '{1x1:hash:00000007,NULL}'),
    (4, to_minhash('a b c d e f'), ARRAY[to_minhash('a'), to_minhash('b')]),
    (5, (SELECT minhash_agg('a', 30, 1)), NULL), (6, NULL, NULL);
SELECT id, pg_column_size(sig) AS bytes, left(sig::text, 30) AS begins FROM sent ORDER BY id;
SELECT attstorage FROM pg_attribute WHERE attrelid = 'sent'::regclass AND attname = 'sig';
CREATE TABLE received (LIKE sent);
\getenv outputdir PG_ABS_BUILDDIR
\cd :outputdir
\copy sent TO 'results/minhash.binary' (FORMAT binary)
\copy received FROM 'results/minhash.binary' (FORMAT binary)
SELECT bool_and(s IS NOT DISTINCT FROM r) AS same_binary, count(*) FROM sent AS s JOIN received AS r USING (id);
TRUNCATE received;
\copy sent TO 'results/minhash.text'
\copy received FROM 'results/minhash.text'
SELECT bool_and(s IS NOT DISTINCT FROM r) AS same_text, count(*) FROM sent AS s JOIN received AS r USING (id);

-- a modifier restricts a column to one shape
CREATE TABLE typed (id integer, sig minhash(18, 7), small minhash(2,1,'char',5), any_shape minhash);
SELECT attname, format_type(atttypid, atttypmod) AS type
FROM pg_attribute WHERE attrelid = 'typed'::regclass AND attnum > 1;
INSERT INTO typed VALUES (1, to_minhash('a b c'), '2x1:char5:00000001-00000002', to_minhash('a', 7, 3));
INSERT INTO typed SELECT 2, sig, small, sig FROM typed;
SELECT id, sig = any_shape AS same FROM typed ORDER BY id;
SELECT to_minhash('a', 1024, 4)::minhash(1024, 4) IS NOT NULL AS most_bands,
       to_minhash('a', 64, 64)::minhash(64, 64) IS NOT NULL AS most_rows, NULL::minhash(2, 2) IS NULL AS "null";
CREATE TABLE generated (body text, sig minhash(20, 5) GENERATED ALWAYS AS (to_minhash(body, 20, 5)) STORED);
INSERT INTO generated VALUES ('some text'), (''), (NULL);
SELECT body, left(sig::text, 20) AS sig FROM generated ORDER BY body;
ALTER TABLE typed ALTER any_shape TYPE minhash(20, 5) USING to_minhash('a', 20, 5);

--
-- The parameters of signatures.  test/reference/minhash_reference.py made these
-- vectors.
--
CREATE TABLE vectors (what text, sig minhash, expected minhash);
INSERT INTO vectors VALUES
    ('one token', to_minhash(ARRAY['abc'], 2, 2, 1), '2x2:word1:7449c6175d970492-e93166a1355433ae'),
    ('words', to_minhash('Hello, World!', 2, 1, 2), '2x1:word2:ca068978-c3b190ec'),
    ('numbers', to_minhash(ARRAY[0, 1, -1], 1, 4), '1x4:hash:3a383d3a01a0abc319af19604110543e'),
    ('the empty string', (SELECT minhash_agg('', 2, 1)), '2x1:feature:5bd639b6-a8990a33'),
    ('a sentence, 5 words', to_minhash('The quick brown fox jumps over the lazy dog.', 2, 2, 5),
     '2x2:word5:04691c7e042d1431-2df2061da78fa973'),
    ('characters', to_minhash('The quick brown fox jumps over the lazy dog.', 3, 1, 4, 'char'),
     '3x1:char4:03650d75-0834715b-00f85fc5'),
    ('Chinese', to_minhash('人人生而自由，在尊严和权利上一律平等。', 1, 3), '1x3:word3:1352832337b0716a19332445'),
    ('symbols', to_minhash('★☆★ → ← !?', 1, 2, 1), '1x2:word1:12bf420704c4e1bd'),
    ('the default', to_minhash('The quick brown fox jumps over the lazy dog.'),
     '18x7:word3:'
     '1dd54b85688f3f813ffdf777290ef84b3bc3117f00d2459606384a76-'
     '06fb26d01693325b02c036d015c26c6123f937392d91c7910058d293-'
     '1094ca35368efd1e0194e2b837fcd85c1fe752741f73433431c57570-'
     '0566278344095ab126e04545318c815e2bd3481b092d5e5b12d38880-'
     '092aeb8f0b712a684307edb3196b673417174f5a010dd03004791f74-'
     '19910e200ed8d29902ce0d2001008e2c214d1bce3c7e7171004fda73-'
     '33f54375026eeeea58548fe40e72d9507179baf309645c4f26d1df01-'
     '03b3f9ca284d3f8f1bd5a8c81837d6932adab4af16222caa43a862f6-'
     '0c740e474f78892e05fc92bc0d5b1cc61764c5e1087d3aec5224459a-'
     '43ed2036290fc8001a03e00b27ca7f4b3f4e556e4f4b7c65111027dd-'
     '0204e42e068329ea1c6cae3300f3038014ffc38713b6d51f2b9a30b2-'
     '01e5909727e85e0132dc8d272578028d1be300bd0a0dd8ec4eb48ab0-'
     '0efc3ee200b78d5c5920abe01c16444a0d60a57b03fc3d1300de589a-'
     '00cf0a894fd337f22b7db24525d6ffde4437128c200c9fa0371f4a4a-'
     '1ea94d050ae8b9671206957b0c00af4c0a0dd8184bddd2404a4bf805-'
     '11943a240f388ea76c7c7fca014303f236e7b0ac21ca753226ddcfe7-'
     '3ede9f5836e1e3eb0eb9de6a14271dce0507001733b7f9e80e6460b3-'
     '08bababe4abe93040ce3bb474280aae0020dfdcc31137e4982f152cc'),
    ('greatest numbers', to_minhash(ARRAY[9223372036854775807, -9223372036854775808], 1, 2),
     '1x2:hash:0d61d7f4cf84f3a0'),
    ('features', (SELECT minhash_agg(f, 2, 2) FROM unnest(ARRAY['a', 'é', 'a']) AS f),
     '2x2:feature:2efaa1ca96ffccb0-7cbb8cb2023d25f9');
SELECT count(*) AS compared, array_agg(what) FILTER (WHERE sig IS DISTINCT FROM expected) AS wrong FROM vectors;
SELECT minhash_bands('2x2:word1:7449c6175d970492-e93166a1355433ae')
           = '{-6369766787273261078,6766411843975905146}' AS bands;
-- defaults, by name and by NULL
SELECT to_minhash('a b c d')
           = to_minhash(body => 'a b c d', bands => 18, rows => 7, width => 3, unit => 'word') AS words,
       to_minhash('a b c d', unit => 'char') = to_minhash('a b c d', NULL, NULL, 8, 'char') AS characters,
       to_minhash(ARRAY['a', 'b', 'c', 'd'])
           = to_minhash(tokens => ARRAY['a', 'b', 'c', 'd'], bands => 18, rows => 7, width => 3) AS tokens,
       to_minhash(ARRAY[1, 2]) = to_minhash(hashes => ARRAY[1, 2], bands => 18, rows => 7) AS numbers,
       minhash_agg('a') = minhash_agg('a', NULL, NULL) AS agg_null, minhash_agg('a') = minhash_agg('a', 18, 7) AS agg;
-- a set: order, repetition and the text's notation make no difference
SELECT to_minhash('A rose is a rose, is a ROSE!', width => 1) = to_minhash('is rose a', width => 1) AS set,
       to_minhash('the cat sat') = to_minhash(ARRAY['the', 'cat', 'sat']) AS as_tokens,
       to_minhash(ARRAY[3, 1, 2, 1]) = to_minhash(ARRAY[1, 2, 3]) AS numbers,
       to_minhash('two words') = to_minhash(ARRAY['two words'], width => 3) AS shorter_than_a_shingle,
       to_minhash($$近乎重复$$, width => 2) = to_minhash(ARRAY['近', '乎', '重', '复'], width => 2) AS ideographs;
-- minima depend on the features only, not on the shape
SELECT left(replace(split_part(to_minhash('a b c d', 10, 5)::text, ':', 3), '-', ''), 400)
           = left(replace(split_part(to_minhash('a b c d')::text, ':', 3), '-', ''), 400) AS places;
-- without features there is no signature
SELECT to_minhash('') IS NULL AS empty, to_minhash(E' \n') IS NULL AS blank, to_minhash(NULL::text) IS NULL AS "null",
       to_minhash('{}'::text[]) IS NULL AS no_tokens, to_minhash(NULL::text[]) IS NULL AS null_tokens,
       to_minhash('{}'::bigint[]) IS NULL AS no_numbers, to_minhash(NULL::bigint[]) IS NULL AS null_numbers,
       to_minhash('!!!') IS NOT NULL AS symbols, to_minhash(ARRAY['']) IS NOT NULL AS empty_token;

--
-- Estimates from signatures
--
--only a|, |only b|, |both|: estimates against the true values, of consecutive ids
CREATE TABLE sets AS
    SELECT i AS id, only_a, only_b, both_have,
           to_minhash(array(SELECT generate_series(1::bigint, only_a + both_have)), 64, 16) AS a,
           to_minhash(array(SELECT generate_series(only_a + 1::bigint, only_a + both_have + only_b)), 64, 16) AS b
    FROM (VALUES (1, 0, 0, 100), (2, 10, 10, 80), (3, 20, 30, 50), (4, 45, 45, 10), (5, 50, 50, 0), (6, 0, 900, 100),
                 (7, 900, 0, 100),
                 (8, 1, 999, 5), (9, 30000, 10000, 60000), (10, 0, 0, 1),
                 (11, 1, 1, 0)) AS v (i, only_a, only_b, both_have);
SELECT id, round(both_have / (only_a + only_b + both_have)::numeric, 2) AS resemblance,
       round(jaccard(a, b)::numeric, 2) AS estimated, round((a <%> b)::numeric, 2) AS distance,
       round(both_have / (only_a + both_have)::numeric, 2) AS containment,
       round(containment(a, b)::numeric, 2) AS estimated,
       only_a + both_have AS cardinality, round(minhash_cardinality(a)) AS estimated
FROM sets ORDER BY id;
-- within four standard errors
SELECT id FROM sets,
     LATERAL (SELECT both_have / (only_a + only_b + both_have)::float8 AS s,
                     both_have / (only_a + both_have)::float8 AS c, (only_a + both_have)::float8 AS m) AS t
WHERE abs(jaccard(a, b) - s) > 4 * sqrt(s * (1 - s) / 1024) OR abs(minhash_cardinality(a) / m - 1) > 4 / sqrt(1022)
   OR abs(containment(a, b) - c) > 4 * sqrt(c * (1 - c) / (1024 * m / (m + only_b)));
-- one division: every distance is the nearest float8 to d / n
SELECT count(*) AS distances, bool_and((least <%> sig) = d / 126.0::float8) AS exact,
       count(*) FILTER (WHERE 1 - jaccard(least, sig) <> least <%> sig) > 0 AS complement_is_not
FROM (SELECT d, ('126x1:hash:' || repeat('00000000-', 125) || '00000000')::minhash AS least,
             ('126x1:hash:' || repeat('00000001-', d) || repeat('00000000-', 125 - d) || '00000000')::minhash AS sig
      FROM generate_series(0, 125) AS d) AS s;
SELECT a <%> b = b <%> a AS commutes, jaccard(a, b) = jaccard(b, a) AS jaccard_does, a <%> a AS itself,
       jaccard_distance(a, b) = a <%> b AS function, (a % b) = (b % a) AS band
FROM sets WHERE id = 3;
SELECT jaccard(NULL, sig) IS NULL AND sig <%> NULL IS NULL AND (sig % NULL) IS NULL
  AND containment(sig, NULL::minhash) IS NULL AND minhash_cardinality(NULL::minhash) IS NULL AS "null"
FROM sent WHERE id = 4;
-- a is so small beside b that nothing is known; containment of a subset is exact
SELECT containment('1x2:hash:0000000200000002'::minhash, '1x2:hash:0000000100000001') IS NULL AS unknown,
       containment('1x2:hash:0000000200000001'::minhash, '1x2:hash:0000000100000001') AS contained,
       containment('1x2:hash:0000000100000001'::minhash, '1x2:hash:0000000200000001') AS half,
       containment('1x2:hash:0000000100000001'::minhash, '1x2:hash:0000000200000002') AS nothing;
-- arguments that cost more than arithmetic are evaluated after it
EXPLAIN (COSTS OFF)
SELECT FROM sets WHERE minhash_cardinality(a) > 5 AND array_length(minhash_bands(a), 1) > 5 AND id + 1 + 1 + 1 + 1 > 5;
-- the smallest and the largest possible minima
SELECT minhash_cardinality('1x1:hash:00000007'::minhash) AS one_minimum,
       minhash_cardinality('2x1:hash:ffffffff-ffffffff'::minhash) AS least,
       round(minhash_cardinality('2x1:hash:00000000-00000000'::minhash)) AS greatest;
-- the function of this name on texts is still found
SELECT containment('a b c', 'a b c d');

-- bands: equal minima at each position
SELECT a, b, a % b AS shares, shares_band(a, b) AS function, minhash_bands(a) && minhash_bands(b) AS keys,
       round((a <%> b)::numeric, 3) AS distance
FROM (VALUES
    ('2x2:hash:0000000100000002-0000000300000004'::minhash, '2x2:hash:0000000100000002-0000000500000006'::minhash),
    ('2x2:hash:0000000100000002-0000000300000004', '2x2:hash:0000000500000006-0000000300000004'),
    ('2x2:hash:0000000100000002-0000000300000004', '2x2:hash:0000000500000002-0000000300000006'),
    ('2x2:hash:0000000100000002-0000000300000004', '2x2:hash:0000000300000004-0000000100000002'),
    ('2x2:hash:0000000100000002-0000000100000002', '2x2:hash:0000000300000004-0000000100000002')) AS v (a, b);
SELECT array_length(minhash_bands(to_minhash('a')), 1) AS keys,
       cardinality(array(
           SELECT DISTINCT unnest(minhash_bands('3x1:hash:00000001-00000001-00000001')))) AS of_equal_bands;
-- % and equality of the bands' bigints agree
CREATE TABLE docs AS
    SELECT i AS id,
           to_minhash(array(SELECT hashint8extended(j / 10 * i % 90, 0) % 300 FROM generate_series(1, 200) AS j)) AS sig
    FROM generate_series(1, 300) AS i;
SELECT count(*) > 1000 AS many, bool_and(jaccard(a.sig, b.sig) > 0) AS near,
       count(*) FILTER (WHERE a.id < b.id) * 2 + 300 = count(*) AS symmetric
FROM docs AS a JOIN docs AS b ON a.sig % b.sig;
SELECT count(*) AS compared,
       count(*) FILTER (WHERE (a.sig % b.sig) <> (minhash_bands(a.sig) && minhash_bands(b.sig))) AS wrong
FROM docs AS a, docs AS b;

--
-- Aggregates and unions
--
CREATE TABLE features (doc integer, feature text);
INSERT INTO features VALUES (1, 'a'), (1, 'rose'), (1, 'is'), (2, 'a'), (2, 'a'), (2, NULL), (3, NULL), (4, '');
SELECT doc, minhash_agg(feature, 2, 1) FROM features GROUP BY doc ORDER BY doc;
SELECT minhash_agg(feature) IS NULL AS agg, minhash_agg(feature, 2, 2) IS NULL AS shaped FROM features WHERE false;
-- features are not normalised, and have the hashes of tokens
SELECT minhash_agg('A') <> minhash_agg('a') AS raw,
       split_part(minhash_agg('A')::text, ':', 3)
           = split_part(to_minhash(ARRAY['A'], width => 1)::text, ':', 3) AS as_tokens;
SELECT minhash_union(to_minhash(ARRAY[1, 2, 3]), to_minhash(ARRAY[3, 4])) = to_minhash(ARRAY[1, 2, 3, 4]) AS united,
       minhash_union(to_minhash('a b c', width => 1), to_minhash('c d', width => 1))
           = to_minhash('d c b a', width => 1) AS texts,
       minhash_union(to_minhash('a'), NULL) IS NULL AS "null";
-- outside of aggregates, the functions do not change their arguments
CREATE FUNCTION changed() RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
    a minhash := to_minhash(ARRAY[5]);
    b minhash := to_minhash(ARRAY[3]);
    f minhash := minhash_agg('f');
BEGIN
    RETURN ARRAY[minhash_union(a, b) = a, a <> to_minhash(ARRAY[5]), b <> to_minhash(ARRAY[3]),
                 minhash_agg_transition(f, 'g') = f, f <> minhash_agg('f')];
END $$;
SELECT changed();
SELECT minhash_union_agg(sig) = to_minhash(ARRAY[1, 2, 3, 4, 5]) AS union,
       minhash_union_agg(DISTINCT sig) = to_minhash(ARRAY[1, 2, 3, 4, 5]) AS "distinct",
       minhash_union_agg(sig) FILTER (WHERE i = 2) = to_minhash(ARRAY[3]) AS filter,
       minhash_union_agg(sig ORDER BY i DESC) = to_minhash(ARRAY[1, 2, 3, 4, 5]) AS ordered,
       minhash_union_agg(NULL) IS NULL AS nothing
FROM (VALUES (1, to_minhash(ARRAY[1, 2])), (2, to_minhash(ARRAY[3])), (3, NULL),
             (4, to_minhash(ARRAY[4, 5, 1]))) AS v (i, sig);
-- windows: the state of one row does not change with the next row
CREATE TABLE numbers AS
    SELECT i, to_minhash(ARRAY[i]) AS sig, i::text AS feature FROM generate_series(1::bigint, 40) AS i;
SELECT bool_and(united = to_minhash(array(SELECT generate_series(1, i)))) AS running,
       bool_and(sliding = minhash_union(sig, before)) AS sliding, bool_and(agg = expected) AS features
FROM (SELECT i, sig, lag(sig, 1, sig) OVER (ORDER BY i) AS before, minhash_union_agg(sig) OVER (ORDER BY i) AS united,
             minhash_union_agg(sig) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS sliding,
             minhash_agg(feature) OVER (ORDER BY i) AS agg,
             (SELECT minhash_agg(n.feature) FROM numbers AS n WHERE n.i <= numbers.i) AS expected
      FROM numbers) AS w;
SELECT i % 2 AS odd, minhash_union_agg(sig) = to_minhash(array_agg(i)) AS same
FROM numbers GROUP BY ROLLUP (i % 2) ORDER BY 1;
-- serial, parallel and merged
CREATE TABLE pages (id integer, site integer, feature text, sig minhash);
INSERT INTO pages
SELECT i, i % 3, nullif('feature ' || i % 3000, 'feature 7'),
       CASE WHEN i % 5 > 0 THEN to_minhash(ARRAY[i % 1000, i]) END FROM generate_series(1, 20000) AS i;
ANALYZE pages;
CREATE TABLE serial AS
    SELECT site, minhash_agg(feature) AS agg, minhash_agg(feature, 5, 5) AS shaped, minhash_union_agg(sig) AS united
    FROM pages GROUP BY GROUPING SETS ((), (site));
SELECT site, agg = minhash_agg_all AS merged
FROM serial, (SELECT minhash_union_agg(agg) AS minhash_agg_all FROM serial WHERE site IS NOT NULL) AS m
WHERE site IS NULL;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT minhash_agg(feature), minhash_agg(feature, 5, 5), minhash_union_agg(sig) FROM pages;
SELECT minhash_agg(feature) = (SELECT agg FROM serial WHERE site IS NULL) AS agg,
       minhash_agg(feature, 5, 5) = (SELECT shaped FROM serial WHERE site IS NULL) AS shaped,
       minhash_union_agg(sig) = (SELECT united FROM serial WHERE site IS NULL) AS united FROM pages;
SELECT site, p.agg = s.agg AS agg, p.shaped = s.shaped AS shaped, p.united = s.united AS united
FROM (SELECT site, minhash_agg(feature) AS agg, minhash_agg(feature, 5, 5) AS shaped, minhash_union_agg(sig) AS united
      FROM pages GROUP BY 1) AS p JOIN serial AS s USING (site) ORDER BY site;
-- no worker finds a row, or only some workers do
SELECT minhash_agg(feature) IS NULL AS agg, minhash_union_agg(sig) IS NULL AS united FROM pages WHERE id < 0;
SELECT minhash_agg(feature) = minhash_agg('feature 1') AS agg, minhash_union_agg(sig) = to_minhash(ARRAY[1]) AS united
FROM pages WHERE id = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pages WHERE to_minhash(feature, 1, 1) % to_minhash('feature 8', 1, 1);
SELECT count(*) FROM pages WHERE to_minhash(feature) % to_minhash('feature 8');
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;

--
-- Order and equality: by parameters, then by minima; signatures with different
-- parameters are not equal
--
CREATE TABLE ordered (id integer, sig minhash);
INSERT INTO ordered VALUES
    (1, '1x1:word3:00000001'), (2, '1x1:word3:80000000'), (3, '1x1:word4:00000000'), (4, '1x1:char1:00000000'),
    (5, '1x1:hash:00000000'),
    (6, '1x2:word3:0000000000000000'), (7, '1x2:word3:0000000000000001'), (8, '1x2:word3:0000000100000000'),
    (9, '2x1:word3:00000000-00000000'), (10, NULL);
SELECT id FROM ordered ORDER BY sig, id;
SELECT count(*) AS compared,
       count(*) FILTER (WHERE (a.sig < b.sig) <> (a.id < b.id) OR (a.sig <= b.sig) <> (a.id <= b.id)
                           OR (a.sig > b.sig) <> (a.id > b.id) OR (a.sig >= b.sig) <> (a.id >= b.id)
                           OR (a.sig = b.sig) <> (a.id = b.id) OR (a.sig <> b.sig) <> (a.id <> b.id)
                           OR sign(minhash_cmp(a.sig, b.sig)) <> sign(a.id - b.id)) AS wrong
FROM ordered AS a, ordered AS b WHERE a.id < 10 AND b.id < 10;
INSERT INTO ordered SELECT 100 + i, to_minhash(ARRAY[i % 300]) FROM generate_series(1, 1000) AS i;
ANALYZE ordered;
SELECT count(DISTINCT sig) - count(DISTINCT minhash_hash(sig)) < 3 AS spread,
       bool_and(minhash_hash(sig) = minhash_hash(sig::text::minhash)) AS equal,
       bool_and((minhash_hash_extended(sig, 0) & 4294967295) = (minhash_hash(sig)::bigint & 4294967295)) AS extended,
       count(DISTINCT minhash_hash_extended(sig, 1)) = count(DISTINCT sig) AS seeded FROM ordered;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT sig, count(*) FROM ordered GROUP BY sig;
SELECT n, count(*) FROM (SELECT sig, count(*) AS n FROM ordered GROUP BY sig) AS g GROUP BY n ORDER BY n;
RESET enable_sort;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT sig, count(*) FROM ordered GROUP BY sig;
SELECT n, count(*) FROM (SELECT sig, count(*) AS n FROM ordered GROUP BY sig) AS g GROUP BY n ORDER BY n;
RESET enable_hashagg;
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM ordered AS a JOIN ordered AS b USING (sig);
SELECT count(*) FROM ordered AS a JOIN ordered AS b USING (sig);
RESET enable_mergejoin;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM ordered AS a JOIN ordered AS b USING (sig);
SELECT count(*) FROM ordered AS a JOIN ordered AS b USING (sig);
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT count(*)
FROM (SELECT sig FROM ordered UNION SELECT to_minhash(ARRAY[i]) FROM generate_series(250, 349) AS i) AS u;
CREATE UNIQUE INDEX ON vectors (sig);
CREATE INDEX ON ordered USING hash (sig);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT what FROM vectors WHERE sig = '2x1:word2:ca068978-c3b190ec';
SELECT what FROM vectors WHERE sig = '2x1:word2:ca068978-c3b190ec';
SELECT count(*) FROM ordered WHERE sig = to_minhash(ARRAY[7]);
RESET enable_seqscan;
-- the widest signature that a btree index accepts, and the widest of all
CREATE TABLE wide (sig minhash);
CREATE INDEX ON wide USING hash (sig);
INSERT INTO wide VALUES (to_minhash('a', 1024, 4)), (to_minhash('a', 671, 1));
CREATE INDEX ON wide (sig) WHERE cardinality(minhash_bands(sig)) < 1024;
\set VERBOSITY sqlstate
INSERT INTO wide VALUES (to_minhash('a', 672, 1));
\set VERBOSITY default

SET client_min_messages = warning;
DROP SCHEMA minhash_test CASCADE;
