--
-- Arrays of hashes: an index whose rows have several keys, or none
--
CREATE SCHEMA sketch_test;
SET search_path = sketch_test, public;
SET max_parallel_workers_per_gather = 0;

-- Return a random element: small numbers are frequent.
CREATE FUNCTION element(i bigint, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN i % 3 = 0 THEN hashint8extended(i, seed)
        ELSE ((hashint8extended(i, seed) >> 16 & 1023) ^ 2 / 300)::bigint END;
CREATE FUNCTION sketch_of(i bigint, seed bigint DEFAULT 0) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN CASE i % 40
        WHEN 0 THEN NULL
        WHEN 1 THEN '{}'
        WHEN 2 THEN '{NULL}'
        WHEN 3 THEN ARRAY[NULL, element(i, seed), NULL, element(i, seed)]
        WHEN 4 THEN ARRAY[[element(i, seed), 1], [2, NULL]]
        WHEN 5 THEN ARRAY[-9223372036854775808, 9223372036854775807, 0, -1]
        WHEN 6 THEN (SELECT array_agg(element(j, seed)) FROM generate_series(i, i + 700) AS j)
        ELSE (SELECT array_agg(element(i * 50 + j, seed)) FROM generate_series(1, i % 17) AS j) END;

CREATE TABLE docs AS SELECT i AS id, sketch_of(i) AS sk FROM generate_series(1, 2000) AS i;
CREATE TABLE queries AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN sketch_of(i) ELSE sketch_of(i, 1) END AS sk,
        sketch_of(i + 7) AS other
    FROM generate_series(1, 40) AS i;
CREATE INDEX docs_sk ON docs USING simhash (sk);
VACUUM ANALYZE docs, queries;

-- Return a query for the rows of docs that match a condition, for each of the queries
-- or some of them.
CREATE FUNCTION of_each(condition text, which text DEFAULT 'true') RETURNS text LANGUAGE sql IMMUTABLE RETURN
    'SELECT q.id AS q, d.* FROM queries q, LATERAL (SELECT d.ctid AS at, d.id FROM docs d WHERE '
    || condition || ' OFFSET 0) d WHERE ' || which;
CREATE FUNCTION all_differing()
    RETURNS TABLE (query bigint, by_index bigint, by_bitmap bigint, rows bigint) LANGUAGE sql AS $$
    SELECT n, d.* FROM unnest(ARRAY[
        of_each('d.sk && q.sk'),
        of_each('d.sk && q.sk AND d.sk && q.other'),
        'SELECT ctid AS at, * FROM docs WHERE sk && ''{5}''',
        'SELECT ctid AS at, * FROM docs WHERE sk && ''{NULL,5,5,7}'' AND id % 2 = 0',
        'SELECT ctid AS at, * FROM docs WHERE sk && ''{}'' OR sk && ''{NULL}''',
        'SELECT ctid AS at, * FROM docs WHERE sk && NULL',
        of_each('d.sk @> q.sk'),
        of_each('d.sk @> q.sk[1:2] AND d.sk && q.other'),
        of_each('d.sk <%>> q.sk <= q.id % 20 / 20.0', 'q.id % 20 IN (5, 12, 17)'),
        of_each('0.9 > d.sk <%>> q.sk AND d.sk <%>> q.other < 0.95', 'q.id % 20 = 7'),
        'SELECT ctid AS at, * FROM docs WHERE sk @> ''{0,1,2,3}'' AND sk @> ''{1,4}''',
        'SELECT ctid AS at, * FROM docs WHERE sk @> ''{5,5,5}'' OR sk @> ''{0,NULL}''',
        'SELECT ctid AS at, * FROM docs WHERE sk @> ''{}'' AND sk && ''{7}'' OR sk @> ''{{1,2},{3,0}}''',
        'SELECT ctid AS at, * FROM docs WHERE sk @> ''{}''',
        of_each('d.sk <@ q.sk'),
        of_each('ARRAY(SELECT i::bigint FROM generate_series(0, q.id * 30) AS i) @> d.sk', 'q.id % 20 = 7'),
        of_each('d.sk <@ q.sk AND d.sk <@ q.other OR d.sk <@ ''{0,1,2,3,4}'' AND d.sk && q.other'),
        'SELECT ctid AS at, * FROM docs WHERE sk <@ ''{}'' OR sk <@ ''{0,0,1,NULL,2,3}'' AND id % 2 = 0',
        'SELECT ctid AS at, * FROM docs
         WHERE sk <@ ''{NULL}'' AND sk <@ ''{5,7}'' OR sk <@ NULL OR sk <@ ''{{0,3},{5,1}}''',
        'SELECT ctid AS at, * FROM docs WHERE sk @> NULL OR sk <%>> NULL < 0.5 OR sk <%>> ''{1,2}'' < NULL',
        'SELECT ctid AS at, * FROM docs WHERE sk IS NULL',
        'SELECT ctid AS at, * FROM docs WHERE sk IS NOT NULL',
        'SELECT ctid AS at, * FROM docs WHERE sk IS NULL AND sk && ''{5}''',
        'SELECT ctid AS at, * FROM docs WHERE sk IS NOT NULL AND sk && ''{5,-1,9223372036854775807}'''])
            WITH ORDINALITY AS q (q, n), differing_by(q) AS d $$;

SELECT * FROM all_differing();
-- the functions that the planner calls in place of the operators
SELECT count(*) AS differing
FROM queries AS a, queries AS b
WHERE (a.sk && b.sk) IS DISTINCT FROM sketch_overlaps(a.sk, b.sk)
    OR (a.sk <@ b.sk) IS DISTINCT FROM sketch_contained(a.sk, b.sk)
    OR (a.sk <@ b.other) IS DISTINCT FROM sketch_contained(a.sk, b.other);
SELECT count(*) FILTER (WHERE sketch_overlaps(a.sk, b.sk)) > 100 AS overlapping,
       count(*) FILTER (WHERE sketch_contained(a.sk, b.sk)) > 50 AS contained
FROM queries AS a, queries AS b;
-- of the queries with ordinary arrays, some suffice from here on
DELETE FROM queries WHERE id % 40 > 6 AND id % 10 NOT IN (2, 7);
-- more rows than a TID set of this size holds: it sorts the rest
SET work_mem = '64kB';
SELECT * FROM all_differing();
RESET work_mem;

-- all plans use the index
SET enable_seqscan = off;
SELECT plan($$SELECT FROM docs WHERE sk && '{5,7}'$$);
SELECT plan($$SELECT FROM docs WHERE sk @> '{5,7}'$$);
SELECT plan($$SELECT FROM docs WHERE sk <@ '{5,7}'$$);
SELECT plan($$SELECT FROM docs WHERE sk IS NOT NULL$$);
SET enable_bitmapscan = off;
SELECT plan($$SELECT FROM docs WHERE sk && '{5,7}' AND sk IS NOT NULL$$);
SELECT plan('SELECT FROM queries q JOIN docs d ON d.sk && q.sk', 'Index');
SELECT plan('SELECT FROM queries q JOIN docs d ON q.sk @> d.sk', 'Index');
-- an operator stays where a partial index or the user's privileges need it, or for one
-- element; partitions
SET enable_indexscan = off;
CREATE INDEX docs_few ON docs USING simhash (sk) WHERE sk && '{1,2,3,4,5,6}';
SELECT plan($$SELECT FROM docs WHERE sk && '{1,2,3,4,5,6}'$$, 'Filter|Recheck');
DROP INDEX docs_few;
SELECT plan($$SELECT FROM docs WHERE sk && '{1,2,3,4,5,6}'$$, 'Filter|Recheck');
SELECT plan($$SELECT FROM docs WHERE sk && '{5}'$$, 'Filter|Recheck');
REVOKE EXECUTE ON FUNCTION sketch_overlaps(bigint[], bigint[]) FROM PUBLIC;
CREATE ROLE simhash_test_overlap;
GRANT USAGE ON SCHEMA sketch_test TO simhash_test_overlap;
GRANT SELECT ON docs TO simhash_test_overlap;
SET ROLE simhash_test_overlap;
SELECT plan($$SELECT FROM docs WHERE sk && '{1,2,3,4,5,6}'$$, 'Filter|Recheck');
RESET ROLE;
DROP OWNED BY simhash_test_overlap;
DROP ROLE simhash_test_overlap;
GRANT EXECUTE ON FUNCTION sketch_overlaps(bigint[], bigint[]) TO PUBLIC;
RESET enable_indexscan;
CREATE TABLE parted (id bigint, sk bigint[]) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (500);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (500) TO (1000);
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (1000) TO (2001);
INSERT INTO parted TABLE docs;
CREATE INDEX ON parted_1 USING simhash (sk);
CREATE INDEX ON parted_2 USING gin (sk);
ANALYZE parted;
SELECT query, d.*
FROM unnest(ARRAY['JOIN queries q ON d.sk && q.sk', 'RIGHT JOIN queries q ON q.sk && d.sk AND d.id <> q.id',
        'JOIN queries q ON d.sk <@ q.sk WHERE d.sk && ''{1,2,3,4,5,6,7}''',
        'LEFT JOIN queries q ON q.other @> d.sk AND d.sk && q.sk WHERE NOT d.sk && ''{0,1,2,3,4,5,6}''']) AS query,
    differing_by('SELECT d.tableoid AS part, d.ctid AS at, q.id FROM parted d ' || query) AS d;
DROP TABLE parted;
-- LIMIT stops the scan; a cursor goes on where it stopped
SELECT count(*) FROM (SELECT FROM docs WHERE sk && '{0,1,2,3,4,5}' LIMIT 10) AS s;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM docs WHERE sk && '{0,1,2}';
MOVE 100 IN c;
CREATE TEMP TABLE rest (id bigint);
DO $$
DECLARE
    c refcursor := 'c';
    id bigint;
BEGIN
    LOOP
        FETCH c INTO id;
        EXIT WHEN NOT FOUND;
        INSERT INTO rest VALUES (id);
    END LOOP;
END $$;
SELECT count(*) + 100 = (SELECT count(*) FROM docs WHERE sk && '{0,1,2}'), count(DISTINCT id) = count(*) FROM rest;
COMMIT;
RESET enable_seqscan;
RESET enable_bitmapscan;

--
-- After insertions, updates and deletions; the numbers are numbers of rows
--
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(2001, 2300) AS i;
UPDATE docs SET sk = sketch_of(id + 1, 3) WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 7 = 0;
SELECT check_indexes('docs');
SELECT * FROM all_differing();
VACUUM docs;
SELECT check_indexes('docs');
SELECT reltuples = (SELECT count(*) FROM docs) AS rows_counted FROM pg_class WHERE relname = 'docs_sk';
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(2301, 2600) AS i;
SELECT * FROM all_differing();
TRUNCATE docs;
SELECT count(*) FROM docs WHERE sk && '{5}';
SELECT check_indexes('docs');
-- a row with more keys for one leaf than fit on it, and many rows with the same keys
INSERT INTO docs
SELECT i, (SELECT array_agg(j) FROM generate_series(i % 7, i % 7 + 1500) AS j) FROM generate_series(1, 20) AS i;
INSERT INTO docs SELECT i, '{0,1,2,3,5,7,9223372036854775807,-1,5}' FROM generate_series(21, 1000) AS i;
SELECT check_indexes('docs');
SELECT * FROM all_differing();
TRUNCATE docs;
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(1, 1000) AS i;
SELECT check_indexes('docs');

-- built by several processes, in little memory, partial, of an expression
SET max_parallel_maintenance_workers = 2;
SET min_parallel_table_scan_size = 0;
ALTER TABLE docs SET (parallel_workers = 2);
SET maintenance_work_mem = '1MB';
INSERT INTO docs SELECT i, sketch_of(i) FROM generate_series(1001, 1500) AS i;
REINDEX INDEX docs_sk;
SELECT check_indexes('docs');
SELECT reltuples = (SELECT count(*) FROM docs) AS rows_counted FROM pg_class WHERE relname = 'docs_sk';
SELECT * FROM all_differing();
RESET max_parallel_maintenance_workers;
RESET min_parallel_table_scan_size;
REINDEX INDEX docs_sk;
SELECT check_indexes('docs');
RESET maintenance_work_mem;
DROP INDEX docs_sk;
CREATE INDEX ON docs USING simhash ((sk[2:9])) WHERE id % 2 = 0;
SELECT * FROM differing_by($$SELECT ctid AS at, id FROM docs WHERE sk[2:9] && '{5,7,8}' AND id % 2 = 0$$);
SELECT * FROM differing_by($$SELECT ctid AS at, id FROM docs WHERE id % 2 = 0$$);
SELECT check_indexes('docs');

-- disjoint sets, enforced by a constraint
CREATE TABLE apart (sk bigint[], EXCLUDE USING simhash (sk WITH &&));
INSERT INTO apart VALUES ('{1,2,3}'), ('{4,5}'), ('{}'), ('{}'), (NULL), (NULL), ('{NULL}');
INSERT INTO apart VALUES ('{7,5,6}');
INSERT INTO apart VALUES ('{1,2,3,4,5,6,7}') ON CONFLICT DO NOTHING;
UPDATE apart SET sk = sk || 6::bigint WHERE sk && '{1,2}';
SELECT * FROM apart ORDER BY sk::text;
SELECT check_indexes('apart');

-- an unlogged table; a domain; a temporary table
CREATE UNLOGGED TABLE fleeting AS SELECT * FROM queries;
CREATE INDEX ON fleeting USING simhash (sk);
CREATE DOMAIN hashes AS bigint[];
CREATE TEMP TABLE of_domain AS SELECT id, sk::hashes FROM queries;
CREATE INDEX ON of_domain USING simhash (sk);
SELECT check_indexes('fleeting'), check_indexes('of_domain');

-- A bound above 1 is probably meant as a number of bits.
SELECT count(*) > 0 AS found FROM docs WHERE sk <%>> '{1,2}' <= 3;

--
-- Options and conditions without support
--
CREATE INDEX docs_blocks ON docs USING simhash (sk) WITH (blocks = 5);
CREATE TABLE other (i int[], t text[]);
CREATE INDEX ON other USING simhash (i);
SELECT simhash_index_explain(indexrelid, '0123456789abcdef', 3) FROM pg_index WHERE indrelid = 'fleeting'::regclass;
\set VERBOSITY terse
CREATE OPERATOR CLASS of_text FOR TYPE text[] USING simhash AS
    OPERATOR 5 && (anyarray, anyarray), FUNCTION 1 simhash_sketch_opclass(internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'of_text';
CREATE INDEX ON other USING simhash (t of_text);
\set VERBOSITY default
SELECT opcname, amvalidate(c.oid) FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = opcmethod
WHERE amname = 'simhash' AND opcdefault ORDER BY opcname COLLATE "C";

SET client_min_messages = warning;
DROP SCHEMA sketch_test CASCADE;
