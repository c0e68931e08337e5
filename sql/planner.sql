--
-- The planner: which queries an index serves, and which plans must not change
--
-- Each test shows the query's plan, and compares its rows with those of plans without
-- any index.
--
CREATE SCHEMA planner;
SET search_path = planner, public;

-- Settings under which a plan depends only on what is possible, not on costs.
CREATE FUNCTION settle() RETURNS void LANGUAGE sql AS $$
    SELECT set_config(name, 'off', false)
    FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin',
                      'enable_material', 'enable_memoize', 'simhash.enable_join']) AS name;
    SELECT set_config('max_parallel_workers_per_gather', '0', false);
$$;
SELECT settle();

-- Return the rows as sorted text, and undo the changes of the query.
CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    one record;
    result text[] := '{}';
BEGIN
    BEGIN
        FOR one IN EXECUTE query LOOP
            result := result || one::text;
        END LOOP;
        RAISE EXCEPTION USING ERRCODE = 'P0999';
    EXCEPTION WHEN SQLSTATE 'P0999' THEN NULL;
    END;
    RETURN ARRAY(SELECT unnest(result) ORDER BY 1);
END $$;

CREATE FUNCTION rows_without_index(query text) RETURNS text[] LANGUAGE sql
    SET enable_indexscan = off SET enable_bitmapscan = off SET enable_seqscan = on
    SET simhash.enable_rewrite = off
    AS 'SELECT rows_of(query)';

CREATE FUNCTION show(query text, shown text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE result text[] := rows_of(query);
BEGIN
    IF result <> rows_without_index(query) THEN
        RAISE EXCEPTION 'other rows with an index';
    END IF;
    RETURN QUERY SELECT plan(query, shown);
    RETURN NEXT format('-- %s rows', cardinality(result));
END $$;

-- 500 fingerprints, neighbours of some of them, and NULLs
CREATE TABLE docs (id int PRIMARY KEY, fp simhash, kind int NOT NULL);
INSERT INTO docs SELECT n, fingerprint(n), n % 10 FROM generate_series(1, 500) AS n;
INSERT INTO docs
    SELECT 1000 * bits + n, (fingerprint(n)::bigint # ((1::bigint << bits) - 1 << n))::simhash, 0
    FROM generate_series(1, 30) AS n, generate_series(1, 6) AS bits;
INSERT INTO docs SELECT 10000 + n, NULL, 0 FROM generate_series(1, 5) AS n;
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- a few query fingerprints, without an index
CREATE TABLE wanted (n int, fp simhash, radius int, small smallint, big bigint);
INSERT INTO wanted SELECT n, fingerprint(n), n, n, n FROM generate_series(1, 5) AS n;
INSERT INTO wanted VALUES (6, NULL, 3, 3, 3), (7, fingerprint(7), NULL, NULL, NULL),
    (8, fingerprint(8), -1, -32768, -9223372036854775808), (9, fingerprint(9), 2147483647, 32767, 9223372036854775807);
ANALYZE docs, wanted;

--
-- Spellings
--
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) < 3 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) = 3 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) = 0 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) BETWEEN 1 AND 3 $$);
SELECT show($$ SELECT * FROM docs WHERE 3 >= fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE 3 > fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE 3 = fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE fingerprint(7) <~> fp <= 3 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3::smallint $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3::bigint $$);
SELECT show($$ SELECT * FROM docs WHERE 3::smallint > fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE hamming_distance(fp, fingerprint(7)) <= 3 $$);
SELECT show($$ SELECT * FROM docs WHERE NOT fp <~> fingerprint(7) > 3 $$);
SELECT show($$ SELECT * FROM docs WHERE NOT fp <~> fingerprint(7) >= 3 $$);
SELECT show($$ SELECT * FROM docs WHERE NOT (fp <~> fingerprint(7) > 3 OR kind > 5) $$);
SELECT show($$ SELECT * FROM docs WHERE simhash_within(fp, fingerprint(7), 3) $$);
SELECT show($$ SELECT * FROM docs WHERE simhash_within(fingerprint(7), fp, 3) $$);
SELECT show($$ SELECT * FROM docs WHERE fp <@ simhash_ball(fingerprint(7), 3) $$);
SELECT show($$ SELECT * FROM docs WHERE fp <@ simhash_ball(fingerprint(7), 3) $$);
SELECT show($$ SELECT * FROM docs WHERE fp = fingerprint(7) $$);
-- several comparisons in one query
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 5 AND fp <~> fingerprint(7) < 3 AND kind = 0 $$);

-- Extreme and NULL bounds
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) < (-9223372036854775808)::bigint $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 9223372036854775807 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) < 0 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= NULL $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> NULL <= 3 $$);

-- Bounds that are not integers
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3.0 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) < 3.0 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) < 2.5 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) = 3.0 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) = 0.5 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) BETWEEN 1.5 AND 3.5 $$);
SELECT show($$ SELECT * FROM docs WHERE 3.9 >= fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE hamming_distance(fp, fingerprint(7)) <= 3::float8 $$);
SELECT show($$ SELECT * FROM docs WHERE 3::real > fp <~> fingerprint(7) $$);
SELECT show($$ SELECT * FROM docs WHERE (fp <~> fingerprint(7))::bigint <= 3 $$);
CREATE TABLE bounds AS SELECT v::numeric AS n, v::float8 AS f8, v::float8::numeric::real AS f4
FROM unnest(ARRAY['-1e30', '-1', '-0.5', '-0', '0', '0.5', '1', '2', '2.5', '2.9999999999999999999', '3', '3.0000001',
                  '31.5', '63.999', '64', '64.5', '65', '1e30', 'NaN', NULL]) AS v;
INSERT INTO bounds VALUES ('Infinity', 'Infinity', 'Infinity'), ('-Infinity', '-Infinity', '-Infinity'),
    ('1e-200', '1e-200', '1e-40'), ('1e200', '1e300', '1e38');
ANALYZE bounds;
-- each bound as a constant, and as a column of another table
DO $$
DECLARE
    query text;
    bound record;
    checked int := 0;
    found text[];
    compared int := 0;
    planned text;
BEGIN
    FOR bound IN
        SELECT type, form, value, format(form, 'fp <~> fingerprint(7)', value) AS condition
        FROM (VALUES ('numeric', 'n'), ('float8', 'f8'), ('real', 'f4')) AS types (type, name),
             unnest(ARRAY['%s <= %s', '%s < %s', '%s = %s', '%2$s >= %1$s', '%2$s > %1$s', '%2$s = %1$s']) AS form,
             LATERAL (SELECT 'b.' || name AS value
                      UNION ALL SELECT format(
                          '%L::%s', CASE name WHEN 'n' THEN n::text WHEN 'f8' THEN f8::text ELSE f4::text END, type)
                      FROM bounds) AS v
    LOOP
        query := format(CASE WHEN bound.value ~ '^b' THEN 'SELECT b, d.ctid FROM bounds AS b, docs AS d WHERE %s'
                        ELSE 'SELECT ctid FROM docs WHERE %s' END, bound.condition);
        found := rows_of(query);
        IF found <> rows_without_index(query) THEN
            RAISE EXCEPTION 'other rows with an index: %', query;
        END IF;
        compared := compared + cardinality(found);
        SELECT string_agg(line, E'\n') INTO planned FROM plan(query) AS line;
        -- all fingerprints are within 64 bits, and core can hash an equality with another table
        IF planned !~ 'Index Cond|One-Time Filter: false|''64''::bigint'
            AND NOT (bound.value ~ '^b' AND bound.form ~ ' = ') THEN
            RAISE EXCEPTION E'no index: %\n%', query, planned;
        END IF;
        checked := checked + 1;
    END LOOP;
    RAISE NOTICE '% conditions, % rows', checked, compared;
END $$;
DROP TABLE bounds;
-- A bound between 0 and 1 is probably meant as a fraction.  Each statement raises one
-- notice.
SELECT count(*) FROM docs WHERE fp <~> fingerprint(7) <= 0.9 OR fp <~> fingerprint(8) < 0.25::float4;
SELECT count(*) FROM docs AS a, docs AS b WHERE a.fp <~> b.fp < 1e-3::float8 AND a.id < 0;
SELECT count(*) >= 0 AS no_notice FROM docs
WHERE fp <~> fingerprint(7) <= 1.5 OR fp <~> fingerprint(7) < 1.0 OR fp <~> fingerprint(7) <= 0.0
   OR fp <~> fingerprint(7) <= -0.5;

-- Comparisons without an upper bound, or without a constant, are not rewritten
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) >= 40 $$, 'Index');
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <> 3 $$, 'Index');
SELECT show($$ SELECT * FROM docs WHERE fp <~> fp <= 3 $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= kind $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= fp <~> fingerprint(8) $$);
SELECT plan($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3 * random() $$);
SELECT plan($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= (3 * random())::int $$);
SELECT plan($$ SELECT * FROM docs WHERE fp <~> (random()::text || '0123456789abcdef')::simhash <= 3 $$);

-- OR
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 3 OR fp <~> fingerprint(8) = 2 $$);
SELECT show($$ SELECT * FROM docs WHERE (fp <~> fingerprint(7) <= 3 AND kind > 5) OR id = 1007 $$);
RESET enable_indexscan;
SET enable_bitmapscan = off;

-- all arms bound one distance: the weakest bound serves the index and the join
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 1 OR (fp <~> fingerprint(7) < 4 AND kind > 5) $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(7) <= 1 OR (fp <~> fingerprint(8) < 4 AND kind > 5) $$,
            'Scan');
SELECT show($$ SELECT a.id, n FROM docs a JOIN wanted w ON a.fp <~> w.fp = 1 OR (kind = n AND a.fp <~> w.fp <= 2) $$);
SET simhash.enable_join = on;
SET enable_nestloop = off;
SELECT show($$ SELECT a.n, w.n FROM wanted a JOIN wanted w
               ON a.fp <~> w.fp = 0 OR (a.n = w.radius AND a.fp <~> w.fp <= 40) $$);
RESET enable_nestloop;
SET simhash.enable_join = off;
-- a call of simhash_beside() that is not the planner's own
SELECT show($$ SELECT id FROM docs WHERE simhash_beside(fp, id, fp <~> fingerprint(7) <= 3) $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_beside(fp, fingerprint(7), fp <~> fingerprint(8) <= 3) $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_beside(fp, fingerprint(7), fp <~> fingerprint(7) = 3) $$);
SELECT show($$ SELECT a.n, w.n FROM wanted a, wanted w
               WHERE a.fp <~> w.fp <= 40 AND simhash_beside(a.fp, w.fp, a.n < w.n) $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_beside(id, 7, id < 7) $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_beside(fp, '{1}'::bigint[], '{1}' <%> '{1,2}'::bigint[] <= id) $$);

-- with more tables, the weakest bound is added once
SELECT show($$ SELECT a.id FROM docs a, wanted w, wanted v
               WHERE (a.fp <~> w.fp <= 1 OR a.fp <~> w.fp <= 2 AND a.kind = v.n) AND v.n = w.n $$, 'Cond');

--
-- Joins
--
-- core hashes an equality with a column of another table
SELECT show($$ SELECT w.n, v.n, b.n FROM (wanted w JOIN wanted v USING (n)) FULL JOIN wanted b
               ON w.fp <~> v.fp = b.radius $$, 'Join');
SELECT show($$ SELECT d.id, n FROM wanted w JOIN docs d ON d.fp <~> w.fp <= 3 $$);
SELECT show($$ SELECT d.id, n FROM wanted w JOIN docs d ON w.fp <~> d.fp < 3 AND d.kind = 0 $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE w.fp <~> d.fp <= w.radius $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE w.fp <~> d.fp < w.radius $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE w.fp <~> d.fp < w.small $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE w.fp <~> d.fp < w.big $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE w.fp <~> d.fp = w.big $$);
SELECT show($$ SELECT d.id, n FROM wanted w, docs d WHERE d.fp <@ simhash_ball(w.fp, w.radius) $$);
SELECT show($$ SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 2 AND a.id < b.id $$);
SELECT show($$ SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp = 2 AND a.id < b.id $$);
SELECT show($$ SELECT n, d.id FROM wanted w LEFT JOIN docs d ON d.fp <~> w.fp <= 2 $$);
SELECT show($$ SELECT n, d.id FROM docs d RIGHT JOIN wanted w ON d.fp <~> w.fp <= 2 WHERE n < 8 $$);
SELECT show($$
            SELECT n, d.id FROM wanted w LEFT JOIN docs d ON d.fp <~> w.fp <= 2 WHERE d.fp <~> fingerprint(3) < 40 $$);
SELECT show($$ SELECT n FROM wanted w WHERE EXISTS (SELECT FROM docs d WHERE d.fp <~> w.fp <= 2) $$);
SELECT show($$ SELECT n FROM wanted w WHERE NOT EXISTS (SELECT FROM docs d WHERE d.fp <~> w.fp <= 2) $$);
SELECT show($$ SELECT n, d.*
               FROM wanted w, LATERAL (SELECT id FROM docs WHERE docs.fp <~> w.fp <= 2 ORDER BY id LIMIT 2) d $$);
SELECT show($$ SELECT n, d.* FROM wanted w
                   LEFT JOIN LATERAL (SELECT count(*) FROM docs WHERE docs.fp <~> w.fp <= radius) d ON true $$);

--
-- Subqueries
--
SELECT show($$ SELECT n, (SELECT count(*) FROM docs WHERE docs.fp <~> w.fp <= 2) FROM wanted w $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> (SELECT fp FROM wanted WHERE n = 3) <= 2 $$, 'Index Scan');
SELECT ltrim(show(
    $$ SELECT * FROM docs WHERE id IN (SELECT id + 0 FROM docs WHERE fp <~> fingerprint(3) <= 2) $$,
    'docs_fp|Index Cond: .fp')) AS show;
SELECT show($$ WITH near AS (SELECT * FROM docs WHERE fp <~> fingerprint(3) <= 2) SELECT count(*) FROM near $$);
SELECT show($$ WITH near AS MATERIALIZED (SELECT * FROM docs WHERE fp <~> fingerprint(3) <= 2)
            SELECT count(*) FROM near $$);
SELECT show($$ SELECT kind, count(*) FROM docs GROUP BY kind, fp HAVING fp <~> fingerprint(3) <= 2 $$, 'Index');
SELECT show($$ SELECT min(id) FROM docs WHERE fp <~> fingerprint(3) <= 2 AND id + 0 > 0 $$, 'docs_fp|Index Cond: .fp');
CREATE VIEW near AS SELECT * FROM docs WHERE fp <~> fingerprint(3) <= 2;
SELECT show('SELECT * FROM near WHERE kind = 0');
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM docs WHERE kind < 5;
SELECT show($$ SELECT id FROM barrier WHERE fp <~> fingerprint(3) <= 2 $$, 'Index');
-- the rewrite changes the plan only, not the view's definition
SELECT pg_get_viewdef('near') ~ 'fp <~> fingerprint\(3\)\) <= 2' AS as_written;

--
-- Statements that change rows
--
SELECT show($$ UPDATE docs SET kind = 1 WHERE fp <~> fingerprint(3) <= 2 RETURNING * $$);
SELECT show($$ DELETE FROM docs WHERE fp <~> fingerprint(3) < 3 RETURNING * $$);
SELECT show($$ DELETE FROM docs d USING wanted w WHERE d.fp <~> w.fp <= 1 RETURNING d.* $$);
SELECT show($$ SELECT * FROM docs WHERE fp <~> fingerprint(3) <= 2 FOR UPDATE $$);
SELECT plan($$ MERGE INTO docs d USING wanted w ON d.fp <~> w.fp <= 1
    WHEN MATCHED THEN UPDATE SET kind = n WHEN NOT MATCHED THEN INSERT VALUES (-n, w.fp, 0) $$);
BEGIN;
MERGE INTO docs d USING (SELECT * FROM wanted WHERE n < 6) w ON d.fp <~> w.fp = 1
    WHEN MATCHED THEN UPDATE SET kind = 100 + n WHEN NOT MATCHED THEN INSERT VALUES (-n, w.fp, 0);
SELECT count(*), sum(kind) FROM docs WHERE kind > 100;
ROLLBACK;
SELECT plan($$ INSERT INTO wanted SELECT id, fp FROM docs WHERE fp <~> fingerprint(3) <= 2 $$);

--
-- Parameters
--
SET plan_cache_mode = force_generic_plan;
PREPARE p2 (simhash, smallint) AS SELECT id FROM docs WHERE fp <~> $1 < $2;
PREPARE p4 (simhash, int) AS SELECT id FROM docs WHERE $2 >= fp <~> $1;
PREPARE p8 (simhash, bigint) AS SELECT id FROM docs WHERE fp <~> $1 <= $2;
PREPARE less8 (simhash, bigint) AS SELECT id FROM docs WHERE fp <~> $1 < $2;
PREPARE f8 (simhash, float8) AS SELECT id FROM docs WHERE fp <~> $1 <= $2;
PREPARE n (simhash, numeric) AS SELECT id FROM docs WHERE fp <~> $1 < $2;
SELECT plan($$ EXECUTE p2(NULL, NULL) $$);
SELECT plan($$ EXECUTE p4(NULL, NULL) $$);
SELECT plan($$ EXECUTE p8(NULL, NULL) $$);
SELECT plan($$ EXECUTE less8(NULL, NULL) $$);
SELECT plan($$ EXECUTE f8(NULL, NULL) $$);
SELECT plan($$ EXECUTE n(NULL, NULL) $$);
EXECUTE p2(fingerprint(1), 2);
EXECUTE p2(fingerprint(1), (-32768)::smallint);
EXECUTE p4(fingerprint(1), 1);
EXECUTE p4(fingerprint(1), -1);
EXECUTE p8(fingerprint(1), 1);
EXECUTE p8(fingerprint(1), NULL);
EXECUTE p8(NULL, 1);
EXECUTE less8(fingerprint(1), 2);
EXECUTE less8(fingerprint(1), -9223372036854775808);
EXECUTE f8(fingerprint(1), 1.9);
EXECUTE f8(fingerprint(1), '-Infinity');
EXECUTE n(fingerprint(1), 1.9);
EXECUTE n(fingerprint(1), NULL);
SET plan_cache_mode = force_custom_plan;
SELECT plan($$ EXECUTE p4(fingerprint(1), 1) $$);
SELECT plan($$ EXECUTE less8(fingerprint(1), 2) $$);
RESET plan_cache_mode;
DEALLOCATE ALL;

-- PL/pgSQL: each search is a scan of the index
CREATE FUNCTION near(q simhash, radius int) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT id FROM docs WHERE fp <~> q <= radius ORDER BY id;
END $$;
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql
    AS $$ SELECT idx_scan FROM pg_stat_xact_user_tables WHERE relid = 'docs'::regclass $$;
BEGIN;
SELECT used() AS before \gset
SELECT count(near) FROM generate_series(1, 20) AS n, near(fingerprint(n), 2);
SELECT used() - :before AS scans;
ROLLBACK;

-- An SQL function that is inlined
CREATE FUNCTION is_near(a simhash, b simhash) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS 'SELECT a OPERATOR(public.<~>) b <= 2';
SELECT show($$ SELECT id FROM docs WHERE is_near(fp, fingerprint(3)) $$);

--
-- UNION ALL
--
CREATE TABLE more (fp simhash, number int);
INSERT INTO more SELECT fp, id FROM docs WHERE id > 1000;
CREATE INDEX more_fp ON more USING simhash (fp);
ANALYZE more;
CREATE VIEW everything AS SELECT id, fp FROM docs UNION ALL SELECT number, fp FROM more;
SELECT show($$ SELECT * FROM everything WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT * FROM everything WHERE fp <~> fingerprint(3) = 2 $$);
SELECT show($$ SELECT n, id FROM wanted w JOIN everything e ON e.fp <~> w.fp <= 2 $$);
SELECT show($$ SELECT n, id FROM wanted w LEFT JOIN everything e ON e.fp <~> w.fp = 2 $$);
SELECT show($$ SELECT n, id FROM wanted w JOIN everything e ON e.fp <~> w.fp = w.big $$, 'Index');
SELECT show($$ SELECT * FROM (SELECT * FROM everything UNION ALL SELECT n, fp FROM wanted) u
    WHERE fp <~> fingerprint(3) <= 2 AND id > 0 $$, 'Scan|Index Cond');
-- if the types differ, the members are subqueries, which receive the condition
SELECT show($$ SELECT * FROM (SELECT id, fp FROM docs UNION ALL SELECT n::bigint, fp FROM wanted) u
    WHERE fp <~> fingerprint(3) <= 2 $$, 'Index');
-- an expression in one member, a partial index with the comparison as its predicate in
-- another
CREATE TABLE bodies (id int, body text);
INSERT INTO bodies SELECT id, 'body ' || id FROM docs;
CREATE INDEX bodies_fp ON bodies USING simhash (simhash(body));
CREATE TABLE few AS SELECT * FROM docs;
CREATE INDEX few_near ON few (id) WHERE fp <~> '8f14e45fceea167a' <= 3;
ANALYZE bodies, few;
SELECT show($$ SELECT *
               FROM (SELECT id, fp FROM docs
                     UNION ALL SELECT id, simhash(body) FROM bodies UNION ALL SELECT id, fp FROM few) u
    WHERE fp <~> '8f14e45fceea167a' <= 3 $$, 'Scan|Index Cond');
DROP TABLE bodies, few;
-- a member that is a subquery keeps its own comparison, whatever the member before it
-- uses
CREATE INDEX wanted_near ON wanted (n) WHERE fp <~> '8f14e45fceea167a' <= 3;
SELECT ltrim(show($$ SELECT * FROM (SELECT id, fp FROM docs UNION ALL SELECT DISTINCT n, fp FROM wanted) u
    WHERE fp <~> '8f14e45fceea167a' <= 3 $$, 'Index Scan')) AS show;
DROP INDEX wanted_near;
-- an expression of a member does not replace a column that a lower outer join may set
-- to NULL
SELECT show($$ SELECT w.n, u.id, x.n FROM wanted w LEFT JOIN
    (SELECT id, fp FROM docs UNION ALL SELECT n, simhash(n::text) FROM wanted) u ON w.n = u.id
    LEFT JOIN wanted x ON x.fp <~> u.fp <= 2 $$, 'no line');
SELECT show($$ SELECT w.n, u.id FROM wanted w LEFT JOIN
    (SELECT id, fp FROM docs UNION ALL SELECT n, NULL FROM wanted) u ON w.n = u.id
    WHERE u.id IS NULL OR w.fp <~> u.fp <= 2 $$, 'no line');

--
-- Inheritance and partitions
--
CREATE TABLE parent (id int, fp simhash);
CREATE TABLE child (extra text) INHERITS (parent);
CREATE TABLE other_child () INHERITS (parent);
INSERT INTO parent SELECT id, fp FROM docs WHERE id % 3 = 0;
INSERT INTO child SELECT id, fp, 'extra' FROM docs WHERE id % 3 = 1;
INSERT INTO other_child SELECT id, fp FROM docs WHERE id % 3 = 2;
CREATE INDEX child_fp ON child USING simhash (fp);
ANALYZE parent, child, other_child;
SELECT show($$ SELECT id FROM parent WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id FROM ONLY parent WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id, n FROM parent p JOIN wanted w ON p.fp <~> w.fp < 2 $$);
SELECT show($$ UPDATE parent SET id = -id WHERE fp <~> fingerprint(3) <= 2 RETURNING id $$);

CREATE TABLE parts (id int, gone int, fp simhash, word text) PARTITION BY RANGE (id);
ALTER TABLE parts DROP COLUMN gone;
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (250);
CREATE TABLE parts2 (word text, fp simhash, id int);
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (250) TO (1000);
CREATE TABLE parts3 PARTITION OF parts FOR VALUES FROM (1000) TO (MAXVALUE) PARTITION BY LIST (id);
CREATE TABLE parts3a PARTITION OF parts3 DEFAULT;
INSERT INTO parts SELECT id, fp, 'word ' || id FROM docs;
-- an index of one partition
CREATE INDEX parts2_fp ON parts2 USING simhash (fp);
ANALYZE parts;
SELECT show($$ SELECT id FROM parts WHERE fp <~> fingerprint(300) <= 2 $$);
SELECT show($$ SELECT id FROM parts WHERE fp <~> fingerprint(3) <= 2 AND id < 250 $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN parts p ON p.fp <~> w.fp = w.big WHERE p.id BETWEEN 250 AND 999 $$,
            'Index');
-- an index of all partitions
CREATE INDEX parts_fp ON parts USING simhash (fp);
SELECT show($$ SELECT id FROM parts WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id FROM parts WHERE fp <~> fingerprint(3) = 2 AND id > 1000 $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN parts p ON p.fp <~> w.fp <= 2 $$);
SELECT show($$ DELETE FROM parts WHERE fp <~> fingerprint(3) <= 2 RETURNING id $$);
SELECT show($$ SELECT *
               FROM (SELECT id, fp FROM parts UNION ALL SELECT id, fp FROM docs) u WHERE fp <~> fingerprint(3) <= 2 $$);
DROP INDEX parts_fp, parts2_fp;
-- an expression index, in a partition with other column numbers
CREATE INDEX parts2_word ON parts2 USING simhash (simhash(word, 1));
SELECT show($$ SELECT id FROM parts WHERE simhash(word, 1) <~> simhash('word 300', 1) <= 2 $$);
SELECT show($$ SELECT id FROM parts WHERE simhash(word, 2) <~> simhash('word 300', 1) <= 2 $$);
-- an index expression that now raises an error, in a pruned partition
CREATE FUNCTION prefix(kind text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN kind; END';
CREATE INDEX parts1_word ON parts1 USING simhash (simhash(word || prefix('!')));
CREATE OR REPLACE FUNCTION prefix(kind text) RETURNS text LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN RAISE EXCEPTION 'the index of another partition was computed'; END $$;
SELECT show($$
            SELECT id FROM parts WHERE simhash(word, 1) <~> simhash('word 300', 1) <= 2 AND id BETWEEN 250 AND 999 $$);
DROP FUNCTION prefix CASCADE;

--
-- Row-level security
--
CREATE ROLE regress_simhash_reader;
GRANT USAGE ON SCHEMA planner TO regress_simhash_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA planner TO regress_simhash_reader;
CREATE POLICY visible ON docs USING (kind < 5);
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM docs WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN docs d ON d.fp <~> w.fp = 2 $$);
SELECT show($$ SELECT id FROM everything WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN docs d ON d.fp <~> w.fp < w.radius $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN docs d ON d.fp <~> w.fp < w.radius::float8 $$);
RESET ROLE;
-- a policy that compares a distance
ALTER POLICY visible ON docs USING (fp <~> fingerprint(3) <= 4);
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM docs WHERE kind = 0 $$);
SELECT show($$ SELECT id FROM (SELECT id, kind FROM docs UNION ALL SELECT n, 0 FROM wanted) u WHERE kind = 0 $$);
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP POLICY visible ON docs;

-- partitions with a policy, an outer join and a self-join
CREATE INDEX parts_fp ON parts USING simhash (fp);
CREATE POLICY visible ON parts USING (id > 1000 OR fp <~> fingerprint(3) <= 4);
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM parts WHERE fp <~> fingerprint(3) <= 2 $$);
RESET ROLE;
ALTER TABLE parts DISABLE ROW LEVEL SECURITY;
SELECT show($$ SELECT n, id FROM wanted w LEFT JOIN parts p ON p.fp <~> w.fp <= 2 $$);
SELECT show($$ SELECT a.id, b.id FROM parts a JOIN parts b ON a.fp <~> b.fp <= 2 AND a.id < b.id $$, 'Index Cond');
DROP INDEX parts_fp;

-- The rewrite adds only functions that the user may execute.  It removes no function
-- that the user may not execute.
REVOKE EXECUTE ON FUNCTION hamming_distance FROM PUBLIC;
SET ROLE regress_simhash_reader;
SELECT id FROM docs WHERE fp <~> fingerprint(3) <= 2;
SELECT id FROM docs WHERE hamming_distance(fp, fingerprint(3)) = 0;
SELECT show($$ SELECT id FROM docs WHERE simhash_within(fp, fingerprint(3), 2) $$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_distance TO PUBLIC;
REVOKE EXECUTE ON FUNCTION simhash_within FROM PUBLIC;
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM docs WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id FROM docs WHERE fp <@ simhash_ball(fingerprint(3), 2) $$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_within TO PUBLIC;
REVOKE EXECUTE ON FUNCTION simhash_ball(simhash, bigint) FROM PUBLIC;
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM docs WHERE fp <~> fingerprint(3) = 2 $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_within(fp, fingerprint(3), 2) $$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_ball(simhash, bigint) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION simhash_in_ball FROM PUBLIC;
SET ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM docs WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT id FROM docs WHERE simhash_within(fp, fingerprint(3), 2) $$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_in_ball TO PUBLIC;
-- nor a function of the radius
CREATE INDEX docs_near ON docs (id) WHERE fp <~> '8f14e45fceea167a' <= 3;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_radius(double precision) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE bounded (float8) AS SELECT id FROM docs WHERE fp <~> '8f14e45fceea167a' <= $1;
EXECUTE bounded(1);
ROLLBACK;
DEALLOCATE bounded;
DROP INDEX docs_near;
-- an index condition does not use a function of core that the user may not execute, either
CREATE TABLE arrays AS SELECT n AS id, ARRAY[n, n + 1]::bigint[] AS sk FROM generate_series(1, 5000) AS n;
CREATE INDEX ON arrays USING simhash (sk);
VACUUM ANALYZE arrays;
GRANT SELECT ON arrays TO regress_simhash_reader;
BEGIN;
REVOKE EXECUTE ON FUNCTION arrayoverlap FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT show($$ SELECT id FROM arrays WHERE sketch_overlaps(sk, '{3,4}') $$);
ROLLBACK;
SELECT show($$ SELECT id FROM arrays WHERE sketch_overlaps(sk, '{3,4}') $$);
DROP TABLE arrays;

--
-- Plans that must not change
--
-- no index of the access method: the plan does not mention it
CREATE TABLE plain AS SELECT * FROM docs;
CREATE INDEX plain_btree ON plain (fp);
ANALYZE plain;
SELECT show($$ SELECT id FROM plain WHERE fp <~> fingerprint(3) <= 2 AND hamming_distance(fp, fingerprint(4)) < 40 $$);
SELECT show($$ SELECT * FROM plain a JOIN wanted b ON a.fp <~> b.fp <= 2 $$);
-- an index of another column
CREATE TABLE two (a simhash, b simhash);
INSERT INTO two SELECT fp, fingerprint(id) FROM docs;
CREATE INDEX two_b ON two USING simhash (b);
ANALYZE two;
SELECT show($$ SELECT count(*) FROM two WHERE a <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT count(*) FROM two WHERE b <~> fingerprint(3) <= 2 $$);
SELECT show($$ SELECT count(*) FROM two WHERE a <~> b <= 2 $$);

-- a partial index whose predicate is a distance
CREATE TABLE partial AS SELECT * FROM docs;
CREATE INDEX partial_fp ON partial USING simhash (fp);
CREATE INDEX partial_id ON partial (id) WHERE fp <~> '8f14e45fceea167a' <= 3;
ANALYZE partial;
SET enable_sort = off;
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 3 AND id < 3000 ORDER BY id $$, 'partial_id');
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 2 ORDER BY id $$, 'partial_id|Sort');
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' < 3 ORDER BY id $$, 'partial_id|Sort');
-- the same through an SQL function
DROP INDEX partial_id;
CREATE INDEX partial_id ON partial (id) WHERE is_near(fp, '8f14e45fceea167a');
SELECT show($$ SELECT id FROM partial WHERE is_near(fp, '8f14e45fceea167a') ORDER BY id $$, 'partial_id|Sort');
RESET enable_sort;
-- an expression index
DROP INDEX partial_id;
CREATE INDEX partial_distance ON partial ((fp <~> '8f14e45fceea167a'));
DROP INDEX partial_fp;
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
CREATE INDEX partial_fp ON partial USING simhash (fp);
SET enable_sort = off;
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 3 ORDER BY fp <~> '8f14e45fceea167a' $$,
            'Index|Sort');
RESET enable_sort;
SELECT show($$ SELECT id FROM partial WHERE fp <~> '0123456789abcdef' <= 3 $$, 'Index');
-- and a partial index of simhash
DROP INDEX partial_distance, partial_fp;
CREATE INDEX partial_near ON partial USING simhash (fp) WHERE fp <~> '8f14e45fceea167a' <= 3;
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 2 $$);
SELECT show($$ SELECT id FROM partial WHERE fp <~> '8f14e45fceea167a' <= 4 $$);

-- constraint exclusion
SET constraint_exclusion = on;
CREATE TABLE far (id int, fp simhash, CHECK (fp <~> '8f14e45fceea167a' > 10));
INSERT INTO far SELECT id, fp FROM docs WHERE fp <~> '8f14e45fceea167a' > 10;
CREATE INDEX far_fp ON far USING simhash (fp);
ANALYZE far;
SELECT show($$ SELECT * FROM far WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
SELECT show($$ SELECT * FROM far WHERE fp <~> '8f14e45fceea167a' <= 11 $$, 'Index Cond');
CREATE TABLE middle () INHERITS (far);
CREATE INDEX middle_fp ON middle USING simhash (fp);
SELECT show($$ SELECT * FROM far WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
RESET constraint_exclusion;
CREATE TABLE everywhere (id int, fp simhash);
CREATE TABLE nearby (CHECK (fp <~> '8f14e45fceea167a' <= 10)) INHERITS (everywhere);
CREATE TABLE distant (CHECK (fp <~> '8f14e45fceea167a' > 10)) INHERITS (everywhere);
SELECT show($$ SELECT * FROM everywhere WHERE fp <~> '8f14e45fceea167a' <= 3 $$, 'Scan');

-- pruning by a distance
CREATE TABLE rings (id int, fp simhash) PARTITION BY RANGE ((fp <~> '8f14e45fceea167a'));
CREATE TABLE rings1 PARTITION OF rings FOR VALUES FROM (0) TO (10);
CREATE TABLE rings2 PARTITION OF rings FOR VALUES FROM (10) TO (65);
INSERT INTO rings SELECT id, fp FROM docs WHERE fp IS NOT NULL;
CREATE INDEX rings_fp ON rings USING simhash (fp);
ANALYZE rings;
SELECT show($$ SELECT id FROM rings WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
SELECT show($$ SELECT id FROM rings WHERE fp <~> '0123456789abcdef' <= 3 $$);
SELECT show($$ SELECT id FROM rings1 WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
SELECT show($$ SELECT id, n FROM wanted w JOIN rings r ON r.fp <~> '8f14e45fceea167a' <= w.radius $$);
SET constraint_exclusion = on;
SELECT show($$ SELECT id FROM rings2 WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
RESET constraint_exclusion;
-- a partition keeps its own comparison, whatever the partition before it uses
CREATE TABLE mixed (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE mixed1 PARTITION OF mixed FOR VALUES FROM (0) TO (250);
CREATE TABLE mixed2 PARTITION OF mixed FOR VALUES FROM (250) TO (500)
    PARTITION BY RANGE ((fp <~> '8f14e45fceea167a'));
CREATE TABLE mixed2a PARTITION OF mixed2 FOR VALUES FROM (0) TO (10);
CREATE TABLE mixed2b PARTITION OF mixed2 FOR VALUES FROM (10) TO (65);
CREATE TABLE mixed3 PARTITION OF mixed (CHECK (fp <~> '8f14e45fceea167a' > 10)) FOR VALUES FROM (500) TO (501);
CREATE TABLE mixed4 PARTITION OF mixed FOR VALUES FROM (501) TO (100000);
INSERT INTO mixed SELECT id, fp FROM docs WHERE fp IS NOT NULL AND id <> 500;
CREATE INDEX mixed1_fp ON mixed1 USING simhash (fp);
CREATE INDEX mixed4_near ON mixed4 (id) WHERE fp <~> '8f14e45fceea167a' <= 3;
ANALYZE mixed;
SELECT show($$ SELECT id FROM mixed WHERE fp <~> '8f14e45fceea167a' <= 3 $$);
-- the arm of a join clause, which all partitions share, keeps its comparison
SELECT show($$ SELECT id, n FROM wanted w JOIN mixed m
               ON m.fp <~> 'ffffffffffffffff' <= 30 AND id = n + 1 OR id = n + 2 $$, 'Filter');
-- pruning at run time, which uses the parent's clauses
DROP INDEX mixed4_near;
CREATE INDEX mixed4_fp ON mixed4 USING simhash (fp);
SET plan_cache_mode = force_generic_plan;
PREPARE pruned (int) AS SELECT id FROM mixed WHERE fp <~> '8f14e45fceea167a' <= $1;
SELECT plan($$ EXECUTE pruned(3) $$, 'Removed|Index Cond');
DEALLOCATE pruned;
RESET plan_cache_mode;

-- The partitions' clauses share a constant array, and the ball made of it.  Each clause has
-- its own array and radius.
CREATE TABLE sets (id int, sk bigint[]) PARTITION BY RANGE (id);
DO $$
BEGIN
    FOR n IN 0..39 LOOP
        EXECUTE format('CREATE TABLE sets%s PARTITION OF sets FOR VALUES FROM (%s) TO (%s)', n, n * 20, n * 20 + 20);
    END LOOP;
END $$;
CREATE INDEX sets_sk ON sets USING simhash (sk);
ANALYZE sets;
SELECT array_agg(i)::text AS large FROM generate_series(1, 20000) AS i \gset
SELECT (SELECT count(*) FROM sets WHERE sk <%> :'large' <= 0.2) AS n,
    (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'MessageContext') <
        40 * pg_column_size(:'large'::bigint[]) AS less_than_a_copy_for_each_partition;
INSERT INTO sets SELECT n, ARRAY(SELECT i + n % 3 * 10 FROM generate_series(bigint '1', 40 - n % 7) AS i)
FROM generate_series(0, 99) AS n;
SELECT array_agg(i)::text AS a, array_agg(i + 10)::text AS b FROM generate_series(1, 40) AS i \gset
SELECT count(*), found = rows_without_index(query) AS same
FROM (VALUES ('sk <%%> %1$L <= 0.05 OR sk <%%> %1$L <= 0.15 AND id % 2 = 0'),
             ('sk <%%> %1$L <= 0.05 OR sk <%%> %2$L <= 0.05'), ('sk <%%> %1$L <= 0.05 OR sk <%%>> %1$L <= 0.05'),
             ('sk <%%> %2$L <= 0.15 OR sk <%%>> %1$L <= 0.05')) AS v (condition),
    format('SELECT id FROM sets WHERE ' || replace(condition, '% 2', '%% 2'), :'a', :'b') AS query,
    rows_of(query) AS found, unnest(found)
GROUP BY condition, found, query ORDER BY condition;

-- Planning does not read more with more pruned partitions.  It does not read more with
-- other objects of the database that compare distances.
CREATE TABLE many (id int PRIMARY KEY, fp simhash) PARTITION BY RANGE (id);
DO $$
BEGIN
    FOR n IN 1..100 LOOP
        EXECUTE format(
            'CREATE TABLE many%s PARTITION OF many (CHECK (hamming_distance(fp, fp) = 0)) FOR VALUES FROM (%s) TO (%s)',
                       n, n, n + 1);
        EXECUTE format('CREATE VIEW view%s AS SELECT * FROM docs WHERE fp <~> fingerprint(%s) <= 3', n, n);
    END LOOP;
END $$;
CREATE INDEX many7_fp ON many7 USING simhash (fp);
CREATE FUNCTION blocks_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    result int;
BEGIN
    FOR try IN 1..5 LOOP  -- the first fills caches
        EXECUTE 'EXPLAIN (BUFFERS, FORMAT JSON) ' || query INTO plan;
        result := least(result, (plan->0->'Planning'->>'Shared Hit Blocks')::int
                                + (plan->0->'Planning'->>'Shared Read Blocks')::int);
    END LOOP;
    RETURN result;
END $$;
CREATE FUNCTION blocks_read_more(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE rewritten int := blocks_read(query);
BEGIN
    SET LOCAL simhash.enable_rewrite = off;
    RETURN rewritten - blocks_read(query);
END $$;
SELECT string_agg(format('fp <~> %L <= 3', fingerprint(n)), ' OR ') AS arms FROM generate_series(1, 20) AS n \gset
SELECT blocks_read_more(format('SELECT FROM many WHERE id = 6 AND (%s)', :'arms')) <= 0 AS none_for_pruned;
SELECT blocks_read_more(format('SELECT FROM many WHERE id = 7 AND (%s)', :'arms')) <= 40 AS two_a_comparison;
SELECT blocks_read_more(format('SELECT FROM docs WHERE %s', :'arms')) <= 40 AS two_a_comparison;

-- the setting simhash.enable_rewrite
SET simhash.enable_rewrite = off;
SELECT plan($$ SELECT id FROM docs WHERE fp <~> fingerprint(3) <= 2 $$);
SELECT plan($$ SELECT id FROM docs WHERE simhash_within(fp, fingerprint(3), 2) $$);
RESET simhash.enable_rewrite;
SET simhash.no_such_setting = on;

--
-- Estimates: never NULL, never out of range, and accurate enough
--
CREATE TABLE skewed (fp simhash);
INSERT INTO skewed SELECT CASE n % 10 WHEN 0 THEN fingerprint(0) WHEN 1 THEN NULL WHEN 2 THEN fingerprint(1)
    ELSE fingerprint(n) END FROM generate_series(1, 10000) AS n;
CREATE INDEX skewed_fp ON skewed USING simhash (fp);
-- without statistics
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(0) <= 3 $$, 'Plan Rows') BETWEEN 1 AND 100 AS few;
ANALYZE skewed;
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(0) <= 3 $$, 'Plan Rows')
           BETWEEN 900 AND 1100 AS a_tenth;
SELECT explained($$ SELECT FROM skewed WHERE fp <@ simhash_ball(fingerprint(0), 3) $$, 'Plan Rows')
           BETWEEN 900 AND 1100 AS a_tenth;
SELECT explained($$ SELECT FROM skewed WHERE fp <@ simhash_ball(fingerprint(0), 3) $$, 'Plan Rows')
           BETWEEN 900 AND 1100 AS a_tenth;
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(-1) <= 3 $$, 'Plan Rows') AS few;
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(-1) <= 31 $$, 'Plan Rows')
           BETWEEN 3000 AND 6000 AS about_half;
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(-1) <= 64 $$, 'Plan Rows')
           BETWEEN 8900 AND 9100 AS not_null;
SELECT explained($$ SELECT FROM skewed WHERE fp <~> fingerprint(-1) <= -1 $$, 'Plan Rows') AS none;
-- two groups of a thousand equal rows, all other rows distinct
SELECT explained($$ SELECT FROM skewed a JOIN skewed b ON a.fp <~> b.fp <= 3 $$, 'Plan Rows')
           BETWEEN 1500000 AND 2500000 AS two_million;
SELECT explained($$ SELECT FROM skewed a WHERE EXISTS (SELECT FROM skewed b WHERE a.fp <~> b.fp <= 3) $$, 'Plan Rows')
           BETWEEN 1 AND 10000 AS in_range;
SELECT explained(
    $$ SELECT FROM skewed a WHERE NOT EXISTS (SELECT FROM skewed b WHERE a.fp <~> b.fp <= 3) $$, 'Plan Rows')
        BETWEEN 1 AND 10000 AS in_range;

-- The estimators read only fingerprints and balls, even for another operator that uses
-- them.
CREATE FUNCTION public.planner_hostile(int, int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';
CREATE FUNCTION public.planner_hostile(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 = 0; END';
CREATE FUNCTION public.planner_hostile(simhash_ball, text)
    RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $2 = $1::text; END';
CREATE OPERATOR <<>> (LEFTARG = int, RIGHTARG = int, FUNCTION = public.planner_hostile,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity);
CREATE OPERATOR <<>> (RIGHTARG = int, FUNCTION = public.planner_hostile, RESTRICT = simhash_selectivity);
CREATE OPERATOR <<>> (LEFTARG = simhash_ball, RIGHTARG = text, FUNCTION = public.planner_hostile,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity);
SELECT explained($$ SELECT FROM docs WHERE id <<>> 42 $$, 'Plan Rows') BETWEEN 1 AND 685 AS in_range;
SELECT explained($$ SELECT FROM docs WHERE <<>> id $$, 'Plan Rows') BETWEEN 1 AND 685 AS in_range;
SELECT explained($$ SELECT FROM docs WHERE simhash_ball(fp, kind) <<>> '42' $$, 'Plan Rows')
           BETWEEN 1 AND 685 AS in_range;
SELECT explained($$ SELECT FROM docs d JOIN docs e ON d.id <<>> e.id $$, 'Plan Rows')
           BETWEEN 1 AND 685 * 685 AS in_range;
SET client_min_messages = warning;
DROP FUNCTION public.planner_hostile(int), public.planner_hostile(int, int),
    public.planner_hostile(simhash_ball, text) CASCADE;
RESET client_min_messages;

--
-- The first query of a session: the library is not loaded yet
--
\c -
SET search_path = planner, public;
SELECT settle() \g /dev/null
SELECT plan($$ SELECT a.id, b.id FROM docs a JOIN docs b ON hamming_distance(a.fp, b.fp) <= 2 $$);
-- a setting made before the library is loaded stays in effect
\c -
SET search_path = planner, public;
SET simhash.enable_rewrite = off;
SELECT settle() \g /dev/null
SELECT plan($$ SELECT id FROM docs WHERE fp <~> '0123456789abcdef' <= 2 $$);
SHOW simhash.enable_rewrite;
\c -
SET search_path = planner, public;
SELECT settle() \g /dev/null
CREATE INDEX parts_fp ON parts USING simhash (fp);
\c -
SET search_path = planner, public;
SELECT settle() \g /dev/null
SELECT plan($$ SELECT id, n FROM wanted w JOIN parts p ON p.fp <~> w.fp <= radius $$);
\c -
SET search_path = planner, public;
SELECT settle() \g /dev/null
SET plan_cache_mode = force_generic_plan;
PREPARE first (simhash, int) AS SELECT id FROM everything WHERE fp <~> $1 <= $2;
EXPLAIN (COSTS OFF) EXECUTE first(NULL, NULL);
-- as for the first query of a session, so for the second one
SELECT $$ SELECT id FROM everything WHERE fp <~> '0123456789abcdef' <= 2 $$ AS union_all,
    $$ WITH a AS MATERIALIZED (TABLE docs) SELECT FROM a JOIN a b ON a.fp <~> b.fp <= 2 AND a.id < b.id $$ AS ctes,
    $$ SELECT FROM plain a JOIN plain b ON a.fp <~> b.fp BETWEEN 1 AND 2 $$ AS tables \gset
\c -
SET search_path = planner, public;
SELECT whole_plan(:'union_all') AS first \gset
SELECT whole_plan(:'union_all') = :'first' AS same;
\c -
SET search_path = planner, public;
SELECT whole_plan(:'ctes') AS first \gset
SELECT whole_plan(:'ctes') = :'first' AS same;
\c -
SET search_path = planner, public;
SELECT whole_plan(:'tables') AS first \gset
SELECT whole_plan(:'tables') = :'first' AS same;

-- The extension's schema is outside the search path.  The extension is dropped and
-- created again, and the session's caches of the old one do no harm.  (This drops the
-- objects that the tests share, so this test is the last.)
CREATE SCHEMA planner_elsewhere;
ALTER EXTENSION simhash SET SCHEMA planner_elsewhere;
\c -
SET search_path = pg_catalog;
SELECT planner.settle() \g /dev/null
SELECT public.plan(
    $$ SELECT a.id, b.id FROM planner.docs a JOIN planner.docs b ON a.fp OPERATOR(planner_elsewhere.<~>) b.fp < 2 $$);
EXPLAIN (COSTS OFF) SELECT id FROM planner.docs WHERE planner_elsewhere.hamming_distance(fp, '0123456789abcdef') <= 2;
SET client_min_messages = warning;
DROP EXTENSION simhash CASCADE;
CREATE EXTENSION simhash SCHEMA public;
SET search_path = planner, public;
CREATE TABLE again (id int, fp simhash);
INSERT INTO again SELECT n, n::bigint::simhash FROM generate_series(1, 100) AS n;
CREATE INDEX again_fp ON again USING simhash (fp);
EXPLAIN (COSTS OFF) SELECT id FROM again WHERE fp <~> '0123456789abcdef' <= 2;
SELECT id FROM again WHERE fp <~> '0000000000000010' <= 1 ORDER BY id;

DROP SCHEMA planner, planner_elsewhere CASCADE;
DROP ROLE regress_simhash_reader;
