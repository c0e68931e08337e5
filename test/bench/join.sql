-- Measures the similarity join.  join.sh runs this.  psql variable: rows.
\ir one_core.sql

-- From 5 million rows on, queries run once, of uniform rows, within 3 and 8 bits.
SELECT :rows >= 5000000 AS large, CASE WHEN :rows >= 5000000 THEN 1 ELSE 3 END AS rounds \gset

-- Uniform fingerprints, and families of six within 4 bits of their center.
CREATE TABLE uniform AS
    SELECT i AS id, hashint8extended(i, 0)::simhash AS fp, i % 10000 AS tenant
    FROM generate_series(1::bigint, :rows) AS i;
CREATE TABLE families AS
    SELECT i AS id, i % 10000 AS tenant,
           (hashint8extended(i / 6, 0)
            # CASE i % 6 WHEN 0 THEN 0
                ELSE 1::bigint << (hashint8(i) & 63) | 1::bigint << (hashint8(i + 7) & 63) END)::simhash AS fp
    FROM generate_series(1::bigint, :rows) AS i;
CREATE INDEX ON uniform USING simhash (fp);
CREATE INDEX ON families USING simhash (fp);
VACUUM ANALYZE;

-- Signatures are joined if k is NULL.
CREATE FUNCTION all_pairs(tab text, k integer, more text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM %I AS a JOIN %1$I AS b ON %s AND a.id < b.id %s',
                  tab, coalesce('a.fp <~> b.fp <= ' || k, 'a.sig % b.sig'), more);

-- The index is searched for one in `part` rows, and the time is multiplied.
CREATE FUNCTION time_join(tab text, k integer, part integer, memory text, rounds integer)
RETURNS TABLE ("rows" text, radius integer, "work_mem" text, "join ms" numeric, "by index ms" numeric,
               "by index / join" numeric, "from" numeric, "to" numeric) LANGUAGE plpgsql AS $$
DECLARE
    by_join float8[] := '{}';
    by_index float8[] := '{}';
BEGIN
    PERFORM set_config('work_mem', memory, true);
    FOR i IN 0 .. rounds LOOP
        SET LOCAL simhash.enable_join = on;
        by_join[i] := time_query(all_pairs(tab, k, ''));
        SET LOCAL simhash.enable_join = off;
        by_index[i] := part * time_query(all_pairs(tab, k, format('WHERE a.id %% %s = 0', part)));
    END LOOP;
    RETURN QUERY
        SELECT tab, k, memory,
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y))::numeric),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y / x))::numeric, 1),
               round(min(y / x)::numeric, 1), round(max(y / x)::numeric, 1)
        FROM unnest(by_join[1:], by_index[1:]) AS pair (x, y);
END $$;

\pset title 'all pairs: an index search for each row / the join; hash_mem_multiplier = 2'
SELECT t.* FROM (VALUES (1, 3, 10), (2, 8, 100), (3, 10, 100)) AS radii (i, k, part),
    unnest('{128MB,4MB}'::text[]) WITH ORDINALITY AS m (memory, o),
    unnest('{uniform,families}'::text[]) WITH ORDINALITY AS d (tab, p), LATERAL
    time_join(tab, k, part * ceil(:rows / 1e6)::integer, memory, :rounds) AS t
WHERE NOT :'large' OR (k <= 8 AND tab = 'uniform') ORDER BY p, i, o;

-- Signatures, a million at most, in families of 1 to 9, as in signature_index.sql.
CREATE TABLE signatures AS
    SELECT row_number() OVER () AS id,
           to_minhash(ARRAY(SELECT family * 1000 + i + CASE WHEN i < member * 2 THEN member * 50 ELSE 0 END
                            FROM generate_series(1, 40) AS i))::minhash(18, 7, 'hash') AS sig
    FROM generate_series(1::bigint, :rows / 5) AS family,
         generate_series(0, (hashint8(family) & 2147483647) % 9) AS member LIMIT least(:rows, 1000000);
CREATE INDEX ON signatures USING simhash (sig);
VACUUM ANALYZE signatures;

\pset title 'all pairs that share a band: an index search for each row / the join'
SELECT t.* FROM unnest('{128MB,4MB}'::text[]) AS memory, LATERAL
    time_join('signatures', NULL, 10, memory, :rounds) AS t;

SET work_mem = '128MB';
\pset title 'the join / simhash_cluster'
SELECT t.* FROM unnest(CASE WHEN :'large' THEN '{3,8}' ELSE '{3,8,10}' END::integer[]) AS k, LATERAL
    time_pair('k = ' || k, all_pairs('uniform', k, ''),
              format('SELECT max(c) FROM (SELECT simhash_cluster(fp, %s) OVER () AS c FROM uniform) AS s', k),
              :rounds) AS t;
\pset title 'within 10,000 tenants / all, k = 8'
SELECT * FROM time_pair('k = 8', all_pairs('uniform', 8, 'AND a.tenant = b.tenant'),
    all_pairs('uniform', 8, ''), :rounds);
