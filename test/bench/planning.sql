-- Measures planning times with many arms, many ANDed conditions and many partitions.
-- planning.sh runs this.
\ir one_core.sql

-- Returns the planning time of a query in place of its execution time.
CREATE OR REPLACE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || query INTO plan;
    RETURN plan->0->>'Planning Time';
END $$;

-- A table and one of 400 partitions, with statistics, fingerprints, keys of GIN, numbers of
-- btree and points of GiST.
CREATE TABLE docs (id int, fp simhash, keys bigint[], n int, p point);
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE parts%s PARTITION OF parts FOR VALUES FROM (%s) TO (%s)', i, i, i + 1)
FROM generate_series(0, 399) AS i \gexec
INSERT INTO docs
SELECT i, hashint8extended(i, 1)::simhash, ARRAY[i % 1000, i % 1001, i], i, point(i % 173, i % 179)
FROM generate_series(1, 30000) AS i;
INSERT INTO parts SELECT id % 400, fp, keys, n, p FROM docs;
CREATE INDEX ON docs USING simhash (fp);
CREATE INDEX ON docs USING gin (keys);
CREATE INDEX ON parts USING simhash (fp);
CREATE INDEX ON parts USING gin (keys);
CREATE INDEX ON parts (n);
CREATE INDEX ON docs USING gist (p);
VACUUM ANALYZE;

-- Returns a query whose WHERE has so many arms, or as many conditions joined by AND.  In a
-- pattern %1$L is a fingerprint, %2$s a number.
CREATE FUNCTION arms(tab text, n integer, pattern text, connective text DEFAULT 'OR')
RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM %I WHERE ', tab)
           || string_agg(format(pattern, hashint8extended(i, 2)::simhash, i), ' ' || connective || ' ')
    FROM generate_series(1, n) AS i $$;

CREATE TABLE shapes (name text, pattern text);
INSERT INTO shapes VALUES
    ('fp <~> q = 3', 'fp <~> %1$L = 3'),
    ('fp <~> q <= 3', 'fp <~> %1$L <= 3'),
    ('fp <~> q = 3 AND id = n', 'fp <~> %1$L = 3 AND id = %2$s'),
    ('keys && k', 'keys && ''{%2$s}''');

-- if planning is linear, the ratio is 4
SELECT p.* FROM shapes,
    time_pair(name || ': 1,000 arms / 250 arms', arms('docs', 1000, pattern), arms('docs', 250, pattern)) AS p;

-- compared with an operator of PostgreSQL that is estimated by statistics, too
SELECT p.* FROM shapes AS s JOIN shapes AS core ON core.name LIKE 'keys%' AND s.name NOT LIKE 'keys%',
    LATERAL (VALUES ('docs', 1000), ('parts', 20)) AS t (tab, n),
    time_pair(format('%s, %s arms: %s / %s', t.tab, t.n, s.name, core.name),
              arms(t.tab, t.n, s.pattern), arms(t.tab, t.n, core.pattern)) AS p;

-- 400 partitions, compared with btree
SELECT p.* FROM shapes AS s, (VALUES ('n < k', 'n < %2$s'), ('n = k', 'n = %2$s')) AS core (name, pattern),
    time_pair(format('parts, 30 arms: %s / %s', s.name, core.name),
              arms('parts', 30, s.pattern), arms('parts', 30, core.pattern)) AS p
WHERE s.name IN ('fp <~> q = 3', 'fp <~> q <= 3');

-- conditions joined by AND: twice as many, and compared with operators that need no rewrite
CREATE TABLE anded (name text, pattern text);
INSERT INTO anded VALUES
    ('fp <~> q <= 3', 'fp <~> %1$L <= 3'),
    ('fp <@ ball', 'fp <@ simhash_ball(%1$L, 3)'),
    ('p <@ circle', 'p <@ circle(point(%2$s, 1), 1)'),
    ('n < k', 'n < %2$s');
SELECT p.* FROM anded,
    time_pair(name || ': 2,000 ANDed / 1,000 ANDed', arms('docs', 2000, pattern, 'AND'),
              arms('docs', 1000, pattern, 'AND')) AS p;
SELECT p.* FROM anded AS s JOIN anded AS core ON s.name = 'fp <~> q <= 3' AND core.name <> s.name,
    LATERAL (VALUES (1000), (2000)) AS t (n),
    time_pair(format('docs, %s ANDed: %s / %s', t.n, s.name, core.name),
              arms('docs', t.n, s.pattern, 'AND'), arms('docs', t.n, core.pattern, 'AND')) AS p;
