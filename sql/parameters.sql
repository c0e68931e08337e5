--
-- Parameters of signatures: type modifiers
--
CREATE SCHEMA parameters_test;
SET search_path = parameters_test, public;

-- Every modifier is printed as it can be read back; the short form is that of the defaults.
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
-- as a signature that functions make without further arguments, and with them
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

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA parameters_test CASCADE;
