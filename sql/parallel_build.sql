--
-- A parallel build and a serial build produce the same index.
--
CREATE SCHEMA parallel_test;
SET search_path = parallel_test, public;
SET client_min_messages = error;
SET max_parallel_maintenance_workers = 8;
\set VERBOSITY terse

-- parallel_workers has precedence over the number derived from the sizes of the table
-- and the memory
CREATE TABLE t (id integer, kind integer, fp simhash) WITH (parallel_workers = 2);
INSERT INTO t SELECT i, i % 10, CASE WHEN i % 7 > 0 THEN random_fp(i) END
    FROM generate_series(1, 30000) AS i;

-- Dead rows, and chains of rows that were updated.
DELETE FROM t WHERE id % 100 = 1;
UPDATE t SET kind = kind + 1 WHERE id % 50 = 2;
UPDATE t SET fp = random_fp(id, 1) WHERE id % 50 = 3;

-- Return the leaf entries of each permuted table (-1: the rows that are NULL).
CREATE FUNCTION contents(index regclass) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(format('%s:%s:%s', coalesce(permuted_table, -1), entries, longest_run), ' '
                              ORDER BY permuted_table)
            FROM simhash_index_stats(index) WHERE level = 0);

-- Build an index with one process, in memory, then with several and with the given
-- memory.  Return for each number of workers whether the contents are the same.  Checks
-- every index.  Without workers (0) all pages must be the same.
CREATE FUNCTION same(tab regclass, definition text, workers integer[] DEFAULT '{1,2,4}', memory text DEFAULT '64MB',
                     OUT entries bigint, OUT same boolean[]) LANGUAGE plpgsql SET maintenance_work_mem = '64MB' AS $$
DECLARE
    serial text;
    pages text;
    w integer;
BEGIN
    FOREACH w IN ARRAY 0 || workers LOOP
        EXECUTE format('ALTER TABLE %s SET (parallel_workers = %s)', tab, w);
        EXECUTE format('CREATE INDEX same_index ON %s USING simhash %s', tab, definition);
        PERFORM simhash_index_check('same_index', true);
        IF serial IS NULL THEN
            serial := contents('same_index');
            pages := (SELECT string_agg(s::text, ' ') FROM simhash_index_stats('same_index') AS s);
            SELECT sum(s.entries) INTO entries FROM simhash_index_stats('same_index') AS s WHERE level = 0;
            PERFORM set_config('maintenance_work_mem', memory, true);
        ELSE
            same := same || (contents('same_index') = serial
                AND (w > 0 OR (SELECT string_agg(s::text, ' ') FROM simhash_index_stats('same_index') AS s) = pages));
        END IF;
        DROP INDEX same_index;
    END LOOP;
END $$;

SELECT * FROM same('t', '(fp)');
SELECT blocks, s.*
FROM generate_series(2, 16, 7) AS blocks, same('t', format('(fp) WITH (blocks = %s)', blocks), '{2}') AS s;
SELECT * FROM same('t', '(fp) WHERE kind = 3');
SELECT * FROM same('t', '(fp) WHERE kind < 0');
SELECT * FROM same('t', '((hashint8extended(id / 1000, 0)::simhash))');
-- one fingerprint for all rows, in the first range of every permuted table, and in the
-- last
SELECT * FROM same('t', '((CASE WHEN id > 0 THEN simhash ''0000000000000000'' END))', '{2}');
SELECT * FROM same('t', '((CASE WHEN id > 0 THEN simhash ''ffffffffffffffff'' END))', '{2}');
SELECT * FROM same('t', '((CASE WHEN id < 0 THEN fp END))', '{2}');

-- rows spread over all ranges; and in the first range of every permuted table, so that one
-- process has them all
CREATE TABLE many AS SELECT i, h::simhash AS fp, (h & x'1fffffff1fffffff'::bigint)::simhash AS low
    FROM generate_series(1, 300000) AS i, hashint8extended(i, 0) AS h;
SELECT * FROM same('many', '(fp) WITH (blocks = 2)', '{}');
SELECT * FROM same('many', '(low) WITH (blocks = 2)', '{2}');

-- Rows that do not fit into memory are read from a file, a range at a time.  First few
-- rows, then so many that ranges have files of their own.  Here many rows have a common
-- prefix ...
SELECT * FROM same('many', '(fp) WITH (blocks = 2) WHERE i <= 100000', '{0,2}', '1MB');
SELECT * FROM same('many', '(fp) WITH (blocks = 2)', '{0,1,4}', '1MB');
SELECT * FROM same('many', '(low) WITH (blocks = 2)', '{0,4}', '1MB');
SELECT * FROM same(
    'many', '((CASE WHEN i % 2 = 0 THEN fp ELSE (i % 3)::bigint::simhash END)) WITH (blocks = 2)', '{0,2}', '1MB');
-- ... here the rows are in order, forward or backward, and here all are equal, or NULL
SELECT * FROM same('many', '(((i::bigint << 40)::simhash)) WITH (blocks = 2) WHERE i <= 120000', '{0,2}', '1MB');
SELECT * FROM same('many', '(((-i::bigint)::simhash)) WITH (blocks = 2) WHERE i <= 120000', '{0,2}', '1MB');
SELECT * FROM same(
    'many', '((CASE WHEN i > 0 THEN simhash ''0123456789abcdef'' END)) WITH (blocks = 2) WHERE i <= 120000', '{0,2}',
    '1MB');
SELECT * FROM same('many', '((CASE WHEN i % 3 = 0 THEN fp END)) WITH (blocks = 2)', '{0,2}', '1MB');
DROP TABLE many;

-- no rows, one row, and a table without WAL
CREATE TABLE small (fp simhash);
SELECT * FROM same('small', '(fp)');
INSERT INTO small VALUES ('0123456789abcdef');
SELECT * FROM same('small', '(fp)');
CREATE UNLOGGED TABLE unlogged AS SELECT fp FROM t WHERE id < 10000;
SELECT * FROM same('unlogged', '(fp)', '{2}');
-- workers cannot read a temporary table
CREATE TEMP TABLE temporary AS SELECT fp FROM t WHERE id < 10000;
SELECT * FROM same('temporary', '(fp)', '{2}');

-- Workers took part: the tree has a leaf for each range, including the leader's, even
-- if all entries fit on one leaf.
CREATE FUNCTION leaves(index regclass) RETURNS bigint[] LANGUAGE sql
    RETURN (SELECT array_agg(pages ORDER BY permuted_table) FROM simhash_index_stats(index) WHERE level = 0);
ALTER TABLE small SET (parallel_workers = 2);
CREATE INDEX small_index ON small USING simhash (fp);
SELECT leaves('small_index');
-- searches and insertions work on such a tree, too
INSERT INTO small SELECT fp FROM t WHERE id < 20000;
SELECT simhash_index_check('small_index', true);
SET enable_seqscan = off;
SELECT count(*) FROM small WHERE fp <~> '0123456789abcdef' <= 22;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM small WHERE fp <~> '0123456789abcdef' <= 22;
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_bitmapscan;
-- without free workers, the leader builds alone
TRUNCATE small;
INSERT INTO small VALUES ('0123456789abcdef');
SET max_parallel_workers = 0;
REINDEX INDEX small_index;
SELECT leaves('small_index');
RESET max_parallel_workers;
REINDEX INDEX small_index;
SELECT leaves('small_index');

-- each command that builds an index
ALTER TABLE t SET (parallel_workers = 2);
CREATE INDEX CONCURRENTLY t_index ON t USING simhash (fp);
SELECT simhash_index_check('t_index', true), contents('t_index') AS contents \gset
REINDEX INDEX CONCURRENTLY t_index;
SELECT simhash_index_check('t_index', true);
SELECT contents('t_index') = :'contents' AS same;
REINDEX TABLE t;
SELECT simhash_index_check('t_index', true);
SELECT contents('t_index') = :'contents' AS same;
CREATE INDEX t_id ON t (id);
CLUSTER t USING t_id;
SELECT simhash_index_check('t_index', true);
SELECT contents('t_index') = :'contents' AS same;
-- the index of an exclusion constraint; REPACK (CONCURRENTLY) of 19 makes it before the constraint
CREATE TABLE copies (id integer PRIMARY KEY, fp simhash) WITH (parallel_workers = 2);
INSERT INTO copies SELECT i, random_fp(i) FROM generate_series(1, 3) AS i;
ALTER TABLE copies ADD CONSTRAINT no_copies EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=);
SELECT leaves('no_copies');
SELECT current_setting('server_version_num')::integer >= 190000 AS has_repack \gset
\if :has_repack
REPACK (CONCURRENTLY) copies;
\endif
SELECT simhash_index_check('no_copies', true);
INSERT INTO copies VALUES (4, random_fp(1));
-- a build sets the numbers of rows
SELECT c.reltuples = (SELECT count(*) FROM t) AS index_tuples, h.reltuples = c.reltuples AS heap_tuples
    FROM pg_class AS c, pg_class AS h WHERE c.oid = 't_index'::regclass AND h.oid = 't'::regclass;
-- an index without the old versions of rows is not used by transactions that see them
CREATE TABLE updated (id integer, kind integer) WITH (fillfactor = 50, parallel_workers = 2);
INSERT INTO updated SELECT i, 0 FROM generate_series(1, 10000) AS i;
BEGIN;
UPDATE updated SET kind = 1 WHERE id = 9000;
CREATE INDEX updated_index ON updated USING simhash ((kind::bigint::simhash));
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'updated_index'::regclass;
ROLLBACK;

-- errors late in the scan, in any process
CREATE INDEX ON t USING simhash ((hashint8extended(1 / (id - 29000), 0)::simhash));
-- cancelled late in the scan, by any process, after some have finished their part
CREATE FUNCTION cancel_leader(id integer, fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF id = 29000 THEN
        PERFORM pg_cancel_backend(current_setting('parallel_test.leader')::integer), pg_sleep(600);
    END IF;
    RETURN fp;
END $$;
SELECT set_config('parallel_test.leader', pg_backend_pid()::text, false) = pg_backend_pid()::text AS set;
CREATE INDEX ON t USING simhash (cancel_leader(id, fp));
-- a function that is not parallel safe, so no workers
CREATE FUNCTION unsafe(fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN fp; END $$;
ALTER TABLE small SET (parallel_workers = 2);
CREATE INDEX unsafe_index ON small USING simhash (unsafe(fp));
SELECT leaves('unsafe_index');

SET client_min_messages = warning;
DROP SCHEMA parallel_test CASCADE;
