--
-- Trees shrink: vacuum merges pages, and insertions reuse them
--
-- The tables are temporary, so no other session's snapshot prevents the removal of
-- rows.
--
SET client_min_messages = warning;

CREATE FUNCTION pages_of(index regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_relation_size(index) / current_setting('block_size')::bigint $$;
CREATE FUNCTION free_pages_of(index regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT pages FROM simhash_index_stats(index) WHERE level IS NULL $$;
-- every page is the metapage, in a tree, or free
CREATE FUNCTION pages_lost(index regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT pages_of(index) - 1 - sum(pages) FROM simhash_index_stats(index) $$;

-- compare a search by the index with a sequential scan
CREATE FUNCTION differing(tab regclass, radius integer, OUT rows bigint, OUT differing bigint) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    query text := format('SELECT q.n, d.ctid, d.fp FROM queries AS q, %s AS d WHERE ', tab);
BEGIN
    SELECT * INTO rows, differing
    FROM differing(query || 'd.fp <~> q.fp <= ' || radius, query || '(d.fp <~> q.fp) + 0 <= ' || radius);
END $$;
CREATE TEMP TABLE queries AS SELECT i AS n, random_fp(i) AS fp FROM generate_series(1, 10) AS i;

--
-- Delete all rows, then insert others
--
CREATE TEMP TABLE refilled AS SELECT i AS id, random_fp(i) AS fp FROM generate_series(1, 20000) AS i;
INSERT INTO refilled SELECT NULL, NULL FROM generate_series(1, 2000);
CREATE INDEX refilled_fp ON refilled USING simhash (fp);
SELECT free_pages_of('refilled_fp'), pages_lost('refilled_fp');
SELECT pages_of('refilled_fp') AS fresh \gset
DELETE FROM refilled;
VACUUM refilled;
SELECT simhash_index_check('refilled_fp', true);
SELECT * FROM simhash_index_stats('refilled_fp') ORDER BY permuted_table, level;
-- what REINDEX would make of an index that grew in random order, and of it after deletions
CREATE TABLE bloated (id int, fp simhash);
CREATE INDEX bloated_fp ON bloated USING simhash (fp);
INSERT INTO bloated SELECT i, fingerprint(i) FROM generate_series(1, 20000) AS i;
SELECT sum(pages) AS pages, sum(rebuilt_pages) AS rebuilt FROM simhash_index_stats('bloated_fp') \gset grown_
DELETE FROM bloated WHERE id % 4 > 0;
VACUUM bloated;
SELECT sum(pages) AS pages, sum(rebuilt_pages) AS rebuilt FROM simhash_index_stats('bloated_fp') \gset emptied_
REINDEX INDEX bloated_fp;
SELECT :emptied_pages > 2 * :emptied_rebuilt AS bloated, sum(pages) = :emptied_rebuilt AS foretold,
    sum(rebuilt_pages) = sum(pages) AS stays FROM simhash_index_stats('bloated_fp');
INSERT INTO bloated SELECT i, fingerprint(i) FROM generate_series(1, 20000) AS i WHERE i % 4 > 0;
REINDEX INDEX bloated_fp;
SELECT :grown_pages > :grown_rebuilt AS bloated, sum(pages) = :grown_rebuilt AS foretold
FROM simhash_index_stats('bloated_fp');
DROP TABLE bloated;
SELECT free_pages_of('refilled_fp') > 0.9 * :fresh AS mostly_free, pages_of('refilled_fp') = :fresh AS as_long,
       pages_lost('refilled_fp');
SELECT count(*) FROM refilled WHERE fp <~> '0123456789abcdef' <= 64;
INSERT INTO refilled SELECT i, random_fp(i) FROM generate_series(1, 20000) AS i;
SELECT pages_of('refilled_fp') < 2 * :fresh AS not_much_longer, pages_lost('refilled_fp');
SELECT simhash_index_check('refilled_fp', true);
SELECT * FROM differing('refilled', 20);

--
-- Loads under which an index grows in each round if vacuum does not merge pages
--
CREATE FUNCTION fp_of(load text, round integer, i integer) RETURNS simhash LANGUAGE sql AS $$
    SELECT CASE load
        WHEN 'hot' THEN hashint8extended(round, 0)                       -- one fingerprint a round
        WHEN 'window' THEN (round * 5000 + i)::bigint << 44              -- ascending
        WHEN 'sinking' THEN ((100 - round) * 5000 - i)::bigint << 44     -- descending
        ELSE hashint8extended(i, round) END::simhash $$;
CREATE TEMP TABLE loads (load text, fresh bigint, sixth bigint);
\set rounds 10
-- each statement replaces a fifth of the rows
CREATE FUNCTION statements(load text, rounds integer) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT unnest(ARRAY[
        format('CREATE TEMP TABLE of_%1$s (round integer, fp simhash)', load),
        format('INSERT INTO of_%1$s
               SELECT r, fp_of(%1$L, r, i) FROM generate_series(-4, 0) AS r, generate_series(1, 5000) AS i', load),
        format('CREATE INDEX of_%1$s_fp ON of_%1$s USING simhash (fp)', load),
        format('INSERT INTO loads SELECT %1$L, pages_of(''of_%1$s_fp'')', load)])
    UNION ALL
    SELECT s FROM generate_series(1, rounds) AS r, unnest(ARRAY[
        format('DELETE FROM of_%1$s WHERE round = %2$s - 5', load, r),
        format('VACUUM of_%1$s', load),
        format('INSERT INTO of_%1$s SELECT %2$s, fp_of(%1$L, %2$s, i) FROM generate_series(1, 5000) AS i', load, r),
        format('UPDATE loads SET sixth = pages_of(''of_%1$s_fp'') WHERE load = %1$L AND %2$s = 6', load, r)]) AS s $$;
\set ECHO none
SELECT statements(load, :rounds) FROM unnest('{hot,window,sinking,uniform}'::text[]) AS load \gexec
\set ECHO all
SELECT load, pages_of(index) < 2 * fresh AS not_twice_as_long, pages_of(index) < 1.1 * sixth AS flat, pages_lost(index),
       simhash_index_check(index, true), d.*
FROM loads, LATERAL (SELECT ('of_' || load)::regclass AS tab, ('of_' || load || '_fp')::regclass AS index) AS t,
     differing(tab, 20) AS d;

--
-- Rows with equal fingerprints fill pages, at any position among the others
--
CREATE TEMP TABLE flooded AS SELECT 'ffff000000000000'::simhash AS fp FROM generate_series(1, 5000) AS i;
CREATE INDEX flooded_fp ON flooded USING simhash (fp) WITH (blocks = 2);
INSERT INTO flooded SELECT '0123456789abcdef' FROM generate_series(1, 5000) AS i;
SELECT min(fill) > 0.8 AS filled FROM simhash_index_stats('flooded_fp') WHERE level = 0 AND permuted_table IS NOT NULL;
SELECT simhash_index_check('flooded_fp', true);
