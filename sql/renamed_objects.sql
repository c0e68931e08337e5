--
-- The extension's objects: the index serves the same queries for the same users,
-- whatever the names and schemas of the objects
--
CREATE SCHEMA objects;
SET search_path = objects, public;
CREATE FUNCTION settle() RETURNS void LANGUAGE sql AS $$
    SELECT set_config(name, 'off', false)
    FROM unnest(ARRAY['enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_memoize']) AS name;
    SELECT set_config('max_parallel_workers_per_gather', '0', false),
           set_config('client_min_messages', 'warning', false);
$$;
SELECT settle() \g /dev/null

-- Signatures and arrays of ten numbers each, fingerprints of neighbours.
CREATE FUNCTION numbers(i int) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT i / 4 + 100 * n FROM generate_series(1, 9 + i % 4) AS n);
CREATE FUNCTION fp_of(i int) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (hashint8extended(i / 4, 0) # (1::bigint << i % 4))::simhash;
CREATE TABLE docs (id int, fp simhash, sig minhash(20, 2, 'hash'), sk bigint[]);
INSERT INTO docs SELECT i, fp_of(i), to_minhash(numbers(i), 20, 2), numbers(i) FROM generate_series(1, 400) AS i;
INSERT INTO docs VALUES (NULL, NULL, NULL, NULL);
CREATE TABLE wanted AS SELECT * FROM docs WHERE id % 50 = 1;
ANALYZE docs, wanted;
CREATE FUNCTION create_indexes() RETURNS void LANGUAGE sql AS $$
    CREATE INDEX docs_fp ON docs USING simhash (fp);
    CREATE INDEX docs_ball ON docs USING simhash (simhash_ball(fp, 3));
    CREATE INDEX docs_sig ON docs USING simhash (sig);
    CREATE INDEX docs_sk ON docs USING simhash (sk);
$$;
SELECT create_indexes() \g /dev/null

-- All forms of the conditions that an index serves.
CREATE TABLE spelling (n int GENERATED ALWAYS AS IDENTITY, condition text, ordered text DEFAULT '');
INSERT INTO spelling (condition) VALUES
    ('d.fp <~> w.fp <= 3'), ('3 > w.fp <~> d.fp'), ('d.fp <~> w.fp <= w.id * 0.1'),
    ('d.fp <~> w.fp <= w.id / 10.0::float8'),
    ('hamming_distance(d.fp, w.fp) <= 3'), ('d.fp <~> w.fp = 2'),
    ('simhash_within(d.fp, w.fp, 3)'), ('simhash_within(w.fp, d.fp, 3)'),
    ('d.fp <@ simhash_ball(w.fp, 3)'), ('d.fp <@ simhash_ball(fp_of(9), 3)'),
    ('d.fp = w.fp'), ('d.fp = ANY (ARRAY[w.fp, fp_of(9)])'),
    ('d.fp <@ ANY (ARRAY[simhash_ball(w.fp, 3), simhash_ball(fp_of(9), 3)])'),
    ('simhash_ball(d.fp, 3) =~= simhash_ball(w.fp, 2)'),
    ('d.sig % w.sig'), ('w.sig % d.sig'), ('shares_band(d.sig, w.sig)'), ('d.sig % w.sig AND d.sig <%> w.sig <= 0.2'),
    ('d.sk <%>> w.sk <= 0.2'), ('containment_distance(d.sk, w.sk) <= 0.2'),
    ('containment_within(d.sk, w.sk, 0.2)'),
    ('d.sk <%>@ sketch_ball(w.sk, 0.2)'), ('d.sk <%> w.sk <= 0.2'), ('0.2 >= jaccard_distance(w.sk, d.sk)'),
    ('jaccard_within(w.sk, d.sk, 0.2)'), ('d.sk <%@ sketch_ball(w.sk, 0.2)'), ('d.sk && w.sk'),
    ('d.sk @> w.sk'), ('w.sk <@ d.sk'),
    ('(d.fp <~> w.fp <= 1 OR d.fp <@ simhash_ball(w.fp, 2))');
INSERT INTO spelling (condition, ordered) VALUES
    ('true', 'd.fp <~> fp_of(9)'), ('true', 'fp_of(9) <~> d.fp'),
    ('d.fp <@ simhash_ball(fp_of(9), 9)', 'd.fp <~> fp_of(9)'),
    ('true', 'd.sk <%>> numbers(9)'), ('d.sk <%>> w.sk <= 0.5', 'd.sk <%>> numbers(9)');
-- rows at one distance may come in any order
CREATE FUNCTION query_of(s spelling) RETURNS text LANGUAGE sql RETURN CASE WHEN s.ordered = ''
    THEN format('SELECT w.id, d.id FROM wanted w JOIN docs d ON %s', s.condition)
    ELSE format('SELECT w.id, %2$s FROM (SELECT * FROM wanted WHERE id = 1) w
                     LEFT JOIN LATERAL (SELECT * FROM docs d WHERE %1$s ORDER BY %2$s LIMIT 7) d ON true',
                s.condition, s.ordered) END;

-- Restrict the planner: to no indexes, to bitmap scans where possible, or to index
-- scans.
CREATE FUNCTION plan_by(way text) RETURNS void LANGUAGE sql AS $$
    SELECT set_config(
        name, (CASE way WHEN 'table' THEN name = 'enable_seqscan' WHEN 'bitmap' THEN name = 'enable_bitmapscan'
                             ELSE name IN ('enable_indexscan', 'enable_sort', 'simhash.enable_rewrite') END OR
                             name = 'simhash.enable_rewrite' AND way <> 'table')::text, true)
    FROM unnest(ARRAY['enable_seqscan', 'enable_indexscan', 'enable_bitmapscan', 'enable_sort',
                      'simhash.enable_rewrite']) AS name;
$$;
-- Return the rows of a query, or its error.
CREATE FUNCTION answer(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE rows text;
BEGIN
    PERFORM plan_by(way);
    EXECUTE 'SELECT string_agg(s::text, '' '' ORDER BY s::text) FROM (' || query || ') AS s' INTO rows;
    RETURN coalesce(rows, '');
EXCEPTION WHEN insufficient_privilege THEN RETURN SQLERRM;
END $$;
CREATE FUNCTION plan(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    PERFORM plan_by(way);
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line !~ 'Disabled:' THEN plan := plan || line || E'\n'; END IF;
    END LOOP;
    RETURN plan;
END $$;
-- Create views of these forms, which refer to objects by OID.
CREATE FUNCTION create_views() RETURNS void LANGUAGE plpgsql AS $$
DECLARE s spelling;
BEGIN
    FOR s IN SELECT * FROM spelling LOOP
        EXECUTE format('CREATE VIEW view_%s (w, d) AS %s', s.n, query_of(s));
    END LOOP;
END $$;
-- Return the number of forms, the forms that no index serves, and the forms whose rows
-- differ.
CREATE FUNCTION survey(OUT spellings bigint, OUT not_served text[], OUT different text[]) LANGUAGE sql AS $$
    SELECT count(*),
        array_agg(concat_ws(' ORDER BY ', condition, nullif(ordered, '')) ORDER BY n) FILTER (WHERE not served),
        array_agg(concat_ws(' ORDER BY ', condition, nullif(ordered, ''))
                  ORDER BY n) FILTER (WHERE by_index <> by_table OR by_bitmap <> by_table)
    FROM (SELECT *, plan(query, 'index') ~ 'Index Cond|Order By' AS served, answer(query, 'index') AS by_index,
              answer(query, 'bitmap') AS by_bitmap, answer(query, 'table') AS by_table
          FROM (SELECT *, 'TABLE objects.view_' || n AS query FROM spelling) AS s) AS s;
$$;
SELECT create_views() \g /dev/null
SELECT * FROM survey();

--
-- Names
--
-- types
ALTER TYPE simhash RENAME TO fingerprint;
SELECT * FROM survey();
ALTER TYPE fingerprint RENAME TO simhash;
ALTER TYPE simhash_ball RENAME TO neighbourhood;
ALTER TYPE minhash RENAME TO signature;
ALTER TYPE sketch_ball RENAME TO simhash_ball;
SELECT * FROM survey();
ALTER TYPE simhash_ball RENAME TO sketch_ball;
ALTER TYPE signature RENAME TO minhash;
ALTER TYPE neighbourhood RENAME TO simhash_ball;

-- first each function alone, then all of them together
CREATE VIEW members AS SELECT p.oid AS function, proname AS name, prosrc AS symbol
    FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = objid JOIN pg_extension AS e ON e.oid = refobjid
    WHERE classid = 'pg_proc'::regclass AND refclassid = 'pg_extension'::regclass AND extname = 'simhash'
      AND prokind = 'f';
CREATE FUNCTION altered(function regprocedure, how text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER FUNCTION %s %s', function, how);
    RETURN true;
END $$;
SELECT count(altered(function, 'RENAME TO other_' || name)) > 100 AS renamed FROM members;
SELECT * FROM survey();
SELECT count(altered(function, 'RENAME TO ' || substr(name, 7))) > 100 AS renamed FROM members;

-- some functions in another schema, and the operators, too
CREATE SCHEMA elsewhere;
ALTER FUNCTION simhash_within(simhash, simhash, bigint) SET SCHEMA elsewhere;
ALTER FUNCTION simhash_ball(simhash, bigint) SET SCHEMA elsewhere;
ALTER FUNCTION jaccard_distance(minhash, minhash) SET SCHEMA elsewhere;
ALTER OPERATOR <%>@ (bigint[], sketch_ball) SET SCHEMA elsewhere;
ALTER TYPE sketch_ball SET SCHEMA elsewhere;
SELECT * FROM survey();
ALTER FUNCTION elsewhere.simhash_within(simhash, simhash, bigint) SET SCHEMA public;
ALTER FUNCTION elsewhere.simhash_ball(simhash, bigint) SET SCHEMA public;
ALTER FUNCTION elsewhere.jaccard_distance(minhash, minhash) SET SCHEMA public;
ALTER TYPE elsewhere.sketch_ball SET SCHEMA public;
ALTER OPERATOR elsewhere.<%>@ (bigint[], sketch_ball) SET SCHEMA public;

ALTER EXTENSION simhash SET SCHEMA elsewhere;
SELECT * FROM survey();
ALTER EXTENSION simhash SET SCHEMA public;

-- An object that has taken over a function's name is not called.
SELECT count(altered(function, 'RENAME TO true_' || name)) AS renamed FROM members
WHERE name IN ('simhash_within', 'containment_within', 'simhash_radius', 'simhash_in_ball');
CREATE FUNCTION public.simhash_within(simhash, simhash, radius bigint)
    RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE FUNCTION public.containment_within(bigint[], bigint[], radius float8)
    RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE FUNCTION public.simhash_radius(float8) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint';
CREATE FUNCTION public.simhash_radius(numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint';
CREATE FUNCTION public.simhash_in_ball(simhash, simhash_ball) RETURNS boolean LANGUAGE internal IMMUTABLE AS 'int8eq';
SELECT * FROM survey();
DROP FUNCTION public.simhash_within, public.containment_within, public.simhash_radius(float8),
    public.simhash_radius(numeric), public.simhash_in_ball;
SELECT count(altered(function, 'RENAME TO ' || substr(name, 6))) AS renamed FROM members WHERE name ~ '^true_';

-- Nor is a function of the extension whose definition was replaced.
BEGIN;
CREATE OR REPLACE FUNCTION public.simhash_within(simhash, simhash, radius bigint)
    RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
SELECT plan('SELECT FROM docs WHERE fp <~> fp_of(9) <= 3', 'index') AS by_fingerprint,
       plan('SELECT FROM docs WHERE sk <%>> numbers(9) <= 0.2', 'index') ~ 'Index Cond' AS by_array;
ROLLBACK;
SELECT * FROM survey();
-- An access method with another name and the same handler is equivalent.
CREATE ACCESS METHOD alias TYPE INDEX HANDLER simhash_handler;
CREATE OPERATOR CLASS alias_ops DEFAULT FOR TYPE simhash USING alias AS
    OPERATOR 1 <@ (simhash, simhash_ball), OPERATOR 2 =, OPERATOR 3 <~> FOR ORDER BY integer_ops,
    FUNCTION 1 simhash_opclass(internal);
CREATE INDEX wanted_alias ON wanted USING alias (fp);
SELECT simhash_index_check('wanted_alias', true);
SELECT plan('SELECT id FROM wanted WHERE fp <~> fp_of(1) <= 3', 'index');
DROP ACCESS METHOD alias CASCADE;
-- A function outside the extension that calls the library's code is not a distance.
CREATE FUNCTION my_distance(simhash, simhash)
    RETURNS integer LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_hamming_distance';
SELECT answer('SELECT id FROM docs WHERE my_distance(fp, fp_of(9)) <= 2', 'index') AS by_another_name;

-- A function with settings, or with SECURITY DEFINER, runs through a wrapper.
SELECT count(altered(function, 'SECURITY DEFINER SET search_path = pg_catalog')) > 30 AS altered FROM members
WHERE symbol ~ '(within|ball|distance|radius|opclass|_eq|band|containment)'
  AND symbol !~ '(_in|_out|_recv|_send|_support|selectivity)$';
SELECT * FROM survey();
\c -
SET search_path = objects, public;
SELECT settle() \g /dev/null
SELECT c.opcname, amvalidate(c.oid)
FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = opcmethod WHERE amname = 'simhash' ORDER BY 2;
SELECT * FROM survey();
SELECT count(altered(function, 'SECURITY INVOKER RESET ALL')) > 30 AS altered
FROM members JOIN pg_proc AS p ON p.oid = function WHERE prosecdef;

--
-- Privileges
--
CREATE ROLE regress_objects_user;
GRANT USAGE ON SCHEMA objects TO regress_objects_user;
GRANT SELECT ON docs, wanted, spelling, members TO regress_objects_user;

-- Revoke EXECUTE on functions.  Return the number of forms that raise an error, and the
-- forms whose results differ from those without an index.
CREATE FUNCTION without(VARIADIC functions regprocedure[], OUT refused bigint, OUT different text[])
    LANGUAGE plpgsql AS $$
DECLARE f regprocedure;
BEGIN
    FOREACH f IN ARRAY functions LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f); END LOOP;
    SET LOCAL ROLE regress_objects_user;
    SELECT count(*) FILTER (WHERE by_table ~ '^permission'),
           array_agg(format(
               '%s%s: %s, %s, %s', condition, ' ORDER BY ' || nullif(ordered, ''), left(by_index, 60),
               left(by_bitmap, 60), left(by_table, 60)) ORDER BY n)
            FILTER (WHERE by_index <> by_table OR by_bitmap <> by_table)
        INTO refused, different
        FROM (SELECT *, answer(query, 'index') AS by_index, answer(query, 'bitmap') AS by_bitmap,
                     answer(query, 'table') AS by_table
              FROM (SELECT *, query_of(s) AS query FROM spelling AS s) AS s) AS s;
    RESET ROLE;
    FOREACH f IN ARRAY functions LOOP EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', f); END LOOP;
END $$;
SELECT function::regprocedure, w.* FROM members, without(function) AS w
WHERE symbol ~ '(within|between|beside|ball|ball_near|distance.*|radius_.*|simhash_eq|shares_band)$'
  AND symbol !~ 'gist'
ORDER BY function::regprocedure::text COLLATE "C";
-- The same by GiST.
DROP INDEX docs_fp, docs_ball;
CREATE INDEX docs_fp ON docs USING gist (fp);
CREATE INDEX docs_ball ON docs USING gist (simhash_ball(fp, 3));
SELECT * FROM survey();
SELECT function::regprocedure, w.* FROM members, without(function) AS w
WHERE symbol IN (
    'simhash_hamming_distance', 'simhash_within', 'simhash_in_ball', 'simhash_ball_near', 'simhash_eq', 'simhash_ball')
ORDER BY function::regprocedure::text COLLATE "C";

-- A cached plan is valid as long as the privileges are, and for the same user.
CREATE ROLE regress_objects_other;
GRANT regress_objects_user TO regress_objects_other;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
PREPARE compared AS
    SELECT id FROM objects.docs WHERE public.hamming_distance(fp, objects.fp_of(9)) <= 2 ORDER BY id LIMIT 1;
PREPARE within AS SELECT id FROM objects.docs WHERE public.simhash_within(fp, objects.fp_of(9), 2) ORDER BY id LIMIT 1;
PREPARE in_ball AS
    SELECT id FROM objects.docs
    WHERE fp OPERATOR(public.<@) public.simhash_ball(objects.fp_of(9), 2) ORDER BY id LIMIT 1;
SET ROLE regress_objects_user;
EXECUTE compared;
EXECUTE within;
EXECUTE in_ball;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION hamming_distance, simhash_within, simhash_in_ball FROM PUBLIC;
SET ROLE regress_objects_user;
EXECUTE compared;
EXECUTE within;
EXECUTE in_ball;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_distance, simhash_within, simhash_in_ball TO regress_objects_other;
SET ROLE regress_objects_other;
EXECUTE compared;
EXECUTE within;
EXECUTE in_ball;
SET ROLE regress_objects_user;
EXECUTE compared;
EXECUTE within;
EXECUTE in_ball;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_distance, simhash_within, simhash_in_ball TO PUBLIC;
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- Caches of the session
--
BEGIN;
DROP EXTENSION simhash CASCADE;
ROLLBACK;
SELECT * FROM survey();
DROP EXTENSION simhash CASCADE;
CREATE EXTENSION simhash SCHEMA elsewhere;
CREATE TABLE again AS SELECT n AS id, n::bigint::elsewhere.simhash AS fp FROM generate_series(1, 100) AS n;
CREATE INDEX again_fp ON again USING simhash (fp);
SELECT plan('SELECT id FROM again WHERE fp OPERATOR(elsewhere.<~>) ''0000000000000009'' <= 1', 'index');
SELECT answer('SELECT id FROM again WHERE fp OPERATOR(elsewhere.<~>) ''0000000000000009'' <= 1', 'index');
DROP SCHEMA objects, elsewhere CASCADE;
DROP ROLE regress_objects_user, regress_objects_other;
