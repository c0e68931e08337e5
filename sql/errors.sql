--
-- Bad input: every error has the right code, and a hint that says what to do
--
CREATE FUNCTION pg_temp.meets(command text)
RETURNS TABLE (code text, message text, hint text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command INTO message;
    code := '00000';
    hint := 'no error';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
CREATE FUNCTION pg_temp.meet(VARIADIC commands text[])
RETURNS TABLE (command text, code text, message text, hint text) LANGUAGE sql
BEGIN ATOMIC
    SELECT c, m.* FROM unnest(commands) WITH ORDINALITY AS u (c, i), pg_temp.meets(c) AS m ORDER BY i;
END;
\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
\pset recordsep '\n'

-- the text form of a fingerprint: 16 hexadecimal digits, nothing else
SELECT * FROM pg_temp.meet(
    $$SELECT ''::simhash$$,
    $$SELECT '0123456789abcde'::simhash$$,
    $$SELECT '0123456789abcdef0'::simhash$$,
    $$SELECT '0123456789abcdeg'::simhash$$,
    $$SELECT '0123456789abcde '::simhash$$,
    $$SELECT ' 0123456789abcdef'::simhash$$,
    $$SELECT '0123456789abcdef '::simhash$$,
    $$SELECT '0x123456789abcde'::simhash$$,
    $$SELECT '-123456789abcdef'::simhash$$,
    $$SELECT '+123456789abcdef'::simhash$$,
    $$SELECT '0123456789abcdef,3'::simhash$$,
    $$SELECT E'0123456789abcdef\n'::simhash$$,
    $$SELECT '０１２３４５６７'::simhash$$,
    $$SELECT 'some text'::simhash$$,
    $$SELECT 'some text'::text::simhash$$,
    $$SELECT 'some text'::varchar::simhash$$,
    $$SELECT 'some text'::char(16)::simhash$$,
    $$SELECT '0123456789abcde'::char(16)::simhash$$,
    $$SELECT '0123456789abcdef '::text::simhash$$,
    $$SELECT ('some text, so long that not all of it is shown, in whatever language: ' || repeat('é', 100))::simhash$$,
    $$SELECT repeat('語', 100)::simhash$$,
    $$SELECT simhash '42'$$);
-- decimal numbers, which other libraries write: the hint says how to read them
SELECT * FROM pg_temp.meet(
    $$SELECT '42'::simhash$$,
    $$SELECT '13828064139318302993'::simhash$$,
    $$SELECT '-4618679934391248623'::simhash$$,
    $$SELECT '13828064139318302993'::text::simhash$$,
    $$SELECT '13828064139318302993'::varchar::simhash$$,
    $$SELECT '-4618679934391248623'::name::simhash$$,
    $$SELECT '13828064139318302993'::numeric::simhash$$,
    $$SELECT '-4618679934391248623'::bigint::simhash$$,
    $$SELECT '1234567890123456'::simhash AS sixteen_digits_are_hexadecimal$$,
    $$SELECT '-'::simhash$$,
    $$SELECT '4e2'::simhash$$);

-- what other programs print: the hint says what to write, and that is the fingerprint
SELECT s.printed, hint, bool_or(a.fp = s.fp) AS is_it
FROM (VALUES
    ('405794952704d4a', '0405794952704d4a'::simhash),           -- %x, Long.toHexString, to_hex()
    ('405794952704D4A', '0405794952704d4a'),                    -- MySQL's HEX()
    ('12', '0000000000000012'),
    ('0xbfe727120b629911', 'bfe727120b629911'),                 -- Python's hex()
    ('0x405794952704d4a', '0405794952704d4a'),
    ('0X405794952704D4A', '0405794952704d4a'),
    ('-0x4018d8edf49d66ef', 'bfe727120b629911'),
    ('-4018d8edf49d66ef', 'bfe727120b629911'),                  -- BigInt.toString(16)
    ('-7fffffffffffffff', '8000000000000001'),
    ('\xbfe727120b629911', 'bfe727120b629911'),                 -- psql
    (repeat('1', 64), 'ffffffffffffffff'),                      -- sharp-phash
    ('1' || repeat('01', 30), '1555555555555555'),              -- Long.toBinaryString
    ('0b1' || repeat('01', 30), '1555555555555555'),            -- Python's bin()
    ('0b' || repeat('1', 64), 'ffffffffffffffff'),
    ('13828064139318302993', 'bfe727120b629911'),
    ('42', '000000000000002a'),
    ('-4618679934391248623', 'bfe727120b629911'),
    ('-1', 'ffffffffffffffff'),
    ('p:bfe727120b629911', 'bfe727120b629911'),                 -- goimagehash
    ('a:bfe727120b629911', 'bfe727120b629911'),
    ('d:bfe727120b629911', 'bfe727120b629911'),
    ('v+cnEgtimRE=', 'bfe727120b629911'),
    ('"bfe727120b629911"', 'bfe727120b629911'),
    (' bfe727120b629911', 'bfe727120b629911'),
    ('bf:e7:27:12:0b:62:99:11', 'bfe727120b629911'),
    ('bfe727120b6299110123456789abcdef', 'bfe727120b629911')    -- of 128 bits, the first word
    ) AS s (printed, fp),
    pg_temp.meets(format('SELECT %L::simhash', printed)) AS m,
    regexp_matches(hint, '[^ ](?:[^ ]|, |, \S+)*::simhash', 'g') AS advice,
    LATERAL (SELECT message::simhash FROM pg_temp.meets(
        format('SELECT %s FROM (SELECT %L::text) AS p (h)', advice[1], printed))) AS a (fp)
GROUP BY s.printed, s.fp, hint
ORDER BY hint COLLATE "C", s.printed COLLATE "C";

-- the text form of a ball: (fingerprint,radius), the radius from -1 to 64
SELECT * FROM pg_temp.meet(
    $$SELECT ''::simhash_ball$$,
    $$SELECT '()'::simhash_ball$$,
    $$SELECT '(0123456789abcdef)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,3'::simhash_ball$$,
    $$SELECT '0123456789abcdef,3'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,3)x'::simhash_ball$$,
    $$SELECT '(0123456789abcde,3)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef0,3)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef;3)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,3.5)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,x)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,0x3)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,--1)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,-)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,-2)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,65)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,2147483648)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,4294967299)'::simhash_ball$$,
    $$SELECT '(0123456789abcdef,18446744073709551619)'::simhash_ball$$,
    $$SELECT ('(0123456789abcdef,' || repeat('9', 100) || ')')::simhash_ball$$,
    $$SELECT repeat('(0123456789abcdef,3)', 4)::simhash_ball$$,
    $$SELECT '(0123456789abcdef,99999999999999999999999)'::simhash_ball$$);

-- numeric: integers from 0 to 2^64-1
SELECT * FROM pg_temp.meet(
    $$SELECT (-1)::numeric::simhash$$,
    $$SELECT 18446744073709551616::simhash$$,
    $$SELECT 1e30::simhash$$,
    $$SELECT 1e1000::simhash$$,
    $$SELECT 0.5::simhash$$,
    $$SELECT 18446744073709551615.5::simhash$$,
    $$SELECT (-0.5)::numeric::simhash$$,
    $$SELECT 'NaN'::numeric::simhash$$,
    $$SELECT 'Infinity'::numeric::simhash$$,
    $$SELECT '-Infinity'::numeric::simhash$$);
-- integer: not negative
SELECT * FROM pg_temp.meet(
    $$SELECT (-1)::smallint::simhash$$,
    $$SELECT (-32768)::smallint::simhash$$,
    $$SELECT (-1)::simhash$$,
    $$SELECT (-2147483648)::integer::simhash$$,
    $$SELECT (-1)::bigint::simhash$$);
-- bit(64) and 8 bytes
SELECT * FROM pg_temp.meet(
    $$SELECT b''::bit varying::bit(1)::simhash$$,
    $$SELECT b'1010'::simhash$$,
    $$SELECT repeat('1', 63)::bit(63)::simhash$$,
    $$SELECT repeat('1', 65)::bit(65)::simhash$$,
    $$SELECT '\x'::bytea::simhash$$,
    $$SELECT '\x0123456789abcd'::bytea::simhash$$,
    $$SELECT '\x0123456789abcdef01'::bytea::simhash$$);
-- a text in place of a fingerprint
CREATE TEMP TABLE t (fp simhash);
SELECT * FROM pg_temp.meet(
    $$INSERT INTO t VALUES ('some text'::text)$$,
    $$SELECT 'some text' <~> simhash('a')$$);
-- (without the hint, which 19 splits)
SELECT command, code, message FROM pg_temp.meet(
    $$SELECT FROM unnest(ARRAY['The quick brown fox jumps over it']) AS body WHERE body <~> simhash('a') <= 3$$,
    $$SELECT FROM t WHERE fp = 'The quick brown fox'::varchar$$);
-- no other casts, and no implicit ones
SELECT command, code FROM pg_temp.meet(
    $$SELECT 1.5::float8::simhash$$,
    $$SELECT true::simhash$$,
    $$INSERT INTO t VALUES (42::bigint)$$,
    $$INSERT INTO t VALUES ('0123456789abcdef'::char(16))$$,
    $$INSERT INTO t VALUES ('0123456789abcdef'::name)$$,
    $$INSERT INTO t VALUES (42::smallint)$$,
    $$SELECT ARRAY[simhash('a')] = ARRAY['0123456789abcdef']$$,
    $$SELECT simhash('a') = ANY (ARRAY['0123456789abcdef'])$$,
    $$SELECT simhash('a') IN ('0123456789abcdef'::text)$$,
    $$SELECT simhash('a') <~> '0123456789abcdef'::text$$,
    $$SELECT simhash_ball('0123456789abcdef'::varchar, 3)$$,
    $$SELECT coalesce(simhash('a'), '0123456789abcdef'::text)$$,
    $$SELECT simhash('a') UNION SELECT '0123456789abcdef'::text$$,
    $$INSERT INTO t VALUES (42.0)$$,
    $$SELECT FROM t WHERE fp = 42::bigint$$,
    $$SELECT simhash('a') <~> 42::bigint$$,
    $$SELECT simhash('a') + 1$$);

-- errors of PostgreSQL itself: docs/faq.md says what to write instead
CREATE TEMP TABLE documents (body text, fp simhash, sk bigint[]);
SELECT command, code FROM pg_temp.meet(
    $$CREATE INDEX ON documents USING simhash (body)$$,
    $$CREATE UNIQUE INDEX ON documents USING simhash (fp)$$,
    $$CREATE INDEX ON documents USING simhash (body, fp)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING simhash (fp WITH <~>)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING gist (fp WITH <~>)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING simhash (fp WITH =~=)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING simhash (sk WITH <%>)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING simhash (sk WITH =~=)$$,
    $$ALTER TABLE documents ADD EXCLUDE USING simhash (sketch_ball(body, 0.2) WITH =~=)$$,
    $$SELECT FROM documents WHERE body <%> 'some text' <= 0.2$$);
DROP TABLE documents;

-- width: 1 to 256
SELECT * FROM pg_temp.meet(
    $$SELECT simhash('a b c', 0)$$,
    $$SELECT simhash('a b c', -1)$$,
    $$SELECT simhash('a b c', 257)$$,
    $$SELECT simhash('a b c', 2147483647)$$,
    $$SELECT simhash('', 0)$$,
    $$SELECT simhash('a b c', 0, 'char')$$,
    $$SELECT simhash('a b c', 257, 'char')$$,
    $$SELECT simhash(ARRAY['a', 'b'], 0)$$,
    $$SELECT simhash(ARRAY['a', 'b'], 257)$$,
    $$SELECT shingles('a b c', 0)$$,
    $$SELECT shingles('a b c', 257)$$,
    $$SELECT shingles('a b c', 257, 'char')$$,
    $$SELECT shingles(ARRAY['a', 'b'], 0)$$,
    $$SELECT shingles(ARRAY['a', 'b'], 257)$$,
    $$SELECT resemblance('a', 'b', 0)$$,
    $$SELECT resemblance('a', 'b', 257)$$,
    $$SELECT resemblance(ARRAY['a'], ARRAY['b'], 0)$$,
    $$SELECT resemblance(ARRAY['a'], ARRAY['b'], 257)$$,
    $$SELECT containment('a', 'b', 0)$$,
    $$SELECT containment('a', 'b', 257)$$,
    $$SELECT containment(ARRAY['a'], ARRAY['b'], 0)$$,
    $$SELECT containment(ARRAY['a'], ARRAY['b'], 257)$$);
-- unit: 'word' or 'char'
SELECT * FROM pg_temp.meet(
    $$SELECT simhash('a b c', 2, 'words')$$,
    $$SELECT simhash('a b c', 2, '')$$,
    $$SELECT simhash('a b c', 2, 'character')$$,
    $$SELECT simhash('', 2, 'line')$$,
    $$SELECT shingles('a b c', 2, 'line')$$,
    $$SELECT resemblance('a', 'b', 2, 'line')$$,
    $$SELECT containment('a', 'b', 2, 'line')$$,
    $$SELECT simhash('a title', 2, repeat('a text ', 20))$$);

-- arrays: one dimension, no NULL
SELECT * FROM pg_temp.meet(
    $$SELECT simhash(ARRAY['a', NULL, 'c'])$$,
    $$SELECT simhash(ARRAY[NULL]::text[])$$,
    $$SELECT simhash(ARRAY[['a', 'b'], ['c', 'd']])$$,
    $$SELECT simhash(ARRAY[['a', 'b']], 1)$$,
    $$SELECT simhash(ARRAY['a', NULL], ARRAY[1.0, 2.0])$$,
    $$SELECT simhash(ARRAY['a', 'b'], ARRAY[1.0, NULL])$$,
    $$SELECT simhash(ARRAY[['a', 'b'], ['c', 'd']], ARRAY[[1.0, 2.0], [3.0, 4.0]])$$,
    $$SELECT simhash(ARRAY['a', 'b', 'c', 'd'], ARRAY[[1.0, 2.0], [3.0, 4.0]])$$,
    $$SELECT simhash(ARRAY[1, NULL]::bigint[])$$,
    $$SELECT simhash(ARRAY[[1, 2], [3, 4]]::bigint[])$$,
    $$SELECT simhash(ARRAY[1, NULL]::bigint[], ARRAY[1.0, 1.0])$$,
    $$SELECT simhash(ARRAY[1, 2]::bigint[], ARRAY[1.0, NULL])$$,
    $$SELECT shingles(ARRAY['a', NULL])$$,
    $$SELECT shingles(ARRAY[['a', 'b'], ['c', 'd']])$$,
    $$SELECT resemblance(ARRAY['a', NULL], ARRAY['a'])$$,
    $$SELECT resemblance(ARRAY['a'], ARRAY['a', NULL])$$,
    $$SELECT resemblance(ARRAY['a'], ARRAY[['a', 'b']])$$,
    $$SELECT containment(ARRAY['a', NULL], ARRAY['a'])$$,
    $$SELECT containment(ARRAY[['a', 'b']], ARRAY['a'])$$);
-- as many weights as features
SELECT * FROM pg_temp.meet(
    $$SELECT simhash(ARRAY['a', 'b'], ARRAY[1.0])$$,
    $$SELECT simhash(ARRAY['a', 'b'], ARRAY[1.0, 2.0, 3.0])$$,
    $$SELECT simhash(ARRAY['a', 'b'], ARRAY[]::float8[])$$,
    $$SELECT simhash(ARRAY[]::text[], ARRAY[1.0])$$,
    $$SELECT simhash(ARRAY[1, 2]::bigint[], ARRAY[1.0])$$,
    $$SELECT simhash(ARRAY[]::bigint[], ARRAY[1.0])$$);
-- weights: finite, at most 2^20 in absolute value
SELECT * FROM pg_temp.meet(
    $$SELECT simhash(ARRAY['a'], ARRAY['NaN'::float8])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY['Infinity'::float8])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY['-Infinity'::float8])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[2e6])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[-2e6])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[1048576.1])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[1e18])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[1048576.0]) = simhash('a') AS greatest$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[-1048576.0]) = (~ simhash('a')::bigint)::simhash AS least$$,
    $$SELECT simhash(ARRAY[1]::bigint[], ARRAY['NaN'::float8])$$,
    $$SELECT simhash(ARRAY[1]::bigint[], ARRAY['Infinity'::float8])$$,
    $$SELECT simhash(ARRAY[1]::bigint[], ARRAY[1048577.0])$$,
    $$SELECT simhash_agg('a', 'NaN')$$,
    $$SELECT simhash_agg('a', 'Infinity')$$,
    $$SELECT simhash_agg('a', 2e6)$$,
    $$SELECT simhash_agg('a', -2e6)$$);
-- the limit is exact
SELECT command, code FROM pg_temp.meet(
    $$SELECT simhash(ARRAY['a'], ARRAY[1048576.0000001])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[-1048576.0000001])$$,
    $$SELECT simhash(ARRAY['a'], ARRAY[1048576.0])$$,
    $$SELECT simhash_agg('a', -1048576.0000001)$$,
    $$SELECT simhash_agg('a', -1048576)$$);
-- so many weights that their sums overflow, in any order
SELECT * FROM pg_temp.meet(
    $$SELECT simhash(array_fill('a'::text, ARRAY[600000]), array_fill(1048576::float8, ARRAY[600000]))$$,
    $$SELECT simhash(array_fill(1::bigint, ARRAY[600000]), array_fill(-1048576::float8, ARRAY[600000]))$$,
    $$SELECT simhash_agg('a', 1048576) FROM generate_series(1, 600000)$$,
    $$SELECT simhash_agg('a', CASE WHEN i <= 300000 THEN 1048576 ELSE -1048576 END)
      FROM generate_series(1, 600000) AS i$$,
    $$SELECT simhash_agg('a', CASE WHEN i % 2 = 0 THEN 1048576 ELSE -1048576 END)
      FROM generate_series(1, 600000) AS i$$);
-- the state of the aggregate comes from the aggregate alone
CREATE AGGREGATE pg_temp.wrong(text) (SFUNC = simhash_agg_transition, STYPE = bytea, INITCOND = '\x00');
SELECT * FROM pg_temp.meet(
    $$SELECT pg_temp.wrong('a')$$,
    $$SELECT simhash_agg_final(simhash_agg_transition(NULL, 'a'))$$);
-- weights of a tsvector: four {D,C,B,A}, at most 1
SELECT * FROM pg_temp.meet(
    $$SELECT simhash('a'::tsvector, '{}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,1,1}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{{1,1},{1,1}}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,NULL}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,1.1}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,1.0000001}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,NaN}'::float4[])$$,
    $$SELECT simhash('a'::tsvector, '{1,1,1,Infinity}'::float4[])$$,
    $$SELECT simhash(''::tsvector, '{1,1,1}'::float4[])$$);

-- scopes
SELECT * FROM pg_temp.meet(
    $$SELECT scoped_hashes('{1}', NULL)$$,
    $$SELECT scoped_hashes(NULL, NULL::bigint)$$,
    $$SELECT scoped_hashes('{1,NULL}', 7)$$,
    $$SELECT scoped_hashes('{{1},{2}}', '7')$$);

-- reports of two documents
SELECT * FROM pg_temp.meet(
    $$SELECT shingle_difference('a', 'b', 257)$$,
    $$SELECT * FROM shingle_difference('a', 'b', unit => 'line')$$,
    $$SELECT * FROM shingle_difference(ARRAY['a'], ARRAY['b'], 0)$$,
    $$SELECT * FROM shingle_difference(ARRAY['a'], ARRAY['b', NULL])$$,
    $$SELECT * FROM shingle_difference(ARRAY[['a'], ['b']], ARRAY['b'])$$);
-- ends of edges: numbers, constant in a query, in a window; for the parser's errors
-- only the codes are shown, since the messages differ between releases
SELECT * FROM pg_temp.meet(
    $$SELECT connected_component((random() * 1e9)::bigint, 1) OVER ()$$,
    $$SELECT keeper(a, b) OVER () FROM (VALUES (1, 2), (3, 4)) AS v (a, b)$$,
    $$SELECT keeper(a, b) OVER (ORDER BY rank) FROM (VALUES (1, 2, 1), (3, 4, 2), (1, 5, 3)) AS v (a, b, rank)$$,
    $$SELECT keeper(a, b) OVER (ORDER BY a) FROM (VALUES (1, 2), (2, 1)) AS v (a, b)$$);
SELECT command, code FROM pg_temp.meet(
    $$SELECT connected_component(1, 2)$$,
    $$SELECT connected_component('a'::text, 'b'::text) OVER ()$$,
    $$SELECT connected_component('a', 'b') OVER ()$$,
    $$SELECT connected_component(gen_random_uuid(), gen_random_uuid()) OVER ()$$,
    $$SELECT connected_component(1.5, 2) OVER ()$$,
    $$SELECT connected_component(ARRAY[1, 2]) OVER ()$$,
    $$SELECT connected_component('1', 2.0::bigint) OVER ()$$,
    $$SELECT keeper(1, 2)$$,
    $$SELECT keeper(gen_random_uuid(), gen_random_uuid()) OVER ()$$);

-- clusters: the radius from 0 to 64, the method 'single' or 'leader', both the same in
-- all rows of a partition
CREATE TEMP TABLE rows (i integer, fp simhash);
INSERT INTO rows VALUES (1, '0123456789abcdef'), (2, '0123456789abcdee');
SELECT * FROM pg_temp.meet(
    $$SELECT simhash_cluster(fp, -1) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 65) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 9223372036854775807, 'leader') OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 0.9) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 'NaN') OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, NULL) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, 'complete') OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, '') OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, 'Single') OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, repeat('Single ', 10)) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, CASE i WHEN 2 THEN 'leader' END) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, i) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, 3, CASE i WHEN 1 THEN 'single' ELSE 'leader' END) OVER () FROM rows$$,
    $$SELECT simhash_cluster(fp, CASE i WHEN 1 THEN 3 END) OVER () FROM rows$$,
    $$SELECT max(c) FROM (SELECT simhash_cluster(fp, i) OVER (PARTITION BY i) AS c FROM rows) AS s$$,
    $$SELECT count(c) FROM (SELECT simhash_cluster(fp, -1) OVER () AS c FROM rows WHERE false) AS s$$);
SELECT command, code FROM pg_temp.meet(
    $$SELECT simhash_cluster(fp, 3) FROM rows$$,
    $$SELECT simhash_cluster(fp) OVER () FROM rows$$,
    $$SELECT simhash_cluster('some text'::text, 3) OVER () FROM rows$$);
-- signatures: the text form
SELECT * FROM pg_temp.meet(
    $$SELECT minhash('some text')$$,
    $$SELECT ''::minhash$$,
    $$SELECT '{4294967295,1,2,3}'::minhash$$,
    $$SELECT ('some text, so long that not all of it is shown, in whatever language: ' || repeat('é', 100))::minhash$$,
    $$SELECT '1x1:word3:0000000'::minhash$$,
    $$SELECT '1x1:word3:000000000'::minhash$$,
    $$SELECT '1x1:word3:0000000g'::minhash$$,
    $$SELECT '1x1:word3:00000000-'::minhash$$,
    $$SELECT '1x1:word3:00000000-00000000'::minhash$$,
    $$SELECT '2x1:word3:0000000000000000'::minhash$$,
    $$SELECT '1x2:word3:00000000-00000000'::minhash$$,
    $$SELECT '1x2:word3:00000000'::minhash$$,
    $$SELECT '1x1:word:00000000'::minhash$$,
    $$SELECT '1x1:word0:00000000'::minhash$$,
    $$SELECT '1x1:word257:00000000'::minhash$$,
    $$SELECT '1x1:word03:00000000'::minhash$$,
    $$SELECT '1x1:hash3:00000000'::minhash$$,
    $$SELECT '1x1:line3:00000000'::minhash$$,
    $$SELECT '1x1:Word3:00000000'::minhash$$,
    $$SELECT ' 1x1:word3:00000000'::minhash$$,
    $$SELECT '0x1:word3:'::minhash$$,
    $$SELECT '-1x1:word3:'::minhash$$,
    $$SELECT '1x:word3:00000000'::minhash$$,
    $$SELECT '4294967297x1:word3:00000000'::minhash$$,
    $$SELECT '1025x1:word3:00000000'::minhash$$,
    $$SELECT '1x65:word3:00000000'::minhash$$,
    $$SELECT '1024x5:word3:00000000'::minhash$$);
-- bands and rows
SELECT * FROM pg_temp.meet(
    $$SELECT to_minhash('a', 0)$$,
    $$SELECT to_minhash('a', 1025, 1)$$,
    $$SELECT to_minhash('a', 18, 0)$$,
    $$SELECT to_minhash('a', -1, -1)$$,
    $$SELECT to_minhash('a', 1, 65)$$,
    $$SELECT to_minhash('a', 1024, 5)$$,
    $$SELECT to_minhash('', 0)$$,
    $$SELECT to_minhash('a', 2147483647, 2147483647)$$,
    $$SELECT to_minhash('a', width => 0)$$,
    $$SELECT to_minhash('a', width => 257, unit => 'char')$$,
    $$SELECT to_minhash('a', unit => 'line')$$,
    $$SELECT to_minhash(ARRAY['a'], 0)$$,
    $$SELECT to_minhash(ARRAY['a'], width => 257)$$,
    $$SELECT to_minhash(ARRAY['a', NULL])$$,
    $$SELECT to_minhash(ARRAY[['a', 'b']])$$,
    $$SELECT to_minhash(ARRAY[1], 0)$$,
    $$SELECT to_minhash(ARRAY[1, NULL])$$,
    $$SELECT to_minhash(ARRAY[[1, 2], [3, 4]])$$,
    $$SELECT minhash_agg('a', 0, 7)$$,
    $$SELECT minhash_agg('a', i, 7) FROM generate_series(1, 2) AS i$$,
    $$SELECT minhash_advice(0)$$,
    $$SELECT minhash_advice(1)$$,
    $$SELECT minhash_advice(-0.5)$$,
    $$SELECT minhash_advice('NaN')$$,
    $$SELECT minhash_advice(0.8, 0)$$,
    $$SELECT minhash_advice(0.8, 1)$$,
    $$SELECT minhash_advice(0.8, 'Infinity')$$,
    $$SELECT minhash_advice(1.0000001)$$,
    $$SELECT minhash_advice(0.001, 0.95)$$,
    $$SELECT minhash_advice(0.001, 0.9999999)$$,
    $$SELECT minhash_advice(0.02, 0.99999999999)$$,
    $$SELECT minhash_advice(1e-12)$$,
    $$SELECT minhash_advice(1e-323)$$);
-- the shapes that the hints suggest exist
SELECT (SELECT count(*) > 0 FROM minhash_advice(0.001, 0.64)),
       (SELECT count(*) > 0 FROM minhash_advice(0.02, 0.9999999989)),
       (SELECT count(*) > 0 FROM minhash_advice(1e-12, 1e-09));
-- the searches that the hints suggest find these pairs: of four, three resemble above 0, two by 1
SELECT count(*) FILTER (WHERE resemblance(a, b) > 0), count(*) FILTER (WHERE shingle_hashes(a) && shingle_hashes(b)),
       count(*) FILTER (WHERE resemblance(a, b) = 1), count(*) FILTER (WHERE shingle_hashes(a) = shingle_hashes(b)),
       count(*) FILTER (WHERE shingle_hashes(a) <%> shingle_hashes(b) <= 0)
FROM (VALUES ('a b c d', 'a b c d'), ('A, b c d!', 'a b c d'), ('a b c d', 'a b c e'),
             ('a b c d', 'e f g h')) AS pair (a, b);
-- sketches: their arguments, and their arrays
SELECT * FROM pg_temp.meet(
    $$SELECT sketch('a', 0)$$,
    $$SELECT sketch('', -1)$$,
    $$SELECT sketch('a', 1, 0)$$,
    $$SELECT sketch('a', 1, 257, 'char')$$,
    $$SELECT sketch('a', 1, unit => 'line')$$,
    $$SELECT sketch(ARRAY['a'], 0)$$,
    $$SELECT sketch(ARRAY['a', NULL], 1)$$,
    $$SELECT sketch(ARRAY[['a', 'b']], 1)$$,
    $$SELECT sketch(ARRAY['a'], 1, 257)$$,
    $$SELECT sketch(ARRAY[['a', 'b']], 1)$$,
    $$SELECT winnow('a', 7)$$,
    $$SELECT winnow('a', 0, 1)$$,
    $$SELECT winnow('a', 65537)$$,
    $$SELECT winnow('a', 24, 25)$$,
    $$SELECT winnow('a', 300, 257)$$,
    $$SELECT winnow('', 24, 0)$$,
    $$SELECT winnow('a', 24, unit => 'char')$$,
    $$SELECT winnow('a', unit => 'words')$$,
    $$SELECT winnow(ARRAY['a'], 7)$$,
    $$SELECT winnow(ARRAY['a', NULL])$$,
    $$SELECT winnow(ARRAY[['a', 'b']])$$);
-- passages and windows
SELECT * FROM pg_temp.meet(
    $$SELECT count(*) FROM common_passages('a', 'b', 0)$$,
    $$SELECT count(*) FROM common_passages('a', 'b', unit => 'line')$$,
    $$SELECT count(*) FROM common_passages(ARRAY['a'], ARRAY['b'], -1)$$,
    $$SELECT count(*) FROM common_passages(ARRAY['a', NULL], ARRAY['b'])$$,
    $$SELECT count(*) FROM common_passages(ARRAY['a'], ARRAY[['b']])$$,
    $$SELECT count(*) FROM common_passages('a', repeat('a ', 4194305))$$,
    $$SELECT count(*) FROM edited_passages('a', 'b', 0)$$,
    $$SELECT count(*) FROM edited_passages('a', 'b', gap => -1)$$,
    $$SELECT count(*) FROM edited_passages('a', 'b', 1, 1001)$$,
    $$SELECT count(*) FROM edited_passages('a', 'b', unit => 'line')$$,
    $$SELECT count(*) FROM text_windows('a', 0)$$,
    $$SELECT count(*) FROM text_windows('a', 1, 0)$$,
    $$SELECT count(*) FROM text_windows('a', 2147483647, -2147483648)$$,
    $$SELECT count(*) FROM text_windows('a', 2147483647, 2147483647)$$,
    $$SELECT count(*) FROM text_windows('a', unit => 'page')$$);
-- type modifiers
CREATE TEMP TABLE shaped (sig minhash(18, 7));
SELECT * FROM pg_temp.meet(
    $$CREATE TEMP TABLE bad (sig minhash(18))$$,
    $$CREATE TEMP TABLE bad (sig minhash(18, 7, 3))$$,
    $$CREATE TEMP TABLE bad (sig minhash(0, 7))$$,
    $$CREATE TEMP TABLE bad (sig minhash(18, 65))$$,
    $$CREATE TEMP TABLE bad (sig minhash(1024, 64))$$,
    $$CREATE TEMP TABLE bad (sig minhash('a', 'b'))$$,
    $$INSERT INTO shaped VALUES (to_minhash('a', 20, 5))$$,
    $$INSERT INTO shaped VALUES ('1x1:word3:00000000')$$,
    $$SELECT '1x1:word3:00000000'::minhash(2, 1)$$,
    $$SELECT minhash_agg('a')::minhash(7, 18)$$,
    $$SELECT to_minhash('a')::minhash(7, 18)$$);
-- signatures with different parameters are not compared
SELECT * FROM pg_temp.meet(
    $$SELECT jaccard(to_minhash('a'), to_minhash('a', 20, 5))$$,
    $$SELECT to_minhash('a') <%> to_minhash('a', 7, 18)$$,
    $$SELECT to_minhash('a') % to_minhash('a', width => 2)$$,
    $$SELECT to_minhash('a') % to_minhash('a', width => 3, unit => 'char')$$,
    $$SELECT containment(to_minhash('a'), minhash_agg('a'))$$,
    $$SELECT minhash_union(to_minhash(ARRAY[1]), minhash_agg('a'))$$,
    $$SELECT minhash_union_agg(to_minhash('a', i)) FROM generate_series(1, 2) AS i$$,
    $$SELECT minhash_agg_transition(to_minhash('a'), 'a')$$,
    $$SELECT to_minhash('a') = to_minhash('a', 20, 5) AS equality_has_an_answer$$);

-- Binary input of the wrong length.  COPY sends a bytea of that length, as a client
-- would.
\pset format aligned
\pset tuples_only off
CREATE TEMP TABLE balls (b simhash_ball);
\set VERBOSITY terse
\getenv outputdir PG_ABS_BUILDDIR
\cd :outputdir
\copy (SELECT '\x01234567'::bytea) TO 'results/errors.short' (FORMAT binary)
\copy t FROM 'results/errors.short' (FORMAT binary)
\copy balls FROM 'results/errors.short' (FORMAT binary)
\copy (SELECT '\x'::bytea) TO 'results/errors.empty' (FORMAT binary)
\copy t FROM 'results/errors.empty' (FORMAT binary)
\copy balls FROM 'results/errors.empty' (FORMAT binary)
\copy (SELECT '\x0123456789abcdef01'::bytea) TO 'results/errors.long' (FORMAT binary)
\copy t FROM 'results/errors.long' (FORMAT binary)
CREATE TEMP VIEW sent_ball AS SELECT simhash_ball_send('(0123456789abcdef,3)') AS b;
\copy (SELECT b || '\x00'::bytea FROM sent_ball) TO 'results/errors.long' (FORMAT binary)
\copy balls FROM 'results/errors.long' (FORMAT binary)
-- a ball in the right form, with a radius out of range
\copy (SELECT overlay(b PLACING '\x7f'::bytea FROM 9) FROM sent_ball) TO 'results/errors.radius' (FORMAT binary)
\copy balls FROM 'results/errors.radius' (FORMAT binary)
-- signatures: too short, too long, of another version, and with impossible parameters
CREATE TEMP TABLE signatures (sig minhash);
CREATE TEMP VIEW sent AS SELECT minhash_send('2x1:word3:00000001-00000002') AS b;
\copy (SELECT substr(b, 1, 7) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT substr(b, 1, 15) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT b || '\x00'::bytea FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT overlay(b PLACING '\x02'::bytea FROM 1) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT overlay(b PLACING '\x04'::bytea FROM 2) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT overlay(b PLACING '\x03'::bytea FROM 2) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT overlay(b PLACING '\x0101'::bytea FROM 3) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT overlay(b PLACING '\xffffffff'::bytea FROM 5) FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\copy (SELECT b FROM sent) TO 'results/errors.signature' (FORMAT binary)
\copy shaped FROM 'results/errors.signature' (FORMAT binary)
\copy signatures FROM 'results/errors.signature' (FORMAT binary)
\set VERBOSITY default
SELECT count(*) FROM t;
SELECT count(*) FROM balls;
SELECT count(*) FROM shaped;
SELECT * FROM signatures;

-- Soft errors, on 16 and later: the inputs with an unexpected result.  There are none,
-- and on 15 none either.
CREATE TEMP TABLE soft (type text, input text, code text, message text);
INSERT INTO soft VALUES
    ('minhash', '1x1:word3:00000000', NULL, NULL),
    ('minhash(1,1)', '1x1:word3:00000000', NULL, NULL),
    ('minhash', 'some text', '22P02', 'invalid input syntax for type minhash: "some text"'),
    ('minhash', '1025x1:word3:00000000', '22023', 'bands 1025 and rows 1 are out of range'),
    ('minhash', '1x65:word3:00000000', '22023', 'bands 1 and rows 65 are out of range'),
    ('minhash', '1024x5:word3:00000000', '22023', 'bands 1024 and rows 5 are out of range'),
    ('minhash(2,1)', '1x1:word3:00000000', '22000', 'signature with parameters (1,1) does not fit type minhash(2,1)'),
    ('simhash', '0123456789abcdef', NULL, NULL),
    ('simhash', '0123456789abcdeg', '22P02', 'invalid input syntax for type simhash: "0123456789abcdeg"'),
    ('simhash', 'some text', '22P02', 'invalid input syntax for type simhash: "some text"'),
    ('simhash', '', '22P02', 'invalid input syntax for type simhash: ""'),
    ('simhash_ball', '(0123456789abcdef,64)', NULL, NULL),
    ('simhash_ball', '(0123456789abcdef,3', '22P02',
     'invalid input syntax for type simhash_ball: "(0123456789abcdef,3"'),
    ('simhash_ball', '(0123456789abcdef,65)', '22003',
     'radius is out of range for type simhash_ball: "(0123456789abcdef,65)"');
SELECT current_setting('server_version_num')::integer >= 160000 AS has_soft_errors \gset
\set wrong none
\if :has_soft_errors
SELECT coalesce(string_agg(quote_literal(s.input), ' '), 'none') AS wrong
FROM soft AS s, pg_input_error_info(s.input, s.type) AS i
WHERE pg_input_is_valid(s.input, s.type) <> (s.code IS NULL)
   OR i.sql_error_code IS DISTINCT FROM s.code
   OR i.message IS DISTINCT FROM s.message
   OR (i.hint IS NULL) <> (s.code IS NULL) \gset
\endif
\echo wrong: :wrong

-- The library serves SQL objects of its own version and older ones.
SELECT needed, simhash_check_version(needed) IS NOT NULL AS served
FROM unnest(ARRAY['0.9', '1.0', NULL]) AS needed;
SELECT simhash_check_version('9999.0');
SELECT simhash_check_version('');
SELECT simhash_check_version('newest');
SELECT simhash_check_version('1.0garbage');
SELECT simhash_check_version('1.0 ');
