# A parallel CREATE INDEX keeps the rows that it has found in temporary files.  One that
# ends too early, behind the server's back, ends the build with an error.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $node = index_node('spool', conf => "autovacuum = off\n");

# The leader does not come past its first row as long as the test holds the lock; the
# worker scans all other pages meanwhile, and waits.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (fp simhash) WITH (parallel_workers = 1);
INSERT INTO docs SELECT hashint8extended(i, 0)::simhash FROM generate_series(1, 20000) AS i;
CREATE FUNCTION wait_in_leader(fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF current_setting('test.leader', true) = pg_backend_pid()::text THEN
        PERFORM pg_advisory_lock_shared(1);
    END IF;
    RETURN fp;
END $$;
SQL
my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1)');
my $build = $node->background_psql('postgres', on_error_stop => 0);
$build->query_safe(q{SELECT set_config('test.leader', pg_backend_pid()::text, false)});
$build->query_until(qr/begun/, "\\echo begun\nCREATE INDEX docs_fp ON docs USING simhash (wait_in_leader(fp));\n");
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'ParallelCreateIndexScan'}),
	'the worker has scanned its share');
my @files = grep { -s } glob($node->data_dir . '/base/pgsql_tmp/*/rows.*');
is(scalar @files, 1, 'and written a file');
truncate($files[0], (-s $files[0]) / 2);
$lock->quit;
$build->query('SELECT 1');
like($build->{stderr}, qr/ERROR:  .*temporary file/, 'a build whose file was truncated fails');
$build->{stderr} = '';
is($build->query('CREATE INDEX docs_fp ON docs USING simhash (fp); SELECT 2'), '2', 'the next one does not');
$build->quit;
no_damage_ok($node, 'built', 'docs_fp');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing else in the log');
$node->stop;
done_testing();
