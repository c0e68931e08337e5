--
-- Objects that the later tests share.  The TAP tests load them, too (IndexTest.pm).
-- They are in the schema public, and depend on the extension's types, so the test
-- planner drops them with the extension.
--
-- Return a fingerprint made from a number, the same in every run.
CREATE FUNCTION random_fp(i bigint, seed bigint DEFAULT 0) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN hashint8extended(i, seed)::simhash;
CREATE FUNCTION fingerprint(n integer) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN ('x' || left(md5(n::text), 16))::bit(64)::simhash;

-- Flip so many bits of a fingerprint, other bits for each seed.
CREATE FUNCTION flip(fp simhash, bits integer, seed bigint DEFAULT 0) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (fp::bigint # (SELECT coalesce(bit_or(1::bigint << b), 0) FROM
        (SELECT b FROM generate_series(0, 63) AS b ORDER BY hashint8extended(b, seed), b LIMIT bits) AS s))::simhash;

-- Return the fingerprint i of data of a shape.  A mixture has three of each shape in
-- turn.
CREATE FUNCTION fp_of(shape text, i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN CASE CASE shape
            WHEN 'mixed' THEN ('{uniform,skewed high,skewed low,clustered,equal,extreme}'::text[])[i / 3 % 6 + 1]
            WHEN 'skewed' THEN ('{skewed high,skewed low}'::text[])[i % 2 + 1]
            ELSE shape END
        WHEN 'uniform' THEN random_fp(i)
        WHEN 'skewed high' THEN overlay(random_fp(i)::bytea PLACING '\xabcd' FROM 1)::simhash
        WHEN 'skewed low' THEN overlay(random_fp(i)::bytea PLACING '\xffffff' FROM 6)::simhash
        WHEN 'clustered' THEN flip(random_fp(i % 7), (hashint8(i) & 1023) % 9, i)
        WHEN 'equal' THEN simhash '0123456789abcdef'
        WHEN 'extreme' THEN (ARRAY[0, -1, random_fp(i % 2)::bigint])[i % 3 + 1]::simhash END;

-- Return at most so many of a table's fingerprints, in any order, but the same in every
-- run.  Returns one if the table has none.
CREATE FUNCTION some_of(tab regclass, at_most integer) RETURNS simhash[] LANGUAGE plpgsql AS $$
DECLARE
    stored simhash[];
BEGIN
    EXECUTE format('SELECT array(SELECT fp FROM %s WHERE fp IS NOT NULL ORDER BY hashint8(fp::bigint), ctid LIMIT %s)',
                   tab, at_most) INTO stored;
    RETURN CASE WHEN stored = '{}' THEN ARRAY[random_fp(1)] ELSE stored END;
END $$;

-- Return the number of rows of the second query, and the number of rows that only one
-- of the two queries has.
CREATE FUNCTION differing(query_a text, query_b text, OUT rows bigint, OUT differing bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('WITH a AS MATERIALIZED (%s), b AS MATERIALIZED (%s)
        SELECT (SELECT count(*) FROM b), count(*)
        FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) AS d', query_a, query_b)
        INTO rows, differing;
END $$;

-- Return the numbers of rows in which the ways to execute a query differ from a
-- sequential scan.
CREATE FUNCTION differing_by(query text, OUT by_index bigint, OUT by_bitmap bigint, OUT rows bigint)
    LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
    EXECUTE 'CREATE TEMP TABLE expected AS ' || query;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on;
    SELECT d.rows, d.differing INTO rows, by_index FROM differing(query, 'TABLE expected') AS d;
    SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = on;
    SELECT d.differing INTO by_bitmap FROM differing(query, 'TABLE expected') AS d;
    DROP TABLE expected;
END $$;

-- Raise an error if an index is damaged, even where no query visits.
CREATE FUNCTION check_indexes(tab regclass) RETURNS void LANGUAGE sql AS $$
    SELECT simhash_index_check(indexrelid, true)
    FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
    WHERE indrelid = tab AND amname = 'simhash' AND indisvalid $$;

-- Return a plan in words that all releases have in common, line by line or as one text.
-- 18 shows the nodes that settings disable, 19 what a Result replaces, and subplans
-- have names there.
CREATE FUNCTION plan(query text, shown text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ shown AND line !~ 'Disabled:|Replaces:' THEN
            RETURN NEXT replace(line, 'SubPlan expr_', 'SubPlan ');
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION whole_plan(query text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(line, E'\n') FROM plan(query) AS line $$;

-- Return a number that EXPLAIN shows for the plan's topmost node, or for the topmost
-- node of a type.
CREATE FUNCTION explained(query text, what text, node_type text DEFAULT NULL) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    IF node_type IS NOT NULL THEN
        plan := jsonb_path_query_array(plan, '$.** ? (@."Node Type" == $type)', jsonb_build_object('type', node_type));
        RETURN plan->0->>what;
    END IF;
    RETURN plan->0->'Plan'->>what;
END $$;

-- Return the number of pages that a query reads, cached or not.
CREATE FUNCTION pages_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;

-- Return the differences between a query ordered by distances and a sort of a
-- sequential scan: in rows, ctids or their order.  Rows of equal distances may come in
-- any order.  If limited to few rows, the query also runs backward and FOR UPDATE, and
-- deletes the rows that it finds by ctid.  by_index: true if an index must provide the
-- order.  Returns the number of rows if nothing differs.
CREATE FUNCTION order_differs(
    tab regclass, condition text, distances text, limited integer DEFAULT NULL, by_index boolean DEFAULT true)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text := format(
        'SELECT ctid AS at, hash_record_extended(t, 0) AS whole, ARRAY[%s]::float8[] AS d FROM %s AS t WHERE %s',
        distances, tab, condition);
    ordered text := format('%s ORDER BY %s LIMIT %L', rows, distances, limited);
    few boolean := coalesce(limited <= 100, false);
    c refcursor;
    r record;
    back integer;
    compared bigint;
    deleted bigint;
    result text;
BEGIN
    SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = on;
    EXECUTE 'CREATE TEMP TABLE expected AS ' || rows;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off;
    ASSERT (whole_plan(ordered) ~ 'Order By: ') = by_index, whole_plan(ordered);
    EXECUTE format(
        'CREATE TEMP TABLE found AS SELECT ''forward'' AS way, row_number() OVER ()::integer AS n, s.* FROM (%s) AS s',
        ordered);
    IF few THEN
        EXECUTE format(
            'INSERT INTO found SELECT ''locked'', row_number() OVER (), s.* FROM (%s FOR UPDATE) AS s', ordered);
        back := 0;
        OPEN c SCROLL FOR EXECUTE ordered;
        MOVE FORWARD ALL FROM c;
        LOOP
            FETCH PRIOR FROM c INTO r;
            EXIT WHEN NOT FOUND;
            back := back - 1;
            INSERT INTO found VALUES ('backward', back, r.at, r.whole, r.d);
        END LOOP;
        CLOSE c;
        BEGIN
            EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT at FROM (%s) AS s))', tab, ordered);
            GET DIAGNOSTICS deleted = ROW_COUNT;
            RAISE division_by_zero;
        EXCEPTION WHEN division_by_zero THEN NULL;
        END;
    END IF;
    SELECT string_agg(w, ' ') INTO result
    FROM unnest(CASE WHEN few THEN '{forward,backward,locked}' ELSE '{forward}' END::text[]) AS w
    WHERE EXISTS (SELECT at, whole, d FROM found WHERE way = w EXCEPT ALL SELECT at, whole, d FROM expected)
       OR ARRAY(SELECT d FROM found WHERE way = w ORDER BY n)
           IS DISTINCT FROM ARRAY(SELECT d FROM expected ORDER BY d LIMIT limited);
    SELECT count(*) INTO compared FROM found WHERE way = 'forward';
    IF deleted <> compared THEN
        result := concat_ws(' ', result, deleted, 'deleted');
    END IF;
    DROP TABLE expected, found;
    RETURN coalesce(result, compared || ' same');
END $$;
