-- Measures the costs and benefits of an index of signatures, with the default
-- maintenance_work_mem.  signature_index.sh runs this.  psql variable: rows.
\ir one_core.sql
SET client_min_messages = warning;

-- Sets of 40 numbers.  In families of 1 to 9, each set has up to a third of its numbers
-- for itself.  Other sets have no family.  Signatures have the default shape.
CREATE FUNCTION set_of(family bigint, member integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT family * 1000 + j + CASE WHEN j < member * 2 THEN member * 50 ELSE 0 END
                 FROM generate_series(1, 40) AS j);
CREATE FUNCTION families(first bigint, n bigint) RETURNS TABLE (sig minhash) LANGUAGE sql
    BEGIN ATOMIC SELECT to_minhash(set_of(f, m))
    FROM generate_series(first, first + n / 5) AS f,
         generate_series(0, (hashint8(f) & 2147483647) % 9) AS m LIMIT n; END;
CREATE TABLE alone AS
    SELECT i AS id, to_minhash(set_of(i, 0))::minhash(18, 7, 'hash') AS sig FROM generate_series(1::bigint, :rows) AS i;
CREATE TABLE alone_gin AS TABLE alone;
CREATE TABLE docs AS SELECT row_number() OVER () AS id, sig::minhash(18, 7, 'hash') FROM families(1, :rows) AS s;
CREATE TABLE docs_gin AS TABLE docs;
-- queries: near a set without a family; near one of a family
CREATE TABLE queries AS SELECT * FROM (
    SELECT 'alone' AS of, to_minhash(set_of(i, 1 + (i % 5)::integer)) AS sig
    FROM generate_series(1::bigint, :rows, :rows / 10000) AS i
    UNION ALL SELECT 'docs', sig FROM docs WHERE id % (:rows / 10000) = 0) AS s ORDER BY md5(sig::text);
VACUUM ANALYZE;

CREATE TABLE built AS SELECT t.*,
    time_query(format('CREATE INDEX %s_sig ON %1$s USING simhash (sig)', tab)) AS simhash,
    time_query(format(
        'CREATE INDEX %s_bands ON %1$s_gin USING gin (minhash_bands(sig)) WITH (fastupdate = off)', tab)) AS gin
FROM (VALUES ('alone', 'none near another'), ('docs', 'families of 1 to 9')) AS t (tab, what);
VACUUM ANALYZE;
SELECT simhash_index_check('docs_sig', true), simhash_index_check('alone_sig', true) \g /dev/null
\pset title 'build, and size'
SELECT what, round(simhash) AS "simhash ms", round(gin) AS "GIN ms",
       round((gin / simhash)::numeric, 1) AS "GIN / simhash",
       pg_relation_size((tab || '_sig')::regclass) / :rows AS "simhash bytes a row",
       pg_relation_size((tab || '_bands')::regclass) / :rows AS "GIN bytes a row",
       round(pg_relation_size((tab || '_sig')::regclass) / pg_relation_size((tab || '_bands')::regclass)::numeric,
             2) AS "simhash / GIN"
FROM built;

SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
CREATE FUNCTION look_up(tab text, condition text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM queries AS q JOIN %s AS d ON %s WHERE q.of = %L', tab, condition,
                  replace(tab, '_gin', ''));
\pset title '10,000 look-ups in a join'
SELECT t.* FROM built, LATERAL time_pair('GIN, bands in common / simhash, %: ' || what,
    look_up(tab || '_gin', 'minhash_bands(d.sig) && minhash_bands(q.sig)'), look_up(tab, 'd.sig % q.sig'), 3) AS t;
RESET enable_seqscan;

-- the same insertions into both tables
CREATE TABLE new AS
    SELECT to_minhash(set_of(100000000 + i, 0)) AS sig, i AS n FROM generate_series(1::bigint, 60000) AS i;
CREATE SEQUENCE batch;
CREATE FUNCTION insertion(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT 0, sig FROM new WHERE n %% 6 = (SELECT nextval(''batch'') / 2 %% 6)', target);
\pset title 'insertion of 10,000 rows'
SELECT * FROM time_pair('simhash / GIN, fastupdate off', insertion('alone'), insertion('alone_gin'), 5);
ALTER INDEX alone_bands SET (fastupdate = on);
SELECT * FROM time_pair('simhash / GIN, fastupdate on', insertion('alone'), insertion('alone_gin'), 5);

\pset title 'all pairs that share a band, once'
SELECT count(*) AS pairs,
       round(time_query(
           'SELECT count(*) FROM docs AS a JOIN docs AS b ON a.sig % b.sig AND a.id < b.id') / 1000) AS seconds
FROM docs AS a JOIN docs AS b ON a.sig % b.sig AND a.id < b.id;
DROP TABLE docs_gin, alone, alone_gin;

-- a tenth of the rows are equal
CREATE TABLE hot AS
    SELECT id, CASE WHEN id % 10 = 7 THEN (SELECT sig FROM docs WHERE id = 7)
        ELSE sig END::minhash(18, 7, 'hash') AS sig FROM docs WHERE id > 0;
CREATE INDEX ON hot USING simhash (sig);
DELETE FROM queries WHERE of = 'alone' OR sig % (SELECT sig FROM docs WHERE id = 7);
VACUUM ANALYZE hot, docs, queries;
SET enable_seqscan = off;
\pset title 'look-ups of others where a tenth of the rows is equal / as they were'
SELECT * FROM time_pair(
    '%', 'SELECT count(*) FROM queries AS q JOIN hot AS d ON d.sig % q.sig',
    'SELECT count(*) FROM queries AS q JOIN docs AS d ON d.sig % q.sig', 3);

\pset title 'a million equal signatures'
CREATE TABLE same AS
    SELECT i AS id, to_minhash('{1,2,3}'::bigint[])::minhash(18, 7, 'hash') AS sig
    FROM generate_series(1, 1000000) AS i;
CREATE INDEX ON same USING simhash (sig);
VACUUM ANALYZE same;
SET enable_bitmapscan = off;
SELECT buffers_of(
    'SELECT id FROM same WHERE sig % to_minhash(''{1,2,3}''::bigint[]) LIMIT 10') AS "buffers read for LIMIT 10";
