-- Measures GiST.  gist.sh runs this.  psql variable: rows.
\ir one_core.sql
CREATE EXTENSION btree_gist;

-- searches repeat, and each of them must be executed
SET enable_memoize = off;
SET maintenance_work_mem = '1GB';

-- Tenants of several sizes, with their rows in random order.  In each, 20 rows are
-- within 3 bits of a center.  There is one copy of a column for each of its indexes, so
-- that a query chooses its index by the column's name.
CREATE FUNCTION flip(fp bigint, bits bigint, seed bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (fp # CASE WHEN bits > 0 THEN 1::bigint << (seed * 7 % 61)::int ELSE 0 END
        # CASE WHEN bits > 1 THEN 1::bigint << (seed * 11 % 64)::int ELSE 0 END
        # CASE WHEN bits > 2 THEN 1::bigint << (seed * 17 % 59)::int ELSE 0 END)::simhash;
CREATE TABLE sizes AS SELECT size, CASE WHEN size < 10000 THEN 10 ELSE 1 END AS tenants
FROM unnest(ARRAY[100, 1000, 10000, 100000, 1000000]) AS size WHERE size <= :rows;
CREATE TABLE docs AS
SELECT size * 10 + t AS tenant, size * 10 + t AS tenant_b, size * 10 + t AS tenant_c, fp, fp AS fp_s, size
FROM sizes, generate_series(1, tenants) AS t, generate_series(1, size) AS i,
     LATERAL (SELECT flip(hashint8extended(i / 20, size * 10 + t), i % 4, i) AS fp) AS f
ORDER BY hashint8extended(i, t);
CREATE TABLE queries AS
SELECT size, i, flip(hashint8extended(i % (size / 20), size * 10 + 1), 2, -i + 100) AS near,
       hashint8extended(-i, size)::simhash AS far
FROM sizes, generate_series(1, 100) AS i;
VACUUM ANALYZE;
SELECT count(*) AS n FROM docs \gset

\pset title 'build, in turn'
SET client_min_messages = warning;
SELECT * FROM time_pair('gist (fp) / simhash (fp)',
    'DROP INDEX IF EXISTS docs_gist; CREATE INDEX docs_gist ON docs USING gist (fp)',
    'DROP INDEX IF EXISTS docs_simhash; CREATE INDEX docs_simhash ON docs USING simhash (fp_s)', 3);
\pset title 'build of others, each once'
SELECT def AS index, round(time_query('CREATE INDEX ' || name || ' ON docs ' || def)) AS ms, :n AS rows
FROM (VALUES ('docs_tenant_gist', 'USING gist (tenant, fp)'), ('docs_btree', '(tenant_b)'),
    ('docs_covering', '(tenant_c) INCLUDE (fp)')) AS v (name, def);
\pset title 'size'
SELECT index, round(pg_relation_size(index) / :n::numeric, 1) AS "bytes a row"
FROM unnest('{docs_gist,docs_tenant_gist,docs_simhash,docs_btree,docs_covering}'::regclass[]) AS index;
-- the index on all rows is built later, when fp has no other index
DROP INDEX docs_gist;
VACUUM ANALYZE docs;

-- Returns the median microseconds of a search in each way, with the ways in turn.  The
-- number of repetitions depends on the time of one search.  The first way is forced to
-- use the GiST index, even if the planner would prefer a sequential scan; the planner
-- chooses freely for the others.
CREATE FUNCTION time_ways(ways text[], rounds integer DEFAULT 3) RETURNS numeric[] LANGUAGE plpgsql AS $$
DECLARE
    n integer[];
    times float8[] := '{}';
    medians numeric[] := '{}';
BEGIN
    FOR w IN 1 .. cardinality(ways) LOOP
        PERFORM set_config('enable_seqscan', (w > 1)::text, true);
        n[w] := greatest(1, least(100, 200 / time_query(format(ways[w], 1))));
        PERFORM time_query(format(ways[w], n[w]));
    END LOOP;
    FOR r IN 1 .. rounds LOOP
        FOR w IN 1 .. cardinality(ways) LOOP
            PERFORM set_config('enable_seqscan', (w > 1)::text, true);
            times := times || time_query(format(ways[w], n[w])) * 1000 / n[w];
        END LOOP;
    END LOOP;
    FOR w IN 1 .. cardinality(ways) LOOP
        SELECT medians || round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric) INTO medians
        FROM unnest(times) WITH ORDINALITY AS u (t, i) WHERE (i - 1) % cardinality(ways) = w - 1;
    END LOOP;
    PERFORM set_config('enable_seqscan', 'on', true);
    RETURN medians;
END $$;
-- Returns the index that the planner chooses by itself.
CREATE FUNCTION chosen(way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || format(way, 1) INTO plan;
    RETURN coalesce(jsonb_path_query_first(plan, 'strict $.**."Index Name"') #>> '{}', 'none');
END $$;
CREATE FUNCTION within(size integer, k integer, condition text, distance text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT near AS fp FROM queries WHERE size = %s ORDER BY i LIMIT %%s) AS q,
        LATERAL (SELECT FROM docs WHERE %s AND %s <= %s OFFSET 0) AS d', size, condition, distance, k);
CREATE FUNCTION nearest(size integer, query text, condition text, distance text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT %s AS fp FROM queries WHERE size = %s ORDER BY i LIMIT %%s) AS q,
        LATERAL (SELECT FROM docs WHERE %s ORDER BY %s LIMIT 10) AS d', query, size, condition, distance);

\pset title 'one search within a tenant, microseconds'
CREATE FUNCTION report(what text, size integer, ways text[]) RETURNS TABLE (what text, "rows of the tenant" integer,
    "gist (tenant, fp)" numeric, "btree (tenant), filter" numeric, "btree (tenant) INCLUDE (fp)" numeric,
    "simhash (fp), filter" numeric, "sequential scan" numeric, "planner's, for gist" text) LANGUAGE sql AS $$
    SELECT what, size, t[1], t[2], t[3], t[4], t[5], chosen(ways[1]) FROM time_ways(ways) AS t $$;
SELECT r.* FROM sizes, unnest('{3,8}'::integer[]) AS k, LATERAL (SELECT size * 10 + 1 AS tenant) AS t,
    LATERAL report('within ' || k, size, ARRAY[
        within(size, k, 'tenant = ' || tenant, 'docs.fp <~> q.fp'),
        within(size, k, 'tenant_b = ' || tenant, '(docs.fp <~> q.fp) + 0'),
        within(size, k, 'tenant_c = ' || tenant, '(docs.fp <~> q.fp) + 0'),
        within(size, k, 'tenant_b + 0 = ' || tenant, 'docs.fp_s <~> q.fp'),
        within(size, k, 'tenant + 0 = ' || tenant, '(docs.fp <~> q.fp) + 0')]) AS r ORDER BY k, size;
SELECT r.* FROM sizes, unnest('{near,far}'::text[]) AS q, LATERAL (SELECT size * 10 + 1 AS tenant) AS t,
    LATERAL report('ten nearest, ' || q, size, ARRAY[
        nearest(size, q, 'tenant = ' || tenant, 'docs.fp <~> q.fp'),
        nearest(size, q, 'tenant_b = ' || tenant, '(docs.fp <~> q.fp) + 0'),
        nearest(size, q, 'tenant_c = ' || tenant, '(docs.fp <~> q.fp) + 0'),
        nearest(size, q, 'tenant_b + 0 = ' || tenant, 'docs.fp_s <~> q.fp'),
        nearest(size, q, 'tenant + 0 = ' || tenant, '(docs.fp <~> q.fp) + 0')]) AS r ORDER BY q DESC, size;

\pset title 'one search in all rows, microseconds'
DROP INDEX docs_tenant_gist;
CREATE INDEX docs_gist ON docs USING gist (fp);
SELECT what, t[1] AS "gist (fp)", t[2] AS "simhash (fp)", t[3] AS "sequential scan",
       round(t[3] / t[1], 1) AS "gist: times as fast",
       chosen(ways[1]) AS "planner's, for gist"
FROM (SELECT 'within ' || k AS what,
             ARRAY[within(:rows, k, 'true', 'docs.fp <~> q.fp'), within(:rows, k, 'true', 'docs.fp_s <~> q.fp'),
          within(:rows, k, 'true', '(docs.fp <~> q.fp) + 0')] AS ways FROM unnest('{0,3,5,8,10}'::integer[]) AS k
      UNION ALL
      SELECT 'ten nearest, ' || q,
          ARRAY[nearest(:rows, q, 'true', 'docs.fp <~> q.fp'), nearest(:rows, q, 'true', 'docs.fp_s <~> q.fp'),
          nearest(:rows, q, 'true', '(docs.fp <~> q.fp) + 0')] FROM unnest('{near,far}'::text[]) AS q) AS s,
              LATERAL time_ways(ways) AS t;

\pset title 'insertion of 20,000 rows, of tenants in proportion, into as many as there are'
DROP INDEX docs_gist, docs_simhash, docs_btree, docs_covering;
CREATE TABLE by_none AS SELECT tenant, fp FROM docs;
CREATE TABLE by_gist AS TABLE by_none;
CREATE TABLE by_tenant_gist AS TABLE by_none;
CREATE TABLE by_simhash AS TABLE by_none;
CREATE TABLE by_btree AS TABLE by_none;
CREATE TABLE by_covering AS TABLE by_none;
CREATE INDEX ON by_gist USING gist (fp);
CREATE INDEX ON by_tenant_gist USING gist (tenant, fp);
CREATE INDEX ON by_simhash USING simhash (fp);
CREATE INDEX ON by_btree (tenant);
CREATE INDEX ON by_covering (tenant) INCLUDE (fp);
CREATE SEQUENCE batch;
CREATE FUNCTION insertion(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT tenant, hashint8extended(nextval(''batch''), 3)::simhash
                   FROM docs LIMIT 20000', target);
SELECT p.* FROM (VALUES
    ('gist (fp)', 'by_gist'), ('gist (tenant, fp)', 'by_tenant_gist'), ('btree (tenant)', 'by_btree'),
    ('btree (tenant) INCLUDE (fp)', 'by_covering'), ('no index', 'by_none')) AS v (what, target),
    LATERAL time_pair(what || ' / simhash (fp)', insertion(target), insertion('by_simhash'), 3) AS p;

-- the same 1,000 documents in each of 200 tenants
CREATE TABLE shared AS
SELECT t AS tenant, t AS tenant_c, t AS tenant_s, fp, fp AS fp_s
FROM generate_series(1, 200) AS t, generate_series(1, 1000) AS i,
     LATERAL (SELECT hashint8extended(i, 0)::simhash AS fp) AS f
ORDER BY hashint8extended(i, t);
CREATE INDEX ON shared USING gist (tenant, fp);
CREATE INDEX ON shared (tenant_c) INCLUDE (fp);
CREATE INDEX ON shared USING simhash (fp_s);
CREATE TABLE asked AS
    SELECT i, 1 + i % 200 AS tenant, flip(hashint8extended(i, 0), 2, i) AS fp FROM generate_series(1, 100) AS i;
VACUUM ANALYZE shared, asked;
CREATE FUNCTION in_shared(condition text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT * FROM asked ORDER BY i LIMIT %%s) AS q,
                   LATERAL (SELECT FROM shared WHERE %s OFFSET 0) AS d', condition);
\pset title 'documents that all of 200 tenants have: one search within 3 in a tenant, microseconds'
SELECT t[1] AS "gist (tenant, fp)", t[2] AS "btree (tenant) INCLUDE (fp)", t[3] AS "simhash (fp), filter"
FROM time_ways(ARRAY[in_shared('shared.tenant = q.tenant AND shared.fp <~> q.fp <= 3'),
    in_shared('shared.tenant_c = q.tenant AND (shared.fp <~> q.fp) + 0 <= 3'),
    in_shared('shared.tenant_s + 0 = q.tenant AND shared.fp_s <~> q.fp <= 3')]) AS t;
