# Two sessions write, two compare the index with the table inside one snapshot, one
# vacuums.  The test runs for SIMHASH_SECONDS, and until each type of read has run.  It
# expects no error, no deadlock, no missing or surplus row, and no row out of order in
# an ordered scan.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $seconds = seconds(12);
my $node = index_node('concurrent', conf => "autovacuum = off\ndeadlock_timeout = 100ms\nlog_lock_waits = on\n");

install_load($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, fp simhash);
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 20000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_3 ON docs USING simhash (fp) WITH (blocks = 3);
CREATE INDEX docs_fp_5_2 ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE INDEX ON docs USING btree (id);
SQL

my $until = $node->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my @writers = map { client($node, "CALL write('docs', $seed + $_ * 1000000000::bigint, 40000)") } 1, 2;
my @readers = map { client($node, "CALL read('docs', $seed + $_ * 1000000, 5, '$until')") } 1, 2;
my $vacuums = 0;
while (running(@readers))
{
	$node->safe_psql('postgres', 'VACUUM docs');
	$vacuums++;
}
note("$vacuums times vacuumed");
$node->safe_psql('postgres', 'DELETE FROM load');
clients_ok(@readers, @writers);
unlike(slurp_file($node->logfile), qr/(ERROR|FATAL|PANIC|deadlock detected)/, 'nothing went wrong');

for my $round ('after the load', 'after another vacuum')
{
	sound_ok($node, 'docs', $round, times => 30);
	$node->safe_psql('postgres', 'VACUUM docs');
}
note($node->safe_psql('postgres',
	q{SELECT count(*) || ' rows, ' || pg_relation_size('docs_fp') || ' bytes' FROM docs}));
$node->stop;
done_testing();
