# Recovery ends after different WAL records while pages are merged, freed and reused,
# and servers are killed at random times.  Afterwards the index has the rows of the
# table, accepts more, and has lost no page.
#
# SIMHASH_STOPS sets the number of records at which recovery ends; `all` means each.
# SIMHASH_ROUNDS sets the number of kills.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t";
use IndexLoad;
use IndexTest;
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $stops = $ENV{SIMHASH_STOPS} || 10;
my $rounds = $ENV{SIMHASH_ROUNDS} || 4;
my $node = index_node('crash', streaming => 1, conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
wal_keep_size = 1GB
max_wal_size = 2GB
CONF

sub nothing_lost_ok
{
	my ($on, $name, $table, %how) = @_;

	sound_ok($on, $table, $name, times => 20, %how);
	no_lost_pages_ok($on, $name, "${table}_fp");
}

# --- recovery ends after a record -----------------------------------------------------

# Merges from almost full trees to almost empty ones, and refills, in each order of the
# keys.
my @stretch = (
	'DELETE FROM docs WHERE id % 8 <> 0', 'VACUUM docs',
	'INSERT INTO docs SELECT i, NULL FROM generate_series(10001, 10200) AS i',
	'DELETE FROM docs WHERE id > 10000', 'VACUUM docs',
	'INSERT INTO docs SELECT i, fp_of(i) FROM generate_series(20001, 20300) AS i',
	q{INSERT INTO docs SELECT i, '0123456789abcdef' FROM generate_series(30001, 30200) AS i},
	'INSERT INTO docs SELECT i, (i << 44)::simhash FROM generate_series(1, 200::bigint) AS i',
	'DELETE FROM docs WHERE id BETWEEN 2 AND 25000 AND id % 11 <> 0', 'VACUUM docs',
	'DELETE FROM docs', 'VACUUM docs',
	'INSERT INTO docs SELECT i, fp_of(i) FROM generate_series(40001, 40300) AS i');

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigint, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 2);
INSERT INTO docs SELECT i, fp_of(i) FROM generate_series(1, 800) AS i;
SQL
$node->backup('before');
my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', $_) foreach @stretch;
my @records = generic_records($node, $from);

# A merge record has four blocks, including the metapage.  The state after other records
# is rarely special.
my @merges = grep { @{ $_->{blocks} } == 4 && grep { $_ == 0 } @{ $_->{blocks} } } @records;
my @chosen = @records;
if ($stops ne 'all')
{
	@chosen = shuffle(grep { @{ $_->{blocks} } > 1 } @records);
	$#chosen = $stops - 1 if @chosen > $stops;
}
cmp_ok(scalar @merges, '>', 50, scalar(@merges) . ' merges in ' . scalar(@records) . ' records');
foreach my $record (@chosen)
{
	my $name = "log up to $record->{lsn}, of blocks @{ $record->{blocks} }";
	my $restored = recovered_to($node, 'before', $record->{lsn});

	nothing_lost_ok($restored, $name, 'docs', may_be_empty => 1);
	$restored->safe_psql('postgres', $_) foreach @stretch[ -6 .. -1 ];
	nothing_lost_ok($restored, "$name, written", 'docs');
	unlike(slurp_file($restored->logfile), qr/ERROR|PANIC|TRAP|inconsistent page|terminated by signal/,
		"$name: nothing wrong");
	$restored->stop('immediate');
	$restored->clean_node;
}

# --- the server is killed ----------------------------------------------------------------

install_load($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE churned (id bigserial, fp simhash);
CREATE INDEX churned_fp ON churned USING simhash (fp);
CREATE INDEX ON churned USING btree (id);
SQL
foreach my $round (1 .. $rounds)
{
	my @running = (
		(map { client($node,
			"SET synchronous_commit = off",
			"CALL write('churned', $seed + $_ * 1000000000::bigint + $round * 1000000, 2000)") } 1 .. 3),
		client($node, ('VACUUM churned') x 10000));
	my $lsn = $node->safe_psql('postgres',
		'SELECT pg_current_wal_insert_lsn() + ' . (2_000_000 + int(rand(8_000_000))));

	$node->poll_query_until('postgres', "SELECT pg_current_wal_flush_lsn() > '$lsn'") or die 'nothing is written';
	kill_and_start($node, "round $round", @running);
	nothing_lost_ok($node, "killed, round $round", 'churned');
	$node->safe_psql('postgres', 'VACUUM churned');
	nothing_lost_ok($node, "killed, round $round, vacuumed", 'churned');
}
cmp_ok(free_pages($node, 'churned_fp'), '>', 0, 'pages are free');
no_crash_ok($node);
$node->stop;
done_testing();
