# A coordinator and two shards by postgres_fdw, as docs/machines.md sets them up.  The
# test runs each SQL block of that page on the coordinator, or on each shard if its first line
# says so, and compares the results with those of one big table.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use IndexTest;
use MachinesTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

my $coordinator = server('coordinator');
plan skip_all => 'no postgres_fdw' if $coordinator->safe_psql('postgres',
	q(SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw')) eq '0';
my @shards = (server('shard1'), server('shard2'));

# Replaces the page's names of the shards by addresses.
sub addressed
{
	my ($sql) = @_;

	$sql =~ s/host 'shard(\d)'/"host '" . $shards[$1 - 1]->host . "', port '" . $shards[$1 - 1]->port . "'"/ge;
	return $sql;
}

# Loads the documents, and what else the page's queries read as one table.
sub load
{
	load_documents($coordinator, $seed);
	$coordinator->safe_psql('postgres', <<'SQL');
CREATE VIEW whole.docs1 AS SELECT * FROM whole.docs WHERE id % 3 = 0;
CREATE VIEW whole.docs2 AS SELECT * FROM whole.docs WHERE id % 3 <> 0;
CREATE TABLE whole.near1 AS
    SELECT a.id AS a, b.id AS b FROM whole.docs AS a, whole.docs AS b
    WHERE a.fp <~> b.fp <= 3 AND a.id < b.id;
CREATE VIEW whole.near2 AS SELECT * FROM whole.near1 WHERE false;
ANALYZE;
SQL
	foreach my $shard (@shards)
	{
		$shard->safe_psql('postgres', 'VACUUM ANALYZE docs');
		cmp_ok($shard->safe_psql('postgres', 'SELECT count(*) FROM docs'), '>', 900, $shard->name . ' has its part');
	}
}

# Returns the queries that the shards receive, from EXPLAIN.
sub sent
{
	my ($query) = @_;
	my ($plan) = said($coordinator,
		'SET plan_cache_mode = force_generic_plan; '
		. $query =~ s/^(?=EXECUTE)|\A(?!PREPARE)/EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) /mr);

	return map { s/\\(.)/$1/gr } $plan =~ /"Remote SQL": "((?:[^"\\]|\\.)*)"/g;
}

# Checks that each shard receives the query's conditions on digests and texts, and uses
# its index.
sub searched_by_shards
{
	my ($query, $name) = @_;
	my @expected = grep { $query =~ $_->[0] } (
		[ qr/<[%~]> .* <= \d/, qr/WHERE .*<[%~]>.* <= /, 'predicate' ],
		[ qr/resemblance/, qr/WHERE .*resemblance\(/, 'verification' ],
		[ qr/ORDER BY fp <~>/, qr/ORDER BY .*<~>.* LIMIT 10/, 'order and limit' ]);
	my $index = $query =~ /<%>/ ? 'docs_sk' : 'docs_fp';
	my @scans = map { index_scans($_, $index) } @shards;
	my @sent = sent($query);

	is(scalar @sent, 2, "$name: both shards receive a query");
	foreach my $condition (@expected)
	{
		is(scalar(grep { $_ =~ $condition->[1] } @sent), 2, "$name: the $condition->[2] is sent") or diag(@sent);
	}
	said($coordinator, $query);
	foreach my $i (0, 1)
	{
		ok($shards[$i]->poll_query_until('postgres',
			"SELECT idx_scan > $scans[$i] FROM pg_stat_user_indexes WHERE indexrelname = '$index'"),
			"$name: " . $shards[$i]->name . ' uses its index');
	}
}

sub index_scans
{
	my ($node, $index) = @_;

	return $node->safe_psql('postgres', "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '$index'");
}

# The page from top to bottom.  The rows are loaded as soon as the tables exist.
my %query;
foreach my $block (blocks_of('docs/machines.md'))
{
	my ($line, $sql) = @$block{qw(line sql)};
	my ($where, $statement) = $sql =~ /\A(-- on each shard\n)?(.*)/s;

	if ($statement =~ /\A\(?(?:SELECT|PREPARE|WITH)/)
	{
		same_rows_as_one_table($coordinator, $statement, "line $line");
		searched_by_shards($statement, "line $line") if $statement =~ /simhash|shingle_hashes|batch/;
		$query{$line} = $statement;
		next;
	}
	foreach my $node ($where ? @shards : $coordinator)
	{
		my ($said, $complaint) = said($node, addressed($statement));
		is($said . $complaint, '', "line $line: runs on " . $node->name);
	}
	load() if $statement =~ /PARTITION OF docs/;
}

# The recipe of docs/deduplicate.md, on the coordinator.
my ($recipe) = grep { /TABLE ranked/ } map { $_->{sql} } blocks_of('docs/deduplicate.md');
same_rows_as_one_table($coordinator, $recipe, 'deduplicate.md');

# Both shards at the same time.
my $search = q(SELECT id FROM docs WHERE fp <~> simhash(:'text') <= 3);
my ($plan) = said($coordinator, "EXPLAIN (FORMAT JSON) $search");
is(scalar(() = $plan =~ /"Async Capable": true/g), 2, 'both shards run at the same time');

# Without the option that names the extension, the shards receive none of its
# conditions.
$coordinator->safe_psql('postgres', 'ALTER SERVER shard1 OPTIONS (DROP extensions)');
is(scalar(grep { /<~>/ } sent($search)), 1, 'a server without the option gets no predicate');
same_rows_as_one_table($coordinator, $search, 'without the option');
$coordinator->safe_psql('postgres', q(ALTER SERVER shard1 OPTIONS (ADD extensions 'simhash')));

# A shard that fails during a query, and an unreachable shard.
my $first = $shards[0]->safe_psql('postgres', 'SELECT min(id) FROM docs');
my $session = $coordinator->background_psql('postgres', on_error_stop => 0);
$session->query('BEGIN; DECLARE all_rows CURSOR FOR SELECT id FROM docs; FETCH 1 FROM all_rows');
$shards[1]->stop('immediate');
$session->{stderr} = '';
$session->query('FETCH ALL FROM all_rows');
like($session->{stderr}, qr/ERROR/, 'a shard is lost while a query runs: an error');
$session->quit;

foreach my $line (sort { $a <=> $b } keys %query)
{
	my ($rows, $complaint) = said($coordinator, $query{$line});

	like($complaint, qr/ERROR/, "line $line: a shard is unreachable: an error");
	is($rows, '', "line $line: a shard is unreachable: no partial result");
}
is_deeply([ said($coordinator, "SELECT id FROM docs WHERE id = $first") ], [ $first, '' ],
	'a query that needs other shards alone goes on');

$shards[1]->start;
foreach my $line (sort { $a <=> $b } keys %query)
{
	same_rows_as_one_table($coordinator, $query{$line}, "line $line, with all shards again");
}
done_testing();
