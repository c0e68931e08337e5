-- Measures the costs and benefits of an index of sketches.  sketch_index.sh runs this.
-- psql variables: rows, and documents, the folder of the real ones.
\ir one_core.sql
SET client_min_messages = warning;
SET maintenance_work_mem = '1GB';

-- passages of about 50 words from some documents of each corpus
CREATE TABLE passages (corpus text, id bigint, sk bigint[]);

-- Random documents of 60 elements.  The three documents of a family have twenty in
-- common.  One more element, the boilerplate, is in a tenth of all documents.  A
-- passage has the default number of elements of 50 words: 5.
CREATE FUNCTION sketch_of(i bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT hashint8extended(CASE WHEN j <= 20 THEN -i / 3 ELSE i END, j) FROM generate_series(1, 60) AS j)
        || CASE WHEN i % 10 = 0 THEN '{7}'::bigint[] ELSE '{}' END;
CREATE TABLE random AS SELECT i AS id, sketch_of(i) AS sk FROM generate_series(1::bigint, :rows) AS i;
INSERT INTO passages SELECT 'random', id, sk[11:15] FROM random WHERE id % (:rows / 1000) = 1;

-- Package descriptions; Chinese manuals in pieces of 120 characters.
CREATE TEMP TABLE texts (name text, title text, body text);
\set csv :documents '/descriptions.csv'
COPY texts FROM :'csv' (FORMAT csv);
CREATE TABLE descriptions AS SELECT row_number() OVER () AS id, winnow(body) AS sk FROM texts;
INSERT INTO passages SELECT 'descriptions', n, winnow(piece) FROM
    (SELECT row_number() OVER (ORDER BY md5(body)) AS n, p.*
     FROM texts, LATERAL (SELECT piece FROM text_windows(body, 50) OFFSET 1 LIMIT 1) AS p) AS s WHERE n <= 1000;
TRUNCATE texts;
\set csv :documents '/chinese.csv'
COPY texts FROM :'csv' (FORMAT csv);
CREATE TEMP TABLE pieces AS SELECT piece FROM texts, text_windows(body, 120, 120, 'char') LIMIT 100000;
CREATE TABLE chinese AS SELECT row_number() OVER () AS id, winnow(piece) AS sk FROM pieces;
INSERT INTO passages SELECT 'chinese', n, winnow(piece) FROM
    (SELECT row_number() OVER (ORDER BY md5(p.piece)) AS n, p.*
     FROM pieces, LATERAL (SELECT w.piece FROM text_windows(pieces.piece, 50) AS w LIMIT 1) AS p) AS s WHERE n <= 1000;

CREATE TABLE random_gin AS TABLE random;
CREATE TABLE descriptions_gin AS TABLE descriptions;
CREATE TABLE chinese_gin AS TABLE chinese;
CREATE INDEX ON random (id);
CREATE INDEX ON descriptions (id);
CREATE INDEX ON chinese (id);
VACUUM ANALYZE;

CREATE TABLE corpora (n integer, corpus text);
INSERT INTO corpora VALUES (1, 'random'), (2, 'descriptions'), (3, 'chinese');
CREATE TABLE built AS
    SELECT c.*, (xpath('/row/n/text()', query_to_xml('SELECT count(*) AS n FROM ' || corpus, false, true, '')))[
        1]::text::bigint AS documents,
    time_query(format('CREATE INDEX %s_sk ON %1$s USING simhash (sk)', corpus)) AS simhash,
    time_query(format('CREATE INDEX %s_gin_sk ON %1$s_gin USING gin (sk) WITH (fastupdate = off)', corpus)) AS gin
FROM corpora AS c;
SELECT simhash_index_check((corpus || '_sk')::regclass) FROM corpora \g /dev/null
VACUUM ANALYZE;
\pset title 'build, and size'
SELECT corpus, documents, round(simhash) AS "simhash ms", round(gin) AS "GIN ms",
       round((gin / simhash)::numeric, 1) AS "GIN / simhash",
       pg_relation_size((corpus || '_sk')::regclass) / documents AS "simhash bytes a row",
       pg_relation_size((corpus || '_gin_sk')::regclass) / documents AS "GIN bytes a row",
       round(pg_relation_size((corpus || '_sk')::regclass) / pg_relation_size((corpus || '_gin_sk')::regclass)::numeric,
             2) AS "simhash / GIN"
FROM built ORDER BY n;

SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET enable_sort = off;
-- searches for up to 1,000 passages, one after the other
CREATE FUNCTION searches(corpus text, condition text) RETURNS text LANGUAGE sql
    RETURN format('SELECT count(d) FROM passages AS q, LATERAL (SELECT d.id FROM %s AS d WHERE %s OFFSET 0) AS d
                   WHERE q.corpus = %L', corpus, condition, replace(corpus, '_gin', ''));
CREATE FUNCTION nearest(corpus text, passage text DEFAULT 'q.sk') RETURNS text LANGUAGE sql
    RETURN format('SELECT count(d) FROM passages AS q,
                       LATERAL (SELECT d.id FROM %s AS d ORDER BY d.sk <%%>> %s LIMIT 10) AS d
                   WHERE q.corpus = %L', corpus, passage, corpus);
CREATE FUNCTION compare(what text, a text, b text)
    RETURNS TABLE (
        corpus text, passages bigint, elements numeric, "A ms" numeric, "B ms" numeric, ratio numeric, "from" numeric,
        "to" numeric) LANGUAGE sql AS $$
    SELECT c.corpus, p.n, p.elements, t."A ms", t."B ms", t.ratio, t.from, t.to
    FROM corpora AS c,
         LATERAL (SELECT count(*) AS n, round(avg(cardinality(sk)), 1) AS elements
                  FROM passages AS p WHERE p.corpus = c.corpus) AS p,
         LATERAL time_pair(what, replace(a, '$', c.corpus), replace(b, '$', c.corpus), 5) AS t
    ORDER BY c.n $$;

\pset title 'sk && q / a look-up by id in a B-tree'
SELECT * FROM compare('', searches('$', 'd.sk && q.sk'), searches('$', 'd.id = q.id'));
\pset title 'the ten with the most first / a look-up by id in a B-tree'
SELECT * FROM compare('', nearest('$'), searches('$', 'd.id = q.id'));
\pset title 'sk <%>> q <= 0.5 / a look-up by id in a B-tree'
SELECT * FROM compare('', searches('$', 'd.sk <%>> q.sk <= 0.5'), searches('$', 'd.id = q.id'));
\pset title 'sk && q: GIN / simhash'
SELECT * FROM compare('', searches('$_gin', 'd.sk && q.sk'), searches('$', 'd.sk && q.sk'));
\pset title 'sk @> q: GIN / simhash'
SELECT * FROM compare('', searches('$_gin', 'd.sk @> q.sk'), searches('$', 'd.sk @> q.sk'));

-- the stored passages that a document contains: five elements of each random document;
-- documents of 60 elements are the queries
CREATE TABLE known AS SELECT id, sk[11:15] AS sk FROM random;
CREATE TABLE known_gin AS TABLE known;
CREATE INDEX ON known USING simhash (sk);
CREATE INDEX ON known_gin USING gin (sk) WITH (fastupdate = off);
INSERT INTO passages SELECT 'known', id, sk FROM random WHERE id % (:rows / 1000) = 1;
VACUUM ANALYZE known, known_gin, passages;
\pset title 'known passages in a document, sk <@ q: GIN / simhash'
SELECT * FROM time_pair('', searches('known_gin', 'd.sk <@ q.sk'), searches('known', 'd.sk <@ q.sk'), 5);

-- the element that a tenth of all documents has
DELETE FROM corpora WHERE corpus <> 'random';
\pset title 'with boilerplate in the passage / without: the ten with the most first'
SELECT * FROM compare('', nearest('$', '(q.sk || 7::bigint)'), nearest('$'));
\pset title 'with boilerplate in the passage / without: sk <%>> q <= 0.5'
SELECT * FROM compare(
    '', searches('$', 'd.sk <%>> (q.sk || 7::bigint) <= 0.5'), searches('$', 'd.sk <%>> q.sk <= 0.5'));
\pset title 'with boilerplate in the passage / without: sk @> q'
SELECT * FROM compare('', searches('$', 'd.sk @> (q.sk || 7::bigint)'), searches('$', 'd.sk @> q.sk'));

\pset title 'insertion of a hundredth as many random documents'
CREATE SEQUENCE batch;
CREATE FUNCTION insertion(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT id, sketch_of(id)
                   FROM (SELECT -i - (SELECT nextval(''batch'')) * 10000000 AS id
                         FROM generate_series(1, %s) AS i) AS s', target,
                  current_setting('bench.rows')::bigint / 100);
SELECT set_config('bench.rows', :'rows', false) \g /dev/null
CREATE TABLE plain (LIKE random);
SELECT * FROM time_pair('simhash / GIN, fastupdate = off', insertion('random'), insertion('random_gin'), 5)
UNION ALL
SELECT * FROM time_pair('no index / GIN, fastupdate = off', insertion('plain'), insertion('random_gin'), 3);
