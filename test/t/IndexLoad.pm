# A load for tests of the index: sessions that write, sessions that compare index scans with
# sequential scans, and a session that checks the index.  client() of IndexTest.pm starts
# them.

package IndexLoad;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(install_load);

# Creates procedures that load tables with a column id and a column of values, each for a
# session of its own.
# write: a few rows at a time, not many more than max_rows in all, until `load` is empty.
# Waits while the greatest id is above load.max_id.  NULL is no limit.
# check_index: checks the index and reads its statistics, until `load` is empty.
# read: see install_read.
#
# column: the column of values, `fp` by default.
# of: the function that makes a value of a number, `fp_of` by default.  Calls with the same
# number make equal values.
# compare, steps: the comparison of `read`; by default five of fingerprints.
# pauses: insertions often pause between two leaves, in the build with small pages.
sub install_load
{
	my ($node, %how) = @_;
	my ($column, $of) = ($how{column} // 'fp', $how{of} // 'fp_of');
	# ascending, with one frequent value after the other
	my $ascending = $column eq 'fp' ? '(($1 + j % 9 * 8) << 20)::simhash' : "$of(\$1 + j % 9)";
	my ($pause, $go_on) = $how{pauses} ? (<<'SQL', <<'SQL') : ('', '');
        IF i % 3 = 0 THEN
            PERFORM set_config('simhash.pause_skip', (hashint8extended(i, 4) & 7)::text, false),
                    set_config('simhash.pause_level', '0', false);
        END IF;
SQL
        PERFORM set_config('simhash.pause_level', '-1', false);
SQL

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE load AS SELECT true AS goes_on, NULL::bigint AS max_id;

CREATE PROCEDURE write(tab regclass, seed bigint, max_rows bigint) LANGUAGE plpgsql AS \$\$
DECLARE
    i bigint := seed;
    removal text := format('DELETE FROM %1\$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1\$s
        WHERE id BETWEEN \$1 AND \$2 FOR UPDATE SKIP LOCKED))', tab);
    insertion text := format('INSERT INTO %s ($column) SELECT %%s FROM generate_series(1, \$2) AS j', tab);
    low bigint;
    high bigint;
BEGIN
    -- half of the writers make WAL records by the interface, the others by hand
    PERFORM set_config('simhash.generic_wal', (hashint8extended(seed, 7) % 2 = 0)::text, false);
    WHILE EXISTS (SELECT FROM load) LOOP
        EXECUTE format('SELECT min(id), max(id) FROM %s', tab) INTO low, high;
        IF EXISTS (SELECT FROM load WHERE high > max_id) THEN
            PERFORM pg_sleep(0.01);
            COMMIT;
            CONTINUE;
        END IF;
        i := i + 1;
$pause        CASE hashint8(i) & 15
            WHEN 0 THEN
                -- a value that other rows have, too: hashint8extended(1, 1) & 15 is 1
                EXECUTE format(insertion, '$of(\$1)') USING 1::bigint, 40;
            WHEN 1 THEN
                low := low + (hashint8extended(i, 4) & 8191) % max_rows;
                EXECUTE removal USING low, low + 150;
            WHEN 2 THEN
                BEGIN
                    EXECUTE format(insertion, '$of(\$1 + j)') USING i, 20;
                    RAISE division_by_zero;
                EXCEPTION WHEN division_by_zero THEN NULL;
                END;
            WHEN 3 THEN
                low := low + (hashint8extended(i, 4) & 8191) % max_rows;
                EXECUTE format('UPDATE %1\$s SET $column = $of(\$1) WHERE id IN (SELECT id FROM %1\$s
                    WHERE id BETWEEN \$2 AND \$2 + 20 FOR UPDATE SKIP LOCKED)', tab) USING i, low;
            WHEN 4 THEN
                EXECUTE format(insertion, '$ascending') USING high, 40;
            ELSE
                EXECUTE format(insertion, '$of(\$1 * 7 + j)') USING i, 12;
        END CASE;
        COMMIT;
$go_on        EXECUTE removal USING low, high - max_rows;
        COMMIT;
    END LOOP;
END \$\$;

CREATE PROCEDURE check_index(index regclass) LANGUAGE plpgsql AS \$\$
DECLARE
    i integer := 0;
BEGIN
    WHILE EXISTS (SELECT FROM load) LOOP
        i := i + 1;
        PERFORM simhash_index_check(index, i % 2 = 0);
        COMMIT;
        PERFORM count(*) FROM simhash_index_stats(index);
        COMMIT;
    END LOOP;
    RAISE NOTICE '% checks', i;
END \$\$;
SQL
	install_read($node, $how{compare} // slow_cursors($node), $how{steps} // 1);
}

# Creates functions that compare a slow cursor, an ordered one, and a join with sequential
# scans.  Returns an expression that compares all there is for fingerprints in turn.
sub slow_cursors
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<'SQL');
-- Compare a slow cursor, which pauses on its pages, with a sequential scan.
CREATE FUNCTION read_slowly(tab regclass, seed bigint, OUT rows bigint, OUT differing bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    q simhash := coalesce(fp_of(seed), '0123456789abcdef');
    k integer := CASE WHEN seed % 3 = 0 THEN 64 ELSE hashint8extended(seed, 3) & 15 END;
    every integer := 1 + (hashint8extended(seed, 6) & 2047);
    c refcursor;
    r record;
    seen tid[] := '{}';
BEGIN
    rows := 0;
    OPEN c FOR EXECUTE format('SELECT ctid FROM %s WHERE fp <@ %L::simhash_ball', tab, simhash_ball(q, k));
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        seen := seen || r.ctid;
        rows := rows + 1;
        IF rows % every = 3 THEN
            PERFORM pg_sleep(0.02);
        END IF;
        EXIT WHEN rows > 30000;
    END LOOP;
    CLOSE c;
    EXECUTE format('WITH a AS MATERIALIZED (SELECT unnest($1)),
            b AS MATERIALIZED (SELECT ctid FROM %s WHERE (fp <~> $2) + 0 <= $3)
        SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL
            (SELECT * FROM ((TABLE b EXCEPT ALL TABLE a)) AS m WHERE $4 <= 30000)) AS d', tab)
        USING seen, q, k, rows INTO differing;
END $$;

-- The same for an ordered cursor, which may end early.
CREATE FUNCTION read_nearest_slowly(tab regclass, seed bigint, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    q simhash := coalesce(fp_of(seed), '0123456789abcdef');
    every integer := 1 + (hashint8extended(seed, 6) & 2047);
    c refcursor;
    r record;
    seen tid[] := '{}';
    distances integer[] := '{}';
    max_rows integer := CASE WHEN seed % 2 = 0 THEN 30000 ELSE 1 + (hashint8extended(seed, 3) & 8191) END;
BEGIN
    rows := 0;
    PERFORM set_config('work_mem', CASE WHEN seed % 3 = 0 THEN '4MB' ELSE '64kB' END, true);
    OPEN c FOR EXECUTE format('SELECT ctid, fp <~> %1$L AS d FROM %2$s ORDER BY fp <~> %1$L', q, tab);
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        seen := seen || r.ctid;
        distances := distances || r.d;
        rows := rows + 1;
        IF rows % every = 3 THEN
            PERFORM pg_sleep(0.02);
        END IF;
        EXIT WHEN rows >= max_rows;
    END LOOP;
    CLOSE c;
    SET enable_sort = on;
    EXECUTE format('WITH a AS MATERIALIZED (SELECT * FROM unnest($1, $2) WITH ORDINALITY AS a (at, d, r)),
            b AS MATERIALIZED (
                SELECT ctid AS at, (fp <~> $3) + 0 AS d, row_number() OVER (ORDER BY (fp <~> $3) + 0) AS r FROM %s)
        SELECT (SELECT count(*) FROM a FULL JOIN (SELECT * FROM b WHERE r <= $4) AS b USING (r)
                WHERE a.d IS DISTINCT FROM b.d OR num_nulls(a.at, b.at) > 0)
             + (SELECT count(*) FROM (SELECT at, d FROM a EXCEPT ALL SELECT at, d FROM b) AS s)', tab)
        USING seen, distances, q, max_rows INTO differing;
END $$;

-- Compare one scan, restarted for each of several queries: of a ball, and of the nearest.
CREATE FUNCTION differing_join(tab regclass, seed bigint, OUT rows bigint, OUT differing bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_memoize = off AS $$
BEGIN
    EXECUTE format('WITH q AS MATERIALIZED (SELECT j, coalesce(fp_of(j), ''0123456789abcdef'') AS q,
                (hashint8extended(j, 3) & 7)::integer AS k FROM generate_series($1, $1 + 11) AS j),
            a AS MATERIALIZED (
                SELECT j, at FROM q, LATERAL (SELECT ctid AS at FROM %1$s WHERE fp <@ simhash_ball(q, k)) AS s),
            b AS MATERIALIZED (SELECT j, ctid AS at FROM q, %1$s WHERE (fp <~> q) + 0 <= k),
            n AS MATERIALIZED (
                SELECT j, array_agg(d) AS n
                FROM q, LATERAL (SELECT fp <~> q AS d FROM %1$s ORDER BY fp <~> q LIMIT 5) AS s GROUP BY j),
            m AS MATERIALIZED (
                SELECT j, array_agg(d ORDER BY d) AS n
                FROM q, LATERAL (SELECT (fp <~> q) + 0 AS d FROM %1$s ORDER BY 1 LIMIT 5) AS s GROUP BY j)
        SELECT (SELECT count(*) FROM b) + (SELECT sum(cardinality(m.n)) FROM m),
               (SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) AS s)
             + (SELECT count(*) FROM n FULL JOIN m USING (j) WHERE n.n IS DISTINCT FROM m.n)', tab)
        USING seed INTO rows, differing;
END $$;
SQL
	return <<'SQL';
CASE (i + step) % 5 WHEN 0 THEN differing(tab, i, 4) WHEN 1 THEN differing_order(tab, i, 3)
    WHEN 2 THEN read_slowly(tab, i) WHEN 3 THEN read_nearest_slowly(tab, i) ELSE differing_join(tab, i) END
SQL
}

# Creates the procedure read.  It compares index scans with sequential scans, for at least
# so many rounds, and until a point in time.  Each round has a snapshot, and compares so
# many times.  The expression $compare returns the numbers of rows and of differing rows,
# for the table tab, the seed i and the comparison step of the round.
sub install_read
{
	my ($node, $compare, $steps) = @_;

	$node->safe_psql('postgres', <<SQL);
CREATE PROCEDURE read(tab regclass, seed bigint, min_rounds integer, until timestamptz DEFAULT '-infinity')
LANGUAGE plpgsql AS \$\$
DECLARE
    i bigint := seed;
    once record;
    rows bigint := 0;
    rounds integer := 0;
BEGIN
    WHILE clock_timestamp() < until OR rounds < min_rounds LOOP
        i := i + 1;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
        FOR step IN 1 .. $steps LOOP
            once := $compare;
            IF once.differing <> 0 THEN
                RAISE EXCEPTION '% of % rows differ with seed %', once.differing, once.rows, i;
            END IF;
            rows := rows + once.rows;
            IF step < $steps THEN
                PERFORM pg_sleep(0.01);
            END IF;
        END LOOP;
        rounds := rounds + 1;
    END LOOP;
    ASSERT rows > 0, 'no rows were compared';
    RAISE NOTICE '% rounds, % rows', rounds, rows;
END \$\$;
SQL
}

1;
