-- Measures planning times with many arms and many partitions.  planning.sh runs this.
\ir one_core.sql

-- Returns the planning time of a query in place of its execution time.
CREATE OR REPLACE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || query INTO plan;
    RETURN plan->0->>'Planning Time';
END $$;

-- A table and one of 300 partitions, with statistics, fingerprints and keys of GIN.
CREATE TABLE docs (id int, fp simhash, keys bigint[]);
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE parts%s PARTITION OF parts FOR VALUES FROM (%s) TO (%s)', i, i, i + 1)
FROM generate_series(0, 299) AS i \gexec
INSERT INTO docs
SELECT i, hashint8extended(i, 1)::simhash, ARRAY[i % 1000, i % 1001, i] FROM generate_series(1, 30000) AS i;
INSERT INTO parts SELECT id % 300, fp, keys FROM docs;
CREATE INDEX ON docs USING simhash (fp);
CREATE INDEX ON docs USING gin (keys);
CREATE INDEX ON parts USING simhash (fp);
CREATE INDEX ON parts USING gin (keys);
VACUUM ANALYZE;

-- Returns a query whose WHERE has so many arms.  In a pattern %1$L is a fingerprint,
-- %2$s a number.
CREATE FUNCTION arms(tab text, n integer, pattern text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM %I WHERE ', tab)
           || string_agg(format(pattern, hashint8extended(i, 2)::simhash, i), ' OR ')
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
