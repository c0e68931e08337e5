--
-- Inspection of an index: simhash_index_stats, simhash_index_explain,
-- simhash_index_check; and the choice of a design: simhash_index_advice
--
CREATE TABLE report (id integer, fp simhash);
INSERT INTO report SELECT i, fingerprint(i) FROM generate_series(1, 20000) AS i;
INSERT INTO report SELECT -i, NULL FROM generate_series(1, 1000) AS i;
CREATE INDEX report_4 ON report USING simhash (fp);
CREATE INDEX report_2 ON report USING simhash (fp) WITH (blocks = 2);
CREATE INDEX report_part ON report USING simhash (fp) WHERE id > 19000;
CREATE INDEX report_empty ON report USING simhash (fp) WHERE id IS NULL;

SELECT * FROM simhash_index_stats('report_4');
SELECT permuted_table, level, pages, entries FROM simhash_index_stats('report_2');
SELECT sum(entries) FROM simhash_index_stats('report_part');
SELECT * FROM simhash_index_stats('report_empty') ORDER BY permuted_table, level;

-- the longest run shows skew
CREATE TABLE skewed AS SELECT (i % 1000)::bigint::simhash AS fp FROM generate_series(1, 5000) AS i;
CREATE INDEX skewed_fp ON skewed USING simhash (fp);
SELECT permuted_table, longest_run FROM simhash_index_stats('skewed_fp') WHERE level = 0 ORDER BY permuted_table;

-- the pages that a search reads: one leaf of each permuted table if it flips no bit (of
-- the first one, if it searches the whole key); all pages, if the radius is large
SELECT k, e.* FROM generate_series(-1, 64) AS k, simhash_index_explain('report_4', simhash 'c4ca4238a0b92382', k) AS e
WHERE k IN (-1, 0, 1, 2, 3, 64);
SELECT k, e.prefix_bits < 16 AS short, e.tables, e.probes <= e.pages AS pages, e.candidates < 10000 AS few, e.matches
FROM generate_series(4, 5) AS k, simhash_index_explain('report_4', simhash 'c4ca4238a0b92382', k) AS e;
SELECT count(*) AS compared, sum(e.matches) AS rows,
       count(*) FILTER (WHERE e.matches <> (SELECT count(*) FROM report WHERE (fp <~> 'c4ca4238a0b92382') + 0 <= k))
           AS wrong
FROM generate_series(0, 64) AS k, simhash_index_explain('report_2', simhash 'c4ca4238a0b92382', k) AS e;
SELECT * FROM simhash_index_explain('report_empty', '0123456789abcdef', 3);
SELECT * FROM simhash_index_explain('report_empty', NULL, 3);
SELECT matches
FROM unnest(ARRAY[-9223372036854775808, 9223372036854775807]) AS k,
     simhash_index_explain('report_4', '0123456789abcdef', k);

-- designs: smaller ones are slower; the smallest good one is advised
SELECT blocks, prefix, nested, tables, bytes, round(probes) AS probes, round(candidates) AS candidates, advised
FROM simhash_index_advice(10000000, 3);
SELECT r, k, bool_and(tables > previous_tables) AS larger, bool_and(microseconds < previous_us) AS faster,
       count(*) FILTER (WHERE advised) AS advised
FROM (SELECT r, k, a.*, lag(tables) OVER w AS previous_tables, lag(microseconds) OVER w AS previous_us
      FROM unnest(ARRAY[0, 1000, 1000000, 50000000, 8000000000]) AS r, unnest(ARRAY[0, 3, 8, 12, 64]) AS k,
           simhash_index_advice(r, k) WITH ORDINALITY AS a
      WINDOW w AS (PARTITION BY r, k ORDER BY a.ordinality)) AS a
GROUP BY r, k HAVING NOT (bool_and(tables > previous_tables) AND bool_and(microseconds < previous_us))
   OR count(*) FILTER (WHERE advised) <> 1;
SELECT count(*) FROM simhash_index_advice(9223372036854775807, 3);
SELECT * FROM simhash_index_advice(-1, 3);
SELECT * FROM simhash_index_advice(1, 65);
SELECT * FROM simhash_index_advice(1, -1);
SELECT * FROM simhash_index_advice(1, 4294967299);
SELECT * FROM simhash_index_advice(NULL, 3);

-- no such index
SELECT * FROM simhash_index_stats(0);
SELECT * FROM simhash_index_explain(4294967295, '0123456789abcdef', 3);
SELECT simhash_index_check(0);

-- a sound index raises no error, whatever its history
SELECT simhash_index_check('report_4'), simhash_index_check('report_4', heap => true);
SELECT simhash_index_check('report_2', true), simhash_index_check('report_part', true),
       simhash_index_check('report_empty', true);
DELETE FROM report WHERE id % 3 = 0;
INSERT INTO report SELECT i, (i * 7919)::bigint::simhash FROM generate_series(1, 10000) AS i;
UPDATE report SET fp = NULL WHERE id % 100 = 1;
SELECT simhash_index_check('report_4', true);
VACUUM report;
SELECT simhash_index_check('report_4', true), simhash_index_check('report_2', true),
       simhash_index_check('report_part', true);
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO report VALUES (0, '0123456789abcdef');
SELECT simhash_index_check('report_4', true);
ROLLBACK;
SELECT simhash_index_check('report_4', true);

-- index expressions run as the table's owner, with a safe search_path from 17 on
CREATE FUNCTION report_fp(integer) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN $1::bigint::public.simhash;
END $$;
CREATE INDEX report_expression ON report USING simhash (report_fp(id));
SELECT simhash_index_check('report_expression', true);

-- if the function now returns other values, rows and entries differ
CREATE OR REPLACE FUNCTION report_fp(integer) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ($1 + 1)::bigint::public.simhash;
END $$;
\set VERBOSITY terse
SELECT simhash_index_check('report_expression', true);
\set VERBOSITY default
SELECT simhash_index_check('report_expression');

-- bad input
CREATE INDEX report_btree ON report (fp);
SELECT simhash_index_check('report_btree');
SELECT simhash_index_check('report');
SELECT * FROM simhash_index_stats('report');
SELECT * FROM simhash_index_explain('report', '0123456789abcdef', 3);
SELECT simhash_index_check(NULL) IS NULL AS "null";
CREATE TABLE report_parent (fp simhash) PARTITION BY RANGE (fp);
CREATE INDEX report_parent_fp ON report_parent USING simhash (fp);
SELECT simhash_index_check('report_parent_fp');

-- for the owner, and for roles that may read statistics
CREATE ROLE regress_simhash_stranger;
CREATE ROLE regress_simhash_monitor IN ROLE pg_stat_scan_tables;
SET ROLE regress_simhash_stranger;
SELECT count(*) FROM simhash_index_stats('report_4');
SELECT simhash_index_check('report_4');
SELECT count(*) FROM simhash_index_explain('report_4', '0123456789abcdef', 3);
SELECT count(*) > 0 AS advice FROM simhash_index_advice(1000000, 3);
SET ROLE regress_simhash_monitor;
SELECT count(*) FROM simhash_index_explain('report_4', '0123456789abcdef', 3);
SELECT count(*) FROM simhash_index_stats('report_4');
SELECT simhash_index_check('report_4');
SELECT simhash_index_check('report_4', true);
SELECT current_user;
RESET ROLE;

-- not in workers, which cannot read temporary tables
CREATE TEMP TABLE report_temp AS SELECT fp FROM report WHERE fp IS NOT NULL LIMIT 1000;
CREATE INDEX report_temp_fp ON report_temp USING simhash (fp);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SELECT sum(entries) > 0 AS counted FROM report, simhash_index_stats('report_temp_fp');
COMMIT;

-- The expressions of an index are its owner's code.  Whichever role inspects the index,
-- they run as the owner and cannot change the role.  This holds for each row, and for
-- constants that are folded when the index is opened.
CREATE ROLE regress_simhash_hostile;
CREATE SCHEMA hostile AUTHORIZATION regress_simhash_hostile;
SET ROLE regress_simhash_hostile;
CREATE TABLE hostile.seen (what text, by_whom name);
CREATE FUNCTION hostile.payload(text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    BEGIN
        RESET ROLE;
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    INSERT INTO hostile.seen VALUES ($1, current_user);
END $$;
CREATE FUNCTION hostile.evil(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM hostile.payload($1);
    RETURN $1;
END $$;
CREATE TABLE hostile.docs (body text);
INSERT INTO hostile.docs VALUES ('some row');
CREATE INDEX docs_fp ON hostile.docs USING simhash (public.simhash(hostile.evil(body) || hostile.evil('an expression')))
WHERE body <> hostile.evil('a predicate');
RESET ROLE;
TRUNCATE hostile.seen;
\c -
SELECT count(*) FROM simhash_index_stats('hostile.docs_fp');
SELECT * FROM simhash_index_explain('hostile.docs_fp', '0123456789abcdef', 64);
SELECT simhash_index_check('hostile.docs_fp');
SELECT * FROM hostile.seen;
SELECT simhash_index_check('hostile.docs_fp', true);
SELECT DISTINCT * FROM hostile.seen ORDER BY what;
SELECT current_user = session_user AS myself_again;
SET client_min_messages = warning;
DROP SCHEMA hostile CASCADE;
RESET client_min_messages;
DROP ROLE regress_simhash_hostile;
DROP ROLE regress_simhash_stranger, regress_simhash_monitor;
DROP TABLE report, skewed, report_parent;
DROP FUNCTION report_fp(integer);

-- phases of a build in pg_stat_progress_create_index: 8 * (tree + 64 * permuted tables) is
-- added to a phase from the first tree on
-- (where a bigint is passed by reference, core's function reads the pointer as the phase)
SELECT count(*) AS wrong
FROM pg_am, (VALUES (1, 'initializing'), (2, 'scanning table'), (5, NULL), (3 + 8 * (2 + 64 * 4),
         'sorting permuted table 2 of 4'), (4 + 8 * (5 + 64 * 4), 'writing placeholders')) AS v (phase, name)
WHERE amname = 'simhash' AND (SELECT typbyval FROM pg_type WHERE oid = 'bigint'::regtype)
    AND pg_indexam_progress_phasename(pg_am.oid, phase) IS DISTINCT FROM name;
