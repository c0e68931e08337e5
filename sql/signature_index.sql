--
-- Signatures: an index of their bands
--
CREATE SCHEMA signature_test;
SET search_path = signature_test, public;
SET max_parallel_workers_per_gather = 0;

-- The set i.  The eight sets of a family have most of their numbers in common, and some
-- are equal.
CREATE FUNCTION set_of(i bigint, seed bigint DEFAULT 0) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN CASE i % 40
        WHEN 0 THEN NULL
        WHEN 1 THEN '{}'
        WHEN 2 THEN '{1,2,3}'
        ELSE ARRAY(SELECT i / 8 * 1000 + j + seed * 100000000
                       + CASE WHEN j <= i % 8 * 2 THEN 500 + i % 8 * 20 ELSE 0 END
                   FROM generate_series(1, 60) AS j) END;
CREATE FUNCTION sig_of(i bigint, seed bigint DEFAULT 0, bands integer DEFAULT 6, rows integer DEFAULT 4)
    RETURNS minhash LANGUAGE sql IMMUTABLE RETURN to_minhash(set_of(i, seed), bands, rows);

CREATE TABLE docs AS SELECT i AS id, sig_of(i)::minhash(6, 4, 'hash') AS sig FROM generate_series(1, 3000) AS i;
CREATE TABLE queries AS
    SELECT i AS id, CASE WHEN i % 3 = 0 THEN sig_of(i, 1) ELSE sig_of(i) END AS sig, sig_of(i + 5) AS other,
        CASE WHEN i % 30 <> 0 THEN i % 30 / 60.0::float8 END AS t
    FROM generate_series(1, 80) AS i;
CREATE INDEX docs_sig ON docs USING simhash (sig);
VACUUM ANALYZE docs, queries;
SELECT amvalidate(oid)
FROM pg_opclass WHERE opcname = 'minhash_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash');

-- Return a query for the rows of docs that match a condition, for each of the queries.
CREATE FUNCTION of_each(condition text) RETURNS text LANGUAGE sql IMMUTABLE RETURN
    'SELECT q.id AS q, d.* FROM queries q, LATERAL (SELECT d.ctid AS at, d.id FROM docs d WHERE '
    || condition || ' OFFSET 0) d';

-- Run each query by a sequential scan, an index scan, and a bitmap scan.
CREATE FUNCTION all_differing()
    RETURNS TABLE (query bigint, by_index bigint, by_bitmap bigint, rows bigint) LANGUAGE sql AS $$
    SELECT n, d.* FROM unnest(ARRAY[
        of_each('d.sig % q.sig'),
        of_each('d.sig % q.sig AND shares_band(q.other, d.sig)'),
        of_each('d.sig % q.sig AND d.sig <%> q.sig <= 0.2'),
        of_each('d.sig % q.sig AND d.sig <%> q.sig <= q.t'),
        of_each('jaccard_distance(q.sig, d.sig) < q.t AND d.sig % q.other'),
        'SELECT ctid AS at, * FROM docs WHERE sig % sig_of(43) OR sig % sig_of(91) AND sig <%> sig_of(91) < 0.2',
        'SELECT ctid AS at, * FROM docs WHERE sig % sig_of(42) AND id % 2 = 0',
        'SELECT ctid AS at, * FROM docs WHERE sig % NULL OR sig % sig_of(42) AND sig <%> sig_of(42) <= NULL',
        'SELECT ctid AS at, * FROM docs WHERE sig IS NULL',
        'SELECT ctid AS at, * FROM docs
         WHERE sig IS NOT NULL AND sig % sig_of(1003) AND sig <%> sig_of(1003) < 1.0::float8 / 4',
        'SELECT ctid AS at, * FROM docs WHERE sig IS NULL AND sig % sig_of(5)'])
            WITH ORDINALITY AS q (q, n), differing_by(q) AS d $$;
SELECT * FROM all_differing();
-- more rows than a TID set of this size holds
SET work_mem = '64kB';
SELECT * FROM all_differing();
RESET work_mem;

-- Below 1 / (rows of a band) sig % q AND sig <%> q <= t returns the rows of a
-- sequential scan by sig <%> q <= t.  t is each possible distance, and the number next
-- below 1 / rows.
CREATE FUNCTION lost_below(
    tab regclass, q minhash, bands integer, rows integer, OUT distances bigint, OUT differing bigint,
    OUT matching bigint)
LANGUAGE plpgsql AS $$
DECLARE
    t float8;
    near text;
    compared record;
BEGIN
    SELECT 0, 0, 0 INTO distances, differing, matching;
    FOR t IN SELECT d / (bands * rows)::float8 FROM generate_series(-1, bands - 1) AS d
             UNION ALL VALUES (1.0::float8 / rows * (1 - 1.2e-16::float8)) LOOP
        near := format('SELECT ctid AS at, * FROM %s WHERE sig <%%> %L <= %L', tab, q, t);
        compared := differing(near || format(' AND sig %% %L', q), near);
        distances := distances + (t < 1.0::float8 / rows)::integer;
        differing := differing + compared.differing;
        matching := matching + compared.rows;
    END LOOP;
END $$;
-- The hardest rows: they differ in d minima, in as many bands as possible.
CREATE FUNCTION spread(d integer, bands integer, rows integer) RETURNS minhash LANGUAGE sql IMMUTABLE
    RETURN (SELECT format('%sx%s:hash:%s', bands, rows, string_agg(band, '-' ORDER BY b))::minhash
            FROM (SELECT b,
                         string_agg(lpad(CASE WHEN r * bands + b < d THEN '1' ELSE '0' END, 8, '0'), ''
                                    ORDER BY r) AS band
                  FROM generate_series(0, bands - 1) AS b, generate_series(0, rows - 1) AS r GROUP BY b) AS s);
CREATE FUNCTION lost_of_shape(
    bands integer, rows integer, OUT shape text, OUT distances bigint, OUT differing bigint, OUT matching bigint,
    OUT sharp boolean)
LANGUAGE plpgsql AS $$
DECLARE q minhash := spread(0, bands, rows);
BEGIN
    shape := bands || 'x' || rows;
    CREATE TEMP TABLE spreads AS SELECT spread(d, bands, rows) AS sig FROM generate_series(0, bands * rows) AS d;
    EXECUTE format('ALTER TABLE spreads ALTER COLUMN sig TYPE minhash(%s, %s, ''hash'')', bands, rows);
    CREATE INDEX ON spreads USING simhash (sig);
    SELECT * INTO distances, differing, matching FROM lost_below('spreads', q, bands, rows);
    -- at 1 / rows itself a row is lost
    SELECT NOT sig % q INTO sharp FROM spreads WHERE sig <%> q = 1.0::float8 / rows;
    DROP TABLE spreads;
END $$;
SET enable_seqscan = off;
SELECT lost.* FROM (VALUES (1, 1), (1, 5), (2, 2), (6, 4), (18, 7), (20, 5), (7, 18)) AS s (bands, rows),
     lost_of_shape(bands, rows) AS lost;
SELECT * FROM lost_below('docs', sig_of(123), 6, 4);
SET enable_bitmapscan = off;
SELECT * FROM lost_below('docs', sig_of(123), 6, 4);
RESET enable_bitmapscan;
RESET enable_seqscan;

-- The index serves % and no other operator.
CREATE FUNCTION scans(condition text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(line, '[0-9]+x[0-9]+:[a-z]+[0-9]*:[0-9a-f-]*', '...', 'g')
    FROM plan('SELECT FROM docs WHERE ' || condition) AS line $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT condition, scans(condition) FROM unnest(ARRAY[
    'sig % sig_of(5)', 'sig_of(5) % sig', 'shares_band(sig, sig_of(5))', 'shares_band(sig_of(5), sig)',
    'sig % sig_of(5) AND sig <%> sig_of(5) <= 0.2']) WITH ORDINALITY AS c (condition, n) ORDER BY n;
SELECT condition, scans(condition) FROM unnest(ARRAY[
    'sig <%> sig_of(5) <= 0.2', 'NOT sig % sig_of(5)']) WITH ORDINALITY AS c (condition, n) ORDER BY n;
-- A bound above 1 is probably meant as a number of bits.
SELECT count(*) = (SELECT count(sig) FROM docs) AS every_row FROM docs WHERE sig <%> sig_of(5) <= 3;
SELECT count(*) > 0 AS found FROM docs AS a JOIN docs AS b ON a.id = b.id AND jaccard_distance(a.sig, b.sig) < 1.5;
SELECT count(*) > 0 AS no_notice FROM docs
WHERE sig <%> sig_of(5) <= 1 OR sig <%> sig_of(5) > 3 OR sig <%> sig_of(5) <= NULL OR sig <%> sig_of(id) < id;
-- parameters, and joins
SET plan_cache_mode = force_generic_plan;
PREPARE within(minhash, float8) AS SELECT id FROM docs WHERE sig % $1 AND sig <%> $1 <= $2;
SELECT plan('EXECUTE within(NULL, NULL)');
EXECUTE within(sig_of(5), 0.2);
RESET plan_cache_mode;
SELECT plan('SELECT FROM queries q JOIN docs d ON d.sig % q.sig', 'Index');
RESET enable_seqscan;
RESET enable_bitmapscan;

--
-- After insertions, updates and deletions; the numbers are numbers of rows
--
INSERT INTO docs SELECT i, sig_of(i) FROM generate_series(3001, 3500) AS i;
UPDATE docs SET sig = sig_of(id + 1, 3) WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 7 = 0;
SELECT check_indexes('docs');
SELECT * FROM all_differing();
VACUUM docs;
SELECT check_indexes('docs');
SELECT reltuples = (SELECT count(*) FROM docs) AS rows_counted FROM pg_class WHERE relname = 'docs_sig';
INSERT INTO docs SELECT i, sig_of(i) FROM generate_series(3501, 4000) AS i;
SELECT * FROM all_differing();
SELECT * FROM lost_below('docs', sig_of(123), 6, 4);

-- Memory does not grow with the number of inserted rows, by not even a byte a row.
CREATE TABLE filled (id integer, sig minhash(2, 2, 'hash'));
CREATE INDEX ON filled USING simhash (sig);
CREATE TABLE memory (id integer, bytes bigint);
CREATE FUNCTION note_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO memory SELECT NEW.id, sum(used_bytes) FROM pg_backend_memory_contexts; RETURN NULL; END $$;
CREATE TRIGGER note BEFORE INSERT ON filled FOR EACH ROW WHEN (NEW.id % 5000 = 0) EXECUTE FUNCTION note_memory();
INSERT INTO filled SELECT i, to_minhash(ARRAY[i], 2, 2) FROM generate_series(1, 20000) AS i;
SELECT count(*), sum(greatest(more, 0)) < 15000 AS no_more
FROM (SELECT bytes - lag(bytes) OVER (ORDER BY id) AS more FROM memory) AS s;

--
-- Many equal signatures
--
CREATE TABLE equal_ones AS
    SELECT i AS id,
           to_minhash(CASE WHEN i % 10 = 0 THEN ARRAY[i] ELSE ARRAY[1, 2, 3] END)::minhash(18, 7, 'hash') AS sig
    FROM generate_series(1::bigint, 20000) AS i;
CREATE INDEX ON equal_ones USING simhash (sig);
ANALYZE equal_ones;
SELECT explained('SELECT FROM equal_ones WHERE sig % to_minhash(ARRAY[1,2,3])', 'Plan Rows')
           BETWEEN 17000 AND 19000 AS common,
       explained('SELECT FROM equal_ones WHERE sig % to_minhash(ARRAY[10])', 'Plan Rows') < 10 AS rare;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT pages_read('SELECT id FROM equal_ones WHERE sig % to_minhash(ARRAY[1,2,3]) LIMIT 10') <= 60 AS few,
       pages_read('SELECT id FROM equal_ones WHERE sig % to_minhash(ARRAY[10])') <= 100 AS not_slower;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- no two rows that share a band
CREATE TABLE apart (id bigint, sig minhash(6, 4, 'hash'), CONSTRAINT apart_sig EXCLUDE USING simhash (sig WITH %));
\set VERBOSITY terse
INSERT INTO apart SELECT i, sig_of(i) FROM generate_series(8, 400, 8) AS i;
INSERT INTO apart VALUES (17, sig_of(17));
INSERT INTO apart VALUES (17, sig_of(17)) ON CONFLICT DO NOTHING;
INSERT INTO apart SELECT i, sig_of(i) FROM generate_series(1, 1000) AS i ON CONFLICT ON CONSTRAINT apart_sig DO NOTHING;
\set VERBOSITY default
SELECT count(*),
       (SELECT count(*) FROM apart AS a JOIN apart AS b ON a.ctid < b.ctid AND (a.sig % b.sig) IS TRUE) AS pairs,
       (SELECT count(*) FROM generate_series(1, 1000) AS i
        WHERE NOT EXISTS (SELECT FROM apart WHERE (sig % sig_of(i)) IS TRUE)
          AND sig_of(i) IS NOT NULL) AS refused_for_nothing
FROM apart;
SELECT check_indexes('apart');

DROP SCHEMA signature_test CASCADE;
