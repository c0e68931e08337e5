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
