--
-- Installation: the members of the extension, a move to another schema, and removal.
-- The later tests use the extension that this test leaves installed.
--
-- all tests run without just-in-time compilation, whatever the server's default
SHOW jit;
CREATE EXTENSION simhash;

CREATE TEMP VIEW member AS
    SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS object
    FROM pg_depend AS d
    JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    WHERE e.extname = 'simhash' AND d.deptype = 'e'
      AND NOT EXISTS (SELECT FROM pg_type AS t
                      WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typcategory = 'A');

-- every object has a comment
SELECT object FROM member
WHERE coalesce(obj_description(objid, classid::regclass::name), '') = ''
ORDER BY object COLLATE "C";
-- (the check before this one has objects to check)
SELECT count(*) > 50 AS many FROM member;

-- the types
SELECT typname, typlen, typalign, typstorage, typcategory, typispreferred,
       typreceive <> 0 AND typsend <> 0 AS has_binary
FROM pg_type JOIN member ON classid = 'pg_type'::regclass AND objid = pg_type.oid
ORDER BY typname;
-- a fingerprint is passed like int8: by value, except on 32-bit machines
SELECT typname FROM pg_type
WHERE typname ~ '^simhash' AND typcategory <> 'A'
  AND typbyval <> (typname = 'simhash' AND (SELECT typbyval FROM pg_type WHERE typname = 'int8'));

-- the operator classes
SELECT amname, opcname, opcintype::regtype, opcdefault, amvalidate(c.oid)
FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = opcmethod
JOIN member ON classid = 'pg_opclass'::regclass AND objid = c.oid
ORDER BY amname, opcname;

-- the operators
SELECT o.oid::regoperator AS operator, oprresult::regtype AS result, oprcode::regproc AS function,
       nullif(oprcom, 0)::regoperator AS commutator, nullif(oprnegate, 0)::regoperator AS negator,
       oprcanhash AS hash, oprcanmerge AS merge, oprrest AS restrict, oprjoin AS join
FROM pg_operator AS o JOIN member ON classid = 'pg_operator'::regclass AND objid = o.oid
ORDER BY o.oid::regoperator::text COLLATE "C";
-- an operator and its function have the same properties; % and <%> are not leakproof,
-- since they raise an error for signatures with different parameters
SELECT o.oid::regoperator, provolatile, proisstrict, proparallel, proleakproof
FROM pg_operator AS o JOIN member ON classid = 'pg_operator'::regclass AND objid = o.oid
JOIN pg_proc AS p ON p.oid = oprcode
WHERE NOT (provolatile = 'i' AND proisstrict AND proparallel = 's' AND proleakproof);

-- the casts: of simhash, none is implicit; those from text and varchar are assignment casts
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod,
       CASE WHEN castfunc <> 0 THEN castfunc::regprocedure END AS function
FROM pg_cast AS c JOIN member ON classid = 'pg_cast'::regclass AND objid = c.oid
ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

-- the functions and aggregates: those that read no index, and no version, are immutable
-- and parallel safe; those that accept all inputs are leakproof
\pset format unaligned
SELECT p.oid::regprocedure AS function, prorettype::regtype AS result, provolatile AS volatile,
       proisstrict AS strict, proparallel AS parallel, proleakproof AS leakproof
FROM pg_proc AS p JOIN member ON classid = 'pg_proc'::regclass AND objid = p.oid
ORDER BY p.oid::regprocedure::text COLLATE "C";
-- functions that return sets declare how many rows, far from PostgreSQL's assumption of 1000
SELECT p.oid::regprocedure AS function, prorows AS rows
FROM pg_proc AS p JOIN member ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE proretset ORDER BY p.oid::regprocedure::text COLLATE "C";
-- the names and defaults of arguments that users may write
SELECT format('%s(%s)', proname, pg_get_function_arguments(p.oid)) AS function
FROM pg_proc AS p JOIN member ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE proargnames IS NOT NULL
ORDER BY p.oid::regprocedure::text COLLATE "C";
\pset format aligned
-- an optional argument that is NULL has its default value
CREATE TABLE sample (fp simhash);
INSERT INTO sample VALUES ('0123456789abcdef'), (NULL);
CREATE INDEX sample_fp ON sample USING simhash (fp);
CREATE FUNCTION result_of(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(r.*::text, E''\n'') FROM (SELECT %s) AS r', call) INTO result;
    RETURN result;
END $$;
SELECT function, argument,
       result_of(format(call, given)) = result_of(format(call, given || format(', %I => NULL', argument))) AS default
FROM (SELECT p.oid::regprocedure AS function, proargnames[i] AS argument,
             p.oid::regproc || '(%s)' || CASE prokind WHEN 'w' THEN ' OVER ()' ELSE '' END AS call,
             (SELECT string_agg(CASE type::regtype::text
                                WHEN 'text' THEN quote_literal(
                                    'The quick brown fox jumps over the lazy dog; and so on, and so on.' || n)
                                    || '::text'
                                WHEN 'text[]' THEN quote_literal('{a,b,c,d,e,f,g,h,i,j,a,b,c,' || n || '}')
                                || '::text[]'
                                WHEN 'bigint[]' THEN quote_literal('{1,2,3}') || '::bigint[]'
                                WHEN 'tsvector' THEN quote_literal('fat:2,4 cat:3A') || '::tsvector'
                                WHEN 'double precision' THEN CASE prokind WHEN 'w' THEN '3.0' ELSE '0.8' END
                                WHEN 'simhash' THEN quote_literal('0123456789abcdef') || '::simhash'
                                WHEN 'regclass' THEN quote_literal('sample_fp')
                                ELSE '3' END, ', ' ORDER BY n)
              FROM unnest(proargtypes) WITH ORDINALITY AS u (type, n) WHERE n <= pronargs - pronargdefaults) AS given
      FROM pg_proc AS p
          JOIN member ON classid = 'pg_proc'::regclass
            AND objid = p.oid, generate_series(pronargs - pronargdefaults + 1, pronargs) AS i) AS s
ORDER BY function::text COLLATE "C", argument COLLATE "C";
DROP TABLE sample;
DROP FUNCTION result_of;

-- Objects that depend on the extension prevent DROP EXTENSION.
CREATE TABLE docs (id integer PRIMARY KEY, body text, fp simhash GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO docs VALUES (1, 'the cat sat on the mat'), (2, 'the cat sat on a mat'), (3, 'we all scream for ice cream');
CREATE INDEX docs_fp ON docs (fp);
CREATE INDEX docs_fp_hash ON docs USING hash (fp);
\set VERBOSITY sqlstate
DROP EXTENSION simhash;
\set VERBOSITY default

-- After ALTER EXTENSION SET SCHEMA everything works, outside the search path.
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
SELECT count(*) AS left_behind FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND proname ~ 'simhash';
INSERT INTO docs VALUES (4, 'The cat sat -- on the mat!');
SELECT id, fp OPERATOR(elsewhere.<~>) elsewhere.simhash('the cat sat on the mat') AS distance
FROM docs ORDER BY distance, id;
SELECT id FROM docs
WHERE fp OPERATOR(elsewhere.<@) elsewhere.simhash_ball(elsewhere.simhash('the cat sat on the mat'), 0) ORDER BY id;
SELECT id FROM docs WHERE elsewhere.simhash_within(fp, elsewhere.simhash('the cat sat on the mat'), 0) ORDER BY id;
SELECT count(DISTINCT fp) AS fingerprints FROM docs;
SELECT elsewhere.simhash_agg(s) OPERATOR(elsewhere.=) elsewhere.simhash('the cat sat on a mat') AS same
FROM unnest(elsewhere.shingles('the cat sat on a mat')) AS s;
SELECT elsewhere.resemblance('a b', 'a b c', 2), elsewhere.containment('a b', 'a b c', 2);
SELECT elsewhere.simhash('some text'::varchar) OPERATOR(elsewhere.=) elsewhere.simhash('some text') AS same,
       '0123456789abcdef'::text::elsewhere.simhash AS parsed,
       elsewhere.simhash('a b'::tsvector) OPERATOR(elsewhere.=) elsewhere.simhash(ARRAY['a', 'b'], 1) AS lexemes;
DROP TABLE docs;
DROP EXTENSION simhash;
-- no function remains
SELECT count(*) AS left_behind FROM pg_proc WHERE pronamespace = 'elsewhere'::regnamespace;
SELECT count(*) AS left_behind FROM pg_type WHERE typname ~ 'simhash';
CREATE EXTENSION simhash SCHEMA elsewhere;
DROP SCHEMA elsewhere;
DROP SCHEMA elsewhere CASCADE;
SELECT count(*) AS installed FROM pg_extension WHERE extname = 'simhash';

-- The extension is trusted: a user with the privilege CREATE on the database may
-- install it.
CREATE ROLE regress_simhash_user;
SELECT current_database() AS db \gset
GRANT CREATE ON DATABASE :"db" TO regress_simhash_user;
SET ROLE regress_simhash_user;
CREATE EXTENSION simhash;
SELECT simhash('some text') <~> simhash('some text') AS distance;
DROP EXTENSION simhash;
RESET ROLE;
REVOKE CREATE ON DATABASE :"db" FROM regress_simhash_user;
DROP ROLE regress_simhash_user;

CREATE EXTENSION simhash;
