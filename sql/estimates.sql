--
-- Estimates and costs: accurate enough, and equal for all forms of a query; and the
-- plans that follow from them
--
-- ANALYZE samples all rows of these small tables, so the estimates are not random.
--
CREATE SCHEMA estimates;
SET search_path = estimates, public;
SET max_parallel_workers_per_gather = 0;

-- The number n with `distance` of its bits flipped, other bits for each `which`.
CREATE FUNCTION near(n int, distance int, which int) RETURNS simhash LANGUAGE sql IMMUTABLE
    AS $$ SELECT (fingerprint(n)::bigint # sum(1::bigint << (which * 7 + i * 11) % 64)::bigint)::simhash
          FROM generate_series(1, distance) AS i $$;

-- Return the estimated number of rows, if it is wrong by more than the factor.
CREATE FUNCTION misjudged(query text, actual bigint, factor float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE estimate float8 := explained(query, 'Plan Rows');
BEGIN
    IF greatest(estimate, 1) NOT BETWEEN greatest(actual, 1) / factor AND greatest(actual, 1) * factor THEN
        RETURN NEXT format('%s rows for %s: %s', estimate, actual, query);
    END IF;
END $$;
-- `counted` is another query for as many rows, where the query itself takes long.
CREATE FUNCTION misjudged(query text, factor float8, counted text DEFAULT NULL)
    RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE actual bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) AS q', coalesce(counted, query)) INTO actual;
    RETURN QUERY SELECT misjudged(query, actual, factor);
END $$;

--
-- Joins: the same estimate for both orders of the operands
--
-- 4,000 different fingerprints in one table, 200 rows in the other, half of them in
-- both
CREATE TABLE big AS SELECT n AS id, fingerprint(n) AS fp FROM generate_series(1, 4000) AS n;
CREATE TABLE small AS SELECT n AS id, fingerprint(CASE WHEN n % 2 = 0 THEN n ELSE -n END) AS fp
    FROM generate_series(1, 200) AS n;
-- a common value, and NULLs
CREATE TABLE skewed AS SELECT n AS id, CASE n % 10 WHEN 0 THEN fingerprint(0) WHEN 1 THEN NULL
    ELSE fingerprint(n) END AS fp FROM generate_series(1, 2000) AS n;
-- four neighbours of each of 25 fingerprints; 250 fingerprints, each in 8 rows
CREATE TABLE neighbours AS SELECT near(c, 2, w) AS fp FROM generate_series(1, 25) AS c, generate_series(1, 4) AS w;
CREATE TABLE repeated AS SELECT fingerprint(c) AS fp FROM generate_series(1, 250) AS c, generate_series(1, 8);
CREATE INDEX ON big USING simhash (fp);
CREATE INDEX ON small USING simhash (fp);
CREATE INDEX ON skewed USING simhash (fp);
CREATE INDEX ON neighbours USING simhash (fp);
CREATE INDEX ON repeated USING simhash (fp);
VACUUM ANALYZE big, small, skewed, neighbours, repeated;

CREATE FUNCTION misjudged_join(form text, a text, b text, radius int, factor float8)
    RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    actual bigint;
    spelling text;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || format(form, a, b, format('a.fp <~> b.fp <= %s', radius))
        || ') AS q' INTO actual;
    FOREACH spelling IN ARRAY '{%s.fp <~> %s.fp <= %s, "hamming_distance(%s.fp, %s.fp) <= %s",
            "simhash_within(%s.fp, %s.fp, %s)", "%s.fp <@ simhash_ball(%s.fp, %s)",
            "%2$s.fp <@ simhash_ball(%1$s.fp, %3$s)"}'::text[] LOOP
        RETURN QUERY SELECT misjudged(format(form, a, b, format(spelling, 'a', 'b', radius)), actual, factor);
        RETURN QUERY SELECT misjudged(format(form, a, b, format(spelling, 'b', 'a', radius)), actual, factor);
    END LOOP;
END $$;
\set inner 'SELECT FROM %s a, %s b WHERE %s'
\set exists 'SELECT FROM %s a WHERE EXISTS (SELECT FROM %s b WHERE %s)'
\set not_exists 'SELECT FROM %s a WHERE NOT EXISTS (SELECT FROM %s b WHERE %s)'
SELECT misjudged_join(:'inner', 'big', 'small', 3, 3);
SELECT misjudged_join(:'inner', 'small', 'big', 3, 3);
SELECT misjudged_join(:'inner', 'small', 'big', 0, 3);
SELECT misjudged_join(:'inner', 'big', 'repeated', 3, 3);
SELECT misjudged_join(:'inner', 'skewed', 'skewed', 3, 3);
SELECT misjudged_join(:'inner', 'skewed', 'big', 3, 3);
SELECT misjudged_join(:'inner', 'neighbours', 'neighbours', 4, 3);
SELECT misjudged_join(:'inner', 'neighbours', 'repeated', 3, 3);
SELECT misjudged_join(:'inner', 'small', 'neighbours', 30, 3);
-- a table with itself: a clause that no row fulfils with itself excludes the pairs of a row and
-- itself, other clauses do not
\set not_self 'SELECT FROM %s a, %s b WHERE %s AND a.id <> b.id'
\set ordered 'SELECT FROM %s a, %s b WHERE %s AND b.id > a.id'
\set exists_not_self 'SELECT FROM %s a WHERE EXISTS (SELECT FROM %s b WHERE %s AND a.id <> b.id)'
SELECT misjudged_join(:'not_self', 'big', 'big', 3, 3);
SELECT misjudged_join(:'ordered', 'big', 'big', 3, 3);
SELECT misjudged_join(:'not_self', 'skewed', 'skewed', 3, 3);
SELECT misjudged_join(:'exists_not_self', 'big', 'big', 3, 3);
SELECT misjudged_join(:'inner', 'big', 'big', 3, 3);
SELECT misjudged_join('SELECT FROM %s a, %s b WHERE %s AND a.id <= b.id', 'big', 'big', 3, 4);
SELECT misjudged_join('SELECT FROM %s a, %s b WHERE %s AND a.id <> -b.id', 'big', 'big', 3, 3);
-- so a search for one pair does not expect to find one soon; it does where there are some
CREATE TABLE plain AS SELECT id, fp FROM big;
CREATE VIEW seen AS SELECT * FROM plain;
ANALYZE plain;
SELECT query, whole_plan(query) LIKE '%SimHash Join%' AS joined FROM unnest('{
    SELECT EXISTS (SELECT FROM plain a JOIN plain b ON a.fp <~> b.fp <= 3 AND a.id < b.id),
    SELECT FROM plain a WHERE EXISTS (SELECT FROM plain b WHERE a.fp <~> b.fp <= 3 AND a.id <> b.id) LIMIT 5,
    SELECT EXISTS (SELECT FROM seen a JOIN seen b ON a.fp <~> b.fp <= 3 WHERE a.id > b.id),
    SELECT EXISTS (SELECT FROM plain a JOIN plain b ON a.fp <~> b.fp <= 3)}'::text[]) AS query;
SELECT misjudged_join(:'exists', 'big', 'small', 3, 3);
SELECT misjudged_join(:'exists', 'small', 'big', 3, 3);
SELECT misjudged_join(:'exists', 'neighbours', 'repeated', 3, 3);
SELECT misjudged_join(:'exists', 'small', 'small', 64, 1);
SELECT misjudged_join(:'not_exists', 'big', 'small', 3, 3);
SELECT misjudged_join(:'not_exists', 'skewed', 'skewed', 3, 3);

-- joins without an index
CREATE TABLE plain_big AS TABLE big;
CREATE TABLE plain_small AS TABLE small;
CREATE TABLE plain_skewed AS TABLE skewed;
CREATE TABLE plain_neighbours AS TABLE neighbours;
CREATE TABLE plain_repeated AS TABLE repeated;
VACUUM ANALYZE plain_big, plain_small, plain_skewed, plain_neighbours, plain_repeated;
SELECT misjudged_join(form, 'plain_' || a, 'plain_' || b, radius, factor)
FROM (VALUES (:'inner', 'big', 'small', 3, 3), (:'inner', 'small', 'big', 0, 3), (:'inner', 'big', 'repeated', 3, 3),
    (:'inner', 'skewed', 'skewed', 3, 3), (:'inner', 'skewed', 'big', 3, 3),
    (:'inner', 'neighbours', 'neighbours', 4, 3), (:'inner', 'neighbours', 'repeated', 3, 3),
    (:'inner', 'small', 'neighbours', 30, 3),
    (:'exists', 'big', 'small', 3, 3), (:'exists', 'small', 'big', 3, 3), (:'exists', 'neighbours', 'repeated', 3, 3),
    (:'exists', 'small', 'small', 64, 1), (:'not_exists', 'big', 'small', 3, 3),
    (:'not_exists', 'skewed', 'skewed', 3, 3)) AS c (form, a, b, radius, factor);
-- other comparisons of the distance, with an index and without
SELECT misjudged(format(query, prefix, condition), 2)
FROM unnest('{"",plain_}'::text[]) AS prefix,
    unnest(ARRAY['SELECT FROM %1$sneighbours a JOIN %1$sneighbours b ON %2$s',
                 'SELECT FROM %1$sneighbours a LEFT JOIN %1$sneighbours b ON %2$s']) AS query,
    unnest(ARRAY['4 >= a.fp <~> b.fp', 'a.fp <~> b.fp < 4.5', 'a.fp <~> b.fp = 4', 'a.fp <~> b.fp = 0',
                 'a.fp <~> b.fp BETWEEN 1 AND 4', 'a.fp <~> b.fp BETWEEN 0 AND 4', 'a.fp <~> b.fp > 30',
                 'a.fp <~> b.fp >= 4', 'NOT a.fp <~> b.fp > 4', 'a.fp <~> b.fp = 4 OR a.fp <~> b.fp < 1',
                 'a.fp <~> b.fp > 63 OR a.fp <~> b.fp < 5 AND a.fp <~> b.fp >= 1']) AS condition;
-- a filter above an outer join, of the columns of one table
SELECT misjudged('SELECT FROM plain_big a LEFT JOIN plain_skewed b USING (id)
    WHERE coalesce(b.fp, fingerprint(0)) <~> fingerprint(0) <= 3', 2);
-- inputs without statistics: uniform fingerprints are assumed
SELECT misjudged(query, 3) FROM unnest(ARRAY[
    'WITH a AS MATERIALIZED (TABLE big), b AS MATERIALIZED (TABLE big) SELECT FROM a JOIN b ON a.fp <~> b.fp <= 3',
    'SELECT FROM generate_series(1, 20000) AS a JOIN generate_series(1, 20000) AS b
     ON fingerprint(a) <~> fingerprint(b) <= 3',
    'SELECT FROM generate_series(1, 1000) AS a WHERE EXISTS
     (SELECT FROM generate_series(-1, -1000, -1) AS b WHERE fingerprint(a) <~> fingerprint(b) <= 20)',
    'SELECT FROM (VALUES (fingerprint(1)), (fingerprint(2))) AS a (fp)
     JOIN (VALUES (fingerprint(2)), (fingerprint(3)), (fingerprint(4))) AS b (fp) ON a.fp <~> b.fp <= 3']) AS query;

--
-- For a known center all most common values are compared
--
CREATE TABLE common AS SELECT fingerprint(n % 400) AS fp FROM generate_series(1, 16000) AS n
    UNION ALL SELECT fingerprint(n) FROM generate_series(1000, 4999) AS n;
ALTER TABLE common ALTER fp SET STATISTICS 1000;
ANALYZE common;
CREATE INDEX ON common USING simhash (fp);
SELECT misjudged(format('SELECT FROM common WHERE fp <~> fingerprint(%s) <= 3', n), 1.5)
FROM generate_series(0, 399, 19) AS n;
-- no row is near a center, or in a ball, that is NULL, as the planner finds out.  For such a
-- ball the scan reads nothing
CREATE FUNCTION nowhere() RETURNS simhash LANGUAGE plpgsql STABLE AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION no_ball() RETURNS simhash_ball LANGUAGE plpgsql STABLE AS 'BEGIN RETURN NULL; END';
\set near 'SELECT FROM common WHERE fp <~> nowhere() <= 40'
\set inside 'SELECT FROM common WHERE fp <@ no_ball()'
SELECT misjudged(:'near', 1), misjudged(:'inside', 1);
SELECT explained(:'near', 'Total Cost') > 5 * explained(:'inside', 'Total Cost') AS less;

--
-- A comparison that stays in the plan next to simhash_within is counted once
--
CREATE TABLE uniform AS
    SELECT n AS id, fingerprint(n) AS fp, repeat('x', 50) AS filler FROM generate_series(1, 20000) AS n;
CREATE INDEX uniform_fp ON uniform USING simhash (fp);
VACUUM ANALYZE uniform;
SELECT misjudged(query, 3) FROM unnest(ARRAY[
    'SELECT FROM uniform WHERE fp <~> fingerprint(-1) = 20',
    'SELECT FROM uniform WHERE 20 = hamming_distance(fingerprint(-1), fp)',
    'SELECT FROM uniform WHERE fp <~> fingerprint(-1) = 20.0',
    'SELECT FROM uniform WHERE fp <~> fingerprint(-1) = 20 AND fp <~> fingerprint(-1) <= 40',
    'SELECT FROM uniform WHERE (fp <~> fingerprint(-1) = 20 AND fp IS NOT NULL) OR fp = fingerprint(7)',
    'SELECT FROM (SELECT fp FROM uniform UNION ALL SELECT fp FROM uniform) AS u WHERE fp <~> fingerprint(-1) = 20',
    'SELECT FROM big a, small b WHERE a.fp <~> b.fp = 20',
    'SELECT FROM small b, big a WHERE 20 = b.fp <~> a.fp']) AS query;
-- extended statistics of the expression have precedence
CREATE TABLE rings AS SELECT near(0, n % 30, n) AS fp FROM generate_series(1, 3000) AS n;
CREATE STATISTICS rings_distance ON (fp <~> 'cfcd208495d565ef') FROM rings;
CREATE INDEX ON rings USING simhash (fp);
ANALYZE rings;
SELECT misjudged(query, 1.5) FROM unnest(ARRAY[
    'SELECT FROM rings WHERE fp <~> fingerprint(0) = 20',
    'SELECT FROM rings WHERE fp <~> fingerprint(0) = 2',
    'SELECT FROM rings WHERE fp <~> fingerprint(0) <= 10',
    'SELECT FROM rings WHERE fp <~> fingerprint(0) < 3',
    'SELECT FROM rings WHERE fp <~> fingerprint(0) BETWEEN 3 AND 9',
    'SELECT FROM rings WHERE fp <~> fingerprint(0) = 2 OR fp <~> fingerprint(0) = 20']) AS query;
-- and do not keep the query from the index
SELECT plan('SELECT FROM rings WHERE fp <~> fingerprint(0) <= 2', 'Scan|Index Cond');

--
-- Arrays: one search for each element
--
SELECT plan(query, 'Scan on uniform') FROM unnest(ARRAY[
    'SELECT FROM uniform WHERE fp IN (fingerprint(1), fingerprint(2), fingerprint(3))',
    'SELECT FROM uniform WHERE fp = ANY ((SELECT array_agg(fp) FROM small)::simhash[])',
    'SELECT FROM uniform WHERE fp <@ ANY
         (ARRAY[simhash_ball(fingerprint(1), 3), simhash_ball(fingerprint(2), 1), NULL])',
    'SELECT FROM uniform WHERE fp <@ ANY (ARRAY[simhash_ball((SELECT fp FROM small LIMIT 1), 3)])']) AS query;
-- the cost is proportional to the number of elements, not that of a full index scan; a
-- large radius costs more than a small one
SELECT explained(
    format('SELECT FROM uniform WHERE fp = ANY (array_fill(fingerprint(1), ARRAY[%s]))', n), 'Total Cost',
    'Bitmap Index Scan') /
    explained('SELECT FROM uniform WHERE fp = ANY (ARRAY[fingerprint(1)])', 'Total Cost', 'Bitmap Index Scan') / n
    BETWEEN 0.5 AND 1.1 AS in_proportion
FROM unnest(ARRAY[2, 10]) AS n;
SET enable_seqscan = off;
SELECT explained(
    'SELECT FROM uniform WHERE fp <@ ANY (ARRAY[simhash_ball(fingerprint(1), 3), simhash_ball(fingerprint(1), 40)])',
    'Total Cost', 'Bitmap Index Scan') /
    explained('SELECT FROM uniform WHERE fp <@ ANY (ARRAY[simhash_ball(fingerprint(1), 40)])', 'Total Cost',
              'Bitmap Index Scan')
    BETWEEN 1.0 AND 2.1 AS as_the_largest_for_each;
-- an ANDed condition limits the rows of all elements
SET enable_indexscan = off;
SELECT explained(
    'SELECT FROM uniform WHERE fp <@ ANY (ARRAY[simhash_ball(fingerprint(1), 40)]) AND fp = fingerprint(1)',
    'Total Cost', 'Bitmap Index Scan') /
    explained('SELECT FROM uniform WHERE fp = ANY (ARRAY[fingerprint(1)])', 'Total Cost', 'Bitmap Index Scan')
    BETWEEN 0.9 AND 1.1 AS as_the_smallest;
RESET enable_indexscan;
RESET enable_seqscan;
SELECT (SELECT count(*) FROM uniform
        WHERE fp <@ ANY (ARRAY[simhash_ball(fingerprint(1), 3), simhash_ball(fingerprint(2), 20), NULL])) =
    (SELECT count(*) FROM uniform
     WHERE hamming_distance(fp, fingerprint(1)) + 0 <= 3
        OR hamming_distance(fp, fingerprint(2)) + 0 <= 20) AS same_rows;

--
-- =~= of balls: the centers are within the smaller radius
--
CREATE TABLE balls AS SELECT id, fp, simhash_ball(fp, 3) AS ball FROM skewed;
CREATE INDEX balls_ball ON balls USING simhash (ball);
ANALYZE balls;
SELECT misjudged(format(form, side.a, side.b), 2) FROM unnest(ARRAY[
        'SELECT FROM balls WHERE %s =~= %s',
        'SELECT FROM balls WHERE %2$s =~= %1$s']) AS form,
    (VALUES ('simhash_ball(fp, 3)', 'simhash_ball(fingerprint(0), 3)'),
            ('simhash_ball(fp, 3)', 'simhash_ball(fingerprint(7), 64)'),
            ('simhash_ball(fp, 64)', 'simhash_ball(fingerprint(0), 2)'),
            ('simhash_ball(fp, 64)', 'simhash_ball(fingerprint(0), 64)'),
            ('simhash_ball(fp, 3)', 'simhash_ball(fingerprint(0), -1)'),
            ('ball', 'simhash_ball(fingerprint(7), 3)')) AS side (a, b);
SELECT misjudged('SELECT FROM balls a JOIN balls b ON simhash_ball(a.fp, 3) =~= simhash_ball(b.fp, 5)', 2,
                 'SELECT FROM balls a JOIN balls b ON a.fp <~> b.fp <= 3');
-- a radius that matches all rows uses no index
CREATE TABLE all_balls AS SELECT id, simhash_ball(fp, 64) AS ball FROM uniform;
CREATE INDEX all_balls_ball ON all_balls USING simhash (ball);
SELECT misjudged('SELECT FROM all_balls WHERE ball =~= simhash_ball(fingerprint(1), 64)', 2) AS not_analyzed;
ANALYZE all_balls;
SELECT plan(format('SELECT FROM all_balls WHERE ball =~= simhash_ball(fingerprint(1), %s)', radius), 'Scan')
FROM unnest(ARRAY[3, 64]) AS radius;
-- a ball with an unknown center and a known radius
SELECT plan('SELECT FROM small AS s JOIN all_balls AS u ON u.ball =~= simhash_ball(s.fp, 3)', 'all_balls');
DROP TABLE balls, all_balls;

--
-- Families: a sixth of the rows derives from one template, with a few elements changed
--
CREATE TABLE documents AS
    SELECT id, family, fp, simhash_ball(fp, 3 + id % 6) AS ball, sk, to_minhash(sk)::minhash(18, 7, 'hash') AS sig
    FROM (SELECT n AS id, CASE WHEN n % 6 = 0 THEN 0 WHEN n % 50 = 1 THEN 1 ELSE n END AS family
          FROM generate_series(1, 12000) AS n) AS f,
        LATERAL (SELECT near(-family, 1 + id % 4, id) AS fp,
            array_agg(hashint8extended(CASE WHEN i < id % 7 THEN id * 100 + i ELSE family * 100 + i END, 0)
                      ORDER BY i) AS sk FROM generate_series(1, 20) AS i) AS d;
CREATE INDEX documents_fp ON documents USING simhash (fp);
CREATE INDEX documents_ball ON documents USING simhash (ball);
CREATE INDEX documents_sk ON documents USING simhash (sk);
CREATE INDEX documents_sig ON documents USING simhash (sig);
VACUUM ANALYZE documents;
-- query values: of the template, of a family of 200 rows, of a document without a
-- family, and of an absent one
CREATE FUNCTION asked(column_name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT quote_literal(%I) FROM documents WHERE id IN (6, 36, 51, 2) ORDER BY id', column_name);
END $$;
SELECT misjudged(format('SELECT FROM documents WHERE ' || condition, asked(column_name)), 20) FROM (VALUES
    ('sk', 'sk <%%>> %s <= 0.3'), ('sk', 'sk <%%>> %s <= 0.5'), ('sk', '0.2 > sk <%%>> %s'),
    ('sk', 'containment_within(sk, %s, 0.5)'),
    ('sk', 'sk <%%>@ sketch_ball(%s, 0.5)'), ('sk', 'sk <%%>> %s <= 0'),
    ('sk', 'sk && %s'), ('sk', '%s && sk'), ('sk', 'sketch_overlaps(sk, %s)'),
    ('sig', 'sig %% %s'), ('fp', 'fp <~> %s <= 8'),
    ('ball', 'simhash_ball(fp, 6) =~= %s'), ('fp', 'simhash_ball(fp, 6) =~= simhash_ball(%s, 64)'),
    ('fp', '%s <@ simhash_ball(fp, 6)')) AS c (column_name, condition);
SELECT misjudged(query, 20) FROM unnest(ARRAY[
    'SELECT FROM documents WHERE sk <%>> ''{1,2,3}'' <= 0.5',
    'SELECT FROM documents WHERE sk <%>> ''{1,2,3}'' <= 1',
    'SELECT FROM documents WHERE sk <%>> ''{1,2,3}'' < 0',
    'SELECT FROM documents WHERE sk <%>> ''{}'' <= 0.5',
    'SELECT FROM documents WHERE fp <~> ''0123456789abcdef'' <= 8']) AS query;
-- joins; a table without statistics is assumed to be like the other table
CREATE TABLE queries AS SELECT * FROM documents WHERE id % 246 IN (0, 7);
CREATE TABLE few AS SELECT * FROM queries WHERE family = 0 ORDER BY id LIMIT 20;
CREATE TABLE unknown AS TABLE few;
ANALYZE queries, few;
VACUUM unknown;
SELECT misjudged(format(query, asking, condition), 20, format(counted, asking, condition))
FROM unnest('{queries,few,unknown}'::text[]) AS asking, (VALUES
        ('SELECT FROM documents d, %s q WHERE %s', NULL),
        ('SELECT FROM %s q WHERE EXISTS (SELECT FROM documents d WHERE %s)', NULL),
        ('SELECT FROM %s q WHERE EXISTS (SELECT FROM documents d WHERE %s AND d.id <> q.id)', NULL),
        ('SELECT FROM documents d WHERE EXISTS (SELECT FROM %s q WHERE %s)',
         'SELECT DISTINCT d.id FROM documents d, %s q WHERE %s')) AS v (query, counted),
    unnest(ARRAY['d.sk <%>> q.sk <= 0.3', 'd.sk && q.sk', 'q.sk && d.sk', 'd.sk <%>> q.sk <= 0.5',
                 'd.sig % q.sig', 'd.fp <~> q.fp <= 8', 'd.ball =~= q.ball', 'd.fp <@ q.ball']) AS condition;
-- where most rows have a match, only the first one is needed: no bitmap scan, which reads all, but
-- the index, or a sequential scan that meets one soon
SELECT query, line
FROM unnest('{queries,few}'::text[]) AS asking, unnest('{EXISTS,NOT EXISTS}'::text[]) AS is_there,
    unnest('{d.sig % q.sig,d.sk <%>> q.sk <= 0.3,d.fp <~> q.fp <= 8}'::text[]) AS condition,
    format('SELECT FROM %s AS q WHERE %s (SELECT FROM documents AS d WHERE %s AND d.id <> q.id)', asking, is_there,
           condition) AS query,
    plan(query, 'on documents|using documents') AS line WHERE line ~ 'Bitmap';
-- a search for many elements, which are in few rows: by the index, also in a small table
CREATE FUNCTION elements(n int, OUT sk bigint[]) LANGUAGE sql IMMUTABLE RETURN
    (SELECT array_agg(hashint8extended(CASE WHEN i % 200 = 3 THEN i * 1000 ELSE -i END, 0) ORDER BY i)
     FROM generate_series(1, n) AS i);
-- of tables that were never analyzed: nearly all pairs are beyond a distance, and none is beyond the greatest
CREATE TABLE unanalyzed AS SELECT ARRAY[n, n + 1, n * 2] AS sk FROM generate_series(bigint '1', 1000) AS n;
SELECT misjudged('SELECT FROM unanalyzed a, unanalyzed b WHERE a.sk ' || clause, 8)
FROM unnest('{<%> b.sk > 0.3,<%>> b.sk > 0.3,<%> b.sk >= 0,<%> b.sk <= 1}'::text[]) AS clause;
CREATE TABLE thousand AS SELECT * FROM documents WHERE id <= 1000;
CREATE INDEX thousand_sk ON thousand USING simhash (sk);
VACUUM ANALYZE thousand;
SELECT query FROM unnest('{documents,thousand}'::text[]) AS tab, unnest('{1,4,5,25,100,150}'::int[]) AS n,
    unnest('{sk && %L,%L && sk,sk <@ %L}'::text[]) AS condition,
    format('SELECT FROM %s WHERE ' || condition, tab, elements(n)) AS query
WHERE explained(query, 'Plan Rows') > 40 + 0.02 * (SELECT count(*) FROM documents) OR whole_plan(query) ~ 'Seq Scan';
SELECT query FROM unnest('{750,2500,5000}'::int[]) AS n, unnest('{sk && %L,%L && sk,sk @> %L}'::text[]) AS condition,
    format('SELECT FROM documents WHERE ' || condition, elements(n)) AS query
WHERE explained(query, 'Plan Rows') > 40 OR whole_plan(query) ~ 'Seq Scan';
-- also for one row, in partitions and children, without statistics, below OR, and in joins
CREATE TEMP TABLE unanalyzed AS SELECT id, sk FROM documents;	-- autovacuum does not analyze it
CREATE INDEX unanalyzed_sk ON unanalyzed USING simhash (sk);
CREATE TABLE parted (LIKE documents) PARTITION BY HASH (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted TABLE documents;
CREATE INDEX ON parted USING simhash (sk);
CREATE TABLE parent (LIKE documents);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child TABLE documents;
CREATE INDEX child_sk ON child USING simhash (sk);
VACUUM ANALYZE parted, parent, child;
SELECT query FROM unnest('{documents,thousand,unanalyzed,parted,parent}'::text[]) AS tab,
    unnest('{1,3,4,5,25,150}'::int[]) AS n,
    unnest(ARRAY['SELECT FROM %s WHERE sk && %L', 'SELECT FROM %s WHERE sk <@ %L',
                 'SELECT FROM %s WHERE sk && %L AND id > 7',
                 'SELECT FROM %s WHERE sk && %L OR sk && ''{5,6,7}''', 'SELECT FROM %s WHERE sk && %L LIMIT 1',
                 'SELECT EXISTS (SELECT FROM %s WHERE sk && %L)', 'SELECT EXISTS (SELECT FROM %s WHERE sk <@ %L)'])
        AS form,
    format(form, tab, elements(n)) AS query
WHERE whole_plan(query) ~ 'Seq Scan on (documents|thousand|unanalyzed|parted_|child)';
SELECT query FROM unnest('{documents,unanalyzed,parted,child}'::text[]) AS tab,
    unnest('{&&,<@,@>}'::text[]) AS operator,
    unnest('{JOIN %s d ON d.sk %s q.sk,LEFT JOIN %s d ON d.sk %s q.sk}'::text[]) AS form,
    format('SELECT FROM (SELECT sk FROM queries WHERE family = id LIMIT 5) q ' || form, tab, operator) AS query
WHERE whole_plan(query) ~ 'Seq Scan on (documents|unanalyzed|parted_|child)';
SET plan_cache_mode = force_generic_plan;
PREPARE overlapping (bigint[]) AS SELECT FROM documents WHERE sk && $1;
PREPARE contained (bigint[]) AS SELECT FROM documents WHERE $1 @> sk;
SELECT plan('EXECUTE overlapping(NULL)'), plan('EXECUTE contained(NULL)');
DEALLOCATE ALL;
RESET plan_cache_mode;
-- Jaccard distance: 14 frequent elements of 60, and 40 of a template or of a family of ten
CREATE TABLE resembling AS
    SELECT n AS id, CASE WHEN n % 97 = 1 THEN NULL WHEN n % 97 = 2 THEN '{}' WHEN n % 1000 = 3
        THEN ARRAY(SELECT hashint8extended(CASE WHEN j < n / 10 % 200 THEN -n * j ELSE j END, 1)
                   FROM generate_series(bigint '1', 5000) AS j)
        ELSE ARRAY(SELECT hashint8extended(j, 7) FROM generate_series(1, 60) AS j
                   WHERE hashint8extended(n * 100 + j, 3) & 3 = 0)
            || ARRAY(SELECT hashint8extended(CASE WHEN n % 6 = 0 THEN j ELSE n / 10 * 100 + j END, 9)
                     FROM generate_series(1, 40) AS j WHERE hashint8extended(n * 100 + j, 2) & 15 > 0)
        END AS sk
    FROM generate_series(1, 8000) AS n;
CREATE INDEX ON resembling USING simhash (sk);
VACUUM ANALYZE resembling;
CREATE TABLE few_of_them AS SELECT * FROM resembling WHERE id % 400 IN (1, 6);
CREATE TABLE few_unknown AS TABLE few_of_them;
ANALYZE few_of_them;
VACUUM few_unknown;
CREATE TABLE constants AS
    SELECT 'a document' AS name, sk FROM resembling WHERE id IN (4345, 4350)
    UNION ALL SELECT '10 elements', sk[15:24] FROM resembling WHERE id = 4350
    UNION ALL SELECT '5000 elements', sk FROM resembling WHERE id = 4003
    UNION ALL SELECT n || ' frequent', ARRAY(SELECT hashint8extended(j, 7) FROM generate_series(1, n) AS j)
    FROM unnest('{1,15,60}'::int[]) AS n
    UNION ALL VALUES ('absent', '{1,2,3}'::bigint[]), ('empty', '{}'), ('NULL', NULL);
SELECT misjudged(format('SELECT FROM resembling WHERE sk <%%> %L::bigint[] <= %s', sk, radius), 20)
FROM constants, unnest('{0,0.2,0.5,0.9}'::float8[]) AS radius;
SELECT misjudged(format(query, radius), 20)
FROM unnest(ARRAY[
        'SELECT FROM resembling a JOIN few_of_them b ON a.sk <%%> b.sk <= %s',
        'SELECT FROM resembling a JOIN few_unknown b ON b.sk <%%> a.sk <= %s',
        'SELECT FROM few_of_them a LEFT JOIN resembling b ON a.sk <%%> b.sk <= %s',
        'SELECT FROM few_of_them a WHERE EXISTS (SELECT FROM resembling b WHERE a.sk <%%> b.sk <= %s)',
        'SELECT FROM resembling a WHERE EXISTS (SELECT FROM few_of_them b WHERE a.sk <%%> b.sk <= %s)']) AS query,
    unnest('{0.2,0.5}'::float8[]) AS radius;
-- rows without an array match nothing, on either side
CREATE TABLE few_arrays AS SELECT id, CASE WHEN id % 40 = 6 THEN sk END AS sk FROM resembling;
VACUUM ANALYZE few_arrays;
SELECT misjudged(query, 3) FROM unnest(ARRAY[
        'SELECT FROM few_of_them a JOIN few_arrays b ON a.sk <%>> b.sk <= 0.5',
        'SELECT FROM few_arrays a JOIN few_of_them b ON a.sk <%>> b.sk <= 0.5']) AS query;
SET plan_cache_mode = force_generic_plan;
PREPARE resembles (bigint[], float8) AS SELECT FROM resembling WHERE sk <%> $1 <= $2;
SELECT plan('EXECUTE resembles(NULL, NULL)', 'Scan on resembling|Scan using');
DEALLOCATE resembles;
RESET plan_cache_mode;
-- an index scan costs the rows that it fetches and compares, also if few of them match
SELECT explained(format(query, sk), 'Total Cost') / explained(format(query, '{1}'), 'Total Cost') > 10 AS frequent_cost
FROM constants, (VALUES ('SELECT FROM resembling WHERE sk <%%> %L::bigint[] <= 0.2')) AS search (query)
WHERE name = '1 frequent';
-- a search reads the postings of all elements before its first row, so in a nested loop one that
-- finds nothing is not cheap: the startup cost grows with the elements.  Alone it does not, so that
-- a cursor does not read the table
CREATE TABLE longer AS SELECT elements(100) AS sk FROM generate_series(1, 20);
CREATE TABLE shorter AS SELECT elements(2) AS sk FROM generate_series(1, 20);
ANALYZE longer, shorter;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SET simhash.enable_join = off;
SELECT explained(format(looped, 'longer'), 'Startup Cost', 'Index Scan') /
    explained(format(looped, 'shorter'), 'Startup Cost', 'Index Scan') > 10 AS startup,
    explained(format(search, elements(100)), 'Startup Cost', 'Index Scan') /
    explained(format(search, elements(2)), 'Startup Cost', 'Index Scan') < 2 AS alone
FROM (VALUES ('SELECT FROM %s q WHERE NOT EXISTS (SELECT FROM resembling r WHERE r.sk <%%> q.sk <= 0.2)',
              'SELECT FROM resembling WHERE sk <%%> %L::bigint[] <= 0.2')) AS v (looped, search);
RESET simhash.enable_join;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP TABLE longer, shorter;
DROP TABLE resembling, few_of_them, few_unknown, few_arrays, constants;
-- the longer the arrays, the higher the cost, also if they are out of line, and in partitions
CREATE TABLE long_arrays AS
    SELECT size, n, ARRAY(SELECT n * 100000 + i FROM generate_series(bigint '1', size) AS i) AS sk
    FROM unnest('{100,500,10000}'::int[]) AS size, generate_series(1, 20) AS n;
CREATE TABLE arrays_100 AS SELECT * FROM long_arrays WHERE size = 100;
CREATE TABLE arrays_500 AS SELECT * FROM long_arrays WHERE size = 500;
CREATE TABLE arrays_10000 AS SELECT * FROM long_arrays WHERE size = 10000;
CREATE TABLE arrays_parted (LIKE long_arrays) PARTITION BY HASH (n);
CREATE TABLE arrays_parted_1 PARTITION OF arrays_parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE arrays_parted_2 PARTITION OF arrays_parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO arrays_parted TABLE arrays_500;
ANALYZE arrays_100, arrays_500, arrays_10000, arrays_parted;
CREATE FUNCTION cost_of_pairs(tab text) RETURNS float8 LANGUAGE sql
    RETURN explained(format('SELECT FROM %1$s a JOIN %1$s b ON a.sk <%%> b.sk <= 0.2', tab), 'Total Cost');
SELECT cost_of_pairs('arrays_500') / cost_of_pairs('arrays_100') BETWEEN 3 AND 10 AS "100 to 500",
    cost_of_pairs('arrays_10000') / cost_of_pairs('arrays_500') BETWEEN 3 AND 50 AS "500 to 10000",
    cost_of_pairs('arrays_parted') / cost_of_pairs('arrays_500') BETWEEN 0.8 AND 1.5 AS parted;
-- a batch against a corpus, of which a fifth has near-duplicates: the radius counts, rows
-- without a match remain, and a join above the antijoin is no nested loop
CREATE FUNCTION text_of(n int, new int) RETURNS bigint[] LANGUAGE sql IMMUTABLE RETURN
    (SELECT array_agg(hashint8extended(CASE WHEN i <= new THEN n ELSE n - n % 5 / 4 END * 100 + i, 0) ORDER BY i)
     FROM generate_series(1, 30) AS i);
CREATE TABLE corpus AS SELECT n AS id, text_of(n, 1 + n % 3) AS sk FROM generate_series(1, 3000) AS n;
CREATE TABLE batch AS SELECT n AS id, text_of(CASE WHEN n % 4 = 0 THEN n ELSE -n END, 2) AS sk
    FROM generate_series(1, 1000) AS n;
ALTER TABLE corpus ADD fp simhash, ADD sig minhash;
UPDATE corpus SET fp = simhash(sk), sig = to_minhash(sk);
ALTER TABLE batch ADD fp simhash, ADD sig minhash;
UPDATE batch SET fp = simhash(sk), sig = to_minhash(sk);
CREATE TABLE meta AS SELECT id FROM batch;
CREATE TABLE new_batch AS TABLE batch;	-- not analyzed
VACUUM ANALYZE corpus, batch, meta;
VACUUM new_batch;
SELECT misjudged(format(query, radius), factor)
FROM unnest('{0.01,0.2,0.5}'::text[]) AS radius, (VALUES
    ('SELECT FROM corpus a JOIN corpus b ON a.sk <%%> b.sk <= %s AND a.id < b.id', 60),
    ('SELECT FROM corpus a JOIN corpus b ON a.sk <%%> b.sk <= %s', 3),
    ('SELECT FROM corpus a JOIN batch b ON a.sk <%%> b.sk <= %s', 10),
    ('SELECT FROM batch b WHERE EXISTS (SELECT FROM corpus c WHERE c.sk <%%> b.sk <= %s)', 3),
    ('SELECT FROM corpus c WHERE NOT EXISTS (SELECT FROM batch b WHERE c.sk <%%> b.sk <= %s)', 2),
    ('SELECT FROM corpus a WHERE NOT EXISTS (SELECT FROM corpus b WHERE a.sk <%%> b.sk <= %s AND a.id <> b.id)', 3)
) AS q (query, factor);
-- (each array has 30 elements, so a containment distance of 0.2 is a Jaccard distance of 1/3)
SELECT misjudged(format(query, name, condition), 2,
                 format(query, name, replace(condition, '<%>> b.sk <= 0.2', '<%> b.sk <= 0.34')))
FROM (VALUES ('SELECT FROM %s b WHERE NOT EXISTS (SELECT FROM corpus c WHERE %s)')) AS v (query),
    unnest('{batch,new_batch}'::text[]) AS name, unnest('{c.sk <%> b.sk <= 0.01,c.sk <%> b.sk <= 0.2,
    c.sk <%>> b.sk <= 0.2,c.fp <~> b.fp <= 0,c.fp <~> b.fp <= 3,c.sig % b.sig}'::text[]) AS condition;
SELECT whole_plan(format('SELECT FROM batch b JOIN meta m USING (id)
    WHERE NOT EXISTS (SELECT FROM corpus c WHERE %s)', condition)) LIKE '%Nested Loop%' AS nested
FROM unnest('{c.sk <%> b.sk <= 0.2,c.fp <~> b.fp <= 3,c.sig % b.sig}'::text[]) AS condition;
DROP TABLE corpus, batch, new_batch, meta;
-- elements that differ in frequency; rows with one of many passages; arrays too large for a sample, or for ANALYZE
CREATE TABLE uneven AS
    SELECT CASE WHEN n % 100 = 0 THEN '{1,2,3}' ELSE ARRAY[1, n % 100 + 10] END::bigint[] AS sk
    FROM generate_series(1, 2000) AS n;
CREATE TABLE passages AS SELECT ARRAY[n + 10] AS sk FROM generate_series(bigint '1', 99) AS n;
CREATE TABLE larger AS
    SELECT ARRAY(SELECT generate_series(n % 10, bigint '200')) AS sk FROM generate_series(1, 500) AS n;
ANALYZE uneven, passages, larger;
SELECT misjudged(query, 3) FROM unnest(ARRAY[
    'SELECT FROM uneven WHERE containment_within(sk, ''{1,2,3}'', 0)',
    'SELECT FROM uneven u WHERE EXISTS (SELECT FROM passages p WHERE containment_within(u.sk, p.sk, 0))',
    format('SELECT FROM larger WHERE jaccard_within(sk, %L, 0.2)', ARRAY(SELECT generate_series(bigint '30', 200))),
    'SELECT FROM arrays_10000 WHERE containment_within(sk, ''{-1,-2,-3}'', 0.3)']) AS query;
DROP TABLE uneven, passages, larger;
DROP TABLE long_arrays, arrays_100, arrays_500, arrays_10000, arrays_parted;
DROP TABLE documents, queries, few, unknown, thousand, unanalyzed, parted, parent, child;

-- the statistics target of arrays: estimates of what 2,000, 200, 20 rows and 1 row resemble, for each
-- target; 100 rows are assumed without statistics.  A target of 0 keeps old statistics.
CREATE TABLE targets AS SELECT id, ARRAY(
        SELECT hashint8extended(CASE WHEN id <= 2000 THEN 1 WHEN id <= 2200 THEN 2 WHEN id <= 2220 THEN 3
                                     ELSE id END * 1000 + j, 0) FROM generate_series(1, 50) AS j
        UNION ALL SELECT hashint8extended(-id * 1000 - j, 0) FROM generate_series(1, 5) AS j) AS sk
    FROM generate_series(1, 20000) AS id;
CREATE INDEX ON targets USING simhash (sk);
CREATE FUNCTION of_target(target int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'ALTER TABLE targets ALTER sk SET STATISTICS ' || target;
    ANALYZE targets;
    RETURN (SELECT string_agg(explained(format('SELECT FROM targets WHERE sk <%%> %L <= 0.3', sk), 'Plan Rows')::text,
                              ' ' ORDER BY id) FROM targets WHERE id IN (10, 2010, 2210, 9000));
END $$;
SELECT target, of_target(target) AS rows FROM unnest('{0, 10, 100, 1000, 0}'::int[]) AS target;
DROP TABLE targets;

--
-- A full scan of a permuted table costs sequential reads, not random ones
--
SET enable_seqscan = off;
SET enable_indexscan = off;
CREATE FUNCTION cost_of_reading_through(random_page_cost text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('random_page_cost', random_page_cost, true);
    RETURN explained('SELECT FROM uniform WHERE fp <~> fingerprint(-1) <= 40', 'Total Cost', 'Bitmap Index Scan');
END $$;
SELECT cost_of_reading_through('100') / cost_of_reading_through('1') < 2 AS sequential;
RESET enable_indexscan;
RESET enable_seqscan;

--
-- Unknown radius: a bitmap scan, which stays acceptable if the radius is large
--
SET plan_cache_mode = force_generic_plan;
PREPARE unknown (simhash, int) AS SELECT FROM uniform WHERE fp <~> $1 <= $2;
PREPARE unknown_ball (simhash_ball) AS SELECT FROM uniform WHERE fp <@ $1;
PREPARE known (simhash) AS SELECT FROM uniform WHERE fp <~> $1 <= 3;
PREPARE nearest (simhash, int) AS SELECT FROM uniform WHERE fp <~> $1 <= $2 ORDER BY fp <~> $1 LIMIT 10;
SELECT plan('EXECUTE unknown(NULL, NULL)', 'Scan');
SELECT plan('EXECUTE unknown_ball(NULL)', 'Scan');
SELECT plan('EXECUTE known(NULL)', 'Scan');
SELECT plan('EXECUTE nearest(NULL, NULL)', 'Scan|Sort');
SELECT plan('SELECT FROM small s JOIN uniform u ON u.fp <~> s.fp <= s.id % 4', 'Scan on uniform|Scan using uniform');
-- each page of the table and of the index is read at most once
SELECT pages_read($$ EXECUTE unknown(fingerprint(-1), 40) $$) <=
    (pg_relation_size('uniform') + pg_relation_size('uniform_fp')) / current_setting('block_size')::int AS once;
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- VACUUM that deletes nothing does not know the number of rows of a partial index
--
CREATE INDEX uniform_partial ON uniform USING simhash (fp) WHERE id % 100 = 0;
DELETE FROM uniform WHERE id % 200 = 0;
-- a temporary table: no other session's snapshot prevents the removal of dead rows
CREATE TEMP TABLE vacuumed AS
    SELECT n AS id, fingerprint(n) AS fp, repeat('x', 50) AS filler FROM generate_series(1, 20000) AS n;
CREATE INDEX vacuumed_fp ON vacuumed USING simhash (fp);
CREATE INDEX vacuumed_partial ON vacuumed USING simhash (fp) WHERE id % 100 = 0;
VACUUM (DISABLE_PAGE_SKIPPING) vacuumed;
SELECT relname, reltuples FROM pg_class WHERE relname LIKE 'vacuumed%' ORDER BY relname;
DELETE FROM vacuumed WHERE id % 200 = 0;
VACUUM vacuumed;
SELECT relname, reltuples FROM pg_class WHERE relname LIKE 'vacuumed%' ORDER BY relname;
DROP TABLE vacuumed;

--
-- No query uses an index-only scan, even if the query needs no column
--
CREATE FUNCTION index_only_plans() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    query text;
    off text;
    setting text;
BEGIN
    FOREACH query IN ARRAY ARRAY[
        'SELECT count(*) FROM uniform', 'SELECT FROM uniform', 'SELECT 1 FROM uniform LIMIT 1',
        'SELECT EXISTS (SELECT FROM uniform)',
        'SELECT count(*) FROM uniform WHERE id % 100 = 0', 'SELECT EXISTS (SELECT FROM uniform WHERE id % 100 = 0)',
        'SELECT count(*) FROM uniform WHERE fp IS NULL', 'SELECT count(*) FROM uniform WHERE fp IS NOT NULL',
        'SELECT count(fp) FROM uniform', 'SELECT fp FROM uniform WHERE fp <~> fingerprint(1) <= 3',
        'SELECT count(*) FROM uniform WHERE fp <~> fingerprint(1) <= 3',
        'SELECT FROM uniform ORDER BY fp <~> fingerprint(1) LIMIT 3',
        'SELECT FROM uniform WHERE id % 100 = 0 ORDER BY fp <~> fingerprint(1) LIMIT 3',
        'SELECT FROM uniform WHERE fp = ANY (ARRAY[fingerprint(1), fingerprint(2)])',
        'SELECT count(*) FROM small s JOIN uniform u ON u.fp <~> s.fp <= 3', 'SELECT count(*) FROM small s, uniform u',
        'SELECT count(*) FROM small s LEFT JOIN uniform u ON u.id % 100 = 0',
        'SELECT count(*) FROM small s WHERE EXISTS (SELECT FROM uniform u WHERE u.fp <~> s.fp <= 3)',
        'SELECT (SELECT count(*) FROM uniform u WHERE u.fp <~> s.fp <= 3) FROM small s',
        'SELECT count(*) FROM uniform a WHERE EXISTS (SELECT FROM uniform b WHERE b.id % 100 = 0)',
        'SELECT count(*) FROM (SELECT FROM uniform UNION ALL SELECT FROM small) AS u',
        'DELETE FROM uniform WHERE id % 100 = 0', 'SELECT FROM uniform WHERE id % 100 = 0 FOR UPDATE'] LOOP
        FOREACH off IN ARRAY '{none, seqscan, "seqscan bitmapscan", "seqscan indexscan", "seqscan bitmapscan indexscan",
                "seqscan bitmapscan material nestloop", "seqscan bitmapscan material hashjoin mergejoin"}'::text[] LOOP
            FOREACH setting IN ARRAY string_to_array(off, ' ') LOOP
                PERFORM set_config('enable_' || setting, 'off', true) WHERE setting <> 'none';
            END LOOP;
            RETURN QUERY SELECT format('%s (%s off)', query, off) FROM plan(query) AS line WHERE line ~ 'Index Only';
            FOREACH setting IN ARRAY string_to_array(off, ' ') LOOP
                PERFORM set_config('enable_' || setting, 'on', true) WHERE setting <> 'none';
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
INSERT INTO uniform VALUES (-1, NULL), (-2, NULL);
VACUUM ANALYZE uniform, small;
SELECT index_only_plans();
-- in parallel
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT index_only_plans();
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET min_parallel_index_scan_size;
SET max_parallel_workers_per_gather = 0;
-- the cost includes visits to all pages of the table, even if they are all-visible
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan('SELECT count(*) FROM uniform'), plan('SELECT count(*) FROM uniform WHERE id % 100 = 0');
CREATE FUNCTION cost_of_counting() RETURNS float8 LANGUAGE sql AS $$
    SELECT explained('SELECT count(*) FROM uniform WHERE id % 100 = 0', 'Total Cost', 'Index Scan') $$;
SELECT cost_of_counting() AS visible \gset
UPDATE pg_class SET relallvisible = 0 WHERE oid = 'uniform'::regclass;
SELECT cost_of_counting() / :visible BETWEEN 0.99 AND 1.01 AS same;
SELECT count(*) FROM uniform;
SELECT count(*) FROM uniform WHERE id % 100 = 0;
SELECT EXISTS (SELECT FROM uniform);

SET client_min_messages = warning;
DROP SCHEMA estimates CASCADE;
