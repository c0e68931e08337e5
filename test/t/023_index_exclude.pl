# Eight sessions insert near-duplicates at the same time into a table with an exclusion
# constraint, of fingerprints or of arrays of hashes, some of three scopes.  No near-duplicate
# is accepted, and no row is refused without a near row.  VACUUM runs meanwhile.
#
# SIMHASH_ROUNDS sets the number of rows for each session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $seed = random_seed();
my $rounds = $ENV{SIMHASH_ROUNDS} || 400;
my $node = index_node('exclude', conf => "autovacuum = off\ndeadlock_timeout = 100ms\n");

# Fingerprints around few centers, and arrays of few families, so that most are near others.
# No row is deleted, so at the end each refused row has a near one.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION some_bits(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
    SELECT flip(hashint8extended(i % 40, 0)::simhash, (hashint8extended(i, 2) & 7)::integer, i) $$;
CREATE FUNCTION some_hashes(i bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(hashint8extended(i % 40 * 100 + j, CASE WHEN hashint8extended(i, j) & 7 = 0 THEN i ELSE 0 END))
    FROM generate_series(1, 10 + hashint8extended(i, 0) & 15) AS j $$;
CREATE FUNCTION scoped(i bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT scoped_hashes(some_hashes(i / 3), i % 3) $$;
CREATE TABLE refused (how text, i bigint);
CREATE PROCEDURE insert_or_not(tab regclass, value text, seed bigint, n integer) LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        EXECUTE format('INSERT INTO %s SELECT %s($1) ON CONFLICT DO NOTHING', tab, value) USING i;
        GET DIAGNOSTICS added = ROW_COUNT;
        IF added = 0 THEN
            INSERT INTO refused VALUES (tab, i);
        END IF;
        COMMIT;
    END LOOP;
END $$;
-- Sessions can deadlock.  A cancelled session tries again only while no other one does.
-- Otherwise they could cancel each other without end.
CREATE PROCEDURE insert_or_fail(tab regclass, value text, seed bigint, n integer) LANGUAGE plpgsql AS $$
DECLARE
    i bigint := seed;
    deadlocks integer := 0;
    seen integer := 0;
BEGIN
    WHILE i < seed + n LOOP
        IF deadlocks > seen THEN
            PERFORM pg_advisory_xact_lock(1);
            seen := deadlocks;
        END IF;
        BEGIN
            EXECUTE format('INSERT INTO %s SELECT %s($1)', tab, value) USING i;
            i := i + 1;
        EXCEPTION
            WHEN exclusion_violation THEN
                INSERT INTO refused VALUES (tab, i);
                i := i + 1;
            WHEN deadlock_detected THEN
                deadlocks := deadlocks + 1;
        END;
        -- after a deadlock, too: others wait for the row before
        IF i % 2 = 0 OR deadlocks > seen THEN
            COMMIT;
        END IF;
    END LOOP;
    RAISE NOTICE '% deadlocks', deadlocks;
END $$;
SQL

my %kinds = (
	some_bits => [ 'simhash', 'simhash_ball(value, 3)', '<~>', 3 ],
	some_hashes => [ 'bigint[]', 'sketch_ball(value, 0.4)', '<%>', 0.4 ],
	scoped => [ 'bigint[]', 'sketch_ball(value, 0.4)', '<%>', 0.4 ]);
foreach my $kind (sort keys %kinds)
{
	foreach my $how (qw(insert_or_not insert_or_fail))
	{
		my $table = "${kind}_by_$how";
		my ($type, $ball, $distance, $radius) = @{ $kinds{$kind} };

		$node->safe_psql('postgres', "CREATE TABLE $table (value $type,
				CONSTRAINT ${table}_apart EXCLUDE USING simhash ($ball WITH =~=))");
		my @clients = map {
			my $first = $seed + 100_000 * $_;
			client($node, "CALL $how('$table', '$kind', $first, $rounds)")
		} 1 .. 8;
		$node->safe_psql('postgres', "VACUUM (INDEX_CLEANUP on) $table") while running(@clients);
		clients_ok(@clients);

		my $offered = 8 * $rounds;
		my ($in, $out) = split /\|/, $node->safe_psql('postgres',
			"SELECT (SELECT count(*) FROM $table), (SELECT count(*) FROM refused WHERE how = '$table')");
		is($in + $out, $offered, "$table: each row was accepted or refused ($in and $out)");
		cmp_ok($out, '>', 0, "$table: some were refused");
		is($node->safe_psql('postgres', "SELECT count(*) FROM $table AS a, $table AS b
			WHERE a.ctid < b.ctid AND (a.value $distance b.value) + 0 <= $radius"),
			'0', "$table: no two rows are near each other");
		is($node->safe_psql('postgres',
			"SELECT count(*) FROM refused AS r WHERE how = '$table' AND NOT EXISTS (SELECT FROM $table AS t
				WHERE (t.value $distance $kind(r.i)) + 0 <= $radius)"),
			'0', "$table: each refused row is near an accepted one");
		no_damage_ok($node, $table, "${table}_apart");
	}
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|found self tuple|terminated by signal/, 'nothing in the log');
$node->stop;
done_testing();
