--
-- simhash(...) in all its forms, and to_simhash(...)
--

-- from a text
SELECT simhash('some text') = simhash('some text', 2, 'word') AS defaults,
       simhash('Some -- TEXT!') = simhash('some text') AS normalised,
       simhash('some text', 2) = simhash(ARRAY['some', 'text'], 2) AS as_tokens,
       simhash('some text', 1) = simhash(ARRAY['some', 'text'], 1) AS as_words,
       simhash('some text', 3) = simhash('some text', 2) AS shorter_than_a_shingle,
       simhash('some text', 256) = simhash('some text', 2) AS much_shorter,
       pg_typeof(simhash('some text')) AS type;
-- named arguments
SELECT simhash(body => 'some more text') = simhash('some more text') AS body,
       simhash('some more text', width => 1) = simhash('some more text', 1) AS width,
       simhash('some more text', unit => 'char') = simhash('some more text', 8, 'char') AS unit,
       simhash(unit => 'char', width => 5, body => 'some more text')
           = simhash('some more text', 5, 'char') AS all_three;
-- a NULL text has no fingerprint
SELECT i, simhash(body) IS NULL AS is_null, simhash(body, 1, 'char') IS NULL AS char_is_null
FROM (VALUES (1, NULL), (2, ''), (3, ' '), (4, E' \t\r\n\f\x0b'), (5, U&'\00A0\2003\3000\2028'),
             (6, U&'\200B\00AD\FEFF'), (7, '!'))
     AS t (i, body) ORDER BY i;
SELECT simhash('') IS NULL AS literal, simhash(NULL) IS NULL AS null_literal, simhash(NULL::text) IS NULL AS null_text,
       simhash('a b c', NULL::integer) = simhash('a b c', 2) AS null_width_is_default;
-- a text without letters or digits: its tokens are its code points, except spaces
SELECT simhash('!! ?') = simhash(ARRAY['!', '!', '?']) AS marks,
       simhash('!! ?') = simhash('! !?') AS spaces_do_not_count,
       simhash('!', 1) = simhash(ARRAY['!']) AS one,
       simhash('a !! ?') = simhash('a') AS with_a_letter;

-- from the caller's tokens, which are not normalised
SELECT simhash(ARRAY['a', 'rose', 'is']) = simhash('a rose is') AS same,
       simhash(ARRAY['a', 'rose', 'is'], 3) = simhash(ARRAY['a rose is'], 1) AS joined_by_spaces,
       simhash(ARRAY['A', 'rose', 'is']) <> simhash('a rose is') AS raw,
       simhash(ARRAY['我们', '爱', '北京'], 1) <> simhash('我们爱北京', 1) AS own_words,
       simhash(ARRAY['', 'a']) = simhash(ARRAY[' a'], 1) AS empty_token,
       simhash(tokens => ARRAY['a', 'b', 'c'], width => 1) = simhash('a b c', 1) AS named,
       simhash(ARRAY['a', 'b']::varchar[], 1) = simhash('a b', 1) AS varchars,
       simhash('[5:7]={a,rose,is}'::text[]) = simhash('a rose is') AS other_bounds;
SELECT simhash(ARRAY[]::text[]) IS NULL AS empty, simhash('{}'::text[], 1) IS NULL AS also,
       simhash(NULL::text[]) IS NULL AS "null";

-- a repeated shingle counts once, in texts and tokens
SELECT simhash(ARRAY['a', 'a', 'b'], 1) = simhash(ARRAY['b', 'a'], 1) AS tokens,
       simhash('ha ha ha ha ha, said the fox') = simhash('ha ha, said the fox') AS words,
       simhash('hahahahaha', 3, 'char') = simhash('haha', 3, 'char') AS chars,
       simhash(repeat('a rose is ', 100000)) = simhash('a rose is a') AS often,
       simhash('!!! !!! !?') = simhash('!! !?') AS symbols,
       simhash(ARRAY['a', 'a', 'b'], ARRAY[1, 1, 1]) = simhash('a') AS but_not_features;

-- from weighted features, which are not normalised
SELECT simhash(ARRAY['a', 'b', 'c'], ARRAY[1, 1, 1]) = simhash(ARRAY['a', 'b', 'c'], 1) AS unit_weights,
       simhash(ARRAY['a', 'b', 'c'], ARRAY[0.5, 0.5, 0.5]) = simhash(ARRAY['a', 'b', 'c'], 1) AS only_ratios_matter,
       simhash(ARRAY['a', 'b', 'c'], ARRAY[3, 1, 1]) = simhash('a') AS a_outweighs,
       simhash(ARRAY['a', 'b'], ARRAY[2, 1]) = simhash(ARRAY['a', 'a', 'b'], ARRAY[1, 1, 1]) AS twice,
       simhash(ARRAY['a', 'b', 'a'], ARRAY[1, 1, 1]) = simhash('a') AS repeated,
       simhash(ARRAY['a', 'b'], ARRAY[1, 0]) = simhash('a') AS zero,
       simhash(ARRAY['a', 'b', 'c'], ARRAY[0.1, 0.2, 0.3])
           = simhash(ARRAY['c', 'a', 'b'], ARRAY[0.3, 0.1, 0.2]) AS any_order,
       simhash(ARRAY['a'], ARRAY[-1]) = (~ simhash('a')::bigint)::simhash AS negative,
       simhash(ARRAY['a', 'b', 'b'], ARRAY[1, 7, -7]) = simhash('a') AS cancelled;
-- weights are rounded to multiples of 2^-24
SELECT simhash(ARRAY['a'], ARRAY[2 ^ -24]) = simhash('a') AS least,
       simhash(ARRAY['a'], ARRAY[2 ^ -26]) IS NULL AS nothing,
       simhash(ARRAY['a'], ARRAY[2 ^ -25]) = simhash('a') AS half,
       simhash(ARRAY['a'], ARRAY[0.49999999999999994::float8 * 2 ^ -24]) IS NULL AS less_than_half,
       simhash(ARRAY['a', 'b'], ARRAY[1 + 2 ^ -24, 1]) = simhash('a') AS breaks_the_tie,
       simhash(ARRAY['a', 'b'], ARRAY[1 + 2 ^ -26, 1]) = simhash(ARRAY['a', 'b'], 1) AS does_not;
SELECT simhash(ARRAY[]::text[], ARRAY[]::float8[]) IS NULL AS empty,
       simhash(ARRAY['a', 'b'], ARRAY[0, 0]) IS NULL AS weightless,
       simhash(ARRAY['a', 'a'], ARRAY[1, -1]) AS all_ties,
       simhash(NULL::text[], ARRAY[1.0]) IS NULL AS null_features,
       simhash(ARRAY['a'], NULL::float8[]) IS NULL AS null_weights,
       simhash(features => ARRAY['a'], weights => ARRAY[1.0]) = simhash('a') AS named;

-- from the caller's hashes
SELECT simhash(ARRAY[1, 3, 7]::bigint[])::bigint AS majority,
       simhash(ARRAY[1, 2]::bigint[])::bigint AS ties,
       simhash(ARRAY[-1, 0, -1]::bigint[]) AS all_bits,
       simhash(ARRAY[1, 3, 7]) = simhash(ARRAY[1, 3, 7]::bigint[]) AS integers,
       simhash(ARRAY[1, 2, 4]::bigint[], ARRAY[5, 2, 2])::bigint AS heavy,
       simhash(ARRAY[1, 2, 4]::bigint[], ARRAY[-1, 1, 1])::bigint AS negative,
       simhash(hashes => ARRAY[5]::bigint[]) = 5::bigint::simhash AS named,
       simhash(hashes => ARRAY[5]::bigint[], weights => ARRAY[0.5]) = 5::bigint::simhash AS also;
SELECT simhash(ARRAY[]::bigint[]) IS NULL AS empty,
       simhash(ARRAY[]::bigint[], ARRAY[]::float8[]) IS NULL AS empty_weights,
       simhash(ARRAY[1]::bigint[], ARRAY[0.0]) IS NULL AS weightless,
       simhash(NULL::bigint[]) IS NULL AS "null",
       simhash(ARRAY[1]::bigint[], NULL) = simhash(ARRAY[1]::bigint[]) AS null_weights;
-- the counters of bits do not overflow: the majority of 100,000 hashes and one more
SELECT simhash(array_fill(5::bigint, ARRAY[100000]) || array_fill(~ 5::bigint, ARRAY[100000])) AS even,
       simhash(array_fill(5::bigint, ARRAY[100001]) || array_fill(~ 5::bigint, ARRAY[100000])) AS odd;
-- bit-sliced counting agrees with plain counting, for every number of hashes up to 300
WITH hash (i, h) AS (
    SELECT i, ('x' || left(md5(i::text), 16))::bit(64)::bigint FROM generate_series(1, 300) AS i
), counted (n, bits) AS (
    SELECT n, sum(bit) FROM (
        SELECT n, CASE WHEN count(*) FILTER (WHERE h >> b & 1 = 1) * 2 > count(*) THEN 2::numeric ^ b ELSE 0 END AS bit
        FROM generate_series(1, 300) AS n JOIN hash ON i <= n, generate_series(0, 63) AS b GROUP BY n, b) AS bits
    GROUP BY n
)
SELECT count(*) AS agreeing
FROM counted WHERE bits::numeric::simhash = simhash((SELECT array_agg(h ORDER BY i) FROM hash WHERE i <= n));

-- from a tsvector: by positions and labels
SELECT simhash('a b c'::tsvector) = simhash(ARRAY['a', 'b', 'c'], 1) AS stripped,
       simhash('a:1 b:2 c:3'::tsvector) = simhash(ARRAY['a', 'b', 'c'], 1) AS once_each,
       simhash('a:1,2,3 b:4 c:5'::tsvector) = simhash('a') AS occurrences,
       simhash('a:1A b:2,3,4,5 c:6,7,8,9'::tsvector) = simhash('a') AS label,
       simhash('a:1A b:2B c:3C d:4'::tsvector)
           = simhash(ARRAY['a', 'b', 'c', 'd'], ARRAY[1.0, 0.4, 0.2, 0.1]) AS default_weights,
       simhash('a:1A b:2B c:3C d:4 e:5,6A'::tsvector, '{0.4,0.3,0.25,0.2}') =
       simhash(ARRAY['a', 'b', 'c', 'd', 'e', 'e'],
               ARRAY[0.2::float4, 0.25::float4, 0.3::float4, 0.4::float4, 0.4::float4, 0.2::float4]) AS given_weights,
       simhash('a:1A b:2B c:3C d:4'::tsvector, '{-1,-1,-1,-1}')
           = simhash('a:1A b:2B c:3C d:4'::tsvector) AS negative_is_default,
       simhash('a:1A b:2'::tsvector, '{1,0,0,0}') = simhash('b') AS zero,
       simhash('a b'::tsvector, '{0.1,0,0,0}') = simhash(ARRAY['a', 'b'], 1) AS stripped_is_d,
       simhash(to_tsvector('english', 'The cats were running')) = simhash(ARRAY['cat', 'run'], 1) AS lexemes,
       simhash(document => 'a'::tsvector) = simhash('a') AS named,
       simhash(document => 'a'::tsvector, weights => '{1,1,1,1}') = simhash('a') AS also;
SELECT simhash(''::tsvector) IS NULL AS empty,
       simhash('a:1'::tsvector, '{0,0,0,0}') IS NULL AS weightless,
       simhash('a'::tsvector, '{0,1,1,1}') IS NULL AS stripped_weightless,
       simhash(NULL::tsvector) IS NULL AS "null",
       simhash('a'::tsvector, NULL) = simhash('a'::tsvector) AS null_weights;

--
-- simhash is the name of a type and of a function.  simhash(x) of every form of text is
-- its fingerprint.
--
CREATE DOMAIN regress_text AS text;
CREATE DOMAIN regress_varchar AS varchar(40);
CREATE DOMAIN regress_char AS char(40);
CREATE DOMAIN regress_name AS name;
CREATE DOMAIN regress_checked AS regress_text CHECK (VALUE <> '');
SELECT simhash('some text'::text) AS fingerprint;
CREATE TEMP TABLE spelling (spelling text, fp simhash);
INSERT INTO spelling VALUES
    ('literal', simhash('some text')),
    ('escape string', simhash(E'some\x20text')),
    ('unicode string', simhash(U&'some\0020text')),
    ('dollar quotes', simhash($$some text$$)),
    ('continued', simhash('some'
                          ' text')),
    ('text', simhash('some text'::text)),
    ('varchar', simhash('some text'::varchar)),
    ('varchar(n)', simhash('some text'::varchar(9))),
    ('char(n)', simhash('some text'::char(9))),
    ('padded', simhash('some text'::char(40))),
    ('name', simhash('some text'::name)),
    ('domain over text', simhash('some text'::regress_text)),
    ('domain over varchar', simhash('some text'::regress_varchar)),
    ('domain over char(n)', simhash('some text'::regress_char)),
    ('domain over name', simhash('some text'::regress_name)),
    ('of the information schema', simhash('some text'::information_schema.sql_identifier)),
    ('domain over domain', simhash('some text'::regress_checked)),
    ('cast()', simhash(CAST('some text' AS text))),
    ('concatenated', simhash('some' || ' text')),
    ('concat()', simhash(concat('some', ' ', 'text'))),
    ('format()', simhash(format('%s %s', 'some', 'text'))),
    ('lower()', simhash(lower('SOME TEXT'))),
    ('CASE', simhash(CASE WHEN random() < 2 THEN 'some text' END)),
    ('COALESCE', simhash(COALESCE(NULL, 'some text'))),
    ('subselect', simhash((SELECT 'some text'))),
    ('json', simhash('{"body": "some text"}'::json ->> 'body')),
    ('jsonb', simhash('{"body": "some text"}'::jsonb ->> 'body')),
    ('array element', simhash(('{some text}'::text[])[1])),
    ('COLLATE', simhash('some text' COLLATE "C")),
    ('argument named', simhash(body => 'some text')),
    ('with a width', simhash('some text', 2)),
    ('varchar with a width', simhash('some text'::varchar, 2)),
    ('char(n) with a width', simhash('some text'::char(9), 2)),
    ('name with a width', simhash('some text'::name, 2)),
    ('domain with a width', simhash('some text'::regress_varchar, 2)),
    ('qualified', public.simhash('some text')),
    ('varchar qualified', public.simhash('some text'::varchar));
INSERT INTO spelling SELECT 'VALUES', simhash(x) FROM (VALUES ('some text')) AS v (x);
INSERT INTO spelling SELECT 'UNION', simhash(x) FROM (SELECT 'some text' UNION SELECT 'some text') AS v (x);
CREATE TEMP TABLE columns (
    a text, b varchar, c varchar(20), d char(20), e name, f regress_text, g regress_varchar, h regress_checked,
    i regress_name);
INSERT INTO columns SELECT s, s, s, s, s, s, s, s, s FROM (VALUES ('some text')) AS v (s);
INSERT INTO spelling
    SELECT 'column ' || type, fp
    FROM columns, LATERAL (
        VALUES ('text', simhash(a)), ('varchar', simhash(b)), ('varchar(n)', simhash(c)), ('char(n)', simhash(d)),
               ('name', simhash(e)), ('domain', simhash(f)), ('other domain', simhash(g)),
               ('checked', simhash(h)), ('domain over name', simhash(i))) AS v (type, fp);
SELECT count(*) AS compared,
       array_agg(spelling) FILTER (WHERE fp IS DISTINCT FROM simhash('some text'::text)) AS wrong
FROM spelling;
SELECT count(*) AS same FROM spelling WHERE fp = simhash('some text'::text);
-- a text that looks like a fingerprint is still a text
SELECT simhash('0123456789abcdef') = simhash('0123456789abcdef'::text) AS literal,
       simhash('0123456789abcdef'::varchar) = simhash('0123456789abcdef'::text) AS varchar,
       simhash('0123456789abcdef'::char(16)) = simhash('0123456789abcdef'::text) AS char,
       simhash('0123456789abcdef'::name) = simhash('0123456789abcdef'::text) AS name,
       simhash('0123456789abcdef'::regress_name) = simhash('0123456789abcdef'::text) AS name_domain,
       simhash('0123456789abcdef'::regress_varchar) = simhash('0123456789abcdef'::text) AS domain,
       simhash('0123456789abcdef'::text) <> '0123456789abcdef' AS text;
-- a cast reads the hexadecimal form
CREATE TEMP TABLE read (cast_of text, fp simhash);
INSERT INTO read VALUES
    ('literal', '0123456789abcdef'),
    ('::', '0123456789abcdef'::simhash),
    ('CAST', CAST('0123456789abcdef' AS simhash)),
    ('type name', simhash '0123456789abcdef'),
    ('text', '0123456789abcdef'::text::simhash),
    ('varchar', '0123456789abcdef'::varchar::simhash),
    ('char(n)', '0123456789abcdef'::char(16)::simhash),
    ('name', '0123456789abcdef'::name::simhash),
    ('domain over name', '0123456789abcdef'::regress_name::simhash),
    ('domain over text', '0123456789abcdef'::regress_text::simhash),
    ('domain over varchar', '0123456789abcdef'::regress_varchar::simhash),
    ('expression', ('01234567' || '89abcdef')::simhash);
SELECT cast_of, fp FROM read ORDER BY fp <> '0123456789abcdef', cast_of;

-- parameters: typed, since an untyped one is ambiguous
PREPARE typed AS SELECT simhash($1::text) = simhash('some text') AS same;
EXECUTE typed('some text');
PREPARE declared(text) AS SELECT simhash($1) = simhash('some text') AS same;
EXECUTE declared('some text');
PREPARE declared_varchar(varchar) AS SELECT simhash($1) = simhash('some text') AS same;
EXECUTE declared_varchar('some text');
PREPARE with_width AS SELECT simhash($1, 2) = simhash('some text') AS same;
EXECUTE with_width('some text');
SET plan_cache_mode = force_generic_plan;
EXECUTE typed('some text');
RESET plan_cache_mode;
\set VERBOSITY terse
PREPARE untyped AS SELECT simhash($1);
\set VERBOSITY default
DEALLOCATE ALL;

--
-- to_simhash(text, integer, text) is the same function, under a name that is no type's
--
SELECT pg_get_function_arguments(p.oid), p.prosrc,
       pg_get_function_arguments(q.oid) = pg_get_function_arguments(p.oid) AS same_arguments,
       (q.prosrc, q.prorettype, q.provolatile, q.proisstrict, q.proparallel, q.proleakproof, q.procost)
           = (p.prosrc, p.prorettype, p.provolatile, p.proisstrict, p.proparallel, p.proleakproof, p.procost) AS same
FROM pg_proc AS p, pg_proc AS q
WHERE p.proname = 'to_simhash' AND q.oid = 'simhash(text, integer, text)'::regprocedure;
SELECT spelling, fp FROM (VALUES
    ('literal', to_simhash('some text')),
    ('text', to_simhash('some text'::text)),
    ('varchar', to_simhash('some text'::varchar)),
    ('char(n)', to_simhash('some text'::char(40))),
    ('name', to_simhash('some text'::name)),
    ('domain over text', to_simhash('some text'::regress_text)),
    ('domain over varchar', to_simhash('some text'::regress_varchar)),
    ('domain over char(n)', to_simhash('some text'::regress_char)),
    ('domain over name', to_simhash('some text'::regress_name)),
    ('domain over domain', to_simhash('some text'::regress_checked)),
    ('subselect', to_simhash((SELECT 'some text'))),
    ('with a width', to_simhash('some text', 2)),
    ('with a unit', to_simhash('some text', unit => 'word'))) AS v (spelling, fp)
WHERE fp IS DISTINCT FROM simhash('some text'::text);
SELECT to_simhash('0123456789abcdef') = simhash('0123456789abcdef'::text) AS never_hexadecimal,
       to_simhash(NULL) IS NULL AS "null", to_simhash('') IS NULL AS blank;
-- most drivers send untyped parameters
PREPARE body AS SELECT to_simhash($1) = simhash('some text') AS same;
EXECUTE body('some text');
PREPARE body_width AS SELECT to_simhash($1, $2) = simhash('some text') AS same;
EXECUTE body_width('some text', 2);
PREPARE named_width AS SELECT to_simhash($1, width => $2) = simhash('some text') AS same;
EXECUTE named_width('some text', 2);
PREPARE body_width_unit AS SELECT to_simhash($1, $2, $3) = simhash('some text') AS same;
EXECUTE body_width_unit('some text', 2, 'word');
PREPARE named_unit AS SELECT to_simhash($1, unit => $2) = simhash('some text') AS same;
EXECUTE named_unit('some text', 'word');
PREPARE literal_width AS SELECT to_simhash($1, 2) = simhash('some text') AS same;
EXECUTE literal_width('some text');
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
SELECT to_simhash('some text', NULL) = simhash('some text') AS null_width;
-- for simhash(...) two untyped parameters may be a text and its width, or features and
-- weights
\set VERBOSITY sqlstate
PREPARE ambiguous AS SELECT simhash($1, $2);
SELECT simhash('a', NULL);
\set VERBOSITY default
DEALLOCATE ALL;

-- functions in other languages
CREATE FUNCTION pg_temp.fp(x varchar)
    RETURNS simhash LANGUAGE plpgsql AS $$ DECLARE y varchar := x; BEGIN RETURN simhash(y); END $$;
SELECT pg_temp.fp('some text') = simhash('some text') AS plpgsql;
CREATE FUNCTION pg_temp.fp_sql(varchar) RETURNS simhash LANGUAGE sql AS 'SELECT simhash($1)';
SELECT pg_temp.fp_sql('some text') = simhash('some text') AS sql;
-- the definition of a view restores the same view
CREATE TEMP VIEW spelled AS
    SELECT simhash('some text') AS a, simhash('some text'::varchar) AS b, simhash('some text'::name) AS c;
SELECT pg_get_viewdef('spelled'::regclass);
SELECT a = b AND b = c AS same FROM spelled;

-- citext, if installed, has no function: the error's hint helps
DO $$
DECLARE
    help text;
    ok boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') THEN
        RETURN;
    END IF;
    CREATE EXTENSION citext;
    BEGIN
        PERFORM simhash('some text'::citext);
        RAISE 'no error for citext';
    EXCEPTION WHEN invalid_text_representation THEN
        GET STACKED DIAGNOSTICS help = PG_EXCEPTION_HINT;
        ASSERT help LIKE '%to_simhash(...)%', 'the hint does not help';
    END;
    EXECUTE $q$SELECT simhash('some text'::citext::text) = simhash('some text')
               AND to_simhash('some text'::citext) = simhash('some text')
               AND simhash('some text'::citext, 2) = simhash('some text')
               AND simhash('0123456789abcdef'::citext) = '0123456789abcdef'::simhash$q$ INTO ok;
    ASSERT ok, 'citext';
    DROP EXTENSION citext;
END $$;

-- a generated column
CREATE TEMP TABLE docs (id bigint PRIMARY KEY, body text, fp simhash GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO docs (id, body)
VALUES (1, 'the cat sat on the mat'), (2, 'The cat sat on the mat.'), (3, ''), (4, NULL), (5, 'ice cream');
UPDATE docs SET body = 'a ' || body WHERE id = 5;
SELECT id, fp FROM docs ORDER BY id;
SELECT id FROM docs WHERE fp <~> simhash('the cat sat on the mat') <= 3 ORDER BY id;
SELECT id, fp <~> simhash('the cat sat on the mat'::text) AS distance
FROM docs ORDER BY distance NULLS LAST, id LIMIT 3;
-- queries of an application
PREPARE nearest AS SELECT id FROM docs ORDER BY fp <~> to_simhash($1), id LIMIT $2;
EXECUTE nearest('the cat sat on the mat', 2);
PREPARE verified AS SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2 AND resemblance(body, $1) >= $3 ORDER BY id;
EXECUTE verified('the cat sat on the mat', 10, 0.8);
DEALLOCATE ALL;
-- a generated column of a varchar, and an expression index
CREATE TEMP TABLE titles (title varchar(80), fp simhash GENERATED ALWAYS AS (simhash(title)) STORED);
INSERT INTO titles VALUES ('some text');
SELECT fp = simhash('some text') AS same FROM titles;
CREATE INDEX ON titles (simhash(title, 3, 'char'));
-- and a default
CREATE TEMP TABLE defaults (fp simhash DEFAULT simhash('some text'));
INSERT INTO defaults DEFAULT VALUES;
SELECT fp = simhash('some text') AS same FROM defaults;

DROP TABLE columns;
DROP DOMAIN regress_checked, regress_name, regress_text, regress_varchar, regress_char;
