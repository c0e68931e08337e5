--
-- Each operator class: searches, insertions, deletions and joins
--
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\i :srcdir/../../sql/setup.sql
\i :srcdir/../moving/tables.sql
\set ECHO all
CREATE INDEX copies_hash ON copies USING hash (sig);
-- the operator classes without an index
SELECT amname, opcname
FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = opcmethod
    JOIN pg_depend AS d ON classid = 'pg_opclass'::regclass AND objid = c.oid AND deptype = 'e'
WHERE NOT EXISTS (SELECT FROM pg_index WHERE c.oid = ANY (indclass))
ORDER BY amname, opcname;
SELECT * FROM wrong_searches();

-- rows that join the others in their indexes, and rows that leave them
INSERT INTO docs (id, body, chars, features, hashes, words, plain, near)
SELECT id + 1000, body, chars, features, hashes, words, plain, near FROM docs;
SELECT format('INSERT INTO %s SELECT id + 1000, fp, %s FROM docs WHERE id < 1000',
              tab, CASE tab WHEN 'fps_btree' THEN 'sig' ELSE 'ball' END)
FROM unnest('{fps,fps_10,fps_nested,fps_gist,fps_hash,fps_btree}'::text[]) AS tab \gexec
SELECT * FROM wrong_searches();
DELETE FROM docs WHERE id % 3 = 0;
DELETE FROM fps WHERE id % 3 = 0;
DELETE FROM fps_gist WHERE id % 3 = 0;
VACUUM docs, fps, fps_gist;
SELECT * FROM wrong_searches();

-- joins: by the node, and by an index, compared with a nested loop
CREATE FUNCTION joined(tab text, condition text, OUT by_node boolean, OUT by_index boolean, OUT rows bigint,
                       OUT node_differs bigint, OUT index_differs bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT a.id AS a, b.id AS b FROM %1$s AS a JOIN %1$s AS b ON %2$s', tab, condition);
BEGIN
    SET LOCAL simhash.enable_join = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    EXECUTE 'CREATE TEMP TABLE expected AS ' || query;
    SET LOCAL simhash.enable_join = on; SET LOCAL enable_nestloop = off;
    by_node := whole_plan(query) ~ 'SimHash Join';
    SELECT d.rows, differing INTO rows, node_differs FROM differing(query, 'TABLE expected') AS d;
    SET LOCAL simhash.enable_join = off; SET LOCAL enable_nestloop = on;
    SET LOCAL enable_indexscan = on; SET LOCAL enable_seqscan = off;
    by_index := whole_plan(query) ~ 'Index Cond';
    SELECT differing INTO index_differs FROM differing(query, 'TABLE expected');
    DROP TABLE expected;
END $$;
SELECT tab, condition, j.*
FROM (VALUES ('fps', 'a.fp <~> b.fp <= 12'), ('fps_10', 'a.fp <~> b.fp <= 12'), ('fps_nested', 'a.fp <~> b.fp <= 12'),
    ('fps_gist', 'a.fp <~> b.fp <= 12'), ('fps_gist', 'a.ball =~= b.ball'), ('docs', 'a.ball =~= b.ball'),
    ('docs', 'a.sig % b.sig'), ('docs', 'a.shingles <%> b.shingles <= 0.2'), ('docs', 'a.sk <%>> b.sk <= 0.5'),
    ('docs', 'a.sk && b.sk'), ('apart_sets', 'a.near =~= b.near')) AS v (tab, condition), joined(tab, condition) AS j;
