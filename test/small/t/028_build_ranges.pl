# A build of rows that do not fit into memory divides them into ranges, and distributes the
# ranges to files (the test build does that with few rows).  All pages are those of a build
# in memory.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use FindBin;
use lib "$FindBin::RealBin/../../t";
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = index_node('ranges', conf => <<'CONF');
autovacuum = off
max_parallel_maintenance_workers = 0
log_temp_files = 0
CONF
my %data = (
	uniform => 'random_fp(i)',
	mixed => q[fp_of('mixed', i)],
	equal => q[simhash '0123456789abcdef'],
	NULL => 'CASE WHEN i % 10 = 0 THEN random_fp(i) END',
);

# Returns hashes of the pages of an index that was built with the given memory, without
# their LSNs and checksums.
sub pages_of_build
{
	my ($memory) = @_;
	my $path = $node->safe_psql('postgres', <<"SQL");
SET maintenance_work_mem = '$memory';
REINDEX INDEX docs_fp;
SELECT simhash_index_check('docs_fp', true);
CHECKPOINT;
SELECT pg_relation_filepath('docs_fp');
SQL
	$path =~ s/.*\n//s;
	return [ map { md5_hex(substr($_, 10)) } @{ read_pages($node, $path) } ];
}

foreach my $name (sort keys %data)
{
	$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS docs;
CREATE TABLE docs AS SELECT $data{$name} AS fp FROM generate_series(1, 120000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 2);
SQL
	my $log = -s $node->logfile;
	my $little = pages_of_build('1MB');
	my $files = () = slurp_file($node->logfile, $log) =~ /temporary file: path/g;
	cmp_ok($files, '>', 3, "$name: rows were distributed to files");
	is_deeply($little, pages_of_build('64MB'), "$name: the same pages as of a build in memory");
}

$node->stop;
done_testing();
