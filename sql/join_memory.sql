--
-- Similarity joins in little memory: the rows of each type of join, for each way to use
-- memory and temporary files
--
-- The expected rows do not come from a similarity join.  EXPLAIN shows which way the join
-- took.
--
CREATE SCHEMA join_memory;
SET search_path = join_memory, public;
SELECT set_config(name, 'off', false)
FROM unnest(ARRAY['enable_nestloop', 'enable_mergejoin', 'enable_material', 'enable_memoize']) AS name \g /dev/null
SET max_parallel_workers_per_gather = 0;

-- Families of three near rows, equal rows, and NULLs
CREATE TABLE docs AS
    SELECT i AS id,
           CASE WHEN i % 120 = 0 OR i < 100 AND i % 10 = 0 THEN fp_of('equal', i)
                WHEN i % 40 <> 1 THEN flip(random_fp(i / 3), i % 7, i) END AS fp,
           CASE WHEN i % 120 = 0 OR i < 100 AND i % 10 = 0 THEN to_minhash('{1,2}'::bigint[], 6, 2)
                WHEN i % 40 <> 1 THEN
                    to_minhash(ARRAY[i / 3, i / 3 + 10000, i / 3 + 20000, 30000 + i], 6, 2) END AS sig,
           CASE WHEN i <= 1400 AND i % 40 <> 1 THEN to_minhash(ARRAY[i / 3], 128, 1) END AS long_sig,
           CASE WHEN i % 120 = 0 OR i < 100 AND i % 10 = 0 THEN '{-1,-2}'::bigint[]
                WHEN i % 40 <> 1 THEN ARRAY[i / 3, i / 3 + 10000, -5, i / 3 + 20000, 30000 + i, -7] END AS sk,
           CASE WHEN i % 40 <> 2 THEN i / 3 % 499 END AS tenant, md5(i::text) AS body
    FROM generate_series(1, 9000) AS i;
CREATE TABLE wide AS SELECT id, fp, sig, long_sig, sk, tenant, repeat(body, 16) AS body FROM docs WHERE id <= 100;
CREATE INDEX ON docs (id);
ANALYZE docs, wide;

-- Conditions, the method that joins many rows, by how many blocks or bands, the size of its
-- files compared with others, and the pairs of rows of docs that fulfill the condition
CREATE TABLE conditions AS SELECT * FROM (VALUES
    (1, 'a.fp <~> b.fp <= 3', 'agree on 1 of . blocks', 4, 1),
    (2, 'a.fp <~> b.fp <= 8 AND a.tenant = b.tenant', 'agree on 1 of . blocks', 9, 1),
    (3, 'a.fp <~> b.fp <= 0', 'equal fingerprints', 1, 1),
    (4, 'a.fp <~> b.fp <= 24 AND a.tenant = b.tenant', 'all pairs', 1, 1),
    (5, 'a.sig % b.sig', '6 bands', 6, 1),
    (6, 'a.sig % b.sig AND a.tenant = b.tenant', '6 bands', 6, 1),
    (7, 'a.long_sig % b.long_sig', '128 bands', 128, 15),
    (8, 'a.sk <%> b.sk <= 0.3', 'rare keys', 1, 2),
    (9, 'a.sk <%> b.sk <= 0.3 AND a.tenant = b.tenant', 'rare keys', 1, 2)) AS c (c, clause, method, blocks, size);
SET simhash.enable_join = off;
CREATE TABLE pairs AS
    WITH blocks AS (SELECT id, fp, (fp::bigint >> 16 * i & 65535) * 4 + i AS block
                    FROM docs, generate_series(0, 3) AS i),
         bands AS (SELECT id, tenant, band FROM docs, unnest(minhash_bands(sig)) AS band)
    SELECT DISTINCT 1 AS c, a.id AS l, b.id AS r, a.fp <~> b.fp AS distance
    FROM blocks a JOIN blocks b USING (block) WHERE a.fp <~> b.fp <= 3
    UNION ALL SELECT 2, a.id, b.id, a.fp <~> b.fp FROM docs a JOIN docs b USING (tenant) WHERE a.fp <~> b.fp <= 8
    UNION ALL SELECT 3, a.id, b.id, NULL::int FROM docs a JOIN docs b USING (fp)
    UNION ALL SELECT 4, a.id, b.id, NULL::int FROM docs a JOIN docs b USING (tenant) WHERE a.fp <~> b.fp <= 24
    UNION ALL SELECT DISTINCT 5, a.id, b.id, NULL::int FROM bands a JOIN bands b USING (band)
    UNION ALL SELECT DISTINCT 6, a.id, b.id, NULL::int FROM bands a JOIN bands b USING (band, tenant)
    UNION ALL SELECT 7, a.id, b.id, NULL::int FROM docs a JOIN docs b USING (long_sig)
    UNION ALL SELECT 8, a.id, b.id, NULL::int FROM docs a JOIN docs b ON a.sk[1] = b.sk[1]
    UNION ALL SELECT 9, a.id, b.id, NULL::int FROM docs a JOIN docs b ON a.sk[1] = b.sk[1] AND a.tenant = b.tenant;
DELETE FROM pairs WHERE l = r;
CREATE INDEX ON pairs (c, l);
ANALYZE pairs;
RESET simhash.enable_join;
SELECT c, clause, count(*) FROM conditions JOIN pairs USING (c) GROUP BY c, clause ORDER BY c;

-- Return a join of the first l rows with the first r rows of a table.  The planner takes the
-- left input for the larger one, and so does not exchange the inputs.
CREATE FUNCTION join_of(jointype text, l text, r text, rights text, condition text) RETURNS text LANGUAGE sql
    RETURN format(CASE jointype
        WHEN 'inner' THEN 'SELECT a.id, a.body, b.id AS r, b.body AS r_body FROM %s JOIN %s ON %s'
        WHEN 'left' THEN 'SELECT a.id, a.body, b.id AS r, b.body AS r_body FROM %s LEFT JOIN %s ON %s'
        WHEN 'semi' THEN 'SELECT a.id, a.body FROM %s WHERE EXISTS (SELECT FROM %s WHERE %s)'
        WHEN 'anti' THEN 'SELECT a.id, a.body FROM %s WHERE NOT EXISTS (SELECT FROM %s WHERE %s)' END,
        format('(SELECT * FROM docs WHERE id <= %s) AS a', l),
        format('(SELECT * FROM %s WHERE abs(id) = id AND id <= %s) AS b', rights, r),
        condition || ' AND left(a.body, 32) <> left(b.body, 32)');
-- Return a query for the rows that the join has to have: those of some pairs.
CREATE FUNCTION expected_of(jointype text, l int, r int, rights text, joined text) RETURNS text LANGUAGE sql
    RETURN format(CASE jointype
        WHEN 'inner' THEN 'SELECT a.id, a.body, b.id AS r, b.body AS r_body
            FROM docs a JOIN (%1$s) AS p ON a.id = p.l JOIN %3$I b ON b.id = p.r WHERE a.id <= %2$s'
        WHEN 'left' THEN 'SELECT a.id, a.body, b.id AS r, b.body AS r_body
            FROM docs a LEFT JOIN ((%1$s) AS p JOIN %3$I b ON b.id = p.r) ON a.id = p.l WHERE a.id <= %2$s'
        WHEN 'semi' THEN 'SELECT id, body FROM docs WHERE id <= %2$s AND id IN (SELECT l FROM (%1$s) AS p)'
        WHEN 'anti' THEN 'SELECT id, body FROM docs WHERE id <= %2$s AND id NOT IN (SELECT l FROM (%1$s) AS p)' END,
        format('SELECT l, r FROM pairs WHERE l <= %s AND r <= %s AND %s', l, r, joined), l, rights);

-- Create the table `found` of a query's rows, in little memory.  Returns what EXPLAIN ANALYZE
-- says of the join: parts of the right input, kB of files, kB of memory, fingerprints in the
-- chunks joined, blocks read for each pair, and whether the rows are read once.
CREATE FUNCTION find(
    query text, within text DEFAULT '64kB', OUT batches int, OUT disk int, OUT memory int, OUT method text,
    OUT fingerprints float8, OUT reads float8, OUT self bool)
LANGUAGE plpgsql AS $$
DECLARE
    node jsonb;
BEGIN
    PERFORM set_config('work_mem', within, true);
    SET LOCAL hash_mem_multiplier = 1;
    SET LOCAL enable_hashjoin = off;
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) CREATE TEMP TABLE found AS ' || query INTO node;
    RESET work_mem;
    RESET enable_hashjoin;
    node := jsonb_path_query_first(node, '$.** ? (@."Custom Plan Provider" == "SimHash Join")');
    ASSERT node IS NOT NULL, query;
    batches := node->'Batches';
    disk := coalesce((node->'Disk Usage')::int, 0);
    memory := node->'Memory Usage';
    method := node->>'Method';
    fingerprints := node->'Values';
    reads := (node->'Temp Read Blocks')::float8 / greatest((node->'Pairs')::float8, 1);
    self := node ? 'Self Join';
END $$;

-- The rows of the inputs.  Partitions of 9000 rows do not fit, either.
CREATE TABLE ways AS SELECT * FROM (VALUES
    (1, 'all in memory', 30, 30, 'docs'),
    (2, 'right tuples in a file', 30, 100, 'wide'),
    (3, 'left in chunks', 1400, 30, 'docs'),
    (4, 'left in chunks, right tuples in a file', 1400, 100, 'wide'),
    (5, 'right in chunks', 30, 1400, 'docs'),
    (6, 'partitions', 1400, 1400, 'docs'),
    (7, 'partitions in chunks', 9000, 9000, 'docs')) AS w (w, name, l, r, rights);
-- Return true if a join took a way.  The right input fits, or has chunks or partitions.
-- Chunks of the left input take less memory than all of it.  They, and those of a partition,
-- meet fingerprints several times.  Long signatures take more of the files.
CREATE FUNCTION took(way ways, condition conditions, batches int, disk int, memory int, method text,
    fingerprints float8)
RETURNS boolean LANGUAGE sql
    RETURN CASE way.w
        WHEN 1 THEN batches = 1 AND disk = 0
        WHEN 2 THEN batches = 1 AND disk >= 40
        WHEN 3 THEN batches = 1 AND disk < 20 AND memory < 230 AND (condition.c NOT IN (1, 3) OR fingerprints > 1600)
        WHEN 4 THEN batches = 1 AND disk >= 40 AND memory < 230 AND (condition.c NOT IN (1, 3) OR fingerprints > 2000)
        WHEN 5 THEN batches = CASE method WHEN 'rare keys' THEN 3 ELSE 2 END
            AND disk / condition.size BETWEEN 65 AND 230
        WHEN 6 THEN batches = CASE method WHEN 'rare keys' THEN 8 ELSE 2 END
            AND disk / condition.size > CASE method WHEN 'rare keys' THEN 140 ELSE 230 END AND method ~ condition.method
        ELSE batches = 8 AND disk > 1500 AND memory < 400 AND method ~ condition.method
            AND (condition.c NOT IN (1, 3) OR fingerprints > 18000 * condition.blocks) END;

-- Compare the rows of a join with the expected ones.  Inner and left joins must read the
-- tuples of many pairs together.
CREATE FUNCTION compare(way ways, condition conditions, jointype text, OUT rows bigint, OUT differing bigint,
    OUT took boolean)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT took(way, condition, f.batches, f.disk, f.memory, f.method, f.fingerprints)
           AND (way.w <> 6 OR jointype IN ('semi', 'anti') OR condition.size > 2 OR reads < 0.5) INTO took
    FROM find(join_of(jointype, format('(SELECT %s)', way.l), format('(SELECT %s)', way.r), way.rights,
                      condition.clause)) AS f;
    SELECT * INTO rows, differing
    FROM differing('TABLE found', expected_of(jointype, way.l, way.r, way.rights, 'c = ' || condition.c)) AS d;
    DROP TABLE found;
END $$;
SELECT name, clause, bool_and(took) AS took,
       string_agg(concat_ws(' ', rows, jointype, 'differing: ' || NULLIF(differing, 0)), ', ' ORDER BY j) AS rows
FROM ways AS way JOIN conditions AS condition ON CASE w WHEN 7 THEN c IN (1, 2, 3, 5, 8) ELSE size < 15 OR w > 4 END,
     unnest('{inner,left,semi,anti}'::text[]) WITH ORDINALITY AS j (jointype, j), compare(way, condition, jointype)
GROUP BY w, name, c, clause ORDER BY w, c;

-- Self-joins: all in memory, tuples in a file, partitions, and partitions in chunks
CREATE FUNCTION compare_self(rights text, n int, condition conditions, OUT self boolean, OUT batches int,
    OUT in_file boolean, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT f.self, f.batches, disk > 0 INTO self, batches, in_file
    FROM find(format('SELECT a.id, a.body, b.id AS r, b.body AS r_body FROM (SELECT * FROM %1$I WHERE id <= %2$s) a
        JOIN (SELECT * FROM %1$I WHERE id <= %2$s) b ON %3$s AND left(a.body, 32) <> left(b.body, 32)',
        rights, n, condition.clause)) AS f;
    SELECT * INTO rows, differing
    FROM differing('TABLE found', format('SELECT a.id, a.body, b.id AS r, b.body AS r_body
        FROM %1$I a JOIN pairs ON a.id = l JOIN %1$I b ON b.id = r WHERE c = %3$s AND l <= %2$s AND r <= %2$s',
        rights, n, condition.c)) AS d;
    DROP TABLE found;
END $$;
SELECT rights, n, every(self) AS self, min(batches), max(batches), every(in_file) AS in_file,
       string_agg(concat_ws(' ', clause || ':', rows, 'differing: ' || NULLIF(differing, 0)), ', ' ORDER BY c) AS rows
FROM (VALUES ('docs', 30), ('wide', 100), ('docs', 1400), ('docs', 9000)) AS way (rights, n)
     JOIN conditions AS condition ON c IN (1, 2, 3, 5, 8) OR c = 7 AND n < 9000, compare_self(rights, n, condition)
GROUP BY n, rights ORDER BY n;

-- A partition may have one left row.
CREATE TABLE uneven AS SELECT ARRAY[least(n, 2)] AS sk FROM generate_series(bigint '1', 4000) AS n;
CREATE TABLE different AS SELECT ARRAY[n] AS sk FROM generate_series(bigint '1', 3000) AS n;
ANALYZE uneven, different;
SELECT find('SELECT a.sk FROM uneven a JOIN different b ON a.sk <%> b.sk <= 0.2') \g /dev/null
SELECT sk, count(*) FROM found GROUP BY sk ORDER BY sk;
DROP TABLE found;

-- A left chunk and a chunk of the right input are in memory at the same time.
CREATE TABLE many AS
    SELECT n, ARRAY(SELECT n / 3 * 20 + i FROM generate_series(1, 20) AS i) AS sk
    FROM generate_series(bigint '1', 2000) AS n;
ANALYZE many;
SELECT memory < 1100 AS within_limit FROM find('SELECT a.n FROM (SELECT * FROM many WHERE n <= (SELECT 2000)) a
    JOIN (SELECT * FROM many WHERE abs(n) <= 1000) b ON a.sk <%> b.sk <= 0.3', '1MB');
DROP TABLE found;

-- The last batch may have one pair.
SELECT find('SELECT a.id, b.id AS r, b.body FROM (SELECT * FROM docs WHERE id <= (SELECT 2)) a
    JOIN (SELECT * FROM wide WHERE abs(id) = id) b ON a.fp <~> b.fp <= 0') \g /dev/null
SELECT id, r, length(body) FROM found;
DROP TABLE found;

--
-- Rescans, each to the end or to the first rows: nothing is left of the scan before
--
CREATE TABLE steps (way int, n int, l int, r int, radius int, stop int);
-- Compare the rows that a join returns in each step, up to the step's limit, with the
-- expected ones.  Returns the number of rows that are not expected, and of steps with
-- another number of rows.
CREATE FUNCTION compare_steps(
    of int, query text, expected text, OUT rows bigint, OUT unexpected bigint, OUT other_number bigint)
LANGUAGE plpgsql AS $$
BEGIN
    query := format('SELECT s.n, j.* FROM (SELECT * FROM steps WHERE way = %s ORDER BY n) AS s,
        LATERAL (%s LIMIT s.stop) AS j', of, query);
    PERFORM find(query);
    EXECUTE 'CREATE TEMP TABLE expected AS ' || expected;
    SELECT count(*) INTO unexpected FROM (TABLE found EXCEPT ALL TABLE expected) AS s;
    SELECT sum(f), count(*) FILTER (WHERE f <> least(stop, e)) INTO rows, other_number
    FROM steps AS s, LATERAL (SELECT count(*) AS f FROM found WHERE n = s.n) AS f,
         LATERAL (SELECT count(*) AS e FROM expected WHERE n = s.n) AS e
    WHERE way = of;
    DROP TABLE found, expected;
END $$;
-- The inputs change, from one way to another.
INSERT INTO steps SELECT 0, row_number() OVER ()::int, l, r, NULL, stop FROM (VALUES
    (30, 30, NULL), (1100, 1100, NULL), (30, 30, NULL), (1100, 30, NULL), (30, 1100, 5), (1100, 1100, 100),
    (30, 1100, NULL), (0, 1100, NULL), (1100, 30, 20), (1100, 0, NULL), (1100, 1100, NULL), (30, 30, 1),
    (1100, 30, NULL)) AS s (l, r, stop);
SELECT clause, string_agg(concat_ws(' ', rows, jointype, NULLIF((unexpected, other_number), (0::bigint, 0::bigint))),
                          ', ' ORDER BY j) AS rows
FROM conditions, unnest('{inner,left,semi,anti}'::text[]) WITH ORDINALITY AS j (jointype, j),
     LATERAL (SELECT string_agg(format('SELECT %s AS n, j.* FROM (%s) AS j', n,
                                       expected_of(jointype, l, r, 'docs', 'c = ' || c)), ' UNION ALL ') AS expected
              FROM steps WHERE way = 0) AS e,
     compare_steps(0, join_of(jointype, 's.l', 's.r', 'docs', clause), expected)
WHERE c IN (1, 2, 5, 6, 8) GROUP BY c, clause ORDER BY c;
-- The radius and the filter change, and no input.
INSERT INTO steps SELECT w, n, l, r, radius, stop FROM ways, (VALUES
    (1, 8, NULL), (2, 8, 3), (3, 8, NULL), (4, 0, NULL), (5, NULL, NULL), (6, 3, NULL)) AS s (n, radius, stop)
WHERE w < 7;
SELECT way.name, string_agg(concat_ws(' ', rows, jointype, NULLIF((unexpected, other_number), (0::bigint, 0::bigint))),
                          ', ' ORDER BY j) AS rows
FROM ways AS way, unnest('{inner,left,semi,anti}'::text[]) WITH ORDINALITY AS j (jointype, j),
     LATERAL (SELECT string_agg(format('SELECT %s AS n, j.* FROM (%s) AS j', n,
                                       expected_of(jointype, l, r, rights,
                                                   format('c = 2 AND distance <= %L AND l + %s <> r', radius, n))),
                                ' UNION ALL ') AS expected
              FROM steps WHERE way = w) AS e,
     compare_steps(w, join_of(jointype, format('(SELECT %s)', l), format('(SELECT %s)', r), rights,
                              'a.fp <~> b.fp <= s.radius AND a.tenant = b.tenant AND a.id + s.n <> b.id'), expected)
WHERE w < 7 GROUP BY w, way.name ORDER BY w;
-- Nothing changes.
UPDATE steps SET radius = NULL;
DELETE FROM steps WHERE n > 4;
SELECT way.name, string_agg(concat_ws(' ', rows, jointype, NULLIF((unexpected, other_number), (0::bigint, 0::bigint))),
                          ', ' ORDER BY j) AS rows
FROM ways AS way, unnest('{inner,left,semi,anti}'::text[]) WITH ORDINALITY AS j (jointype, j),
     LATERAL (SELECT string_agg(format('SELECT %s AS n, j.* FROM (%s) AS j', n,
                                       expected_of(jointype, l, r, rights, 'c = 5')), ' UNION ALL ') AS expected
              FROM steps WHERE way = w) AS e,
     compare_steps(w, join_of(jointype, format('(SELECT %s)', l), format('(SELECT %s)', r), rights,
                              'a.sig % b.sig'), expected)
WHERE w < 7 GROUP BY w, way.name ORDER BY w;

-- A join that writes files is in no parallel plan: each worker would write all of them.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 100;
SET parallel_tuple_cost = 0;
CREATE TABLE bodies WITH (parallel_workers = 2) AS SELECT id, body FROM docs;
ANALYZE bodies;
ALTER TABLE docs SET (parallel_workers = 0);
CREATE FUNCTION is_parallel(memory text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM docs a JOIN docs b ON a.sig % b.sig JOIN bodies x ON x.id = a.id
             WHERE resemblance(x.body, b.body) > 0' INTO plan;
    RETURN plan::text LIKE '%Gather%';
END $$;
SELECT memory, is_parallel(memory) FROM unnest('{64MB,64kB}'::text[]) AS memory;

SET client_min_messages = warning;
DROP SCHEMA join_memory CASCADE;
