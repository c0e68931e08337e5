# A split is two WAL records.  The second one is missing if recovery stops between them,
# or if the disk has no space for another page.  Later insertions finish the split,
# whatever their keys: uniform, or always to the right of the incomplete split, as for
# equal fingerprints and NULLs.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant BLOCK => 8192;

my $seed = random_seed();
my %data = (
	equal => q{'0123456789abcdef'},
	NULLs => 'NULL',
	uniform => 'hashint8extended(nextval(\'numbers\'), 0)::simhash',
	all => 'fp_of(nextval(\'numbers\'))');

# A WAL segment must be smaller than the limit of a file's size (below).
my $node = index_node('splits', streaming => 1, extra => ['--wal-segsize=1'], conf => <<'CONF');
autovacuum = off
max_wal_size = 2GB
max_parallel_maintenance_workers = 0
wal_keep_size = 1GB
CONF

$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE numbers;
CREATE PROCEDURE fill(tab regclass, value text, n integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. n / 10 LOOP
        EXECUTE format('INSERT INTO %s (fp) SELECT %s FROM generate_series(1, 10)', tab, value);
        COMMIT;
    END LOOP;
END $$;
SQL

# Inserts rows of a type of data, in transactions of ten.  Returns the error messages.
sub fill
{
	my ($on, $table, $data, $n) = @_;
	my $err;

	$on->psql('postgres', "CALL fill('$table', \$\$$data{$data}\$\$, $n)", stderr => \$err);
	return $err;
}

# Returns the levels of the pages with the incomplete-split flag, read from the file:
# level, flags and tree precede the page's identifier.
sub incomplete
{
	my ($on, $index) = @_;
	my $pages = read_pages($on, $on->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('$index')"));
	my $page_id = pack('S', 0xFF98);
	my @levels;

	foreach my $page (@$pages[ 1 .. $#$pages ])
	{
		next unless substr($page, -8) =~ /^(..)(..)..$page_id$/s;
		my ($level, $flags) = map { unpack('S', $_) } $1, $2;

		push @levels, $level if $flags & 1;
	}
	return @levels;
}

# --- recovery stops between the two records -----------------------------------------

# The first leaf of each tree is the root, until it is split.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE logged (id bigserial, fp simhash);
CREATE INDEX logged_fp ON logged USING simhash (fp) WITH (blocks = 2);
SQL
$node->backup('before');
my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
fill($node, 'logged', $_, 1300) foreach qw(equal NULLs uniform);

# The second record of a root's split contains the left page, like the first one, and
# the metapage.
my @records = generic_records($node, $from);
my @stops = map { $records[ $_ - 1 ]{lsn} }
  grep { (grep { $_ == 0 } @{ $records[$_]{blocks} }) && $records[$_]{blocks}[0] == $records[ $_ - 1 ]{blocks}[0] }
  1 .. $#records;
is(scalar @stops, 3, 'the roots of three trees were split') or diag(join("\n", map { $_->{shown} } @records));
foreach my $lsn (@stops)
{
	my $name = "log up to $lsn";
	my $restored = recovered_to($node, 'before', $lsn);

	is(join(' ', incomplete($restored, 'logged_fp')), '0', "$name: a split is incomplete");
	sound_ok($restored, 'logged', $name, times => 8);
	foreach my $data (qw(equal NULLs))
	{
		is(fill($restored, 'logged', $data, 2500), '', "$name: $data written");
	}
	is(join(' ', incomplete($restored, 'logged_fp')), '', "$name: the split is finished");
	sound_ok($restored, 'logged', "$name, written again", times => 8);
	$restored->stop('immediate');
}

# --- no space for another page ---------------------------------------------------------

# Limits the size of files in bytes.  A backend that cannot extend a file reports the
# error of a full disk.  It inherits the limit from the postmaster.
sub limit
{
	my ($bytes) = @_;

	return eval { run_log([ 'prlimit', '--pid', $node->{_pid}, "--fsize=$bytes:" ]) };
}

# Grants one page after the other, so that writes stop at every possible point.  Returns
# the levels of the pages that had incomplete splits.
sub fill_a_full_disk
{
	my ($table, $data, $rounds) = @_;
	my ($errors, %seen) = ('');

	foreach my $round (1 .. $rounds)
	{
		limit($node->safe_psql('postgres', "SELECT pg_relation_size('${table}_fp')") + BLOCK);
		my $err = fill($node, $table, $data, 30000);
		limit('unlimited');
		$errors .= $err if $err !~ /could not extend file .*: File too large/;
		$seen{$_} = 1 foreach incomplete($node, "${table}_fp");
	}
	is($errors, '', "$table: no error except the full disk");
	return join(' ', sort keys %seen);
}

# The limit applies to every file, so the index must be the longest.  It is extended by
# zero pages, as a crash leaves them where the index was extended but not used.
sub lengthen
{
	my @paths = map { $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } @_;

	$node->stop;
	truncate($_, 16 * 1024 * 1024) or die "$_: $!" foreach @paths;
	$node->start;
}

SKIP:
{
	skip 'no prlimit, or it is not allowed', 1 unless limit('unlimited');
	my %table = map { $_ => lc($_) . '_written' } keys %data;

	$node->safe_psql('postgres',
		"CREATE TABLE $_ (id bigserial, fp simhash); CREATE INDEX ${_}_fp ON $_ USING simhash (fp)")
	  foreach values %table;
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE shrunk (id bigserial, fp simhash);
CREATE INDEX shrunk_fp ON shrunk USING simhash (fp);
INSERT INTO shrunk (fp) SELECT hashint8extended(i, 0)::simhash FROM generate_series(1, 20000) AS i;
DELETE FROM shrunk;
SQL
	$node->safe_psql('postgres', 'VACUUM shrunk');
	lengthen(map { "${_}_fp" } 'shrunk', values %table);

	# Free pages are used if the file cannot be extended.
	my $free = free_pages($node, 'shrunk_fp');
	limit($node->safe_psql('postgres', "SELECT pg_relation_size('shrunk_fp')"));
	is(fill($node, 'shrunk', 'uniform', 10000), '', 'shrunk: written without space for another page');
	limit('unlimited');
	cmp_ok(free_pages($node, 'shrunk_fp'), '<', $free - 20, 'shrunk: to free pages');
	sound_ok($node, 'shrunk', 'shrunk', times => 8);

	foreach my $data (sort keys %data)
	{
		my $table = $table{$data};

		is(fill_a_full_disk($table, $data, 15), '0', "$table: splits were left incomplete");
		sound_ok($node, $table, "$table, disk full", times => 8);
		is(fill($node, $table, $data, 3000), '', "$table: written when there is space again");
		is(join(' ', incomplete($node, "${table}_fp")), '', "$table: nothing is incomplete");
		sound_ok($node, $table, "$table, written again", times => 8);
	}

	# Enough equal rows to fill the root with downlinks.
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE high (id bigserial, fp simhash);
INSERT INTO high (fp) SELECT $data{equal} FROM generate_series(1, 211000) AS i;
CREATE INDEX high_fp ON high USING simhash (fp);
DO \$\$
BEGIN
    WHILE (SELECT fill < 1 FROM simhash_index_stats('high_fp') WHERE permuted_table = 1 AND level = 1) LOOP
        INSERT INTO high (fp) SELECT $data{equal} FROM generate_series(1, 100) AS i;
    END LOOP;
END \$\$;
SQL
	is($node->safe_psql('postgres', q{SELECT max(level) FROM simhash_index_stats('high_fp')}), '1',
		'high: the root is full, but not split');
	is(fill_a_full_disk('high', 'equal', 16), '0 1', 'high: splits were left incomplete at two levels');
	no_damage_ok($node, 'high, disk full', 'high_fp');
	is(fill($node, 'high', 'equal', 3000), '', 'high: written when there is space again');
	is(join(' ', incomplete($node, "high_fp")), '', "high: nothing is incomplete");
	sound_ok($node, 'high', 'high, written again', times => 1);
}

no_crash_ok($node);
$node->stop;
done_testing();
