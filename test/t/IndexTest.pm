# What the tests of the index share: a seed, data, and the comparison of index
# scans with sequential scans.

package IndexTest;

use strict;
use warnings;

use Exporter qw(import);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(random_seed index_node install_helpers same_rows_ok no_damage_ok seconds);

# SIMHASH_SEED repeats a run as far as the interleaving of processes allows.
sub random_seed
{
	my $seed = $ENV{SIMHASH_SEED} || int(rand(1_000_000_000)) + 1;

	srand($seed);
	diag("SIMHASH_SEED=$seed");
	return $seed;
}

# How long a test under load is to take.
sub seconds
{
	my ($default) = @_;

	return $ENV{SIMHASH_SECONDS} || $default;
}

sub index_node
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => $how{streaming} || 0, extra => $how{extra} || []);
	$node->append_conf('postgresql.conf', "jit = off\nmax_parallel_workers_per_gather = 0\n" . ($how{conf} // ''));
	$node->start;
	install_helpers($node);
	return $node;
}

# fp_of: uniform, around few centers, and many times the same; or NULL.
# differing: the rows that an index scan and a bitmap scan have too few or too
# many, for balls of many radii and for NULL, in one snapshot.
# differing_order: where the order of an index scan that goes nearest first differs
# from that of a sort, and the rows that it invents, repeats or (where it goes on to
# the end) leaves out, in one statement.
sub install_helpers
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE FUNCTION flip(fp simhash, bits integer, seed bigint) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
    SELECT (fp::bigint # (SELECT coalesce(bit_or(1::bigint << b), 0) FROM
        (SELECT b FROM generate_series(0, 63) AS b ORDER BY hashint8extended(b, seed), b LIMIT bits) AS s))::simhash $$;
CREATE FUNCTION fp_of(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE hashint8extended(i, 1) & 7
        WHEN 0 THEN NULL
        WHEN 1 THEN '0123456789abcdef'
        WHEN 2 THEN flip(hashint8extended(i % 5, 0)::simhash, (hashint8extended(i, 2) & 7)::integer, i)
        ELSE hashint8extended(i, 0)::simhash END $$;

CREATE FUNCTION differing_once(tab regclass, condition text, truth text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    differing bigint;
BEGIN
    EXECUTE format('WITH a AS MATERIALIZED (SELECT ctid, fp FROM %1$s WHERE %2$s),
        b AS MATERIALIZED (SELECT ctid, fp FROM %1$s WHERE %3$s)
        SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) AS d',
        tab, condition, truth) INTO differing;
    RETURN differing;
END $$;
CREATE FUNCTION differing_order(tab regclass, seed bigint, times integer) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET hash_mem_multiplier = 100 AS $$
DECLARE
    result bigint := 0;
    differing bigint;
    ordered boolean;
    line text;
    query text;
    q text;
    lim text;
    by_index text;
    by_eye text;
BEGIN
    FOR i IN seed .. seed + times - 1 LOOP
        q := quote_literal(coalesce(fp_of(i), '0123456789abcdef'));
        lim := CASE WHEN i % 7 = 0 THEN 'NULL' ELSE (1 + (hashint8extended(i, 5) & 2047))::text END;
        by_index := 'true';
        by_eye := 'true';
        IF i % 5 = 3 THEN
            by_index := format('fp <@ simhash_ball(%L, 30)', coalesce(fp_of(i + 7), '0123456789abcdef'));
            by_eye := format('(fp <~> %L) + 0 <= 30', coalesce(fp_of(i + 7), '0123456789abcdef'));
        END IF;
        -- now and then everything, with so little memory that not all is held
        PERFORM set_config('work_mem', CASE WHEN i % 2 = 0 THEN '64kB' ELSE '4MB' END, true);
        query := format('SELECT row_number() OVER () AS r, s.* FROM
            (SELECT ctid AS at, fp, fp <~> %1$s AS d FROM %2$s WHERE %3$s ORDER BY fp <~> %1$s LIMIT %4$s) AS s', q, tab, by_index, lim);
        ordered := false;
        FOR line IN EXECUTE 'EXPLAIN (costs off) ' || query LOOP
            ordered := ordered OR line ~ '^ *Order By: ';
        END LOOP;
        ASSERT ordered, query;
        EXECUTE format('WITH a AS MATERIALIZED (%1$s), b AS MATERIALIZED (
                SELECT row_number() OVER (ORDER BY (fp <~> %2$s) + 0) AS r, ctid AS at, fp, (fp <~> %2$s) + 0 AS d FROM %3$s WHERE %4$s)
            SELECT (SELECT count(*) FROM a FULL JOIN (SELECT * FROM b WHERE r <= coalesce(%5$s, r)) AS b USING (r)
                    WHERE a.d IS DISTINCT FROM b.d OR num_nulls(a.at, b.at) > 0)
                 + (SELECT count(*) FROM (SELECT at, fp, d FROM a EXCEPT ALL SELECT at, fp, d FROM b) AS s)',
            query, q, tab, by_eye, lim) INTO differing;
        result := result + differing;
    END LOOP;
    RETURN result;
END $$;
CREATE FUNCTION differing(tab regclass, seed bigint, times integer) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexscan = on SET enable_bitmapscan = on AS $$
DECLARE
    result bigint := 0;
    q simhash;
    k integer;
BEGIN
    FOR i IN seed .. seed + times - 1 LOOP
        PERFORM set_config('enable_indexscan', (i % 2 = 0)::text, true),
                set_config('enable_bitmapscan', (i % 2 = 1)::text, true);
        q := coalesce(fp_of(i), '0123456789abcdef');
        k := CASE WHEN i % 20 = 0 THEN 64 ELSE hashint8extended(i, 3) & 15 END;
        result := result + differing_once(tab, format('fp <@ %L::simhash_ball', simhash_ball(q, k)),
                                          format('(fp <~> %L::simhash) + 0 <= %s', q, k));
    END LOOP;
    RETURN result + differing_once(tab, 'fp IS NULL', 'num_nulls(fp) = 1');
END $$;
SQL
}

sub same_rows_ok
{
	my ($node, $table, $name, %how) = @_;
	my $seed = $how{seed} // int(rand(1_000_000));
	my $times = $how{times} // 60;

	is($node->safe_psql('postgres', "SELECT differing('$table', $seed, $times)"),
		'0', "$name: rows of the index are those of the table (seed $seed)");
	$times = int(($times + 9) / 10);
	is($node->safe_psql('postgres', "SELECT differing_order('$table', $seed, $times)"),
		'0', "$name: their order is that of a sort (seed $seed)");
}

# The verifier finds nothing.
sub no_damage_ok
{
	my ($node, $name, @indexes) = @_;

	foreach my $index (@indexes)
	{
		my ($stdout, $stderr);

		is($node->psql('postgres', "SELECT simhash_index_check('$index', true)", stdout => \$stdout, stderr => \$stderr),
			0, "$name: $index is not damaged")
		  or diag($stderr);
	}
}

1;
