--
-- shingle_difference: the shingles that only one of two documents has
--
SELECT *, substr(CASE only_in WHEN 'a' THEN a ELSE b END, start, length) AS passage
FROM (VALUES ('The quick, brown fox jumps', 'The quick red fox jumps, and jumps: again')) AS v (a, b),
     shingle_difference(a, b, 2);
SELECT * FROM shingle_difference('abcd', 'abxd', 2, 'char');
SELECT * FROM shingle_difference(a => 'a b c', b => 'a c b', unit => 'word', width => 1);
-- the default width is that of resemblance
SELECT * FROM shingle_difference('a b c d', 'b c d e');
SELECT * FROM shingle_difference(ARRAY['a', 'b', 'c', 'd'], ARRAY['b', 'c', 'd', 'e']);
-- no difference; one text is blank, both are, one is NULL
SELECT count(*) FROM shingle_difference('a b c', 'A, b... c!');
SELECT * FROM shingle_difference('', 'a b c', 2);
SELECT * FROM shingle_difference(' !', '?');
SELECT * FROM shingle_difference('', '  ');
SELECT * FROM shingle_difference(NULL, 'a');
SELECT * FROM shingle_difference('a', NULL::text);
-- shorter than a shingle
SELECT * FROM shingle_difference(' (a, b) ', 'a c', 5);
SELECT * FROM shingle_difference(' (a, b) ', 'a c', 5, 'char');
-- positions of tokens are indexes of the array
SELECT *, array_to_string((CASE only_in WHEN 'a' THEN a ELSE b END)[start : start + length - 1], ' ')
           = shingle AS passage
FROM (VALUES (ARRAY['a', 'B', 'c'], ARRAY['a', 'B', 'd', 'e']), (ARRAY['a'], '{}'),
             (ARRAY['a', 'b c'], ARRAY['a b', 'c'])) AS v (a, b), shingle_difference(a, b, 2);
SELECT * FROM shingle_difference(ARRAY['a', 'b', 'c'], ARRAY['a', 'b'], 5);
SELECT * FROM shingle_difference(ARRAY['a'], NULL::text[]);

-- Characters that become several, several that become one, marks in another order, and
-- characters that vanish: a passage consists of whole characters
SELECT start, length, shingle, substr(body, start, length) AS passage
FROM (VALUES (U&'x \FB01n\00BDy \2474 cafe\0301 z\00AD\200Bw, \1112\1161\11AB a\0345\0301b \7231\4F60')) AS v (body),
     shingle_difference(body, '', 1);
SELECT start, length, shingle, substr(body, start, length) AS passage
FROM (VALUES (U&'\FB01n, \00BDe\0301\7231')) AS v (body), shingle_difference(body, '', 2, 'char');
SELECT start, length, shingle FROM shingle_difference(U&'! \+01F600 \2026', '', 2);
-- a word that is longer than the longest token
SELECT start, length, length(shingle) FROM shingle_difference('--' || repeat('x', 3000) || ' y', '', 2);
SELECT start, length, length(shingle) FROM shingle_difference('--' || repeat(U&'\00E9', 3000) || ' y', '', 2);

-- Random texts: of letters, of other scripts, of characters that normalisation changes,
-- and of all of them.
CREATE TEMP TABLE docs (id integer, body text);
INSERT INTO docs
    SELECT i, string_agg(piece, '' ORDER BY j)
    FROM generate_series(1, 120) AS i, generate_series(1, 5 + i) AS j,
         LATERAL (SELECT CASE WHEN i % 4 = 0 OR (i % 4 = 3 AND hashint8extended(j, i + 1000) % 2 = 0)
                  THEN chr(97 + (hashint8extended(j, i) & 7)::integer)
                  ELSE (ARRAY[U&'\0301', U&'\0323', U&'\0345', U&'\00E9', U&'\FB01', U&'\FDFA', U&'\1112',
                              U&'\1161', U&'\11AB', U&'\D55C', U&'\0DD9', U&'\0DCF', U&'\0DCA', U&'\7231',
                              U&'\3042', U&'\FF71', U&'\FF9E', U&'\0E17', U&'\0E35', U&'\200B', U&'\00AD',
                              U&'\2474', U&'\00DF', U&'\0130', U&'\0073', U&'\017F', U&'\03A3', U&'\0F71',
                              U&'\0F73', U&'\0F80', U&'\+01D15F', U&'\+020000'])
                       [1 + (hashint8extended(j, i) & 31)] END AS letter) AS l,
         LATERAL (SELECT letter || CASE WHEN hashint8extended(i, j) % 3 = 0
                  THEN (ARRAY[' ', ', ', ' - ', U&'\00A0', '(', E'\n'])[1 + (hashint8extended(i, j + 1000) & 3)]
                  ELSE '' END AS piece) AS p
    GROUP BY i;
CREATE TEMP TABLE cuts (width integer, unit text);
INSERT INTO cuts
VALUES (1, 'word'), (2, 'word'), (5, 'word'), (256, 'word'), (1, 'char'), (2, 'char'), (5, 'char'), (256, 'char');
CREATE TEMP TABLE located AS
    SELECT id, width, unit, d.*
    FROM docs, cuts,
         shingle_difference(body, '', width, unit) WITH ORDINALITY AS d (only_in, start, length, shingle, n);
CREATE INDEX ON located (id, width, unit);
ANALYZE located;
-- All shingles, in order.  Their passages follow each other and consist of characters
-- of the text.  A passage alone has the same shingle; here a letter or an ideograph is
-- put before it, because a passage may begin with a mark.
SELECT count(*) AS compared, count(DISTINCT found) > 500 AS varied,
       count(*) FILTER (WHERE found <> shingles(body, width, unit)) AS wrong
FROM docs, cuts,
     LATERAL (SELECT array_agg(shingle ORDER BY n) AS found
              FROM located AS l WHERE (l.id, l.width, l.unit) = (docs.id, cuts.width, cuts.unit)) AS s;
SELECT unit, count(*) > 5000 AS many,
       count(*) FILTER (WHERE start < before OR start + length < end_before) AS backwards,
       count(*) FILTER (WHERE start < 1 OR length < (shingle <> ' ')::integer
                           OR start + length > length(body) + 1) AS outside,
       count(*) FILTER (WHERE position(btrim(shingle) IN again) = 0) AS not_in_passage
FROM (SELECT *, lag(start) OVER w AS before, lag(start + length) OVER w AS end_before FROM located WHERE width < 100
      WINDOW w AS (PARTITION BY id, width, unit ORDER BY n)) AS l JOIN docs USING (id),
     LATERAL (SELECT string_agg((shingles(prefix || substr(body, start, length), 256, unit))[1], ' ') AS again
              FROM unnest(ARRAY['x', U&'\7231']) AS prefix) AS s
GROUP BY unit ORDER BY unit;
-- for letters and digits regular expressions find the positions of words
SELECT count(*) AS compared, count(*) FILTER (WHERE start <> regexp_instr(body, '[a-z]+', 1, n::integer)
                           OR start + length
                               <> regexp_instr(body, '[a-z]+', 1, least(n + width - 1, words)::integer, 1)) AS wrong
FROM located JOIN docs USING (id), LATERAL (SELECT regexp_count(body, '[a-z]+') AS words) AS w
WHERE id % 4 = 0 AND unit = 'word';
-- The shingles that only one text has are those that are not in the other's set.
CREATE TEMP TABLE pairs AS SELECT a.id AS a, b.id AS b, width, unit
    FROM docs AS a, docs AS b, cuts WHERE a.id <= 12 AND b.id <= 12 AND width < 100;
SELECT count(*) AS compared, count(*) FILTER (WHERE rows > 0) AS differing_pairs,
       count(*) FILTER (WHERE wrong > 0) AS wrong
FROM pairs AS p, LATERAL (
    WITH found AS (
        SELECT * FROM shingle_difference(
            (SELECT body FROM docs WHERE id = p.a), (SELECT body FROM docs WHERE id = p.b), p.width, p.unit)),
         expected AS (SELECT side, start, length, shingle
                      FROM (VALUES ('a', p.a, p.b), ('b', p.b, p.a)) AS v (side, this, other)
                      JOIN located AS l ON (l.id, l.width, l.unit) = (v.this, p.width, p.unit)
                      WHERE shingle <> ALL (
                          SELECT unnest(shingles(body, p.width, p.unit)) FROM docs WHERE id = v.other))
    SELECT (SELECT count(*) FROM found) AS rows,
           (SELECT count(*)
            FROM ((TABLE found EXCEPT ALL TABLE expected)
                  UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d) AS wrong) AS c;
-- more rows than memory
SET work_mem = '64kB';
SELECT only_in, count(*), min(start), max(start + length) FROM shingle_difference(
    (SELECT string_agg('w' || i, ' ' ORDER BY i) FROM generate_series(1, 20000) AS i),
    (SELECT string_agg('x' || i, ' ' ORDER BY i) FROM generate_series(1, 10000) AS i), 2)
GROUP BY only_in ORDER BY only_in;
RESET work_mem;
