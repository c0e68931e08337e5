# Buffer hints (src/index/tree/buffer_hint.c) find pages that are read often without
# ReadBuffer.  They must neither lower the usage count of buffers nor hide hits from the
# statistics.  A page that is read often stays in shared buffers, whatever else is read.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Link the extension's objects again, so that the calls of ReadBuffer are counted.
chomp(my $compiler = `pg_config --cc`);
plan skip_all => "no compiler '$compiler'" if system("$compiler --version >/dev/null 2>&1") != 0;
my $sources = dirname(dirname(dirname(abs_path(__FILE__))));
my $build = PostgreSQL::Test::Utils::tempdir();
system('cp', '-a', (grep { -e } map { "$sources/$_" } qw(Makefile src .built-for)),
	"$sources/test/hook/count_reads.c", $build) == 0 or die 'cannot copy the sources';
system('find', $build, '-name', '*.o', '-exec', 'touch', '{}', '+') == 0 or die 'cannot touch the objects';
my @make = ('make', '-s', '-C', $build, 'with_llvm=no');
command_ok([ @make, 'count_reads.o' ], 'the counter compiles');
command_ok([ @make, "PG_LDFLAGS=-Wl,--wrap=ReadBuffer $build/count_reads.o", 'simhash.so' ],
	'the extension is linked with it');

# The settings allow so few buffers that the table does not fit.  Parallel workers would
# load the installed library.
my $node = index_node('hints', conf => <<'CONF');
autovacuum = off
shared_buffers = 2MB
max_parallel_maintenance_workers = 0
CONF

# The index of a temporary table has no hints, but the same pages.
$node->safe_psql('postgres', <<"SQL");
UPDATE pg_proc SET probin = '$build/simhash' WHERE probin LIKE '%/simhash';
CREATE FUNCTION read_buffer_calls() RETURNS bigint AS '$build/simhash' LANGUAGE C;
SQL
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs AS SELECT i AS id, fp_of(i) AS fp FROM generate_series(1, 200000::bigint) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- Search for one fingerprint, over and over, between random rows of a table.  Returns the
-- number of calls of ReadBuffer.
CREATE FUNCTION read_often(tab regclass, times integer) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    q simhash := (SELECT fp FROM docs WHERE ctid = '(500,3)');
    pages integer := pg_relation_size('docs') / current_setting('block_size')::integer;
    before bigint;
    n integer;
BEGIN
    ASSERT EXISTS (SELECT FROM plan(format('SELECT FROM %s WHERE fp <@ %L::simhash_ball', tab, simhash_ball(q, 2)),
                                    'Index Scan'));
    before := read_buffer_calls();
    FOR i IN 1 .. times LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE fp <@ simhash_ball($1, 2)', tab) INTO n USING q;
        ASSERT n > 0;
        PERFORM FROM docs WHERE ctid = format('(%s,1)', (hashint8(i) & 65535) % pages)::tid;
    END LOOP;
    RETURN read_buffer_calls() - before;
END $$;
SQL

# Searches so many times, after some searches.  Returns the calls of ReadBuffer, and the
# index's hits and reads in the statistics.  These are sent before they are read.
my $times = 5000;
sub searched
{
	my ($create, $table, $index) = @_;
	my $send = 'SELECT pg_stat_force_next_flush();';
	my $counts = "SELECT idx_blks_hit, idx_blks_read FROM pg_statio_all_indexes WHERE indexrelname = '$index';";
	my ($before, $calls, $after) = grep { /\d/ } split /\n/, $node->safe_psql('postgres', <<"SQL");
$create
SELECT WHERE read_often('$table', 10) IS NULL;
$send
$counts
SELECT read_often('$table', $times);
$send
$counts
SQL
	my ($hits_before, $reads_before) = split /\|/, $before;
	my ($hits, $reads) = split /\|/, $after;

	note("$table: $calls calls");
	return ($calls, $hits - $hits_before, $reads - $reads_before);
}

my ($calls, $hits, $reads) = searched('', 'docs', 'docs_fp');
my ($temp_calls, $temp_hits, $temp_reads) =
  searched('CREATE TEMP TABLE unhinted AS TABLE docs; CREATE INDEX unhinted_fp ON unhinted USING simhash (fp);',
	'unhinted', 'unhinted_fp');

# Each search reads at least a root and a leaf.
cmp_ok($temp_hits + $temp_reads, '>=', 2 * $times, 'the searches read pages');
cmp_ok($temp_calls, '>=', $temp_hits + $temp_reads, 'without hints ReadBuffer finds each page');
is($hits + $reads, $temp_hits + $temp_reads, 'the statistics count as many hits and reads with hints');
cmp_ok($calls, '<', $temp_calls / 40, 'hints find pages without ReadBuffer');
cmp_ok($reads, '<', $times / 250, "pages that are read often stay in shared buffers ($reads reads)");

no_crash_ok($node);
$node->stop;
done_testing();
