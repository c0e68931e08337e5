--
-- WITH (blocks, prefix, nested): the number of permuted tables, and the bits by which
-- each is sorted, do not change the rows that the index returns.
--
CREATE SCHEMA designs_test;
SET search_path = designs_test, public;
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;

-- Every possible design.
CREATE VIEW every_design AS
    SELECT format('blocks = %s, prefix = %s, nested = %s', blocks, prefix, nested) AS design, blocks, prefix, nested,
           tables::integer,
           CASE WHEN nested = 1 THEN 64 * tables * prefix / blocks ELSE 64 * (blocks + nested - 1) END::integer AS bits
    FROM generate_series(2, 16) AS blocks, generate_series(1, 15) AS prefix, generate_series(1, 16) AS nested,
         LATERAL (SELECT factorial(blocks) / factorial(prefix) / factorial(
             greatest(blocks - prefix, 0)) * nested AS tables) AS t
    WHERE prefix < blocks AND (prefix = 1 OR nested = 1) AND tables <= 32;
SELECT count(*), sum(tables), max(tables) FROM every_design;

-- Queries, with the results of a sequential scan: the rows within k bits of q, and the
-- distances of the nearest rows.  The ids of the rows must be distinct.
CREATE TABLE queries (n integer, q simhash, k integer, lim integer, ball integer[], distances integer[]);
CREATE FUNCTION ask(tab regclass, radii integer[] DEFAULT NULL, times integer DEFAULT 1)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    stored simhash[] := some_of(tab, 100);
BEGIN
    radii := coalesce(radii, array(SELECT generate_series(-1, 64)));
    TRUNCATE queries;
    EXECUTE format('INSERT INTO queries
        SELECT n, q, k, lim,
               array(SELECT id FROM %1$s AS t WHERE (t.fp <~> q) + 0 <= k ORDER BY id),
               array(SELECT (t.fp <~> q) + 0 FROM %1$s AS t ORDER BY 1 LIMIT lim)
        FROM (SELECT (row_number() OVER ())::integer AS n, k FROM unnest($1) AS k, generate_series(1, $2)) AS r,
             LATERAL (SELECT ($3)[1 + (n * 7) %% cardinality($3)] AS fp) AS s,
             LATERAL (SELECT CASE n %% 3
                          WHEN 0 THEN fp WHEN 1 THEN flip(fp, (n + k) %% 14, n) ELSE random_fp(n, 2) END AS q,
                             (ARRAY[1, 10, 40, NULL])[n %% 4 + 1] AS lim OFFSET 0) AS l', tab)
        USING radii, times, stored;
    ANALYZE queries;
END $$;

-- Return the number of queries for which an index scan, a bitmap scan or an ordered
-- scan differs, and the number of rows within their balls.  Raises an error if a scan
-- has the wrong type, or if the index is damaged.
CREATE FUNCTION answer(query text, scan text, OUT wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan text := whole_plan(query);
BEGIN
    ASSERT plan ~ scan AND plan !~ 'Seq Scan on [^ ]+ t(\n|$)', plan;
    EXECUTE query INTO wrong;
END $$;
CREATE FUNCTION differing(tab regclass, OUT index bigint, OUT bitmap bigint, OUT nearest bigint, OUT rows bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexscan = on SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    balls text := format('SELECT count(*) FROM queries WHERE ball IS DISTINCT FROM
        array(SELECT id FROM %s AS t WHERE t.fp <@ simhash_ball(q, k) ORDER BY id)', tab);
    nulls text := format('SELECT count(*) FROM (SELECT FROM %s AS t WHERE t.fp IS NULL) AS t', tab);
    missing bigint;
BEGIN
    EXECUTE format('SELECT count(*) FILTER (WHERE num_nulls(fp) = 1) FROM %s', tab) INTO missing;
    index := answer(balls, ' Index Scan using ') + abs(answer(nulls, ' Index Scan using ') - missing)
           + answer(format('SELECT count(*) FROM queries WHERE k = 0 AND ball IS DISTINCT FROM
                array(SELECT id FROM %s AS t WHERE t.fp = q ORDER BY id)', tab), ' Index Scan using ');
    nearest := answer(format('SELECT count(*) FROM queries,
            LATERAL (SELECT array_agg(id) AS ids, array_agg(d) AS ds
                     FROM (SELECT id, (t.fp <~> q) + 0 AS d FROM %1$s AS t ORDER BY t.fp <~> q LIMIT lim) AS s) AS s
        WHERE coalesce(ds, ''{}'') IS DISTINCT FROM distances
           OR cardinality(ids) <> (SELECT count(DISTINCT i) FROM unnest(ids) AS i)', tab),
        ' Index Scan using [^\n]*\n *Order By: ');
    PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'on', true);
    bitmap := answer(balls, ' Bitmap Index Scan on ') + abs(answer(nulls, ' Bitmap Index Scan on ') - missing);
    rows := (SELECT sum(cardinality(ball)) FROM queries);
    PERFORM check_indexes(tab);
END $$;
CREATE FUNCTION compare(tab regclass, radii integer[] DEFAULT NULL, times integer DEFAULT 1,
                        OUT index bigint, OUT bitmap bigint, OUT nearest bigint, OUT rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ask(tab, radii, times);
    SELECT * INTO index, bitmap, nearest, rows FROM differing(tab);
END $$;
-- the comparison detects differences
CREATE TABLE sample AS SELECT i AS id, random_fp(i) AS fp FROM generate_series(1, 500) AS i;
CREATE INDEX ON sample USING simhash (fp) WITH (blocks = 5, prefix = 2);
SELECT * FROM compare('sample');
UPDATE queries SET ball = ball[2:], distances[1] = distances[1] + 1 WHERE n % 11 = 3;
SELECT index, bitmap, nearest FROM differing('sample');

--
-- Every design: the right number of permuted tables, sorted by the right bits, with all
-- rows
--
CREATE TABLE mixed AS
    SELECT i AS id, CASE WHEN i % 20 > 0 THEN fp_of('mixed', i) END AS fp FROM generate_series(1, 240) AS i;
SELECT ask('mixed');
CREATE FUNCTION build_and_compare(
    design text, tables integer, bits integer, OUT tables_right boolean, OUT bits_right boolean,
    OUT entries_right boolean, OUT index bigint, OUT bitmap bigint, OUT nearest bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE INDEX mixed_fp ON mixed USING simhash (fp) WITH (%s)', design);
    SELECT count(s.permuted_table) = tables AND count(*) = tables + 1, sum(s.prefix_bits) = bits,
           bool_and(s.entries = CASE WHEN s.permuted_table IS NULL THEN 12 ELSE 228 END)
    INTO tables_right, bits_right, entries_right
    FROM simhash_index_stats('mixed_fp') AS s WHERE s.level IS NOT NULL;
    SELECT * INTO index, bitmap, nearest, rows FROM differing('mixed');
    DROP INDEX mixed_fp;
END $$;
SELECT tables_right, bits_right, entries_right, index, bitmap, nearest, rows, count(*), min(design), max(design)
FROM every_design, LATERAL build_and_compare(design, tables, bits)
GROUP BY 1, 2, 3, 4, 5, 6, 7;

--
-- Some designs: each shape of data, built and by insertion
--
CREATE FUNCTION every_shape(design text, rows_first boolean, size integer, radii integer[],
                            OUT index bigint, OUT bitmap bigint, OUT nearest bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
    shape text;
    r record;
BEGIN
    index := 0;
    bitmap := 0;
    nearest := 0;
    rows := 0;
    FOREACH shape IN ARRAY '{uniform,skewed high,skewed low,clustered,equal,extreme}'::text[] LOOP
        CREATE TABLE shaped (id integer, fp simhash);
        IF NOT rows_first THEN
            EXECUTE format('CREATE INDEX ON shaped USING simhash (fp) WITH (%s)', design);
        END IF;
        INSERT INTO shaped SELECT i, CASE WHEN i % 20 > 0 THEN fp_of(shape, i) END FROM generate_series(1, size) AS i;
        IF rows_first THEN
            EXECUTE format('CREATE INDEX ON shaped USING simhash (fp) WITH (%s)', design);
        END IF;
        r := compare('shaped', radii);
        index := index + r.index;
        bitmap := bitmap + r.bitmap;
        nearest := nearest + r.nearest;
        rows := rows + r.rows;
        DROP TABLE shaped;
    END LOOP;
END $$;
SELECT design, rows_first, e.*
FROM unnest(ARRAY['blocks = 5, prefix = 2', 'blocks = 6, prefix = 3', 'blocks = 8, prefix = 2',
                  'blocks = 5, prefix = 4', 'blocks = 16, prefix = 15', 'blocks = 4, nested = 4',
                  'blocks = 2, nested = 16', 'blocks = 3, nested = 2', 'blocks = 16, nested = 2'])
         WITH ORDINALITY AS u (design, i),
     unnest('{true,false}'::boolean[]) AS rows_first,
     LATERAL every_shape(design, rows_first, 1100, '{0,1,2,3,4,5,6,7,8,9,10,12,14,16,19,22,26,31,40,64}') AS e
ORDER BY i, rows_first;

--
-- Change from one design to another
--
CREATE TABLE docs (id serial, fp simhash, note text);
INSERT INTO docs (fp) SELECT CASE WHEN i % 30 > 0 THEN fp_of('mixed', i) END FROM generate_series(1, 5000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
-- write to every permuted table, delete, and write again
CREATE FUNCTION change(i integer) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    DELETE FROM docs WHERE hashint4(docs.id + change.i) % 7 = 0;
    UPDATE docs SET fp = flip(docs.fp, 1 + docs.id % 5, change.i) WHERE hashint4(docs.id + change.i) % 7 = 1;
    UPDATE docs SET fp = CASE WHEN docs.fp IS NULL THEN random_fp(docs.id) END
    WHERE hashint4(docs.id + change.i) % 29 = 2;
    UPDATE docs SET note = 'a' WHERE hashint4(docs.id + change.i) % 7 = 3;
    INSERT INTO docs (fp) SELECT fp_of('mixed', 10000 * change.i + j) FROM generate_series(1, 500) AS j;
END;
CREATE FUNCTION tables(index regclass) RETURNS text LANGUAGE sql
    RETURN (SELECT format('%s of %s bits', count(*), string_agg(DISTINCT prefix_bits::text, ', '))
            FROM simhash_index_stats(index) WHERE level = 0 AND permuted_table IS NOT NULL);
\set radii '''{-1,0,1,2,3,4,5,6,7,8,9,10,12,15,20,30,64}'''
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
SELECT change(1);
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
VACUUM docs;
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
SELECT change(2);
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
-- between SET and REINDEX the index keeps its design, whatever is written
ALTER INDEX docs_fp SET (blocks = 6, prefix = 3);
SELECT reloptions FROM pg_class WHERE oid = 'docs_fp'::regclass;
SELECT change(3);
VACUUM docs;
SELECT change(4);
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
REINDEX INDEX docs_fp;
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
SELECT change(5);
VACUUM docs;
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
ALTER INDEX docs_fp SET (prefix = 1, blocks = 4, nested = 4);
REINDEX INDEX CONCURRENTLY docs_fp;
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
SELECT change(6);
VACUUM docs;
SELECT change(7);
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
-- reset one option at a time, where the remaining options are a valid design
ALTER INDEX docs_fp RESET (blocks);
ALTER INDEX docs_fp SET (blocks = 16); -- 64 permuted tables
ALTER INDEX docs_fp RESET (nested);
ALTER INDEX docs_fp SET (blocks = 16, prefix = 15);
ALTER INDEX docs_fp RESET (blocks); -- 4 blocks, a prefix of 15
ALTER INDEX docs_fp SET (nested = 2);
SELECT reloptions FROM pg_class WHERE oid = 'docs_fp'::regclass;
VACUUM FULL docs;
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
ALTER INDEX docs_fp RESET (blocks, prefix, nested);
SELECT tables('docs_fp');
TRUNCATE docs;
SELECT index, bitmap, nearest, rows, tables('docs_fp') FROM compare('docs', :radii);
SELECT change(8);
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
SELECT reloptions FROM pg_class WHERE oid = 'docs_fp'::regclass;
-- several indexes on one column, of which the planner chooses one
CREATE INDEX docs_wide ON docs USING simhash (fp) WITH (nested = 8);
CREATE INDEX CONCURRENTLY docs_deep ON docs USING simhash (fp) WITH (blocks = 7, prefix = 5);
SELECT change(9);
VACUUM docs;
SELECT change(10);
SELECT index, bitmap, nearest, rows, tables('docs_fp'), tables('docs_wide'), tables('docs_deep')
FROM compare('docs', :radii);
DROP INDEX docs_fp;
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
DROP INDEX docs_wide;
SELECT index, bitmap, nearest, rows FROM compare('docs', :radii);
-- a transaction that rolls back leaves the old design
BEGIN;
ALTER INDEX docs_deep SET (blocks = 3, prefix = 2);
REINDEX INDEX docs_deep;
SELECT change(11);
SELECT index, bitmap, nearest, rows, tables('docs_deep') FROM compare('docs', :radii);
ROLLBACK;
SELECT index, bitmap, nearest, rows, tables('docs_deep') FROM compare('docs', :radii);
-- built with the minimum of memory, in permuted tables of several levels
SET maintenance_work_mem = '1MB';
CREATE TABLE large AS
    SELECT i AS id, CASE WHEN i % 100 > 0 THEN fp_of('mixed', i) END AS fp FROM generate_series(1, 30000) AS i;
CREATE INDEX large_fp ON large USING simhash (fp) WITH (blocks = 6, prefix = 4);
SELECT index, bitmap, nearest, rows, tables('large_fp') FROM compare('large', '{0,3,5,6,8,11,24}');
SELECT level, count(DISTINCT permuted_table), bool_and(pages > 1) AS many
FROM simhash_index_stats('large_fp') WHERE permuted_table IS NOT NULL GROUP BY level ORDER BY level;
RESET maintenance_work_mem;

--
-- All types of tables
--
CREATE UNLOGGED TABLE volatile_docs AS SELECT id, fp FROM mixed;
CREATE INDEX ON volatile_docs USING simhash (fp) WITH (blocks = 3, nested = 5);
SELECT index, bitmap, nearest, rows FROM compare('volatile_docs');
ALTER TABLE volatile_docs SET LOGGED;
INSERT INTO volatile_docs SELECT 1000 + i, random_fp(i) FROM generate_series(1, 600) AS i;
SELECT index, bitmap, nearest, rows FROM compare('volatile_docs');
CREATE TEMP TABLE own (id integer, fp simhash) ON COMMIT DELETE ROWS;
CREATE INDEX own_fp ON own USING simhash (fp) WITH (blocks = 5, prefix = 3);
DO $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        INSERT INTO own SELECT j, fp_of('mixed', j) FROM generate_series(1, 700) AS j;
        ASSERT (SELECT index = 0 AND bitmap = 0 AND nearest = 0 AND rows > 0 FROM compare('own', '{0,3,5,10,30}'));
        COMMIT;
        ASSERT (SELECT index = 0 AND bitmap = 0 AND nearest = 0 AND rows = 0 FROM compare('own', '{0,3,5,10,30}'));
    END LOOP;
END $$;
SELECT tables('own_fp');
CREATE TABLE parent (id integer, fp simhash) PARTITION BY RANGE (id);
CREATE INDEX ON parent USING simhash (fp) WITH (blocks = 4, nested = 2);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (1) TO (2000);
INSERT INTO parent SELECT i, fp_of('mixed', i) FROM generate_series(1, 700) AS i;
SELECT index, bitmap, nearest, rows, tables('child_fp_idx') FROM compare('child');
CREATE TABLE copied (LIKE parent INCLUDING INDEXES);
INSERT INTO copied SELECT * FROM parent;
SELECT index, bitmap, nearest, rows, pg_get_indexdef('copied_fp_idx'::regclass) FROM compare('copied');
CREATE TABLE distinct_docs (id integer, fp simhash, EXCLUDE USING simhash (fp WITH =) WITH (blocks = 5, prefix = 2));
INSERT INTO distinct_docs SELECT i, random_fp(i) FROM generate_series(1, 1000) AS i;
INSERT INTO distinct_docs VALUES (1001, random_fp(7));
INSERT INTO distinct_docs SELECT i, random_fp(i) FROM generate_series(900, 1100) AS i ON CONFLICT DO NOTHING;
SELECT index, bitmap, nearest, rows, (SELECT count(*) FROM distinct_docs) FROM compare('distinct_docs', :radii);
-- a dump contains the options
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'distinct_docs'::regclass;

--
-- The statistics
--
CREATE TABLE counted AS SELECT i AS id, random_fp(i) AS fp FROM generate_series(1, 300) AS i;
INSERT INTO counted SELECT i, NULL FROM generate_series(301, 310) AS i;
CREATE INDEX counted_fp ON counted USING simhash (fp) WITH (blocks = 5, prefix = 2);
SELECT permuted_table, prefix_bits, level, pages, entries, longest_run
FROM simhash_index_stats('counted_fp') ORDER BY permuted_table, level;
DROP INDEX counted_fp;
CREATE INDEX counted_fp ON counted USING simhash (fp) WITH (blocks = 3, nested = 2);
SELECT permuted_table, prefix_bits, level, pages, entries, longest_run
FROM simhash_index_stats('counted_fp') ORDER BY permuted_table, level;
-- equal fingerprints are one run in every permuted table
INSERT INTO counted SELECT i, '0123456789abcdef' FROM generate_series(1001, 1100) AS i;
SELECT DISTINCT entries, longest_run FROM simhash_index_stats('counted_fp') WHERE permuted_table IS NOT NULL;

--
-- Bad input
--
CREATE TABLE bad (id integer, fp simhash);
CREATE INDEX ON bad USING simhash (fp) WITH (prefix = 0);
CREATE INDEX ON bad USING simhash (fp) WITH (prefix = 16);
CREATE INDEX ON bad USING simhash (fp) WITH (prefix = 4);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 2, prefix = 2);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 3, prefix = 15);
CREATE INDEX ON bad USING simhash (fp) WITH (prefix = 1.5);
CREATE INDEX ON bad USING simhash (fp) WITH (prefix = two);
CREATE INDEX ON bad USING simhash (fp) WITH (nested = 0);
CREATE INDEX ON bad USING simhash (fp) WITH (nested = 17);
CREATE INDEX ON bad USING simhash (fp) WITH (nested);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 4, prefix = 2, nested = 2);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 7, prefix = 3);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 16, prefix = 8);
CREATE INDEX ON bad USING simhash (fp) WITH (nested = 9);
CREATE INDEX ON bad USING simhash (fp) WITH (blocks = 16, nested = 16);
CREATE INDEX ON bad USING simhash (fp) WITH (nest = 2);
CREATE INDEX CONCURRENTLY ON bad USING simhash (fp) WITH (blocks = 9, prefix = 2);
CREATE INDEX bad_fp ON bad USING simhash (fp) WITH (blocks = 5, prefix = 2);
ALTER INDEX bad_fp SET (prefix = 5);
ALTER INDEX bad_fp SET (nested = 2);
ALTER INDEX bad_fp SET (blocks = 2);
ALTER INDEX bad_fp SET (blocks = 9);
ALTER INDEX bad_fp SET (prefix = 6, blocks = 8, nested = 2);
SELECT reloptions FROM pg_class WHERE oid = 'bad_fp'::regclass;
SELECT tables('bad_fp');
-- a failed build leaves nothing
SELECT count(*) FROM pg_index WHERE indrelid = 'bad'::regclass;
CREATE TABLE bad_parent (fp simhash) PARTITION BY RANGE (fp);
CREATE INDEX ON bad_parent USING simhash (fp) WITH (blocks = 4, prefix = 4);
CREATE TABLE bad_constraint (fp simhash, EXCLUDE USING simhash (fp WITH =) WITH (blocks = 8, prefix = 4));

DROP SCHEMA designs_test CASCADE;
