--
-- Bands of signatures: how often sets of known resemblance share a band, compared with
-- theory; and the shapes that minhash_advice returns
--
CREATE SCHEMA banding_test;
SET search_path = banding_test, public;

--
-- The S-curve.  2,000 pairs of sets for each resemblance s from .1 to .9.  The sets of
-- a pair consist of 40 consecutive ids: 40 s are common, and each set has half of the
-- others.
--
CREATE TABLE pair AS
    SELECT s / 10.0::float8 AS s, array(SELECT generate_series(first, first + 19 + 2 * s)) AS a,
           array(SELECT generate_series(first + 20 - 2 * s, first + 39)) AS b
    FROM generate_series(1, 9) AS s, generate_series(1, 2000) AS i,
         LATERAL (SELECT 100::bigint * (2000 * s + i) AS first) AS f;
SELECT s, count(*), min(both_have / all_have::float8) = s AND max(both_have / all_have::float8) = s AS known
FROM pair, LATERAL (SELECT count(*) AS both_have FROM (SELECT unnest(a) INTERSECT SELECT unnest(b)) AS i) AS i,
     LATERAL (SELECT count(*) AS all_have FROM (SELECT unnest(a) UNION SELECT unnest(b)) AS u) AS u
GROUP BY s ORDER BY s;
CREATE TABLE shape (bands integer, rows integer);
INSERT INTO shape VALUES (20, 5), (8, 16), (40, 3), (18, 7);
CREATE TABLE curve AS
    SELECT bands, rows, s, count(*) AS pairs,
           count(*) FILTER (WHERE to_minhash(a, bands, rows) % to_minhash(b, bands, rows)) AS found
    FROM shape, pair GROUP BY bands, rows, s;
-- the rate is within three standard errors of 1 - (1 - s^rows)^bands
SELECT c.*, round(p::numeric, 4) AS theory, round(found / pairs::numeric, 4) AS measured
FROM curve AS c, LATERAL (SELECT 1 - (1 - s ^ rows) ^ bands AS p) AS t
WHERE abs(found / pairs::float8 - p) > 3 * sqrt(p * (1 - p) / pairs) + 1e-9;
-- and of the published numbers
SELECT c.*, p AS theory
FROM curve AS c
    JOIN unnest(ARRAY[.0002, .0064, .0475, .1860, .4701, .8019, .9748, .9996,
                      1.0000]) WITH ORDINALITY AS t (p, tenths) ON s = tenths / 10.0
WHERE bands = 20 AND rows = 5 AND abs(found / pairs::float8 - p) > 3 * sqrt(p * (1 - p) / pairs) + 0.00005;
SELECT bands, rows, sum(pairs) AS pairs, array_agg(round(found / pairs::numeric, 4) ORDER BY s) AS measured
FROM curve GROUP BY bands, rows ORDER BY bands;
-- the curve of a quarter more bands differs
SELECT bands, rows, count(*) > 0 AS beyond_three_errors
FROM curve, LATERAL (SELECT 1 - (1 - s ^ rows) ^ (bands * 5 / 4) AS p) AS t
WHERE abs(found / pairs::float8 - p) > 3 * sqrt(p * (1 - p) / pairs) + 1e-9
GROUP BY bands, rows ORDER BY bands;

--
-- Advice
--
SELECT bands, rows, length, bytes, round(finds::numeric, 4) AS finds,
       round(at_three_quarters::numeric, 4) AS at_three_quarters,
       round(at_half::numeric, 4) AS at_half, round(at_a_quarter::numeric, 6) AS at_a_quarter
FROM minhash_advice(0.8);
-- the first row for typical arguments
SELECT threshold, recall, bands, rows, length, round(at_half::numeric, 4) AS at_half
FROM unnest(ARRAY[0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) AS threshold, unnest(ARRAY[0.5, 0.95, 0.999]) AS recall,
     LATERAL (SELECT * FROM minhash_advice(threshold, recall) LIMIT 1) AS advice
WHERE threshold > 0.001 OR recall = 0.5
ORDER BY 1, 2;
-- to_minhash accepts the advised shape
SELECT split_part(to_minhash('a b c d', bands, rows)::text, ':', 1) AS shape,
       pg_column_size(to_minhash('a b c d', bands, rows)) = bytes AS bytes
FROM minhash_advice(threshold => 0.7, recall => 0.9) LIMIT 1;
-- compute all shapes by brute force: for each number of rows the fewest bands with the
-- required recall, from the advised shape on
CREATE TABLE question AS
    SELECT t / 20.0::float8 AS threshold, recall
    FROM generate_series(1, 19) AS t, unnest(ARRAY[0.5, 0.95, 0.99]::float8[]) AS recall;
CREATE TABLE advised AS SELECT threshold, recall, advice.* FROM question, minhash_advice(threshold, recall) AS advice;
CREATE FUNCTION probability(s float8, bands integer, rows integer) RETURNS float8 LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN bands * ln(1 - s ^ rows) < -40 THEN 1 ELSE 1 - (1 - s ^ rows) ^ bands END;
CREATE TABLE enough AS
    SELECT threshold, recall, r, min(b) AS b
    FROM question, generate_series(1, 64) AS r, generate_series(1, least(1024, 4096 / r)) AS b
    WHERE probability(threshold, b, r) >= recall GROUP BY threshold, recall, r;
-- the smallest steep shape among the usual ones; else the largest usual one; else the
-- smallest of all
CREATE TABLE first_one AS
    SELECT threshold, recall, coalesce(min(r) FILTER (WHERE steep AND usual), max(r) FILTER (WHERE usual), 1) AS first_r
    FROM (SELECT *, probability(threshold / 2, b, r) <= 0.025 AS steep, b * r <= 256 AS usual FROM enough) AS e
    GROUP BY threshold, recall;
SELECT count(DISTINCT (threshold, recall)) AS questions FROM advised;
SELECT * FROM differing(
    'SELECT threshold, recall, bands, rows, length, bytes FROM advised',
    'SELECT threshold, recall, b, r, b * r, pg_column_size(to_minhash(''a'', b, r))
     FROM enough JOIN first_one USING (threshold, recall) WHERE r >= first_r');
-- the probabilities; small ones compared with the first terms of the binomial series
SELECT count(*) AS compared, count(*) FILTER (WHERE found < 1e-9) > 100 AS many_small,
       count(*) FILTER (WHERE abs(found / p - 1) > 1e-9) AS wrong
FROM advised, LATERAL (VALUES (threshold, finds), (threshold * 3 / 4, at_three_quarters), (threshold / 2, at_half),
                              (threshold / 4, at_a_quarter)) AS v (s, found),
     LATERAL (SELECT s ^ rows AS x) AS t,
     LATERAL (SELECT CASE WHEN bands * x > 1e-3 THEN probability(s, bands, rows)
                     ELSE bands * x * (1 - (bands - 1) * x / 2 + (bands - 1) * (bands - 2) * x * x / 6) END AS p) AS e;
-- the smallest shape first; each shape returns fewer false candidates than the one
-- before.  (A machine of 32 bits rounds otherwise, and has one shape less.)
SELECT count(*) > 4950 AS compared, count(*) FILTER (WHERE wrong) AS wrong FROM (
    SELECT threshold, recall, n, length <= lag(length) OVER w OR at_half > lag(at_half) OVER w AS wrong
    FROM generate_series(1, 99) AS t, unnest(ARRAY[0.05, 0.5, 0.9, 0.99]) AS recall,
         LATERAL (SELECT t / 100.0 AS threshold) AS s,
         LATERAL minhash_advice(threshold, recall)
             WITH ORDINALITY AS a (bands, rows, length, bytes, finds, at_three_quarters, at_half, at_a_quarter, n)
    WINDOW w AS (PARTITION BY threshold, recall ORDER BY n)) AS advice;
-- a NULL argument returns nothing
SELECT count(*) FROM minhash_advice(NULL);

SET client_min_messages = warning;
DROP SCHEMA banding_test CASCADE;
