-- What an index of signatures costs, and saves.  Run by bands.sh; psql variable rows.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

CREATE EXTENSION simhash;
\ir timing.sql

-- checkpoints only where they are asked for
ALTER SYSTEM SET max_wal_size = '30GB';
ALTER SYSTEM SET checkpoint_timeout = '1h';
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null

-- one core; no compiling
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET jit = off;
SET maintenance_work_mem = '1GB';
SET client_min_messages = warning;

-- Sets of 40 numbers, in families of 1 to 9: each set has up to a third of its numbers for
-- itself.  Signatures of the default shape.
CREATE FUNCTION set_of(family bigint, member integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT family * 1000 + j + CASE WHEN j < member * 2 THEN member * 50 ELSE 0 END FROM generate_series(1, 40) AS j);
CREATE FUNCTION sigs(first bigint, n bigint) RETURNS TABLE (sig minhash) LANGUAGE sql
    BEGIN ATOMIC SELECT to_minhash(set_of(f, m)) FROM generate_series(first, first + n / 5) AS f, generate_series(0, (hashint8(f) & 2147483647) % 9) AS m LIMIT n; END;
CREATE TABLE docs AS SELECT row_number() OVER () AS id, sig FROM sigs(1, :rows) AS s;
CREATE TABLE docs_gin AS TABLE docs;
CREATE TABLE queries AS SELECT sig FROM docs WHERE id % (:rows / 10000) = 0 ORDER BY md5(id::text);
VACUUM ANALYZE;

CREATE TABLE built (what text, ms float8);
INSERT INTO built VALUES ('simhash', time_query('CREATE INDEX docs_sig ON docs USING simhash (sig)'));
INSERT INTO built VALUES ('GIN', time_query('CREATE INDEX docs_bands ON docs_gin USING gin (minhash_bands(sig)) WITH (fastupdate = off)'));
VACUUM ANALYZE;
SELECT simhash_index_check('docs_sig', true) \g /dev/null
\pset title 'build, and size'
SELECT round(s.ms) AS "simhash ms", round(g.ms) AS "GIN ms", round((g.ms / s.ms)::numeric, 1) AS "GIN / simhash",
       pg_relation_size('docs_sig') / :rows AS "simhash bytes a row", pg_relation_size('docs_bands') / :rows AS "GIN bytes a row",
       round(pg_relation_size('docs_sig') / pg_relation_size('docs_bands')::numeric, 2) AS "simhash / GIN"
FROM built AS s, built AS g WHERE s.what = 'simhash' AND g.what = 'GIN';

SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
\pset title '10,000 look-ups in a join'
SELECT * FROM time_pair('GIN, bands in common / simhash, %',
    'SELECT count(*) FROM queries AS q JOIN docs_gin AS d ON minhash_bands(d.sig) && minhash_bands(q.sig)',
    'SELECT count(*) FROM queries AS q JOIN docs AS d ON d.sig % q.sig', 3)
UNION ALL
SELECT * FROM time_pair('<%> <= 0.1 / %', 'SELECT count(*) FROM queries AS q JOIN docs AS d ON d.sig <%> q.sig <= 0.1',
    'SELECT count(*) FROM queries AS q JOIN docs AS d ON d.sig % q.sig', 3);
RESET enable_seqscan;

-- the same insertions into both
CREATE TABLE new AS SELECT sig, row_number() OVER () AS n FROM sigs(100000000, 60000) AS s ORDER BY hashint8(row_number() OVER ());
CREATE SEQUENCE batch;
CREATE FUNCTION insertion(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT 0, sig FROM new WHERE n %% 6 = (SELECT nextval(''batch'') / 2 %% 6)', target);
\pset title 'insertion of 10,000 rows'
SELECT * FROM time_pair('simhash / GIN, fastupdate off', insertion('docs'), insertion('docs_gin'), 5);
ALTER INDEX docs_bands SET (fastupdate = on);
SELECT * FROM time_pair('simhash / GIN, fastupdate on', insertion('docs'), insertion('docs_gin'), 5);

\pset title 'all pairs that share a band, once'
SELECT count(*) AS pairs, round(time_query('SELECT count(*) FROM docs AS a JOIN docs AS b ON a.sig % b.sig AND a.id < b.id') / 1000) AS seconds
FROM docs AS a JOIN docs AS b ON a.sig % b.sig AND a.id < b.id;
DROP TABLE docs_gin;

-- a tenth of the rows equal
CREATE TABLE hot AS SELECT id, CASE WHEN id % 10 = 7 THEN (SELECT sig FROM docs WHERE id = 7) ELSE sig END AS sig FROM docs WHERE id > 0;
CREATE INDEX ON hot USING simhash (sig);
DELETE FROM queries WHERE sig % (SELECT sig FROM docs WHERE id = 7);
VACUUM ANALYZE hot, docs, queries;
SET enable_seqscan = off;
\pset title 'look-ups of others where a tenth of the rows is equal / as they were'
SELECT * FROM time_pair('%', 'SELECT count(*) FROM queries AS q JOIN hot AS d ON d.sig % q.sig', 'SELECT count(*) FROM queries AS q JOIN docs AS d ON d.sig % q.sig', 3);

\pset title 'a million equal signatures'
CREATE TABLE same AS SELECT i AS id, to_minhash('{1,2,3}'::bigint[]) AS sig FROM generate_series(1, 1000000) AS i;
CREATE INDEX ON same USING simhash (sig);
VACUUM ANALYZE same;
SET enable_bitmapscan = off;
CREATE FUNCTION buffers_of(query text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::integer + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::integer;
END $$;
SELECT buffers_of('SELECT id FROM same WHERE sig % to_minhash(''{1,2,3}''::bigint[]) LIMIT 10') AS "buffers read for LIMIT 10";
