--
-- Parameters of signatures: type modifiers, and the parameters of an index
--
CREATE SCHEMA parameters_test;
SET search_path = parameters_test, public;
SET max_parallel_workers_per_gather = 0;

-- Every modifier can be read back as printed.  Default parameters are printed in the
-- short form.
CREATE TABLE written (n integer GENERATED ALWAYS AS IDENTITY, modifier text);
INSERT INTO written (modifier) VALUES ('{18,7}'), ('{18,7,word}'), ('{18,7,word,3}'), ('{18,7,word,4}'),
    ('{18,7,char}'), ('{18,7,char,3}'), ('{18,7,feature}'), ('{18,7,hash}'), ('{1,1,word,1}'), ('{1,1,char,256}'),
    ('{1024,4,word,256}'), ('{1024,4,hash}'), ('{64,64,char,256}'), ('{64,64,feature}');
CREATE FUNCTION read_back(type text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'CREATE TEMP TABLE typed (sig ' || type || ')';
    type := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute
             WHERE attrelid = 'typed'::regclass AND attnum = 1);
    DROP TABLE typed;
    RETURN type;
END $$;
SELECT modifier, type, read_back(type) = type AS same
FROM written, format_type('minhash'::regtype, minhash_typmod_in(modifier::cstring[])) AS type ORDER BY n;
-- of signatures from functions with default arguments, and with others
CREATE TABLE made (n integer GENERATED ALWAYS AS IDENTITY, sig minhash, type text);
INSERT INTO made (sig, type) VALUES (to_minhash('a b'), 'minhash(18, 7)'),
    (to_minhash(ARRAY['a', 'b']), 'minhash(18, 7)'),
    (to_minhash('a b', unit => 'char'), 'minhash(18, 7, ''char'')'),
    (to_minhash('a b', 1024, 4, 256), 'minhash(1024, 4, word, 256)'),
    (to_minhash('a b', 64, 64, 256, 'char'), 'minhash(64, 64, ''char'', 256)'),
    ((SELECT minhash_agg('a')), 'minhash(18, 7, feature)'), (to_minhash(ARRAY[1]), 'minhash(18, 7, hash)');
CREATE FUNCTION fits(sig minhash, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result minhash;
BEGIN
    EXECUTE format('SELECT $1::%s', type) INTO result USING sig;
    RETURN CASE WHEN result IS NOT DISTINCT FROM sig THEN 'fits' ELSE 'another' END;
EXCEPTION WHEN data_exception THEN RETURN SQLERRM;
END $$;
SELECT type, fits(sig, type) FROM made ORDER BY n;
SELECT DISTINCT fits(m.sig, t.type) COLLATE "C" AS error FROM made AS m JOIN made AS t ON m.type <> t.type ORDER BY 1;
SELECT fits(NULL, 'minhash(18, 7)') AS "null";

--
-- An index needs a modifier
--
-- Releases differ in the names that they qualify.
CREATE FUNCTION hints(VARIADIC commands text[]) RETURNS TABLE (command text, hint text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH command IN ARRAY commands LOOP
        hint := NULL;
        BEGIN
            EXECUTE command;
        EXCEPTION WHEN invalid_object_definition OR data_exception THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            hint := replace(replace(hint, 'public.', ''), 'Write them as a type modifier.  ', '');
        END;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE "my docs" (id integer, body text, "Sig" minhash);
CREATE DOMAIN bare AS minhash;
CREATE TABLE of_domain (sig bare);
CREATE MATERIALIZED VIEW seen AS SELECT to_minhash('a b c') AS sig;
CREATE TABLE parent (sig minhash);
CREATE TABLE child () INHERITS (parent);
CREATE TYPE row_type AS (sig minhash);
CREATE TABLE typed OF row_type;
CREATE TABLE typed_parted OF row_type PARTITION BY HASH (sig);
CREATE TABLE typed_part PARTITION OF typed_parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
\set VERBOSITY terse
CREATE INDEX ON "my docs" USING simhash ("Sig");
SELECT * FROM hints(
    'CREATE INDEX ON "my docs" USING simhash ("Sig")',
    'CREATE INDEX ON of_domain USING simhash (sig)',
    'CREATE TABLE apart (sig minhash, EXCLUDE USING simhash (sig WITH %))',
    'CREATE INDEX ON seen USING simhash (sig)',
    'CREATE INDEX ON child USING simhash (sig)',
    'CREATE INDEX ON typed USING simhash (sig)',
    'CREATE INDEX ON typed_part USING simhash (sig)');
-- each release prints an expression in its own way
SELECT hint LIKE '%or index ((to_minhash(body%)::minhash(18,7))).%' AS with_cast FROM hints(
    'CREATE INDEX ON "my docs" USING simhash (to_minhash(body))');
SELECT hint LIKE '%or index ((COALESCE(%)::minhash(18,7))).%' AS with_cast FROM hints(
    'CREATE INDEX ON "my docs" USING simhash ((coalesce("Sig", to_minhash(body)::minhash(18, 7))))');
CREATE TABLE parted (id integer, sig minhash) PARTITION BY RANGE (id);
SELECT * FROM hints(
    'CREATE INDEX parted_sig ON parted USING simhash (sig)',
    'CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id)',
    'CREATE TABLE parted11 PARTITION OF parted1 FOR VALUES FROM (0) TO (5)',
    'CREATE INDEX ON parted USING simhash (sig)');
-- follow the hints
ALTER TABLE "my docs" ALTER COLUMN "Sig" TYPE minhash(18,7);
CREATE INDEX ON "my docs" USING simhash ("Sig");
CREATE INDEX "my docs body" ON "my docs" USING simhash ((to_minhash(body)::minhash(18,7)));
CREATE INDEX ON seen USING simhash ((sig::minhash(18,7)));
CREATE INDEX ON child USING simhash ((sig::minhash(18,7)));
CREATE INDEX ON typed USING simhash ((sig::minhash(18,7)));
CREATE INDEX ON typed_part USING simhash ((sig::minhash(18,7)));
CREATE TABLE widened (sig minhash(18, 7));
CREATE INDEX widened_sig ON widened USING simhash (sig);
SELECT * FROM hints('ALTER TABLE widened ALTER COLUMN sig TYPE minhash');
DROP INDEX widened_sig;
ALTER TABLE widened ALTER COLUMN sig TYPE minhash;
ALTER TABLE parted ALTER COLUMN sig TYPE minhash(18,7);
CREATE INDEX ON parted USING simhash (sig);
CREATE TABLE other_part (id integer, sig minhash(20, 5));
CREATE TABLE bare_part (id integer, sig minhash);
CREATE TABLE same_part (id integer, sig minhash(18, 7));
ALTER TABLE parted ATTACH PARTITION other_part FOR VALUES FROM (10) TO (20);
ALTER TABLE parted ATTACH PARTITION bare_part FOR VALUES FROM (10) TO (20);
ALTER TABLE parted ATTACH PARTITION same_part FOR VALUES FROM (10) TO (20);
INSERT INTO parted SELECT i, to_minhash('a b ' || i) FROM generate_series(0, 4) AS i;
INSERT INTO parted SELECT i, to_minhash('a b ' || i) FROM generate_series(10, 14) AS i;
INSERT INTO parted VALUES (12, to_minhash('a b c', 20, 5));
-- the hint names a call that makes such a signature, and the type of this one
SELECT * FROM hints(
    'SELECT to_minhash(''a b'', 20, 5)::minhash(18, 7)',
    'SELECT to_minhash(ARRAY[1, 2])::minhash(18, 7)',
    'SELECT minhash_agg(''a'')::minhash(18, 7, ''char'')',
    'SELECT to_minhash(''a b'')::minhash(18, 7, ''feature'')',
    'SELECT to_minhash(''a b'', width => 2)::minhash(18, 7, ''hash'')');
-- the call, typed as it stands
CREATE FUNCTION hinted_call_fits(sig minhash, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    made minhash;
BEGIN
    EXECUTE format('SELECT $1::%s', type) USING sig;
    RETURN 'no hint';
EXCEPTION WHEN data_exception THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    EXECUTE format('SELECT %s FROM (VALUES (text ''a b'', text ''a'', ARRAY[1::bigint])) AS t (body, feature, hashes)',
                   substring(hint FROM 'Make it with (.*), or')) INTO made;
    RETURN fits(made, type);
END $$;
SELECT DISTINCT hinted_call_fits(m.sig, t.type) FROM made AS m JOIN made AS t ON m.type <> t.type;
-- a query repeats the cast of an indexed expression
SET enable_seqscan = off;
SELECT plan('SELECT FROM "my docs" WHERE to_minhash(body)::minhash(18, 7) % (SELECT to_minhash(''a b''))', 'Scan');
SELECT plan('SELECT FROM "my docs" WHERE to_minhash(body) % (SELECT to_minhash(''a b''))', 'Scan');
SELECT plan('SELECT FROM "my docs" WHERE to_minhash(body)::minhash(20, 5) % (SELECT to_minhash(''a b''))', 'Scan');
RESET enable_seqscan;

--
-- Every source of a modifier: each index accepts its values, and returns the rows of
-- the table
--
CREATE FUNCTION sig_of(i bigint, bands integer DEFAULT 6, rows integer DEFAULT 4) RETURNS minhash LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN i % 10 > 0
        THEN to_minhash(ARRAY(SELECT i / 5 * 100 + j + (i % 5 * 7) * (j = 1)::integer
                              FROM generate_series(1, 20) AS j), bands, rows) END;
CREATE DOMAIN sig AS minhash(6, 4, 'hash') CHECK (minhash_cardinality(VALUE) > 0);
CREATE DOMAIN sig_of_sig AS sig;
CREATE TABLE source AS
    SELECT i AS id, sig_of(i)::minhash(6, 4, 'hash') AS sig FROM generate_series(1::bigint, 400) AS i;
CREATE TABLE copied AS TABLE source;
CREATE TABLE not_cast AS SELECT i AS id, sig_of(i) AS sig FROM generate_series(1::bigint, 400) AS i;
CREATE TABLE domains (id bigint, sig sig_of_sig);
CREATE TABLE arrays (id bigint, sigs minhash(6, 4, 'hash')[]);
CREATE TABLE generated (id bigint, sig minhash(6, 4, 'hash') GENERATED ALWAYS AS (sig_of(id)) STORED);
CREATE TABLE expressions (id bigint);
CREATE UNLOGGED TABLE unlogged (LIKE source);
INSERT INTO domains TABLE not_cast;
INSERT INTO arrays SELECT id, ARRAY[sig] FROM not_cast;
INSERT INTO generated SELECT id FROM source;
INSERT INTO expressions SELECT id FROM source;
INSERT INTO unlogged TABLE not_cast;
CREATE INDEX ON not_cast USING simhash (sig);
ALTER TABLE not_cast ALTER COLUMN sig TYPE sig_of_sig;
CREATE TABLE ways (tab regclass, expression text);
INSERT INTO ways VALUES ('source', 'sig'), ('copied', 'sig'), ('not_cast', 'sig'), ('domains', 'sig'),
    ('arrays', '(sigs[1])'), ('generated', 'sig'), ('unlogged', 'sig'),
    ('expressions', '(sig_of(id)::minhash(6, 4, ''hash''))'), ('expressions', '(sig_of(id)::sig_of_sig)');
CREATE FUNCTION try_way(tab regclass, expression text, OUT differing bigint, OUT rows bigint, OUT refused text)
LANGUAGE plpgsql AS $$
DECLARE
    d record;
    q minhash;
BEGIN
    EXECUTE format('CREATE INDEX tried ON %s USING simhash (%s)', tab, expression);
    differing := 0;
    rows := 0;
    FOREACH q IN ARRAY ARRAY[sig_of(7), sig_of(123), sig_of(100007)] LOOP
        SELECT * INTO d FROM differing_by(format('SELECT id FROM %s WHERE %s %% %L', tab, expression, q));
        differing := differing + d.by_index + d.by_bitmap;
        rows := rows + d.rows;
    END LOOP;
    PERFORM simhash_index_check('tried', true);
    BEGIN
        EXECUTE format('SELECT FROM %s WHERE %s %% %L', tab, expression, sig_of(7, 4, 6));
    EXCEPTION WHEN data_exception THEN refused := SQLERRM;
    END;
    DROP INDEX tried;
END $$;
SELECT w.*, t.* FROM ways AS w, try_way(tab, expression) AS t;
-- CONCURRENTLY, partial, and built by several processes
CREATE INDEX CONCURRENTLY copied_sig ON copied USING simhash (sig);
CREATE INDEX copied_some ON copied USING simhash ((sig_of(id, 4, 6)::minhash(4, 6, hash))) WHERE id % 2 = 0;
REINDEX INDEX CONCURRENTLY copied_sig;
REINDEX TABLE copied;
SELECT * FROM differing_by('SELECT id FROM copied WHERE sig % sig_of(123)');
SELECT * FROM differing_by('SELECT id FROM copied
    WHERE sig_of(id, 4, 6)::minhash(4, 6, hash) % sig_of(123, 4, 6) AND id % 2 = 0');
SELECT check_indexes('copied');
SET max_parallel_maintenance_workers = 2;
SET min_parallel_table_scan_size = 0;
ALTER TABLE source SET (parallel_workers = 2);
CREATE INDEX source_sig ON source USING simhash (sig);
SELECT * FROM differing_by('SELECT id FROM source WHERE sig % sig_of(123)');
SELECT check_indexes('source');

--
-- The error shows the parameters of the index, and those of the value or the query
--
CREATE FUNCTION refused(VARIADIC commands text[]) RETURNS TABLE (command text, error text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH command IN ARRAY commands LOOP
        error := NULL;
        BEGIN
            EXECUTE command;
        EXCEPTION WHEN data_exception THEN error := SQLSTATE || ': ' || SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
SET enable_seqscan = off;
\set VERBOSITY default
SELECT sig FROM copied WHERE sig % sig_of(7, 4, 6);
\set VERBOSITY terse
SELECT * FROM refused(
    $$INSERT INTO copied VALUES (0, sig_of(7, 4, 6))$$,
    $$INSERT INTO copied VALUES (0, '1x1:word3:00000000')$$,
    $$INSERT INTO copied VALUES (0, to_minhash('a', 6, 4))$$,
    $$UPDATE copied SET sig = sig_of(id, 6, 5)$$,
    $$SELECT FROM copied WHERE sig % to_minhash('a', 6, 4, 9)$$,
    $$SELECT FROM copied WHERE sig_of(7, 4, 6) % sig$$,
    $$SELECT FROM copied WHERE shares_band(sig, to_minhash('a'))$$,
    $$SELECT FROM copied WHERE shares_band((SELECT minhash_agg('a')), sig)$$,
    $$SELECT FROM copied WHERE sig % sig_of(7) AND sig % sig_of(7, 4, 6)$$,
    $$SELECT FROM copied WHERE sig % sig_of(7, 4, 6) OR sig % sig_of(7)$$,
    $$SELECT FROM made JOIN copied ON copied.sig % made.sig$$,
    $$SELECT FROM copied WHERE sig % NULL$$,
    $$SELECT FROM copied WHERE sig % sig_of(7, 4, 6) AND sig IS NULL$$);
SET plan_cache_mode = force_generic_plan;
PREPARE near(minhash) AS SELECT count(*) FROM copied WHERE sig % $1;
EXECUTE near(sig_of(7));
EXECUTE near(sig_of(7, 4, 6));
EXECUTE near(NULL);
DEALLOCATE near;
RESET plan_cache_mode;
\copy copied FROM stdin
0	1x1:word3:00000000
\.
-- the parameters are known even if no value has been inserted
CREATE TABLE still_empty (sig minhash(6, 4, 'hash'));
CREATE INDEX still_empty_sig ON still_empty USING simhash (sig);
SELECT * FROM refused(
    'SELECT FROM still_empty WHERE sig % sig_of(7)', 'SELECT FROM still_empty WHERE sig % sig_of(7, 4, 6)');
TRUNCATE still_empty;
SELECT * FROM refused(
    'SELECT FROM still_empty WHERE sig % sig_of(7)', 'SELECT FROM still_empty WHERE sig % sig_of(7, 4, 6)');

--
-- ALTER TABLE
--
-- the modifier of an indexed column cannot be removed: its dump could not be restored
SELECT pg_relation_filenode('copied_sig') AS file \gset
DROP INDEX copied_some;
ALTER TABLE copied ALTER COLUMN sig TYPE minhash;
SELECT pg_relation_filenode('copied_sig') = :file AS same_file, format_type(atttypid, atttypmod)
FROM pg_attribute WHERE attrelid = 'copied'::regclass AND attname = 'sig';
-- if the catalog loses it nevertheless, the index still refuses other parameters
UPDATE pg_attribute SET atttypmod = -1
WHERE attrelid IN ('copied'::regclass, 'copied_sig'::regclass) AND attname = 'sig';
INSERT INTO copied VALUES (0, sig_of(7, 4, 6));
UPDATE copied SET sig = sig_of(id, 4, 6) WHERE id = 7;
\copy copied FROM stdin
0	1x1:word3:00000000
\.
INSERT INTO copied SELECT i, sig_of(i) FROM generate_series(401, 800) AS i;
SELECT * FROM differing_by('SELECT id FROM copied WHERE sig % sig_of(123)');
SELECT * FROM differing_by('SELECT id FROM copied WHERE sig % sig_of(723)');
SELECT sig FROM copied WHERE sig % sig_of(7, 4, 6);
SELECT check_indexes('copied');
-- but REINDEX fails
REINDEX INDEX copied_sig;
REINDEX INDEX CONCURRENTLY copied_sig;
TRUNCATE copied;
VACUUM FULL copied;
SELECT * FROM differing_by('SELECT id FROM copied WHERE sig % sig_of(123)');
-- with another modifier, or with the old one again, the index is rebuilt
ALTER TABLE copied ALTER COLUMN sig TYPE minhash(4, 6, 'hash');
ALTER TABLE copied ALTER COLUMN sig TYPE minhash(6, 4, 'hash');
SELECT pg_relation_filenode('copied_sig') = :file AS same_file;
ALTER TABLE copied ALTER COLUMN sig TYPE minhash(4, 6, 'hash') USING sig_of(id, 4, 6);
SELECT * FROM differing_by('SELECT id FROM copied WHERE sig % sig_of(123, 4, 6)');
SELECT * FROM refused('SELECT FROM copied WHERE sig % sig_of(123)');
SELECT check_indexes('copied');
-- without rows, or with NULLs alone, every value fits
TRUNCATE copied;
INSERT INTO copied VALUES (1, NULL);
ALTER TABLE copied ALTER COLUMN sig TYPE minhash(18, 7);
SELECT count(*) FROM copied WHERE sig % to_minhash('a');
SELECT * FROM refused('SELECT FROM copied WHERE sig % sig_of(123, 4, 6)');
-- to and from domains
ALTER TABLE domains ADD other sig;
CREATE INDEX domains_sig ON domains USING simhash (sig);
ALTER TABLE domains ALTER COLUMN sig TYPE minhash(6, 4, 'hash');
SELECT * FROM differing_by('SELECT id FROM domains WHERE sig % sig_of(123)');
ALTER TABLE domains ALTER COLUMN sig TYPE sig;
SELECT * FROM differing_by('SELECT id FROM domains WHERE sig % sig_of(123)');
ALTER TABLE domains ALTER COLUMN sig TYPE bare;
-- a generated column
CREATE INDEX generated_sig ON generated USING simhash (sig);
ALTER TABLE generated ALTER COLUMN sig TYPE minhash;
INSERT INTO generated SELECT generate_series(401, 500);
ALTER TABLE generated ALTER COLUMN sig TYPE minhash(4, 6, 'hash');
SELECT * FROM differing_by('SELECT id FROM generated WHERE sig % sig_of(423)');

-- A build, by one process or several, detects a value that violates its column's
-- modifier.
CREATE TABLE lying AS SELECT id, CASE WHEN id = 300 THEN sig_of(7, 4, 6) ELSE sig END AS sig FROM source;
UPDATE pg_attribute SET atttypmod = minhash_typmod_in('{6,4,hash}')
WHERE attrelid = 'lying'::regclass AND attname = 'sig';
SELECT * FROM refused('CREATE INDEX ON lying USING simhash (sig)');
ALTER TABLE lying SET (parallel_workers = 2);
SELECT * FROM refused('CREATE INDEX lying_sig ON lying USING simhash (sig)');
DELETE FROM lying WHERE id = 300;
CREATE INDEX ON lying USING simhash (sig) WHERE id <> 300;
SELECT check_indexes('lying');

-- The constraint refuses a signature that shares a band.  The index refuses one with
-- other parameters.
CREATE TABLE kept (id bigint, sig minhash(6, 4, 'hash'), CONSTRAINT kept_sig EXCLUDE USING simhash (sig WITH %));
INSERT INTO kept SELECT i, sig_of(i) FROM generate_series(1, 400) AS i ON CONFLICT DO NOTHING;
SELECT count(*) AS rows,
    (SELECT count(*) FROM kept AS a JOIN kept AS b ON a.id < b.id AND (a.sig % b.sig) IS TRUE) AS pairs
FROM kept;
SELECT * FROM refused('INSERT INTO kept VALUES (0, sig_of(7, 4, 6))');
ALTER TABLE kept ALTER COLUMN sig TYPE minhash;
-- without the index the modifier can go
ALTER TABLE kept DROP CONSTRAINT kept_sig, ALTER COLUMN sig TYPE minhash;
INSERT INTO kept VALUES (0, sig_of(7, 4, 6));

RESET enable_seqscan;
RESET max_parallel_maintenance_workers;
RESET min_parallel_table_scan_size;
SET client_min_messages = warning;
DROP SCHEMA parameters_test CASCADE;
