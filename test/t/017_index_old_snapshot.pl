# With old_snapshot_threshold (up to 16) vacuum may remove rows that an old snapshot
# still sees.  A scan with an old snapshot that reads a changed leaf raises an error,
# instead of a result with missing rows.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = index_node('old_snapshot', conf => "autovacuum = off\n");

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'old_snapshot_threshold'}) eq '0')
{
	$node->stop;
	plan skip_all => 'this release has no old_snapshot_threshold';
}
$node->append_conf('postgresql.conf', "old_snapshot_threshold = 0\n");
$node->restart;
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id integer, fp simhash);
INSERT INTO docs SELECT i, CASE WHEN i % 10 > 0 THEN '0123456789abcdef'::simhash END FROM generate_series(1, 500) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE TABLE pruned AS SELECT i AS id FROM generate_series(1, 1000) AS i;
SQL

# The rows are on heap pages that do not change, so that only the index can detect this.
my %query = (
	'an index scan' => q{SET LOCAL enable_bitmapscan = off; SELECT count(*) FROM docs WHERE fp = '0123456789abcdef'},
	'a bitmap scan' => q{SET LOCAL enable_indexscan = off; SELECT count(*) FROM docs WHERE fp = '0123456789abcdef'},
	'a scan of NULLs' => q{SELECT count(*) FROM (SELECT id FROM docs WHERE fp IS NULL LIMIT 1) AS s},
	'the nearest first' =>
		q{SELECT count(*) FROM (SELECT id FROM docs ORDER BY fp <~> '0123456789abcdef' LIMIT 1) AS s});
my %session;
foreach my $name (sort keys %query)
{
	$session{$name} = $node->background_psql('postgres', on_error_stop => 0);
	$session{$name}->query_safe('SET enable_seqscan = off; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
}

# A snapshot is old after five seconds, whatever the threshold, when PostgreSQL reads a
# page that it may prune.
$node->safe_psql('postgres', <<'SQL');
SELECT pg_sleep(6);
INSERT INTO docs
SELECT i, CASE WHEN i % 10 > 0 THEN 'fedcba9876543210'::simhash END FROM generate_series(501, 1000) AS i;
UPDATE pruned SET id = -id;
SELECT count(*) FROM pruned;
SQL
foreach my $name (sort keys %query)
{
	my ($out, $failed) = $session{$name}->query($query{$name});

	like($session{$name}->{stderr}, qr/ERROR:  snapshot too old/, "$name finds its snapshot too old") or diag($out);
	$session{$name}->{stderr} = '';
	$session{$name}->quit;
}
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM docs WHERE fp = '0123456789abcdef'}),
	'450', 'a new snapshot is not');
sound_ok($node, 'docs', 'after all', times => 10);
$node->stop;
done_testing();
