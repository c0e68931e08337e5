-- Times of queries in pairs, for the benchmarks.
--
-- Machines are noisy and drift.  So two queries run in turn, A B A B ..., and the
-- results are medians, of the times and of the ratios pair by pair.  The first pair is
-- a warm-up.

CREATE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    EXECUTE query;
    RETURN extract(epoch FROM clock_timestamp() - started) * 1000;
END $$;

CREATE FUNCTION time_pair(what text, query_a text, query_b text, rounds integer DEFAULT 7)
RETURNS TABLE ("what is compared (A / B)" text, "A ms" numeric, "B ms" numeric,
               ratio numeric, "from" numeric, "to" numeric)
LANGUAGE plpgsql AS $$
DECLARE
    a float8[] := '{}';
    b float8[] := '{}';
BEGIN
    PERFORM time_query(query_a), time_query(query_b);
    FOR i IN 1 .. rounds LOOP
        a := a || time_query(query_a);
        b := b || time_query(query_b);
    END LOOP;
    RETURN QUERY
        SELECT what,
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::numeric, 1),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY y))::numeric, 1),
               round((percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y))::numeric, 2),
               round(min(x / y)::numeric, 2),
               round(max(x / y)::numeric, 2)
        FROM unnest(a, b) AS pair (x, y);
END $$;
