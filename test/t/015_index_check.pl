# simhash_index_check reports every type of damage by its name and block or TID.  The
# test damages the index in its file, while the server is down.  The check reports an
# incomplete split after a crash as such, not as damage.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant {
	BLOCK => 8192,
	FIRST_KEY => 24,
	FREE_PAGE => 40,   # offset in the metapage; the number of free pages follows
	DESIGN => 32,      # blocks, prefix, nested and the number of trees, 16 bits each
	VERSION => 28,
	PARAMETERS => 48,
	ROOTS => 52,
	SPECIAL => 8144,
	NULLS => 4,        # the tree of NULLs, after those of four permuted tables
	ROWS => 3000,      # the fingerprint of the last one is NULL
};

# --- pages, in the format of page.h and tree.h ------------------------------------
#
# An index is a reference to the list of its blocks.

sub get
{
	my ($index, $block, $offset, $format) = @_;

	return unpack("x$offset $format", $index->[$block]);
}

sub put
{
	my ($index, $block, $offset, $bytes) = @_;

	substr($index->[$block], $offset, length($bytes)) = $bytes;
}

sub nentries { my ($index, $block) = @_; return (get($index, $block, 12, 'S') - FIRST_KEY) / 8; }
sub key_at { my ($i) = @_; return FIRST_KEY + 8 * $i; }
sub tid_at { my ($i) = @_; return SPECIAL - 6 * ($i + 1); }
sub downlink_at { my ($i) = @_; return SPECIAL - 10 * ($i + 1); }
sub root { my ($index, $tree) = @_; return get($index, 0, ROOTS + 8 * $tree, 'L'); }
sub put_root { my ($index, $tree, $block, $level) = @_; put($index, 0, ROOTS + 8 * $tree, pack('L2', $block, $level)); }
sub put_nsorted { my ($index, $block, $n) = @_; put($index, $block, SPECIAL + 32, pack('S', $n)); }
sub block_id { my ($block) = @_; return pack('S2', $block >> 16, $block & 0xFFFF); }
sub put_child { my ($index, $block, $i, $child) = @_; put($index, $block, downlink_at($i) + 6, block_id($child)); }
sub put_right { my ($index, $block, $right) = @_; put($index, $block, SPECIAL + 28, pack('L', $right)); }
sub flag_incomplete { my ($index, $block) = @_; put($index, $block, SPECIAL + 42, pack('S', 1)); }

sub put_free { my ($index, $block) = @_; put($index, 0, FREE_PAGE, pack('L', $block)); }
sub put_nfree { my ($index, $n) = @_; put($index, 0, FREE_PAGE + 4, pack('L', $n)); }

sub last_free
{
	my ($index) = @_;
	my $block = get($index, 0, FREE_PAGE, 'L');

	while ((my $next = get($index, $block, SPECIAL + 28, 'L')) != 0xFFFFFFFF)
	{
		$block = $next;
	}
	return $block;
}

sub child
{
	my ($index, $block, $i) = @_;
	my ($high, $low) = get($index, $block, downlink_at($i) + 6, 'S2');

	return $high << 16 | $low;
}

# Returns the leaves of a tree whose root is at level 1.
sub leaves
{
	my ($index, $tree) = @_;
	my $root = root($index, $tree);

	return map { child($index, $root, $_) } 0 .. nentries($index, $root) - 1;
}

# Returns the TID of an entry, as PostgreSQL prints it.
sub tid
{
	my ($index, $leaf, $i) = @_;
	my ($high, $low, $offset) = get($index, $leaf, tid_at($i), 'S3');

	return '(' . ($high << 16 | $low) . ",$offset)";
}

# Appends an entry, given as bytes, to a leaf that has space for it.
sub append_entry
{
	my ($index, $leaf, $key, $tid) = @_;
	my ($lower, $upper) = get($index, $leaf, 12, 'S2');

	put($index, $leaf, 12, pack('S2', $lower + 8, $upper - 6));
	put($index, $leaf, $lower, $key);
	put($index, $leaf, $upper - 6, $tid);
}

# Removes the last entry of a page.  $size is the size of its TID or downlink in bytes.
sub remove_last
{
	my ($index, $block, $size) = @_;
	my ($lower, $upper) = get($index, $block, 12, 'S2');

	put($index, $block, 12, pack('S2', $lower - 8, $upper + $size));
}

# Removes the downlink to child i from a root.
sub remove_downlink
{
	my ($index, $root, $i) = @_;

	foreach my $at ($i .. nentries($index, $root) - 2)
	{
		put($index, $root, key_at($at), get($index, $root, key_at($at + 1), 'a8'));
		put($index, $root, downlink_at($at), get($index, $root, downlink_at($at + 1), 'a10'));
	}
	remove_last($index, $root, 10);
}

# --- damages ---------------------------------------------------------------------
#
# Each consists of the expected message, a function that changes an index and returns the
# expected block or TID, and a name for one of several variants.

my @pages = (
	[ 'an entry has no valid TID', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[1];
		put($index, $leaf, tid_at(7), pack('S3', 0, 0, 0));
		return $leaf; } ],
	[ 'an entry is not less than its high key', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 1))[2];
		put($index, $leaf, key_at(nentries($index, $leaf) - 1), pack('Q', ~0));
		return $leaf; } ],
	[ 'an entry is less than its low key', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[1];
		put($index, $leaf, key_at(0), pack('Q', 0));
		return $leaf; } ],
	[ 'its first downlink does not have its low key', sub {
		my ($index) = @_;
		my $root = root($index, 3);
		my ($key, $tid) = (get($index, $root, key_at(1), 'a8'), get($index, $root, downlink_at(1), 'a6'));
		# the first leaf begins there, too
		remove_downlink($index, $root, 0);
		put($index, child($index, $root, 0), SPECIAL, $key);
		put($index, child($index, $root, 0), SPECIAL + 16, $tid);
		return $root; } ],
	[ 'entries are out of order', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[3];
		my ($a, $b) = get($index, $leaf, key_at(10), 'a8 a8');
		put($index, $leaf, key_at(10), $b . $a);
		return $leaf; } ],
	[ 'its high key does not match the parent level', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 1))[2];
		remove_downlink($index, root($index, 1), 3);
		return $leaf; } ],
	[ 'its high key does not match the parent level', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 1);
		put_root($index, 1, $leaves[0], 0);
		return $leaves[0]; }, 'the root' ],
	[ 'its high key does not match the parent level', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 3);
		put_right($index, $leaves[2], 0xFFFFFFFF);
		return $leaves[2]; }, 'as if it were rightmost' ],
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 2);
		put_child($index, root($index, 2), 1, $leaves[2]);
		put_child($index, root($index, 2), 2, $leaves[1]);
		return $leaves[2]; }, 'two swapped' ],
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[3];
		put($index, $leaf, SPECIAL, pack('Q', get($index, $leaf, SPECIAL, 'Q') + 1));
		return $leaf; }, 'key of its low key' ],
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[3];
		put($index, $leaf, SPECIAL + 16, pack('S3', 0, 0, 7));
		return $leaf; }, 'TID of its low key' ],
	[ 'its high key is not greater than its low key', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[3];
		put($index, $leaf, SPECIAL + 8, pack('Q', 1));
		return $leaf; } ],
	[ 'a downlink leads to it, but the right-link of its left sibling does not', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 3);
		put_right($index, $leaves[2], $leaves[1]);
		return $leaves[3]; } ],
	[ 'it has the incomplete-split flag, but its split is complete', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[2];
		flag_incomplete($index, $leaf);
		return $leaf; } ],
	[ 'it has the incomplete-split flag, but no right sibling', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[-1];
		flag_incomplete($index, $leaf);
		return $leaf; } ],
	[ 'it is not a tree page', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[1];
		put($index, $leaf, BLOCK - 2, pack('S', 0xFF80));
		return $leaf; } ],
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		put_root($index, 0, root($index, 1), 1);
		return root($index, 1); }, 'of another tree' ],
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		put_root($index, 0, root($index, 0), 2);
		return root($index, 0); }, 'of another level' ],
	[ 'a downlink leads to it, but the right-link of its left sibling does not', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 2);
		put_right($index, $leaves[1], 2_000_000);
		return $leaves[2]; }, 'but one to nowhere' ],
	[ 'it is not the page that the right-link of its left sibling describes', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 0);
		flag_incomplete($index, $leaves[2]);
		put_right($index, $leaves[2], $leaves[1]);
		return $leaves[1]; } ],
	[ 'its keys end in the wrong place', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[1];
		put($index, $leaf, 12, pack('S', get($index, $leaf, 12, 'S') + 1));
		return $leaf; } ],
	[ 'its entries end in the wrong place', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[1];
		put($index, $leaf, 14, pack('S', get($index, $leaf, 14, 'S') + 6));
		return $leaf; } ],
	[ 'it has too few entries', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[1];
		put_nsorted($index, $leaf, nentries($index, $leaf) + 1);
		return $leaf; } ],
	[ 'its parameters are those of other values',
		sub { my ($index) = @_; put($index, 0, PARAMETERS, pack('l', 18 << 18)); return 0; } ],
);

# Damages that every descent for small keys meets.
my @ways_in = (
	(map {
		my $child = $_;
		[ 'a link leads to it, but it is the metapage or past the end of the file', sub {
			my ($index) = @_;
			put_child($index, root($index, 0), 0, $child);
			return $child; }, "block $child" ];
	} 0, 1000, 131072, 10_000_000, 0xFFFFFFFE, 0xFFFFFFFF),
	(map {
		my $level = $_;
		[ 'the level of a root is too high',
			sub { my ($index) = @_; put_root($index, 0, root($index, 0), $level); return 0; }, "level $level" ];
	} 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF),
	(map {
		my $root = $_;
		[ 'a root is the metapage or past the end of the file',
			sub { my ($index) = @_; put_root($index, NULLS, $root, 0); return 0; }, "block $root" ];
	} 0, 1000, 10_000_000, 0xFFFFFFFF),
	[ 'it is missing', sub { my ($index) = @_; @$index = (); return 0; } ],
);

my @rows = (
	[ 'one of its entries is missing', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 1))[1];
		my $last = nentries($index, $leaf) - 1;
		my $row = tid($index, $leaf, $last);
		remove_last($index, $leaf, 6);
		put_nsorted($index, $leaf, $last);
		return $row; } ],
	[ 'it has an entry in the wrong tree', sub {
		my ($index) = @_;
		put($index, root($index, NULLS), tid_at(0), pack('S3', 0, 0, 1));
		return '(0,1)'; } ],
	[ 'it has an entry in the wrong tree', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 0))[0];
		my $nulls = root($index, NULLS);
		append_entry($index, $leaf, get($index, $leaf, key_at(0), 'a8'), get($index, $nulls, tid_at(0), 'a6'));
		return tid($index, $nulls, 0); }, 'NULL' ],
	[ 'an entry has a key that the row does not have', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 3))[2];
		put($index, $leaf, key_at(5), pack('Q', get($index, $leaf, key_at(5), 'Q') ^ 1));
		return tid($index, $leaf, 5); } ],
	[ 'its block is past the end of the table', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[3];
		append_entry($index, $leaf, get($index, $leaf, key_at(3), 'a8'), pack('S3', 1, 2, 3));
		return '(65538,3)'; } ],
	[ 'it has a duplicate entry in one tree', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 2))[3];
		append_entry($index, $leaf, get($index, $leaf, key_at(3), 'a8'), get($index, $leaf, tid_at(3), 'a6'));
		return tid($index, $leaf, 3); } ],
);

# A duplicate is not damage if no snapshot sees the row: the TID may have been reused
# while the check read the index.
my @unseen = ([ $rows[-1][0], $rows[-1][1], 'of an invisible row' ]);

# The state after a crash between the two records of a split, and the number of
# incomplete splits that the check reports.
my @incomplete = map {
	my @which = @$_;

	[ @which == 1 ? '1 incomplete page split' : scalar(@which) . ' incomplete page splits', sub {
		my ($index) = @_;
		my @leaves = leaves($index, 0);
		foreach my $i (reverse @which)
		{
			flag_incomplete($index, $leaves[$i]);
			remove_downlink($index, root($index, 0), $i + 1);
		}
		return $leaves[ $which[0] ]; } ];
} [2], [ 1, 3 ];

# Several incomplete splits in a row, without downlinks: the check reports one.
push @incomplete, [ '1 incomplete page split', sub {
	my ($index) = @_;
	my @leaves = leaves($index, 2);
	flag_incomplete($index, $_) foreach @leaves[ 0 .. $#leaves - 1 ];
	put_root($index, 2, $leaves[0], 0);
	return $leaves[0]; }, 'of the root' ];

# Damages of the free list, which begins at the metapage.  There are free pages after
# many rows of a table were deleted.
my @free = (
	[ 'the free list leads to the metapage or past the end of the file',
		sub { my ($index) = @_; put_free($index, 2_000_000); return 0; } ],
	[ 'the free list leads to the metapage or past the end of the file',
		sub { my ($index) = @_; put_free($index, 0); return 0; },
		'the metapage' ],
	[ 'it is in the free list, but in use', sub {
		my ($index) = @_;
		put_free($index, root($index, 1));
		return root($index, 1); } ],
	[ 'its high key is not greater than its low key', sub {
		my ($index) = @_;
		my $free = get($index, 0, FREE_PAGE, 'L');
		put($index, $free, SPECIAL + 42, pack('S', 0));
		return $free; }, 'a free page without its flag' ],
	[ 'the free list leads to the metapage or past the end of the file', sub {
		my ($index) = @_;
		my $free = get($index, 0, FREE_PAGE, 'L');
		put_right($index, $free, 0xFFFFFFFE);
		return $free; }, 'from a page' ],
	[ 'the free list is not as long as the metapage says', sub {
		my ($index) = @_;
		put_nfree($index, get($index, 0, FREE_PAGE + 4, 'L') + 1);
		return last_free($index); }, 'shorter' ],
	[ 'the free list is not as long as the metapage says', sub {
		my ($index) = @_;
		put_nfree($index, 0);
		return 0; }, 'longer' ],
	[ 'the free list is not as long as the metapage says', sub {
		my ($index) = @_;
		my $free = get($index, 0, FREE_PAGE, 'L');
		put_right($index, $free, $free);
		return $free; }, 'a ring' ],
	(map {
		my $beyond = $_;
		[ 'it counts more free pages than there are blocks', sub {
			my ($index) = @_;
			my $free = get($index, 0, FREE_PAGE, 'L');
			put_right($index, $free, $free);
			put_nfree($index, $beyond // scalar @$index);
			return 0; }, 'in a ring, ' . ($beyond // 'the length of the file') ];
	} 0xFFFFFFFF, 0x80000000, undef),
	[ 'it is not the page that a link to it describes', sub {
		my ($index) = @_;
		my $leaf = (leaves($index, 1))[1];
		$index->[$leaf] = $index->[ get($index, 0, FREE_PAGE, 'L') ];
		return $leaf; }, 'a free one' ],
	[ 'it is in the free list, but in use', sub {
		my ($index) = @_;
		my $free = get($index, 0, FREE_PAGE, 'L');
		$index->[$free] = $index->[ (leaves($index, 1))[1] ];
		return $free; }, 'a copy of another' ],
);

# --- a table and an index for each damage ------------------------------------------

# A statement that exceeds this timeout hangs.
my $node = index_node(
	'check', damaged => 1, conf => "restart_after_crash = on\nautovacuum = off\nenable_seqscan = off\n"
	  . "statement_timeout = '$PostgreSQL::Test::Utils::timeout_default s'\n");

my $ncases = 0;
foreach my $case (@pages, @ways_in, @rows, @unseen, @incomplete, @free)
{
	my ($finding, $damage, $which) = @$case;
	my $table = 't' . $ncases++;
	my $rows = ROWS;
	my $fewer = !(grep { $_ == $case } @free) ? '' : <<"SQL";
INSERT INTO $table SELECT i, hashint8extended(i, 0)::simhash FROM generate_series($rows + 1, 3 * $rows) AS i;
DELETE FROM $table WHERE id > $rows;
VACUUM $table;
SQL

	$case = { table => $table, finding => $finding, damage => $damage, name => $finding . ($which ? " ($which)" : '') };
	$case->{path} = $node->safe_psql('postgres', <<"SQL");
CREATE TABLE $table AS SELECT i AS id, CASE WHEN i < $rows THEN hashint8extended(i, 0)::simhash END AS fp
FROM generate_series(1, $rows) AS i;
CREATE INDEX ${table}_fp ON $table USING simhash (fp);
$fewer
SELECT simhash_index_check('${table}_fp', true);
SELECT pg_relation_filepath('${table}_fp');
SQL
	$case->{path} =~ s/^\s+//;
}

# Indexes in which one bit of the design or of the parameters is flipped, one for each bit
my @bits = map {
	my $column = $_;
	map { { table => "${column}_bit_$_", column => $column, bit => $_ } }
	  DESIGN * 8 .. DESIGN * 8 + 63, PARAMETERS * 8 .. PARAMETERS * 8 + 31
} qw(fp sig);
foreach my $case (@bits)
{
	$case->{path} = $node->safe_psql('postgres', <<"SQL");
CREATE TABLE $case->{table} AS
SELECT i AS id, hashint8extended(i, 0)::simhash AS fp, to_minhash(i::text)::minhash(18, 7) AS sig
FROM generate_series(1, 100) AS i;
CREATE INDEX $case->{table}_index ON $case->{table} USING simhash ($case->{column});
SELECT pg_relation_filepath('$case->{table}_index');
SQL
}

# An index of an older format
my $older = { table => 'older' };
$older->{path} = $node->safe_psql('postgres', <<"SQL");
CREATE TABLE older AS SELECT i AS id, hashint8extended(i, 0)::simhash AS fp FROM generate_series(1, 3000) AS i;
CREATE INDEX older_fp ON older USING simhash (fp);
SELECT pg_relation_filepath('older_fp');
SQL
$node->stop;

foreach my $case (@pages, @ways_in, @rows, @unseen, @incomplete, @free)
{
	my $index = read_pages($node, $case->{path});

	$case->{position} = $case->{damage}->($index);
	write_pages($node, $case->{path}, $index);
}
foreach my $case (@bits)
{
	my $index = read_pages($node, $case->{path});
	my $offset = int($case->{bit} / 8);

	put($index, 0, $offset, chr(get($index, 0, $offset, 'C') ^ 1 << $case->{bit} % 8));
	write_pages($node, $case->{path}, $index);
}
my $of_older = read_pages($node, $older->{path});
put($of_older, 0, VERSION, pack('L', get($of_older, 0, VERSION, 'L') - 1));
write_pages($node, $older->{path}, $of_older);
$node->start;

# Returns the messages of a statement, with error codes.
sub said
{
	my ($statement) = @_;
	my ($stdout, $stderr);

	$node->psql('postgres', "\\set VERBOSITY verbose\n$statement", stdout => \$stdout, stderr => \$stderr);
	$node->poll_query_until('postgres', 'SELECT true');
	return $stderr;
}

# --- the messages of the check --------------------------------------------------------

foreach my $case (@pages, @ways_in, @free)
{
	like(said("SELECT simhash_index_check('$case->{table}_fp')"),
		qr{ERROR:  XX002: index "$case->{table}_fp" contains a corrupted page at block $case->{position}
DETAIL:  A check of the page found that $case->{finding}\.
},
		"pages: $case->{name}");
}
foreach my $case (@rows)
{
	is(said("SELECT simhash_index_check('$case->{table}_fp')"), '', "rows: $case->{name}: the pages are sound");
	like(said("SELECT simhash_index_check('$case->{table}_fp', true)"),
		qr{ERROR:  XX002: index "$case->{table}_fp" does not match its table at TID \Q$case->{position}\E
DETAIL:  A check found that $case->{finding}\.
},
		"rows: $case->{name}");
}

foreach my $case (@unseen)
{
	$node->safe_psql('postgres', "DELETE FROM $case->{table}");
	is(said("SELECT simhash_index_check('$case->{table}_fp', true)"), '', "rows: $case->{name}: is no damage");
}

# --- single bits of the metapage -----------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION meets(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SQL
my %meets;
foreach my $case (@bits)
{
	my $table = $case->{table};
	my %statement = (
		check => "SELECT simhash_index_check(''${table}_index'', true)",
		reindex => "REINDEX INDEX ${table}_index");
	my $meets = sub { return $node->safe_psql('postgres', "SELECT meets('$_[0]')") };

	if ($case->{column} eq 'sig' && $case->{bit} >= PARAMETERS * 8)
	{
		$statement{'check of pages'} = "SELECT simhash_index_check(''${table}_index'')";
		$statement{search} = "SELECT FROM $table WHERE sig % to_minhash(''7'')";
		$statement{'search for another'} = "SELECT FROM $table WHERE sig % to_minhash(''7'', 18, 5)";
		$statement{insertion} = "INSERT INTO $table VALUES (0, NULL, to_minhash(''7''))";
	}
	foreach my $which (sort { ($a eq 'reindex') <=> ($b eq 'reindex') } keys %statement)
	{
		push @{ $meets{ "$which: " . $meets->($statement{$which}) } }, $table;
	}
	push @{ $meets{ 'check after REINDEX: ' . $meets->($statement{check}) } }, $table;
}
is_deeply([ sort keys %meets ],
	[ 'check after REINDEX: 00000', 'check of pages: XX002', 'check: XX002', 'insertion: XX002', 'reindex: 00000',
		'search for another: XX002', 'search: XX002' ],
	'a flipped bit of the design or of the parameters is found, and REINDEX heals')
  or diag(explain(\%meets));

# --- an index of an older format -----------------------------------------------------------

is(said('VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) older'), '', 'older format: VACUUM without dead rows works');

# A vacuum that skipped the index would let TIDs be reused while the index has entries with them.
$node->safe_psql('postgres', 'DELETE FROM older WHERE id % 2 = 0');
my $wrong_version =
  qr/ERROR:  XX002: index "older_fp" has format version \d+, but version \d+ is expected\n.*INDEX_CLEANUP OFF/;
like(said($_), $wrong_version, "older format: $_")
  foreach 'SELECT FROM older WHERE fp = 0::simhash', 'INSERT INTO older VALUES (0, 0::simhash)', 'VACUUM older';
is(said('VACUUM (INDEX_CLEANUP OFF, FREEZE) older'), '', 'older format: VACUUM (INDEX_CLEANUP OFF) works');
is(said('REINDEX INDEX older_fp; VACUUM older'), '', 'older format: VACUUM works after REINDEX');
sound_ok($node, 'older', 'older format, after REINDEX', times => 20);

# --- the messages of other statements ---------------------------------------------------

foreach my $case (@ways_in)
{
	my %statement = (
		stats => "SELECT * FROM simhash_index_stats('$case->{table}_fp')",
		explain => "SELECT * FROM simhash_index_explain('$case->{table}_fp', '0000000000000000', 0)",
		search => "SELECT id FROM $case->{table} WHERE fp = '0000000000000000'",
		insertion => "INSERT INTO $case->{table} VALUES (0, '0000000000000000')");

	foreach my $which (sort keys %statement)
	{
		like(said($statement{$which}),
			qr/ERROR:  XX002: index "$case->{table}_fp" contains a corrupted page at block $case->{position}\n/,
			"$which: $case->{name}");
	}
}

# A free list that leads past the end of the file, or is longer than the metapage's number.  An
# insertion does not use the list, whose number does not drop below 0, and statements that do not
# need it still work.
my ($beyond, $longer) = grep { $_->{name} =~ /file$|as long .*longer/ } @free;
foreach my $case ($beyond, $longer)
{
	like(said("INSERT INTO $case->{table} SELECT i, hashint8extended(i, 0)::simhash
		FROM generate_series(10001, 12000) AS i"),
		qr/ERROR:  XX002: index "$case->{table}_fp" contains a corrupted page at block 0\n/,
		"insertion: $case->{name}");
}
is($node->safe_psql('postgres', "SELECT pages FROM simhash_index_stats('$longer->{table}_fp') WHERE level IS NULL"), 0,
	"stats: $longer->{name}");

# No statement uses an impossible number of free pages.
foreach my $case (grep { $_->{name} =~ /it counts more/ } @free)
{
	foreach my $statement ("SELECT * FROM simhash_index_stats('$case->{table}_fp')",
		"DELETE FROM $case->{table} WHERE id = 1; VACUUM (INDEX_CLEANUP ON) $case->{table}")
	{
		like(said($statement), qr/ERROR:  XX002: index "$case->{table}_fp" contains a corrupted page at block 0\n/,
			"$statement: $case->{name}");
	}
}

# --- incomplete splits -------------------------------------------------------------------

foreach my $case (@incomplete)
{
	my $table = $case->{table};

	like(said("SELECT simhash_index_check('${table}_fp', true)"),
		qr{NOTICE:  00000: index "${table}_fp" has $case->{finding}
DETAIL:  The first is at block $case->{position}: },
		"told: $case->{name}");
	sound_ok($node, $table, $case->{name}, times => 20);
}

# Later insertions complete them.
my $table = $incomplete[0]->{table};
$node->safe_psql('postgres',
	"INSERT INTO $table SELECT i, hashint8extended(i, 0)::simhash FROM generate_series(10001, 12000) AS i");
is(said("SELECT simhash_index_check('${table}_fp', true)"), '', 'completed');
same_rows_ok($node, $table, 'completed', times => 20);

no_crash_ok($node);
$node->stop;
done_testing();
