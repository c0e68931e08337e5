--
-- GiST: fingerprints and other columns in one index.  Compares the rows with those of a
-- sequential scan, and of the access method simhash, on the same histories.  Needs
-- btree_gist and pageinspect from PostgreSQL's contrib modules.
--
CREATE SCHEMA gist_test;
SET search_path = gist_test, public;
SET client_min_messages = error;
SET work_mem = '64MB';
SET max_parallel_workers_per_gather = 0;
CREATE EXTENSION btree_gist;
CREATE EXTENSION pageinspect;

-- the key type that the index stores, which users cannot use
SELECT '(ffffffffffffffff,0123456789abcdef)'::simhash_gist_key;
SELECT '(ffffffffffffffff,0123456789abcdef,3)'::simhash_ball_gist_key;
CREATE TABLE few (fp simhash);
INSERT INTO few VALUES ('0123456789abcdef'), ('fedcba9876543210'), (NULL);
CREATE INDEX few_fp ON few USING gist (fp);
CREATE INDEX few_ball ON few USING gist (simhash_ball(fp, 3));
-- (pageinspect up to 15.3 prints a key as a value of the column's type)
SELECT index, fp, itemlen, current_setting('server_version_num')::integer < 150004 OR
       keys LIKE format('%%(ffffffffffffffff,%s%s)%%', fp, CASE index WHEN 'few_ball' THEN ',3' END) AS key
FROM unnest('{few_fp,few_ball}'::text[]) AS index, gist_page_items(get_raw_page(index, 0), index) AS item
    JOIN few ON few.ctid = item.ctid
WHERE fp IS NOT NULL ORDER BY index, fp;
SELECT property, pg_index_column_has_property('few_fp', 1, property) AS fingerprint,
       pg_index_column_has_property('few_ball', 1, property) AS ball
FROM unnest('{distance_orderable,returnable,search_array,search_nulls}'::text[]) AS property;

--
-- Three ways to find the same rows: a table with GiST indexes, a table with the same
-- rows and ctids and an index of the access method, and a sequential scan.
--
CREATE TABLE shapes AS
SELECT shape, grown, shape || CASE WHEN grown THEN '_grown' ELSE '_built' END AS tab
FROM unnest('{uniform,skewed,clustered,equal,mixed}'::text[]) AS shape,
     unnest('{false,true}'::boolean[]) AS grown;
-- Run a command for each table.  %1$s is the table's name, %2$L its shape.
CREATE FUNCTION everywhere(command text, judges text[] DEFAULT '{_g,_s}') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s record;
BEGIN
    FOR s IN SELECT tab || judge AS tab, shape FROM shapes, unnest(judges) AS judge LOOP
        EXECUTE format(command, s.tab, s.shape);
    END LOOP;
END $$;
CREATE FUNCTION add_rows(first integer, last integer, judges text[] DEFAULT '{_g,_s}') RETURNS void LANGUAGE sql AS $$
    SELECT everywhere(format('INSERT INTO %%1$s SELECT i, CASE WHEN i %%%% 19 > 0 THEN i * i %%%% 5 END,
        CASE WHEN i %%%% 20 > 0 THEN fp_of(%%2$L, i) END FROM generate_series(%s, %s) AS i', first, last), judges) $$;
-- A large first column: a page holds about a dozen entries, and the tree is high.
CREATE FUNCTION filler() RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(md5(i::text), '') FROM generate_series(1, 16) AS i $$;
CREATE FUNCTION add_indexes(
    grown boolean, g text DEFAULT '_g', g_column text DEFAULT 'fp', s text DEFAULT '_s', s_column text DEFAULT 'fp')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tab text;
BEGIN
    FOR tab IN SELECT shapes.tab FROM shapes WHERE shapes.grown = add_indexes.grown LOOP
        EXECUTE format(CASE WHEN grown THEN 'CREATE INDEX ON %1$s USING gist ((gist_test.filler()), tenant, %2$s);'
            ELSE 'CREATE INDEX ON %1$s USING gist (tenant, %2$s); CREATE INDEX ON %1$s USING gist (%2$s);' END ||
            'CREATE INDEX ON %3$s USING simhash (%4$s)', tab || g, g_column, tab || s, s_column);
    END LOOP;
END $$;

CREATE TABLE queries (n integer, tenant integer, q simhash, p simhash, k integer, lim integer);
CREATE FUNCTION ask(tab regclass, times integer DEFAULT 1) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    stored simhash[] := some_of(tab, 100);
BEGIN
    TRUNCATE queries;
    INSERT INTO queries
        SELECT n, n % 6, CASE n % 4 WHEN 0 THEN fp WHEN 1 THEN flip(fp, n % 14, n) WHEN 2 THEN random_fp(n, 2)
                         WHEN 3 THEN flip(fp, 3, n) END, flip(fp, n % 20, -n), k, n * n % 40
        FROM (SELECT (row_number() OVER ())::integer AS n, k
              FROM unnest('{-1,0,1,2,3,4,6,9,14,20,33,64}'::integer[]) AS k, generate_series(1, times)) AS r,
             LATERAL (SELECT stored[1 + (n * 7) % cardinality(stored)] AS fp) AS s;
    ANALYZE queries;
END $$;
-- Return the rows of a table that match a condition for each query, with one type of
-- scan.
CREATE FUNCTION found(tab text, condition text, scan text) RETURNS TABLE (n integer, at tid) LANGUAGE plpgsql
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off AS $$
DECLARE
    query text := format(
        'SELECT n, t.ctid FROM queries, LATERAL (SELECT t.ctid FROM %s AS t WHERE %s OFFSET 0) AS t', tab, condition);
BEGIN
    PERFORM set_config('enable_seqscan', (scan ~ 'Seq')::text, true),
            set_config('enable_indexscan', (scan ~ 'Index Scan using')::text, true),
            set_config('enable_bitmapscan', (scan ~ 'Bitmap')::text, true);
    ASSERT whole_plan(query) ~ scan, whole_plan(query);
    RETURN QUERY EXECUTE query;
END $$;
-- Return the number of rows in which each way differs, and the number of rows.
CREATE FUNCTION judge(
    tab text, by_index text, by_eye text, shared boolean DEFAULT true, OUT index bigint, OUT bitmap bigint,
    OUT other bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE eye AS SELECT * FROM found(tab || '_g', by_eye, 'Seq Scan on ' || tab || '_g');
    rows := (SELECT count(*) FROM eye);
    index := (differing(
        format('SELECT * FROM found(%L, %L, %L)', tab || '_g', by_index, 'Index Scan using ' || tab || '_g_\w*fp_idx'),
        'TABLE eye')).differing;
    bitmap := (differing(
        format('SELECT * FROM found(%L, %L, %L)', tab || '_g', by_index,
               'Bitmap Index Scan on ' || tab || '_g_\w*fp_idx'), 'TABLE eye')).differing;
    IF shared THEN
        other := (differing(
            format('SELECT * FROM found(%L, %L, %L)', tab || '_s', by_index, 'Index Scan using ' || tab || '_s_fp_idx'),
            'TABLE eye')).differing;
    END IF;
    DROP TABLE eye;
END $$;
-- Check a scan that returns the nearest rows first: distances in the order of a sort,
-- and each row once.  Ties may come in any order.
CREATE FUNCTION nearest(tab text, condition text, OUT wrong bigint, OUT rows bigint) LANGUAGE plpgsql
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    query text := format(
        'SELECT n, t.* FROM queries, LATERAL (SELECT t.ctid AS at, t.fp <~> q AS d FROM %s AS t WHERE %s', tab,
        condition);
    ordered text := query || ' ORDER BY t.fp <~> q LIMIT lim) AS t';
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true);
    ASSERT whole_plan(ordered) ~ (
        ' Index (Only )?Scan using ' || tab || '_\w*fp_idx[^\n]*\n( *Index Cond: [^\n]*\n)? *Order By: '),
        whole_plan(ordered);
    EXECUTE 'CREATE TEMP TABLE i AS SELECT *, row_number() OVER () AS r FROM (' || ordered || ') AS s';
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true);
    EXECUTE 'CREATE TEMP TABLE e AS SELECT *, row_number() OVER (PARTITION BY n ORDER BY d) AS r FROM (' || query
        || ') AS t) AS s';
    SELECT (SELECT count(*) FROM (SELECT n, row_number() OVER (PARTITION BY n ORDER BY i.r) AS r, d FROM i) AS i
            FULL JOIN (SELECT n, r, d FROM e JOIN queries USING (n) WHERE r <= lim) AS e USING (n, r)
            WHERE i.d IS DISTINCT FROM e.d)
         + (SELECT count(*) FROM (SELECT n, at, d FROM i EXCEPT ALL SELECT n, at, d FROM e) AS s),
         (SELECT count(*) FROM i) INTO wrong, rows;
    DROP TABLE i, e;
END $$;
CREATE FUNCTION verdict(OUT index bigint, OUT bitmap bigint, OUT other bigint, OUT nearest bigint, OUT rows bigint)
    LANGUAGE plpgsql AS $$
DECLARE
    s record;
    j record;
    o record;
BEGIN
    index := 0; bitmap := 0; other := 0; nearest := 0; rows := 0;
    FOR s IN SELECT * FROM shapes LOOP
        PERFORM ask((s.tab || '_g')::regclass);
        SELECT sum(c.index) AS index, sum(c.bitmap) AS bitmap, sum(c.other) AS other,
               sum(c.rows) AS rows INTO j FROM (VALUES
            ('t.fp <~> q <= k', '(t.fp <~> q) + 0 <= k', true),
            ('t.fp <@ simhash_ball(q, k) AND t.fp <@ simhash_ball(p, k)',
             '(t.fp <~> q) + 0 <= k AND (t.fp <~> p) + 0 <= k', true),
            ('t.fp = q', 't.fp::bigint = q::bigint', true),
            ('n < 2 AND t.fp IS NULL', 'n < 2 AND num_nulls(t.fp) = 1', true),
            ('n < 2 AND t.fp IS NOT NULL', 'n < 2 AND num_nulls(t.fp) = 0', true),
            ('t.tenant = queries.tenant AND t.fp <~> q <= k', 't.tenant + 0 = queries.tenant AND (t.fp <~> q) + 0 <= k',
             false),
            ('t.tenant IS NULL AND t.fp = q', 'num_nulls(t.tenant) = 1 AND t.fp::bigint = q::bigint', false),
            ('t.tenant < n % 4 AND t.fp IS NULL', 't.tenant + 0 < n % 4 AND num_nulls(t.fp) = 1', false)
        ) AS v (by_index, by_eye, shared), LATERAL judge(s.tab, by_index, by_eye, shared) AS c;
        SELECT sum(n.wrong) AS wrong, sum(n.rows) AS rows INTO o
        FROM unnest(ARRAY['true', 't.tenant = queries.tenant',
            't.fp <@ simhash_ball(p, 20)', 't.tenant = queries.tenant AND t.fp <@ simhash_ball(q, k)']) AS condition,
            LATERAL nearest(s.tab || '_g', condition) AS n;
        index := index + j.index; bitmap := bitmap + j.bitmap; other := other + j.other; nearest := nearest + o.wrong;
        rows := rows + j.rows + o.rows;
    END LOOP;
END $$;
SELECT everywhere('CREATE TABLE %s (id integer, tenant integer, fp simhash) WITH (autovacuum_enabled = off)');
SELECT add_indexes(true);
SELECT add_rows(1, 600);
SELECT add_indexes(false);
SELECT 'VACUUM ANALYZE ' || string_agg(tab || judge, ', ') AS vacuum
FROM shapes, unnest('{_g,_s}'::text[]) AS judge \gset
:vacuum;
-- 12 conditions on each of 10 tables; some match nothing where all rows are equal
SELECT * FROM verdict();
-- deletions and insertions
SELECT everywhere('DELETE FROM %s WHERE hashint4(id) %% 3 = 0');
SELECT * FROM verdict();
:vacuum;
SELECT add_rows(601, 750);
SELECT everywhere(
    'UPDATE %s SET fp = flip(fp, 1 + id %% 5, id), tenant = (tenant + 1) %% 5 WHERE id %% 11 = 0 AND fp IS NOT NULL');
SELECT * FROM verdict();
:vacuum;
SELECT * FROM verdict();
-- the verdict detects missing rows
SELECT index > 0 AS index, bitmap > 0 AS bitmap, other > 0 AS other
FROM judge('mixed_built', 't.fp <~> q <= k', '(t.fp <~> q) + 0 <= k + 1');

--
-- Three ways to find balls: GiST, the access method on a column of the same balls in
-- the same table, and a sequential scan that compares distances with radii.
--
CREATE FUNCTION radius_of(id integer)
    RETURNS integer LANGUAGE sql IMMUTABLE RETURN CASE id % 13 WHEN 12 THEN 64 ELSE id % 13 - 1 END;
SELECT everywhere(
    'CREATE TABLE %s (id integer, tenant integer, fp simhash,
    ball simhash_ball GENERATED ALWAYS AS (simhash_ball(fp, radius_of(id))) STORED,
    ball_s simhash_ball GENERATED ALWAYS AS (simhash_ball(fp, radius_of(id))) STORED)
    WITH (autovacuum_enabled = off)', '{_b}');
-- Return only the balls, for each query.
CREATE FUNCTION found_only(tab text, condition text) RETURNS TABLE (n integer, ball simhash_ball) LANGUAGE plpgsql
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_indexscan = on AS $$
DECLARE
    query text := format(
        'SELECT n, t.ball FROM queries, LATERAL (SELECT t.ball FROM %s AS t WHERE %s OFFSET 0) AS t', tab, condition);
BEGIN
    ASSERT whole_plan(query) ~ ('Index Only Scan using ' || tab || '_\w*ball_idx'), whole_plan(query);
    RETURN QUERY EXECUTE query;
END $$;
CREATE FUNCTION judge_balls(
    tab text, by_index text, by_eye text, shared boolean, OUT index bigint, OUT bitmap bigint, OUT index_only bigint,
    OUT other bigint, OUT other_bitmap bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE eye AS SELECT * FROM found(tab, by_eye, 'Seq Scan on ' || tab);
    rows := (SELECT count(*) FROM eye);
    index := (differing(
        format('SELECT * FROM found(%L, %L, %L)', tab, by_index, 'Index Scan using ' || tab || '_\w*ball_idx'),
        'TABLE eye')).differing;
    bitmap := (differing(
        format('SELECT * FROM found(%L, %L, %L)', tab, by_index, 'Bitmap Index Scan on ' || tab || '_\w*ball_idx'),
        'TABLE eye')).differing;
    index_only := (differing(
        format('SELECT * FROM found_only(%L, %L)', tab, by_index),
        format('SELECT n, ball FROM eye JOIN %s AS t ON t.ctid = at', tab))).differing;
    IF shared THEN
        by_index := replace(by_index, 't.ball', 't.ball_s');
        other := (differing(
            format('SELECT * FROM found(%L, %L, %L)', tab, by_index, 'Index Scan using ' || tab || '_ball_s_idx'),
            'TABLE eye')).differing;
        other_bitmap := (differing(
            format('SELECT * FROM found(%L, %L, %L)', tab, by_index, 'Bitmap Index Scan on ' || tab || '_ball_s_idx'),
            'TABLE eye')).differing;
    END IF;
    DROP TABLE eye;
END $$;
CREATE FUNCTION verdict_on_balls(
    OUT index bigint, OUT bitmap bigint, OUT index_only bigint, OUT other bigint, OUT other_bitmap bigint,
    OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
    b text;
    j record;
BEGIN
    index := 0; bitmap := 0; index_only := 0; other := 0; other_bitmap := 0; rows := 0;
    FOR b IN SELECT tab || '_b' FROM shapes LOOP
        PERFORM ask(b::regclass, 2);
        SELECT sum(c.index) AS index, sum(c.bitmap) AS bitmap, sum(c.index_only) AS index_only, sum(c.other) AS other,
               sum(c.other_bitmap) AS other_bitmap, sum(c.rows) AS rows INTO j FROM (VALUES
            ('t.ball =~= simhash_ball(q, k)', '(t.fp <~> q) + 0 <= least(k, radius_of(t.id))', true),
            ('t.ball =~= simhash_ball(q, k) AND t.ball =~= simhash_ball(p, 20)',
             '(t.fp <~> q) + 0 <= least(k, radius_of(t.id)) AND (t.fp <~> p) + 0 <= least(20, radius_of(t.id))', true),
            ('t.ball = simhash_ball(q, n / 4)', 't.fp::bigint = q::bigint AND radius_of(t.id) = n / 4', false),
            ('t.tenant = queries.tenant AND t.ball =~= simhash_ball(q, k)',
             't.tenant + 0 = queries.tenant AND (t.fp <~> q) + 0 <= least(k, radius_of(t.id))', false)
        ) AS v (by_index, by_eye, shared), LATERAL judge_balls(b, by_index, by_eye, shared) AS c;
        index := index + j.index; bitmap := bitmap + j.bitmap; index_only := index_only + j.index_only;
        other := other + j.other; other_bitmap := other_bitmap + j.other_bitmap; rows := rows + j.rows;
    END LOOP;
END $$;
SELECT add_indexes(true, '_b', 'ball', '_b', 'ball_s');
SELECT add_rows(1, 600, '{_b}');
SELECT add_indexes(false, '_b', 'ball', '_b', 'ball_s');
SELECT 'VACUUM ANALYZE ' || string_agg(tab || '_b', ', ') AS vacuum FROM shapes \gset
:vacuum;
SELECT * FROM verdict_on_balls();
-- updates of centers and radii, and deletions
SELECT everywhere(
    'UPDATE %s SET fp = flip(fp, id %% 5, id), id = id + 1, tenant = (tenant + 1) %% 5 WHERE id %% 7 = 0', '{_b}');
SELECT everywhere('DELETE FROM %s WHERE hashint4(id) %% 3 = 0', '{_b}');
SELECT * FROM verdict_on_balls();
:vacuum;
SELECT add_rows(601, 750, '{_b}');
SELECT * FROM verdict_on_balls();
:vacuum;
SELECT * FROM verdict_on_balls();
SELECT index > 0 AS index, bitmap > 0 AS bitmap, index_only > 0 AS index_only, other > 0 AS other,
       other_bitmap > 0 AS other_bitmap
FROM judge_balls(
    'mixed_built_b', 't.ball =~= simhash_ball(q, k)', '(t.fp <~> q) + 0 <= least(k, radius_of(t.id) + 1)', true);

--
-- Plans
--
CREATE TABLE docs AS
    SELECT i AS id, i % 10 AS tenant, flip(random_fp(i / 4), i % 4, i) AS fp FROM generate_series(1, 20000) AS i;
CREATE INDEX docs_tenant_fp ON docs USING gist (tenant, fp);
VACUUM ANALYZE docs;
SELECT plan($$SELECT id FROM docs WHERE tenant = 7 AND fp <~> '0123456789abcdef' <= 3$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 7 ORDER BY fp <~> '0123456789abcdef' LIMIT 10$$);
SELECT plan($$SELECT id FROM docs
              WHERE tenant = 7 AND fp <~> '0123456789abcdef' < 8 ORDER BY fp <~> '0123456789abcdef' LIMIT 10$$);
SELECT plan($$SELECT tenant, fp FROM docs WHERE tenant = 7 AND simhash_within(fp, '0123456789abcdef', 3)$$);
SELECT plan($$SELECT b.id FROM docs AS a JOIN docs AS b ON a.tenant = b.tenant AND a.fp <~> b.fp <= 3 WHERE a.id = 1$$);
-- ordered by one distance and by several: rows and ctids, backward, locked and deleted
SELECT tab, condition, order_differs(tab, condition, $$fp <~> '0123456789abcdef'$$) AS all_rows,
    order_differs(tab, condition, $$fp <~> '0123456789abcdef'$$, 20) AS first_rows,
    order_differs(tab, condition, $$fp <~> '0123456789abcdef', fp <~> random_fp(3)$$, 20) AS by_two
FROM unnest('{docs,mixed_built_g}'::regclass[]) AS tab,
     unnest('{true,tenant = 3,tenant = 3 AND fp <~> random_fp(7) <= 30,fp IS NULL}'::text[]) AS condition;
-- index-only scans return the values of the table
SELECT * FROM differing(
    'SELECT tenant, fp FROM docs WHERE tenant IN (3, 7) AND fp <~> random_fp(100) <= 33',
    'SELECT tenant, fp FROM docs WHERE tenant IN (3, 7) AND (fp <~> random_fp(100)) + 0 <= 33');

-- The cost includes leaves that a search visits without a match.  So of two indexes,
-- the access method's serves a search in all rows.  No index serves a search that would
-- visit all leaves.
CREATE TABLE twice AS SELECT i AS id, i % 100 AS tenant, random_fp(i) AS fp FROM generate_series(1, 50000) AS i;
CREATE INDEX twice_gist ON twice USING gist (tenant, fp);
CREATE INDEX twice_simhash ON twice USING simhash (fp);
ANALYZE twice;
SELECT plan($$SELECT id FROM twice WHERE fp <~> '0123456789abcdef' <= 3$$);
SELECT plan($$SELECT id FROM twice WHERE fp <@ ANY (ARRAY[simhash_ball('0123456789abcdef', 3)])$$, 'Scan');
SELECT plan($$SELECT id FROM twice WHERE tenant = 7 ORDER BY fp <~> '0123456789abcdef' LIMIT 10$$);
SELECT plan($$SELECT id FROM twice ORDER BY fp <~> '0123456789abcdef' LIMIT 10$$);
DROP INDEX twice_simhash;
SELECT plan($$SELECT id FROM twice WHERE fp <~> '0123456789abcdef' <= 20$$);
SELECT explained($$SELECT id FROM twice WHERE fp <@ simhash_ball('0123456789abcdef', 1)$$, 'Total Cost') <
       explained($$SELECT id FROM twice WHERE fp <@ simhash_ball('0123456789abcdef', 3)$$,
                 'Total Cost') AS smaller_radius,
       explained($$SELECT id FROM twice WHERE tenant = 7 AND fp <@ simhash_ball('0123456789abcdef', 3)$$,
                 'Total Cost') <
       explained($$SELECT id FROM twice WHERE fp <@ simhash_ball('0123456789abcdef', 3)$$, 'Total Cost') AS one_tenant;
SELECT plan($$SELECT id FROM twice WHERE fp <@ ANY (ARRAY[simhash_ball('0123456789abcdef', 1),
    simhash_ball('fedcba9876543210', 1)])$$, 'Scan');
SELECT plan($$SELECT id FROM twice WHERE fp <@ ANY (ARRAY[simhash_ball('0123456789abcdef', 20)])$$, 'Scan');
-- equal balls have the same center, so a large radius does not raise the cost
CREATE TABLE wide AS SELECT simhash_ball(fp, 20) AS ball FROM twice;
CREATE INDEX wide_ball ON wide USING gist (ball);
ANALYZE wide;
SELECT plan($$SELECT ball FROM wide WHERE ball = simhash_ball(random_fp(7), 20)$$);
SELECT plan($$SELECT ball FROM wide WHERE ball =~= simhash_ball(random_fp(7), 20)$$);

--
-- Built in order of the fingerprints, and by insertion
--
CREATE FUNCTION built(options text, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    EXECUTE format('CREATE INDEX docs_fp ON docs USING gist (fp) %s', options);
    SELECT sum(d.rows), sum(d.differing) INTO rows, differing
    FROM (SELECT fp, id % 12 AS k FROM docs WHERE id % 1000 = 0) AS q,
         differing(format('SELECT ctid FROM docs WHERE fp <~> %L <= %s', fp, k),
                   format('SELECT ctid FROM docs WHERE (fp <~> %L) + 0 <= %s', fp, k)) AS d;
    DROP INDEX docs_fp;
END $$;
SELECT options, b.*
FROM unnest('{"",WITH (buffering = on),WITH (buffering = off)}'::text[]) AS options, LATERAL built(options) AS b;

--
-- Check how well a page groups similar entries.
--
-- The measure is the number of pages that a hundred searches within 1 bit read, of an
-- index of 110 to 140 pages.  The searches match no row, so they read pages of the
-- index only.  Measured: 9 or 10 pages a search, and 12 in a small tenant next to a
-- large one.
-- With random splits: 32 pages for rows in order, as in a build, and otherwise all
-- pages.  With splits in the middle: 13 and 21.  With a constant penalty: all pages of
-- an index filled by insertion.  And 21 in the small tenant if keys that agree in few
-- bits are not avoided.
--
CREATE TABLE built AS SELECT CASE WHEN id % 10 > 0 THEN 0 ELSE 1 + id / 10 % 20 END AS tenant, fp AS fp_t, fp FROM docs;
CREATE TABLE grown (LIKE built);
CREATE FUNCTION add_gist(tab text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'CREATE INDEX %1$s_fp ON %1$s USING gist (fp); CREATE INDEX %1$s_ball ON %1$s USING gist (simhash_ball(fp, 3));
        CREATE INDEX ON %1$s USING gist (tenant, fp_t)', tab);
END $$;
SELECT add_gist('built'), add_gist('grown');
INSERT INTO grown TABLE built;
CREATE TABLE asked AS SELECT 1 + i % 20 AS tenant, random_fp(i, 1) AS fp FROM generate_series(1, 100) AS i;
VACUUM ANALYZE built, grown, asked;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT tab, condition, CASE WHEN pages <= most * 100 THEN 'few' ELSE pages::text END AS pages
FROM (VALUES ('built', 't.fp <~> asked.fp <= 1', 12), ('grown', 't.fp <~> asked.fp <= 1', 15),
             ('built', 'simhash_ball(t.fp, 3) =~= simhash_ball(asked.fp, 1)', 13),
             ('grown', 'simhash_ball(t.fp, 3) =~= simhash_ball(asked.fp, 1)', 15),
             ('grown', 't.tenant = asked.tenant AND t.fp_t <~> asked.fp <= 1', 17)) AS v (tab, condition, most),
     LATERAL pages_read(
         format('SELECT FROM asked, LATERAL (SELECT FROM %s AS t WHERE %s OFFSET 0) AS s', tab, condition)) AS pages;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- A build sorts: its leaves are in the order of the Gray code, here shown by the first
-- digit.  Leaves of an index filled by insertion are in the order of the page splits.
CREATE FUNCTION first_digits(index text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(digit, '' ORDER BY block) FILTER (WHERE digit IS DISTINCT FROM before)
    FROM (SELECT block, digit, lag(digit) OVER (ORDER BY block) AS before
          FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::integer - 1) AS block,
               get_raw_page(index, block) AS page,
               LATERAL (SELECT min(left(fp::text, 1)) AS digit
                        FROM built WHERE ctid = ANY (ARRAY(SELECT ctid FROM gist_page_items_bytea(page)))) AS k
          WHERE (gist_page_opaque_info(page)).flags @> '{leaf}') AS leaves $$;
SELECT index, CASE WHEN length(digits) > 50 THEN 'any' ELSE digits END AS digits
FROM unnest('{built_fp,built_ball,grown_fp,grown_ball}'::text[]) AS index, first_digits(index) AS digits;
-- A split separates two groups of equal fingerprints, of 40 and 60 percent.
CREATE TABLE parts (fp simhash);
CREATE INDEX parts_fp ON parts USING gist (fp);
INSERT INTO parts
SELECT CASE WHEN i % 5 < 2 THEN '0000000000000000' ELSE 'ffffffffffffffff' END::simhash
FROM generate_series(1, 400) AS i;
SELECT count(*) > 1 AS split, max(fingerprints) AS fingerprints
FROM (SELECT count(DISTINCT fp) AS fingerprints
      FROM generate_series(1, pg_relation_size('parts_fp') / current_setting('block_size')::integer - 1) AS block,
           LATERAL gist_page_items_bytea(get_raw_page('parts_fp', block)) AS item JOIN parts ON parts.ctid = item.ctid
      GROUP BY block) AS leaves;

--
-- No two rows of one tenant within 3 bits
--
CREATE TABLE apart (id integer, tenant integer, fp simhash, radius integer DEFAULT 3,
    CONSTRAINT apart_in_tenant EXCLUDE USING gist (tenant WITH =, simhash_ball(fp, radius) WITH =~=));
INSERT INTO apart
VALUES (1, 1, '0123456789abcdef'), (2, 2, '0123456789abcdef'), (3, 1, '0123456789abcd10'), (4, 1, NULL),
       (5, NULL, '0123456789abcdef');
INSERT INTO apart VALUES (6, 1, '0123456789abcde8');
INSERT INTO apart VALUES (7, 2, '0123456789abcde8'), (8, 3, '0123456789abcde8') ON CONFLICT DO NOTHING RETURNING id;
UPDATE apart SET tenant = 2 WHERE id = 1;
SELECT id, tenant, fp FROM apart ORDER BY id;
-- the constraint accepts the rows that a comparison of each row with the earlier ones
-- accepts
CREATE TABLE offered AS
SELECT i, i % 3 AS tenant, CASE WHEN i % 50 > 0 THEN flip(random_fp(i % 60), i % 7, i) END AS fp
FROM generate_series(1, 1500) AS i;
CREATE FUNCTION kept(radii text)
    RETURNS TABLE (i integer, tenant integer, fp simhash, radius integer) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    CREATE TEMP TABLE keeping (i integer, tenant integer, fp simhash, radius integer);
    FOR r IN EXECUTE format('SELECT *, %s AS radius FROM offered ORDER BY i', radii) LOOP
        INSERT INTO keeping SELECT r.i, r.tenant, r.fp, r.radius WHERE NOT EXISTS (
            SELECT FROM keeping AS k WHERE k.tenant = r.tenant AND (k.fp <~> r.fp) + 0 <= least(k.radius, r.radius));
    END LOOP;
    RETURN QUERY TABLE keeping;
    DROP TABLE keeping;
END $$;
CREATE FUNCTION differing_kept(radii text, OUT kept bigint, OUT differing bigint) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE apart;
    EXECUTE format('INSERT INTO apart SELECT *, %s FROM offered ORDER BY i ON CONFLICT DO NOTHING', radii);
    SELECT * INTO kept, differing FROM differing('TABLE apart', format('SELECT * FROM kept(%L)', radii));
END $$;
SELECT radii, d.* FROM unnest('{3,0,-1,9,i % 5}'::text[]) AS radii, differing_kept(radii) AS d;
-- index-only scans return the balls of the table
CREATE TABLE balls AS SELECT i, simhash_ball(fp, i % 12 - 1) AS ball FROM offered;
CREATE INDEX balls_ball ON balls USING gist (ball);
VACUUM ANALYZE balls;
SET enable_seqscan = off;
SELECT plan($$SELECT ball FROM balls WHERE ball =~= '(0123456789abcdef,3)'$$);
SELECT * FROM differing(
    'SELECT ball FROM balls WHERE ball =~= simhash_ball(random_fp(7), 9)',
    'SELECT ball FROM balls WHERE (ball =~= simhash_ball(random_fp(7), 9)) IS TRUE');
RESET enable_seqscan;

-- 18 and later: a key WITHOUT OVERLAPS needs the operator of equality.  btree_gist is
-- not needed for it.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'CREATE TABLE spans (
            fp simhash, ball simhash_ball, valid daterange, PRIMARY KEY (fp, ball, valid WITHOUT OVERLAPS))';
        INSERT INTO spans VALUES ('0123456789abcdef', '(0123456789abcdef,3)', '[2026-01-01,2026-02-01)'),
                                 ('0123456789abcdef', '(0123456789abcdef,4)', '[2026-01-01,2026-02-01)'),
                                 ('0123456789abcdee', '(0123456789abcdef,3)', '[2026-01-01,2026-02-01)');
        BEGIN
            INSERT INTO spans VALUES ('0123456789abcdef', '(0123456789abcdef,3)', '[2026-01-15,2026-03-01)');
            ASSERT false;
        EXCEPTION WHEN exclusion_violation THEN
        END;
    END IF;
END $$;

-- The first query of a session, which loads the library, includes the cost of the
-- leaves, too.
CREATE FUNCTION costs_twice(query text) RETURNS boolean LANGUAGE sql AS $$
    SELECT explained(query, 'Total Cost') = explained(query, 'Total Cost') $$;
\c -
SET search_path = gist_test, public;
SELECT costs_twice($$SELECT FROM twice AS a JOIN twice AS b ON a.fp <@ simhash_ball(b.fp, 20) WHERE b.id = 1$$);
\c -
SET search_path = gist_test, public;
SELECT costs_twice($$SELECT FROM twice AS a JOIN twice AS b ON a.fp <@ simhash_ball(b.fp, 20) WHERE b.id = 1$$);
\c -
SET search_path = gist_test, public;
SELECT costs_twice($$SELECT FROM wide AS a JOIN twice AS b ON a.ball =~= simhash_ball(b.fp, 20) WHERE b.id = 1$$);
SET client_min_messages = error;
DROP SCHEMA gist_test CASCADE;
