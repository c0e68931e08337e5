--
-- shingles(...): the features of fingerprints and of comparisons
--
\pset format unaligned

-- words: normalised, joined by one space, in order, repetitions included
SELECT shingles('A rose, is a ROSE; is a rose!') AS two, shingles('A rose, is a ROSE', 1) AS one,
       shingles('a b a b a b', 3) AS three;
SELECT shingles('a b c', 3) AS exact, shingles('a b c', 4) AS shorter, shingles('a b c', 256) AS much_shorter,
       shingles('word') AS one_word;
SELECT shingles(E'tabs\tand\nnew\r\nlines, punctuation...and--dashes (or "quotes")', 1);
-- words consist of letters, digits and marks; all other characters separate them
SELECT shingles('abc123 4five6 3.14 1,000 don''t e-mail user@example.org C++ a_b', 1);
SELECT shingles('x²+y₁=½ №5 ™ ℃', 1) AS compatibility_forms;
-- named arguments
SELECT shingles(body => 'a b c', width => 2, unit => 'word') = shingles('a b c') AS body,
       shingles('abcdefghij', unit => 'char') AS unit,
       shingles(tokens => ARRAY['a', 'b'], width => 1) AS tokens;
-- characters: one space between two words
SELECT shingles('ab  CD', 1, 'char') AS one, shingles('ab, cd', 2, 'char') AS two, shingles('a b', 3, 'char') AS exact,
       shingles('a b', 4, 'char') AS shorter, shingles('  a  ', 2, 'char') AS outer_spaces;
-- single-letter tokens are joined by spaces, too
SELECT shingles('我爱你', 1) AS words, shingles('我爱你', 2) AS pairs, shingles('我爱你', 2, 'char') AS chars,
       shingles('我 爱,你', 2, 'char') AS separated;
SELECT shingles('SQL数据库 2版本 a b', 1) AS words, shingles('SQL数据库 2版本 a b', 2, 'char') AS chars;
SELECT shingles('カタカナとひらがな', 1) AS kana, shingles('カタ カナ abc', 3, 'char') AS chars;
-- a text without letters and digits: every code point except spaces
SELECT shingles('?! ... ?') AS words, shingles('?! ..', 1) AS one, shingles('?! ..', 2, 'char') AS chars,
       shingles('--') AS pair, shingles('-') AS one_mark;
SELECT shingles('★ ☆ →') AS symbols, shingles('😀😃 😄', 1) AS emoji, shingles('👍🏽', 1) AS modified;
-- texts without shingles
SELECT shingles('') AS empty, shingles(E' \n ') AS blank, shingles(ARRAY[]::text[]) AS no_tokens,
       shingles(NULL::text) IS NULL AS "null",
       shingles(NULL::text[]) IS NULL AS null_tokens,
       shingles('a b c', NULL::integer) = shingles('a b c', 2) AS null_width_is_default;
-- the result is a plain array
SELECT array_ndims(s) AS dimensions, array_lower(s, 1) AS lower, cardinality(s) AS elements, pg_typeof(s) AS type
FROM (SELECT shingles('a b c d')) AS t (s);

-- tokens are not normalised
SELECT shingles(ARRAY['New York', 'IS', 'big']) AS two, shingles(ARRAY['a', '', 'B'], 3) AS empty_token,
       shingles(ARRAY['a', 'b'], 1) AS one,
       shingles(ARRAY['a', 'b'], 3) AS shorter, shingles('[0:2]={x,y,z}'::text[]) AS other_bounds;

-- a word is split after every 1024 code points, but only if words are the unit
SELECT length,
       (SELECT array_agg(length(s) ORDER BY i)
        FROM unnest(shingles(repeat('x', length), 1)) WITH ORDINALITY AS u (s, i)) AS lengths,
       cardinality(shingles(repeat('x', length), 1, 'char')) AS chars
FROM (VALUES (1023), (1024), (1025), (2048), (3000)) AS v (length) ORDER BY length;
SELECT array_agg(length(s)) AS lengths, array_agg(octet_length(s)) AS octets
FROM unnest(shingles(repeat('é', 1025) || ' y', 1)) AS s;
SELECT length((shingles(repeat('x', 1025)))[1]) AS joined_by_a_space;
SELECT cardinality(shingles(repeat('x', 3000), 256, 'char')) AS wide;

-- A fingerprint is the majority of the hashes of the distinct shingles.
CREATE TEMP TABLE docs (id integer, body text);
INSERT INTO docs VALUES
    (1, 'a rose is a rose is a rose'), (2, 'The quick brown fox jumps over the lazy dog.'), (3, '我爱北京天安门，天安门上太阳升。'),
    (4, 'これはペンです。That is a pen.'), (5, 'ภาษาไทยเขียนติดกัน'), (6, '모든 인간은 태어날 때부터 자유로우며'), (7, '!!! ???'), (8, 'x'),
    (9, repeat('0123456789 ', 5000)), (10, repeat('word', 1000));
SELECT count(*) AS compared, array_agg((id, width, unit)) FILTER (
           WHERE simhash(body, width, unit)
                     IS DISTINCT FROM (SELECT simhash_agg(DISTINCT s) FROM unnest(shingles(body, width, unit)) AS s)
              OR simhash(body, width, unit) IS DISTINCT FROM simhash(shingles(body, width, unit), 1)
              OR simhash(body, width, unit)
                     IS DISTINCT FROM (SELECT simhash(array_agg(s), array_agg(0.25::float8))
                                       FROM (SELECT DISTINCT unnest(shingles(body, width, unit))) AS d (s))) AS wrong
FROM docs, (VALUES (1), (2), (3), (7), (256)) AS w (width), (VALUES ('word'), ('char')) AS u (unit);
-- simhash_agg, and features with equal weights, count a shingle as often as it occurs.
SELECT count(*) AS compared, array_agg((id, width, unit)) FILTER (
           WHERE (SELECT simhash_agg(s) FROM unnest(shingles(body, width, unit)) AS s)
               IS DISTINCT FROM simhash(shingles(body, width, unit),
                                        array_fill(0.25::float8, ARRAY[cardinality(shingles(body, width, unit))])))
           AS wrong
FROM docs, (VALUES (1), (2), (3), (7), (256)) AS w (width), (VALUES ('word'), ('char')) AS u (unit);
-- The wider shingles of words consist of the shingles of width 1.
SELECT count(*) AS compared, array_agg((id, width)) FILTER (
           WHERE shingles(body, width) IS DISTINCT FROM shingles(shingles(body, 1), width)
              OR simhash(body, width) IS DISTINCT FROM simhash(shingles(body, 1), width)) AS wrong
FROM docs, (VALUES (1), (2), (3), (7), (256)) AS w (width);
-- their number follows from the number of words and the width
SELECT width, cardinality(shingles(body, width)) AS words, cardinality(shingles(body, width, 'char')) AS chars
FROM docs, (VALUES (1), (2), (3), (7), (256)) AS w (width) WHERE id = 9 ORDER BY width;
