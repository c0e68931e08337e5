# WAL records of insertions, made by hand and by PostgreSQL's interface to generic WAL
# (src/index/tree/wal.c).  Equal indexes get the same rows in both ways.
# Their records make equal pages of equal pages, which are those in the file.  The hole of
# each page stays zero.  Indexes survive crashes, whatever the WAL contains.
#
# SIMHASH_STOPS sets the number of records at which recovery ends.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use List::Util qw(max shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalRecords;

my $seed = random_seed();
my $stops = $ENV{SIMHASH_STOPS} || 3;

# Sessions make records in these ways.
my %way = (hand => 'SET simhash.generic_wal = off', interface => 'SET simhash.generic_wal = on');

# --- both ways make the same changes ---------------------------------------------------

my $node = index_node('records', streaming => 1, conf => <<'CONF');
autovacuum = off
full_page_writes = off
wal_consistency_checking = 'generic'
wal_keep_size = 1GB
max_wal_size = 2GB
CONF
my $is_known = $node->pg_version->major < 20;	# GENERIC_WAL_IS_KNOWN
my $n = has_small_pages($node) ? 60 : 500;

# Tables: the type of a column, the value of row i, the number of leaves that a record of
# an insertion may have, and the number of rows.
my %table = (
	fingerprints => [ 'simhash', 'fp_of(i)', 4, 10 * $n ],
	nulls => [ 'simhash', 'NULL', 1, 2 * $n ],
	equal => [ 'simhash', q{'0123456789abcdef'}, 4, 4 * $n ],
	arrays => [ 'bigint[]', 'keys_of(i, 40)', 4, $n ],
	empty => [ 'bigint[]', q{'{}'}, 1, 2 * $n ],
	signatures => [ q{minhash(6, 4, 'hash')}, q{to_minhash(keys_of(i, 20), 6, 4)}, 4, 2 * $n ]);

# Inserts rows from .. to into a table, in one way.
sub insertion
{
	my ($table, $way, $from, $to) = @_;

	return "$way{$way}; INSERT INTO ${table}_$way SELECT i, $table{$table}[1]"
	  . " FROM generate_series($from, ${to}::bigint) AS i;";
}

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION keys_of(i bigint, n integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(SELECT hashint8extended(j, i) FROM generate_series(1, n) AS j) $$;
SQL
foreach my $table (sort keys %table)
{
	$node->safe_psql('postgres', <<"SQL") foreach sort keys %way;
CREATE TABLE ${table}_$_ (id bigint, fp $table{$table}[0]);
CREATE INDEX ${table}_${_}_fp ON ${table}_$_ USING simhash (fp);
@{[ insertion($table, $_, 1, $table{$table}[3]) ]}
SQL
}

# Returns the pages of an index in its files, and its relfilenumber.
sub state_of
{
	my ($index) = @_;

	return { pages => index_pages($node, $index),
		relation => $node->safe_psql('postgres', "SELECT pg_relation_filenode('$index')") };
}

# Returns a page without LSN and checksum, in which both ways differ.
sub content
{
	my ($page) = @_;

	return substr($page, 10);
}

# Returns the number of bytes of a page before pd_lower that a block adds, or 0 if the block
# does not append to a leaf.
sub appended
{
	my ($before, $after, $block) = @_;
	my $level = unpack 'S', substr($after, unpack('S', substr($after, 16, 2)) + 40, 2);

	return 0 if defined $block->{image} || $level > 0 || $before !~ /[^\0]/;
	return max(0, page_lower($after) - page_lower($before));
}

# Returns the fragment of pd_lower and pd_upper: from the first byte that differs to the last.
sub bounds_fragment
{
	my ($before, $after) = @_;
	my @differing = grep { substr($before, $_, 1) ne substr($after, $_, 1) } 12 .. 15;
	my ($start, $length) = ($differing[0], $differing[-1] - $differing[0] + 1);

	return pack('SS', $start, $length) . substr($after, $start, $length);
}

my %state;
my $zeros = "\0" x 8192;
foreach my $table (keys %table)
{
	$state{$table}{$_} = state_of("${table}_${_}_fp") foreach keys %way;
}
$node->backup('before');
my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
foreach my $table (sort keys %table)
{
	my $rows = $table{$table}[3];

	$node->safe_psql('postgres', insertion($table, $_, $rows + 1, $rows + $rows / 2)) foreach sort keys %way;
}
my @records = records_since($node, $from);

foreach my $table (sort keys %table)
{
	my ($hand, $interface) = map { $state{$table}{$_} } qw(hand interface);
	my @pages = ([ @{ $hand->{pages} } ], [ @{ $interface->{pages} } ]);
	my @by_hand = grep { $_->{blocks}[0]{relation} == $hand->{relation} } @records;
	my @by_interface = grep { $_->{blocks}[0]{relation} == $interface->{relation} } @records;
	my ($nappends, $nleaves, $difference, @differing, @not_by_hand, @lsn) = (0, 0, 0);

	is(scalar(grep { content($pages[0][$_]) ne content($pages[1][$_]) } 0 .. max($#{ $pages[0] }, $#{ $pages[1] })),
		0, "$table: the indexes are equal at first");
	is(scalar @by_hand, scalar @by_interface, "$table: both ways make the same number of records");
	foreach my $i (0 .. $#by_hand)
	{
		my @blocks = map { $_->[$i]{blocks} // [] } \@by_hand, \@by_interface;
		my $is_append = 1;

		if ("@{[ map { $_->{block} } @{ $blocks[0] } ]}" ne "@{[ map { $_->{block} } @{ $blocks[1] } ]}")
		{
			push @differing, "$by_hand[$i]{lsn}: blocks";
			last;
		}
		foreach my $j (0 .. $#{ $blocks[0] })
		{
			my $number = $blocks[0][$j]{block};
			my $before = $pages[0][$number] // $zeros;

			$pages[$_][$number] = replay($pages[$_][$number] // $zeros, $blocks[$_][$j]) foreach 0, 1;
			my $after = $pages[0][$number];
			push @differing, "$by_hand[$i]{lsn}: block $number" if content($after) ne content($pages[1][$number]);
			$lsn[$number] = $by_hand[$i]{start};

			my $size = appended($before, $after, $blocks[0][$j]);
			$is_append = 0 if !$size;
			next if !$size;
			my $expected = bounds_fragment($before, $after) .
			  pack('SS', page_lower($before), $size) . substr($after, page_lower($before), $size) .
			  pack('SS', page_upper($after), $size * 6 / 8) . substr($after, page_upper($after), $size * 6 / 8);
			push @not_by_hand, $by_hand[$i]{lsn} if $blocks[0][$j]{data} ne $expected;
			$difference = max($difference, abs(length($blocks[0][$j]{data}) - length($blocks[1][$j]{data})));
		}
		$nappends += $is_append;
		$nleaves = max($nleaves, scalar @{ $blocks[0] }) if $is_append;
	}
	is(scalar @differing, 0, "$table: records of both ways make the same pages");
	cmp_ok($nappends, '>', $n / 6, "$table: $nappends of " . @by_hand . ' records append to leaves');
	is($nleaves, $table{$table}[2], "$table: to $nleaves leaves at most");
	is(scalar @not_by_hand, 0, "$table: the fragments are the header, the keys and the TIDs") if $is_known;
	diag("$table: $_->[0]") foreach grep { @$_ > 0 } \@differing, $is_known ? \@not_by_hand : [];
	cmp_ok($difference, '<=', 4, "$table: data of pages differ by $difference bytes at most");

	my $file = index_pages($node, "${table}_hand_fp");
	is(scalar(grep { content($file->[$_]) ne content($pages[0][$_]) } 0 .. $#$file),
		0, "$table: the pages are those of the file");
	is(scalar(grep { defined $lsn[$_] && page_lsn($file->[$_]) <= $lsn[$_] } 0 .. $#$file),
		0, "$table: they have the LSN of their last record");
}

# --- the hole of each page is zero -------------------------------------------------------

# Checks the holes of all pages of some indexes.
sub holes_ok
{
	my ($on, $name, @indexes) = @_;
	my @pages = map { @{ index_pages($on, $_) } } @indexes;

	is(scalar(grep { !hole_is_zero($_) } @pages), 0, "$name: the holes of " . @pages . ' pages are zero');
}

foreach my $table (sort keys %table)
{
	foreach my $way (sort keys %way)
	{
		my $other = $way eq 'hand' ? 'interface' : 'hand';

		# from full leaves to merged ones and back, each way after the other
		$node->safe_psql('postgres', $_)
		  foreach "DELETE FROM ${table}_$way WHERE id % 7 <> 0",
		  "VACUUM ${table}_$way",
		  "$way{$other}; INSERT INTO ${table}_$way SELECT id, fp FROM ${table}_$other WHERE id % 7 = 1",
		  "$way{$way}; INSERT INTO ${table}_$way SELECT id, fp FROM ${table}_$way",
		  "DELETE FROM ${table}_$way WHERE id % 7 = 0",
		  "VACUUM ${table}_$way";
	}
}
foreach my $ok (\&holes_ok, \&no_damage_ok)
{
	$ok->($node, 'deleted, vacuumed and inserted', map { ("${_}_hand_fp", "${_}_interface_fp") } sort keys %table);
}

# Most leaves had dead entries, so vacuum sorted them.
my @leaves = grep { unpack('S', substr($_, 8144 + 40, 2)) == 0 && page_lower($_) > 24 }
  map { my ($meta, @others) = @{ index_pages($node, $_) }; @others }
  map { ("fingerprints_${_}_fp", "signatures_${_}_fp") } sort keys %way;
my $unsorted = grep { unpack('S', substr($_, 8144 + 32, 2)) < (page_lower($_) - 24) / 8 } @leaves;
cmp_ok($unsorted, '<=', @leaves / 4, "vacuum sorted all but $unsorted of " . @leaves . ' leaves');

# --- recovery ends after a record ---------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE mixed (id bigint, fp simhash);
CREATE INDEX mixed_fp ON mixed USING simhash (fp);
CREATE INDEX mixed_fp_9 ON mixed USING simhash (fp) WITH (blocks = 9);
CREATE PROCEDURE mix(first bigint, last bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first .. last LOOP
        PERFORM set_config('simhash.generic_wal', (i % 2 = 0)::text, false);
        INSERT INTO mixed SELECT i, fp_of(i * 3 + j) FROM generate_series(1, 3) AS j;
        COMMIT;
    END LOOP;
END $$;
SQL
$node->safe_psql('postgres', "CALL mix(1, $n)");
$node->backup('mixed');
$from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', "CALL mix($n + 1, 2 * $n)");
my @mixed = shuffle(generic_records($node, $from));
$#mixed = $stops - 1 if @mixed > $stops;
foreach my $record (@mixed)
{
	my $name = "log up to $record->{lsn}, of blocks @{ $record->{blocks} }";
	my $restored = recovered_to($node, 'mixed', $record->{lsn});

	sound_ok($restored, 'mixed', $name, times => 30, seed => $seed % 1000);
	holes_ok($restored, $name, 'mixed_fp', 'mixed_fp_9');
	$restored->safe_psql('postgres', "CALL mix(2 * $n, 3 * $n)");
	sound_ok($restored, 'mixed', "$name, written", times => 30, seed => $seed % 1000);
	no_crash_ok($restored);
	$restored->stop('immediate');
}
no_crash_ok($node);
$node->stop;

# --- page images, and indexes without WAL ---------------------------------------------------

# With wal_level = minimal, an index needs no WAL in the transaction that creates it.  Then
# the interface does not clear holes.  wal_skip_threshold: whether its file is written to
# the WAL or to disk in the end.
my $minimal = index_node('minimal', conf => <<'CONF');
autovacuum = off
wal_level = minimal
max_wal_senders = 0
wal_consistency_checking = 'generic'
max_wal_size = 2GB
CONF

# Inserts n rows into a table, half of them in each way.
sub both_ways
{
	my ($table, $rows) = @_;
	my $insertion = "INSERT INTO $table SELECT i, fp_of(i + random()::integer * 1000)"
	  . " FROM generate_series(1, $rows / 2) AS i";

	return join '; ', map { ($way{$_}, $insertion) } shuffle(sort keys %way);
}

foreach my $full_page_writes ('on', 'off')
{
	my $name = "full_page_writes = $full_page_writes";

	$minimal->append_conf('postgresql.conf', "full_page_writes = $full_page_writes\n");
	$minimal->reload;
	$minimal->safe_psql('postgres', 'DROP TABLE IF EXISTS plain, written, logged, unlogged');
	foreach my $threshold ('written 0', 'logged 1GB')
	{
		my ($table, $size) = split / /, $threshold;

		$minimal->safe_psql('postgres', $_) foreach "SET wal_skip_threshold = '$size'; BEGIN;
			CREATE TABLE $table (id bigint, fp simhash);
			CREATE INDEX ${table}_fp ON $table USING simhash (fp);
			@{[ both_ways($table, $n) ]}; COMMIT",
		  both_ways($table, $n), 'CHECKPOINT', both_ways($table, $n);
	}
	foreach my $kind ('TABLE plain', 'UNLOGGED TABLE unlogged')
	{
		my $table = (split / /, $kind)[-1];

		$minimal->safe_psql('postgres', "CREATE $kind (id bigint, fp simhash);
			CREATE INDEX ${table}_fp ON $table USING simhash (fp); " . both_ways($table, 2 * $n));
	}
	sound_ok($minimal, $_, $name, times => 30) foreach 'plain', 'logged', 'written', 'unlogged';
	my $temporary = $minimal->safe_psql('postgres', 'CREATE TEMPORARY TABLE temporary (id bigint, fp simhash);
		CREATE INDEX temporary_fp ON temporary USING simhash (fp);' . both_ways('temporary', 4 * $n) .
		"; SELECT simhash_index_check('temporary_fp', true);
		SELECT rows > 0, differing FROM differing('temporary', $seed, 30)");
	is($temporary, "\nt|0", "$name: rows of a temporary index are those of the table");

	kill_and_start($minimal, $name);
	sound_ok($minimal, $_, "$name, after a crash", times => 30) foreach 'plain', 'logged', 'written';
	holes_ok($minimal, "$name, after a crash", 'plain_fp');
	is($minimal->safe_psql('postgres', 'SELECT count(*) FROM unlogged'), '0', "$name: an unlogged table is empty");
	$minimal->safe_psql('postgres', both_ways($_, $n)) foreach 'plain', 'logged', 'written', 'unlogged';
	$minimal->restart;
	sound_ok($minimal, $_, "$name, written again", times => 30) foreach 'plain', 'logged', 'written', 'unlogged';
}
no_crash_ok($minimal);
$minimal->stop;
done_testing();
