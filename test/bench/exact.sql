-- Measures arrays of all shingle hashes, against signatures and resemblance().  exact.sh
-- runs this.  psql variables: csv (documents), rounds.
\ir one_core.sql
SET client_min_messages = warning;

-- Returns milliseconds of the processor, rather than of the clock: other programs may run.
CREATE OR REPLACE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    before numeric := split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);
BEGIN
    EXECUTE query;
    RETURN (split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric - before) / 1e6;
END $$;

-- The same documents with arrays, and with the signatures that minhash_advice() names.
CREATE TABLE texts (id integer, body text);
COPY texts FROM :'csv' CSV;
CREATE TABLE exact AS SELECT id, body, shingle_hashes(body) AS sk FROM texts;
CREATE TABLE bands_8 AS SELECT id, body, to_minhash(body)::minhash(18, 7) AS sig FROM texts;
CREATE TABLE bands_5 AS SELECT id, body, to_minhash(body, 47, 4)::minhash(47, 4) AS sig FROM texts;
ALTER TABLE exact ADD PRIMARY KEY (id);
-- 200 queries, and the documents of one join in so many
SELECT count(*) AS rows, count(*) / 200 AS every, greatest(count(*) / 2000, 1) AS part FROM texts \gset
CREATE TABLE queries AS
    SELECT id, e.body, e.sk, a.sig AS sig_8, b.sig AS sig_5
    FROM exact AS e JOIN bands_8 AS a USING (id) JOIN bands_5 AS b USING (id) WHERE id % :every = 0;
VACUUM ANALYZE;

CREATE TABLE built AS SELECT t.*,
    time_query(format('CREATE INDEX %s_simhash ON %1$I USING simhash (%I)', tab, col)) AS ms
FROM (VALUES ('exact', 'sk'), ('bands_8', 'sig'), ('bands_5', 'sig')) AS t (tab, col);
VACUUM ANALYZE;
\pset title 'a value, and the index'
SELECT tab AS "table", (SELECT round(avg(cardinality(sk)), 1) FROM exact) AS shingles,
       round((xpath('//avg/text()', query_to_xml(format('SELECT avg(pg_column_size(%I)) AS avg FROM %I', col, tab),
                                                 false, true, '')))[1]::text::numeric) AS "bytes of a value",
       pg_relation_size((tab || '_simhash')::regclass) / :rows AS "bytes a row of the index",
       round(ms / 1000)::numeric AS "build s"
FROM built;

-- Returns the condition of a search of rows that resemble by at least s.
CREATE FUNCTION condition(tab text, s numeric) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE tab WHEN 'exact' THEN format('d.sk <%%> q.sk <= %s', 1 - s)
        ELSE format('d.sig %% q.sig AND resemblance(d.body, q.body, 3) >= %s', s) END;
CREATE FUNCTION search(tab text, s numeric) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM (SELECT *, sig_%s AS sig FROM queries) AS q JOIN %I AS d ON %s',
                  CASE tab WHEN 'bands_5' THEN 5 ELSE 8 END, tab, condition(tab, s));
-- Returns the count that a query selects, and its time.
CREATE FUNCTION time_count(query text, OUT n bigint, OUT ms float8) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE counted (n bigint) ON COMMIT DROP;
    ms := time_query('INSERT INTO counted ' || query);
    n := (SELECT c.n FROM counted AS c);
    DROP TABLE counted;
END $$;

SET enable_seqscan = off;
SET simhash.enable_join = off;
\pset title 'search: signatures, verified / exact'
SELECT s AS resemblance, tab AS signatures, (time_count(search('exact', s))).n AS "exact finds",
       (time_count(search(tab, s))).n AS "signatures find",
       round("B ms" / (SELECT count(*) FROM queries), 3) AS "exact ms",
       round("A ms" / (SELECT count(*) FROM queries), 3) AS "signatures ms", ratio, "from", "to"
FROM unnest('{0.8,0.8,0.5,0.5}'::numeric[], '{bands_8,bands_5,bands_8,bands_5}'::text[]) AS t (s, tab),
     LATERAL time_pair('', search(tab, s), search('exact', s), :rounds);

-- Returns the rows that the index finds, and those of them that the array of the heap
-- tuple rejects, of all queries.
CREATE FUNCTION rechecked(s numeric, OUT matching numeric, OUT removed numeric) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    plan json;
BEGIN
    matching := 0;
    removed := 0;
    FOR q IN SELECT sk FROM queries LOOP
        EXECUTE format('EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT FROM exact WHERE sk <%%> %L::bigint[] <= %s',
                       q.sk, 1 - s) INTO plan;
        plan := plan -> 0 -> 'Plan';
        matching := matching + (plan ->> 'Actual Rows')::numeric;
        removed := removed + (plan ->> 'Rows Removed by Index Recheck')::numeric;
    END LOOP;
END $$;
SET enable_bitmapscan = off;
\pset title 'candidates of the index'
SELECT s AS resemblance, matching + removed AS candidates, removed AS "removed by the recheck",
       round(removed / (matching + removed), 4) AS fraction
FROM unnest('{0.8,0.5}'::numeric[]) AS s, rechecked(s);
RESET enable_bitmapscan;
RESET enable_seqscan;

CREATE FUNCTION all_pairs(tab text, s numeric, more text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('SELECT count(*) FROM %I AS d JOIN %1$I AS q ON %s AND d.id < q.id %s', tab, condition(tab, s), more);
-- Times joins; the index is searched for one in `part` rows, and the time is multiplied.
CREATE FUNCTION time_join(tab text, s numeric, memory text, part integer, rounds integer)
RETURNS TABLE (pairs bigint, "signatures find" bigint, "join s" numeric, "signatures s" numeric, "by index s" numeric,
               "signatures / join" numeric, "by index / join" numeric) LANGUAGE plpgsql AS $$
DECLARE
    by_join float8[];
    by_band float8[];
    by_index float8[];
    found_by_join bigint;
    found_by_band bigint;
    took float8;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    FOR i IN 1 .. rounds LOOP
        SET LOCAL simhash.enable_join = on;
        SELECT n, ms INTO found_by_join, took FROM time_count(all_pairs('exact', s, ''));
        by_join[i] := took;
        SELECT n, ms INTO found_by_band, took FROM time_count(all_pairs(tab, s, ''));
        by_band[i] := took;
        SET LOCAL simhash.enable_join = off;
        SET LOCAL enable_seqscan = off;
        by_index[i] := part * time_query(all_pairs('exact', s, format('WHERE q.id %% %s = 0', part)));
        SET LOCAL enable_seqscan = on;
    END LOOP;
    RETURN QUERY
        SELECT found_by_join, found_by_band,
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY z))::numeric / 1000, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y / x))::numeric, 2),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY z / x))::numeric, 2)
        FROM unnest(by_join, by_band, by_index) AS pair (x, y, z);
END $$;
\pset title 'all pairs: signatures, verified, and an index search for each row / the join; hash_mem_multiplier = 2'
SELECT format('SELECT %s AS resemblance, %L AS signatures, %L AS work_mem, * FROM time_join(%2$L, %1$s, %3$L, %s, %s)',
              s, tab, memory, :part, :rounds)
FROM unnest('{0.8,0.5}'::numeric[], '{bands_8,bands_5}'::text[]) AS t (s, tab), unnest('{128MB,4MB}'::text[]) AS memory
ORDER BY s DESC, memory \gexec

-- Long texts: some descriptions in a row.  Each is searched by a copy without some of its words.
SET simhash.enable_join = off;
CREATE FUNCTION time_long(descriptions integer, rounds integer)
RETURNS TABLE (shingles numeric, "all ms" numeric, "sample ms" numeric, ratio numeric, "standard error" numeric)
LANGUAGE plpgsql AS $$
DECLARE
    search text := 'SELECT count(*) FROM long_queries AS q JOIN long_texts AS d ON d.%s <%%> q.%1$s <= 0.2';
BEGIN
    CREATE TABLE long_texts AS
        SELECT g AS id, body, shingle_hashes(body) AS sk, sketch(body, 8, 3) AS sample
        FROM (SELECT t.id / descriptions AS g, string_agg(t.body, ' ' ORDER BY t.id) AS body
              FROM texts AS t GROUP BY 1) AS s;
    CREATE TABLE long_queries AS
        SELECT id, shingle_hashes(body) AS sk, sketch(body, 8, 3) AS sample
        FROM (SELECT id, (SELECT string_agg(word, ' ' ORDER BY n) FROM regexp_split_to_table(body, '\s+')
                          WITH ORDINALITY AS w (word, n) WHERE hashint8(n) % 27 <> 0) AS body
              FROM long_texts ORDER BY hashint4(id), id LIMIT 100) AS s;
    CREATE INDEX ON long_texts USING simhash (sk);
    CREATE INDEX ON long_texts USING simhash (sample);
    ANALYZE long_texts;
    SET LOCAL enable_seqscan = off;
    RETURN QUERY SELECT (SELECT round(avg(cardinality(d.sk))) FROM long_texts AS d),
               round("B ms" / 100, 3), round("A ms" / 100, 3), p.ratio,
               (SELECT round(sqrt(avg(((d.sample <%> q.sample) - (d.sk <%> q.sk)) ^ 2))::numeric, 3)
                FROM long_texts AS d JOIN long_queries AS q USING (id))
        FROM time_pair('', format(search, 'sample'), format(search, 'sk'), rounds) AS p;
    DROP TABLE long_texts, long_queries;
END $$;
\pset title 'a search within 0.2: sketch(body, 8, 3) / shingle_hashes(body)'
SELECT t.* FROM unnest('{1,10,100}'::integer[]) AS n, LATERAL time_long(n, :rounds) AS t;
