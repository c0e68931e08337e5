# A Citus coordinator and two workers, as docs/machines.md distributes tables.  The test
# runs the page's searches and joins on Citus, and what the section says in words, and compares
# the rows with those of one table.  Then it moves and splits shards, and runs them again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../t";
use DocsTest;
use IndexTest;
use MachinesTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $shards = 4;
my $conf = "shared_preload_libraries = 'citus'\nwal_level = logical\ncitus.shard_count = $shards\n";
my ($coordinator, @workers) = map { server($_, $conf) } qw(coordinator worker1 worker2);

# A node finds the others, and itself, by the directory of their sockets.
foreach my $node ($coordinator, @workers)
{
	$node->append_conf('postgresql.conf', "citus.local_hostname = '" . $node->host . "'");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
}
$coordinator->safe_psql('postgres',
	join ';', map { sprintf "SELECT %s('%s', %d)", $_->[0], $_->[1]->host, $_->[1]->port }
	  [ 'citus_set_coordinator_host', $coordinator ], map { [ 'citus_add_node', $_ ] } @workers);
diag($coordinator->safe_psql('postgres', 'SELECT citus_version()'));

sub runs
{
	my ($sql, $name) = @_;

	is((said($coordinator, $sql))[1], '', "$name: runs");
}

# Checks that a statement raises an error of Citus.
sub refused
{
	my ($sql, $error, $name) = @_;

	like((said($coordinator, $sql))[1], $error, "$name: an error");
}

# Checks the rows of a query, and that the plan of each task has this form.  Keeps the query
# for later.
my @queries;

sub same_rows
{
	my ($query, $plan, $name, $tasks) = @_;
	my ($explained) = said($coordinator,
		"SET citus.explain_all_tasks = on;\n" . $query =~ s/^(?=EXECUTE)|\A(?!PREPARE)/EXPLAIN (COSTS OFF) /mr);

	same_rows_as_one_table($coordinator, $query, $name);
	is(scalar(() = $explained =~ /$plan/g), $tasks // $shards, "$name: the plans of the shards") or diag($explained);
	push @queries, [ $query, $name ];
}

# Runs statements for the tables of Citus, and for those of the schema whole.
sub both
{
	my ($sql, $name) = @_;

	runs($_, $name) foreach $sql, "SET search_path = whole, public;\n$sql";
}

# The table of a shard, distributed; the page's searches, and its batch.
my @page = map { { %$_, sql => $_->{sql} =~ s/\A-- on each shard\n//r } } blocks_of('docs/machines.md');
my ($distribute) = blocks_of('docs/machines.md', 'citus');
runs($page[0]{sql}, 'the table of a shard');
runs($distribute->{sql}, "line $distribute->{line}");
foreach my $worker (@workers)
{
	is($worker->safe_psql('postgres', q(SELECT count(*) FROM pg_extension WHERE extname = 'simhash')),
		1, $worker->name . ' has the extension');
}
load_documents($coordinator, $seed);
runs('ANALYZE docs', 'statistics');

my $joined = qr/Index Scan using docs_sk_|SimHash Join/;

foreach my $block (grep { $_->{sql} =~ /\bbatch\b/ || $_->{sql} =~ /\A(?:SELECT|PREPARE)/ } @page)
{
	my ($line, $sql) = @$block{qw(line sql)};

	if ($sql =~ /\ACREATE/) { runs($sql, "line $line") }
	elsif ($sql =~ /keeper/) { refused($sql, qr/complex joins/, "line $line") unless $sql =~ /near1/ }
	else { same_rows($sql, $sql =~ /batch/ ? $joined : qr/Index Scan (?:using|on) docs_/, "line $line") }
}

# The same batch as a reference table, and the rows of a batch that resemble none.
my $old = 'SELECT batch.id FROM batch JOIN docs ON docs.sk <%> batch.sk <= 0.2';
refused('SELECT id FROM batch WHERE NOT EXISTS (SELECT FROM docs WHERE docs.sk <%> batch.sk <= 0.2)',
	qr/not supported/, 'NOT EXISTS');
foreach my $kind ('a local table', 'a reference table')
{
	same_rows($old, $joined, $kind);
	same_rows("SELECT id FROM batch WHERE id NOT IN ($old)", $joined, "$kind, NOT IN");
	same_rows('SELECT batch.id, docs.id FROM batch LEFT JOIN docs ON docs.sk <%> batch.sk <= 0.2',
		qr/Seq Scan on docs_/, "$kind, LEFT JOIN");
	next if $kind =~ /reference/;
	runs(q(CREATE TABLE whole.batch AS TABLE batch; SELECT create_reference_table('batch'); ANALYZE batch),
		'the batch as a reference table');
}

# Ties come in any order, so the distances are compared.
foreach my $distance (q(sk <%> shingle_hashes(:'text')), q(fp <~> simhash(:'text')))
{
	my ($index) = $distance =~ /^(\w+)/;
	same_rows("SELECT $distance FROM docs ORDER BY $distance LIMIT 10",
		qr/Limit\n *->  Index Scan using docs_${index}_/, "the nearest by $index");
}
same_rows(<<'SQL', qr/Index Scan using docs_sk_/, 'the nearest, prepared');
PREPARE nearest (text) AS
SELECT sk <%> shingle_hashes($1) FROM docs ORDER BY sk <%> shingle_hashes($1) LIMIT 10;
EXECUTE nearest (:'text');
SQL

# Pairs across shards: the page's query, as the section changes it, and blocks, of which the
# pairs are verified.
my ($keepers) = map { $_->{sql} =~ s/JOIN docs AS b/JOIN b/r } grep { $_->{sql} =~ /keeper\(a.id, b.id\)/ } @page;
$keepers = "WITH b AS MATERIALIZED (SELECT id, sk FROM docs)\n$keepers";
same_rows($keepers, qr/SimHash Join/, 'pairs across shards');
my ($fill) = map { $_->{sql} =~ /(INSERT INTO blocks.*)/s } @page;
both('CREATE TABLE blocks (block bigint, id bigint, fp simhash)', 'the table of blocks');
runs(q(SELECT create_distributed_table('blocks', 'block')), 'by block');
both($fill, 'the blocks');
runs('ANALYZE blocks', 'statistics of blocks');
my $copies = 'SELECT DISTINCT a.id AS a, b.id AS b FROM blocks AS a JOIN blocks AS b '
  . 'ON a.block = b.block AND a.id < b.id AND a.fp <~> b.fp <= 3';
same_rows($copies, qr/Scan on blocks_\d+ b\b/, 'pairs by block');
is(rows_of($coordinator, $copies), rows_of($coordinator,
	'SELECT a.id, b.id FROM whole.docs AS a JOIN whole.docs AS b ON a.id < b.id AND (a.fp <~> b.fp) + 0 <= 3'),
	'pairs by block: all pairs');
same_rows(<<"SQL", qr/Scan on blocks_\d+ b\b/, 'keepers by block');
WITH pairs AS ($copies), x AS (SELECT a, b, sk FROM pairs JOIN docs ON id = a)
SELECT id, keeper
FROM (SELECT b AS id, keeper(a, b) OVER (ORDER BY a)
      FROM x JOIN docs AS y ON y.id = b WHERE x.sk <%> y.sk <= 0.2) AS edge
WHERE keeper IS NOT NULL
SQL

# By tenant, with hashes of the tenant and without.  Tenants have texts in common.
my $tables = <<'SQL';
CREATE TABLE notes (
    tenant bigint,
    id     bigint,
    body   text,
    scoped bigint[] GENERATED ALWAYS AS (scoped_hashes(shingle_hashes(body), tenant)) STORED,
    sk     bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED,
    fp     simhash GENERATED ALWAYS AS (simhash(body)) STORED,
    sig    minhash(18, 7, 'hash') GENERATED ALWAYS AS (to_minhash(scoped_hashes(shingle_hashes(body), tenant))) STORED,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE by_fp (id bigint, fp simhash);
CREATE TABLE by_sig (id bigint, sig minhash(18, 7, 'hash'));
CREATE TABLE copies (tenant bigint, id bigint, fp simhash,
    EXCLUDE USING gist (tenant WITH =, simhash_ball(fp, 3) WITH =~=));
SQL
my $rows = <<'SQL';
INSERT INTO notes (tenant, id, body)
SELECT tenant, id, body FROM whole.docs, generate_series(1, 6) AS tenant WHERE id % 30 < 5 * tenant;
INSERT INTO by_fp SELECT id, fp FROM whole.docs WHERE fp IS NOT NULL;
INSERT INTO by_sig SELECT id, to_minhash(sk)::minhash(18, 7, 'hash') FROM whole.docs WHERE sk <> '{}';
INSERT INTO copies SELECT tenant, id, fp FROM whole.notes ORDER BY tenant, id ON CONFLICT DO NOTHING;
SQL
runs('CREATE EXTENSION btree_gist', 'btree_gist');
both($tables, 'tables');
runs("CREATE INDEX notes_$_ ON notes USING simhash ($_)", "index of $_") foreach qw(scoped sk fp sig);
runs(<<'SQL', 'by tenant, by digest');
CREATE INDEX by_fp_fp ON by_fp USING simhash (fp);
SELECT create_distributed_table('notes', 'tenant');
SELECT create_distributed_table('copies', 'tenant');
SELECT create_distributed_table('by_fp', 'fp', colocate_with => 'none');
SELECT create_distributed_table('by_sig', 'sig', colocate_with => 'none');
SQL
runs($rows =~ s/INTO (?=\w)/INTO whole./gr, 'rows of one table');
runs($rows, 'rows');
runs('ANALYZE', 'statistics');

my %query = (scoped => q(scoped_hashes(shingle_hashes(:'text'), 6)), sk => q(shingle_hashes(:'text')));
foreach my $sk (sort keys %query)
{
	my $index = qr/Index Scan using notes_${sk}_/;
	my $near = "$sk <%> $query{$sk} <= 0.2";
	my $pairs = "FROM notes AS a JOIN notes AS b ON a.tenant = b.tenant AND a.$sk <%> b.$sk <= 0.2 AND a.id < b.id";

	same_rows("SELECT id FROM notes WHERE tenant = 6 AND $near", $index, "$sk: within a tenant", 1);
	same_rows("SELECT tenant, id FROM notes WHERE $near", $index, "$sk: of all tenants");
	same_rows("SELECT $sk <%> $query{$sk} FROM notes WHERE tenant = 6 ORDER BY $sk <%> $query{$sk} LIMIT 10",
		qr/Limit\n *->  $index/, "$sk: the nearest of a tenant", 1);
	same_rows("SELECT a.tenant, a.id, b.id $pairs", qr/SimHash Join/, "$sk: pairs of each tenant");
	same_rows("SELECT a.id, b.id $pairs AND a.tenant = 6", qr/SimHash Join/, "$sk: pairs of a tenant", 1);
	same_rows(<<"SQL", qr/WindowAgg\n(?:.*\n){1,4} *->  Custom Scan \(SimHash Join/, "$sk: keepers of each tenant");
SELECT tenant, id, keeper
FROM (SELECT a.tenant, b.id, keeper(a.id, b.id) OVER (PARTITION BY a.tenant ORDER BY a.id) $pairs) AS edge
WHERE keeper IS NOT NULL
SQL
	refused("SELECT FROM notes AS a JOIN notes AS b ON a.$sk <%> b.$sk <= 0.2", qr/complex joins/, "$sk: any tenants");
}

# Other operators, other distribution columns, windows and aggregates.
my @others = (
	qr/Index Scan (?:using|on) notes_scoped_/ =>
	  [ "scoped <%>> $query{scoped} <= 0.3", "scoped && $query{scoped}" ],
	qr/Index Scan (?:using|on) notes_sig_/ => ["sig % to_minhash($query{scoped})::minhash(18, 7, 'hash')"],
	qr/Index Scan (?:using|on) notes_fp_/ => ["fp <~> simhash(:'text') <= 3"]);

while (my ($plan, $conditions) = splice @others, 0, 2)
{
	same_rows("SELECT tenant, id FROM notes WHERE $_", $plan, $_) foreach @$conditions;
}
same_rows("SELECT id FROM by_fp WHERE fp = simhash(:'text')", qr/by_fp_\d+ by_fp/, 'equal fingerprints', 1);
same_rows("SELECT id FROM by_fp WHERE fp <~> simhash(:'text') <= 3", qr/by_fp_\d+ by_fp/, 'by fingerprint');
foreach my $digest (qw(fp sig))
{
	my $table = "by_$digest";

	same_rows("SELECT a.id, b.id FROM $table AS a JOIN $table AS b ON a.$digest = b.$digest AND a.id < b.id",
		qr/${table}_\d+ b\b/, "equal, by $digest");
}
same_rows("SELECT tenant, id, simhash_cluster(fp, 3, 'leader') OVER (${_}ORDER BY tenant, id) FROM notes",
	qr/Scan on notes_/, "clusters $_") foreach '', 'PARTITION BY tenant ';
same_rows('SELECT tenant, minhash_union_agg(sig) FROM notes GROUP BY tenant', qr/Scan on notes_/, 'an aggregate');
same_rows('SELECT tenant, id FROM copies', qr/Scan on copies_/, 'what the constraint by GiST keeps');

# The exact constraint, in a schema of a tenant.  It stays when the schema moves.
my $constraint = 'CONSTRAINT apart EXCLUDE USING simhash (sketch_ball(shingle_hashes(body), 0.2) WITH =~=)';

sub placement
{
	my ($table) = @_;

	return split /\|/, $coordinator->safe_psql('postgres', <<"SQL");
SELECT shardid, nodename, nodeport FROM citus_shards
WHERE table_name = '$table'::regclass ORDER BY shardid LIMIT 1
SQL
}

sub other_worker
{
	my ($port) = @_;
	my ($other) = grep { $_->port != $port } @workers;

	return "'" . $other->host . "', " . $other->port;
}

refused("ALTER TABLE notes ADD $constraint", qr/do not include the partition column/, 'the constraint by tenant');
runs('SET citus.enable_schema_based_sharding = on; CREATE SCHEMA tenant7', 'the schema of a tenant');
foreach my $arrive (1, 2)
{
	foreach my $schema (qw(tenant7 whole))
	{
		runs("CREATE TABLE IF NOT EXISTS $schema.reports (id bigint, body text, $constraint)", "$schema: table");
		runs(<<"SQL", "$schema: rows");
INSERT INTO $schema.reports
SELECT id + $arrive * 100000, body FROM whole.docs ORDER BY id ON CONFLICT DO NOTHING
SQL
	}
	is(rows_of($coordinator, 'SELECT id FROM tenant7.reports'), rows_of($coordinator, 'SELECT id FROM whole.reports'),
		"$arrive: the constraint keeps the same rows");
	runs("SELECT citus_schema_move('tenant7', " . other_worker((placement('tenant7.reports'))[2]) . ", 'block_writes')",
		'the schema moves');
}

# Shards move and split.  A constraint that was added to each is lost.
my $constraints = <<'SQL';
SELECT sum(result::integer) FROM run_command_on_shards('copies', $$
    SELECT count(*) FROM pg_constraint
    WHERE conrelid = '%s'::regclass AND pg_get_constraintdef(oid) ~ 'USING simhash' $$)
SQL
runs(<<'SQL', 'a constraint of each shard');
SELECT run_command_on_shards('copies',
    'ALTER TABLE %s ADD EXCLUDE USING simhash (simhash_ball(fp, 0) WITH =~=) WHERE (tenant = 1)')
SQL
is($coordinator->safe_psql('postgres', $constraints), $shards, 'a constraint of each shard: is there');
my ($shard, $host, $port) = placement('copies');
runs("SELECT citus_move_shard_placement($shard, '$host', $port, " . other_worker($port) . ", 'block_writes')",
	'a shard moves');
is($coordinator->safe_psql('postgres', $constraints), $shards - 1, 'a constraint of each shard: is lost');
runs(<<"SQL", 'a shard splits');
SELECT citus_split_shard_by_split_points(shardid, ARRAY[(shardminvalue::bigint / 2 + shardmaxvalue::bigint / 2)::text],
    (SELECT array_agg(nodeid) FROM pg_dist_node WHERE groupid > 0), 'block_writes')
FROM pg_dist_shard WHERE shardid = $shard
SQL
foreach my $query (@queries)
{
	my ($sql, $name) = @$query;

	same_rows_as_one_table($coordinator, $sql, "$name, after the split");
	is(rows_of($workers[0], $sql), rows_of($coordinator, $sql), "$name, by a worker");
}

# The coordinator's index is empty, and its settings stay there.
is(rows_of($coordinator, q(SELECT sum(entries) FROM simhash_index_stats('docs_sk') WHERE level = 0)), '0',
	'the index on the coordinator');
is(rows_of($coordinator, <<'SQL'), 't|' . ($shards + 1), 'the index of each shard');
SELECT bool_and(success), count(*) FROM run_command_on_shards('docs',
    $$SELECT simhash_index_check(replace('%s', 'docs', 'docs_sk')::regclass)$$)
SQL
is(rows_of($coordinator, <<'SQL'), '0', 'settings of the workers');
SET work_mem = '77MB';
SELECT count(*) FROM docs WHERE current_setting('work_mem') = '77MB';
SQL

# The rows that go.
foreach my $schema ('public', 'whole, public')
{
	runs("SET search_path = $schema; CREATE TABLE duplicates AS $keepers", 'the list of duplicates');
	runs("SET search_path = $schema; DELETE FROM docs USING duplicates AS l WHERE docs.id = l.id", 'the deletion');
}
same_rows_as_one_table($coordinator, 'SELECT id FROM docs', 'the rows that stay');
done_testing();
