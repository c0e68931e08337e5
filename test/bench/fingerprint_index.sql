-- Measures the costs and benefits of the index.  fingerprint_index.sh runs this.  psql
-- variable: rows.
\ir one_core.sql
SET maintenance_work_mem = '1GB';

-- uniform fingerprints, and the queries: some of them, with two bits changed
CREATE FUNCTION random_simhash(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN ('x' || left(md5(i::text), 16))::bit(64)::bigint::simhash;
CREATE TABLE docs AS SELECT i AS id, random_simhash(i) AS fp FROM generate_series(1, :rows) AS i;
CREATE TABLE queries AS
    SELECT i AS id,
           (random_simhash(i * (:rows / 100000))::bigint
            # (1::bigint << (i * 7 % 61)::int) # (1::bigint << (i * 11 % 64)::int))::simhash AS fp,
           random_simhash(i * (:rows / 100000))::bigint AS original
    FROM generate_series(1, 100000) AS i
    ORDER BY md5(i::text);
VACUUM ANALYZE;

\pset title 'build'
SET client_min_messages = warning;
SELECT * FROM time_pair('simhash / btree of fp::bigint',
    'DROP INDEX IF EXISTS docs_simhash; CREATE INDEX docs_simhash ON docs USING simhash (fp)',
    'DROP INDEX IF EXISTS docs_btree; CREATE INDEX docs_btree ON docs ((fp::bigint))', 3);
\pset title 'build with max_parallel_maintenance_workers = 0 / more'
SELECT t.* FROM unnest(ARRAY[1, 2]) AS workers, LATERAL time_pair('alone / ' || workers,
    'SET max_parallel_maintenance_workers = 0; DROP INDEX IF EXISTS docs_simhash;
     CREATE INDEX docs_simhash ON docs USING simhash (fp)',
    format('SET max_parallel_maintenance_workers = %s; DROP INDEX docs_simhash;
            CREATE INDEX docs_simhash ON docs USING simhash (fp)', workers), 3) AS t;
SET max_parallel_maintenance_workers = 0;
\pset title 'build of rows that do not fit into memory'
SET maintenance_work_mem = '8MB';
SELECT * FROM time_pair('simhash / btree of fp::bigint',
    'DROP INDEX IF EXISTS docs_simhash; CREATE INDEX docs_simhash ON docs USING simhash (fp)',
    'DROP INDEX IF EXISTS docs_btree; CREATE INDEX docs_btree ON docs ((fp::bigint))', 3);
SET maintenance_work_mem = '1GB';
\pset title 'size'
SELECT round(pg_relation_size('docs_simhash') / :rows::numeric, 1) AS "bytes a row";

CREATE INDEX docs_block1 ON docs (((fp::bigint >> 48) & 65535));
CREATE INDEX docs_block2 ON docs (((fp::bigint >> 32) & 65535));
CREATE INDEX docs_block3 ON docs (((fp::bigint >> 16) & 65535));
CREATE INDEX docs_block4 ON docs ((fp::bigint & 65535));
VACUUM ANALYZE docs;
SELECT simhash_index_check('docs_simhash', true) \g /dev/null

SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE FUNCTION lookup(n integer, k integer) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT fp FROM queries LIMIT %s) AS q JOIN docs ON docs.fp <~> q.fp <= %s', n,
                  k);
\pset title 'look-ups in a join'
SELECT * FROM time_pair('100,000 within 3 bits / as many equal in a btree', lookup(100000, 3),
    'SELECT count(*) FROM queries JOIN docs ON docs.fp::bigint = original', 5)
UNION ALL
SELECT * FROM time_pair('four expression btrees, ORed / simhash: 2,000 within 3 bits', $$
    SELECT count(*) FROM (SELECT fp FROM queries LIMIT 2000) AS q JOIN docs
    ON (((docs.fp::bigint >> 48) & 65535) = ((q.fp::bigint >> 48) & 65535)
        OR ((docs.fp::bigint >> 32) & 65535) = ((q.fp::bigint >> 32) & 65535)
        OR ((docs.fp::bigint >> 16) & 65535) = ((q.fp::bigint >> 16) & 65535)
        OR (docs.fp::bigint & 65535) = (q.fp::bigint & 65535))
       AND hamming_distance(docs.fp, q.fp) + 0 <= 3$$, lookup(2000, 3), 3);

\pset title 'sequential scan (once) / look-ups (1,000 of them: multiply the ratio by 1,000)'
SELECT t.* FROM (VALUES (3), (7), (8), (10), (11)) AS radius (k), LATERAL
    time_pair('k = ' || k, 'SELECT count(*) FROM docs WHERE (fp <~> ''0123456789abcdef'') + 0 <= 8',
              lookup(1000, k), 3) AS t;

-- The ten nearest rows: of random centers, which have no near rows; and of centers with
-- 20 planted rows at distances 1 to 8.
CREATE TABLE centers AS
    SELECT i AS id, random_simhash(-i) AS far, random_simhash(-i - 1000000) AS near FROM generate_series(1, 1000) AS i;
CREATE FUNCTION flip(fp simhash, bits integer, seed bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (fp::bigint # (SELECT bit_or(1::bigint << b) FROM
        (SELECT b FROM generate_series(0, 63) AS b ORDER BY hashint8extended(b, seed), b LIMIT bits) AS s))::simhash;
CREATE TABLE planted AS
    SELECT 0::bigint AS id, flip(near, 1 + i % 8, id * 20 + i) AS fp FROM centers, generate_series(1, 20) AS i;
INSERT INTO docs SELECT * FROM planted;
VACUUM ANALYZE docs, centers;
CREATE FUNCTION nearest(center text, n integer) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT %s AS fp FROM centers LIMIT %s) AS q,
                   LATERAL (SELECT FROM docs ORDER BY docs.fp <~> q.fp LIMIT 10) AS d', center, n);
\pset title 'sequential scan with top-N sort (once) / ten nearest (100 times: multiply the ratio by 100)'
SELECT t.* FROM unnest(ARRAY['far', 'near']) AS center, LATERAL
    time_pair(center, 'SELECT FROM docs ORDER BY (fp <~> ''0123456789abcdef'') + 0 LIMIT 10', nearest(center, 100),
              5) AS t;
DELETE FROM docs WHERE id = 0;

-- insertion into an index that has rows
DROP INDEX docs_btree;
CREATE TABLE docs_b AS TABLE docs;
CREATE INDEX ON docs_b (((fp::bigint >> 48) & 65535), fp);
CREATE INDEX ON docs_b (((fp::bigint >> 32) & 65535), fp);
CREATE INDEX ON docs_b (((fp::bigint >> 16) & 65535), fp);
CREATE INDEX ON docs_b ((fp::bigint & 65535), fp);
DROP INDEX docs_block1, docs_block2, docs_block3, docs_block4;
VACUUM ANALYZE;
CREATE SEQUENCE batch;
CREATE FUNCTION insertion(target text, n integer) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT i, random_simhash(-i - %s * nextval(''batch''))
                   FROM generate_series(1, %s) AS i', target, n * 2, n);
\pset title 'insertion'
SELECT * FROM time_pair(
    '50,000 rows: simhash / four expression btrees', insertion('docs', 50000), insertion('docs_b', 50000), 3);

-- compared with a table of as many rows with this index alone
CREATE TABLE indexed AS SELECT * FROM docs WHERE id <= 100000;
CREATE INDEX ON indexed USING simhash (fp);
CREATE TABLE apart AS TABLE indexed;
ALTER TABLE apart ADD CONSTRAINT apart_3 EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=);
VACUUM ANALYZE indexed, apart;
\pset title 'insertion of 10,000 rows with an exclusion constraint of radius 3 / with the index'
SELECT * FROM time_pair('INSERT', insertion('apart', 10000), insertion('indexed', 10000), 5);
SELECT * FROM time_pair(
    'INSERT ... ON CONFLICT DO NOTHING', insertion('apart', 10000) || ' ON CONFLICT ON CONSTRAINT apart_3 DO NOTHING',
    insertion('indexed', 10000), 5);
DROP TABLE indexed, apart;

-- WAL, without that of the heap
CREATE TABLE plain (LIKE docs);
ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null
CHECKPOINT;
\pset title 'WAL, bytes a row, of the index alone'
SELECT round((wal_of(insertion('docs', 50000)) - wal_of(insertion('plain', 50000))) / 50000)
           AS "without full-page images";
SET simhash.generic_wal = on;
SELECT round((wal_of(insertion('docs', 50000)) - wal_of(insertion('plain', 50000))) / 50000)
           AS "the same with simhash.generic_wal";
RESET simhash.generic_wal;
ALTER SYSTEM RESET full_page_writes;
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null
CHECKPOINT;
SELECT round((wal_of(insertion('docs', 50000)) - wal_of(insertion('plain', 50000))) / 50000)
           AS "with them, after a checkpoint";

\pset title 'all fingerprints equal'
CREATE TABLE same AS SELECT i AS id, '0123456789abcdef'::simhash AS fp FROM generate_series(1, 1000000) AS i;
CREATE INDEX ON same USING simhash (fp);
VACUUM ANALYZE same;
SET enable_seqscan = off;
SELECT id FROM same WHERE fp <~> '0123456789abcdef' <= 3 LIMIT 1 \g /dev/null
SELECT buffers_of('SELECT id FROM same WHERE fp <~> ''0123456789abcdef'' <= 3 LIMIT 1') AS "buffers read for LIMIT 1",
       buffers_of('SELECT id FROM same ORDER BY fp <~> ''0123456789abcdef'' LIMIT 10') AS "for the ten nearest of it",
       buffers_of('SELECT id FROM same ORDER BY fp <~> ''0123456789abcdee'' LIMIT 10') AS "of one at distance 1",
       buffers_of('SELECT id FROM same ORDER BY fp <~> ''fedcba9876543210'' LIMIT 10') AS "of one at distance 64";
