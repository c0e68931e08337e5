--
-- Rows with a minimum distance from each other: EXCLUDE USING simhash with =~=
--

-- each center is within the radius of the other ball, that is, within the smaller
-- radius
SELECT a, b, simhash_ball('0000000000000000', a) =~= simhash_ball('0000000000000007', b) AS near
FROM unnest('{-1,0,2,3,64}'::integer[]) AS a, unnest('{-1,2,3,64}'::integer[]) AS b;
SELECT simhash_ball('0000000000000000', 3) =~= NULL AS "null";

-- a typical table
CREATE TABLE docs (
    id integer GENERATED ALWAYS AS IDENTITY, body text, fp simhash GENERATED ALWAYS AS (simhash(body)) STORED,
    CONSTRAINT no_near_duplicates EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=));
INSERT INTO docs (body)
VALUES ('the quick brown fox jumps over the lazy dog'), ('something else altogether'), (NULL), (NULL);
INSERT INTO docs (body) VALUES ('The quick brown fox, jumps over the lazy dog!');
INSERT INTO docs (body) VALUES ('The quick brown fox, jumps over the lazy dog!'), ('a third text of its own')
    ON CONFLICT ON CONSTRAINT no_near_duplicates DO NOTHING RETURNING body;
INSERT INTO docs (body) VALUES ('THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG') ON CONFLICT DO NOTHING RETURNING body;
SELECT body FROM docs ORDER BY id;
-- a row does not conflict with itself
UPDATE docs SET body = upper(body) WHERE id = 1;
UPDATE docs SET body = 'something else altogether' WHERE id = 1;
-- nor with a deleted row
BEGIN;
DELETE FROM docs WHERE id = 2;
INSERT INTO docs (body) VALUES ('something else altogether');
ROLLBACK;
SELECT simhash_index_check('no_near_duplicates', true);
PREPARE add(text) AS INSERT INTO docs (body) VALUES ($1) ON CONFLICT DO NOTHING;
EXECUTE add('something else, altogether');
EXECUTE add('a fourth');

-- deferred: checked at the end of the transaction
CREATE TABLE later (
    fp simhash, CONSTRAINT apart EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO later VALUES ('0000000000000000'), ('0000000000000001');
DELETE FROM later WHERE fp = '0000000000000000';
COMMIT;
BEGIN;
INSERT INTO later VALUES ('0000000000000000');
COMMIT;
TABLE later;

-- errors of PostgreSQL itself
INSERT INTO later VALUES ('0000000000000000') ON CONFLICT ON CONSTRAINT apart DO NOTHING;
INSERT INTO docs (body) VALUES ('a fourth') ON CONFLICT ON CONSTRAINT no_near_duplicates DO UPDATE SET body = 'a fifth';
INSERT INTO docs (body) VALUES ('a fourth') ON CONFLICT (simhash_ball(fp, 3)) DO NOTHING;
REINDEX INDEX CONCURRENTLY no_near_duplicates;
-- (the messages differ between releases)
DO $$ BEGIN
    CREATE TABLE parts (fp simhash, EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=)) PARTITION BY RANGE (fp);
EXCEPTION WHEN feature_not_supported OR invalid_object_definition THEN
    RAISE NOTICE 'not on partitioned tables';
END $$;
-- a table with duplicates
CREATE TABLE doubled AS SELECT simhash '0123456789abcdef' AS fp FROM generate_series(1, 2);
DO $$ BEGIN
    ALTER TABLE doubled ADD EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=);
EXCEPTION WHEN exclusion_violation THEN
    RAISE NOTICE 'duplicates';
END $$;

--
-- The constraint accepts the rows that a comparison of each row with the earlier ones
-- accepts
--
CREATE TABLE offered AS
SELECT i, CASE WHEN i % 50 = 0 THEN NULL ELSE
    -- around 60 centers: some equal, some near, some just beyond the radius
    (hashint8extended(i % 60, 0) # (SELECT coalesce(bit_or(1::bigint << b::integer), 0) FROM
        (SELECT abs(hashint8extended(i, n)) % 64 FROM generate_series(1, i % 7) AS n) AS bits (b)))::simhash END AS fp
FROM generate_series(1, 1500) AS i;
CREATE FUNCTION kept(radii text) RETURNS TABLE (i integer, fp simhash, radius integer) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    CREATE TEMP TABLE keeping (i integer, fp simhash, radius integer);
    FOR r IN EXECUTE format('SELECT i, fp, %s AS radius FROM offered ORDER BY i', radii) LOOP
        INSERT INTO keeping SELECT r.i, r.fp, r.radius WHERE NOT EXISTS (
            SELECT FROM keeping AS k WHERE (k.fp <~> r.fp) + 0 <= least(k.radius, r.radius));
    END LOOP;
    RETURN QUERY TABLE keeping;
    DROP TABLE keeping;
END $$;
CREATE FUNCTION differing_kept(design text, radii text, OUT kept bigint, OUT differing bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TEMP TABLE excluded (i integer, fp simhash, radius integer,
        EXCLUDE USING simhash (simhash_ball(fp, radius) WITH =~=) WITH (%s))', design);
    EXECUTE format('INSERT INTO excluded SELECT i, fp, %s FROM offered ORDER BY i ON CONFLICT DO NOTHING', radii);
    SELECT * INTO kept, differing FROM differing('TABLE excluded', format('SELECT * FROM kept(%L)', radii));
    DROP TABLE excluded;
END $$;
SELECT design, radii, d.* FROM unnest('{blocks = 4,blocks = 2,"blocks = 5, prefix = 2",nested = 3}'::text[]) AS design,
    unnest('{3,0,-1,9,i % 5}'::text[]) AS radii, differing_kept(design, radii) AS d;

--
-- =~= by the index: the rows of a sequential scan
--
CREATE TABLE balls AS SELECT i, simhash_ball(fp, i % 12 - 1) AS ball FROM offered;
CREATE INDEX ON balls USING simhash (ball);
ANALYZE balls;
CREATE FUNCTION found(seqscan boolean) RETURNS TABLE (a integer, b integer, at tid) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', seqscan::text, true),
            set_config('enable_indexscan', (NOT seqscan)::text, true);
    RETURN QUERY SELECT x.i, y.i, y.ctid
        FROM balls AS x, LATERAL (SELECT y.i, y.ctid FROM balls AS y WHERE y.ball =~= x.ball OFFSET 0) AS y
        WHERE x.i % 20 = 7;
END $$;
CREATE TEMP TABLE by_index AS SELECT * FROM found(false);
CREATE TEMP TABLE by_eye AS SELECT * FROM found(true);
SELECT * FROM differing('TABLE by_index', 'TABLE by_eye');
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT * FROM balls WHERE ball =~= '(0123456789abcdef,3)';
EXPLAIN (COSTS off) SELECT * FROM balls WHERE ball IS NULL;
SELECT count(*) FROM balls WHERE ball IS NULL;
SET enable_indexscan = off;
SELECT count(*) FROM balls WHERE ball =~= ANY (SELECT ball FROM balls WHERE i <= 3);
SELECT count(*) FROM balls WHERE ball =~= ANY (ARRAY(SELECT ball FROM balls WHERE i <= 3));
EXPLAIN (COSTS off) SELECT count(*) FROM balls WHERE ball =~= ANY ('{"(0123456789abcdef,3)","(0000000000000000,3)"}');
SELECT simhash_index_check('balls_ball_idx', true);
RESET enable_seqscan;
RESET enable_indexscan;
SELECT pg_index_column_has_property('balls_ball_idx', 1, 'distance_orderable') AS balls,
       pg_index_column_has_property('no_near_duplicates', 1, 'search_nulls') AS nulls;
DROP TABLE docs, later, offered, balls, doubled;
DROP FUNCTION kept, differing_kept, found;

--
-- The same for arrays of hashes: =~= of sketch_ball, by Jaccard distance
--

-- 2 of 4 elements are in both
SELECT a, b, sketch_ball('{1,2,3,3}', a) =~= sketch_ball('{4,NULL,3,2}', b) AS near
FROM unnest('{-1,0.49,0.5,1,NaN}'::float8[]) AS a, unnest('{0.5,NaN}'::float8[]) AS b;
-- it is never NULL
SELECT a, b, a =~= b AS near, b =~= a AS commuted
FROM unnest(ARRAY[sketch_ball('{}', 1), sketch_ball('{NULL}', 'NaN'), ROW('{1}', NULL)::sketch_ball,
                  ROW(NULL, 1)::sketch_ball, sketch_ball('{{1},{2}}', 0.99), sketch_ball('{1}', 1)]) AS a,
    unnest(ARRAY[sketch_ball('{}', 1), sketch_ball('{3}', 1), sketch_ball('{1}', 1)]) AS b;

CREATE TABLE docs (
    id integer GENERATED ALWAYS AS IDENTITY, body text,
    CONSTRAINT apart EXCLUDE USING simhash (sketch_ball(shingle_hashes(body), 0.5) WITH =~=));
INSERT INTO docs (body)
VALUES ('one two three four five six seven'), ('something else altogether'), (NULL), (''), ('');
-- 4 of 6 shingles, then 3 of 7
INSERT INTO docs (body) VALUES ('one two three four five six 7') ON CONFLICT DO NOTHING RETURNING body;
INSERT INTO docs (body) VALUES ('one two three four five 6 7')
    ON CONFLICT ON CONSTRAINT apart DO NOTHING RETURNING body;
DO $$ BEGIN
    INSERT INTO docs (body) VALUES ('Something ELSE, altogether!');
EXCEPTION WHEN exclusion_violation THEN
    RAISE NOTICE '%', SQLERRM;
END $$;
-- a row does not conflict with itself, nor with a deleted row
UPDATE docs SET body = upper(body);
BEGIN;
DELETE FROM docs WHERE id = 2;
INSERT INTO docs (body) VALUES ('something else altogether');
ROLLBACK;
REINDEX TABLE docs;
SELECT simhash_index_check('apart', true);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'apart';
-- a table with duplicates
CREATE TABLE doubled AS SELECT '{1,2}'::bigint[] AS sk FROM generate_series(1, 2);
DO $$ BEGIN
    ALTER TABLE doubled ADD EXCLUDE USING simhash (sketch_ball(sk, 0) WITH =~=);
EXCEPTION WHEN exclusion_violation THEN
    RAISE NOTICE 'duplicates';
END $$;

-- a partial constraint lets short texts in again
CREATE TABLE posts (
    body text, CONSTRAINT long_apart EXCLUDE USING simhash (sketch_ball(shingle_hashes(body), 0.2) WITH =~=)
        WHERE (cardinality(shingle_hashes(body)) >= 3));
INSERT INTO posts VALUES ('Thanks!'), ('Thanks!'), ('one two three four five'), ('One, two, three, four, five')
    ON CONFLICT ON CONSTRAINT long_apart DO NOTHING RETURNING body;
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT explained($$SELECT FROM posts WHERE sketch_ball(shingle_hashes(body), 0.2) =~= sketch_ball('{1,2,3}', 0.2)
                   AND cardinality(shingle_hashes(body)) >= 3$$,
                 'Plan Rows', 'Bitmap Index Scan') IS NOT NULL AS by_index;
RESET enable_seqscan;
RESET enable_indexscan;
DROP TABLE posts;

-- deferred: checked at the end of the transaction
CREATE TABLE later (
    near sketch_ball, CONSTRAINT apart_later EXCLUDE USING simhash (near WITH =~=) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO later VALUES ('("{1,2,3}",0.4)'), ('("{1,2}",0.4)');
DELETE FROM later WHERE near = sketch_ball('{1,2,3}', 0.4);
COMMIT;
BEGIN;
INSERT INTO later VALUES ('("{1,2,4}",0.4)');
COMMIT;
TABLE later;

-- The constraint accepts the rows that a comparison of each row with the earlier ones
-- accepts: families of similar arrays, some long (and stored out of line), some without
-- elements.
CREATE TABLE offered AS
SELECT i, CASE i % 50 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' ELSE
    ARRAY(SELECT CASE WHEN hashint8(i * j + 5) & 7 < i % 4 THEN i ELSE 0 END * 1000003 + i % 23 * 100000 + j
          FROM generate_series(1, CASE WHEN i % 97 < 3 THEN 1000 ELSE 1 + i % 23 END) AS j) END AS sk,
    (ARRAY[-1, 0, 0.2, 0.5, 2 / 3.0, 0.9, 1, 'NaN', NULL])[1 + (hashint8(i) & 63) % 9]::float8 AS mixed
FROM generate_series(bigint '1', 600) AS i;
CREATE FUNCTION kept(radii text) RETURNS TABLE (i bigint) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    CREATE TEMP TABLE keeping (i bigint, sk bigint[], radius float8);
    FOR r IN EXECUTE format('SELECT i, sk, %s AS radius FROM offered ORDER BY i', radii) LOOP
        INSERT INTO keeping SELECT r.i, r.sk, r.radius WHERE NOT EXISTS (
            SELECT FROM keeping AS k WHERE (k.sk <%> r.sk) + 0 <= k.radius AND (k.sk <%> r.sk) + 0 <= r.radius);
    END LOOP;
    RETURN QUERY SELECT k.i FROM keeping AS k;
    DROP TABLE keeping;
END $$;
CREATE FUNCTION differing_kept(value text, radii text, OUT kept bigint, OUT differing bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE excluded (i bigint, sk bigint[], radius float8, near sketch_ball);
    EXECUTE format('ALTER TABLE excluded ADD CONSTRAINT excluded_apart EXCLUDE USING simhash (%s WITH =~=)', value);
    EXECUTE format('INSERT INTO excluded SELECT i, sk, radius, ROW(sk, radius)::sketch_ball
        FROM (SELECT i, sk, %s FROM offered) AS o (i, sk, radius) ORDER BY i ON CONFLICT DO NOTHING', radii);
    SELECT * INTO kept, differing FROM differing('SELECT i FROM excluded', format('SELECT * FROM kept(%L)', radii));
    PERFORM simhash_index_check('excluded_apart', true);
    DROP TABLE excluded;
END $$;
SELECT radii, d.* FROM unnest('{0.2,0,-1,0.5,0.9,1,"float8 ''NaN''",NULL::float8,mixed}'::text[]) AS radii,
    differing_kept('sketch_ball(sk, radius)', radii) AS d;
SELECT * FROM differing_kept('near', 'mixed');

-- by the index: the rows of a sequential scan
CREATE TABLE balls AS SELECT i, ROW(sk, mixed)::sketch_ball AS near FROM offered;
CREATE INDEX balls_near ON balls USING simhash (near);
ANALYZE balls;
SELECT s, count(*), sum(by_index + by_bitmap) AS differing, sum(d.rows) > 300 AS found
FROM unnest(ARRAY['near =~= %L', '%L::sketch_ball =~= near AND near IS NOT NULL',
                  'near =~= ANY (ARRAY[%L::sketch_ball, NULL])',
                  'near =~= %L AND near =~= sketch_ball(''{100001}'', 1)']) AS s,
    (SELECT near FROM balls WHERE i % 20 = 7 UNION ALL SELECT NULL) AS q,
    format('SELECT ctid AS at, i FROM balls WHERE ' || s, near) AS query, differing_by(query) AS d
GROUP BY s ORDER BY s;
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT FROM balls WHERE near =~= sketch_ball('{1,2}', 0.2);
RESET enable_seqscan;
-- estimates: a ball is unknown, has no radius, or contains all arrays
SELECT explained('SELECT FROM balls WHERE near =~= ROW(''{1}'', NULL)::sketch_ball', 'Plan Rows') <= 1 AS none,
    explained('SELECT FROM balls WHERE ''{1}''::bigint[] <%@ near', 'Plan Rows') < 100 AS of_column,
    explained('SELECT FROM offered WHERE sketch_ball(sk, 1) =~= sketch_ball(''{1}'', 0)', 'Plan Rows') < 100 AS smaller,
    explained('SELECT FROM offered WHERE sketch_ball(sk, 1) =~= sketch_ball(''{1}'', 1)', 'Plan Rows') > 500 AS larger,
    explained('SELECT FROM balls a JOIN balls b ON a.near =~= b.near', 'Plan Rows') < 20000 AS "join",
    explained('SELECT FROM balls a WHERE EXISTS (SELECT FROM balls b WHERE a.near =~= b.near)',
              'Plan Rows') <= 1000 AS semijoin;

-- the type's columns, and an operator class for another type
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname = 'sketch_ball_ops';
CREATE OPERATOR CLASS not_its_own FOR TYPE text USING simhash AS FUNCTION 1 simhash_sketch_ball_opclass(internal);
CREATE INDEX balls_text ON docs USING simhash (body not_its_own);
CREATE TYPE other_ball AS (center bigint[], radius real);
CREATE OPERATOR CLASS nor_its_own FOR TYPE other_ball USING simhash AS FUNCTION 1 simhash_sketch_ball_opclass(internal);
CREATE INDEX balls_other ON docs USING simhash ((ROW(shingle_hashes(body), 0.5)::other_ball) nor_its_own);
DROP OPERATOR FAMILY not_its_own USING simhash;
DROP OPERATOR FAMILY nor_its_own USING simhash;
DROP TYPE other_ball;
BEGIN;
ALTER TYPE sketch_ball ADD ATTRIBUTE note text;
INSERT INTO docs (body) VALUES ('a text of its own'), ('A text, of its own') ON CONFLICT DO NOTHING RETURNING body;
ALTER TYPE sketch_ball DROP ATTRIBUTE radius;
INSERT INTO docs (body) VALUES ('another text of its own');
ROLLBACK;
DROP TABLE docs, doubled, later, offered, balls;
DROP FUNCTION kept, differing_kept;
