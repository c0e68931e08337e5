# CREATE INDEX writes keys and TIDs to temporary files: a parallel build always, a
# serial one if they do not fit into memory.  A truncated file makes the build fail, as
# temp_file_limit does, and no file remains.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = index_node('spool', conf => "autovacuum = off\nlog_temp_files = 0\n");

# Returns the temporary files.  Those of parallel builds are in directories of their
# own.
sub temporary_files
{
	my $dir = $node->data_dir . '/base/pgsql_tmp';

	return grep { -f } glob("$dir/* $dir/*/*");
}

# The leader waits at its first row as long as the test holds lock 1.  The worker scans
# all other pages meanwhile, and waits.  It begins when the test releases lock 2.
# Otherwise it could scan all pages before the leader begins.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (fp simhash) WITH (parallel_workers = 1);
INSERT INTO docs SELECT hashint8extended(i, 0)::simhash FROM generate_series(1, 20000) AS i;
CREATE FUNCTION wait_in_leader(fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(CASE current_setting('test.leader') WHEN pg_backend_pid()::text THEN 1 ELSE 2 END);
    RETURN fp;
END $$;
SQL
my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1), pg_advisory_lock(2)');
my $build = $node->background_psql('postgres', on_error_stop => 0);
$build->query_safe(q{SELECT set_config('test.leader', pg_backend_pid()::text, false)});
$build->query_until(qr/begun/, "\\echo begun\nCREATE INDEX docs_fp ON docs USING simhash (wait_in_leader(fp));\n");
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
	'the leader and the worker are at their first rows');
$lock->query_safe('SELECT pg_advisory_unlock(2)');
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE backend_type = 'parallel worker' AND wait_event = 'ParallelCreateIndexScan'}),
	'the worker has scanned its part');
my @files = grep { -s } glob($node->data_dir . '/base/pgsql_tmp/*/keys.*');
is(scalar @files, 1, 'and written a file');
truncate($files[0], (-s $files[0]) / 2);
$lock->quit;
$build->query('SELECT 1');
like(
	$build->{stderr},
	qr/ERROR:  (temporary file ends too early|could not read from file set)/,
	'a build whose file was truncated fails');
is(scalar temporary_files(), 0, 'and removes its files');
$build->{stderr} = '';
is($build->query('CREATE INDEX docs_fp ON docs USING simhash (fp); SELECT 2'), '2', 'the next one does not');
no_damage_ok($node, 'built', 'docs_fp');

# A serial build writes rows that do not fit into memory to a file, too, here 6 MB.  For
# each tree it writes as much again to files, of a few ranges each.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE many (fp simhash) WITH (parallel_workers = 0);
INSERT INTO many SELECT hashint8extended(i, 0)::simhash FROM generate_series(1, 400000) AS i;
SQL
$build->query_safe("SET maintenance_work_mem = '1MB'");
foreach my $limit (4, 10)
{
	$build->{stderr} = '';
	$build->query("SET temp_file_limit = '${limit}MB'; CREATE INDEX many_fp ON many USING simhash (fp); SELECT 1");
	like($build->{stderr}, qr/ERROR:  temporary file size exceeds "?temp_file_limit/,
		"$limit MB of files are not enough");
	is(scalar temporary_files(), 0, 'no file remains');
}
$build->{stderr} = '';
my $before = -s $node->logfile;
is($build->query("SET temp_file_limit = '14MB'; CREATE INDEX many_fp ON many USING simhash (fp); SELECT 3"), '3',
	'14 MB are');
my @sizes = slurp_file($node->logfile, $before) =~ /temporary file: .*, size (\d+)/g;
is((sort { $b <=> $a } @sizes)[0], 400000 * 16, 'all rows were in a file');
cmp_ok(scalar @sizes, '>', 4 * 4, 'and for each tree in those of its ranges');
no_damage_ok($node, 'built from files', 'many_fp');
$build->quit;
no_crash_ok($node);
$node->stop;
done_testing();
