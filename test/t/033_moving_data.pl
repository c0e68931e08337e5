# Data that moves to another database or server has the same rows, and its indexes return
# those of sequential scans: dumps, logical replication, and standbys, also one that has no
# library.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tests = "$FindBin::RealBin/..";
my $conf = "max_worker_processes = 20\nautovacuum = off\n";
my $origin = index_node('origin', streaming => 'logical', conf => $conf);
my @connection = ('-h', $origin->host, '-p', $origin->port);
my $dumps = $origin->basedir;

# Creates a database whose extension is in a schema.
sub create_database
{
	my ($node, $name, $schema) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql('postgres', "ALTER DATABASE $name SET search_path = public, $schema") if $schema ne 'public';
	$node->safe_psql($name, "CREATE SCHEMA IF NOT EXISTS $schema; CREATE EXTENSION simhash SCHEMA $schema");
}

sub load_tables
{
	my ($name) = @_;

	$origin->safe_psql($name, slurp_file("$tests/../sql/setup.sql") . slurp_file("$tests/moving/tables.sql"));
}

# Checks that a database has the rows of another one, and that all searches find them.
sub moved_ok
{
	my ($node, $database, $expected, $name) = @_;

	is($node->safe_psql($database, 'SELECT all_rows()'), $expected, "$name: the same rows");
	is($node->safe_psql($database, 'SELECT wrong_searches()'), '', "$name: the indexes find them");
}

# --- dumps ---------------------------------------------------------------------------

# Returns a database as a script, without what differs from dump to dump.
sub script_of
{
	my ($database) = @_;
	my ($script) = run_command([ 'pg_dump', @connection, $database ]);

	return $script =~ s/^\\(?:un)?restrict .*$//mgr;
}

my $n = 0;
foreach my $schema (qw(public near))
{
	my $from = "from_$schema";

	create_database($origin, $from, $schema);
	load_tables($from);
	my $rows = $origin->safe_psql($from, 'SELECT all_rows()');
	moved_ok($origin, $from, $rows, "extension in $schema");
	foreach my $how (
		[ 'plain', [], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1' ], '-f' ],
		[ 'custom', ['-Fc'], [ 'pg_restore', '--exit-on-error' ] ],
		[ 'parallel', [ '-Fd', '-j2' ], [ 'pg_restore', '--exit-on-error', '-j2' ] ])
	{
		my ($format, $dump, $restore, @file) = @$how;
		my $to = "to_${schema}_$format";
		my $file = "$dumps/$to";

		command_ok([ 'pg_dump', @connection, @$dump, '-f', $file, $from ], "$to: dumped");
		$origin->safe_psql('postgres', "CREATE DATABASE $to");
		# the functions of the tests rely on the search path
		$origin->safe_psql('postgres', "ALTER DATABASE $to SET search_path = public, $schema");
		command_ok([ @$restore, @connection, '-d', $to, @file, $file ], "$to: restored");
		moved_ok($origin, $to, $rows, $to);
		ok(script_of($to) eq script_of($from), "$to: the same dump again");
	}
}

# --- logical replication ---------------------------------------------------------------

my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
$subscriber->append_conf('postgresql.conf', "jit = off\n$conf");
$subscriber->start;
run_command([ 'pg_dump', @connection, '--schema-only', '-f', "$dumps/schema", 'from_public' ]);
$origin->safe_psql('from_public', <<'SQL');
CREATE PUBLICATION everything FOR ALL TABLES;
ALTER TABLE fps REPLICA IDENTITY FULL;
SQL
foreach my $binary (qw(true false))
{
	my $database = "binary_$binary";

	$subscriber->safe_psql('postgres', "CREATE DATABASE $database");
	$subscriber->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $database, '-f', "$dumps/schema" ],
		"$database: the schema");
	$subscriber->safe_psql($database,
		"CREATE SUBSCRIPTION $database CONNECTION '" . $origin->connstr
		  . " dbname=from_public' PUBLICATION everything WITH (binary = $binary)");
}
$subscriber->wait_for_subscription_sync($origin, "binary_$_", "binary_$_") foreach qw(true false);
$origin->safe_psql('from_public', <<'SQL');
UPDATE docs SET body = text_of(id + 1000), words = to_minhash(text_of(id + 1000), 20, 5, 2) WHERE id % 20 = 4;
UPDATE docs SET body = NULL, chars = DEFAULT, plain = NULL WHERE id % 20 = 5;
UPDATE fps SET fp = flip(fp, 2), ball = simhash_ball(fp, 5) WHERE id % 20 = 4;
DELETE FROM docs WHERE id % 20 = 6;
INSERT INTO docs (id, body, chars, features, hashes, words, plain, near)
SELECT id + 1000, body, chars, features, hashes, words, plain, near FROM docs WHERE id % 20 = 7;
INSERT INTO apart
SELECT id, simhash(text_of(id)), to_minhash(text_of(id)) FROM generate_series(5007, 5307, 50) AS id;
INSERT INTO apart_sets
SELECT id, winnow(text_of(id), 8), sketch_ball(winnow(text_of(id), 8), 0.3)
FROM generate_series(5007, 5307, 50) AS id;
INSERT INTO parted SELECT id % 300, fp, sig FROM docs WHERE id % 20 = 7;
REFRESH MATERIALIZED VIEW copies;
SQL
my $rows = $origin->safe_psql('from_public', 'SELECT all_rows()');
foreach my $database (qw(binary_true binary_false))
{
	$origin->wait_for_catchup($database);
	$subscriber->safe_psql($database, 'REFRESH MATERIALIZED VIEW copies');
	moved_ok($subscriber, $database, $rows, $database);
	$subscriber->safe_psql($database, "DROP SUBSCRIPTION $database");
}
$subscriber->stop;

# --- a standby -------------------------------------------------------------------------

my $standby = standby_of($origin);

# Temporary tables, which the comparisons need, do not exist on a standby.
sub searches_of
{
	my ($node) = @_;

	my $all = $node->safe_psql('from_public', <<'SQL');
SELECT string_agg(format('SELECT %L, count(*), md5(string_agg(t::text, %L ORDER BY t::text)) FROM (%s) AS t',
                         index, ',', query), ' UNION ALL ' ORDER BY index, query)
FROM searches
SQL
	return $node->safe_psql('from_public', "SET enable_seqscan = off; $all");
}

is(searches_of($standby), searches_of($origin), 'standby: the same searches');

SKIP:
{
	my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
	my ($suffix) = $^O eq 'darwin' ? 'dylib' : 'so';

	skip "$libraries has the library: no standby can be without it", 4 if -e "$libraries/simhash.$suffix";
	my $setting = $standby->pg_version >= 18 ? 'dynamic_library_path' : 'extension_destdir';
	my $with_library = slurp_file($standby->data_dir . '/postgresql.conf');
	$standby->append_conf('postgresql.conf', "$setting = " . ($standby->pg_version >= 18 ? q{'$libdir'} : q{''}));
	$standby->restart;
	my ($stdout, $stderr);
	isnt($standby->psql('from_public', 'SELECT count(body) FROM docs', stdout => \$stdout, stderr => \$stderr), 0,
		'standby without the library: an error');
	like($stderr, qr/could not access file ".*simhash"/, 'which names the library');
	$origin->safe_psql('from_public', <<'SQL');
DELETE FROM docs WHERE id > 1200;
INSERT INTO docs (id, body) SELECT id + 2000, text_of(id + 2000) FROM docs WHERE id < 200;
DELETE FROM docs WHERE id BETWEEN 2000 AND 2100;
VACUUM docs;
SELECT count(*) FROM docs;
SQL
	$origin->wait_for_catchup($standby);
	is($standby->safe_psql('from_public', 'SELECT count(*) FROM searches'), '99',
		'replay goes on, other tables are read');
	open my $file, '>', $standby->data_dir . '/postgresql.conf' or die $!;
	print $file $with_library;
	close $file;
	$standby->restart;
	is(searches_of($standby), searches_of($origin), 'with the library: the same searches');
}
$rows = $origin->safe_psql('from_public', 'SELECT all_rows()');
$origin->stop;
$standby->promote;
moved_ok($standby, 'from_public', $rows, 'promoted');
$standby->stop;
no_crash_ok($_) foreach $origin, $standby, $subscriber;
done_testing();
