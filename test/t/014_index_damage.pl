# Damages pages of the index in its file, while the server is down.  Scans, insertions,
# vacuum and the functions that inspect an index return the right rows, or raise an
# error that says that the index is damaged.  They never crash, hang, or loop.  REINDEX
# repairs.
#
# SIMHASH_SEED repeats a run.  SIMHASH_DAMAGES sets the number of random damages besides
# one of each type: none on ordinary pages, which test/fuzz damages.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

use constant BLOCK => 8192;

my $seed = random_seed();

# --- types of damage ----------------------------------------------------------
#
# Each takes the blocks of the file and changes them in place.  A scan that reads
# a strict damage notices it: it returns the right rows or raises an error.  The
# other damages may change keys and TIDs, so the rows may be wrong, too.

sub any { return $_[ int(rand(scalar @_)) ]; }
sub leaf_or_inner { my ($blocks) = @_; return 1 + int(rand(@$blocks - 1)); }
sub uint16 { my ($page, $from_end) = @_; return unpack('S', substr($page, BLOCK - $from_end, 2)); }
sub is_free { my ($page) = @_; return uint16($page, 2) == 0xFF98 && uint16($page, 6) & 2; }
sub free_page { my ($blocks) = @_; return any(grep { is_free($blocks->[$_]) } 1 .. $#$blocks); }
sub live_page { my ($blocks) = @_; return any(grep { !(uint16($blocks->[$_], 6) & 2) } 1 .. $#$blocks); }
sub garbage { my ($n) = @_; return join('', map { chr(int(rand(256))) } 1 .. $n); }
sub special { my ($page) = @_; return unpack('x16 S', $page); }

# Returns an unlikely value for a block number, an offset or a count.
sub odd_number
{
	my ($blocks, $own) = @_;

	return any(0, 1, 2, $own, $own + 1, scalar @$blocks, scalar @$blocks + 100, any(0 .. $#$blocks),
		0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF, 0x10000, int(rand(2**32)));
}

sub put
{
	my ($blocks, $at, $offset, $bytes) = @_;

	substr($blocks->[$at], $offset, length($bytes)) = $bytes;
}

# Damages a number in the special space at the end of a page, where links and flags are.
sub odd_special
{
	my ($blocks, $at, $size) = @_;
	my $from = special($blocks->[$at]);
	my $numbers = int((BLOCK - $from) / $size);

	return unless $numbers > 0;
	put($blocks, $at, $from + $size * int(rand($numbers)),
		pack($size == 4 ? 'L' : 'S', odd_number($blocks, $at) % 2**(8 * $size)));
}

sub odd_item
{
	my ($blocks, $at) = @_;

	put($blocks, $at, 24 + 4 * int(rand((BLOCK - 24) / 4)), pack('L', odd_number($blocks, $at)));
}

sub odd_header
{
	my ($blocks, $at) = @_;
	my ($lower, $upper, $special) = unpack('x12 S3', $blocks->[$at]);

	put($blocks, $at, any(12, 14),
		pack('S', any($lower - 1, $lower + 1, $lower + 8, $upper, $upper + 1, $special, 24, 25, 0)));
}

my @strict = (
	[ 'zeroed page', sub { my ($b) = @_; $b->[ leaf_or_inner($b) ] = "\0" x BLOCK; } ],
	[ 'zeroed metapage', sub { my ($b) = @_; $b->[0] = "\0" x BLOCK; } ],
	[ 'garbage page', sub { my ($b) = @_; $b->[ leaf_or_inner($b) ] = garbage(BLOCK); } ],
	[ 'garbage in a page, header and all of the rest right', sub { my ($b) = @_; put($b, 0, 24, garbage(64)); } ],
	[ 'another type of page',
		sub { my ($b) = @_; my $at = leaf_or_inner($b); put($b, $at, BLOCK - 2, pack('S', any(0, 0xFF80, 0xFF83))); } ],
	[ 'metapage in place of another', sub { my ($b) = @_; $b->[ leaf_or_inner($b) ] = $b->[0]; } ],
	[ 'other page in place of the metapage', sub { my ($b) = @_; $b->[0] = $b->[ leaf_or_inner($b) ]; } ],
	[ 'metapage magic', sub { my ($b) = @_; put($b, 0, 24, pack('L', int(rand(2**32)))); } ],
	[ 'metapage version', sub { my ($b) = @_; put($b, 0, 28, pack('L', any(0, 2, 99, 0xFFFFFFFF))); } ],
	[ 'file of nothing', sub { my ($b) = @_; @$b = (); } ],
	[ 'file of one page', sub { my ($b) = @_; $#$b = 0; } ],
	[ 'file cut off', sub { my ($b) = @_; $#$b = int(rand($#$b)); } ],
	[ 'file cut off within a page', sub { my ($b) = @_; $b->[-1] = substr($b->[-1], 0, 5000); } ],
);
# Damages of an index that has free pages.  Offsets from the end of the page: key of the
# low key 48, TID of the low key 32, right sibling or next free page 20, flags 6.
my @free = (
	[ 'low key',
		sub { my ($b) = @_; put($b, live_page($b), BLOCK - 48, pack('Q', any(0, 1, ~0, int(rand(2**32)) << 32))); } ],
	[ 'TID of a low key',
		sub { my ($b) = @_; put($b, live_page($b), BLOCK - 32, pack('S3', 0, any(0, 1), any(1, 2, 77))); } ],
	[ 'page flagged as free', sub { my ($b) = @_; put($b, live_page($b), BLOCK - 6, pack('S', any(2, 3))); } ],
	[ 'free page without its flag', sub { my ($b) = @_; put($b, free_page($b), BLOCK - 6, pack('S', 0)); } ],
	[ 'free page in place of another', sub { my ($b) = @_; $b->[ live_page($b) ] = $b->[ free_page($b) ]; } ],
	[ 'page in place of a free one', sub { my ($b) = @_; $b->[ free_page($b) ] = $b->[ live_page($b) ]; } ],
	[ 'zeros in place of a free page', sub { my ($b) = @_; $b->[ unpack('x40 L', $b->[0]) ] = "\0" x BLOCK; } ],
	[ 'free list',
		sub { my ($b) = @_; put($b, 0, 40, pack('L', any(odd_number($b, 0), live_page($b), free_page($b)))); } ],
	[ 'number of free pages', sub { my ($b) = @_; put($b, 0, 44, pack('L', odd_number($b, 0))); } ],
	[ 'number of free pages, in a ring',
		sub { my ($b) = @_; my $at = unpack('x40 L', $b->[0]); put($b, $at, BLOCK - 20, pack('L', $at));
			put($b, 0, 44, pack('L', any(odd_number($b, 0), 0xFFFFFFFF))); } ],
	[ 'next free page',
		sub { my ($b) = @_; my $at = free_page($b);
			put($b, $at, BLOCK - 20, pack('L', any(odd_number($b, $at), live_page($b)))); } ],
	[ 'ring of free pages',
		sub { my ($b) = @_; my $at = unpack('x40 L', $b->[0]); put($b, $at, BLOCK - 20, pack('L', $at)); } ],
);
my @lax = (
	[ 'two pages swapped',
		sub { my ($b) = @_; my ($i, $j) = (leaf_or_inner($b), leaf_or_inner($b)); @$b[ $i, $j ] = @$b[ $j, $i ]; } ],
	[ 'one page twice', sub { my ($b) = @_; $b->[ leaf_or_inner($b) ] = $b->[ leaf_or_inner($b) ]; } ],
	[ 'number in the metapage',
		sub { my ($b) = @_; put($b, 0, 24 + 4 * int(rand(60)), pack('L', odd_number($b, 0))); } ],
	[ 'number in the special space', sub { my ($b) = @_; odd_special($b, leaf_or_inner($b), 4); } ],
	[ '16-bit number in the special space', sub { my ($b) = @_; odd_special($b, leaf_or_inner($b), 2); } ],
	[ 'special space of every page', sub { my ($b) = @_; odd_special($b, $_, 4) for 1 .. $#$b; } ],
	[ 'garbage special space', sub {
		my ($b) = @_;
		my $at = leaf_or_inner($b);
		put($b, $at, special($b->[$at]), garbage(BLOCK - special($b->[$at]) - 2)); } ],
	[ 'number in an item', sub { my ($b) = @_; odd_item($b, leaf_or_inner($b)); } ],
	[ 'numbers in every page', sub { my ($b) = @_; for my $at (1 .. $#$b) { odd_item($b, $at) for 1 .. 20; } } ],
	[ 'garbage items', sub {
		my ($b) = @_;
		my $at = leaf_or_inner($b);
		put($b, $at, 24, garbage(special($b->[$at]) - 24)); } ],
	[ 'garbage items in every page',
		sub { my ($b) = @_; put($b, $_, 24, garbage(special($b->[$_]) - 24)) for 1 .. $#$b; } ],
	[ 'bounds in a header', sub { my ($b) = @_; odd_header($b, leaf_or_inner($b)); } ],
	[ 'bounds in every header', sub { my ($b) = @_; odd_header($b, $_) for 1 .. $#$b; } ],
	[ 'bits anywhere', sub {
		my ($b) = @_;
		for (1 .. 30)
		{
			my ($at, $offset) = (int(rand(@$b)), int(rand(BLOCK)));
			put($b, $at, $offset, chr(ord(substr($b->[$at], $offset, 1)) ^ (1 << int(rand(8)))));
		} } ],
);

# --- a table and an index for each damage -------------------------------------

my $node = index_node('damage', damaged => 1, conf => "restart_after_crash = on\nautovacuum = off\n");
my $rows = has_small_pages($node) ? 250 : 4000;
my $random = $ENV{SIMHASH_DAMAGES} // (has_small_pages($node) ? 25 : 0);
$node->safe_psql('postgres', "CREATE TABLE base AS SELECT i AS id, fp_of(i) AS fp FROM generate_series(1, $rows) AS i");

my @cases = map { { name => $_->[0], damage => $_->[1], strict => 1 } } @strict;
push @cases, map { { name => $_->[0], damage => $_->[1], strict => 1, free => 1 } } @free;
push @cases, map { { name => $_->[0], damage => $_->[1], strict => 0 } } @lax;
while (@cases < @strict + @free + @lax + $random)
{
	my $type = any(@lax, @free, grep { $_->[0] =~ /page|cut/ } @strict);
	push @cases, { name => $type->[0], damage => $type->[1], strict => scalar(grep { $_ == $type } @strict, @free),
		free => scalar(grep { $_ == $type } @free) };
}
foreach my $n (0 .. $#cases)
{
	my $case = $cases[$n];

	$case->{table} = "t$n";
	$case->{name} = "case $n, $case->{name}";
	my $blocks = any(2, 4, 4, 7);
	# some indexes are built, some filled by insertion, with incomplete splits at the end
	my @steps = ("CREATE TABLE t$n (id integer, fp simhash)",
		"CREATE INDEX t${n}_fp ON t$n USING simhash (fp) WITH (blocks = $blocks)",
		"INSERT INTO t$n TABLE base");
	@steps = @steps[ 0, 2, 1 ] if $n % 2;
	push @steps, "INSERT INTO t$n SELECT -i, fp_of(-i) FROM generate_series(1, 2 * $rows) AS i",
		"DELETE FROM t$n WHERE id < 0"
	  if $case->{free};
	$node->safe_psql('postgres', join(';', @steps));
	$node->safe_psql('postgres', "VACUUM t$n") if $case->{free};
	$case->{path} = $node->safe_psql('postgres', "SELECT pg_relation_filepath('t${n}_fp')");
}
$node->stop;

foreach my $case (@cases)
{
	my $blocks = read_pages($node, $case->{path});

	$case->{damage}->($blocks);
	write_pages($node, $case->{path}, $blocks);
}
$node->start;

# --- the server's reaction -------------------------------------------------------

# Returns true for the extension's error about damage, and for the server's error about
# an invalid page header.  The server may also report a missing page, but only of the
# heap, after damage to a TID.
sub is_right_error
{
	my ($error, $case) = @_;

	return 0 if $error =~ /could not (open|read) .*\Q$case->{path}\E/;
	return $error =~ /^(XX00[12]: |(XX000|58P01): could not open file .*: previous segment is only )/;
}

sub script
{
	my ($table) = @_;
	my @script = ('\set VERBOSITY verbose', 'SET enable_seqscan = off;');
	my $near = "'0123456789abcdef'";

	my $scans = sub {
		foreach my $way (qw(indexscan bitmapscan))
		{
			push @script, 'SET enable_indexscan = off;', 'SET enable_bitmapscan = off;', "SET enable_$way = on;";
			foreach my $k (-1, 0, 3, 8, 64)
			{
				for my $q ($near, 'fp_of(77)')
				{
					push @script, "\\warn $way of radius $k",
						"SELECT differing FROM differing_once('$table',
							format('fp <\@ simhash_ball(%L, $k)', $q),
							format('(fp <~> %L) + 0 <= $k', ${q}::simhash));";
				}
			}
			push @script, "\\warn $way of equal ones",
				"SELECT differing FROM differing_once('$table', 'fp = fp_of(77)', 'fp::bigint = fp_of(77)::bigint');",
				"\\warn $way of nulls",
				"SELECT differing FROM differing_once('$table', 'fp IS NULL', 'num_nulls(fp) = 1');";
		}
	};
	my @inspections = (
		"SELECT count(*) < 0 FROM simhash_index_stats('${table}_fp');",
		"SELECT count(*) < 0 FROM simhash_index_explain('${table}_fp', $near, 64);",
		"SELECT simhash_index_check('${table}_fp');", "SELECT simhash_index_check('${table}_fp', true);");

	$scans->();
	push @script, "\\warn inspections", @inspections;
	push @script, '\echo written', "\\warn insert",
		map { "INSERT INTO $table SELECT $_, fp_of($_) FROM generate_series($_, $_ + 150) AS i;" } 5001 .. 5010;
	push @script, "\\warn insert equal ones",
		map { "INSERT INTO $table SELECT $_, $near FROM generate_series(1, 100) AS i;" } 1 .. 10;
	push @script, "\\warn insert nulls", "INSERT INTO $table SELECT i, NULL FROM generate_series(1, 700) AS i;";
	push @script, "DELETE FROM $table WHERE id % 3 = 0;", "\\warn vacuum", "VACUUM $table;";
	$scans->();
	push @script, "\\warn delete the rest", "DELETE FROM $table;", "VACUUM $table;";
	return join("\n", @script) . "\n";
}

# A statement hangs if it takes a hundred times as long as all statements without
# damage.
my $since = time;
$node->safe_psql('postgres',
	'CREATE TABLE sound (id integer, fp simhash); CREATE INDEX sound_fp ON sound USING simhash (fp);
		INSERT INTO sound TABLE base');
is(join("\n", grep { !/^(0|f|written|)$/ } split /\n/, $node->safe_psql('postgres', script('sound'))),
	'', 'without damage: right rows');
my $limit = 100 * (time - $since);
$limit = $PostgreSQL::Test::Utils::timeout_default if $limit < $PostgreSQL::Test::Utils::timeout_default;
$node->append_conf('postgresql.conf', sprintf("statement_timeout = '%d s'\n", $limit));
$node->reload;

foreach my $case (@cases)
{
	my ($stdout, $stderr);
	my $table = $case->{table};
	my @wrong;
	my $errors = 0;
	my $step = '';

	$node->psql('postgres', script($table), stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	foreach my $line (split /\n/, $stderr)
	{
		if ($line =~ /\b(?:ERROR|FATAL|PANIC):  (\w{5}: .*)/)
		{
			my $error = $1;

			$errors++;
			push @wrong, "$step: $error" unless is_right_error($error, $case);
		}
		elsif ($line =~ /server closed the connection|connection to server was lost/)
		{
			push @wrong, "$step: crash";
		}
		elsif ($line !~ /^psql:|^(DETAIL|HINT|CONTEXT|LOCATION|STATEMENT|NOTICE|WARNING)|^PL\/pgSQL|^SQL |^ |^\s*$/)
		{
			$step = $line;
		}
	}
	# A new page may replace a truncated one.
	$stdout =~ s/^written\n.*//ms if $case->{name} =~ /\bfile\b/;
	if ($case->{strict})
	{
		push @wrong, grep { $_ } map { /^[1-9]/ ? "wrong rows: $_" : '' } split /\n/, $stdout;
	}
	is(join("\n", @wrong), '', "$case->{name}: right rows or a right error");
	note("$case->{name}: $errors errors");

	$node->poll_query_until('postgres', 'SELECT true');
	my $repaired = $node->psql('postgres',
		"REINDEX TABLE $table; INSERT INTO $table TABLE base;
		SELECT rows > 0, differing FROM differing('$table', 1, 12)",
		stdout => \$stdout, stderr => \$stderr);
	is("$repaired $stdout", '0 t|0', "$case->{name}: repaired by REINDEX") or diag($stderr);
	no_damage_ok($node, $case->{name}, "${table}_fp");
}
no_crash_ok($node);
$node->stop;
done_testing();
