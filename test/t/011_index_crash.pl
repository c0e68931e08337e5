# The server is killed during insertions, vacuum and index builds.  After the restart
# the index has the rows of the table.
#
# SIMHASH_ROUNDS sets the number of crashes.  SIMHASH_SPLITS sets the number of
# positions within a split at which recovery ends.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $seed = random_seed();
my $rounds = $ENV{SIMHASH_ROUNDS} || 8;
my $node = index_node('crash', streaming => 1, conf => <<'CONF');
autovacuum = off
max_prepared_transactions = 10
checkpoint_timeout = 30s
wal_consistency_checking = 'generic'
wal_writer_delay = 10ms
wal_writer_flush_after = 0
max_wal_size = 2GB
wal_keep_size = 512MB
CONF

# Waits until a condition is true.
sub wait_for
{
	my ($condition) = @_;

	$node->poll_query_until('postgres', "SELECT $condition") or die "never came true: $condition";
}

# --- inserts, deletes and vacuum -------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, fp simhash);
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 3000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_9 ON docs USING simhash (fp) WITH (blocks = 9);
CREATE INDEX docs_fp_5_2 ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE UNLOGGED TABLE lost (id bigserial, fp simhash);
CREATE INDEX lost_fp ON lost USING simhash (fp) WITH (blocks = 3);
INSERT INTO lost (fp) SELECT fp_of(i) FROM generate_series(1, 3000) AS i;
CREATE PROCEDURE write(seed bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('simhash.generic_wal', (hashint8extended(seed, 7) % 2 = 0)::text, false);
    FOR i IN seed .. seed + 10000000 LOOP
        INSERT INTO docs (fp) SELECT fp_of(i::bigint * 7 + j) FROM generate_series(1, 5) AS j;
        IF i % 11 = 0 THEN
            INSERT INTO docs (fp) SELECT '0123456789abcdef' FROM generate_series(1, 60);
        ELSIF i % 13 = 0 THEN
            DELETE FROM docs WHERE id IN (SELECT id FROM docs WHERE id % 199 = i % 199 FOR UPDATE SKIP LOCKED);
        ELSIF i % 17 = 0 THEN
            INSERT INTO docs (fp) SELECT fp_of(j) FROM generate_series(i, i + 30) AS j;
            ROLLBACK;
        END IF;
        COMMIT;
    END LOOP;
END $$;
SQL
my $written = 0;
for my $round (1 .. $rounds)
{
	my $name = "round $round";

	# In half of the rounds the WAL may end anywhere, not only at the end of a transaction.
	my $commit = $round % 2 ? 'off' : 'on';

	my @clients = map { client($node, "SET synchronous_commit = $commit",
			"CALL write(" . ($_ * 100_000_000 + $round * 1_000_000 + $seed % 1_000_000) . ")") } 1 .. 3;
	push @clients, client($node, ('VACUUM docs') x 500) if $round % 4 < 2;
	usleep(100_000 + int(rand(900_000)));
	$node->safe_psql('postgres', 'CHECKPOINT') if $round % 3 == 0;
	usleep(int(rand(300_000)));
	# on a busy machine it takes time until the first rows are written and flushed
	wait_for("last_value > $written FROM docs_id_seq");
	my $lsn = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	wait_for("pg_current_wal_flush_lsn() >= '$lsn'");
	kill_and_start($node, $name, @clients);
	sound_ok($node, 'docs', $name, times => 30);
	my $last = $node->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
	cmp_ok($last, '>', $written, "$name: something was written");
	$written = $last;
	note($node->safe_psql('postgres',
		q{SELECT count(*) || ' rows, ' || pg_relation_size('docs_fp') || ' bytes' FROM docs}));

	# later writers finish the incomplete operations of the crash
	if ($round % 3 == 0)
	{
		$node->safe_psql('postgres',
			'INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 3000) AS i; VACUUM docs');
		sound_ok($node, 'docs', "$name, written again", times => 30);
	}
}

# --- an unlogged index is empty and usable -----------------------------------------

is($node->safe_psql('postgres',
	'SET enable_seqscan = off; SELECT count(*) FROM lost WHERE fp <@ \'(0123456789abcdef,64)\''),
	'0', 'unlogged: no row is left');
no_damage_ok($node, 'unlogged, empty', 'lost_fp');
$node->safe_psql('postgres', 'INSERT INTO lost (fp) SELECT fp_of(i) FROM generate_series(1, 3000) AS i');
sound_ok($node, 'lost', 'unlogged, filled again');

# --- prepared transactions -----------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
BEGIN;
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 2000) AS i;
PREPARE TRANSACTION 'kept';
BEGIN;
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(2001, 4000) AS i;
DELETE FROM docs WHERE id % 3 = 0;
PREPARE TRANSACTION 'given up';
SQL
kill_and_start($node, 'prepared');
sound_ok($node, 'docs', 'prepared');
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept'});
same_rows_ok($node, 'docs', 'one committed');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'given up'});
same_rows_ok($node, 'docs', 'one rolled back');
$node->safe_psql('postgres', 'VACUUM docs');
sound_ok($node, 'docs', 'vacuumed');

# --- builds ------------------------------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large AS SELECT i AS id, hashint8extended(i, 0)::simhash AS fp FROM generate_series(1, 300000) AS i;
INSERT INTO large SELECT i, fp_of(i) FROM generate_series(400001, 405000) AS i;
SQL
for my $round (1 .. 3)
{
	my $build = client($node, "SET maintenance_work_mem = '1MB'",
		'CREATE INDEX ' . ($round < 3 ? '' : 'CONCURRENTLY') . ' large_fp ON large USING simhash (fp)');
	wait_for(q{EXISTS (SELECT FROM pg_stat_progress_create_index) OR to_regclass('large_fp') IS NOT NULL});
	usleep(int(rand(500_000)));
	kill_and_start($node, "build $round", $build);
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS large_fp');
}
# This index is complete and has three levels, but only the WAL contains it.
$node->safe_psql('postgres', <<'SQL');
CHECKPOINT;
CREATE INDEX large_fp ON large USING simhash (fp) WITH (blocks = 2);
INSERT INTO large SELECT i, fp_of(i) FROM generate_series(500001, 502000) AS i;
SQL
kill_and_start($node, 'built');
sound_ok($node, 'large', 'built', times => 12);
$node->safe_psql('postgres', 'INSERT INTO large SELECT i, fp_of(i) FROM generate_series(600001, 602000) AS i');
sound_ok($node, 'large', 'built and written', times => 12);

# --- the WAL ends within a split ---------------------------------------------------------

# A split is more than one WAL record.  Recovery stops after a record that has two pages
# or more, including a new one.  Later writers finish the split.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE split (id integer, fp simhash);
INSERT INTO split SELECT i, fp_of(i) FROM generate_series(1, 4000) AS i;
CREATE INDEX split_fp ON split USING simhash (fp) WITH (blocks = 3, nested = 2);
SQL
$node->backup('before');
my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', <<'SQL');
SET wal_consistency_checking = '';
INSERT INTO split SELECT i, fp_of(i) FROM generate_series(4001, 12000) AS i;
INSERT INTO split SELECT i, '0123456789abcdef' FROM generate_series(12001, 15000) AS i;
SQL
my @splits = map { $_->{lsn} }
  grep { $_->{shown} =~ /blkref #0: [^,;]*blk \d+,? *;? *blkref #1: .*FPW/ } generic_records($node, $from);
cmp_ok(scalar @splits, '>', 20, scalar(@splits) . ' splits in the WAL');
foreach my $n (1 .. ($ENV{SIMHASH_SPLITS} || 3))
{
	my $lsn = $splits[ int(rand(scalar @splits)) ];
	my $restored = recovered_to($node, 'before', $lsn);

	sound_ok($restored, 'split', "log up to $lsn", times => 30);
	$restored->safe_psql('postgres', 'INSERT INTO split SELECT i, fp_of(i) FROM generate_series(20001, 30000) AS i');
	sound_ok($restored, 'split', "log up to $lsn, written again", times => 30);
	no_crash_ok($restored);
	$restored->stop('immediate');
}

no_crash_ok($node);
$node->stop;
done_testing();
