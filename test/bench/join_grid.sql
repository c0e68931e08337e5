-- Measures the planner's choice of a join.  join_grid.sh runs this.  psql variables, lists
-- separated by spaces: sizes, radii, shapes, limits, kinds, indexes; also memory, workers,
-- and the maximum number of seconds of a query.
\ir one_core.sql
SET work_mem = :'memory';
SET max_parallel_workers_per_gather = :workers;

-- Uniform fingerprints, families of six within 4 bits of their center, and fingerprints
-- that share a block of 16 bits.  Each side has its own order of rows, so that matching rows
-- are anywhere.
CREATE FUNCTION table_name(shape text, side text, n text, indexed boolean) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN concat_ws('_', shape, side, n, CASE WHEN indexed THEN 'index' END);
CREATE FUNCTION make_table(shape text, side text, n text, indexed boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tab text := table_name(shape, side, n, indexed);
BEGIN
    IF to_regclass(tab) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I AS SELECT i AS id, %s AS fp FROM generate_series(1::bigint, %s) AS i
                    ORDER BY hashint8extended(i, ascii(%L))', tab,
        CASE shape
            WHEN 'uniform' THEN 'hashint8extended(i, 0)::simhash'
            WHEN 'constant' THEN '(hashint8extended(i, 0) & 281474976710655)::simhash'
            ELSE '(hashint8extended(i / 6, 0) # CASE i % 6 WHEN 0 THEN 0 ELSE
                   1::bigint << (hashint8(i) & 63) | 1::bigint << (hashint8(i + 7) & 63) END)::simhash' END, n, side);
    IF indexed THEN
        EXECUTE format('CREATE INDEX ON %I USING simhash (fp)', tab);
    END IF;
    EXECUTE format('ANALYZE %I', tab);
END $$;

CREATE TABLE cells AS
    SELECT row_number() OVER (ORDER BY s.o, i, shape, k.o, kind, l.o) AS cell, size, shape, radius, kind, lim,
           i = 'yes' AS indexed,
           format(CASE WHEN kind IN ('inner', 'left')
                      THEN 'SELECT a.id, b.id FROM %2$I AS a %1$s JOIN %3$I AS b ON a.fp <~> b.fp <= %4$s %5$s'
                      ELSE 'SELECT a.id FROM %2$I AS a
                            WHERE %1$s EXISTS (SELECT FROM %3$I AS b WHERE a.fp <~> b.fp <= %4$s) %5$s' END,
                  CASE kind WHEN 'left' THEN 'LEFT' WHEN 'anti' THEN 'NOT' END,
                  table_name(shape, 'a', split_part(size, 'x', 1), i = 'yes'),
                  table_name(shape, 'b', split_part(size, 'x', 2), i = 'yes'),
                  radius, CASE lim WHEN 'all' THEN '' ELSE 'LIMIT ' || lim END) AS query
    FROM string_to_table(:'sizes', ' ') WITH ORDINALITY AS s (size, o), string_to_table(:'indexes', ' ') AS i,
         string_to_table(:'shapes', ' ') AS shape, string_to_table(:'radii', ' ') WITH ORDINALITY AS k (radius, o),
         string_to_table(:'kinds', ' ') AS kind, string_to_table(:'limits', ' ') WITH ORDINALITY AS l (lim, o);
SELECT make_table(shape, side, n, indexed)
FROM (SELECT DISTINCT shape, side, split_part(size, 'x', ascii(side) - 96) AS n, indexed
      FROM cells, unnest('{a,b}'::text[]) AS side) AS t \g /dev/null
CHECKPOINT;

-- Plans to compare with the chosen one, and the settings that force them
CREATE TABLE plans (plan text, o integer, settings text[]);
INSERT INTO plans VALUES
    ('chosen', 1, '{}'),
    ('join', 2, '{enable_nestloop,enable_hashjoin,enable_mergejoin}'),
    ('loop', 3, '{simhash.enable_join,enable_indexscan,enable_bitmapscan}'),
    ('index', 4, '{simhash.enable_join,enable_bitmapscan}'),
    ('bitmap', 5, '{simhash.enable_join,enable_indexscan}'),
    ('serial', 6, '{max_parallel_workers_per_gather}'),
    ('serial loop', 7, '{max_parallel_workers_per_gather,simhash.enable_join}');
CREATE TABLE times (cell bigint, plan text, kind text, ms float8, explained text);

CREATE FUNCTION explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        plan := plan || line || E'\n';
    END LOOP;
    RETURN plan;
END $$;

-- Times a plan, unless the plan was timed already.  A quick plan runs five times.
CREATE PROCEDURE time_plan(cell bigint, plan text) LANGUAGE plpgsql AS $$
DECLARE
    query text;
    tried text;
    ms float8;
BEGIN
    SELECT 'SELECT count(*) FROM (' || c.query || ') AS q' INTO query FROM cells AS c WHERE c.cell = time_plan.cell;
    PERFORM set_config(name, CASE WHEN name LIKE 'max%' THEN '0' ELSE 'off' END, true)
    FROM plans AS p, unnest(p.settings) AS name WHERE p.plan = time_plan.plan;
    tried := explained(query);
    IF EXISTS (SELECT FROM times AS t WHERE t.cell = time_plan.cell AND t.explained = tried) THEN
        RETURN;
    END IF;
    ms := time_query(query);
    FOR i IN 1 .. 4 LOOP
        EXIT WHEN ms > 200;
        ms := least(ms, time_query(query));
    END LOOP;
    INSERT INTO times VALUES (cell, plan,
        CASE WHEN tried LIKE '%Gather%' THEN 'parallel ' ELSE '' END
        || CASE WHEN tried LIKE '%SimHash Join%' THEN 'join' WHEN tried LIKE '%Bitmap Index%' THEN 'bitmap'
                WHEN tried LIKE '%Index Scan%' THEN 'index' ELSE 'loop' END, ms, tried);
END $$;

-- A plan that takes longer than the chosen one did is of no interest.
CREATE PROCEDURE limit_time(cell bigint, seconds float8) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('statement_timeout',
        ceil(coalesce((SELECT t.ms + 5 * least(t.ms, 200) + 20 FROM times AS t WHERE t.cell = limit_time.cell
                       AND t.plan = 'chosen'), seconds * 1000))::text, false);
END $$;

\set ON_ERROR_STOP off
\set VERBOSITY terse
SELECT format('CALL limit_time(%s, %s)', cell, :seconds), format('CALL time_plan(%s, %L)', cell, plan)
FROM cells, plans ORDER BY cell, o \gexec
SET statement_timeout = 0;
\set ON_ERROR_STOP on

CREATE VIEW results AS
    SELECT c.*, chosen.kind AS chosen, round(chosen.ms::numeric, 1) AS "chosen ms", best.kind AS best,
           round(best.ms::numeric, 1) AS "best ms", round((chosen.ms / best.ms)::numeric, 1) AS ratio,
           coalesce(chosen.ms > 2 * best.ms AND chosen.ms > best.ms + 10, best.ms IS NOT NULL) AS is_bad
    FROM cells AS c LEFT JOIN times AS chosen ON chosen.cell = c.cell AND chosen.plan = 'chosen'
         LEFT JOIN LATERAL (SELECT * FROM times AS t WHERE t.cell = c.cell ORDER BY ms LIMIT 1) AS best ON true;
\pset title 'cells where the chosen plan takes more than twice the time of the best one and 10 ms'
SELECT size, CASE WHEN indexed THEN 'yes' ELSE 'no' END AS index, shape, radius, kind, lim AS "limit", chosen,
       "chosen ms", best, "best ms", ratio
FROM results WHERE is_bad ORDER BY cell;
\pset title 'all cells'
SELECT size, indexed, count(*) AS cells, count("best ms") AS "in time", count(*) FILTER (WHERE is_bad) AS bad,
       max(ratio) FILTER (WHERE "chosen ms" > "best ms" + 10) AS "worst ratio",
       string_agg(DISTINCT chosen, ', ') AS chosen
FROM results GROUP BY size, indexed ORDER BY min(cell);
