# The planner hook is shared with other modules.  Whether a module is loaded before
# simhash or after it, both are called, once for each table.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;
chomp(my $compiler = `pg_config --cc`);
plan skip_all => "no compiler '$compiler'" if system("$compiler --version >/dev/null 2>&1") != 0;

my $test = dirname(dirname(abs_path(__FILE__)));
my $build = PostgreSQL::Test::Utils::tempdir();
for my $file ('Makefile', 'simhash_test_hook.c')
{
	copy("$test/hook/$file", $build) or die "$test/hook/$file: $!";
}
command_ok([ 'make', '-s', '-C', $build, "SOURCES=$test/../src", 'with_llvm=no', 'all' ], 'the module compiles');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs (fp simhash);
INSERT INTO docs SELECT n::bigint::simhash FROM generate_series(1, 10000) AS n;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE TABLE parts (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE INDEX parts_fp ON parts USING simhash (fp);
CREATE TABLE sets (sk bigint[]);
CREATE INDEX sets_sk ON sets USING simhash (sk);
SQL

my $load_module = "LOAD '$build/simhash_test_hook';";
my $load_simhash = q(SELECT '0'::text WHERE simhash('some text') IS NULL;);
my $explain = 'SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) SELECT FROM';
my $condition = q(WHERE fp <~> '0123456789abcdef' <= 3);

# Returns the plan, and the tables for which the module was called.
sub planned
{
	my ($sql) = @_;
	my ($plan, $notices);

	is($node->psql('postgres', $sql, stdout => \$plan, stderr => \$notices), 0, 'planned');
	return ($plan, join(' ', $notices =~ /planning (\w+)/g));
}

for my $order ([ 'before', "$load_module $load_simhash" ], [ 'after', "$load_simhash $load_module" ])
{
	my ($when, $load) = @$order;

	my ($plan, $tables) = planned("$load $explain docs $condition");
	is($tables, 'docs', "loaded $when: the module is called once");
	like($plan, qr/Index Scan using docs_fp.*Index Cond: \(fp <@/s, "loaded $when: the index is used");

	($plan, $tables) = planned("$load $explain parts $condition");
	is($tables, 'parts parts1 parts2', "loaded $when: the module is called once for each partition");
	my @conditions = $plan =~ /Index Cond: \(fp <@/g;
	is(scalar @conditions, 2, "loaded $when: the indexes of both partitions are used");

	($plan, $tables) = planned("$load SET simhash_test_hook.hide_indexes = on; $explain docs $condition");
	like($plan, qr/Seq Scan on docs/, "loaded $when: an index that is hidden is not used");
}

# A module that was loaded before is called first: no operator on arrays is replaced for an
# index that it hides.
my $load = "$load_module $load_simhash SET simhash_test_hook.hide_indexes = on;";
my ($plan) = planned("$load $explain sets WHERE sk && '{1,2}'");
like($plan, qr/Filter: \(sk && /, 'no operator is replaced for an index that is hidden');

$node->stop;
done_testing();
