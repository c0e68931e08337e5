--
-- Passages inside documents: sketches, common_passages, text_windows
--
CREATE SCHEMA passages_test;
SET search_path = passages_test, public;

--
-- sketch, winnow.  test/reference/sketch_reference.py made these vectors.
--
CREATE TABLE vectors (what text, got bigint[], expected bigint[]);
INSERT INTO vectors VALUES
    ('all shingles', sketch('Hello, World!', 1, 1), '{-7685981735718036227,-3006315319938684482}'),
    ('a token', winnow(ARRAY['abc'], 1, 1), '{8696274497037089104}'),
    ('words', winnow('The quick brown fox jumps over the lazy dog.', 4, 2),
     '{-8670804373930987551,1169610072685614380,4244502788689958599,6052499707733337702,7854267933804621254}'),
    ('words, divisible by 3', sketch('The quick brown fox jumps over the lazy dog.', 3, 2), '{6052499707733337702}'),
    ('the default', winnow('The quick brown fox jumps over the lazy dog.'), '{6786795602936114476}'),
    ('all, by default', sketch('The quick brown fox jumps over the lazy dog.', 1),
     '{-1997692829972925095,6786795602936114476}'),
    ('characters', winnow('The quick brown fox jumps over the lazy dog.', 12, 4, 'char'),
     '{151301256907609649,285084706917848623,410587026986733787,1285224855906690956,'
     '7527733932619798420,8768008540069224709}'),
    ('characters, divisible by 5', sketch('The quick brown fox jumps over the lazy dog.', 5, 4, 'char'),
     '{-8034365597584000336,-3571925630909858461,-2225915098233752401,1235013137874376085,'
     '4143889366639329400,7527733932619798420}'),
    ('Chinese', winnow('人人生而自由，在尊严和权利上一律平等。', 10),
     '{-6807669661422846049,-6660578534644778395,-5631928791028597688,2920130077860168622,'
     '3887686530781022796,4783614071187115889}'),
    ('Chinese, divisible by 2', sketch('人人生而自由，在尊严和权利上一律平等。', 2),
     '{-8974928529472977356,-5631928791028597688,-2019987964560648548,2920130077860168622,3887686530781022796}'),
    ('shorter than a shingle', winnow('a b', 10), '{-9203958345980433332}');
SELECT count(*) AS compared, array_agg(what) FILTER (WHERE got IS DISTINCT FROM expected) AS wrong FROM vectors;
-- defaults, by name and by NULL
SELECT winnow(body) = winnow(body => body, guarantee => 24, width => 8, unit => 'word') AS words,
       winnow(body) = winnow(body, NULL, NULL) AS "null",
       winnow(body, unit => 'char') = winnow(body, 144, 48, 'char') AS characters,
       winnow(body, width => 30) = winnow(body, 90, 30) AS wide,
       winnow(tokens) = winnow(tokens => tokens, guarantee => 24, width => 8) AS tokens,
       winnow(body) = winnow(tokens) AS same,
       sketch(body, 2) = sketch(body => body, modulus => 2, width => 8, unit => 'word') AS sketch,
       sketch(tokens, 2) = sketch(tokens => tokens, modulus => 2, width => 8) AS sketch_tokens,
       sketch(body, 2, unit => 'char') = sketch(body, 2, 48, 'char') AS sketch_characters
FROM (SELECT string_agg('w' || i, ' ') AS body, array_agg('w' || i) AS tokens FROM generate_series(1, 100) AS i) AS t;
-- an input without shingles, and a NULL input
SELECT winnow('') AS empty, sketch(E' \n', 1) AS blank, sketch('{}'::text[], 3) AS no_tokens,
       sketch('a', 2147483647) AS none_divisible;
SELECT winnow(NULL::text) IS NULL AS winnow, winnow(NULL::text[]) IS NULL AS tokens,
       sketch(NULL::text, 1) IS NULL AS sketch, sketch('a', NULL) IS NULL AS modulus,
       sketch(NULL::text[], 1) IS NULL AS sketch_tokens,
       sketch(ARRAY['a'], NULL) IS NULL AS tokens_modulus;
-- the result is a plain array
SELECT array_ndims(s), array_lower(s, 1), cardinality(s), pg_column_size(s) AS bytes
FROM (SELECT sketch('a b c', 1, 1) AS s) AS t;
-- untyped parameters are texts
PREPARE untyped AS
    SELECT cardinality(winnow($1, 1, 1)), cardinality(sketch($1, $2, 1));
EXECUTE untyped('a b c', 1);
DEALLOCATE untyped;

-- Random texts of few and of many different words, some of them long, compared with the
-- definition
CREATE TABLE docs (id integer, body text);
INSERT INTO docs SELECT i, string_agg('w' || (hashint8extended(j, i) & (2 << i % 12) - 1), ' ' ORDER BY j)
                 FROM generate_series(1, 40) AS i, generate_series(1, 3 + 3 * i) AS j GROUP BY i;
-- (signed numbers in the order of unsigned ones)
CREATE FUNCTION flipped(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT $1 # -9223372036854775808 $$;
CREATE TABLE hashes AS
    SELECT id, width, n, flipped(simhash(ARRAY[shingle], 1)::bigint) AS hash,
           simhash(ARRAY[shingle], 1)::numeric AS number
    FROM docs, unnest(ARRAY[1, 2, 5, 8]) AS width, unnest(shingles(body, width)) WITH ORDINALITY AS s (shingle, n);
CREATE INDEX ON hashes (id, width);
ANALYZE hashes;
CREATE TABLE cuts AS
    SELECT width, guarantee FROM unnest(ARRAY[1, 2, 5, 8]) AS width, unnest(ARRAY[8, 9, 24, 60, 200]) AS guarantee;
CREATE FUNCTION as_array(bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT flipped(n) ORDER BY flipped(n)), '{}') FROM unnest($1) AS n $$;
SELECT count(*) AS compared, sum(cardinality(expected)) > 5000 AS many,
       count(*) FILTER (WHERE winnow(body, guarantee, width) IS DISTINCT FROM expected) AS wrong
FROM docs, cuts, LATERAL (
    SELECT as_array(array_agg(smallest)) AS expected
    FROM (SELECT n, max(n) OVER () AS shingles,
                 min(hash) OVER (ORDER BY n ROWS BETWEEN CURRENT ROW AND guarantee - cuts.width FOLLOWING) AS smallest
          FROM hashes AS h WHERE h.id = docs.id AND h.width = cuts.width) AS windows
    WHERE n = 1 OR n <= shingles - (guarantee - cuts.width)) AS e;
SELECT count(*) AS compared, count(*) FILTER (WHERE sketch(body, modulus, width) IS DISTINCT FROM expected) AS wrong
FROM docs, unnest(ARRAY[1, 2, 5, 8]) AS width, unnest(ARRAY[1, 2, 7, 100]) AS modulus, LATERAL (
    SELECT as_array(array_agg(hash)) AS expected
    FROM hashes AS h WHERE h.id = docs.id AND h.width = width.width AND number % modulus = 0) AS e;

-- The guarantee: texts with a common run of `guarantee` words have a common element,
-- whatever is around the run.  Texts whose common runs are shorter than a shingle have
-- none.
CREATE FUNCTION words(seed integer, n integer, different integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(
        string_agg('w' || abs(hashint8extended(i, seed) % different),
                   (ARRAY[' ', ', ', E'\n', ' - '])[1 + (hashint8extended(i, -seed) & 3)] ORDER BY i), '')
                   FROM generate_series(1, n) AS i $$;
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE NOT winnow(a, guarantee, width) && winnow(b, guarantee, width)) AS missed
FROM generate_series(1, 2000) AS i, LATERAL (SELECT 1 + i % 11 AS width, 1 << i % 13 AS different) AS w,
     LATERAL (SELECT width + i % 23 AS guarantee) AS g,
     LATERAL (SELECT words(i, guarantee, different) AS passage) AS p,
     LATERAL (SELECT words(-i, i % 31, different) || '.' || upper(passage) || '.'
                     || words(i + 5000, i % 37, different) AS a,
                     words(-5000 - i, i % 41, different) || ' ' || passage AS b) AS t;
SELECT count(*) AS pairs, count(*) FILTER (WHERE winnow(a, guarantee, width) && winnow(b, guarantee, width)) AS found
FROM generate_series(1, 1000) AS i, LATERAL (SELECT 2 + i % 11 AS width) AS w,
     LATERAL (SELECT width + i % 23 AS guarantee) AS g,
     LATERAL (SELECT words(i, width - 1, 1000000000) AS passage) AS p,
     LATERAL (SELECT words(-i, 20, 1000000000) || '.' || passage || '.' || words(i + 5000, 20, 1000000000) AS a,
                     words(-5000 - i, 20, 1000000000) || ' ' || passage AS b) AS t;
-- a larger window selects fewer shingles; all of them are shingles of the text
SELECT guarantee, cardinality(winnow(body, guarantee, 1)) AS selected,
       winnow(body, guarantee, 1) <@ sketch(body, 1, 1) AS shingles
FROM (SELECT string_agg(i::text, ' ') AS body FROM generate_series(1, 10000) AS i) AS t,
     unnest(ARRAY[1, 2, 5, 20, 100, 9999, 10000, 65536]) AS guarantee;
-- only the set of shingles counts
SELECT cardinality(winnow(repeat('the same again ', 20000), 50, 3)) AS winnow,
       cardinality(sketch(repeat('the same again ', 20000), 1, 2)) AS sketch;

--
-- common_passages
--
SELECT p.*, substr(a, a_start, a_length) = passage AS in_a, substr(b, b_start, b_length) AS in_b
FROM (VALUES ('The quick brown fox jumps over the lazy dog. And so on, and so on.',
              'So on and: THE QUICK, brown fox jumps; over a lazy dog, and so on!')) AS v (a, b),
     common_passages(a, b, 3) AS p;
-- the longest passage first, then the rest of other passages; each word of a is used
-- once
SELECT * FROM common_passages('a b c d e f g h i j', 'a b c d e f g x d e f g h i j', 2);
SELECT * FROM common_passages('a b c d e f g h i j', 'a b c d e f g x d e f g h i j', 4);
SELECT * FROM common_passages('a b a b a', 'a b', 1);
SELECT * FROM common_passages('a b', 'a b a b a', 1);
SELECT a_start, a_length, b_start, b_length, units, passage = rtrim(repeat('ha ', units)) AS right
FROM common_passages(repeat('ha ', 10), repeat('ha ', 4), 1);
-- characters
SELECT * FROM common_passages('The quick brown fox', 'the quack brown fix', 4, 'char');
-- tokens
SELECT * FROM common_passages(ARRAY['a', 'b', 'c', 'B', 'c d'], ARRAY['x', 'B', 'c d', 'a', 'b'], 2);
-- defaults, by name and by NULL
SELECT (SELECT array_agg(units) FROM common_passages(body, body || ' x ' || left(body, 20))) AS words,
       (SELECT array_agg(units)
        FROM common_passages(a => body, b => body, minimum => NULL, unit => 'char')) AS characters,
       (SELECT count(*) FROM common_passages('a b c d e f g', 'a b c d e f g')) AS seven,
       (SELECT count(*)
        FROM common_passages(a => string_to_array(body, ' '), b => string_to_array(body, ' '), minimum => 9)) AS tokens
FROM (VALUES ('The quick brown fox jumps over the lazy dog.')) AS v (body);
-- nothing in common, an empty text, NULL
SELECT count(*) FROM common_passages('a b', 'c d', 1);
SELECT count(*) FROM common_passages('', 'c d', 1);
SELECT count(*) FROM common_passages('a b', ' ', 1);
SELECT count(*) FROM common_passages('{}'::text[], '{}', 1);
SELECT count(*) FROM common_passages(NULL, 'a', 1);
SELECT count(*) FROM common_passages('a', NULL::text, 1);
SELECT count(*) FROM common_passages(ARRAY['a'], NULL::text[], 1);
-- symbols are units in a text without letters and digits
SELECT * FROM common_passages('!?!', '?!', 1);
-- a passage consists of whole characters: characters that become several, several that
-- become one, and characters that vanish (not aligned: releases differ in the width of
-- such characters)
\pset format unaligned
SELECT *, substr(a, a_start, a_length) = passage AS in_a, substr(b, b_start, b_length) AS in_b
FROM (VALUES (U&'x \FB01n\00BDy cafe\0301 z\00AD\200Bw \7231\4F60 \FDFA!',
              U&'(FIN1\20442y) caf\00E9, ZW. \7231 \4F60\3002 y')) AS v (a, b), common_passages(a, b, 1);
\pset format aligned

-- Random texts of few words, compared with a search of all pairs of positions.  Each
-- passage is in both texts, and the longest of all is first.  No word of a is in two
-- passages.  The rest of a passage that is not found as a whole is too short.
CREATE TABLE pairs AS
    SELECT i AS id, 1 + i % 5 AS minimum,
           array(SELECT 'w' || abs(hashint8extended(j, i) % (2 + i % 9)) FROM generate_series(1, i % 37) AS j) AS a,
           array(SELECT 'w' || abs(hashint8extended(j / (1 + i % 3), -i) % (2 + i % 9))
                 FROM generate_series(1, i * 7 % 41) AS j) AS b FROM generate_series(1, 300) AS i;
CREATE TABLE found AS
    SELECT id, p.* FROM pairs, common_passages(a, b, minimum) WITH ORDINALITY AS p (a_start, b_start, length, n);
SELECT count(*) AS compared,
       count(*) FILTER (WHERE a[a_start : a_start + length - 1] <> b[b_start : b_start + length - 1]) AS different,
       count(*) FILTER (WHERE length < minimum) AS short,
       count(*) FILTER (WHERE length > before) AS not_longest_first
FROM (SELECT *, lag(length) OVER (PARTITION BY id ORDER BY n) AS before FROM found) AS f JOIN pairs USING (id);
SELECT count(*) AS compared,
       count(*) FILTER (WHERE int4range(x.a_start, x.a_start + x.length) && int4range(y.a_start, y.a_start + y.length))
           AS overlapping
FROM found AS x JOIN found AS y USING (id) WHERE x.n < y.n;
CREATE TABLE runs AS -- all that are part of no longer one
    SELECT id, i, max(length) AS length
    FROM pairs, generate_series(1, cardinality(a)) AS i, generate_series(1, cardinality(b)) AS j,
         LATERAL (SELECT coalesce(min(k), least(cardinality(a) - i, cardinality(b) - j) + 1) AS length
                  FROM generate_series(0, least(cardinality(a) - i, cardinality(b) - j)) AS k
                  WHERE a[i + k] <> b[j + k]) AS l
    GROUP BY id, i;
SELECT count(*) AS compared, count(*) FILTER (WHERE found IS DISTINCT FROM longest) AS wrong
FROM (SELECT id, (SELECT max(length) FROM runs AS r WHERE r.id = p.id AND length >= minimum) AS longest,
             (SELECT max(length) FROM found AS f WHERE f.id = p.id) AS found FROM pairs AS p) AS s;
SELECT count(*) AS runs, count(*) FILTER (WHERE uncovered >= minimum) AS missed
FROM (SELECT minimum, r.length,
             (SELECT coalesce(max(run), 0) FROM (SELECT count(*) AS run FROM (
                  SELECT k, sum(covered::integer) OVER (ORDER BY k) AS part, covered
                  FROM generate_series(r.i, r.i + r.length - 1) AS k,
                       LATERAL (SELECT EXISTS (
                           SELECT FROM found AS f
                           WHERE f.id = r.id
                             AND k BETWEEN f.a_start AND f.a_start + f.length - 1) AS covered) AS c) AS s
              WHERE NOT covered GROUP BY part) AS parts) AS uncovered
      FROM runs AS r JOIN pairs USING (id) WHERE r.length >= minimum) AS u;
-- the passages of texts are those of their words
SELECT count(*) AS compared, count(*) FILTER (WHERE of_text IS DISTINCT FROM of_tokens) AS wrong
FROM pairs, LATERAL (
    SELECT array_agg((units, passage) ORDER BY n) AS of_text
    FROM common_passages(
        array_to_string(a, ', '), array_to_string(b, ' '),
     minimum) WITH ORDINALITY AS p (a_start, a_length, b_start, b_length, units, passage, n)) AS t,
     LATERAL (SELECT array_agg(
         (length, array_to_string(a[a_start : a_start + length - 1], ', ')) ORDER BY n) AS of_tokens
         FROM found AS f WHERE f.id = pairs.id) AS f;
-- each passage has its first position in b: for all strings of a few letters
CREATE TABLE strings AS
    WITH RECURSIVE s AS (
        SELECT '' AS s UNION ALL SELECT s || c FROM s, (VALUES ('a'), ('b')) AS c (c) WHERE length(s) < 6)
        SELECT s FROM s;
SELECT count(*) AS compared, count(*) FILTER (WHERE b_start <> strpos(b.s, passage) OR b_length <> units) AS wrong
FROM strings AS a, strings AS b, common_passages(a.s, b.s, 1, 'char');
SELECT count(*) AS compared, count(*) FILTER (WHERE b_start <> strpos(b.s, substr(a.s, a_start, p.length))) AS wrong
FROM strings AS a, strings AS b, generate_series(1, 2) AS minimum,
     common_passages(string_to_array(a.s, NULL), string_to_array(b.s, NULL), minimum) AS p;
DROP TABLE strings;
-- repetitive and long texts: the search does not compare all pairs of positions
SELECT count(*), sum(units), max(units) FROM common_passages(repeat('ha ', 100000), repeat('ha ', 30000));
SELECT count(*), sum(units), max(units)
FROM common_passages(repeat('a b ', 50000), repeat('b a ', 50000) || 'x', 1, 'char');
SELECT units, a_start, b_start
FROM common_passages(
    (SELECT string_agg(i::text, ' ' ORDER BY i) FROM generate_series(1, 60000) AS i),
    (SELECT string_agg(i::text, ' ' ORDER BY i % 2, i) FROM generate_series(20001, 20100) AS i) || ' '
    || (SELECT string_agg(i::text, ' ' ORDER BY i) FROM generate_series(30001, 50000) AS i));

--
-- edited_passages
--
SELECT p.*, substr(a, a_start, a_length) = passage AS in_a, substr(b, b_start, b_length) AS in_b
FROM (VALUES ('He said: WE HOLD that all human beings are created equal!',
              'We hold these truths to be self-evident, that all men are created equal.')) AS v (a, b),
     edited_passages(a, b, 2, 6) AS p;
-- a gap in b alone, in a alone, of a word that b has elsewhere, and one too many; a passage whose
-- first position in b is another one
SELECT gap, p.* FROM generate_series(0, 2) AS gap, edited_passages('a b c d e f', 'a b c X Y d e f', 1, gap) AS p;
SELECT * FROM edited_passages('a b c X Y d e f', 'a b c d e f', 1, 2);
SELECT * FROM edited_passages('a b c g d e f', 'f g a b c X d e f', 1, 1);
SELECT * FROM edited_passages('x y a b c d e', 'x y . a b x y and a b c d e', 2, 1);
-- characters; defaults, by name and by NULL; nothing in common, an empty text, NULL
SELECT * FROM edited_passages('The quick brown fox', 'the quack brown fix', 3, 1, 'char');
SELECT (SELECT array_agg(units) FROM edited_passages(body || ' x ' || body, body || ' ' || body)) AS words,
       (SELECT array_agg(units)
        FROM edited_passages(a => body, b => body || body, minimum => NULL, gap => NULL, unit => NULL)) AS others,
       (SELECT count(*) FROM (VALUES ('a b', 'c d', 1), ('', 'c d', 1), (NULL, 'a', 0), ('a', NULL, 1)) AS v (a, b, m),
                             edited_passages(a, b, m)) AS none
FROM (VALUES ('The quick brown fox jumps over the lazy dog.')) AS v (body);
-- Every sixth word or so of a text is replaced, left out, or has words before it: the
-- passage is found as one, with these words in its gaps.
CREATE TABLE edits AS
    SELECT i AS id, p, 'w' || p AS word, abs(hashint8extended(p, i) % 3) AS edit,
           (SELECT string_agg('s' || p || j, ' ')
            FROM generate_series(1, 1 + abs(hashint8extended(p, -i) % 3)) AS j) AS other
    FROM generate_series(1, 100) AS i,
         LATERAL (SELECT k * 6 + abs(hashint8extended(k, i) % 3) AS p FROM generate_series(1, 9) AS k) AS k;
SELECT count(*) AS compared, count(DISTINCT id) AS texts,
       count(*) FILTER (WHERE passage <> a OR substr('z ' || b, b_start, b_length) <> b) AS parts,
       count(*) FILTER (WHERE a_gaps <> a_words OR b_gaps <> b_words) AS wrong
FROM (SELECT t.id, string_agg('w' || w, ' ' ORDER BY w) AS a,
             string_agg(CASE edit WHEN 0 THEN other WHEN 1 THEN NULL WHEN 2 THEN other || ' w' || w ELSE 'w' || w END,
                        ' ' ORDER BY w) AS b,
             array_agg(CASE WHEN edit < 2 THEN word ELSE '' END ORDER BY w) FILTER (WHERE p = w) AS a_words,
             array_agg(CASE WHEN edit <> 1 THEN other ELSE '' END ORDER BY w) FILTER (WHERE p = w) AS b_words
      FROM generate_series(1, 100) AS t (id) CROSS JOIN generate_series(1, 60) AS w
          LEFT JOIN edits AS e ON e.id = t.id AND p = w
      GROUP BY t.id) AS t,
     edited_passages('x y ' || a, 'z ' || b || ' y x', 3, 3);
-- Random texts of few words.  A passage is one of both texts, without its gaps.  No word
-- of a is in two passages, gaps are short, and each common passage is in one of them.
CREATE TABLE joined AS
    SELECT id, gap, e.*
    FROM pairs, generate_series(0, 4, 2) AS gap,
         edited_passages(array_to_string(a, ' '), array_to_string(b, ' '), minimum, gap) WITH ORDINALITY
         AS e (a_start, a_length, b_start, b_length, units, passage, a_gaps, b_gaps, n);
-- Return the words of a text without those of its gaps.
CREATE FUNCTION kept(body text, gaps text[]) RETURNS text[] LANGUAGE sql IMMUTABLE RETURN ARRAY(
    SELECT unnest(string_to_array(body, ' ')) AS w
    EXCEPT ALL SELECT unnest(string_to_array(array_to_string(gaps, ' '), ' ')) ORDER BY w);
SELECT count(*) AS compared, sum(cardinality(a_gaps)) AS gaps,
       count(*) FILTER (WHERE units > before) AS not_longest_first,
       count(*) FILTER (WHERE kept(passage, a_gaps) <> kept(in_b, b_gaps)
                           OR cardinality(kept(passage, a_gaps)) <> units
                           OR cardinality(a_gaps) <> cardinality(b_gaps)) AS different,
       count(*) FILTER (WHERE passage !~ ('^.+' || array_to_string(a_gaps, '.+') || '.+$')
                           OR in_b !~ ('^.+' || array_to_string(b_gaps, '.+') || '.+$')) AS elsewhere,
       count(*) FILTER (WHERE gap < (SELECT max(cardinality(string_to_array(g, ' ')))
                                     FROM unnest(a_gaps || b_gaps) AS g)) AS too_long
FROM (SELECT j.*, lag(units) OVER (PARTITION BY id, gap ORDER BY n) AS before,
             substr(array_to_string(b, ' '), b_start, b_length) AS in_b
      FROM joined AS j JOIN pairs USING (id)) AS j;
SELECT count(*) AS compared,
       count(*) FILTER (WHERE (SELECT count(*) FROM joined AS j
                               WHERE (j.id, j.gap) = (p.id, g)
                                 AND int4range(j.a_start, j.a_start + a_length)
                                     @> int4range(c.a_start, c.a_start + length)) <> 1) AS not_in_one,
       count(*) FILTER (WHERE g = 0 AND NOT EXISTS (SELECT FROM joined AS j
                                                    WHERE (j.id, j.gap, j.a_start, j.a_length, j.b_start)
                                                          = (p.id, g, c.a_start, c.length, c.b_start))) AS without_gaps
FROM pairs AS p, generate_series(0, 4, 2) AS g,
     common_passages(array_to_string(a, ' '), array_to_string(b, ' '), minimum) AS c (a_start, length, b_start);
SELECT count(*) AS compared,
       count(*) FILTER (WHERE int4range(x.a_start, x.a_start + x.a_length)
                              && int4range(y.a_start, y.a_start + y.a_length)) AS overlapping
FROM joined AS x JOIN joined AS y USING (id, gap) WHERE x.n < y.n;
-- repetitive texts: the search for a neighbour takes linear time
SELECT count(*), sum(units) FROM edited_passages(repeat('ha ', 100000), repeat('ha ', 30000), 1, 1000);
SELECT count(*), sum(units), max(cardinality(a_gaps))
FROM edited_passages(repeat(repeat('ha ', 300) || 'x ', 300), repeat(repeat('ha ', 299) || 'y ', 300), 1, 1000);

--
-- winnow_hashes
--
-- the example of the paper: 17 17 8 39 17 are selected
SELECT winnow_hashes('{77,74,42,17,98,50,17,98,8,88,67,39,77,74,42,17,98}', 4);
-- winnow() selects from the hashes of the shingles in the same way
SELECT winnow_hashes(array_agg((sketch(piece, 1, 2))[1] ORDER BY start), 4) = winnow(body, 5, 2) AS same
FROM (VALUES ('the quick brown fox jumps over the lazy dog and the quick brown fox again')) AS v (body),
     text_windows(body, 2, 1) AS w GROUP BY body;
SELECT winnow_hashes('{3,-1,2}', 10), winnow_hashes('{}', 10), winnow_hashes('{5,5,5}', 1), winnow_hashes(NULL, 1),
       winnow_hashes('{3,-1,2}', 1);
SELECT winnow_hashes('{1}', 0);
SELECT winnow_hashes('{1}', 65537);
SELECT winnow_hashes('{1,NULL}', 1);
SELECT winnow_hashes('{{1},{2}}', 1);

--
-- scoped_hashes
--
-- test/reference/sketch_reference.py made these vectors
TRUNCATE vectors;
INSERT INTO vectors
SELECT scope, scoped_hashes('{0,1,-1,9223372036854775807,-9223372036854775808,1}', scope), expected::bigint[]
FROM (VALUES
    ('7', '{-5381302552407297606,-5202731083645879863,-4521038363701578115,1228390350482603228,5068111384063973585}'),
    ('-9223372036854775808',
     '{-5510544428079067007,-3733476502591826237,2954289620099955141,7429619085784414091,7671887835392807361}'),
    ('07', '{-8961772725128653131,-8206548950953287954,717363312825911995,897617844749719023,9043143534557284245}'),
    ('', '{-6955983767279736551,-5883944295149086199,2596593012230189207,3849176817227214262,9141429805390823588}'),
    ('Größe',
     '{-8076622050096520140,-6381467828946113444,-2117291145583684596,4255778168148775493,8090973666375192484}'))
    AS v (scope, expected);
SELECT count(*) AS compared, array_agg(what) FILTER (WHERE got IS DISTINCT FROM expected) AS wrong FROM vectors;
-- a number and its text are one scope, whatever their type, or without one
SELECT count(*) AS compared, count(DISTINCT scoped) AS scopes
FROM (VALUES (7::smallint, 7, 7::bigint, text '7', varchar '7', char(3) '7', name '7')) AS v (i2, i4, i8, t, v, c, n),
     unnest(ARRAY[scoped_hashes('{1,2}', i2)::text, scoped_hashes('{1,2}', i4)::text, scoped_hashes('{1,2}', i8)::text,
                  scoped_hashes('{1,2}', t)::text, scoped_hashes('{1,2}', v)::text, scoped_hashes('{1,2}', c)::text,
                  scoped_hashes('{1,2}', n)::text, scoped_hashes('{1,2}', '7')::text,
                  scoped_hashes(ARRAY[2, 1, 2], 7)::text]) AS scoped;
SELECT count(*) AS numbers FROM (VALUES (0), (-1), (9223372036854775807), (-9223372036854775808)) AS v (i)
WHERE scoped_hashes('{1}', i) = scoped_hashes('{1}', i::text);
PREPARE untyped AS SELECT scoped_hashes($1, $2) = scoped_hashes('{1,2}', 7) AS same;
EXECUTE untyped('{1,2}', '7');
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
DEALLOCATE untyped;
-- sorted and distinct; no two elements become one, so distances stay; two scopes share nothing;
-- nested scopes have an order, and are no concatenation
SELECT bool_and(scoped = ARRAY(SELECT DISTINCT e FROM unnest(scoped) AS e ORDER BY e)) AS sorted,
       bool_and(cardinality(scoped) = (SELECT count(DISTINCT e) FROM unnest(sk) AS e)) AS "all",
       bool_and((scoped <%> scoped_hashes(other, i)) IS NOT DISTINCT FROM (sk <%> other)) AS same_distances,
       bool_or(scoped && scoped_hashes(sk, i + 1)) AS shared,
       bool_or(scoped_hashes(scoped, -1) && scoped_hashes(scoped_hashes(sk, -1), i)) AS swapped,
       bool_or(scoped_hashes(scoped, '1') && scoped_hashes(sk, i || '1')) AS concatenated,
       bool_or(to_minhash(scoped) % to_minhash(scoped_hashes(sk, i + 1))) AS shared_band,
       max(cardinality(sk)) > 2000 AS long
FROM (SELECT i, ARRAY(SELECT CASE i % 3 WHEN 0 THEN j ELSE hashint8extended(j % 1000, i) END
                      FROM generate_series(1, (i * i)::bigint) AS j) AS sk,
             ARRAY(SELECT CASE i % 3 WHEN 0 THEN j ELSE hashint8extended(j % 1000, i) END
                   FROM generate_series(i, (i * i)::bigint) AS j) AS other
      FROM generate_series(1, 60) AS i) AS s, LATERAL (SELECT scoped_hashes(sk, i) AS scoped) AS t;
-- no hashes, and NULL
SELECT scoped_hashes('{}', 7) AS empty, scoped_hashes(NULL, 7) IS NULL AS "null",
       scoped_hashes(NULL, '7') IS NULL AS text;
-- tenants with the same documents: the index finds those of one, and the constraint compares those of one
CREATE TABLE tenants (tenant integer NOT NULL, body text, sk bigint[] GENERATED ALWAYS AS (
    scoped_hashes(shingle_hashes(body), tenant)) STORED, EXCLUDE USING simhash (sketch_ball(sk, 0.3) WITH =~=));
INSERT INTO tenants SELECT t, words FROM generate_series(1, 20) AS t, generate_series(1, 40) AS i,
    LATERAL (SELECT string_agg(substr(md5((i / 2 * 100 + w)::text), 1, 5), ' ' ORDER BY w)
                 || CASE WHEN i % 2 = 1 THEN ' and ' || t ELSE '' END
             FROM generate_series(1, 20 + i % 3) AS w) AS s (words)
ON CONFLICT DO NOTHING;
CREATE INDEX ON tenants USING simhash (sk);
SELECT sum(n) AS kept, count(*) AS tenants, min(n), max(n)
FROM (SELECT count(*) AS n FROM tenants GROUP BY tenant) AS s;
SET enable_seqscan = off;
SELECT bool_and(ctid = found) AS itself_alone
FROM (SELECT t.ctid, u.ctid AS found FROM tenants AS t
      CROSS JOIN LATERAL (SELECT ctid FROM tenants AS u
                          WHERE u.sk <%> scoped_hashes(shingle_hashes(t.body), t.tenant) <= 0.3 OFFSET 0) AS u) AS s;
SELECT * FROM differing(
    $$SELECT tenant, ctid FROM tenants
      WHERE sk <%> scoped_hashes(shingle_hashes((SELECT min(body) FROM tenants WHERE tenant = 9)), 9) <= 0.7$$,
    $$SELECT tenant, ctid FROM tenants WHERE tenant = 9
      AND (shingle_hashes(body) <%> shingle_hashes((SELECT min(body) FROM tenants WHERE tenant = 9))) + 0 <= 0.7$$);
RESET enable_seqscan;
DROP TABLE tenants;

--
-- text_windows
--
SELECT w.*, substr(body, start, length) = piece AS right
FROM (VALUES ('The quick, brown fox (jumps) over the lazy dog.')) AS v (body), text_windows(body, 4) AS w;
SELECT w.* FROM text_windows('The quick, brown fox (jumps) over the lazy dog.', 4, 2) AS w;
SELECT w.* FROM text_windows('a b c d e f g h i j', 2, 5) AS w;
SELECT w.* FROM text_windows('a b c d e f g h i j k', 2, 5) AS w;
SELECT w.* FROM text_windows('a b c', 5) AS w;
SELECT w.* FROM text_windows('a b, c', 4, unit => 'char') AS w;
SELECT piece FROM text_windows('a b c');
SELECT w.*, substr(body, start, length) = piece AS right
FROM (VALUES (E'  Title\n\nThe first line\r\nof a paragraph.  Its 2nd sentence?\r\n \t\r\n\r\n'
              '\tdef f(x):\n\t\treturn x\n---\n')) AS v (body),
     unnest(ARRAY['line', 'sentence', 'paragraph']) AS unit, text_windows(body, unit => unit) AS w;
SELECT piece FROM text_windows(
    U&'Dr. Who, e.g. he said: "Is it 3.14?" It is. (Or not...) Wow!! '
    '\4EBA\4EBA\751F\800C\81EA\7531\3002\5E73\7B49\FF01\300D\662F \0928\0964 \1781\17D4 end', unit => 'sentence');
-- all characters beyond ASCII with a part in sentences
SELECT what, string_agg(to_hex(c), ' ' ORDER BY c) AS characters
FROM (SELECT c, CASE WHEN (SELECT count(*) FROM text_windows('A' || x || 'A', unit => 'line')) > 1 THEN 'ends a line'
          WHEN (SELECT count(*) FROM text_windows('A' || x || 'A', unit => 'sentence')) > 1 THEN 'ends a sentence'
          WHEN (SELECT count(*) FROM text_windows('A!' || x || 'A', unit => 'sentence')) > 1 THEN 'is white space'
          WHEN (SELECT count(*) FROM text_windows('A' || x || ' A', unit => 'sentence')) > 1
          THEN 'ends a sentence before white space'
          WHEN (SELECT count(*) FROM text_windows('A!' || x || ' A', unit => 'sentence')) > 1
          THEN 'belongs to the sentence before it' END AS what
      FROM generate_series(128, 65400) AS c, chr(c) AS x
      WHERE c < 8448 OR c BETWEEN 12288 AND 12352 OR c > 65280) AS s
WHERE what IS NOT NULL GROUP BY what ORDER BY what;
SELECT piece FROM text_windows('One. Two. Three. Four.', 3, 1, 'sentence');
SELECT length(piece) FROM text_windows(E'a\n\nb\n \nc', 2, 1, 'paragraph');
SELECT count(*) FROM text_windows(E' \n\n ', unit => 'line');
SELECT count(*) FROM text_windows('', 3);
SELECT count(*) FROM text_windows(NULL, 3);
-- words and characters are those of shingles
SELECT unit, size, step, count(*) AS windows, count(*) FILTER (WHERE piece <> substr(body, start, length)) AS elsewhere,
       count(*) FILTER (WHERE n > 1 AND start < before) AS backwards,
       count(*) FILTER (WHERE unit = 'word' AND shingles(piece, 1)
           IS DISTINCT FROM (shingles(body, 1))[1 + (n - 1) * step : (n - 1) * step + size]) AS wrong
FROM (VALUES (U&'x \FB01ne cafe\0301 z\00AD\200Bw, \7231\4F60 \0E17\0E35\0E48\0E19 a b c d e f g')) AS v (body),
     unnest(ARRAY['word', 'char']) AS unit, unnest(ARRAY[1, 2, 3, 7]) AS size, unnest(ARRAY[1, 2, 5]) AS step,
     LATERAL (SELECT *, lag(start) OVER (ORDER BY n) AS before
              FROM text_windows(body, size, step, unit) WITH ORDINALITY AS w (start, length, piece, n)) AS w
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- long texts
SELECT count(*), max(start), bool_and(length(piece) = length) AS right
FROM text_windows(repeat('the same again ', 30000), 1000, 500);
SELECT count(*), max(start) FROM text_windows(repeat('the same again ', 30000), 100000, 1000);
SELECT count(*), max(start) FROM text_windows(repeat(E'The same again.  And again!\n', 20000), unit => 'sentence');
