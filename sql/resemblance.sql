--
-- resemblance and containment: exact, over the distinct shingles
--
SELECT resemblance('a b c', 'a b c') AS same, resemblance('a b c', 'A, b: C!') AS normalised,
       resemblance('a b c', 'd e f') AS nothing_shared,
       resemblance('a b c', 'a b d', 2) AS one_of_three, resemblance('a b c d', 'a b c d e', 2) AS three_of_four;
SELECT resemblance('a b c', 'c b a', 1) AS words, resemblance('a b c', 'c b a', 2) AS pairs,
       resemblance('abcd', 'abce', 2, 'char') AS chars,
       resemblance('abcdefghi', 'abcdefghj', unit => 'char') AS named,
       resemblance(a => 'a b c', b => 'a b d', width => 1) AS all_named;
-- containment: the fraction of a's shingles that b has, too
SELECT containment('a b c', 'x a b c y') AS part, containment('x a b c y', 'a b c', 2) AS whole,
       containment('a b', 'c d') AS nothing,
       containment('a b c', 'c b a', 1) AS words, containment('abc', 'xabcx', 2, 'char') AS chars,
       containment(a => 'a b c', b => 'a b', width => 2) AS named;
-- repetitions do not count
SELECT resemblance('a a a a b', 'a a b b b', 1) AS words, resemblance('a a a a', 'a a', 2) AS pairs,
       containment('a a a a b', 'a', 1) AS half;
-- shorter than a shingle: one shingle
SELECT resemblance('a', 'a') AS same, resemblance('a', 'b') AS other, resemblance('a b', 'a b', 5) AS wide,
       resemblance('a b', 'a b c', 5) AS none_shared,
       containment('a b', 'a b c', 5) AS not_contained;
-- on tokens, which are not normalised
SELECT resemblance(ARRAY['a', 'b', 'c'], ARRAY['a', 'b', 'd'], 2) AS pairs,
       resemblance(ARRAY['a', 'b', 'c'], ARRAY['a', 'b', 'd'], 1) AS tokens,
       resemblance(ARRAY['A'], ARRAY['a']) AS raw,
       containment(ARRAY['a', 'b'], ARRAY['x', 'a', 'b'], 2) AS contained,
       containment(ARRAY['x', 'a', 'b'], ARRAY['a', 'b'], 1) AS two_of_three,
       resemblance(a => ARRAY['a'], b => ARRAY['a'], width => 1) AS named;
-- the default width is that of shingle_hashes, whose distance is that of the texts
SELECT unit, resemblance(a, b, unit => unit), 1 - (sa <%> sb) AS of_hashes,
       containment(a, b, unit => unit), 1 - (sb <%>> sa) AS of_hashes,
       resemblance(a, b, NULL, unit) = resemblance(a, b, width, unit) AS null_is_default,
       resemblance(string_to_array(a, ' '), string_to_array(b, ' ')) AS of_tokens
FROM (VALUES ('word', 3, 'a b c d e f', 'a b c d e g'),
             ('char', 8, 'abcdefghijk', 'abcdefghijx')) AS v (unit, width, a, b),
     shingle_hashes(a, unit => unit) AS sa, shingle_hashes(b, unit => unit) AS sb;
-- blank texts: two of them have no resemblance; the resemblance of one to another text
-- is 0
SELECT a, b, resemblance(a, b), containment(a, b)
FROM (VALUES ('', ''), ('', ' '), ('a', ''), ('', 'a'), ('!', ''), ('', '!'), ('!', '!'), ('! ?', 'a')) AS v (a, b);
SELECT a, b, resemblance(a, b), containment(a, b)
FROM (VALUES ('{}'::text[], '{}'::text[]), ('{a}', '{}'), ('{}', '{a}')) AS v (a, b);
SELECT resemblance(NULL, 'a') IS NULL AS a, resemblance('a', NULL::text) IS NULL AS b,
       containment(NULL::text[], ARRAY['a']) IS NULL AS tokens;
-- texts that simhash treats as equal are equal here
SELECT resemblance('Straße', 'STRASSE') AS sharp_s, resemblance('ＡＢＣ １２３', 'abc 123') AS width,
       resemblance(U&'cafe\0301', U&'caf\00E9') AS composition,
       resemblance('我爱你', '我 爱 你') AS separators, resemblance('我爱你', '我愛你', 1) AS traditional;
-- varchar, char(n) and unknown literals find the function on text
SELECT resemblance('a b'::varchar, 'a b c') AS varchar, resemblance('a b c'::char(10), 'a b c'::char(20)) AS char,
       containment('a b c'::varchar, 'a b c'::name) AS name, pg_typeof(resemblance('a', 'b')) AS type;

-- exact: compared with sets in SQL
CREATE TEMP TABLE docs (id integer, body text);
INSERT INTO docs
    SELECT i, string_agg(
        chr(97 + (i * 7919 + j * j * 104729 + i * j * 31) % (3 + i % 5)), CASE WHEN (i + j) % 3 = 0 THEN ' ' ELSE '' END
    ORDER BY j)
    FROM generate_series(1, 40) AS i, generate_series(1, 5 + i) AS j GROUP BY i;
INSERT INTO docs VALUES (41, ''), (42, '...'), (43, '我爱北京天安门'), (44, '天安门上太阳升'), (45, '我爱北京');
CREATE FUNCTION pg_temp.by_sets(a text[], b text[], OUT r float8, OUT c float8) LANGUAGE sql IMMUTABLE AS $$
    SELECT in_both / nullif(in_a + in_b - in_both, 0), in_both / nullif(in_a, 0)
    FROM (SELECT (SELECT count(*) FROM (SELECT unnest(a) INTERSECT SELECT unnest(b)) AS i)::float8 AS in_both,
                 (SELECT count(DISTINCT x) FROM unnest(a) AS x) AS in_a,
                 (SELECT count(DISTINCT x) FROM unnest(b) AS x) AS in_b) AS counts $$;
SELECT count(*) AS compared, count(DISTINCT r) > 50 AS varied,
       count(*) FILTER (WHERE r IS DISTINCT FROM resemblance(a.body, b.body, width, unit)
                           OR c IS DISTINCT FROM containment(a.body, b.body, width, unit)) AS wrong
FROM docs AS a, docs AS b, (VALUES (1, 'word'), (2, 'word'), (1, 'char'), (2, 'char'), (3, 'char')) AS s (width, unit),
     pg_temp.by_sets(shingles(a.body, width, unit), shingles(b.body, width, unit));
SELECT count(*) AS compared,
       count(*) FILTER (WHERE resemblance(a.body, b.body) IS DISTINCT FROM resemblance(b.body, a.body)
                           OR resemblance(a.body, b.body, 3)
                               IS DISTINCT FROM resemblance(shingles(a.body, 1), shingles(b.body, 1), 3)
                           OR containment(a.body, b.body, 3)
                               IS DISTINCT FROM containment(shingles(a.body, 1), shingles(b.body, 1), 3)) AS wrong
FROM docs AS a, docs AS b;
-- large ones too
SELECT resemblance(a, b) = 19997 / 19999.0 AS resemblance, containment(a, b) = 19997 / 19998.0 AS containment
FROM (SELECT string_agg('w' || i, ' ' ORDER BY i) AS a,
             string_agg('w' || CASE i WHEN 20000 THEN 0 ELSE i END, ' ' ORDER BY i) AS b
      FROM generate_series(1, 20000) AS i) AS t;
-- candidates by fingerprint, confirmed by resemblance
SELECT a.id, b.id FROM docs AS a JOIN docs AS b ON simhash(a.body) <~> simhash(b.body) <= 64 AND a.id < b.id
WHERE a.id > 40 AND resemblance(a.body, b.body, 2) >= 0.5 ORDER BY 1, 2;
-- exact even for two tokens with equal hashes: fingerprints cannot tell them apart,
-- resemblance can
SELECT simhash(ARRAY['hgzwmtae'], 1) = simhash(ARRAY['<S/0|~&'], 1) AS same_hash,
       resemblance(ARRAY['hgzwmtae'], ARRAY['<S/0|~&'], 1) AS resemblance,
       resemblance(ARRAY['hgzwmtae', 'a'], ARRAY['<S/0|~&', 'hgzwmtae'], 1) AS one_of_three,
       containment(ARRAY['hgzwmtae', '<S/0|~&'], ARRAY['<S/0|~&'], 1) AS half;

-- The functions cache sets between calls, and the results are those of SQL.  There are
-- more documents than cached sets, short and long ones, stored in the row, compressed
-- and out of line.  Each occurs again as either argument.
CREATE TEMP TABLE sets (id integer, body text, set text[], tokens text[]);
ALTER TABLE sets ALTER body SET STORAGE EXTERNAL;
INSERT INTO sets (id, body)
    SELECT i, string_agg(j % (7 + i % 50) || 'w', ' ' ORDER BY j)
    FROM generate_series(1, 400) AS i, generate_series(i, i + CASE i % 5 WHEN 0 THEN 1500 ELSE i % 40 END) AS j
    GROUP BY i;
ALTER TABLE sets ALTER body SET STORAGE EXTENDED;
INSERT INTO sets (id, body)
SELECT i, repeat('the same ' || i % 3 || ' again and ', 400) FROM generate_series(401, 420) AS i;
UPDATE sets SET set = ARRAY(SELECT DISTINCT s FROM unnest(shingles(body, 3)) AS s), tokens = shingles(body, 1);
SELECT count(*) FILTER (WHERE pg_column_size(body) = octet_length(body)) > 50 AS out_of_line,
       count(*) FILTER (WHERE pg_column_size(body) < octet_length(body)) AS compressed
FROM sets;
SELECT count(*) AS compared, count(DISTINCT r) > 100 AS varied,
       count(*) FILTER (WHERE r IS DISTINCT FROM resemblance(a.body, b.body)
                           OR c IS DISTINCT FROM containment(a.body, b.body)
                           OR r IS DISTINCT FROM resemblance(a.tokens, b.tokens)
                           OR c IS DISTINCT FROM containment(a.tokens, b.tokens)
                           OR r IS DISTINCT FROM resemblance(b.body, a.body)) AS wrong
FROM (VALUES (1), (2)) AS round (n), sets AS a, sets AS b,
     LATERAL (SELECT count(*)::float8 AS in_both FROM unnest(a.set) AS s WHERE s = ANY (b.set)) AS counted,
     LATERAL (SELECT in_both / (cardinality(a.set) + cardinality(b.set) - in_both),
                     in_both / cardinality(a.set)) AS fractions (r, c)
WHERE (a.id % 7 = n OR a.id > 415) AND b.id % 3 = 0;
-- the same with little memory for the cache
SET work_mem = '64kB';
SELECT count(*) AS compared,
       count(*) FILTER (WHERE resemblance(a.body, b.body) IS DISTINCT FROM resemblance(b.tokens, a.tokens)) AS wrong
FROM sets AS a, sets AS b WHERE a.id % 50 = 0 AND b.id % 7 = 0;
RESET work_mem;
-- and with another width and unit in each row
SELECT count(*) AS compared,
       count(*) FILTER (WHERE resemblance(a.body, b.body, width, unit) IS DISTINCT FROM
                              resemblance(shingles(a.body, width, unit), shingles(b.body, width, unit), 1)) AS wrong
FROM docs AS a, docs AS b, (VALUES (1, 'word'), (1, 'char'), (2, 'word'), (NULL, 'char')) AS s (width, unit);
-- after an error; with an array that changes in place; with a value of another
-- transaction at the address of the last one
CREATE TEMP TABLE one (body text);
INSERT INTO one VALUES ('');
DO $$
DECLARE
    tokens text[];
    stored text;
    seen text := '';
BEGIN
    FOR i IN 1 .. 3 LOOP
        tokens := CASE i WHEN 2 THEN ARRAY['a', NULL] ELSE ARRAY['a', 'b'] END;
        BEGIN
            seen := seen || ' ' || resemblance(ARRAY['a', 'b'], tokens, 1);
        EXCEPTION WHEN null_value_not_allowed THEN
            seen := seen || ' error';
        END;
    END LOOP;
    tokens := ARRAY['a', 'b', 'c', 'd'];
    FOR i IN 1 .. 4 LOOP
        tokens[i] := 'x';
        seen := seen || ' ' || containment(ARRAY['a', 'b', 'c', 'd'], tokens, 1);
    END LOOP;
    FOR i IN 1 .. 4 LOOP
        UPDATE one SET body = (SELECT string_agg(md5((i * j)::text), ' ') FROM generate_series(1, 100) AS j);
        COMMIT;
        SELECT body INTO stored FROM one;
        seen := seen || ' '
            || containment(md5('1') || ' ' || md5('2') || ' ' || md5('4') || ' ' || md5('6'), stored, 1);
    END LOOP;
    RAISE NOTICE '%', seen;
END $$;
-- in the check of a domain, whose cache a procedure's variable keeps from one
-- transaction to the next
CREATE TYPE page AS (title text, body text);
CREATE DOMAIN rose AS page CHECK (resemblance((VALUE).body, 'a rose is a rose', 1) > 0.5);
DO $$
DECLARE
    page rose := ('rose', 'a rose is');
    refused integer := 0;
BEGIN
    FOR i IN 1 .. 6 LOOP
        BEGIN
            page.body := CASE i % 3 WHEN 0 THEN 'a thorn' ELSE 'is a rose' END;
        EXCEPTION WHEN check_violation THEN
            refused := refused + 1;
        END;
        COMMIT;
    END LOOP;
    RAISE NOTICE '%, % refused', page, refused;
END $$;
DROP DOMAIN rose;
DROP TYPE page;
