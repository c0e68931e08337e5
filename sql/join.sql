--
-- Similarity joins: which joins the node serves, and that its rows are the right ones
--
-- Each test shows the query's plan, and compares its rows with those of a plan without the
-- node.
--
CREATE SCHEMA similarity_join;
SET search_path = similarity_join, public;

-- Settings under which a plan depends only on what is possible, not on costs.
SELECT set_config(name, 'off', false)
FROM unnest(ARRAY['enable_nestloop', 'enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_memoize',
                  'enable_indexscan', 'enable_bitmapscan', 'enable_sort']) AS name \g /dev/null
SET max_parallel_workers_per_gather = 0;

-- Show a plan, and raise an error if its rows are not those of the plan without the node.
CREATE FUNCTION show(query text, shown text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    compared record;
BEGIN
    SET LOCAL simhash.enable_join = off;
    EXECUTE 'CREATE TEMP TABLE expected AS ' || query;
    SET LOCAL simhash.enable_join = on;
    SELECT * INTO compared FROM differing(query, 'TABLE expected');
    DROP TABLE expected;
    IF compared.differing > 0 THEN
        RAISE EXCEPTION '% of % rows differ', compared.differing, compared.rows;
    END IF;
    RETURN QUERY SELECT plan(query, shown);
    RETURN NEXT format('-- %s rows', compared.rows);
END $$;

-- Families of near fingerprints, equal ones, and NULLs
CREATE TABLE docs (id int, fp simhash, tenant int, lang text, body text);
INSERT INTO docs
    SELECT n, fp_of('clustered', n), n % 5, CASE WHEN n % 9 > 0 THEN 'lang ' || n % 3 END, 'body ' || n % 20
    FROM generate_series(1, 200) AS n;
INSERT INTO docs SELECT 1000 + n, CASE WHEN n > 5 THEN random_fp(3) END, 1, 'lang 1' FROM generate_series(1, 10) AS n;
CREATE TABLE queries (n bigint, fp simhash, lang text, radius int, share float8);
INSERT INTO queries SELECT n, fp_of('clustered', n * 7), 'lang ' || n % 4, n % 6, n FROM generate_series(1, 60) AS n;
INSERT INTO queries VALUES (61, NULL, NULL, NULL, NULL), (62, random_fp(100), 'lang 1', 3, 0.5);
ANALYZE docs, queries;

--
-- Kinds of joins
--
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 $$);
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 1 $$);
SELECT show($$ SELECT id, n FROM docs d RIGHT JOIN queries q ON d.fp <~> q.fp <= 1 $$);
SELECT show($$ SELECT id FROM docs d WHERE EXISTS (SELECT FROM queries q WHERE d.fp <~> q.fp <= 1) $$);
SELECT show($$ SELECT id FROM docs d WHERE NOT EXISTS (SELECT FROM queries q WHERE d.fp <~> q.fp <= 1) $$);
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 1 WHERE q.fp IS NULL $$);
-- all pairs of one table
SELECT show($$ SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.fp <~> b.fp <= 2 AND a.id < b.id $$);
-- any plans below
SELECT show($$ WITH few AS MATERIALIZED (SELECT * FROM docs WHERE tenant = 1)
    SELECT a.id, b.n FROM few AS a JOIN (SELECT fp, min(n) AS n FROM queries GROUP BY fp) AS b
    ON a.fp <~> b.fp < 4 $$);
SELECT show($$ SELECT x, y FROM unnest(ARRAY[random_fp(1), NULL, random_fp(2)]) AS x
    JOIN (VALUES (random_fp(2)), (random_fp(1)), (random_fp(1))) AS v (y) ON x <~> y = 0 $$, 'Join');
-- several joins
SELECT show($$ SELECT a.id, q.n, b.id AS other FROM docs a JOIN queries q ON a.fp <~> q.fp <= 1
    JOIN docs b ON b.fp <~> q.fp <= 1 AND b.tenant = a.tenant $$, 'Join|Scan on');
SELECT show($$ SELECT a.id, q.n, b.id AS other FROM docs a LEFT JOIN
    (queries q LEFT JOIN docs b ON b.fp <~> q.fp <= 1 AND b.tenant = 2) ON a.fp <~> q.fp <= 1 $$, 'Join|Scan on');
-- an expression of the output contains a column of a subquery that the join itself computes
SELECT show($$ SELECT a.id, s.either::text AS shown FROM docs a LEFT JOIN
    (SELECT coalesce(b.fp, q.fp) AS either, q.fp, q.n FROM queries q LEFT JOIN docs b ON q.fp <~> b.fp <= 1) AS s
    ON a.fp = s.either WHERE a.fp <~> s.fp <= 8 AND a.id % 64 = s.n % 64 $$, 'Join|Scan on');
-- an input that the planner knows to be empty, also for the genetic optimizer
SET geqo_threshold = 2;
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN (SELECT * FROM queries WHERE false) AS q
    ON d.fp <~> q.fp <= 1 $$, 'Type');
RESET geqo_threshold;

--
-- Spellings of the distance
--
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON 5 > q.fp <~> d.fp $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 2.5 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp = 4 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp BETWEEN 1 AND 4 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON NOT d.fp <~> q.fp > 3 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON hamming_distance(d.fp, q.fp) <= 3 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON simhash_within(d.fp, q.fp, 3) $$, 'Join');
-- the smallest radius, and the rest as a filter
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 7 AND d.fp <~> q.fp < 4 $$, 'Join');
-- an index changes the spelling
CREATE TABLE indexed AS TABLE docs;
CREATE INDEX ON indexed USING simhash (fp);
ANALYZE indexed;
SELECT show($$ SELECT id, n FROM indexed d JOIN queries q ON d.fp <~> q.fp <= 5 $$, 'Join');
SELECT show($$ SELECT id, n FROM indexed d JOIN queries q ON d.fp <~> q.fp = 4 $$, 'Join');
-- the keys are expressions
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON simhash(d.body) <~> simhash(q.lang) <= 30 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON coalesce(d.fp, random_fp(100)) <~> q.fp <= 3 $$, 'Join');

--
-- The radius
--
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 0 $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= -1 $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= -1 $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 64 $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 9223372036854775807 $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= (SELECT min(radius) + 2 FROM queries) $$, 'Custom');
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp < (SELECT NULL::numeric FROM docs LIMIT 1) $$, 'Custom');
SELECT show($$ SELECT radius, (SELECT count(*) AS pairs FROM docs a JOIN docs b
    ON a.fp <~> b.fp <= q.radius AND a.id < b.id)
    FROM queries q WHERE n < 10 OR n = 61 $$, 'Custom|Join Cond');
SELECT show($$ SELECT q.n, s.* FROM queries q LEFT JOIN LATERAL (SELECT a.id, b.id AS other FROM docs a
    JOIN docs b ON a.fp <~> b.fp < q.share AND a.tenant = b.tenant OFFSET 0) AS s
    ON true WHERE n IN (1, 5, 61, 62) $$, 'Join');
PREPARE pairs (float8, text) AS
    SELECT count(*) FROM docs d JOIN queries q ON d.fp <~> q.fp <= $1 AND q.lang = d.lang AND q.lang <> $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE pairs (3, '');
EXECUTE pairs (3, 'lang 1');
EXECUTE pairs (8.5, 'lang 1');
EXECUTE pairs (NULL, 'lang 1');
EXECUTE pairs ('NaN', 'lang 1');
RESET plan_cache_mode;
-- a fraction of a bit
SELECT count(*) FROM docs d JOIN queries q ON d.fp <~> q.fp <= 0.5;

--
-- Other clauses
--
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 AND q.lang = d.lang $$);
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= 5 AND q.n = d.tenant AND d.lang = q.lang $$);
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 AND d.lang COLLATE "C" = q.lang $$);
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= 5 AND d.lang IS NOT DISTINCT FROM q.lang $$);
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= 5 AND d.id % 7 = q.n + 1 AND q.fp = d.fp $$);
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 5 AND d.lang = q.lang AND d.id > q.n $$);
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 5 AND d.tenant = 3 $$);
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 5 WHERE coalesce(q.n, 0) < d.tenant $$);
SELECT show($$ SELECT id FROM docs d WHERE EXISTS
    (SELECT FROM queries q WHERE d.fp <~> q.fp <= 5 AND d.lang = q.lang AND d.id <> q.n) $$);
SELECT show($$ SELECT id FROM docs d WHERE NOT EXISTS
    (SELECT FROM queries q WHERE d.fp <~> q.fp <= 5 AND d.lang = q.lang AND d.id <> q.n) $$);
-- subplans and clauses without columns
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5
    AND (SELECT count(*) FROM queries WHERE radius < d.tenant + q.radius) > 10 $$);
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON coalesce(d.fp, (SELECT fp FROM queries WHERE n = 62)) <~> q.fp <= 3 $$, 'Custom');
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 5 AND now() > '2000-01-01' $$, 'rows');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 WHERE now() < '2000-01-01' $$, 'rows');

--
-- Columns of the output: whole rows, system columns, expressions, and NULLs of outer joins
--
SELECT show($$ SELECT d AS doc, q AS query FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 1 $$, 'Join');
SELECT show($$ SELECT d.ctid AS doc, d.tableoid AS tab, q.ctid AS query FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 1 $$, 'Join');
SELECT show($$ SELECT id, x, coalesce(s.y, 0) AS y, s.one FROM docs d LEFT JOIN
    (SELECT n + 1 AS x, coalesce(radius, 7) AS y, fp, 1 AS one FROM queries) AS s
    ON d.fp <~> s.fp <= 1 AND s.one = 1 $$, 'Join');
SELECT show($$ SELECT t.id, s.* FROM docs t LEFT JOIN
    (SELECT d.id AS left_id, q.n, coalesce(q.radius, -1) AS r, coalesce(q.fp, d.fp) AS fp
     FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 1 AND q.radius > 2) AS s
    ON t.fp <~> s.fp <= 1 AND s.r <> t.tenant WHERE t.tenant < 3 $$, 'Join');
SELECT show($$ SELECT count(*), sum(n) FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 3 GROUP BY d.tenant $$, 'Join');
SELECT show($$ SELECT d.tenant, q.lang, count(n) FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 3 GROUP BY GROUPING SETS ((d.tenant), (q.lang), ()) $$, 'Join');

--
-- Tables of partitions, joined whole or partition by partition
--
CREATE TABLE parts (id int, fp simhash, tenant int) PARTITION BY RANGE (tenant);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (2);
CREATE TABLE parts2 (tenant int, dropped text, fp simhash, id int);
ALTER TABLE parts2 DROP COLUMN dropped;
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (2) TO (MAXVALUE);
CREATE TABLE others PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT id, fp, tenant FROM docs;
ANALYZE parts;
SELECT show($$ SELECT p.id, n FROM parts p JOIN queries q ON p.fp <~> q.fp <= 3 $$);
SET enable_partitionwise_join = on;
-- sides that differ are not read once
SELECT show($$ SELECT a.id, b.id AS other FROM parts a LEFT JOIN parts b
    ON a.fp <~> b.fp <= 3 AND a.tenant = b.tenant AND a.id % 10 = b.id % 10 AND b.id > 0 $$);
SELECT show($$ SELECT a.id, b AS other FROM parts a LEFT JOIN parts b
    ON a.fp <~> b.fp <= 3 AND a.tenant = b.tenant AND a.id % 10 = b.id % 10 $$, 'Custom');
SELECT show($$ SELECT a.id FROM parts a WHERE NOT EXISTS (SELECT FROM parts b
    WHERE simhash_within(a.fp, b.fp, 3) AND a.tenant = b.tenant AND a.id <> b.id AND b.id > 0) $$, 'Custom|Join Type');
-- the estimated rows of the join of two partitions: not a third of all pairs
SELECT explained($$ SELECT FROM parts a JOIN parts b ON a.fp <~> b.fp <= 0 AND a.tenant = b.tenant LIMIT 1 $$,
    'Plan Rows', 'Custom Scan') < 300 AS few;
-- the left input depends on a partition of another table
SELECT show($$ SELECT a.id, s.* FROM parts a LEFT JOIN LATERAL
    (SELECT b.id AS other, c.id AS third, b.tenant, a.id + b.id AS sum FROM parts b
     JOIN parts c ON b.tenant = c.tenant AND b.fp <~> c.fp <= 3 AND b.id % 10 = c.id % 10) AS s
    ON s.tenant = a.tenant AND s.third = a.id $$, 'rows');
RESET enable_partitionwise_join;

--
-- Statements that change or lock rows
--
CREATE TABLE changed AS TABLE docs;
CREATE TABLE changed_too AS TABLE docs;
ANALYZE changed, changed_too;
SELECT plan($$ UPDATE changed c SET tenant = q.n FROM queries q WHERE c.fp <~> q.fp <= 2 AND q.n = 7 $$);
UPDATE changed c SET tenant = q.n FROM queries q WHERE c.fp <~> q.fp <= 2 AND q.n = 7 AND c.id < 1000;
SELECT plan($$ DELETE FROM changed c WHERE NOT EXISTS (SELECT FROM queries q WHERE c.fp <~> q.fp <= 2) $$);
DELETE FROM changed c WHERE NOT EXISTS (SELECT FROM queries q WHERE c.fp <~> q.fp <= 2);
SELECT plan($$ MERGE INTO changed c USING (SELECT * FROM queries WHERE n IN (4, 62)) AS q ON c.fp <~> q.fp <= 0
    WHEN MATCHED THEN UPDATE SET body = q.lang WHEN NOT MATCHED THEN INSERT (id, fp) VALUES (q.n, q.fp) $$,
    'Merge|Join|Scan on');
MERGE INTO changed c USING (SELECT * FROM queries WHERE n IN (4, 62)) AS q ON c.fp <~> q.fp <= 0
    WHEN MATCHED THEN UPDATE SET body = q.lang WHEN NOT MATCHED THEN INSERT (id, fp) VALUES (q.n, q.fp);
SET simhash.enable_join = off;
SET enable_nestloop = on;
UPDATE changed_too c SET tenant = q.n FROM queries q WHERE c.fp <~> q.fp <= 2 AND q.n = 7 AND c.id < 1000;
DELETE FROM changed_too c WHERE NOT EXISTS (SELECT FROM queries q WHERE c.fp <~> q.fp <= 2);
MERGE INTO changed_too c USING (SELECT * FROM queries WHERE n IN (4, 62)) AS q ON c.fp <~> q.fp <= 0
    WHEN MATCHED THEN UPDATE SET body = q.lang WHEN NOT MATCHED THEN INSERT (id, fp) VALUES (q.n, q.fp);
RESET simhash.enable_join;
SET enable_nestloop = off;
SELECT * FROM differing('TABLE changed', 'TABLE changed_too');
BEGIN;
SELECT plan($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 2 FOR UPDATE OF d $$);
SELECT count(*) FROM (SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 2 FOR UPDATE) AS s;
-- a cursor that goes back
DECLARE pair SCROLL CURSOR FOR SELECT d.id, q.n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 2;
MOVE FORWARD ALL IN pair;
MOVE BACKWARD 20 IN pair;
MOVE FORWARD ALL IN pair;
ROLLBACK;
-- a cursor that outlives its transaction, forward and backward
BEGIN;
DECLARE pair SCROLL CURSOR WITH HOLD FOR SELECT d.id, q.n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 2;
MOVE 5 IN pair;
COMMIT;
MOVE ABSOLUTE 0 IN pair;
SET simhash.enable_join = off;
DO $$
DECLARE
    pair refcursor := 'pair';
    pair_row record;
    forward text[];
    backward text[];
BEGIN
    LOOP
        FETCH NEXT FROM pair INTO pair_row;
        EXIT WHEN NOT FOUND;
        forward := forward || pair_row::text;
    END LOOP;
    LOOP
        FETCH PRIOR FROM pair INTO pair_row;
        EXIT WHEN NOT FOUND;
        backward := pair_row::text || backward;
    END LOOP;
    ASSERT forward = backward;
    ASSERT (SELECT array_agg(r ORDER BY r) FROM unnest(forward) AS r) = (SELECT array_agg(s::text ORDER BY s::text)
        FROM (SELECT d.id, q.n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 2) AS s);
END $$;
RESET simhash.enable_join;
CLOSE pair;

-- in a parallel worker
SELECT set_config(name, 'on', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SET max_parallel_workers_per_gather = 1;
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q
    ON d.fp <~> q.fp <= 5 AND d.lang = q.lang AND d.id <> q.n $$);
SELECT set_config(name, 'off', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SET max_parallel_workers_per_gather = 0;

--
-- Rights
--
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, fp, lang FROM docs WHERE tenant < 3;
CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RETURN $1 % 2 = 0; END $$;
SELECT show($$ SELECT id, n FROM barrier d JOIN queries q
    ON d.fp <~> q.fp <= 5 AND leak(d.id) AND leak((d.id + q.n)::int) $$);
CREATE ROLE regress_simhash_join;
GRANT USAGE ON SCHEMA similarity_join TO regress_simhash_join;
GRANT SELECT ON docs, queries TO regress_simhash_join;
CREATE POLICY readers ON docs TO regress_simhash_join USING (tenant < 3);
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_join;
SELECT show($$ SELECT id, n FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 5 $$);
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
-- EXECUTE on the functions of the clause, and of those that stand for it
REVOKE EXECUTE ON FUNCTION hamming_distance(simhash, simhash) FROM public;
SET ROLE regress_simhash_join;
SELECT count(*) FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5;
SELECT count(*) FROM docs d LEFT JOIN queries q ON d.fp <~> q.fp <= 5;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_distance(simhash, simhash) TO public;
REVOKE EXECUTE ON FUNCTION simhash_radius(float8) FROM public;
SET ROLE regress_simhash_join;
SELECT plan($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= (SELECT max(share) FROM queries) $$, 'Custom|Nested');
SELECT plan($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= (SELECT max(radius) FROM queries) $$, 'Custom|Nested');
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_radius(float8) TO public;

--
-- CREATE TABLE AS materializes each joined row
--
CREATE VIEW lefts AS SELECT fp, repeat(body, 40000) AS body, id FROM docs LIMIT 30;
CREATE VIEW rights AS SELECT n, fp FROM queries LIMIT 20;
CREATE TABLE made AS
    SELECT l.fp, l.body, l.id, r.n, r.fp AS center FROM lefts l JOIN rights r ON l.fp <~> r.fp <= 5;
SELECT * FROM differing('SELECT fp, md5(body), id, n, center FROM made',
    'SELECT l.fp, md5(l.body), l.id, r.n, r.fp FROM lefts l, rights r WHERE (l.fp <~> r.fp) + 0 <= 5');

-- The radius is evaluated only if both inputs have rows.
SELECT show($$ SELECT d.id, q.n FROM docs d LEFT JOIN (SELECT * FROM queries WHERE n < 0) AS q
    ON d.fp <~> q.fp <= (SELECT 1 / (count(*) * 0) FROM docs) $$, 'Custom');

--
-- Signatures that share a band
--
-- Families of signatures, equal ones, and NULLs
CREATE TABLE sigs (id int, sig minhash, tenant int, body text);
INSERT INTO sigs
    SELECT n, to_minhash(ARRAY[n / 5, n % 5, 100, 101 + n % 3, 105 + n / 50], 6, 2), n % 4,
           'words of ' || n / 10 || n % 3
    FROM generate_series(1, 200) AS n;
INSERT INTO sigs SELECT 1000 + n, CASE WHEN n > 5 THEN to_minhash('{1,2}'::bigint[], 6, 2) END, 1, 'same'
    FROM generate_series(1, 20) AS n;
ANALYZE sigs;
SELECT show($$ SELECT a.id, b.id AS other FROM sigs a JOIN sigs b ON a.sig % b.sig AND a.id < b.id $$);
SELECT show($$ SELECT a.id, b.id AS other FROM sigs a LEFT JOIN sigs b ON b.sig % a.sig AND b.id < a.tenant $$);
SELECT show($$ SELECT a.id FROM sigs a WHERE EXISTS
    (SELECT FROM sigs b WHERE shares_band(a.sig, b.sig) AND b.id < 20) $$);
SELECT show($$ SELECT a.id FROM sigs a WHERE NOT EXISTS
    (SELECT FROM sigs b WHERE b.sig % a.sig AND a.id <> b.id AND a.tenant = b.tenant) $$);
SELECT show($$ SELECT a.id FROM sigs a WHERE NOT EXISTS
    (SELECT FROM (SELECT sig FROM sigs WHERE id < 50) AS b WHERE b.sig % a.sig) $$, 'Join');
-- the signatures are in the output, in another clause, or computed
SELECT show($$ SELECT a.id, a.sig::text, b.sig::text AS other FROM sigs a JOIN sigs b
    ON a.sig % b.sig AND a.id < b.id $$, 'Join');
SELECT show($$ SELECT a.id, b.id AS other FROM sigs a JOIN sigs b
    ON a.sig % b.sig AND a.sig <%> b.sig <= 0.4 $$, 'Join');
SELECT show($$ SELECT a.id, b.id AS other, b AS doc FROM sigs a JOIN sigs b
    ON to_minhash(a.body, 4, 1) % to_minhash(b.body, 4, 1) AND a.tenant = b.tenant $$, 'Join');
-- a Hamming distance comes first
SELECT show($$ SELECT a.id, d.id AS other FROM sigs a JOIN docs d
    ON simhash(a.body) <~> d.fp <= 20 AND a.sig % to_minhash(ARRAY[d.id], 6, 2) $$, 'Join');
-- rescans, and an empty input
SELECT show($$ SELECT q.n, s.* FROM queries q LEFT JOIN LATERAL (SELECT a.id, b.id AS other FROM sigs a
    JOIN sigs b ON a.sig % b.sig AND a.id < q.n AND b.id < q.n OFFSET 0) AS s ON true WHERE n IN (1, 5, 61) $$, 'Join');
SELECT show($$ SELECT a.id, b.id AS other FROM sigs a LEFT JOIN (SELECT * FROM sigs WHERE sig IS NULL) AS b
    ON a.sig % b.sig $$, 'rows');
-- Signatures with different parameters cannot be compared.
CREATE TABLE mixed AS SELECT id, tenant,
    CASE tenant WHEN 1 THEN to_minhash(ARRAY[id / 9], 7, 2)
                WHEN 2 THEN to_minhash(ARRAY[id / 9], 3, 1) ELSE sig END AS sig
    FROM sigs;
SELECT count(*) FROM sigs a JOIN mixed b ON a.sig % b.sig;
SELECT count(*) FROM sigs a LEFT JOIN mixed b ON b.sig % a.sig AND b.tenant = 1;
SELECT a.id FROM sigs a WHERE EXISTS (SELECT FROM mixed b WHERE b.tenant = 2 AND a.sig % b.sig);
SET simhash.enable_join = off;
SELECT count(*) FROM sigs a LEFT JOIN mixed b ON b.sig % a.sig AND b.tenant = 1;
SELECT a.id FROM sigs a WHERE EXISTS (SELECT FROM mixed b WHERE b.tenant = 2 AND a.sig % b.sig);
-- but equalities can keep them apart
SET enable_hashjoin = on;
SELECT a.tenant, count(*) FROM mixed a JOIN mixed b ON a.sig % b.sig AND a.tenant = b.tenant GROUP BY 1 ORDER BY 1;
SET enable_hashjoin = off;
SET simhash.enable_join = on;
SELECT a.tenant, count(*) FROM mixed a JOIN mixed b ON a.sig % b.sig AND a.tenant = b.tenant GROUP BY 1 ORDER BY 1;
-- Different bands may have the same key, of 32 bits.
CREATE TABLE singles AS SELECT n, to_minhash(ARRAY[n], 1, 1) AS sig FROM generate_series(1::bigint, 600000) AS n;
SET work_mem = '1MB';
SELECT count(*) AS by_join FROM (SELECT * FROM singles WHERE n % 2 = 0) a JOIN (SELECT * FROM singles WHERE n % 2 = 1) b
    ON a.sig % b.sig \gset
SET enable_hashjoin = on;
SELECT count(*) = :by_join AS same FROM (SELECT * FROM singles WHERE n % 2 = 0) a
    JOIN (SELECT * FROM singles WHERE n % 2 = 1) b ON a.sig = b.sig;
SET enable_hashjoin = off;
RESET work_mem;

--
-- Arrays within a Jaccard distance
--
-- Families, equal arrays, empty ones, NULLs, and elements that many rows have
CREATE TABLE sets AS SELECT n AS id, n % 3 AS tenant,
    CASE WHEN n % 20 = 1 THEN NULL WHEN n % 20 = 2 THEN '{}' WHEN n % 20 = 3 THEN '{NULL}'
         WHEN n % 20 = 4 THEN '{7,8,9}'
         ELSE ARRAY(SELECT CASE WHEN j % 3 = 0 THEN n % 2 WHEN hashint8(n * 50 + j) & 7 = 0 THEN -n * j
                                ELSE hashint8(n / 5 * 50 + j) END
                    FROM generate_series(1, 4 + n % 30) AS j) || NULL::bigint END AS sk
    FROM generate_series(bigint '1', 600) AS n;
CREATE TABLE few_sets AS SELECT * FROM sets WHERE id % 3 = 0;
ANALYZE sets, few_sets;
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN few_sets b ON a.sk <%> b.sk <= 0.6 $$);
SELECT show($$ SELECT a.id, b.id AS other FROM sets a LEFT JOIN few_sets b
    ON 0.5 > jaccard_distance(b.sk, a.sk) AND a.tenant = b.tenant $$);
SELECT show($$ SELECT a.* FROM sets a WHERE EXISTS
    (SELECT FROM few_sets b WHERE a.sk <%> b.sk <= 0.5 AND a.id <> b.id) $$);
SELECT show($$ SELECT a.* FROM sets a WHERE NOT EXISTS
    (SELECT FROM few_sets b WHERE jaccard_within(a.sk, b.sk, 0.3)) $$);
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN sets b ON a.sk <%> b.sk = 0 AND a.id < b.id $$);
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN few_sets b ON a.sk <%> b.sk BETWEEN 0.2 AND 0.5 $$);
SELECT show($$ SELECT a.id, b.sk FROM sets a JOIN few_sets b
    ON a.sk <%> b.sk <= 0.9 AND a.sk <%> b.sk <= 0.4 $$, 'Join');
-- columns that the output needs, whole rows, and arrays that are computed
SELECT show($$ SELECT a, b.sk FROM sets a JOIN few_sets b ON a.sk <%> b.sk <= 0.2 $$, 'rows');
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN few_sets b
    ON (a.sk || 5::bigint) <%> b.sk <= 0.5 $$, 'Join');
-- a Hamming distance is preferred, bands are not
SELECT show($$ SELECT a.id FROM sets a JOIN few_sets b ON a.sk <%> b.sk <= 0.5
    AND a.sk[1]::simhash <~> b.sk[1]::simhash <= 3 $$, 'Join');
SELECT show($$ SELECT a.id FROM sets a JOIN few_sets b ON to_minhash(coalesce(array_remove(a.sk, NULL), '{1}'), 4, 2) %
    to_minhash(coalesce(array_remove(b.sk, NULL), '{2}'), 4, 2) AND a.sk <%> b.sk <= 0.5 $$, 'Join Cond');
-- every radius that a parameter may have, and a rescan with another one, or the same
SELECT show($$ SELECT r.n, s.* FROM (VALUES (1, 0.5), (2, 0.5), (3, 0), (4, 1), (5, 'NaN'), (6, NULL), (7, -1),
        (8, 2.0 / 3)) AS r (n, radius), LATERAL (SELECT a.id, b.id AS other FROM (SELECT * FROM sets OFFSET 0) a
        LEFT JOIN few_sets b ON a.sk <%> b.sk <= r.radius) AS s $$, 'Join|Loop|rows');
-- an element 0 before the shared one is no missing element: lists of few and of many entries
CREATE TABLE zeros AS SELECT n, CASE WHEN n % 2 = 0 THEN '{0,1,2,3,4}' ELSE '{1,2,3,4}' END::bigint[] AS sk
    FROM generate_series(1, 40) AS n;
ANALYZE zeros;
SELECT show($$ SELECT a.n, b.n AS other FROM zeros a JOIN zeros b ON a.sk <%> b.sk <= 0.2
    WHERE a.n <= 8 AND b.n <= 8 $$, 'Join|rows');
SELECT show($$ SELECT a.n, b.n AS other FROM zeros a JOIN zeros b ON a.sk <%> b.sk <= 0.2 $$, 'Join|rows');
-- rows that have met by the key before the shared one stand beside others in a list
CREATE TABLE one_apart AS SELECT n, ARRAY[-n, 1, 2, 3, 4] AS sk FROM generate_series(bigint '1', 20) AS n;
ANALYZE one_apart;
SELECT show($$ SELECT a.n, b.n AS other FROM one_apart a JOIN one_apart b ON a.sk <%> b.sk <= 0.4 $$, 'Join|rows');
-- the elements that rows share are beyond the first 255 positions of their prefixes
CREATE TABLE late_keys AS SELECT n, ARRAY(SELECT n * 1000 + j FROM generate_series(1, 300) AS j) ||
    ARRAY(SELECT j FROM generate_series(1, 700) AS j WHERE hashint8(j * 100 + n) % 10 <> 0) AS sk
    FROM generate_series(bigint '1', 10) AS n;
ANALYZE late_keys;
SELECT show($$ SELECT a.n, b.n AS other FROM late_keys a JOIN late_keys b ON a.sk <%> b.sk <= 0.7 $$, 'Join|rows');
-- a key of more rows than a counter counts
CREATE TABLE same_sets AS SELECT n, ARRAY[bigint '1'] AS sk FROM generate_series(1, 65536) AS n;
ANALYZE same_sets;
SELECT count(*) FROM (SELECT * FROM same_sets LIMIT (SELECT 1)) a
    JOIN (SELECT * FROM same_sets WHERE abs(n) = n) b ON a.sk <%> b.sk <= 0.2;
DROP TABLE same_sets;
-- the distance is not leakproof: under row security, a leakproof clause of the same level may follow it
GRANT SELECT ON sets TO regress_simhash_join;
CREATE POLICY readers ON sets TO regress_simhash_join USING (tenant < 2);
ALTER TABLE sets ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_join;
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN sets b ON a.sk <%> b.sk <= 0.5 AND a.id < b.id $$);
RESET ROLE;
ALTER TABLE sets DISABLE ROW LEVEL SECURITY;
-- known to match all pairs: not served
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN few_sets b ON a.sk <%> b.sk <= 1 $$, 'Loop|rows');
SELECT show($$ SELECT a.id, b.id AS other FROM sets a JOIN few_sets b ON a.sk <%>> b.sk <= 0.5 $$, 'Loop|rows');
-- equal arrays meet once, and arrays that share a template of common elements meet by none of them
CREATE FUNCTION compared(query text, OUT keys float8, OUT comparisons float8, OUT pairs float8,
    OUT passes int, OUT memory int, OUT reads int, OUT node jsonb) LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "SimHash Join")');
    node := plan; keys := plan->'Keys'; comparisons := plan->'Comparisons'; pairs := plan->'Pairs';
    passes := plan->'Passes'; memory := plan->'Memory Usage'; reads := plan->'Temp Read Blocks';
END $$;
CREATE TABLE equal_sets AS SELECT n, ARRAY(SELECT j FROM generate_series(bigint '1', 50) AS j) AS sk
    FROM generate_series(1, 1000) AS n;
CREATE TABLE template AS SELECT n, ARRAY(SELECT CASE WHEN j > 10 THEN j ELSE n * 10 + j END
    FROM generate_series(bigint '1', 50) AS j) AS sk FROM generate_series(100, 1100) AS n;
ANALYZE equal_sets, template;
SELECT comparisons < 1.01 * pairs AS equal_meet_once
FROM compared('SELECT FROM equal_sets a JOIN equal_sets b ON a.sk <%> b.sk <= 0.5');
SELECT radius, keys, comparisons < 12000 AS only_with_themselves
FROM unnest('{0.15,0.3}'::float8[]) AS radius,
    compared(format('SELECT FROM template a JOIN template b ON a.sk <%%> b.sk <= %s', radius));
-- right rows have no keys before the radius is known
SELECT keys FROM compared('SELECT FROM template a JOIN template b ON a.sk <%> b.sk <= -1');
-- few rows take little of much memory
SET work_mem = '64MB';
SELECT memory < 1000 AS little FROM compared('SELECT FROM few_sets a JOIN few_sets b ON a.sk <%> b.sk <= 0.5');
-- little memory: two rows that meet by many keys are fetched once, and a left chunk that is done meets no further
-- right one
CREATE TABLE long_sets AS SELECT n, ARRAY(SELECT j * CASE WHEN (j / 3 + n) % 7 = 0 THEN n * 1000003 ELSE 1 END
    FROM generate_series(bigint '1', 20000) AS j) AS sk FROM generate_series(1, 4) AS n;
CREATE TABLE equal_fps AS SELECT n, fingerprint(1) AS fp FROM generate_series(1, 6000) AS n;
ANALYZE long_sets, equal_fps;
SET work_mem = '64kB';
SELECT comparisons > 1000 AS meet_often, reads < 4000 AS fetched_once
FROM compared('SELECT FROM long_sets a JOIN long_sets b ON a.sk <%> b.sk <= 0.5');
SELECT passes < 10 AS once
FROM compared('SELECT FROM equal_fps a WHERE EXISTS (SELECT FROM equal_fps b WHERE a.fp <~> b.fp <= 3)');
-- no partition has rows of both inputs
CREATE TABLE all_zeros AS SELECT simhash '0000000000000000' AS fp FROM generate_series(1, 4000);
CREATE TABLE all_ones AS SELECT simhash 'ffffffffffffffff' AS fp FROM all_zeros;
ANALYZE all_zeros, all_ones;
SELECT plan('SELECT FROM all_zeros a LEFT JOIN all_ones b ON a.fp <~> b.fp <= 3', 'SimHash Join');
SELECT count(*), count(b.fp) AS matched FROM all_zeros a LEFT JOIN all_ones b ON a.fp <~> b.fp <= 3;
RESET work_mem;

--
-- EXPLAIN ANALYZE
--
CREATE FUNCTION analyzed(query text, shown text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ '^ *(Join|.*Removed|Method|Keys|Values|Comparisons|Candidate|Pairs|Passes|Batches|Memory|Disk)'
            AND line ~ shown THEN
            RETURN NEXT regexp_replace(line, '(Comparisons: |Usage: |agree on |blocks).*', '\1');
        END IF;
    END LOOP;
END $$;
CREATE TABLE uniform AS SELECT n, random_fp(n) AS fp FROM generate_series(1, 3000) AS n;
ANALYZE uniform;
SELECT analyzed($$ SELECT FROM uniform a LEFT JOIN uniform b ON a.fp <~> b.fp <= 3 AND a.n < b.n $$);
SELECT analyzed($$ SELECT FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 $$);
SELECT analyzed($$ SELECT FROM docs d JOIN queries q ON d.fp <~> q.fp <= 0 $$);
SELECT analyzed($$ SELECT FROM docs d JOIN (SELECT * FROM queries WHERE n < 0) q ON d.fp <~> q.fp <= 3 $$);
SELECT analyzed($$ SELECT FROM sigs a JOIN sigs b ON a.sig % b.sig $$);
SELECT analyzed($$ SELECT FROM sets a JOIN sets b ON a.sk <%> b.sk <= 0.4 AND a.id < b.id AND a.id + b.id * 2 > 0 $$);
SET work_mem = '64kB';
SELECT analyzed($$ SELECT FROM uniform a JOIN uniform b ON a.fp <~> b.fp <= 3 $$, 'Method|Pairs|Disk');
CREATE FUNCTION memory_usage(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, '$.**."Memory Usage"');
END $$;
-- Entries with many keys are not written anew for each band, if there are few chunks.
CREATE TABLE many_bands AS SELECT n, to_minhash(ARRAY[n], 256, 1) AS sig FROM generate_series(1, 1100) AS n;
SELECT analyzed($$ SELECT FROM many_bands a JOIN many_bands b ON a.sig % b.sig $$, 'Passes|Batches');
-- chunks of many left rows
SELECT substring(line, 'Passes: (.*)')::int < 300 AS few
FROM unnest(ARRAY[$$ SELECT FROM uniform a JOIN queries b ON a.fp <~> b.fp <= 3 WHERE a.n * b.n > 0 $$,
    $$ SELECT FROM (SELECT * FROM singles WHERE n <= 3000) a JOIN (SELECT * FROM singles WHERE n <= 10) b
    ON a.sig % b.sig WHERE a.n * b.n > 0 $$]) AS query, analyzed(query, 'Passes') AS line;
-- Batches are parts of the right input, as in a hash join: partitions, or chunks beside a small left input.
SELECT analyzed($$ SELECT FROM uniform a JOIN uniform b ON a.fp <~> b.fp <= 3 $$, 'Batches');
SELECT analyzed($$ SELECT FROM (SELECT * FROM queries WHERE radius > 4) a RIGHT JOIN uniform b
    ON a.fp <~> b.fp <= 3 $$, 'Join Type|Batches');
SELECT analyzed($$ SELECT FROM (SELECT * FROM queries WHERE radius > 4) a LEFT JOIN uniform b
    ON a.fp <~> b.fp <= 3 $$, 'Join Type|Batches');
-- The bitmap of matched left rows is limited, too: 600,000 left rows are joined in three parts.
SELECT count(*), sum((n <= 3000)::int) AS low FROM singles a WHERE EXISTS
    (SELECT FROM (SELECT * FROM singles WHERE n <= 3000) b WHERE a.sig % b.sig);
SELECT memory_usage($$ SELECT FROM singles a WHERE EXISTS
    (SELECT FROM (SELECT * FROM singles WHERE n <= 3000) b WHERE a.sig % b.sig) $$) < 305 AS within;
RESET work_mem;

--
-- Clauses that are not cheap are evaluated for pairs whose values match, and counters agree with a nested loop
--
-- Counts the calls for left rows with an odd number, which match nothing: a semi join tries all of their pairs, too
CREATE SEQUENCE calls;
CREATE FUNCTION costly(a int, b int) RETURNS bool LANGUAGE plpgsql STABLE COST 10000 AS $$
BEGIN
    IF a % 2 = 0 THEN
        RETURN (a + b) % 3 > 0;
    END IF;
    PERFORM nextval('calls');
    RETURN false;
END $$;
CREATE TABLE kin AS SELECT n AS id, n % 2 AS tenant, fp_of('clustered', n) AS fp, to_minhash(sk, 6, 2) AS sig, sk
    FROM generate_series(1, 500) AS n, LATERAL (SELECT ARRAY(SELECT n / 12 * 100 + j FROM generate_series(1, 15) AS j
        UNION ALL SELECT -n * 100 - j FROM generate_series(1, n % 9) AS j)::bigint[] AS sk) AS s;
CREATE TABLE kin_copy AS SELECT * FROM kin;
ANALYZE kin, kin_copy;
-- Compare a join in little or much memory with a nested loop, and the numbers of its calls.
CREATE FUNCTION count_calls(query text, memory text, OUT rows bigint, OUT differing bigint, OUT by_loop bigint,
    OUT calls bigint, OUT counters jsonb) LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL hash_mem_multiplier = 1;
    SET LOCAL simhash.enable_join = off;
    PERFORM setval('calls', 1);
    EXECUTE 'CREATE TEMP TABLE expected AS ' || query;
    by_loop := nextval('calls') - 2;
    SET LOCAL simhash.enable_join = on;
    PERFORM set_config('work_mem', memory, true), setval('calls', 1);
    EXECUTE 'CREATE TEMP TABLE found AS ' || query;
    calls := nextval('calls') - 2;
    SELECT d.rows, d.differing INTO rows, differing FROM differing('TABLE found', 'TABLE expected') AS d;
    SELECT node INTO counters FROM compared(query);
    DROP TABLE expected, found;
END $$;
CREATE TABLE counted AS SELECT d, clause, j, jointype, memory, c.*
FROM (VALUES (1, 'a.fp <~> b.fp <= 3'), (2, 'a.sig % b.sig'), (3, 'a.sk <%> b.sk <= 0.4')) AS v (d, clause),
     (VALUES (1, 'inner', 'SELECT a.id, b.id AS r FROM kin a JOIN kin b ON %s'),
             (2, 'left', 'SELECT a.id, b.id AS r FROM kin a LEFT JOIN kin_copy b ON %s'),
             (3, 'semi', 'SELECT a.id FROM kin a WHERE EXISTS (SELECT FROM kin_copy b WHERE %s)'),
             (4, 'anti', 'SELECT a.id FROM kin a WHERE NOT EXISTS (SELECT FROM kin_copy b WHERE %s)'),
             (5, 'inner of two', 'SELECT a.id, b.id AS r FROM kin a JOIN kin_copy b ON %s'))
         AS t (j, jointype, form),
     unnest('{4MB,64kB}'::text[]) AS memory,
     count_calls(format(form, clause || ' AND a.id < b.id AND costly(a.id, b.id)'), memory) AS c;
SELECT clause, jointype, memory, (counters->'Passes')::int > 1 AS in_parts, rows, differing, by_loop,
       calls - by_loop AS more_calls
FROM counted ORDER BY d, j, memory DESC;
-- an inner or left join counts the same pairs and removed rows in any memory.  Other candidates are beyond the
-- distance.  The inner join of one table does not find the pairs of a row and itself that a clause excludes, nor
-- the other order of a pair that it lets through
CREATE TABLE paired (d int, pairs bigint, rows bigint);
SET simhash.enable_join = off;
INSERT INTO paired SELECT 1, count(*), sum((a.id < b.id AND a.id % 2 = 0 AND (a.id + b.id) % 3 > 0)::int)
    FROM kin a JOIN kin b ON a.fp <~> b.fp <= 3;
INSERT INTO paired SELECT 2, count(*), sum((a.id % 2 = 0 AND (a.id + b.id) % 3 > 0)::int)
    FROM kin a JOIN kin b ON a.sig % b.sig AND a.id < b.id;
INSERT INTO paired SELECT 3, count(*), sum((a.id % 2 = 0 AND (a.id + b.id) % 3 > 0)::int)
    FROM kin a JOIN kin b ON a.sk <%> b.sk <= 0.4 AND a.id < b.id;
RESET simhash.enable_join;
SELECT clause, jointype, memory, (counters->'Pairs')::bigint - found AS pairs,
       (counters->'Rows Removed by Join Filter')::bigint - (found - p.rows) AS removed,
       (counters->'Candidate Pairs')::bigint - (counters->'Candidates Removed by Join Filter')::bigint > found
           AS beyond
FROM counted AS c JOIN paired AS p USING (d), LATERAL (SELECT CASE WHEN (d, j) = (1, 1) THEN p.pairs - 500
    ELSE p.pairs END AS found) AS f WHERE j NOT IN (3, 4) ORDER BY d, j, memory DESC;
-- a join that is never executed has all counters, too, as core's joins have
SELECT node->'Actual Loops' AS loops, node->'Rows Removed by Join Filter' AS removed, pairs
FROM compared('SELECT FROM kin c WHERE c.id < 0 AND EXISTS (SELECT FROM kin a JOIN kin b ON a.sk <%> b.sk <= 0.4
    AND a.id < b.id AND a.id > c.id OFFSET 0)');
-- cheap: one or two of PostgreSQL's own operators, of values that are never toasted.  The others follow in the
-- order of their costs
CREATE DOMAIN number AS int CHECK (VALUE < 1000);
SELECT clause, node ? 'Candidates Removed by Join Filter' AS cheap
FROM unnest(ARRAY['a.id < b.id', '(a.tenant, a.id) < (b.tenant, b.id)', 'a.id - b.id < 3', 'abs(a.id - b.id) < 3',
                  '(ARRAY[7])[b.id] > a.id', 'a.id::number < b.id', 'a.sk < b.sk', 'a < b', 'a.fp < b.fp',
                  'costly(a.id, b.id)'])
        WITH ORDINALITY AS c (clause, i),
    compared('SELECT FROM kin a JOIN kin b ON a.sk <%> b.sk <= 0.4 AND ' || clause) ORDER BY i;
SELECT show($$ SELECT a.id, b.id AS r FROM kin a JOIN kin b ON costly(a.id, b.id) AND a.sk <%> b.sk <= 0.4
    AND abs(a.id - b.id) < 7 AND a.tenant = b.tenant AND (a.tenant, a.id) < (b.tenant, b.id)
    AND a.fp <~> b.fp < 60 + a.id $$, 'Filter');

--
-- Rescans read an input again only if its rows have changed
--
CREATE FUNCTION loops(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'SimHash Join|Scan on' THEN
            RETURN NEXT regexp_replace(line, '\(actual .*(loops=\d+)\)', '(\1)');
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION rescanned(query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT * FROM show(query, 'rows') UNION ALL SELECT * FROM loops(query) $$;
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= q.radius AND a.tenant = b.tenant) AS s WHERE n < 7 OR n = 61 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id + b.id) FROM sigs a
    JOIN sigs b ON a.sig % b.sig AND a.id < b.id + q.n) AS s WHERE n < 4 $$);
-- left rows with a NULL have been returned, not kept
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    LEFT JOIN (SELECT * FROM docs OFFSET 0) b ON a.fp <~> b.fp <= q.radius) AS s WHERE n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    LEFT JOIN docs b ON a.fp <~> b.fp <= q.radius) AS s WHERE n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.n) FROM uniform a
    WHERE a.n < 90 AND NOT EXISTS (SELECT FROM uniform b WHERE a.fp <~> b.fp <= q.radius * 3 AND a.n > b.n)) AS s
    WHERE n < 4 $$);
-- an input, or a key, depends on the parameter
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= 3 WHERE a.id > q.n * 3) AS s WHERE n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= 3 WHERE b.id > q.n * 3) AS s WHERE n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    JOIN docs b ON coalesce(a.fp, q.fp) <~> b.fp <= 3) AS s WHERE n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id - b.id) FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= 3 AND a.tenant = b.tenant + q.n) AS s WHERE n < 4 $$);
-- rows that match themselves are returned in each scan
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.id * 2 + b.id) FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= q.radius - 2 AND a.id <= b.id + q.n % 3 - 1) AS s WHERE n < 6 $$);
-- each scan ends early, or the inputs are in files
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*) FROM (SELECT FROM docs a
    JOIN docs b ON a.fp <~> b.fp <= q.radius LIMIT q.n * 20) AS s) AS s WHERE n < 9 $$);
CREATE TABLE spilled AS SELECT * FROM uniform WHERE n <= 1100;
ANALYZE spilled;
SET work_mem = '64kB';
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.n - b.n) FROM spilled a
    JOIN spilled b ON a.fp <~> b.fp <= q.radius * 4) AS s WHERE q.n < 4 $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*), sum(a.n) FROM spilled a
    LEFT JOIN (SELECT * FROM spilled OFFSET 0) b ON a.fp <~> b.fp <= q.radius * 4 AND a.n < b.n) AS s
    WHERE q.n IN (1, 61, 3) $$);
SELECT rescanned($$ SELECT q.n, s.* FROM queries q, LATERAL (SELECT count(*) FROM (SELECT FROM many_bands a
    JOIN many_bands b ON a.sig % b.sig AND a.n + b.n > q.n * 200 LIMIT q.n * 400) AS s) AS s WHERE n < 4 $$);
RESET work_mem;

--
-- Self-joins: one input, in memory and in files
--
CREATE VIEW kin_view AS SELECT id, fp, sk, sig, tenant, repeat('x', 50) || id AS pad FROM kin WHERE id % 10 > 0;
CREATE TABLE kin_parts (LIKE kin) PARTITION BY LIST (tenant);
CREATE TABLE kin_part_0 PARTITION OF kin_parts FOR VALUES IN (0);
CREATE TABLE kin_part_1 PARTITION OF kin_parts FOR VALUES IN (1);
INSERT INTO kin_parts SELECT * FROM kin;
ANALYZE kin_parts;
CREATE FUNCTION self_joined(query text, memory text, OUT self bool, OUT passes int, OUT rows bigint,
    OUT differing bigint) LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    PERFORM set_config('work_mem', memory, true), set_config('hash_mem_multiplier', '1', true),
            set_config('enable_nestloop', 'off', true);
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    self := jsonb_path_query_first(plan, '$.**."Self Join"');
    passes := jsonb_path_query_first(plan, '$.**."Passes"');
    EXECUTE 'CREATE TEMP TABLE found AS ' || query;
    PERFORM set_config('enable_hashjoin', 'on', true), set_config('simhash.enable_join', 'off', true);
    EXECUTE 'CREATE TEMP TABLE expected AS ' || query;
    SELECT d.rows, d.differing INTO rows, differing FROM differing('TABLE found', 'TABLE expected') AS d;
    PERFORM set_config('enable_hashjoin', 'off', true), set_config('simhash.enable_join', 'on', true);
    DROP TABLE found, expected;
END $$;
CREATE TABLE kin_twice AS SELECT id + i * 500 AS id, tenant, flip(fp, i, id) AS fp, sig, sk || i AS sk
    FROM kin, generate_series(0, 2) AS i WHERE id + i * 500 <= 1100;
ANALYZE kin_twice;
SELECT clause, other, every(self) AS self, bool_or(passes > 1) AS in_parts, max(rows) AS rows,
       sum(differing) AS differing
FROM unnest('{a.fp <~> b.fp <= 4,b.sk <%> a.sk < 0.5,a.sig % b.sig}'::text[]) WITH ORDINALITY AS c (clause, i),
     unnest('{true,a.id <> b.id,a.tenant = b.tenant AND a.id <= b.id}'::text[]) WITH ORDINALITY AS o (other, j),
     unnest('{64kB,32MB}'::text[]) AS memory,
     self_joined(format('SELECT a.id, b.id AS other, b.ctid AS place FROM kin_twice a JOIN kin_twice b ON %s AND %s',
                        clause, other), memory)
GROUP BY i, j, clause, other ORDER BY i, j;
-- semi, anti and left joins: rows that are NULL, that have no elements or none in common, and equal ones
CREATE TABLE kin_more AS SELECT * FROM kin_twice
    UNION ALL SELECT 2000 + n, n % 3, CASE n WHEN 1 THEN 5::bigint::simhash END, NULL,
        CASE WHEN n < 4 THEN '{}'::bigint[] WHEN n < 8 THEN ARRAY[-n, -2 * n]
             WHEN n > 12 THEN (SELECT sk FROM kin WHERE id = 1) END
    FROM generate_series(1, 200) AS n;
ANALYZE kin_more;
SELECT clause, form, every(self) AS self, bool_or(passes > 1) AS in_parts,
       string_agg(DISTINCT rows::text, ', ') AS rows, sum(differing) AS differing
FROM unnest('{a.fp <~> b.fp <= 4,b.sk <%> a.sk < 0.5,a.sig % b.sig}'::text[]) WITH ORDINALITY AS c (clause, i),
     unnest('{SELECT a.ctid AS place FROM kin_more a WHERE EXISTS (SELECT FROM kin_more b WHERE %s),
              SELECT a AS whole FROM kin_more a WHERE NOT EXISTS (SELECT FROM kin_more b WHERE %s),
              "SELECT a.id, b.ctid AS place FROM kin_more a LEFT JOIN kin_more b ON %s"}'::text[])
         WITH ORDINALITY AS f (form, j),
     unnest('{b.id < a.id,a.tenant = b.tenant AND a.id + 3 > b.id % 2}'::text[]) AS other,
     unnest('{64kB,32MB}'::text[]) AS memory,
     self_joined(format(form, clause || ' AND ' || other), memory)
GROUP BY i, j, clause, form ORDER BY i, j;
-- what is one input, and what is not; a sample has other rows where tuples are aligned otherwise
SELECT query, self, CASE WHEN query ~ 'TABLESAMPLE' THEN least(rows, 1) ELSE rows END AS rows, differing
FROM unnest(ARRAY[
    'SELECT a, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4',
    'SELECT a.tableoid::regclass AS t, a.ctid AS l, b.xmin::text AS x FROM kin a JOIN kin b ON a.sk <%> b.sk <= 0.4',
    'SELECT a.id, b.pad FROM kin_view a JOIN kin_view b ON a.fp <~> b.fp <= 4 AND a.id < b.id',
    'WITH c AS MATERIALIZED (SELECT * FROM kin) SELECT a.id, b.id AS other FROM c a JOIN c b ON a.fp <~> b.fp <= 4',
    'SELECT a.id, b.id AS other FROM kin_parts a JOIN kin_parts b ON a.fp <~> b.fp <= 4',
    'SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4 WHERE a.tenant = 1 AND b.tenant = 1',
    'SELECT c.id AS c, d.* FROM kin c LEFT JOIN
        (SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4) d ON c.id = d.other',
    'SELECT a.id, b.tenant FROM kin_parts a JOIN kin_parts b ON a.fp <~> b.fp <= 4 AND a.id < b.id',
    'SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4 WHERE a.tenant = 1',
    'SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4 AND a.tenant = b.tenant + 1',
    'SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> flip(b.fp, 64) >= 0 AND a.fp <~> flip(b.fp, 2) <= 4',
    'SELECT a.id, b.id AS other FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4
        AND (a.id - b.id) * (a.id - b.id) > (b.id - b.id) * (b.id - b.id)',
    'SELECT a.id, b.id AS other FROM kin a JOIN ONLY kin_part_0 b ON a.fp <~> b.fp <= 4',
    'SELECT a.id, b.id AS other FROM kin a TABLESAMPLE BERNOULLI (50) REPEATABLE (1)
        JOIN kin b TABLESAMPLE BERNOULLI (50) REPEATABLE (1) ON a.fp <~> b.fp <= 4',
    'SELECT a.id, b.id AS other FROM kin a LEFT JOIN kin b ON a.fp <~> b.fp <= 4'])
        WITH ORDINALITY AS q (query, i), self_joined(query, '4MB') ORDER BY i;
-- a condition without columns: up to 15, core puts another node above the scan, so there are two inputs
SELECT rows, differing FROM self_joined($$ SELECT c.id AS c, d.* FROM kin c LEFT JOIN
        (SELECT a.id, a.place, b.id AS other FROM (SELECT *, ctid AS place FROM kin WHERE now() = now()) a
        JOIN (SELECT *, ctid AS place FROM kin WHERE now() = now()) b
            ON a.fp <~> b.fp <= 4) d ON c.id = d.other $$, '4MB');
-- rows that are locked or changed are read twice
EXPLAIN (COSTS OFF) SELECT FROM kin a JOIN kin b ON a.fp <~> b.fp <= 4 FOR UPDATE OF a;
EXPLAIN (COSTS OFF) DELETE FROM kin a USING kin b WHERE a.fp <~> b.fp <= 4;
EXPLAIN (COSTS OFF) DELETE FROM kin a WHERE EXISTS (SELECT FROM kin b WHERE a.fp <~> b.fp <= 4 AND b.id < a.id);
-- two signatures in one file, with different parameters
CREATE TABLE kin_mixed AS SELECT id, id > 498 AS other,
    CASE id WHEN 500 THEN to_minhash(sk, 7, 2) ELSE sig END AS sig FROM kin;
SET work_mem = '64kB';
SELECT count(*) FROM kin_mixed a JOIN kin_mixed b ON a.sig % b.sig AND a.id < b.id AND a.other = b.other;
RESET work_mem;
-- a row of a self-join without elements matches no other, and not itself
CREATE TABLE empty_sets AS
    SELECT * FROM (VALUES (1, '{}'::bigint[]), (2, '{}'), (3, '{1}'), (4, NULL), (5, '{1}')) AS v (id, sk);
SELECT query, self, rows, differing FROM unnest(ARRAY[
    'SELECT a.id, b.id AS other FROM empty_sets a JOIN empty_sets b ON a.sk <%> b.sk <= 0.5',
    'SELECT a.id, b.id AS other FROM empty_sets a JOIN empty_sets b ON a.sk <%> b.sk <= 1',
    'SELECT a.id, b.id AS other FROM empty_sets a JOIN empty_sets b ON a.sk <%> b.sk <= -1'])
        WITH ORDINALITY AS q (query, i), self_joined(query, '4MB') ORDER BY i;

--
-- Nearly all rows match: no comparisons once each left row has a match
--
CREATE FUNCTION comparisons(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, '$.**.Comparisons');
END $$;
CREATE TABLE dense AS
    SELECT (random_fp(n)::bigint & 65535)::simhash AS fp, (random_fp(n)::bigint & 131070)::simhash AS other
    FROM generate_series(1, 5000) AS n;
SELECT comparisons(query) < 5000000 AS few FROM unnest(ARRAY[
    $$ SELECT FROM dense a WHERE EXISTS (SELECT FROM dense b WHERE a.fp <~> b.fp <= 10) $$,
    $$ SELECT FROM dense a WHERE EXISTS (SELECT FROM dense b WHERE a.fp <~> b.other <= 6) $$,
    $$ SELECT FROM dense a WHERE NOT EXISTS (SELECT FROM dense b WHERE a.other <~> b.fp <= 6) $$,
    -- one of 100 left rows has no match
    $$ SELECT FROM (SELECT (fp::bigint << 20 | CASE fp::bigint % 100 WHEN 0 THEN 1048575 ELSE 1 END)::simhash AS fp
                    FROM dense) a
       WHERE NOT EXISTS (SELECT FROM dense b WHERE a.fp <~> (b.fp::bigint << 20)::simhash <= 6) $$]) AS query;
SELECT show($$ SELECT fp FROM dense a WHERE NOT EXISTS
    (SELECT FROM (SELECT * FROM dense LIMIT 60) b WHERE a.other <~> b.fp <= 3) $$, 'rows');

--
-- Neighbouring bits agree: bits are dealt to the blocks, also in partitions
--
CREATE TABLE doubled AS SELECT n, flip((SELECT string_agg(repeat(bit, 2), '' ORDER BY i)::bit(64)::simhash
        FROM string_to_table(right(random_fp(n / 3)::bit(64)::text, 32), NULL) WITH ORDINALITY AS t (bit, i)),
        n % 5, n) AS fp FROM generate_series(1, 3000) AS n;
ANALYZE doubled;
SET simhash.enable_join = off;
CREATE TABLE doubled_pairs AS SELECT a.n AS l, b.n AS r, a.fp <~> b.fp AS distance
    FROM doubled a JOIN doubled b ON a.fp <~> b.fp <= 12 AND a.n > b.n;
RESET simhash.enable_join;
CREATE FUNCTION doubled_differing(radius int) RETURNS numeric LANGUAGE sql AS $$
    SELECT sum(differing) FROM (VALUES
        ('SELECT a.n AS l, b.n AS r FROM doubled a JOIN doubled b ON a.fp <~> b.fp <= %s AND a.n > b.n',
         'SELECT l, r FROM doubled_pairs WHERE distance <= %s'),
        ('SELECT n FROM doubled a WHERE EXISTS (SELECT FROM doubled b WHERE a.fp <~> b.fp <= %s AND a.n > b.n)',
         'SELECT DISTINCT l AS n FROM doubled_pairs WHERE distance <= %s'),
        ('SELECT n FROM doubled a WHERE NOT EXISTS (SELECT FROM doubled b WHERE a.fp <~> b.fp <= %s AND a.n > b.n)',
         'SELECT n FROM doubled EXCEPT SELECT l FROM doubled_pairs WHERE distance <= %s')) AS v (found, expected),
        differing(format(found, radius), format(expected, radius)) $$;
SELECT sum(doubled_differing(radius)) AS differing FROM generate_series(0, 12) AS radius;
SELECT comparisons('SELECT FROM doubled a JOIN doubled b ON a.fp <~> b.fp <= 8') < 1000000 AS few;
SET work_mem = '64kB';
SELECT sum(doubled_differing(radius)) AS differing FROM unnest('{0,3,8,12}'::int[]) AS radius;
SELECT comparisons('SELECT FROM doubled a JOIN doubled b ON a.fp <~> b.fp <= 8') < 1000000 AS few;
RESET work_mem;

--
-- What the node does not serve
--
SELECT show($$ SELECT id, n FROM docs d FULL JOIN queries q ON d.id = q.n AND d.fp <~> q.fp <= 40 $$, 'Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= q.radius $$, 'Loop|Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 3 OR d.id = q.n $$, 'Loop|Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp > 30 $$, 'Loop|Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp < 5 + 0 * random() $$, 'Loop|Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON coalesce(d.fp, q.fp) <~> q.fp <= 3 AND d.id = q.n $$, 'Loop|Join');
SELECT show($$ SELECT id, n FROM docs d JOIN queries q
    ON d.fp <~> q.fp <= (SELECT min(radius) FROM queries WHERE n = d.id) $$, 'Loop|Custom');
-- LATERAL: one side is computed for each row of the other one
SELECT show($$ SELECT d.id, s.n FROM docs d JOIN LATERAL (SELECT * FROM queries WHERE n < d.id OFFSET 0) AS s
    ON d.fp <~> s.fp <= 3 $$, 'Loop|Join');
-- the table to update has partitions
SELECT plan($$ UPDATE parts p SET id = q.n FROM queries q WHERE p.fp <~> q.fp <= 2 $$, 'Loop|Join');
SET simhash.enable_join = off;
SELECT plan($$ SELECT id, n FROM docs d JOIN queries q ON d.fp <~> q.fp <= 5 $$, 'Loop|Join');

RESET simhash.enable_join;
SET client_min_messages = warning;
DROP SCHEMA similarity_join CASCADE;
DROP ROLE regress_simhash_join;
