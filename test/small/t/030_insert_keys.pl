# Sessions insert rows with several keys while other sessions split the leaves of these
# keys, vacuum merges leaves, and servers are killed at random times.  Insertions often
# pause between two leaves, and vacuum is slow between leaves.  The test expects no
# deadlock, and that the index has the rows of the table.
#
# SIMHASH_ROUNDS sets the number of kills.  SIMHASH_SECONDS sets the minimum time for
# the readers before that.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t";
use IndexLoad;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $rounds = $ENV{SIMHASH_ROUNDS} || 4;
my $seconds = seconds(0);
my $node = index_node('keys', conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
max_wal_size = 2GB
vacuum_cost_delay = 0.1
vacuum_cost_limit = 30
CONF

# Creates functions:
# keys_of: many consecutive numbers, more than two leaves hold; the same as of other
# rows; few of a thousand; and of all numbers.
# differing_keys: the missing and surplus rows of the index, in one snapshot.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, sk bigint[]);
CREATE INDEX docs_sk ON docs USING simhash (sk);
CREATE INDEX ON docs USING btree (id);

CREATE FUNCTION keys_of(i bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE hashint8extended(i, 1) & 15
        WHEN 0 THEN NULL
        WHEN 1 THEN '{}'
        WHEN 2 THEN ARRAY(SELECT j + (hashint8extended(i, 2) & 1023) FROM generate_series(1, 40) AS j)
        WHEN 3 THEN ARRAY(SELECT j * 7 FROM generate_series(1, 18) AS j)
        WHEN 4 THEN ARRAY(SELECT j * 100 FROM generate_series(1, 9) AS j)
        WHEN 5 THEN ARRAY[hashint8extended(i, 2) & 1023]
        WHEN 6 THEN ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, 18) AS j)
        ELSE ARRAY(SELECT hashint8extended(j, i) & 1023 FROM generate_series(1, 1 + (hashint8extended(i, 3) & 15)) AS j)
        END $$;

CREATE FUNCTION differing_keys(seed bigint, times integer, OUT rows bigint, OUT differing bigint) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    once record;
    i bigint;
    q bigint[];
BEGIN
    SELECT * INTO rows, differing
    FROM differing('SELECT ctid FROM docs WHERE sk IS NULL', 'SELECT ctid FROM docs WHERE num_nulls(sk) = 1');
    FOR j IN 1 .. times LOOP
        i := seed + j;
        PERFORM set_config('enable_indexscan', (i % 2 = 0)::text, true),
                set_config('enable_bitmapscan', (i % 2 = 1)::text, true);
        q := coalesce(keys_of(i), '{}') || (hashint8extended(i, 5) & 1023);
        FOR once IN SELECT d.* FROM (VALUES
            (format('sk && %L', q), format('sk || ''{}'' && %L', q)),
            (format('sk @> %L', q[1:i % 5 + 1]), format('sk || ''{}'' @> %L', q[1:i % 5 + 1])),
            (format('sk <@ %L', q), format('(sk <@ %L) IS TRUE', q)),
            (format('sk <%%>> %L <= %s', q, i % 9 / 10.0), format('(sk <%%>> %L) + 0 <= %s', q, i % 9 / 10.0))
            ) AS v (by_index, by_eye), differing('SELECT ctid, sk FROM docs WHERE ' || by_index,
                                                 'SELECT ctid, sk FROM docs WHERE ' || by_eye) AS d
        LOOP
            rows := rows + once.rows;
            differing := differing + once.differing;
        END LOOP;
    END LOOP;
END $$;

-- Open and close the gate at which sessions pause.
CREATE PROCEDURE open_and_close() LANGUAGE plpgsql AS $$
BEGIN
    WHILE EXISTS (SELECT FROM load) LOOP
        PERFORM pg_advisory_lock(19), pg_sleep(0.005);
        PERFORM pg_advisory_unlock(19);
        COMMIT;
    END LOOP;
END $$;
SQL
install_load($node, column => 'sk', of => 'keys_of', compare => 'differing_keys(i * 5, 5)', pauses => 1);

sub nothing_lost_ok
{
	my ($name) = @_;

	my ($rows, $differing) = split /\|/, $node->safe_psql('postgres', "SELECT * FROM differing_keys($seed, 40)");

	is($differing, '0', "$name: rows of the index are those of the table");
	cmp_ok($rows, '>', 0, "$name: $rows rows were compared");
	no_damage_ok($node, $name, 'docs_sk');
	no_lost_pages_ok($node, $name, 'docs_sk');
}

# Starts the sessions that write, and the one that opens the gate.  They end when there
# is no load or no server.
my $loads = 0;
sub load
{
	my $first = $seed + ++$loads * 1_000_000_000;

	return (
		(map { client($node,
			'SET synchronous_commit = off',
			"CALL write('docs', " . ($first + $_ * 100_000_000) . ", 700)") } 1 .. 4),
		client($node, 'CALL open_and_close()'));
}

my $vacuum = 'VACUUM (VERBOSE, INDEX_CLEANUP on, TRUNCATE off) docs';
my $merged = 0;

# Runs VACUUM.  Counts the merged pages, from its output.  The writers may insert about 5000
# rows before the next call.  Without this limit, each VACUUM on a busy machine finds several
# times as many dead rows as the one before, and takes as much longer.  The index then grows
# to many GB.
sub vacuum
{
	my $said;

	$node->psql('postgres', "UPDATE load SET max_id = (SELECT last_value + 5000 FROM docs_id_seq); $vacuum",
		stderr => \$said);
	$merged += $1 while $said =~ /index "docs_sk": pages: \d+ in total, (\d+) newly deleted/g;
	die $said if $said =~ /ERROR|FATAL|PANIC/;
}

# --- WAL records of an insertion ---------------------------------------------------------

# Returns the number of blocks in each WAL record of one row's insertion.
sub logged_of
{
	my ($keys) = @_;
	my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');

	$node->safe_psql('postgres', "INSERT INTO docs (sk) VALUES (ARRAY($keys))");
	return join(' ', map { scalar @{ $_->{blocks} } } generic_records($node, $from));
}

# New leaves have space for two keys.
$node->safe_psql('postgres',
	'INSERT INTO docs (sk) SELECT ARRAY[i] FROM generate_series(1, 1000::bigint) AS i; REINDEX INDEX docs_sk');
is(logged_of('SELECT 20 * i FROM generate_series(1, 18) AS i'), '4 4 4 4 2', 'leaves of a row are logged four by four');
is(logged_of('SELECT 501 + i FROM generate_series(0, 1) AS i'), '1', 'keys on one leaf are logged together');
is(logged_of('SELECT 601 + i / 2 * 20 + i % 2 FROM generate_series(0, 7) AS i'), '4', 'and those on several leaves');

# --- readers ----------------------------------------------------------------------------

my $until = $node->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my $reader = client($node, "CALL read('docs', $seed, 20, '$until')");
my @others = (load(), client($node, "CALL check_index('docs_sk')"));
while (running($reader))
{
	vacuum();
}
$node->safe_psql('postgres', 'DELETE FROM load');
clients_ok($reader, @others);
nothing_lost_ok('after the load');

# --- the server is killed ----------------------------------------------------------------

$node->safe_psql('postgres', 'INSERT INTO load VALUES (true)');
foreach my $round (1 .. $rounds)
{
	my @running = (load(), client($node, ($vacuum) x 10000));
	my $lsn = $node->safe_psql('postgres',
		'SELECT pg_current_wal_insert_lsn() + ' . (2_000_000 + int(rand(8_000_000))));

	$node->poll_query_until('postgres', "SELECT pg_current_wal_flush_lsn() > '$lsn'") or die 'nothing is written';
	kill_and_start($node, "round $round", @running);
	nothing_lost_ok("killed, round $round");
	$node->safe_psql('postgres', 'VACUUM docs');
	nothing_lost_ok("killed, round $round, vacuumed");
}
cmp_ok(free_pages($node, 'docs_sk'), '>', 0, 'pages are free');
cmp_ok($merged, '>', 100, "$merged pages were merged under the load");
no_crash_ok($node);
$node->stop;
done_testing();
