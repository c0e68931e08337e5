# Thousands of pages are merged and reused while sessions write, read and check, and an
# index is built and rebuilt concurrently.  A standby compares each page that it replays
# with the primary's.  The test expects no error, no missing or surplus row, no false
# alarm, and no lost page.
#
# SIMHASH_SECONDS sets the minimum time for the readers.

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
my $seconds = seconds(0);
my $rows = 4000;
my @indexes = qw(docs_fp docs_fp_3 docs_fp_5_2 side_fp once_fp_excl);
my $primary = index_node('primary', streaming => 1, conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
deadlock_timeout = 100ms
max_connections = 30
max_wal_size = 2GB
CONF

install_load($primary);
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE docs (id bigserial, fp simhash);
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, $rows) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_3 ON docs USING simhash (fp) WITH (blocks = 3);
CREATE INDEX docs_fp_5_2 ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE INDEX ON docs USING btree (id);
CREATE TABLE side (LIKE docs INCLUDING DEFAULTS);
INSERT INTO side TABLE docs;
CREATE INDEX side_fp ON side USING simhash (fp) WITH (blocks = 2);
CREATE INDEX ON side USING btree (id);
CREATE TABLE once (id bigserial, fp simhash, EXCLUDE USING simhash (fp WITH =));

-- The constraint's scans keep pins, and check rows of uncommitted transactions.  The order
-- of the rows prevents deadlocks of sessions that wait for each other's rows.
CREATE PROCEDURE insert_once(seed bigint) LANGUAGE plpgsql AS \$\$
DECLARE
    i bigint := seed;
BEGIN
    WHILE EXISTS (SELECT FROM load) LOOP
        i := i + 1;
        INSERT INTO once (fp) SELECT hashint8extended(fp_of(j % 3000)::bigint, 0)::simhash
            FROM generate_series(i * 7, i * 7 + 5) AS j ORDER BY 1 ON CONFLICT DO NOTHING;
        COMMIT;
        IF i % 20 = 0 THEN
            DELETE FROM once WHERE ctid = ANY (ARRAY(SELECT ctid FROM once WHERE id % 5 < 4 FOR UPDATE SKIP LOCKED));
            COMMIT;
        END IF;
    END LOOP;
END \$\$;
SQL
my $standby = standby_of($primary, conf => "hot_standby_feedback = off\n");

# Numbers of pages merged so far, from the output of vacuum.
my %merged = map { $_ => 0 } @indexes;

sub vacuum
{
	my ($table) = @_;
	my $said;

	$primary->psql('postgres', "VACUUM (VERBOSE, INDEX_CLEANUP on, TRUNCATE off) $table", stderr => \$said);
	while ($said =~ /index "(\w+)": pages: \d+ in total, (\d+) newly deleted/g)
	{
		$merged{$1} += $2 if exists $merged{$1};
	}
	die $said if $said =~ /ERROR|FATAL|PANIC/;
}

my $until = $primary->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my @readers = (
	client($primary, "CALL read('docs', $seed, 20, '$until')"),
	client($primary, "CALL read('side', $seed + 1000000, 20, '$until')"),
	client($standby, "CALL read('docs', $seed + 2000000, 20, '$until')"));
my @others = (
	(map { client($primary, "CALL write('docs', $seed + $_ * 1000000000::bigint, $rows)") } 1, 2),
	client($primary, "CALL write('side', $seed + 3000000000, $rows)"),
	(map { client($primary, "CALL insert_once($seed + $_)") } 1, 2),
	client($primary, "CALL check_index('docs_fp')"),
	client($standby, "CALL check_index('docs_fp_5_2')"));
# Statements that build a new index, and rebuild an old one.
my @builds = (
	'CREATE INDEX CONCURRENTLY side_fp_3 ON side USING simhash (fp) WITH (blocks = 3)',
	q{SELECT simhash_index_check('side_fp_3', true)},
	'VACUUM side',
	'DROP INDEX side_fp_3',
	'REINDEX INDEX CONCURRENTLY side_fp',
	q{SELECT simhash_index_check('side_fp', true)},
	'VACUUM side');
my $builder = client($primary, @builds);
my $vacuums = 0;

while (running(@readers))
{
	vacuum($_) foreach qw(docs once);
	$primary->safe_psql('postgres', 'CHECKPOINT') if ++$vacuums % 20 == 0;
	if (!running($builder))
	{
		clients_ok($builder);
		$builder = client($primary, @builds);
	}
}
$primary->safe_psql('postgres', 'DELETE FROM load');
clients_ok(@readers, @others, $builder);
note("$vacuums times vacuumed");

$primary->wait_for_catchup($standby);
is($primary->safe_psql('postgres', 'SELECT count(fp) - count(DISTINCT fp) FROM once'), '0',
	'the exclusion constraint holds');
foreach my $round ('after the load', 'vacuumed')
{
	foreach my $node ($primary, $standby)
	{
		my $name = $node->name . " $round";

		same_rows_ok($node, $_, $name, times => 30) foreach qw(docs side once);
		no_damage_ok($node, $name, @indexes);
		no_lost_pages_ok($node, $name, @indexes);
	}
	vacuum($_) foreach qw(docs side once);
	$primary->wait_for_catchup($standby);
}

my $merged = 0;
foreach my $index (sort keys %merged)
{
	note($primary->safe_psql('postgres', "SELECT pg_relation_size('$index') / current_setting('block_size')::integer") .
		  " pages of $index, " . free_pages($primary, $index) . " free, $merged{$index} were merged");
	$merged += $merged{$index};
}
cmp_ok($merged, '>', 1000, 'pages were merged by the thousand');

foreach my $node ($primary, $standby)
{
	unlike(slurp_file($node->logfile), qr/ERROR|FATAL|PANIC|TRAP|deadlock|inconsistent page|terminated by signal/,
		'nothing went wrong in ' . $node->name);
}
$standby->stop;
$primary->stop;
done_testing();
